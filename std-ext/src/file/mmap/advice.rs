//! What a reader of a map tells the system about what it will read.

use std::io;
use std::ops::Range;

use memmap2::Mmap;

use super::MappedFile;
use crate::base::error::{Result, TensogramError};

/// How a part of a map will be read.
///
/// It is advice: what is read stays the same, and only how long that takes may change. See
/// [`MappedFile`](MappedFile#when-to-map-and-when-to-read) for what is worth advising.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// Nobody knows: the system reads some pages around each page that is touched. What holds without advice, and what takes
    /// [`Self::Random`] and [`Self::Sequential`] back.
    #[default]
    Normal,
    /// Soon: the system begins to read all of it, while the caller does something else.
    WillNeed,
    /// From its beginning to its end: the system reads far ahead.
    Sequential,
    /// Here and there: the system reads the pages that are touched, and none around them.
    Random,
    /// Not any more: the memory is given back at once, though the map stays whole. What is read again nevertheless comes
    /// from the file again, as long as the system's cache has it without reading from the medium. Taken on Linux, and
    /// nothing elsewhere.
    Done,
}

impl MappedFile {
    /// Tells the system how object `object` of message `index` will be read: its payload and masks. Finding the object
    /// touches the pages of what describes it.
    ///
    /// Advice is about whole pages, those at the ends included, which may hold parts of other objects. Each part that is
    /// [`Advice::Random`] or [`Advice::Sequential`] beside parts that are not counts against the number of maps that a
    /// process may have (65,530 by default on Linux), so advice of these kinds about thousands of objects is better given
    /// once, by [`Self::advise_all`]. The others leave nothing behind.
    ///
    /// ```
    /// use tgm_std::{Advice, MappedFile};
    ///
    /// // SAFETY: nobody truncates this file or writes into it.
    /// let file = unsafe { MappedFile::open("../tests/data/multi/three.tgm") }?;
    /// for index in 0..file.message_count() {
    ///     file.advise(index + 1, 0, Advice::WillNeed).ok(); // the next one, if there is one
    ///     let object = file.object(index, 0)?;
    ///     println!("{:?}", object.payload().iter().max());
    ///     file.advise(index, 0, Advice::Done)?;
    /// }
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Self::object`]; [`TensogramError::Io`] if the system does not take the advice.
    pub fn advise(&self, index: usize, object: usize, advice: Advice) -> Result<()> {
        let (message, object) = (self.message_range(index)?, self.object(index, object)?);
        let start = usize::try_from(object.region_offset()).ok().and_then(|offset| message.start.checked_add(offset));
        let range = start.and_then(|start| Some(start..start.checked_add(object.region().len())?));
        self.advise_range(&range.unwrap_or_default(), advice)
    }

    /// Tells the system how message `index` will be read, all of it. Nothing is touched. See [`Self::advise`].
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message; [`TensogramError::Io`] if the system does not take the
    /// advice.
    pub fn advise_message(&self, index: usize, advice: Advice) -> Result<()> {
        self.advise_range(&self.message_range(index)?, advice)
    }

    /// Tells the system how the whole file will be read.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if the system does not take the advice.
    pub fn advise_all(&self, advice: Advice) -> Result<()> {
        self.advise_range(&(0..self.as_bytes().len()), advice)
    }

    /// `range` lies within the map.
    fn advise_range(&self, range: &Range<usize>, advice: Advice) -> Result<()> {
        let Some(map) = self.map.as_ref().filter(|_| !range.is_empty()) else { return Ok(()) };
        give(map, range, advice).map_err(|error| {
            let what = format!("advice about bytes {} to {}: {error}", range.start, range.end);
            TensogramError::Io(io::Error::new(error.kind(), what))
        })
    }
}

#[cfg(unix)]
fn give(map: &Mmap, range: &Range<usize>, advice: Advice) -> io::Result<()> {
    let advice = match advice {
        Advice::Normal => memmap2::Advice::Normal,
        Advice::WillNeed => memmap2::Advice::WillNeed,
        Advice::Sequential => memmap2::Advice::Sequential,
        Advice::Random => memmap2::Advice::Random,
        #[cfg(target_os = "linux")]
        Advice::Done => {
            let done = memmap2::UncheckedAdvice::DontNeed;
            // SAFETY: of a shared map of a file that nobody writes through, pages that are given back come from the file
            // again when they are touched, with the same bytes: that the file does not change is the contract of
            // `MappedFile`. Slices that are lent out stay valid.
            return unsafe { map.unchecked_advise_range(done, range.start, range.len()) };
        }
        // What other systems do when they are told is less, or unclear.
        #[cfg(not(target_os = "linux"))]
        Advice::Done => return Ok(()),
    };
    map.advise_range(advice, range.start, range.len())
}

#[cfg(not(unix))]
fn give(_: &Mmap, _: &Range<usize>, _: Advice) -> io::Result<()> {
    Ok(())
}

// Emulators of other machines keep advice to themselves.
#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
