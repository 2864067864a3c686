//! Helpers for the tests of commands that write messages.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::corpus::of_class;
use crate::tool::{Run, tgm};

/// A folder for output.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder in memory, where the system has one. Files are safe there as soon as they are written, so commands that
    /// write many of them do not wait for a disk.
    pub(crate) fn in_memory() -> Self {
        tempfile::tempdir_in("/dev/shm").map_or_else(|_| Self::new(), Self)
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }

    /// A file in the folder.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The names in the folder, in order, including hidden files.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Files of the corpus that every command must be able to take apart.
pub(crate) fn sound() -> impl Iterator<Item = PathBuf> {
    of_class("valid").chain(of_class("legacy")).map(|(path, _)| path).filter(|path| !has_junk(path))
}

/// Whether the file has bytes that belong to no message.
pub(crate) fn has_junk(path: &Path) -> bool {
    tgm_core::scan::scan(&fs::read(path).unwrap()).any(|segment| !segment.is_message())
}

/// The content of files, one after the other. One run of a command on all of them is much faster than a run on each.
pub(crate) fn together(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Vec<u8> {
    paths.into_iter().flat_map(|path| fs::read(path).unwrap()).collect()
}

/// The objects of a file with the digests of their values, without their positions. Objects whose codec is not compiled
/// in have no digest.
pub(crate) fn digests(path: impl AsRef<Path>) -> Vec<Json> {
    digests_by_message(path).concat()
}

/// [`digests`], by message.
pub(crate) fn digests_by_message(path: impl AsRef<Path>) -> Vec<Vec<Json>> {
    let path = path.as_ref();
    let document = tgm([Path::new("digest"), Path::new("--json"), path]).json();
    let of_object = |object: &Json| {
        let error = object["error"]["message"].as_str();
        assert!(error.is_none_or(|text| text.contains("not compiled in")), "{path:?}: {object}");
        let mut object = object.clone();
        object.as_object_mut().unwrap().shift_remove("object");
        object
    };
    let of_message = |message: &Json| {
        let objects = message["objects"].as_array().unwrap_or_else(|| panic!("{path:?}: {message}"));
        objects.iter().map(of_object).collect()
    };
    document["messages"].as_array().unwrap().iter().map(of_message).collect()
}

/// The verdict of `tgm verify` on each message.
pub(crate) fn verdicts(path: impl AsRef<Path>) -> Vec<String> {
    let document = tgm([Path::new("verify"), Path::new("--json"), path.as_ref()]).json();
    document["messages"].as_array().unwrap().iter().map(|m| m["result"].as_str().unwrap().to_string()).collect()
}

/// The output of `tgm dump` for each message.
pub(crate) fn dump(path: impl AsRef<Path>) -> Vec<Json> {
    let run = tgm([Path::new("dump"), Path::new("--json"), path.as_ref()]).good();
    run.json()["messages"].as_array().unwrap().clone()
}

/// Descriptors, metadata and annotations of a message, without `_reserved_`.
pub(crate) fn contents(message: &Json) -> Json {
    let mut objects = message["objects"].clone();
    for object in objects.as_array_mut().unwrap() {
        for place in ["object", "layout"] {
            object.as_object_mut().unwrap().shift_remove(place);
        }
        object["metadata"].as_object_mut().unwrap().shift_remove("_reserved_");
        object.sort_all_objects();
    }
    let mut extra = message["extra"].clone();
    extra.sort_all_objects();
    serde_json::json!({"extra": extra, "objects": objects})
}

impl Run {
    /// The run, which must have failed with this text.
    pub(crate) fn failed(self, with: &str) -> Self {
        assert!(self.code == Some(1) && self.stderr.contains(with), "{:?}: {}", self.code, self.stderr);
        self
    }
}
