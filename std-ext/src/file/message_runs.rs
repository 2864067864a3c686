//! Messages to look through, in a file, in a map or in bytes. Payloads of large messages are not read.

use std::borrow::Cow;
use std::io;

use tgm_codec::memory::{prefetch, untouched_zeros};
use tgm_codec::threads::Threads;
use tgm_core::scan::Source;

use crate::base::error::{Result, TensogramError};
use crate::base::span::{self, head, last, span, span_len, tail};
use crate::file::identity::{identity, of_server};
use crate::file::message_bytes::{self, AT_ONCE};
#[cfg(feature = "mmap")]
use crate::file::mmap::MappedFile;
use crate::file::positioned::{read_at, source_of};
#[cfg(feature = "remote")]
use crate::file::tensogram_file::Backing;
use crate::file::tensogram_file::TensogramFile;
use crate::read::outline::OutlinePiece;
use crate::read::question::whole::OutlinePieces;
use crate::read::{RangeFetch, Reader};
use crate::scan::{Bytes, Foresight, MessageLayout, ScanOptions, Table, Window};

/// Messages that one thread looks through before it takes others.
const RUN: usize = 1024;
/// How many messages ahead memory is fetched.
const AHEAD: usize = 3;
/// Bytes at the front of a message that mostly hold the frames before the first object.
const FRONT: usize = 768;
/// Bytes at the end of a message that mostly hold the last object's descriptor, and everything after it.
const BACK: usize = 256;
/// Messages whose bytes a program is asked for at once, if it gives them by itself.
const NOT_GIVEN: usize = 32;
/// Bytes of neighbouring messages that are read at once.
const WINDOW: u64 = 1 << 20;

/// Where messages are: in a file, a map, or bytes.
///
/// All of them convert into this type, so functions that take `impl Into<Data>` take a `&TensogramFile`, a
/// `&MappedFile` or a `&[u8]`.
#[derive(Clone, Copy, Debug)]
pub struct Data<'d>(Place<'d>);

#[derive(Clone, Copy, Debug)]
enum Place<'d> {
    File(&'d TensogramFile),
    #[cfg(feature = "mmap")]
    Mapped(&'d MappedFile),
    Bytes(&'d [u8], Option<&'d Table>),
    Fetched(&'d Reader<Box<dyn RangeFetch>>),
}

impl<'d> From<&'d TensogramFile> for Data<'d> {
    fn from(file: &'d TensogramFile) -> Self {
        #[cfg(feature = "mmap")]
        if let Some(mapped) = file.mapped() {
            return Self(Place::Mapped(mapped));
        }
        Self(Place::File(file))
    }
}

#[cfg(feature = "mmap")]
impl<'d> From<&'d MappedFile> for Data<'d> {
    fn from(mapped: &'d MappedFile) -> Self {
        Self(Place::Mapped(mapped))
    }
}

impl<'d> From<&'d [u8]> for Data<'d> {
    fn from(bytes: &'d [u8]) -> Self {
        Self(Place::Bytes(bytes, None))
    }
}

impl<'d> From<&'d Vec<u8>> for Data<'d> {
    fn from(bytes: &'d Vec<u8>) -> Self {
        Self(Place::Bytes(bytes, None))
    }
}

impl<'d> From<&'d Reader<Box<dyn RangeFetch>>> for Data<'d> {
    fn from(reader: &'d Reader<Box<dyn RangeFetch>>) -> Self {
        Self(Place::Fetched(reader))
    }
}

impl<'d> Data<'d> {
    /// Bytes whose messages are known.
    pub(crate) const fn scanned(bytes: &'d [u8], table: &'d Table) -> Self {
        Self(Place::Bytes(bytes, Some(table)))
    }

    /// All bytes, if they are in memory.
    pub(crate) fn bytes(&self) -> Option<&'d [u8]> {
        match self.0 {
            Place::File(_) | Place::Fetched(_) => None,
            #[cfg(feature = "mmap")]
            Place::Mapped(mapped) => Some(mapped.as_bytes()),
            Place::Bytes(bytes, _) => Some(bytes),
        }
    }

    /// Bytes of the file as it is now.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    #[doc(hidden)]
    pub fn length(&self) -> Result<u64> {
        match (self.0, self.bytes()) {
            (_, Some(bytes)) => Ok(bytes.len() as u64),
            #[cfg(feature = "remote")]
            (Place::File(TensogramFile { backing: Backing::Remote(remote), .. }), _) => remote.len(),
            (Place::File(file), _) => file.with_file(|file| Ok(file.metadata()?.len())),
            (Place::Fetched(reader), _) => reader.size(),
            #[cfg(feature = "mmap")]
            (Place::Mapped(_), None) => Ok(0),
            (Place::Bytes(..), None) => Ok(0),
        }
    }

    /// Whether they are on a server.
    #[doc(hidden)]
    pub const fn is_remote(&self) -> bool {
        #[cfg(feature = "remote")]
        if let Place::File(TensogramFile { backing: Backing::Remote(_), .. }) = self.0 {
            return true;
        }
        false
    }

    /// Which file it is, and in which state: device, inode, time of change and size; of a file on a server its size and its
    /// `ETag`, or else its time of change ([`is_of_server`](crate::internal::is_of_server)). `None` for bytes, and where the
    /// system or the server does not tell.
    #[doc(hidden)]
    pub fn identity(&self) -> Option<Vec<u8>> {
        match self.0 {
            #[cfg(feature = "mmap")]
            Place::Mapped(mapped) => mapped.identity().map(<[u8]>::to_vec),
            #[cfg(feature = "remote")]
            Place::File(TensogramFile { backing: Backing::Remote(remote), .. }) => of_server(remote.version()?),
            Place::File(file) => file.with_file(std::fs::File::metadata).ok().and_then(|metadata| identity(&metadata)),
            Place::Fetched(reader) => of_server(reader.version()?),
            Place::Bytes(..) => None,
        }
    }

    /// Fills `out` with bytes from `offset` on. Returns how many they are: fewer only at the end.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    #[doc(hidden)]
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        match (self.0, self.bytes()) {
            (Place::File(file), _) => file.read_at(offset, out),
            (Place::Fetched(reader), _) => reader.read_at(offset, out),
            (_, bytes) => {
                // A map and a slice have their bytes at hand.
                let Ok(read) = Source::read_at(&bytes.unwrap_or(&[]), offset, out);
                Ok(read)
            }
        }
    }

    /// The places of all messages.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    #[doc(hidden)]
    pub fn layouts(&self) -> Result<Cow<'d, [MessageLayout]>> {
        match self.0 {
            Place::File(file) => Ok(Cow::Borrowed(&file.table()?.messages)),
            #[cfg(feature = "mmap")]
            Place::Mapped(mapped) => Ok(Cow::Borrowed(mapped.message_layouts())),
            Place::Fetched(reader) => Ok(Cow::Owned(reader.message_layouts()?)),
            Place::Bytes(_, Some(table)) => Ok(Cow::Borrowed(&table.messages)),
            Place::Bytes(bytes, None) => {
                let Ok::<_, std::convert::Infallible>(table) = Table::scan(Bytes(bytes), &ScanOptions::default());
                Ok(Cow::Owned(table.messages))
            }
        }
    }

    /// The places of the messages from `start` on, where a message ends. Only what follows is scanned.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    #[doc(hidden)]
    pub fn layouts_from(&self, start: u64) -> Result<Vec<MessageLayout>> {
        if let Some(bytes) = self.bytes() {
            let Ok::<_, std::convert::Infallible>(table) =
                Table::scan(Bytes(tail(bytes, start)), &ScanOptions::default());
            return Ok(moved(table.messages, start));
        }
        let file = match self.0 {
            Place::File(file) if !file.is_remote() => file,
            _ => return Ok(self.layouts()?.iter().copied().filter(|layout| layout.offset >= start).collect()),
        };
        let table = file.with_file(|file| Table::scan(Behind(source_of(file)?, start), &ScanOptions::default()))?;
        Ok(moved(table.messages, start))
    }

    /// The results of `f` for runs of neighbouring messages, in their order. `f` gets the number of the first message
    /// of the run within `layouts`, and the run.
    ///
    /// # Errors
    /// The errors of `f`: of the first run that fails.
    #[doc(hidden)]
    pub fn map_runs<R: Send>(
        &self,
        layouts: &[MessageLayout],
        threads: Threads,
        f: impl Fn(usize, Run<'_>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let runs: Vec<_> = layouts.chunks(RUN).enumerate().collect();
        threads.map(&runs, |(number, layouts)| f(number * RUN, Run { data: *self, layouts }))
    }
}

fn moved(mut layouts: Vec<MessageLayout>, start: u64) -> Vec<MessageLayout> {
    for layout in &mut layouts {
        layout.offset += start;
    }
    layouts
}

/// The rest of a source, from an offset on.
struct Behind<S>(S, u64);

impl<S: Source> Source for Behind<S> {
    type Error = S::Error;

    fn len(&self) -> u64 {
        span_len(&(self.1..self.0.len()))
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, S::Error> {
        self.0.read_at(span(self.1, offset).end, out)
    }

    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> Result<Option<u64>, S::Error> {
        let found = self.0.find(magic, span(self.1, from).end, span(self.1, end).end)?;
        // It was looked for after the place where this source begins.
        Ok(found.map(|at| at - self.1))
    }
}

impl<S: Foresight> Foresight for Behind<S> {
    const STEPS: usize = S::STEPS;

    fn expect(&self, offset: u64) {
        self.0.expect(span(self.1, offset).end);
    }
}

/// A run of neighbouring messages.
#[derive(Clone, Copy, Debug)]
pub struct Run<'r> {
    data: Data<'r>,
    pub layouts: &'r [MessageLayout],
}

impl Run<'_> {
    /// Calls `f` for each message with its number in the run, its place and its bytes. Payloads of a large message in a
    /// file are zeros.
    ///
    /// # Errors
    /// [`TensogramError::Io`]; the errors of `f`.
    #[doc(hidden)]
    pub fn for_each(&self, mut f: impl FnMut(usize, MessageLayout, &[u8]) -> Result<()>) -> Result<()> {
        if let Some(bytes) = self.data.bytes() {
            for (index, layout) in self.layouts.iter().enumerate() {
                let ahead = self.layouts.get(index + AHEAD);
                if let Some(Ok(ahead)) = ahead.map(|ahead| slice(bytes, ahead.offset, ahead.length)) {
                    prefetch_ends(ahead);
                }
                f(index, *layout, slice(bytes, layout.offset, layout.length)?)?;
            }
            return Ok(());
        }
        let (opened, file) = match self.data.0 {
            Place::File(opened) => (opened, opened.positioned_file()),
            Place::Fetched(reader) => return self.for_each_outline(|layout| reader.ask(layout, OutlinePieces), f),
            Place::Bytes(..) => return Ok(()),
            #[cfg(feature = "mmap")]
            Place::Mapped(_) => return Ok(()),
        };
        let Some(file) = file else { return self.for_each_outline(|layout| opened.ask(layout, OutlinePieces), f) };
        let (mut window, mut zeros) = (Window::default(), Vec::new());
        for (index, layout) in self.layouts.iter().enumerate() {
            if layout.length > AT_ONCE {
                let pieces = message_bytes::ask(file, *layout, OutlinePieces)?;
                on_zeros(&mut zeros, span::index(layout.length), &pieces, |bytes| f(index, *layout, bytes))?;
                continue;
            }
            let size = || span::index(span_len(&(layout.offset..self.window_end(index))));
            let wanted = span::index(layout.length);
            let bytes = window.get(layout.offset, wanted, size, |offset, out| read_at(file.file(), offset, out));
            let bytes = bytes.and_then(|bytes| bytes.ok_or_else(|| io::ErrorKind::UnexpectedEof.into()));
            f(index, *layout, bytes.map_err(|error| TensogramError::io(file.path(), &error))?)?;
        }
        Ok(())
    }

    /// [`Self::for_each`], with the outline of each message, one after the other.
    fn for_each_outline(
        &self,
        pieces: impl Fn(MessageLayout) -> Result<Vec<OutlinePiece>>,
        mut f: impl FnMut(usize, MessageLayout, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (mut zeros, mut missing) = (Vec::new(), Vec::new());
        for (index, layout) in self.layouts.iter().enumerate() {
            match pieces(*layout) {
                Ok(pieces) if missing.is_empty() => {
                    on_zeros(&mut zeros, span::index(layout.length), &pieces, |bytes| f(index, *layout, bytes))?;
                }
                Ok(_) => {}
                // What the next messages need is asked for at the same time.
                Err(error) if error.is_not_given() && missing.len() < NOT_GIVEN => missing.push(error),
                Err(error) => return Err(error),
            }
        }
        missing.into_iter().next().map_or(Ok(()), Err)
    }

    /// Where the small messages end that are read together with message `index`.
    fn window_end(&self, index: usize) -> u64 {
        let rest = tail(self.layouts, index as u64);
        let start = rest.first().map_or(0, |layout| layout.offset);
        let mut end = start;
        for layout in rest.iter().take_while(|layout| layout.length <= AT_ONCE) {
            let last = layout.end();
            if end > start && span_len(&(start..last)) > WINDOW {
                break;
            }
            end = last;
        }
        end
    }
}

/// Calls `f` with a message of `len` bytes: these pieces, and zeros. The memory has zeros alone before and afterwards, so that no
/// message needs as many new ones as it is long.
fn on_zeros(
    zeros: &mut Vec<u8>,
    len: usize,
    pieces: &[OutlinePiece],
    f: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<()> {
    if zeros.len() < len {
        *zeros = untouched_zeros(len)?;
    }
    let message = zeros.get_mut(..len).unwrap_or_default();
    for piece in pieces {
        if let Some(place) = piece.place_in(message) {
            place.copy_from_slice(&piece.bytes);
        }
    }
    let done = f(message);
    for piece in pieces {
        if let Some(place) = piece.place_in(message) {
            place.fill(0);
        }
    }
    done
}

/// Fetches both ends of a message ahead: its metadata lies there, and walking from frame to frame waits for memory at
/// each.
fn prefetch_ends(message: &[u8]) {
    prefetch(head(message, FRONT as u64));
    prefetch(last(message, BACK));
}

fn slice(bytes: &[u8], offset: u64, length: u64) -> Result<&[u8]> {
    let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
    let found = range.and_then(|(start, len)| bytes.get(start..start.checked_add(len)?));
    found.ok_or_else(|| TensogramError::Framing("message lies beyond the end of the file".into()))
}
