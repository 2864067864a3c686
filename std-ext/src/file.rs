//! Files of messages (FORMAT §5.7).
//!
//! A file is a row of messages and nothing else. [`TensogramFile`] finds them once, when it is first asked for one, by
//! reading preambles and postambles; after that any number of threads read messages through `&self`, each with positioned
//! reads of its own and without a lock. Of a message larger than 256 KiB only those parts are read that are asked for.
//! [`crate::MappedFile`] does the same over a memory map and lends messages out.

mod append;
pub mod iter;
#[cfg(feature = "mmap")]
pub mod mmap;
mod open;
mod parts;
mod remote;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::vec;

use tgm_core::cbor::MAX_NESTING;
#[cfg(feature = "mmap")]
use tgm_core::scan::Source;

pub use self::append::{AppendOptions, TornTail};
pub use self::iter::{MessageIter, ObjectIter, data_object_inline_hashes, messages, objects, objects_metadata};
#[cfg(feature = "mmap")]
pub use self::mmap::{Advice, MappedFile};
pub(crate) use self::open::open_for_reading;
use self::parts::Wanted;
pub use self::remote::{RemoteScanOptions, is_remote_url};

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::base::memory::untouched_zeros;
use crate::base::options::DecodeOptions;
use crate::decode::range;
use crate::decode::{self, decode};
use crate::model::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};
pub use crate::scan::MessageLayout;
use crate::scan::{Foresight, ScanOptions, Segments, Table, Windowed, fill};

/// A file of messages, opened for reading.
///
/// `&self` is enough for every read, and the type is `Send` and `Sync`.
///
/// ```
/// use tgm_std::{DecodeOptions, TensogramFile};
///
/// let file = TensogramFile::open("../tests/data/multi/three.tgm")?;
/// for index in 0..file.message_count()? {
///     let (metadata, objects) = file.decode_message(index, &DecodeOptions::default())?;
///     assert_eq!(metadata.base.len(), objects.len());
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
pub struct TensogramFile {
    path: PathBuf,
    backing: Backing,
}

#[derive(Debug)]
enum Backing {
    /// Positioned reads. The scan is made when the first message is asked for.
    Positioned { file: Arc<File>, table: OnceLock<Table> },
    #[cfg(feature = "mmap")]
    Mapped(Arc<MappedFile>),
}

impl TensogramFile {
    /// Opens a file. Nothing is read yet.
    ///
    /// A file that is truncated or replaced by others while it is open gives errors, never wrong bytes of a message that
    /// passes its checks.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if it cannot be opened ("file not found: PATH").
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self::positioned(path, open_for_reading(path)?))
    }

    fn positioned(path: &Path, file: File) -> Self {
        let backing = Backing::Positioned { file: Arc::new(file), table: OnceLock::new() };
        Self { path: path.to_path_buf(), backing }
    }

    /// Opens a file by its path as text. Addresses of object stores are told apart and refused; `options` are about those.
    ///
    /// # Errors
    /// [`TensogramError::Remote`] for an address of an object store; [`TensogramError::Io`] as [`Self::open`].
    pub fn open_source(source: impl AsRef<str>, options: Option<RemoteScanOptions>) -> Result<Self> {
        let (source, _) = (source.as_ref(), options);
        if is_remote_url(source) {
            return Err(TensogramError::Remote(format!("{source}: object stores are not supported").into()));
        }
        Self::open(source)
    }

    /// Opens a file as a memory map and scans it.
    ///
    /// **Unsound if the file is truncated or changed in place while it is open**: the operating system then ends the process
    /// (`SIGBUS`), or bytes change behind `&[u8]`. [`MappedFile`] has the contract. This function is not `unsafe` because
    /// programs that were written for the reference call it by this name. New programs call [`MappedFile::open`], which is
    /// `unsafe`, or [`Self::open`], which needs no promise.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    #[cfg(feature = "mmap")]
    #[allow(unsafe_code, reason = "the safe spelling of ported programs, labelled as unsound")]
    pub fn open_mmap(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: this function cannot make the promise that nobody truncates the file or writes into it. It passes the
        // promise on to its caller, by its documentation alone.
        let mapped = unsafe { MappedFile::open(path.as_ref()) }?;
        Ok(Self { path: path.as_ref().to_path_buf(), backing: Backing::Mapped(Arc::new(mapped)) })
    }

    /// The memory map behind a file that was opened with [`Self::open_mmap`]: what lends messages out.
    #[cfg(feature = "mmap")]
    pub fn mapped(&self) -> Option<&MappedFile> {
        match &self.backing {
            Backing::Mapped(mapped) => Some(mapped),
            Backing::Positioned { .. } => None,
        }
    }

    /// The path that the file was opened by. There always is one: a file in an object store would have none.
    pub fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    /// What the file was opened by, as text.
    pub fn source(&self) -> String {
        self.path.display().to_string()
    }

    /// Whether the file lies in an object store.
    pub const fn is_remote(&self) -> bool {
        false
    }

    /// Forgets where the messages are: the next read scans again.
    pub fn invalidate_offsets(&mut self) {
        match &mut self.backing {
            Backing::Positioned { table, .. } => *table = OnceLock::new(),
            #[cfg(feature = "mmap")]
            Backing::Mapped(_) => {}
        }
    }

    fn table(&self) -> Result<&Table> {
        match &self.backing {
            Backing::Positioned { file, table } => {
                if let Some(table) = table.get() {
                    return Ok(table);
                }
                let scanned = source_of(file).and_then(|source| Table::scan(source, &ScanOptions::default()));
                let scanned = scanned.map_err(|error| TensogramError::io(&self.path, &error))?;
                // Threads that come here together scan each for itself; one table stays.
                Ok(table.get_or_init(|| scanned))
            }
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => Ok(mapped.table()),
        }
    }

    /// How many messages the file has.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    pub fn message_count(&self) -> Result<usize> {
        Ok(self.table()?.messages.len())
    }

    /// Where the messages lie.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    pub fn message_layouts(&self) -> Result<Vec<MessageLayout>> {
        Ok(self.table()?.messages.clone())
    }

    /// The whole file in order: messages, and the bytes that belong to none.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    pub fn segments(&self) -> Result<Segments<'_>> {
        Ok(self.table()?.segments())
    }

    /// The bytes of message `index`: one positioned read, or a copy out of the map. No digest is looked at:
    /// [`Self::decode_message`] checks those of objects with `verify_hash`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message, [`TensogramError::Io`] if it cannot be read.
    pub fn read_message(&self, index: usize) -> Result<Vec<u8>> {
        let layout = self.table()?.get(index)?;
        match &self.backing {
            Backing::Positioned { file, .. } => read_whole(file, &self.path, layout),
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => Ok(mapped.message_bytes(index)?.to_vec()),
        }
    }

    /// The bytes of message `index` with zeros in the place of payloads and masks: everything that says what the message
    /// holds, as [`decode::decode_descriptors`] and [`tgm_core::Message`] read it. Up to 256 KiB the whole message is read.
    /// Of a larger one, only these parts are read, and the zeros take addresses, no memory.
    ///
    /// Digests of objects cannot be checked on it.
    ///
    /// # Errors
    /// Those of [`Self::read_message`].
    pub fn read_message_outline(&self, index: usize) -> Result<Vec<u8>> {
        self.read_message_parts(index, Wanted::Descriptors)
    }

    /// The bytes of message `index` as [`Self::read_message_outline`] gives them, and all of the frame of object `object`: its
    /// payload, its masks and what its digest covers.
    ///
    /// # Errors
    /// Those of [`Self::read_message`]. An object that the message does not have is no error here.
    pub fn read_message_object(&self, index: usize, object: usize) -> Result<Vec<u8>> {
        self.read_message_parts(index, Wanted::DescriptorsAndObject(object))
    }

    fn read_message_parts(&self, index: usize, wanted: Wanted<'_>) -> Result<Vec<u8>> {
        match &self.backing {
            Backing::Positioned { file, .. } => read_parts(file, &self.path, self.table()?.get(index)?, Some(wanted)),
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => Ok(mapped.message_bytes(index)?.to_vec()),
        }
    }

    /// Fills `out` with the bytes of the file from `offset` on, and returns how many that were. They are fewer only where
    /// the file ends, also because somebody truncated it. Bytes between messages ([`Self::segments`]) are read in this
    /// way.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        match &self.backing {
            Backing::Positioned { file, .. } => {
                read_at(file, offset, out).map_err(|error| TensogramError::io(&self.path, &error))
            }
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => {
                let Ok(read) = Source::read_at(&mapped.as_bytes(), offset, out);
                Ok(read)
            }
        }
    }

    /// Calls `with` with the bytes of message `index`, without a copy if they are mapped. Of large messages that are not,
    /// no more than what is `wanted` need be there, if that is not all; the rest are zeros.
    fn with_message<T>(
        &self,
        index: usize,
        wanted: Option<Wanted<'_>>,
        with: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        match &self.backing {
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => with(mapped.message_bytes(index)?),
            Backing::Positioned { file, .. } => with(&read_parts(file, &self.path, self.table()?.get(index)?, wanted)?),
        }
    }

    /// The metadata and all objects of message `index`.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`decode::decode`].
    pub fn decode_message(
        &self,
        index: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        self.with_message(index, None, |bytes| decode(bytes, options))
    }

    /// The metadata of the first metadata frame of message `index`.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`decode::decode_metadata`].
    pub fn decode_metadata(&self, index: usize) -> Result<GlobalMetadata> {
        self.with_message(index, Some(Wanted::FirstMetadata), decode::decode_metadata)
    }

    /// The metadata of message `index` and what its objects are.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`decode::decode_descriptors`].
    pub fn decode_descriptors(&self, index: usize) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> {
        self.with_message(index, Some(Wanted::Descriptors), decode::decode_descriptors)
    }

    /// Object `object` of message `index`.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`decode::decode_object`].
    pub fn decode_object(
        &self,
        index: usize,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> {
        self.with_message(index, wanted(Wanted::Object(object), options), |bytes| {
            decode::decode_object(bytes, object, options)
        })
    }

    /// Ranges of the values of object `object` of message `index`. With `verify_hash` all of the object's frame is read, as
    /// its digest covers all of it.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`range::decode_range`].
    pub fn decode_range(
        &self,
        index: usize,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
        // A digest covers all of the object.
        let parts = if options.verify_hash { Wanted::Object(object) } else { Wanted::Ranges(object, ranges) };
        self.with_message(index, wanted(parts, options), |bytes| range::decode_range(bytes, object, ranges, options))
    }

    /// The bytes of all messages at once.
    ///
    /// # Errors
    /// Those of [`Self::read_message`].
    #[deprecated(note = "use `iter`, or `message_count` and `read_message`, which do not hold all of the file")]
    pub fn messages(&self) -> Result<Vec<Vec<u8>>> {
        self.iter()?.collect()
    }

    /// The bytes of each message in order. The iterator has the file for itself, and keeps to the messages that there are
    /// now.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan; each message's own come with it.
    #[expect(clippy::iter_not_returning_iterator, reason = "the scan comes first, and it can fail")]
    pub fn iter(&self) -> Result<FileMessageIter> {
        let layouts = self.message_layouts()?.into_iter();
        let held = match &self.backing {
            Backing::Positioned { file, .. } => Held::File(Arc::clone(file)),
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => Held::Map(Arc::clone(mapped)),
        };
        Ok(FileMessageIter { path: self.path.clone(), held, layouts, next: 0 })
    }
}

/// The bytes of each message of a file; see [`TensogramFile::iter`]. No digest is looked at: to decode them with `verify_hash`
/// checks those of objects, [`crate::validate_file`] all of a file.
#[derive(Clone, Debug)]
pub struct FileMessageIter {
    path: PathBuf,
    held: Held,
    layouts: vec::IntoIter<MessageLayout>,
    next: usize,
}

/// What keeps a file open while messages are read from it.
#[derive(Clone, Debug)]
enum Held {
    File(Arc<File>),
    #[cfg(feature = "mmap")]
    Map(Arc<MappedFile>),
}

impl Iterator for FileMessageIter {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (layout, index) = (self.layouts.next()?, self.next);
        self.next = index.saturating_add(1);
        Some(match &self.held {
            Held::File(file) => read_whole(file, &self.path, layout),
            #[cfg(feature = "mmap")]
            Held::Map(mapped) => mapped.message_bytes(index).map(<[u8]>::to_vec),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.layouts.size_hint()
    }
}

impl ExactSizeIterator for FileMessageIter {}

/// What is `wanted` of a message, if the limits of `options` do not ask for all of it to be looked at.
fn wanted<'a>(wanted: Wanted<'a>, options: &DecodeOptions) -> Option<Wanted<'a>> {
    (options.limits.max_nesting >= MAX_NESTING).then_some(wanted)
}

/// Reads what is `wanted` of the message that lies there, or all of it.
fn read_parts(file: &File, path: &Path, layout: MessageLayout, wanted: Option<Wanted<'_>>) -> Result<Vec<u8>> {
    let Some(wanted) = wanted.filter(|_| layout.length > parts::AT_ONCE) else {
        return read_whole(file, path, layout);
    };
    let mut bytes = untouched_zeros(len_of(layout)?)?;
    parts::read(file, layout.offset, &mut bytes, wanted).map_err(|error| TensogramError::io(path, &error))?;
    Ok(bytes)
}

fn len_of(layout: MessageLayout) -> Result<usize> {
    usize::try_from(layout.length).map_err(|_| TensogramError::encoding("message too large"))
}

/// Reads the message that lies there.
fn read_whole(file: &File, path: &Path, layout: MessageLayout) -> Result<Vec<u8>> {
    let len = len_of(layout)?;
    let mut bytes = reserve(len)?;
    match read_at(file, layout.offset, &mut bytes).map_err(|error| TensogramError::io(path, &error))? {
        read if read == len => Ok(bytes),
        _ => Err(TensogramError::io(path, &io::ErrorKind::UnexpectedEof.into())),
    }
}

/// A file as the scanner reads it: at positions, the cursor left alone.
fn source_of(file: &File) -> io::Result<impl Foresight<Error = io::Error>> {
    Ok(Windowed::new(file.metadata()?.len(), |offset, out: &mut [u8]| read_at(file, offset, out)))
}

#[cfg(not(any(unix, windows)))]
fn seek_and_read(mut file: &File, out: &mut [u8], position: u64) -> io::Result<usize> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    file.seek(SeekFrom::Start(position))?;
    file.read(out)
}

/// Fills `out` from `offset` of a file on; fewer bytes come only from its end.
fn read_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<usize> {
    #[cfg(unix)]
    use std::os::unix::fs::FileExt;
    #[cfg(windows)]
    use std::os::windows::fs::FileExt;

    fill(out, |rest, filled| {
        let position = offset.saturating_add(filled as u64);
        #[cfg(unix)]
        return file.read_at(rest, position);
        #[cfg(windows)]
        return file.seek_read(rest, position);
        // Elsewhere there is one position for all who read.
        #[cfg(not(any(unix, windows)))]
        return seek_and_read(file, rest, position);
    })
}
