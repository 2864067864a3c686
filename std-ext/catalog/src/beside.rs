//! The catalogue that lies beside its data: `FILE.catalog` for `FILE`, of this machine or at an address.

use std::path::{Path, PathBuf};

use tgm_core::wire::MAGIC;
use tgm_std::file::is_remote_url;
use tgm_std::{Archive, DecodeOptions, Result};

use crate::bytes::read_open;
use crate::{Catalog, CatalogLimits, check_bytes};

/// What the name of a catalogue has after the name of its data.
const ENDING: &str = ".catalog";

/// A catalogue that lies beside its data.
#[derive(Debug)]
pub struct Beside {
    /// Where it is.
    pub path: PathBuf,
    /// The catalogue, or why it cannot be read.
    pub catalog: Result<Catalog>,
}

impl Beside {
    /// The catalogue beside a file or an address. `None` if there is none.
    ///
    /// At an address this takes one request if there is none. Whatever keeps a server from giving it means that there is none: a
    /// server may refuse what it does not have, or answer with a page.
    pub fn open(source: &Path, limits: &CatalogLimits, options: &DecodeOptions) -> Option<Self> {
        let path = path_of(source);
        let catalog = match path.to_str().filter(|text| is_remote_url(text)) {
            Some(address) => {
                let archive = messages_at(address)?;
                let bytes = read_open(&archive, |len| check_bytes(len, limits));
                bytes.and_then(|bytes| Catalog::from_bytes_with(&bytes, limits, options))
            }
            None => path.is_file().then(|| Catalog::open_with(&path, limits, options))?,
        };
        Some(Self { path, catalog })
    }
}

impl Beside {
    /// Whether a file of this machine has a catalogue beside it. An address has to be asked.
    pub fn is_here(source: &Path) -> bool {
        source.to_str().is_none_or(|text| !is_remote_url(text)) && path_of(source).is_file()
    }
}

/// Where the catalogue of a source lies. The query of an address stays behind its path.
fn path_of(source: &Path) -> PathBuf {
    if let Some(address) = source.to_str().filter(|text| is_remote_url(text)) {
        let end = address.find(['?', '#']).unwrap_or(address.len());
        let (path, rest) = address.split_at(end);
        return format!("{path}{ENDING}{rest}").into();
    }
    let mut name = source.as_os_str().to_os_string();
    name.push(ENDING);
    name.into()
}

/// What is at an address, if it begins with a message.
fn messages_at(address: &str) -> Option<Archive<'static>> {
    let archive = Archive::open_unread(address).ok()?;
    let mut start = [0; MAGIC.len()];
    let read = archive.read_at(0, &mut start).ok()?;
    (read == start.len() && start == *MAGIC).then_some(archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalogue_lies_beside_its_data() {
        for (source, expected) in [
            ("folder/a.tgm", "folder/a.tgm.catalog"),
            ("a?b#c.tgm", "a?b#c.tgm.catalog"),
            ("https://example.org/a.tgm", "https://example.org/a.tgm.catalog"),
            ("https://example.org/a.tgm?signature=x/y?z", "https://example.org/a.tgm.catalog?signature=x/y?z"),
        ] {
            assert_eq!(path_of(Path::new(source)), Path::new(expected));
        }
    }
}
