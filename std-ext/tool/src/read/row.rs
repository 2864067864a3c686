//! Small messages that lie one after the other from the start of a file. They are found and read in one pass.
//!
//! To find all messages first and read them then would read small ones twice: the places of messages are so close together
//! that finding them takes every byte. Large messages, and whatever is not sound, end the row. The usual way goes on after it.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tgm_core::scan::scan;
use tgm_core::wire::Preamble;
use tgm_std::Archive;
use tgm_std::file::SourceName;
use zerocopy::FromBytes as _;

use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, shorter, slice};
use crate::read::messages::{BATCH, WINDOW};
use crate::read::opening::{open_again_or_report, tell};
use crate::show::output::Out;
use crate::show::progress::meter::Share;

/// Shorter files are opened as usual: two passes cost nothing there, and threads learn how many messages there are.
const LEAST: u64 = 16 * WINDOW;

/// A row of small messages. It gives them in batches.
#[derive(Debug)]
pub(crate) struct Row<'p> {
    path: &'p Path,
    archive: Archive<'static>,
    name: String,
    length: u64,
    /// The place after the messages so far, and their number.
    front: (u64, usize),
    /// What was read last, and where it begins.
    bytes: (u64, Arc<Vec<u8>>),
    /// The messages of these bytes that are in no batch yet.
    waiting: VecDeque<Place>,
    /// Memory for what is read next, which batches may still use: one window for each thread, and another one.
    windows: Vec<Arc<Vec<u8>>>,
    progress: Share,
}

/// At most [`BATCH`] messages: what is made of them may be much larger than they are.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Where the bytes begin, and the bytes, which other batches may share.
    bytes: (u64, Arc<Vec<u8>>),
    places: Vec<Place>,
}

impl<'p> Row<'p> {
    /// The row of a file of this machine. `None` for other sources, for short files, and for what cannot be opened.
    pub(crate) fn open(path: &'p Path) -> Option<Self> {
        let length = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
        let archive = (length >= LEAST).then(|| Archive::open_unread(path).ok()).flatten()?;
        let (name, progress) = (SourceName::of(path).to_string(), Share::new(Some(length)));
        let (bytes, waiting, windows) = Default::default();
        Some(Self { path, archive, name, length, front: (0, 0), bytes, waiting, windows, progress })
    }

    /// The file's name as the user gave it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of the file when it was opened.
    pub(crate) const fn len(&self) -> u64 {
        self.length
    }

    /// The file from its start, as it is usually opened, and the number of the first message after the row. `None` if the row is
    /// the whole file, which gets a remark, and if the file cannot be opened any more, which is reported.
    pub(crate) fn rest(self, out: &mut Out) -> Option<(Input, usize)> {
        let Self { path, name, length, front: (end, count), progress, .. } = self;
        progress.come_to(end, count);
        if end == length {
            tell(&name, count, length, out);
            return None;
        }
        let input = open_again_or_report(path, progress, out)?;
        if input.len() < length {
            out.report(&format!("{name}: message {count}"), &shorter(length, length));
            out.problem(&format!("{name}: the messages after it were not read"));
            return None;
        }
        Some((input, count))
    }

    /// The next bytes of the file, and how many there are. `None` at its end, and if they cannot be read: the usual way says why.
    fn read(&mut self) -> Option<(Arc<Vec<u8>>, usize)> {
        // All messages of these bytes are in batches.
        self.bytes = Default::default();
        let free = self.windows.iter().position(|window| Arc::strong_count(window) == 1);
        let mut window = free.map(|free| self.windows.swap_remove(free)).unwrap_or_default();
        let bytes = Arc::get_mut(&mut window)?;
        bytes.resize(usize::try_from(WINDOW).ok()?, 0);
        let len = usize::try_from(WINDOW.min(self.length - self.front.0)).ok().filter(|len| *len > 0)?;
        let read = self.archive.read_at(self.front.0, bytes.get_mut(..len)?).ok()?;
        self.windows.push(window.clone());
        Some((window, read))
    }

    /// Reads on, and finds the messages in what was read. `None` if the row ends.
    fn read_on(&mut self) -> Option<()> {
        let ((window, len), (start, count)) = (self.read()?, self.front);
        let bytes = slice(&window, 0, len as u64)?;
        let mut places = VecDeque::new();
        for found in scan(bytes) {
            let message = found.bytes_of(bytes).filter(|_| found.is_message()).unwrap_or_default();
            // What states its length is found alike in a part of the file and in all of it.
            let states = |(preamble, _): (&Preamble, _)| preamble.total_length.get() == found.length();
            if !Preamble::ref_from_prefix(message).is_ok_and(states) {
                break;
            }
            let (offset, length) = (start + found.offset(), found.length());
            places.push_back(Place { index: count + places.len(), offset, length });
        }
        let end = places.back()?.end();
        // A message after these that has no room is large, and of large ones not all is read.
        if end - start < WINDOW / 4 * 3 && end < self.length {
            return None;
        }
        (self.bytes, self.waiting) = ((start, window), places);
        Some(())
    }
}

impl Batch {
    /// The messages of a file of this name.
    pub(crate) fn entries<'b>(&'b self, name: &'b str) -> impl Iterator<Item = (Place, Entry<'b>)> {
        let (start, bytes) = &self.bytes;
        self.places.iter().filter_map(move |place| {
            let bytes = slice(bytes, place.offset.checked_sub(*start)?, place.length)?;
            Some((*place, Entry::new(name, *place, bytes)))
        })
    }
}

impl Iterator for Row<'_> {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        if self.waiting.is_empty() {
            self.read_on()?;
        }
        let places: Vec<_> = self.waiting.drain(..BATCH.min(self.waiting.len())).collect();
        let ((start, count), end) = (self.front, places.last()?.end());
        self.progress.take_up(start, end - start, count);
        self.front = (end, count + places.len());
        Some(Batch { bytes: self.bytes.clone(), places })
    }
}
