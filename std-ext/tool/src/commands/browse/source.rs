//! A file that is looked at, and its messages as far as they are known.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tgm_core::scan::{Scanner, Segment};
use tgm_std::file::SourceName;
use tgm_std::scan::{Window, Windowed};
use tgm_std::{Archive, MessageLayout, TensogramError};

use crate::read::messages::{WINDOW, small};
use crate::show::advice::in_our_words;

/// Time between two reports of a scan.
const PACE: Duration = Duration::from_millis(50);
/// Segments between two looks at the clock.
const STEPS: usize = 256;

/// A file.
#[derive(Debug)]
pub(super) struct Source {
    name: String,
    archive: Archive<'static>,
    length: u64,
    found: Mutex<Scanned>,
    is_begun: AtomicBool,
}

/// What a scan has found so far.
#[derive(Clone, Debug, Default)]
struct Scanned {
    messages: Vec<MessageLayout>,
    known: Known,
}

/// The state of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Messages so far.
    pub(super) count: usize,
    /// Bytes that were scanned, and bytes of the file. Both are 0 if that is not known.
    pub(super) scanned: u64,
    pub(super) length: u64,
    /// Bytes that belong to no message.
    pub(super) lost: u64,
    /// Whether no message will be added.
    pub(super) is_done: bool,
    /// Why the scan ended early.
    pub(super) error: Option<String>,
}

impl Source {
    /// Opens a file. Nothing is read yet.
    ///
    /// # Errors
    /// The errors of opening; pipes and devices cannot be read at positions.
    pub(super) fn open(path: &Path) -> Result<Self, TensogramError> {
        let name = SourceName::of(path).to_string();
        let archive = Archive::open_unread(path)?;
        if archive.is_distant() {
            return Ok(Self { name, archive, length: 0, found: Mutex::default(), is_begun: AtomicBool::new(false) });
        }
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            let text = "it is not a file that can be read at any position";
            return Err(TensogramError::Io(io::Error::new(io::ErrorKind::Unsupported, text)));
        }
        let known = Known { length: metadata.len(), ..Known::default() };
        let found = Mutex::new(Scanned { known, ..Scanned::default() });
        Ok(Self { name, archive, length: metadata.len(), found, is_begun: AtomicBool::new(false) })
    }

    /// The file's name as the user gave it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn found(&self) -> MutexGuard<'_, Scanned> {
        // Positions are appended, so a panic elsewhere leaves a list that is right.
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of the scan.
    pub(super) fn known(&self) -> Known {
        self.found().known.clone()
    }

    /// The place of a message, if it is known.
    pub(super) fn layout(&self, index: usize) -> Option<MessageLayout> {
        self.found().messages.get(index).copied()
    }

    /// The places of the messages with these numbers, as far as they are known.
    pub(super) fn layouts(&self, numbers: std::ops::Range<usize>) -> Vec<MessageLayout> {
        let found = self.found();
        let end = numbers.end.min(found.messages.len());
        found.messages.get(numbers.start..end).unwrap_or_default().to_vec()
    }

    /// The bytes of a message without its payloads, or with the frame of one object.
    ///
    /// # Errors
    /// The errors of reading.
    pub(super) fn read(&self, layout: MessageLayout, object: Option<usize>) -> Result<Vec<u8>, TensogramError> {
        Ok(self.archive.outline_at(layout, object)?.into_owned())
    }

    /// Messages one after the other in `layouts`, which lie side by side or nearly so, in one read where they are small.
    /// Calls `with` for each, until it returns false.
    pub(super) fn read_each(
        &self,
        layouts: &[MessageLayout],
        mut with: impl FnMut(usize, Result<&[u8], TensogramError>) -> bool,
    ) {
        let mut window = Window::default();
        for (number, layout) in layouts.iter().enumerate() {
            // Sources at addresses are not read beside the library, which knows what it has read.
            let goes_on = if layout.length <= WINDOW && !self.archive.is_distant() {
                let bytes = small(&mut window, *layout, self.length, |offset, out| self.archive.read_at(offset, out));
                let shorter = || TensogramError::Io(io::ErrorKind::UnexpectedEof.into());
                with(number, bytes.and_then(|bytes| bytes.ok_or_else(shorter)))
            } else {
                match self.read(*layout, None) {
                    Ok(bytes) => with(number, Ok(&bytes)),
                    Err(error) => with(number, Err(error)),
                }
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Says that a scan begins. Returns false if one has begun before.
    pub(super) fn begin_scan(&self) -> bool {
        !self.is_begun.swap(true, Ordering::Relaxed)
    }

    /// Finds all messages. Calls `tell` now and then, and at the end; the scan ends if it returns false.
    pub(super) fn scan(&self, tell: impl FnMut() -> bool) {
        let done = if self.archive.is_distant() { self.scan_remote() } else { self.scan_file(tell) };
        let mut found = self.found();
        found.known.is_done = true;
        found.known.error = done.err().map(in_our_words);
    }

    /// The library searches sources at addresses, in few requests.
    fn scan_remote(&self) -> Result<(), TensogramError> {
        let messages = self.archive.layouts()?;
        let lost = self.archive.segments()?.iter().filter(|segment| !segment.is_message()).map(Segment::length).sum();
        let mut found = self.found();
        found.known = Known { count: messages.len(), lost, ..found.known.clone() };
        found.messages = messages;
        Ok(())
    }

    fn scan_file(&self, mut tell: impl FnMut() -> bool) -> Result<(), TensogramError> {
        let file = Windowed::new(self.length, |offset, out: &mut [u8]| {
            self.archive.read_at(offset, out).map_err(|error| match error {
                TensogramError::Io(error) => error,
                other => io::Error::other(other),
            })
        });
        let mut scanner = Scanner::new(file);
        let (mut pending, mut lost, mut next) = (Vec::new(), 0, Instant::now());
        loop {
            let mut is_done = false;
            for _ in 0..STEPS {
                match scanner.next_segment()? {
                    Some(Segment::Message { offset, length }) => pending.push(MessageLayout { offset, length }),
                    Some(Segment::Junk { length, .. }) => lost += length,
                    None => {
                        is_done = true;
                        break;
                    }
                }
            }
            if is_done || Instant::now() >= next {
                next = Instant::now() + PACE;
                let mut found = self.found();
                found.messages.append(&mut pending);
                let count = found.messages.len();
                found.known = Known { count, lost, scanned: scanner.front(), ..found.known.clone() };
                drop(found);
                if is_done || !tell() {
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use tgm_std::TensogramFile;

    use super::*;

    #[test]
    fn a_scan_finds_what_the_library_finds_and_messages_are_read_where_they_are() {
        let one = fs::read("../../tests/data/multi/three.tgm").unwrap();
        let large = fs::read("../../tests/data/realistic/surface-181x360.tgm").unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for _ in 0..600 {
            file.write_all(&one).unwrap();
        }
        file.write_all(b"junk between").unwrap();
        file.write_all(&large).unwrap();
        file.write_all(&one).unwrap();
        let source = Source::open(file.path()).unwrap();
        assert_eq!((source.known().count, source.known().is_done), (0, false));
        source.scan(|| true);
        let known = source.known();
        assert_eq!((known.count, known.lost, known.is_done, known.error), (1804, 12, true, None));
        let expected = TensogramFile::open(file.path()).unwrap();
        let layouts = source.layouts(0..usize::MAX);
        assert_eq!(layouts, expected.message_layouts().unwrap());
        let mut count = 0;
        source.read_each(&layouts, |number, bytes| {
            assert_eq!(bytes.unwrap(), expected.read_message_outline(number).unwrap(), "{number}");
            count += 1;
            true
        });
        assert_eq!(count, 1804);
        // A file that became shorter gives errors.
        file.as_file().set_len(100).unwrap();
        assert!(source.read(layouts[1000], None).is_err());
        let mut errors = 0;
        source.read_each(&layouts[1000..], |_, bytes| {
            errors += usize::from(bytes.is_err());
            errors < 5
        });
        assert_eq!(errors, 5);
    }
}
