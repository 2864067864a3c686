//! The order of writes and waits in which messages become part of a file.

use std::io;
use std::mem;

use memchr::memmem;
use tgm_core::scan::{Scanner, Source as _};
use tgm_core::wire::MAGIC;

use super::medium::Medium;
use super::options::{AppendOptions, TornTail};
use crate::base::span::{span, tail};
use crate::scan::{MessageLayout, ScanOptions, Table, Windowed};

/// Bytes of small messages that are written together.
pub(super) const BATCH: usize = 256 << 10;
/// Limit on magics in a torn tail that are made invalid one by one, each with a wait for the disk.
pub(super) const ONE_BY_ONE: usize = 256;
/// Replaces the first byte of a magic that counts no more. It is neither that byte nor zero, which stands for a magic that is
/// still to be written.
const INVALID: u8 = 0xff;
/// Average length of the messages of a batch up to which the whole batch is written a second time, with its magics. Each
/// page of such a batch holds a magic, so the disk has to write all pages anyway.
pub(super) const DENSE: usize = 4096;

/// Bytes of a message whose room is asked for before it is written.
const RESERVED: usize = 16 << 20;

/// The reason why nothing was appended.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The bytes from `end` to `len` belong to no message.
    Torn { end: u64, len: u64 },
    /// The file could not be read or written.
    Io(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Small messages that are written together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    /// Where each message begins.
    starts: Vec<usize>,
}

impl Batch {
    /// Bytes of all messages.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The number of messages.
    pub(super) const fn count(&self) -> usize {
        self.starts.len()
    }

    /// Adds a message. For a batch that is synced, it must not be [`is_nested`].
    pub(super) fn push(&mut self, message: &[u8]) {
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(message);
    }

    /// Removes all messages, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    /// The places of the messages in a file where the batch begins at `offset`.
    pub(super) fn layouts(&self, offset: u64) -> impl Iterator<Item = MessageLayout> {
        let ends = self.starts.iter().skip(1).copied().chain([self.bytes.len()]);
        self.starts
            .iter()
            .zip(ends)
            .map(move |(&start, end)| MessageLayout { offset: offset + start as u64, length: (end - start) as u64 })
    }

    fn set_magics(&mut self, magic: [u8; MAGIC.len()]) {
        for &start in &self.starts {
            if let Some(place) = self.bytes.get_mut(start..).and_then(|rest| rest.first_chunk_mut()) {
                *place = magic;
            }
        }
    }
}

/// Whether a start magic lies inside the message, as in a payload that is a file of messages.
pub(super) fn is_nested(message: &[u8]) -> bool {
    inner_magics(message).next().is_some()
}

/// Where the start magics inside a message are.
fn inner_magics(message: &[u8]) -> impl Iterator<Item = usize> {
    let inside = tail(message, MAGIC.len() as u64);
    memmem::find_iter(inside, MAGIC).map(|at| at + MAGIC.len())
}

/// What a handle knows of a file that it has appended to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Where the messages ended. If the file has another length now, another program has changed it.
    end: u64,
    is_settled: bool,
}

/// The end of a file that is locked, and the messages that wait to be written there.
#[derive(Debug)]
pub(super) struct Tail {
    /// Where the messages in the file end.
    end: u64,
    sync: bool,
    /// Whether this handle has waited for the name of the file, and for all that was done to the file before.
    is_settled: bool,
    batch: Batch,
}

impl Tail {
    /// The end of the messages of a file of `len` bytes, which is `known` or searched for. `None` if it is elsewhere than at
    /// byte `at`. Bytes after it are removed or refused.
    pub(super) fn find<M: Medium>(
        medium: &M,
        len: u64,
        known: Option<Known>,
        at: Option<u64>,
        how: AppendOptions,
    ) -> Result<Option<Self>, Stopped> {
        let known = known.filter(|known| known.end == len);
        let end = known.map_or_else(|| end_of_messages(medium, len), |known| Ok(known.end))?;
        if at.is_some_and(|at| at != end) {
            return Ok(None);
        }
        match how.torn_tail {
            _ if end == len => {}
            TornTail::Remove => remove(medium, end, len, how.sync)?,
            TornTail::Refuse => return Err(Stopped::Torn { end, len }),
        }
        let is_settled = known.is_some_and(|known| known.is_settled);
        Ok(Some(Self { end, sync: how.sync, is_settled, batch: Batch::default() }))
    }

    /// Where the messages end that are in the file.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// What the handle knows of the file from here on.
    pub(super) const fn known(&self) -> Known {
        Known { end: self.end, is_settled: self.is_settled }
    }

    /// Appends a whole message. A small one waits in memory. Returns the place that it gets.
    pub(super) fn add<M: Medium>(&mut self, medium: &M, message: &[u8]) -> io::Result<MessageLayout> {
        let is_alone = message.len() >= BATCH || (self.sync && is_nested(message));
        if is_alone || self.batch.len() + message.len() > BATCH {
            self.flush(medium)?;
        }
        if is_alone {
            return self.write(medium, message);
        }
        let offset = self.end + self.batch.len() as u64;
        self.batch.push(message);
        Ok(MessageLayout { offset, length: message.len() as u64 })
    }

    /// Writes the messages that wait in memory. After an error they are lost.
    pub(super) fn flush<M: Medium>(&mut self, medium: &M) -> io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let mut batch = mem::take(&mut self.batch);
        let written = self.write_batch(medium, &mut batch);
        batch.clear();
        self.batch = batch;
        written
    }

    /// Writes a message at once. No message waits in memory.
    pub(super) fn write<M: Medium>(&mut self, medium: &M, message: &[u8]) -> io::Result<MessageLayout> {
        let (end, sync) = (self.end, self.sync);
        let inner: Vec<usize> = if sync { inner_magics(message).collect() } else { Vec::new() };
        self.write_with(medium, message.len(), || {
            if message.len() >= RESERVED {
                medium.reserve(end, message.len());
            }
            write_between(medium, end, message, &inner)?;
            if sync {
                medium.sync()?;
            }
            if !inner.is_empty() {
                write_magics(medium, end, &inner)?;
                medium.sync()?;
            }
            write_magics(medium, end, &[0])?;
            if sync { medium.sync() } else { Ok(()) }
        })
    }

    /// Writes a message of `len` bytes at once. `write` writes bytes at places of the message, and returns what is in front of
    /// them. No message waits in memory, and a crash is not waited for.
    pub(super) fn write_pieces<M: Medium>(
        &mut self,
        medium: &M,
        len: usize,
        write: impl FnOnce(&mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Vec<u8>>,
    ) -> io::Result<MessageLayout> {
        let end = self.end;
        self.write_with(medium, len, || {
            medium.reserve(end, len);
            let front = write(&mut |at, bytes| medium.write_at(end + at, bytes))?;
            write_between(medium, end, &front, &[])?;
            write_magics(medium, end, &[0])
        })
    }

    /// Writes a batch at once. No message waits in memory.
    pub(super) fn write_batch<M: Medium>(&mut self, medium: &M, batch: &mut Batch) -> io::Result<()> {
        let (end, sync) = (self.end, self.sync);
        let written = self.write_with(medium, batch.len(), || {
            if !sync {
                return medium.write_at(end, &batch.bytes);
            }
            batch.set_magics([0; MAGIC.len()]);
            medium.write_at(end, &batch.bytes)?;
            medium.sync()?;
            batch.set_magics(*MAGIC);
            if batch.len() / batch.count().max(1) <= DENSE {
                medium.write_at(end, &batch.bytes)?;
            } else {
                write_magics(medium, end, &batch.starts)?;
            }
            medium.sync()
        });
        written.map(drop)
    }

    /// Calls `write`, which writes `len` bytes at the end. After an error the file ends where it did.
    fn write_with<M: Medium>(
        &mut self,
        medium: &M,
        len: usize,
        write: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<MessageLayout> {
        if self.sync && !self.is_settled {
            // Another program may have shortened the file. If the disk had not done that yet, a crash could leave the start
            // of an old message in front of parts of the new one.
            medium.sync()?;
            medium.sync_name()?;
            self.is_settled = true;
        }
        write().inspect_err(|_| {
            // If this fails too, the first error is still the one to report.
            let _ = remove(medium, self.end, span(self.end, len as u64).end, self.sync);
        })?;
        let layout = MessageLayout { offset: self.end, length: len as u64 };
        self.end = layout.end();
        Ok(layout)
    }
}

/// The end of the last message of a file of `len` bytes. The postamble of the last message mostly states the message's
/// length. Only if it does not, the file is scanned.
fn end_of_messages<M: Medium>(medium: &M, len: u64) -> io::Result<u64> {
    if len == 0 {
        return Ok(0);
    }
    let source = || Windowed::new(len, |offset, out: &mut [u8]| medium.read_at(offset, out));
    let options = ScanOptions::default();
    let last = Scanner::new(source()).next_message_back(options.max_message_size)?;
    if last.is_some_and(|last| last.offset().checked_add(last.length()) == Some(len)) {
        return Ok(len);
    }
    let table = Table::scan(source(), &options)?;
    Ok(table.messages.last().map_or(0, MessageLayout::end))
}

/// Removes the bytes from `end`, which belong to no message, to `len`, the end of the file.
///
/// A crash may leave some sectors of them and not others. What hides messages inside a payload is the frames around it. So
/// the magics of these messages are made invalid first, from the last to the first: a message whose neighbour before it is
/// gone could look like one of the file. The magic in front goes before them, so that no parts of a message look whole.
///
/// Without `sync` nothing waits. A later append with `sync` waits for the new length before it writes.
fn remove<M: Medium>(medium: &M, end: u64, len: u64, sync: bool) -> io::Result<()> {
    if !sync {
        return medium.cut(end);
    }
    // What is found here must be what the disk has.
    medium.sync()?;
    let source = Windowed::new(len, |offset, out: &mut [u8]| medium.read_at(offset, out));
    let (mut magics, mut from) = (Vec::new(), end);
    while let Some(at) = source.find(MAGIC, from, len)? {
        magics.push(at);
        from = at + MAGIC.len() as u64;
    }
    if magics.first() == Some(&end) {
        medium.write_at(end, &[0; MAGIC.len()])?;
        medium.sync()?;
        magics.remove(0);
    }
    let is_one_by_one = magics.len() <= ONE_BY_ONE;
    for &at in magics.iter().rev() {
        medium.write_at(at, &[INVALID])?;
        if is_one_by_one {
            medium.sync()?;
        }
    }
    if !is_one_by_one {
        medium.sync()?;
    }
    medium.cut(end)?;
    medium.sync()
}

/// Writes the bytes of a message that belong to no start magic.
fn write_between<M: Medium>(medium: &M, end: u64, message: &[u8], inner: &[usize]) -> io::Result<()> {
    let mut from = MAGIC.len();
    for to in inner.iter().copied().chain([message.len()]) {
        let bytes = message.get(from..to).ok_or(io::ErrorKind::InvalidInput)?;
        medium.write_at(end + from as u64, bytes)?;
        from = to + MAGIC.len();
    }
    Ok(())
}

fn write_magics<M: Medium>(medium: &M, end: u64, places: &[usize]) -> io::Result<()> {
    places.iter().try_for_each(|&place| medium.write_at(end + place as u64, MAGIC))
}
