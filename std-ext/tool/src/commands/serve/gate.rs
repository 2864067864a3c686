//! Who is answered.
//!
//! A page of any origin can send requests to this machine, and a name that its owner lets lead to this machine makes them look as if they
//! were of one origin. So the header `Host` must be an address of numbers or `localhost`, which no owner of a name can change. And each
//! address needs the token, which only those know who saw what the tool printed.

use std::convert::Infallible;
use std::net::IpAddr;
use std::str::FromStr;

use hyper::header::{HOST, HeaderMap};

/// The pages that may read what is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origins {
    /// All pages.
    All,
    /// Pages of this origin.
    One(String),
}

impl FromStr for Origins {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "*" { Self::All } else { Self::One(text.trim_end_matches('/').into()) })
    }
}

/// The token, and the pages that may ask.
#[derive(Debug)]
pub(super) struct Gate {
    token: String,
    origins: Option<Origins>,
}

impl Gate {
    pub(super) const fn new(token: String, origins: Option<Origins>) -> Self {
        Self { token, origins }
    }

    /// Whether a request names this machine: by an address of numbers, or as `localhost`.
    pub(super) fn knows_host(headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        host.to_str().is_ok_and(is_this_machine)
    }

    /// The path after the token, with `/` at its start. `None` without the right token in the path or in the query.
    pub(super) fn path<'p>(&self, path: &'p str, query: Option<&str>) -> Option<&'p str> {
        let (first, rest) = path.strip_prefix('/')?.split_once('/').unwrap_or((path.strip_prefix('/')?, ""));
        if self.is_token(first) {
            // The rest begins after the token, with its slash if there is one.
            return Some(path.get(first.len().saturating_add(1)..).filter(|_| !rest.is_empty()).unwrap_or("/"));
        }
        let words = query.unwrap_or_default().split('&');
        let given = words.filter_map(|word| word.strip_prefix("token=")).any(|token| self.is_token(token));
        given.then_some(path)
    }

    /// Whether a word is the token. It takes the same time wherever they differ.
    fn is_token(&self, word: &str) -> bool {
        let bits = word.bytes().zip(self.token.bytes()).fold(0, |bits, (one, other)| bits | (one ^ other));
        word.len() == self.token.len() && bits == 0
    }

    /// The origin that an answer to a page of this one names. `None` if pages may not read it.
    pub(super) fn allowed(&self, origin: Option<&str>) -> Option<&str> {
        match self.origins.as_ref()? {
            Origins::All => Some("*"),
            Origins::One(own) => Some(own.as_str()).filter(|own| origin == Some(*own)),
        }
    }

    /// Whether any page may read what is served.
    pub(super) const fn has_origins(&self) -> bool {
        self.origins.is_some()
    }
}

/// Whether a host, with its port or without, is an address of numbers or `localhost`.
fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, "")) => name,
        Some((name, port)) if is_port(port) => name,
        Some(_) => return false,
        None => match host.split_once(':') {
            Some((name, port)) if is_port(&format!(":{port}")) => name,
            Some(_) => return false,
            None => host,
        },
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be_led_here_are_refused() {
        for host in ["127.0.0.1:8000", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:80", "[::1]", "192.168.0.7:80"] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "example.org:80",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "localhost:x",
            "[::1",
            "[::1]x",
            "a:1:2",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }

    #[test]
    fn the_token_stands_in_the_path_or_in_the_query() {
        let gate = Gate::new("secret".into(), None);
        let paths = [
            ("/secret", None, Some("/")),
            ("/secret/", None, Some("/")),
            ("/secret/files/a", None, Some("/files/a")),
            ("/files/a", Some("x=1&token=secret"), Some("/files/a")),
            ("/", Some("token=secret"), Some("/")),
            ("/", None, None),
            ("/secre", None, None),
            ("/secrets/files", None, None),
            ("/files/secret/a", None, None),
            ("/files", Some("token=secre"), None),
            ("/files", Some("token="), None),
            ("/files", Some("xtoken=secret"), None),
            ("secret", None, None),
        ];
        for (path, query, expected) in paths {
            assert_eq!(gate.path(path, query), expected, "{path} {query:?}");
        }
    }
}
