//! Children of a tree: files with their catalogues, and trees below it.

use tgm_std::hash::digest;
use tgm_std::{Result, TensogramError};

use super::Tree;
use super::seen::{Finder, Seen};
use crate::cbor::encoded;
use crate::leaf::{KeyHead, Leaf, Storage};
use crate::{Catalog, bad};

/// Bytes of a name, at most.
pub(super) const LONGEST_NAME: usize = 4096;

/// What a child of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChildKind {
    /// A file of messages, with a catalogue.
    File,
    /// Another tree.
    Tree,
}

/// A child of a tree: where it lies, what it was, and what values its keys have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// What it is.
    pub kind: ChildKind,
    /// Its path from the folder of the tree, with slashes.
    pub name: String,
    /// The path of its catalogue. `None` stands for the name with `.catalog` after it.
    pub catalog: Option<String>,
    /// Messages in it.
    pub messages: u64,
    /// Objects in it.
    pub objects: u64,
    /// Bytes of its catalogue, or of the other tree.
    pub length: u64,
    /// XXH3-64 of these bytes.
    pub digest: u64,
    /// XXH3-64 of which file the data were when they were catalogued, and in which state. `None` if that did not show.
    pub identity: Option<u64>,
    /// Keys, and what values they have.
    pub keys: Vec<(String, Seen)>,
}

impl Child {
    /// The child for a file whose catalogue is this one. `bytes` are the catalogue's as they are stored.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a name that a tree cannot have, and for a damaged catalogue.
    pub fn of_catalog(name: &str, catalog: &Catalog, bytes: &[u8]) -> Result<Self> {
        check_name(name)?;
        let mut keys = Vec::new();
        for path in catalog.keys() {
            let mut found = Finder::default();
            for leaf in &catalog.leaves {
                add(&mut found, leaf, catalog.key_of(leaf, path)?)?;
            }
            keys.push((path.to_string(), found.finish()));
        }
        let identity = catalog.leaves.last().and_then(|leaf| leaf.proof.identity.as_deref());
        Ok(Self {
            kind: ChildKind::File,
            name: name.to_string(),
            catalog: None,
            messages: catalog.message_count() as u64,
            objects: catalog.object_count() as u64,
            length: bytes.len() as u64,
            digest: digest(bytes),
            identity: identity.map(digest),
            keys,
        })
    }

    /// The child for another tree. `bytes` are its bytes as they are stored.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a name that a tree cannot have, and for a damaged tree.
    pub fn of_tree(name: &str, tree: &Tree, bytes: &[u8]) -> Result<Self> {
        check_name(name)?;
        Ok(Self {
            kind: ChildKind::Tree,
            name: name.to_string(),
            catalog: None,
            messages: tree.message_count()?,
            objects: tree.object_count()?,
            length: bytes.len() as u64,
            digest: digest(bytes),
            identity: None,
            keys: tree.keys().map(|key| Ok((key.to_string(), tree.seen(key)?))).collect::<Result<_>>()?,
        })
    }

    /// The path of its catalogue from the folder of the tree, or of the other tree.
    pub fn catalog_name(&self) -> String {
        match (self.kind, &self.catalog) {
            (ChildKind::Tree, _) => self.name.clone(),
            (ChildKind::File, Some(catalog)) => catalog.clone(),
            (ChildKind::File, None) => format!("{}.catalog", self.name),
        }
    }
}

/// Adds what a leaf has under a key, for objects and for messages.
fn add(found: &mut Finder, leaf: &Leaf, key: &KeyHead) -> Result<()> {
    if let Storage::Codes(table) = &key.kind {
        table.iter().for_each(|value| found.add(value));
    }
    let (messages, objects) = (leaf.message_column(key)?, leaf.object_column(key)?);
    for (column, rows) in [(messages, leaf.covers.messages), (objects, leaf.covers.objects)] {
        let mut before = None;
        for row in 0..rows {
            let bits = column.at(row)?;
            if before.replace(bits) == Some(bits) {
                continue;
            }
            match &key.kind {
                _ if Some(bits) == key.absent() => found.lacks = true,
                Storage::Codes(_) => {}
                kind => found.add(&encoded(bits, matches!(kind, Storage::Floats))),
            }
        }
    }
    Ok(())
}

/// Checks the name of a child: a path below the folder of the tree. Then a tree leads to nothing else, wherever it comes from,
/// and moves with its folder.
///
/// # Errors
/// [`TensogramError::Metadata`] for an absolute path, an address, a path that leads out of the folder, one with control characters,
/// and a very long one.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_inside = name.split('/').all(is_part);
    // Parsers of addresses take a backslash for a slash, and drop tabs and ends of lines, so that dots around these become one part.
    let is_plain = !name.contains(|letter: char| matches!(letter, '\\' | ':') || letter.is_control());
    if is_inside && is_plain && name.len() <= LONGEST_NAME {
        return Ok(());
    }
    let shown: String = name.chars().take(200).collect();
    Err(outside(&shown))
}

#[cold]
fn outside(name: &str) -> TensogramError {
    bad(format!("{name:?} is not a path below the folder of the tree"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_but_below_the_folder() {
        for name in ["a.tgm", "a/b c.tgm", "a/..b/...", "%2e%2e/a", "a?b#c", "é/ü.tgm", "a\u{a0}b", "a+b=c&d"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(LONGEST_NAME + 1);
        for name in [
            "",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "./a",
            "..\\a",
            "a\\..\\b",
            "c:/a",
            "https://h/a",
            long.as_str(),
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
        let controls = (0..=0x9f_u32).filter_map(char::from_u32).filter(|letter| letter.is_control());
        for control in controls {
            for name in [
                format!("a{control}"),
                format!("{control}a"),
                format!(".{control}./a"),
                format!("a/.{control}./.{control}./b"),
            ] {
                assert!(check_name(&name).is_err(), "{name:?}");
            }
        }
    }
}
