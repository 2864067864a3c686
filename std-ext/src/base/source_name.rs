//! Names of sources as people may see them: without what may be secret.

use std::fmt;
use std::io;
use std::path::Path;

/// The name of a source as it is shown: a path as it is, an address without user, password, query and fragment.
///
/// Signatures of addresses stand in their queries, so texts, errors, logs, tables and JSON show this name only. Text that
/// begins like an address is taken for one, also if it cannot be opened, or has a mistake.
///
/// ```
/// use tgm_std::file::SourceName;
///
/// let shown = |name: &str| SourceName::of(name).to_string();
/// assert_eq!(shown("https://user:word@host/a.tgm?signature=5#2"), "https://host/a.tgm");
/// assert_eq!(shown("a#1?.tgm"), "a#1?.tgm");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SourceName<'a>(&'a Path);

impl<'a> SourceName<'a> {
    /// The name of a path or an address.
    pub fn of(name: &'a (impl AsRef<Path> + ?Sized)) -> Self {
        Self(name.as_ref())
    }

    /// Whether it begins like an address, of any kind.
    pub fn is_address(self) -> bool {
        Address::of(&self.0.to_string_lossy()).is_some()
    }

    /// The path, for what writes a file there. An address as a path would make directories that have the names of its parts.
    ///
    /// # Errors
    /// [`io::ErrorKind::Other`] for an address, in words that follow its name.
    pub fn to_write(self) -> io::Result<&'a Path> {
        if self.is_address() { Err(io::Error::other("addresses are read, and not written")) } else { Ok(self.0) }
    }
}

impl fmt::Display for SourceName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string_lossy();
        match Address::of(&text) {
            Some(Address { scheme, rest }) => write!(f, "{scheme}{rest}"),
            None => f.write_str(&text),
        }
    }
}

impl fmt::Debug for SourceName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

/// The parts of an address that are shown.
struct Address<'a> {
    /// With the colon and the slashes.
    scheme: &'a str,
    rest: &'a str,
}

/// Parsers of addresses take a backslash for a slash.
const SLASHES: [char; 2] = ['/', '\\'];

impl<'a> Address<'a> {
    /// The parts of `text`, if it begins like an address. Parsers take some texts for addresses that are not well formed, and
    /// people write others. So this asks for little.
    fn of(text: &'a str) -> Option<Self> {
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
        let (name, behind) = text.split_once(':')?;
        let is_scheme = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        // A single letter is a drive.
        if !is_scheme || name.len() < 2 {
            return None;
        }
        let rest = behind.trim_start_matches(SLASHES);
        if rest.len() == behind.len() && !is_known(name) {
            return None;
        }
        let scheme = text.get(..text.len() - rest.len())?;
        let host_end = rest.find(|c| SLASHES.contains(&c) || matches!(c, '?' | '#')).unwrap_or(rest.len());
        let (host, _) = rest.split_at(host_end);
        // An account of Azure stands where others have the host, after its container. A word with a password is a user.
        let is_container =
            is_azure(name) && host.split_once('@').is_some_and(|(container, _)| !container.contains(':'));
        let rest = match host.rfind('@').or_else(|| if has_port(host) { None } else { rest.rfind('@') }) {
            Some(at) if !is_container => rest.get(at + 1..)?,
            _ => rest,
        };
        Some(Self { scheme, rest: rest.split(['?', '#']).next()? })
    }
}

/// Whether what stands between slashes is a host, or a host and a port. Else it is the start of a user and a password with a
/// character that should not be there.
fn has_port(host: &str) -> bool {
    // Addresses of version 6 have colons of their own.
    let behind = host.rsplit_once(']').map_or(host, |(_, behind)| behind);
    behind.split_once(':').is_none_or(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()))
}

fn is_azure(scheme: &str) -> bool {
    ["az", "azure", "abfs", "abfss", "adl"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Whether text with this scheme is an address without slashes too.
fn is_known(scheme: &str) -> bool {
    ["http", "https", "s3", "s3a", "gs", "ftp", "ftps"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_is_not_shown() {
        let shown = [
            ("http://u:SECRET@host/x", "http://host/x"),
            ("HTTPS://SECRET@host:80/x?SECRET#SECRET", "HTTPS://host:80/x"),
            ("http://host/x@v1/y?a=SECRET", "http://host/x@v1/y"),
            ("http://host#SECRET", "http://host"),
            ("http://host?SECRET/@x", "http://host"),
            ("http://[::1]:80/x?SECRET", "http://[::1]:80/x"),
            ("http://[::1]/x@1?SECRET", "http://[::1]/x@1"),
            ("s3://SECRET:SECRET@bucket/key?versionId=SECRET", "s3://bucket/key"),
            ("az://container@account/key?SECRET", "az://container@account/key"),
            ("abfss://SECRET:SECRET@account/key?SECRET", "abfss://account/key"),
            ("ftp://u:SECRET@host/x", "ftp://host/x"),
            ("other+kind://u:SECRET@host/x", "other+kind://host/x"),
            // Not well formed.
            ("http://u:SECRET@[bad/x?sig=SECRET", "http://[bad/x"),
            ("http://u:SEC/RET@host/x", "http://host/x"),
            ("http://u:SEC?RET@host/x", "http://host/x"),
            ("http://u:SEC#RET@host/x?SECRET", "http://host/x"),
            ("http://u:S@EC:RET@host/x", "http://host/x"),
            ("http://u:SECRET@host:port/x?SECRET", "http://host:port/x"),
            ("http:/u:SECRET@host/x?SECRET", "http:/host/x"),
            ("http:u:SECRET@host/x?SECRET", "http:host/x"),
            ("http:\\\\u:SECRET@host\\x?SECRET", "http:\\\\host\\x"),
            (" \nhttp://u:SECRET@host/x", "http://host/x"),
            ("http://?SECRET", "http://"),
            ("http://u:SECRET@", "http://"),
            ("file:///a/b?SECRET", "file:///a/b"),
        ];
        for (name, expected) in shown {
            assert_eq!(SourceName::of(name).to_string(), expected, "{name}");
            assert_eq!(format!("{:?}", SourceName::of(name)), format!("{expected:?}"), "{name}");
        }
    }

    #[test]
    fn paths_are_shown_as_they_are() {
        for path in ["a?b#c", "/a@b/c?d", "-", "", "C:\\a?b", "c:/a#b", "x:y?z", "a/http://b?c", "host:a@b?c", "1:/a?b"]
        {
            assert_eq!((SourceName::of(path).to_string().as_str(), SourceName::of(path).is_address()), (path, false));
        }
    }
}
