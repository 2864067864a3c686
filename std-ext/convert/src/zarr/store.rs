//! Directories: where descriptions and chunks lie.
//!
//! All files of a store are opened by [`Store`]: only regular files that lie within the store, and no more of a file than its
//! use allows. A link that leads out of the store, a pipe and a device are errors.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use ciborium::Value;
use tgm_std::{Reason, TensogramError};

use super::v2::{self, ARRAY, ATTRIBUTES, GROUP};
use super::{DESCRIPTION, Result, json};
use crate::error::{encoding, metadata};
use crate::maps::{get, take};
use crate::names::leaf;

/// How deep groups lie within groups.
const MAX_DEPTH: usize = 64;
/// Bytes of a description. The description of a group may list all arrays.
const MAX_DESCRIPTION: u64 = 64 << 20;
/// Entries of all directories. A store of more is not read to its end.
const MAX_ENTRIES: usize = 64 << 20;
/// The file of version 2 that repeats all descriptions.
const CONSOLIDATED: &str = ".zmetadata";

/// What a directory holds.
pub(super) enum Node {
    /// An array, described as version 3 describes it, and its attributes.
    Array(Vec<(Value, Value)>, Vec<(Value, Value)>),
    /// A group, and its attributes.
    Group(Vec<(Value, Value)>),
    /// A node that cannot be read.
    Failed(TensogramError),
    /// Something beside the nodes, and what it is.
    Beside(String),
}

/// A store on disk.
pub(super) struct Store {
    /// The directory, without links in its path.
    root: PathBuf,
    /// Entries that may still be looked at.
    entries: std::cell::Cell<usize>,
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    /// A file, or a link, which is looked at when it is opened.
    File,
    /// A link to a directory.
    LinkedFolder,
    /// A pipe, a device, a socket.
    Special,
    /// Anything whose name is not UTF-8.
    Unnamed,
}

impl Store {
    /// The store in a directory.
    pub(super) fn new(root: &Path) -> Result<Self, TensogramError> {
        let root = root.canonicalize().map_err(|error| TensogramError::io(root, &error))?;
        Ok(Self { root, entries: std::cell::Cell::new(MAX_ENTRIES) })
    }

    /// The bytes of a file with at most `max`. `None` if there is no file.
    pub(super) fn read(&self, path: &Path, max: u64) -> Result<Option<Vec<u8>>> {
        let path = match self.root.join(path).canonicalize() {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TensogramError::io(&self.root.join(path), &error)),
        };
        if !path.starts_with(&self.root) {
            return Err(metadata("it is a link that leads out of the store"));
        }
        // Before it is opened: that of a pipe waits for a writer, and that of a device may do anything.
        let failed = |error: io::Error| TensogramError::io(&path, &error);
        let is_file = |about: io::Result<fs::Metadata>| {
            let about = about.map_err(&failed)?;
            if about.is_file() { Ok(about.len()) } else { Err(metadata("it is not a regular file")) }
        };
        is_file(path.symlink_metadata())?;
        let file = File::open(&path).map_err(&failed)?;
        let len = is_file(file.metadata())?;
        let too_long = || metadata(format!("it has {len} bytes, and {max} are the most that it can have"));
        if len > max {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        file.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(&failed)?;
        if bytes.len() as u64 > max { Err(too_long()) } else { Ok(Some(bytes)) }
    }

    /// Bytes of a file, 0 if there is none that [`Self::read`] would read.
    pub(super) fn len(&self, path: &Path) -> u64 {
        let metadata = self.root.join(path).metadata();
        metadata.ok().filter(fs::Metadata::is_file).map_or(0, |metadata| metadata.len())
    }

    /// Bytes that a file takes on disk, about: fewer than it has, if it has holes.
    pub(super) fn disk_len(&self, path: &Path) -> u64 {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let blocks = self.root.join(path).metadata().map_or(0, |metadata| metadata.blocks());
            // Short files may need no block.
            self.len(path).min(blocks.saturating_mul(512).saturating_add(512))
        }
        #[cfg(not(unix))]
        self.len(path)
    }

    /// Names and kinds in a directory, in order. A name that is not UTF-8 leads nowhere: it is shown, as what cannot be read.
    fn entries(&self, folder: &Path) -> Result<Vec<(String, Kind)>> {
        let mut found = Vec::new();
        let failed = |error: io::Error| TensogramError::io(&self.root.join(folder), &error);
        let entries = fs::read_dir(self.root.join(folder)).map_err(failed)?;
        for entry in entries {
            let left = self.entries.get().checked_sub(1);
            self.entries.set(left.ok_or_else(|| encoding(format!("the store has more than {MAX_ENTRIES} entries")))?);
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let kind = if kind.is_dir() {
                Kind::Folder
            } else if kind.is_file() {
                Kind::File
            } else if kind.is_symlink() {
                if entry.path().is_dir() { Kind::LinkedFolder } else { Kind::File }
            } else {
                Kind::Special
            };
            found.push(match entry.file_name().into_string() {
                Ok(name) => (name, kind),
                Err(name) => (name.display().to_string(), Kind::Unnamed),
            });
        }
        found.sort_unstable_by(|(one, _), (other, _)| str::cmp(one, other));
        Ok(found)
    }

    /// Calls `visit` with the path of each node from the root on, and with what lies beside nodes: groups before what they
    /// hold, the labels of dimensions before other nodes, names in order.
    ///
    /// # Errors
    /// The errors of `visit`.
    pub(super) fn walk<E>(&self, visit: &mut dyn FnMut(&str, Node) -> Result<(), E>) -> Result<(), E> {
        let mut waiting = vec![(String::new(), 0)];
        while let Some((path, depth)) = waiting.pop() {
            let node = self.node(Path::new(&path));
            let is_leaf = matches!(node, Some(Node::Array(..) | Node::Failed(_)));
            match node {
                Some(node) => visit(&path, node)?,
                // Directories between groups need not be described.
                None if path.is_empty() => return Ok(()),
                None => {}
            }
            if is_leaf {
                continue;
            }
            let entries = match self.entries(Path::new(&path)) {
                Ok(entries) => entries,
                Err(error) => {
                    visit(&path, Node::Failed(error))?;
                    continue;
                }
            };
            let mut folders = Vec::new();
            for (name, kind) in entries {
                let within = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                match kind {
                    Kind::Folder if depth < MAX_DEPTH => folders.push((within, depth + 1)),
                    Kind::Folder => {
                        visit(&within, Node::Failed(metadata(format!("groups lie deeper than {MAX_DEPTH}"))))?;
                    }
                    Kind::LinkedFolder => {
                        visit(&within, Node::Failed(metadata("it is a link to a directory, which is not followed")))?;
                    }
                    Kind::Special => visit(&within, Node::Failed(metadata("it is not a regular file")))?,
                    Kind::Unnamed => visit(&within, Node::Failed(metadata("its name is not UTF-8")))?,
                    Kind::File if [DESCRIPTION, GROUP, ATTRIBUTES, CONSOLIDATED].contains(&name.as_str()) => {}
                    Kind::File => visit(&within, Node::Beside("the file, which is not part of an array".into()))?,
                }
            }
            // The labels of dimensions come first: a writer of several stores tells them apart by their labels.
            let (axes, others): (Vec<_>, Vec<_>) = folders.into_iter().partition(|(path, _)| self.is_axis(path));
            waiting.extend(others.into_iter().rev().chain(axes.into_iter().rev()));
        }
        Ok(())
    }

    /// Whether a directory is an array of one dimension that has its name.
    fn is_axis(&self, path: &str) -> bool {
        let Some(Node::Array(description, _)) = self.node(Path::new(path)) else { return false };
        let names = get(&description, "dimension_names").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().map(Value::as_text).eq([Some(leaf(path))]))
    }

    /// The node of a directory. `None` if the directory is not a node.
    fn node(&self, folder: &Path) -> Option<Node> {
        let described = |name: &str| {
            let bytes = self.read(&folder.join(name), MAX_DESCRIPTION).map_err(|error| error.within(name))?;
            let parsed = bytes.map(|bytes| json::parse(&bytes)).transpose().map_err(|error| {
                let text = format!("{name} is not JSON: {error}");
                metadata(Reason::with_source(text, Some(error.at as u64), error))
            });
            match parsed? {
                Some(Value::Map(entries)) => Ok(Some(entries)),
                Some(_) => Err(metadata(format!("{name} is not a JSON object"))),
                None => Ok(None),
            }
        };
        let node = || -> Result<Option<Node>> {
            if let Some(mut entries) = described(DESCRIPTION)? {
                let attributes = match take(&mut entries, "attributes") {
                    Some(Value::Map(attributes)) => attributes,
                    None => Vec::new(),
                    Some(_) => return Err(metadata(format!("attributes of {DESCRIPTION} are not a JSON object"))),
                };
                return match get(&entries, "node_type").and_then(Value::as_text) {
                    Some("array") => Ok(Some(Node::Array(entries, attributes))),
                    Some("group") => Ok(Some(Node::Group(attributes))),
                    _ => Err(metadata(format!("{DESCRIPTION} is of neither array nor group"))),
                };
            }
            if let Some(entries) = described(ARRAY)? {
                let attributes = described(ATTRIBUTES)?.unwrap_or_default();
                let (description, attributes) = v2::array(&entries, attributes)?;
                return Ok(Some(Node::Array(description, attributes)));
            }
            if described(GROUP)?.is_some() {
                return Ok(Some(Node::Group(described(ATTRIBUTES)?.unwrap_or_default())));
            }
            Ok(None)
        };
        node().unwrap_or_else(|error| Some(Node::Failed(error)))
    }

    /// Calls `visit` with the path of each file of an array from its directory on, but for its descriptions.
    ///
    /// # Errors
    /// The errors of `visit`, and what is neither file nor directory.
    pub(super) fn files(&self, array: &Path, visit: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        let mut waiting = vec![(String::new(), 0)];
        while let Some((path, depth)) = waiting.pop() {
            for (name, kind) in self.entries(&array.join(&path))?.into_iter().rev() {
                let within = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                match kind {
                    Kind::Folder if depth < MAX_DEPTH => waiting.push((within, depth + 1)),
                    Kind::Folder => return Err(metadata(format!("{within}: directories lie deeper than {MAX_DEPTH}"))),
                    Kind::LinkedFolder => {
                        return Err(metadata(format!("{within}: a link to a directory is not followed")));
                    }
                    Kind::Special => return Err(metadata(format!("{within} is not a regular file"))),
                    Kind::Unnamed => return Err(metadata(format!("the name {within} is not UTF-8"))),
                    Kind::File if depth == 0 && [DESCRIPTION, ARRAY, ATTRIBUTES].contains(&name.as_str()) => {}
                    Kind::File => visit(&within)?,
                }
            }
        }
        Ok(())
    }
}

/// The path of a node as a path of the system. Parts that would lead elsewhere are left out.
pub(super) fn directory(root: &Path, path: &str) -> PathBuf {
    let parts = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_)));
    parts.fold(root.to_path_buf(), |directory, part| directory.join(part))
}
