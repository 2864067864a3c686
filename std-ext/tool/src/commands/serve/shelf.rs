//! The files that are served, by their names.
//!
//! A request names a file by its name alone, so nothing else can be reached: there is no path to leave. What lies in a folder is served
//! if it is a file in that folder, also when a link leads to it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use tgm_std::file::SourceName;

use crate::show::output::Out;

/// Folders in folders.
const DEEPEST: usize = 32;

/// Files by their names.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    files: BTreeMap<String, Shelved>,
}

/// A file that is served.
#[derive(Clone, Debug)]
pub(super) struct Shelved {
    path: PathBuf,
    /// The folder that it must lie in, if a folder is served.
    within: Option<PathBuf>,
}

/// A file that is open, and what its bytes are known by.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) file: File,
    pub(super) len: u64,
    /// A strong tag: it differs whenever the file was written.
    pub(super) tag: String,
}

impl Shelf {
    /// The files at paths, and of folders all that are called `.tgm`. What cannot be read is reported. Returns what leads out of its folder
    /// too, which is not served.
    pub(super) fn of(paths: &[PathBuf], out: &mut Out) -> (Self, Vec<String>) {
        let (mut shelf, mut passed_over) = (Self::default(), Vec::new());
        for path in paths {
            let added = match fs::metadata(path) {
                Ok(found) if found.is_dir() => shelf.add_folder(path, &mut passed_over),
                Ok(found) if found.is_file() => shelf.add_file(path),
                Ok(_) => Err(io::Error::other("it is neither a file nor a folder")),
                Err(error) => Err(error),
            };
            if let Err(error) = added {
                out.problem(&format!("cannot serve {}\n{error}", SourceName::of(path)));
            }
        }
        (shelf, passed_over)
    }

    /// Adds a file by its last name, or by its whole path where another file has that name.
    fn add_file(&mut self, path: &Path) -> io::Result<()> {
        let last = path.file_name().map_or(path, Path::new);
        let name = [name_of(last)?, name_of(path)?].into_iter().find(|name| !self.files.contains_key(name));
        let name = name.ok_or_else(|| io::Error::other("a file of this name is served already"))?;
        self.files.insert(name, Shelved { path: path.to_path_buf(), within: None });
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path, passed_over: &mut Vec<String>) -> io::Result<()> {
        let root = fs::canonicalize(folder)?;
        let mut open = vec![(root.clone(), 0)];
        while let Some((at, depth)) = open.pop() {
            for entry in fs::read_dir(&at)? {
                let entry = entry?;
                let (path, kind) = (entry.path(), entry.file_type()?);
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                if kind.is_dir() && !is_hidden && depth < DEEPEST {
                    open.push((path, depth + 1));
                } else if path.extension().is_some_and(|ending| ending == "tgm") && !is_hidden && !kind.is_dir() {
                    let shelved = Shelved { path: path.clone(), within: Some(root.clone()) };
                    if !shelved.is_within() {
                        passed_over.push(SourceName::of(&path).to_string());
                    } else if fs::metadata(&path)?.is_file() {
                        let name = name_of(path.strip_prefix(&root).map_err(io::Error::other)?)?;
                        if self.files.insert(name.clone(), shelved).is_some() {
                            return Err(io::Error::other(format!("two files are called {name}")));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// All files with their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Shelved)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// The file of a name, and what stands after the name in a path: `NAME/rest`.
    pub(super) fn split<'s, 'p>(&'s self, path: &'p str) -> Option<(&'s str, &'s Shelved, &'p str)> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let found = |end: usize| {
            let (name, file) = self.files.get_key_value(path.get(..end)?)?;
            Some((name.as_str(), file, path.get(end..)?))
        };
        ends.into_iter().find_map(found)
    }

    /// The file of a name, or the catalogue of one.
    pub(super) fn find(&self, name: &str) -> Option<Shelved> {
        self.files.get(name).cloned().or_else(|| Some(self.files.get(name.strip_suffix(".catalog")?)?.catalog()))
    }
}

impl Shelved {
    /// The catalogue beside it, which may not be there.
    pub(super) fn catalog(&self) -> Self {
        let mut path = OsString::from(&self.path);
        path.push(".catalog");
        Self { path: path.into(), within: self.within.clone() }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it lies in the folder that is served, wherever links lead.
    fn is_within(&self) -> bool {
        let Some(root) = &self.within else { return true };
        fs::canonicalize(&self.path).is_ok_and(|path| path.starts_with(root))
    }

    /// Opens it.
    ///
    /// # Errors
    /// The errors of the system; [`io::ErrorKind::NotFound`] if it is not a file of its folder any more.
    pub(super) fn open(&self) -> io::Result<Held> {
        if !self.is_within() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = File::open(&self.path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Held { len: about.len(), tag: tag_of(&about), file })
    }
}

/// A name in addresses: the words of a path, without those that lead upwards.
fn name_of(path: &Path) -> io::Result<String> {
    let words = path.components().filter_map(|it| if let Component::Normal(word) = it { Some(word) } else { None });
    let words = words.map(|word| word.to_str().ok_or_else(|| io::Error::other("its name is not UTF-8")));
    Ok(words.collect::<io::Result<Vec<_>>>()?.join("/"))
}

/// The tag of a file. A change of its bytes changes the times that the system keeps, or its length.
#[cfg(unix)]
fn tag_of(about: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    let parts = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()].map(|part| format!("{part:x}"));
    format!("\"{:x}-{:x}-{:x}-{}\"", about.len(), about.ino(), about.dev(), parts.join("-"))
}

/// The tag of a file, where its number and the time of its last change of state are not told.
#[cfg(not(unix))]
fn tag_of(about: &Metadata) -> String {
    let since = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    format!("\"{:x}-{:x}\"", about.len(), since.map_or(0, |since| since.as_nanos()))
}
