//! Local files as sources.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::limits::reserve;
use crate::base::source_name::SourceName;
#[cfg(feature = "async")]
use crate::read::fetch::{AsyncRangeFetch, BoxFuture};
use crate::read::fetch::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, Tag, Want};
use crate::read::open::open_positioned;
use crate::read::positioned::read_at;

/// A local file, read at positions. Clones share the open file.
///
/// A file that is replaced on disk stays the one that was opened. Its length is asked for with each read, so a file
/// that grows can be followed. Answers have no tag: nothing tells a file that grows from one that is overwritten.
#[derive(Clone, Debug)]
pub struct LocalFile {
    file: Arc<File>,
    path: Arc<Path>,
    /// Where it ends for its reader, which needs no length with the answers then.
    end: Option<u64>,
}

impl LocalFile {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// [`FetchErrorKind::NotFound`], [`FetchErrorKind::Denied`], or [`FetchErrorKind::Io`], also for a pipe.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FetchError> {
        let path = path.as_ref();
        let file = open_positioned(path).map_err(|error| failed(path, &error))?;
        Ok(Self::new(file, path))
    }

    /// A file that is open. `path` names it in error texts.
    pub fn new(file: impl Into<Arc<File>>, path: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), path: path.into().into(), end: None }
    }

    /// The same file as if it ended at `end`: fewer bytes are an error, and more of them do not count, so that it may grow.
    pub(crate) fn up_to(&self, end: u64) -> Self {
        Self { end: Some(end), ..self.clone() }
    }

    /// The open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Its path, for error texts.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn size(&self) -> io::Result<u64> {
        self.end.map_or_else(|| Ok(self.file.metadata()?.len()), Ok)
    }

    fn failed(&self, error: &io::Error) -> FetchError {
        failed(&self.path, error)
    }
}

fn failed(path: &Path, error: &io::Error) -> FetchError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FetchErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => FetchErrorKind::Denied,
        kind => FetchErrorKind::Io(kind),
    };
    FetchError::new(kind, format!("{}: {error}", SourceName::of(path)))
}

impl RangeFetch for LocalFile {
    fn fetch(&self, want: &Want, _unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        let size = self.size().map_err(|error| self.failed(&error))?;
        let range = want.within(size);
        let too_large = |text: String| {
            FetchError::new(FetchErrorKind::TooLarge, format!("{}: {range:?}: {text}", SourceName::of(&self.path)))
        };
        let len = usize::try_from(range.end - range.start).map_err(|error| too_large(error.to_string()))?;
        let mut bytes = reserve(len).map_err(|error| too_large(error.to_string()))?;
        let read = read_at(&self.file, range.start, &mut bytes).map_err(|error| self.failed(&error))?;
        if read < len && self.end.is_some() {
            return Err(self.failed(&io::ErrorKind::UnexpectedEof.into()));
        }
        // Another program may have truncated the file since its length was asked for.
        let size = if read < len { self.size().map_err(|error| self.failed(&error))? } else { size };
        bytes.truncate(read);
        Ok(Fetched { offset: range.start, bytes, size: Some(size), tag: None })
    }

    fn fetch_into(&self, offset: u64, out: &mut [u8]) -> Result<usize, FetchError> {
        read_at(&self.file, offset, out).map_err(|error| self.failed(&error))
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { size: self.size().ok(), in_place: true, ..FetchTraits::default() }
    }

    fn name(&self) -> String {
        SourceName::of(&self.path).to_string()
    }
}

/// A [`LocalFile`] for programs on tokio. Reads run on the threads that tokio keeps for calls that block.
#[cfg(feature = "async")]
#[derive(Clone, Debug)]
pub struct AsyncLocalFile(LocalFile);

#[cfg(feature = "async")]
impl AsyncLocalFile {
    /// The file as a source that does not block.
    pub const fn new(file: LocalFile) -> Self {
        Self(file)
    }
}

#[cfg(feature = "async")]
impl AsyncRangeFetch for AsyncLocalFile {
    /// Outside of a runtime of tokio it reads at once.
    fn fetch<'a>(&'a self, want: &'a Want, unchanged: Option<&'a Tag>) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        Box::pin(async move {
            let Ok(runtime) = tokio::runtime::Handle::try_current() else { return self.0.fetch(want, unchanged) };
            let (file, want) = (self.0.clone(), want.clone());
            let read = runtime.spawn_blocking(move || file.fetch(&want, None)).await;
            read.unwrap_or_else(|error| {
                Err(FetchError::new(FetchErrorKind::Io(io::ErrorKind::Other), format!("{}: {error}", self.0.name())))
            })
        })
    }

    fn traits(&self) -> FetchTraits {
        self.0.traits()
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

#[cfg(feature = "async")]
impl<F: AsyncRangeFetch + ?Sized> AsyncRangeFetch for Box<F> {
    fn fetch<'a>(&'a self, want: &'a Want, unchanged: Option<&'a Tag>) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        (**self).fetch(want, unchanged)
    }

    fn traits(&self) -> FetchTraits {
        (**self).traits()
    }

    fn name(&self) -> String {
        (**self).name()
    }
}
