//! Directories: where descriptions and chunks lie.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tgm_std::TensogramError;

use super::{DESCRIPTION, Result};
use crate::error::metadata;

/// How deep groups lie within groups.
const MAX_DEPTH: usize = 64;
/// Bytes of a description. The description of a group may list all arrays.
const MAX_DESCRIPTION: u64 = 64 << 20;

/// What a directory holds.
pub(super) enum Node {
    Array(Json),
    Group(Json),
    /// A node that cannot be read, or that is not of version 3.
    Other(TensogramError),
}

/// Calls `visit` with the path of each node from the root on: groups before what they hold, names in order.
///
/// # Errors
/// The errors of `visit`.
pub(super) fn walk<E>(root: &Path, visit: &mut dyn FnMut(&str, Node) -> Result<(), E>) -> Result<(), E> {
    let mut waiting = vec![(String::new(), 0)];
    while let Some((path, depth)) = waiting.pop() {
        let directory = directory(root, &path);
        let node = node(&directory);
        let is_group = matches!(node, Some(Node::Group(_)));
        if let Some(node) = node {
            visit(&path, node)?;
        }
        if !is_group {
            continue;
        }
        match folders(&directory) {
            Ok(names) if depth < MAX_DEPTH => {
                let paths = names.into_iter().map(|name| if path.is_empty() { name } else { format!("{path}/{name}") });
                waiting.extend(paths.map(|path| (path, depth + 1)));
            }
            Ok(names) if names.is_empty() => {}
            Ok(_) => visit(&path, Node::Other(metadata(format!("groups lie deeper than {MAX_DEPTH}"))))?,
            Err(error) => visit(&path, Node::Other(TensogramError::io(&directory, &error)))?,
        }
    }
    Ok(())
}

/// The directory of a node.
pub(super) fn directory(root: &Path, path: &str) -> PathBuf {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.fold(root.to_path_buf(), |directory, part| directory.join(part))
}

/// Names of directories in a directory, last one first. Links are not followed, because they may lead in circles.
fn folders(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.extend(entry.file_name().into_string().ok());
        }
    }
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names)
}

/// The node of a directory. `None` if the directory is not a node.
fn node(directory: &Path) -> Option<Node> {
    let path = directory.join(DESCRIPTION);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_old = [".zarray", ".zgroup"].iter().any(|name| directory.join(name).exists());
            return is_old.then(|| Node::Other(metadata("Zarr version 2 is not supported")));
        }
        Err(error) => return Some(Node::Other(TensogramError::io(&path, &error))),
    };
    let mut text = Vec::new();
    if let Err(error) = file.take(MAX_DESCRIPTION + 1).read_to_end(&mut text) {
        return Some(Node::Other(TensogramError::io(&path, &error)));
    }
    if text.len() as u64 > MAX_DESCRIPTION {
        return Some(Node::Other(metadata(format!("zarr.json is longer than {MAX_DESCRIPTION} bytes"))));
    }
    Some(match serde_json::from_slice::<Json>(&text) {
        Ok(json) => match json.get("node_type").and_then(Json::as_str) {
            Some("array") => Node::Array(json),
            Some("group") => Node::Group(json),
            _ => Node::Other(metadata("zarr.json is of neither array nor group")),
        },
        Err(error) => Node::Other(metadata(format!("zarr.json is not JSON: {error}"))),
    })
}

/// The bytes of a chunk. `None` if it is not stored.
pub(super) fn chunk(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Bytes of a chunk, 0 if it is not stored.
pub(super) fn chunk_len(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}
