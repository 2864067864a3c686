//! Names of files with keys in brackets, and files that messages are appended to.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf, is_separator};

use tgm_std::file::SourceName;
use tgm_std::{AppendOptions, Result, TensogramError, TensogramFile};

use crate::read::select::{Scope, text};
use crate::show::output::Out;
use crate::show::text::is_unsafe;
use crate::write::same_file::is_stdio;

/// Replaces the value of a key that a message lacks.
const UNKNOWN: &str = "unknown";

/// Whether a path ends as that of a folder does.
pub(crate) fn ends_as_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|last| is_separator(char::from(*last)))
}

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
    /// For a value that cannot be part of a file's name, for parts of the path that become such a name, and for errors of
    /// `value`.
    pub(crate) fn fill_with(&self, value: impl Fn(&str) -> Result<Option<String>>) -> Result<PathBuf> {
        let mut names = Names::default();
        for (before, key) in &self.pieces {
            names.push_own(before)?;
            names.push_value(key, &value(key)?.unwrap_or_else(|| UNKNOWN.to_string()))?;
        }
        names.push_own(&self.rest)?;
        let path = PathBuf::from(names.path);
        if is_stdio(&path) {
            return Err(wrong("messages cannot be appended to standard output"));
        }
        names.last.check()?;
        Ok(path)
    }
}

fn wrong(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}

/// A path that grows. Metadata may come from anyone: what a value makes of a name must stay a name in the directory that
/// the user named.
#[derive(Default)]
struct Names {
    path: String,
    last: LastName,
}

/// The last name of a path.
#[derive(Default)]
struct LastName {
    text: String,
    /// The last key whose value is part of it.
    key: Option<String>,
}

impl LastName {
    /// Checks a name that has the value of a key.
    fn check(&self) -> Result<()> {
        let Self { text, key: Some(key) } = self else { return Ok(()) };
        let fault = match text.as_str() {
            "" => "empty",
            "." | ".." => "the name of a directory",
            name if name.starts_with('-') => "like a flag",
            _ => return Ok(()),
        };
        Err(wrong(format!("the value of {key} makes a file's name that is {fault}: {text:?}")))
    }
}

impl Names {
    /// Adds text of the template. Where a name ends, it is checked.
    fn push_own(&mut self, text: &str) -> Result<()> {
        self.path.push_str(text);
        for c in text.chars() {
            if is_separator(c) {
                self.last.check()?;
                self.last = LastName::default();
            } else {
                self.last.text.push(c);
            }
        }
        Ok(())
    }

    /// Adds the value of a key.
    fn push_value(&mut self, key: &str, value: &str) -> Result<()> {
        let is_wrong = |c| is_separator(c) || is_unsafe(c);
        if value.is_empty() || value.contains(is_wrong) || matches!(value, "." | "..") {
            // A line end would begin another line of the error.
            let value = if value.is_empty() { "it is empty".into() } else { value.replace('\n', "\\n") };
            return Err(wrong(format!("the value of {key} cannot be part of a file's name: {value}")));
        }
        self.path.push_str(value);
        self.last.text.push_str(value);
        self.last.key = Some(key.to_string());
        Ok(())
    }
}

/// The names of the files of one run: none is used twice.
#[derive(Debug, Default)]
pub(crate) struct Distinct {
    used: HashSet<PathBuf>,
    /// For a name that came again, the number to try next.
    next: HashMap<PathBuf, u64>,
}

impl Distinct {
    /// `path` if no file of this run has that name, else with the first free number before its extension.
    pub(crate) fn take(&mut self, path: PathBuf) -> PathBuf {
        if self.used.insert(same(&path)) {
            return path;
        }
        let next = self.next.entry(same(&path)).or_insert(1);
        loop {
            let numbered = with_number(&path, &format!("{next:04}"));
            *next += 1;
            if self.used.insert(same(&numbered)) {
                return numbered;
            }
        }
    }
}

/// A path as usual file systems compare it: on macOS and Windows they take capital letters for small ones.
fn same(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) if cfg!(any(windows, target_os = "macos")) => text.to_lowercase().into(),
        _ => path.to_path_buf(),
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
    /// Appends the message at `place`, and reports what fails.
    pub(crate) fn append_or_report(&mut self, out: &mut Out, place: &str, path: &Path, message: &[u8]) {
        if let Err(error) = self.append(path, message, out.output_flags().no_clobber) {
            out.report(&format!("{place}: cannot append to {}", SourceName::of(path)), &error);
        }
    }

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
        let is_new = match OpenOptions::new().append(true).create_new(true).open(path) {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !(is_first && no_clobber) => {
                OpenOptions::new().append(true).open(path).inspect_err(|_| _ = self.files.remove(path))?;
                false
            }
            Err(error) => {
                self.files.remove(path);
                return Err(error.into());
            }
        };
        let (_, file) = self.last.insert((path.to_path_buf(), TensogramFile::open(path)?));
        file.append_message(message, &how).map(drop).inspect_err(|_| {
            // A file that was made for this message, and has nothing of it.
            if is_new && path.metadata().is_ok_and(|metadata| metadata.len() == 0) {
                _ = std::fs::remove_file(path);
                self.last = None;
            }
        })
    }
}

/// The template's path for file `index`, whose number has at least these `digits`. It stands for `[KEY]`, or before the
/// extension.
pub(crate) fn numbered(template: &Path, key: &str, index: u64, digits: usize) -> PathBuf {
    let (key, number) = (format!("[{key}]"), format!("{index:0digits$}"));
    if let Some(text) = template.to_str().filter(|text| text.contains(&key)) {
        return text.replace(&key, &number).into();
    }
    with_number(template, &number)
}

/// The path with "_" and a number before its extension.
fn with_number(path: &Path, number: &str) -> PathBuf {
    let mut name = path.file_stem().map(OsString::from).unwrap_or_default();
    name.push(format!("_{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
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

    /// What metadata may say, and what becomes of it. Names that the user wrote are the user's own.
    #[test]
    fn values_stay_names_in_the_directory() {
        let fill = |template: &str, values: &[(&str, &str)]| {
            let value =
                |key: &str| Ok(values.iter().find(|(name, _)| *name == key).map(|(_, value)| value.to_string()));
            Template::of(Path::new(template)).unwrap().fill_with(value)
        };
        for value in ["", ".", "..", "a/b", "/", "a\0b", "a\nb", "a\u{1b}[2Jb", "a\u{202e}b", "-", "-rf", "-x.npy"] {
            for template in ["[a]", "out/[a]", "[a]/x", "../[a].npy"] {
                let filled = fill(template, &[("a", value)]);
                assert!(filled.is_err(), "{template} {value:?}: {filled:?}");
            }
        }
        // Values that are harmless alone.
        assert!(fill("[a][b]", &[("a", "."), ("b", ".")]).is_err());
        assert!(fill("[a][b]/x", &[("a", "."), ("b", "x")]).is_err());
        assert!(fill(".[a]", &[("a", ".")]).is_err());
        assert!(fill("[a]/[b]/[c]", &[("a", ""), ("b", ""), ("c", "passwd")]).is_err());
        for (template, value, expected) in [
            ("x_[a]", "-5", "x_-5"),
            ("../-d/[a]", "t", "../-d/t"),
            ("[a]", "2t é", "2t é"),
            ("./[a].x", "...", "./....x"),
        ] {
            assert_eq!(fill(template, &[("a", value)]).unwrap(), Path::new(expected));
        }
    }

    #[test]
    fn no_name_is_used_twice() {
        let mut names = Distinct::default();
        let taken = ["a.npy", "a.npy", "a_0002.npy", "a.npy", "b/a.npy", "a"].map(|name| names.take(name.into()));
        assert_eq!(taken, ["a.npy", "a_0001.npy", "a_0002.npy", "a_0003.npy", "b/a.npy", "a"].map(PathBuf::from));
    }
}
