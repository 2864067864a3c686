//! Names of files with keys in brackets, and files that messages are appended to.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::path::{self, Path, PathBuf};

use tgm_std::{AppendOptions, Result, TensogramError, TensogramFile};

use crate::read::select::{Scope, text};
use crate::write::destination::is_stdio;

/// Replaces the value of a key that a message lacks.
const UNKNOWN: &str = "unknown";

/// A path with keys: pieces of text, each followed by a key, then the rest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<(String, String)>,
    rest: String,
}

impl Template {
    /// The template of a path. `None` if the path has no key in brackets.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let mut rest = path.to_str()?;
        let mut pieces = Vec::new();
        while let Some((before, after)) = rest.split_once('[') {
            let Some((key, behind)) = after.split_once(']') else { break };
            pieces.push((before.to_string(), key.to_string()));
            rest = behind;
        }
        (!pieces.is_empty()).then(|| Self { pieces, rest: rest.to_string() })
    }

    /// Whether there is a key other than `known`.
    pub(crate) fn has_key_beside(&self, known: &str) -> bool {
        self.pieces.iter().any(|(_, key)| key != known)
    }

    /// The path for a message. `known` gives values that are not in its metadata.
    ///
    /// # Errors
    /// For a value that would lead out of the directory, and for errors of the metadata.
    pub(crate) fn fill(&self, scope: &Scope<'_, '_>, known: impl Fn(&str) -> Option<String>) -> Result<PathBuf> {
        self.fill_with(|key| match known(key) {
            Some(value) => Ok(Some(value)),
            None => Ok(scope.get(key)?.map(|value| text(&value))),
        })
    }

    /// The path with these values of keys. A key without a value is "unknown".
    ///
    /// # Errors
    /// For a value that would lead out of the directory, and for errors of `value`.
    pub(crate) fn fill_with(&self, value: impl Fn(&str) -> Result<Option<String>>) -> Result<PathBuf> {
        let mut path = String::new();
        for (before, key) in &self.pieces {
            let value = value(key)?.unwrap_or_else(|| UNKNOWN.to_string());
            // Metadata may come from anyone. A value must not lead out of the directory that the user named.
            if value.contains(|c| path::is_separator(c) || c == '\0') || matches!(value.as_str(), "." | "..") {
                let text = format!("the value of {key} cannot be part of a file's name: {value}");
                return Err(TensogramError::Metadata(text.into()));
            }
            path.push_str(before);
            path.push_str(&value);
        }
        path.push_str(&self.rest);
        let path = PathBuf::from(path);
        if is_stdio(&path) {
            return Err(TensogramError::Metadata("messages cannot be appended to standard output".into()));
        }
        Ok(path)
    }
}

/// Files that messages are appended to.
#[derive(Debug, Default)]
pub(crate) struct Appended {
    /// The files of this run.
    files: HashSet<PathBuf>,
    /// The last of them, which stays open: the next message often goes there too.
    last: Option<(PathBuf, TensogramFile)>,
}

impl Appended {
    /// Appends a whole message. A missing file is made, a missing directory is not. With `no_clobber` the file must not
    /// have been there before.
    ///
    /// # Errors
    /// The errors of writing.
    pub(crate) fn append(&mut self, path: &Path, message: &[u8], no_clobber: bool) -> Result<()> {
        let how = AppendOptions::default();
        if let Some((_, file)) = self.last.as_mut().filter(|(last, _)| last == path) {
            return file.append_message(message, &how).map(drop);
        }
        let is_first = self.files.insert(path.to_path_buf());
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        if is_first && no_clobber {
            options.create_new(true);
        }
        options.open(path).inspect_err(|_| _ = self.files.remove(path))?;
        let (_, file) = self.last.insert((path.to_path_buf(), TensogramFile::open(path)?));
        file.append_message(message, &how).map(drop)
    }
}

/// The template's path for file `index`, whose number has at least these `digits`. It stands for `[KEY]`, or before the
/// extension.
pub(crate) fn numbered(template: &Path, key: &str, index: u64, digits: usize) -> PathBuf {
    let (key, number) = (format!("[{key}]"), format!("{index:0digits$}"));
    if let Some(text) = template.to_str().filter(|text| text.contains(&key)) {
        return text.replace(&key, &number).into();
    }
    let mut name = template.file_stem().map(OsString::from).unwrap_or_default();
    name.push(format!("_{number}"));
    if let Some(extension) = template.extension() {
        name.push(".");
        name.push(extension);
    }
    template.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_have_their_keys_in_brackets() {
        let template = |path: &str| Template::of(Path::new(path));
        let pieces = vec![("out/".to_string(), "mars.step".to_string()), ("_".to_string(), "version".to_string())];
        assert_eq!(template("out/[mars.step]_[version].tgm"), Some(Template { pieces, rest: ".tgm".to_string() }));
        assert_eq!((template("out/a.tgm"), template("out/[a.tgm"), template("a]")), (None, None, None));
    }

    #[test]
    fn numbers_have_four_digits_or_more_and_stand_before_the_extension() {
        for (template, index, expected) in [
            ("a.tgm", 0, "a_0000.tgm"),
            ("d.x/a", 12, "d.x/a_0012"),
            ("a.b.tgm", 12345, "a.b_12345.tgm"),
            ("[index]/a[index].tgm", 7, "0007/a0007.tgm"),
        ] {
            assert_eq!(numbered(Path::new(template), "index", index, 4), Path::new(expected));
        }
    }
}
