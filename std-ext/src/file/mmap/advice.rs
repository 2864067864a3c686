//! Advice to the operating system about how a part of a map will be read.

use std::io;
use std::ops::Range;

use memmap2::Mmap;

/// How a part of a map will be read.
///
/// Advice never changes what is read, only how long it takes.
/// [`MappedFile`](crate::MappedFile#when-to-map-and-when-to-read) says which advice pays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// Unknown. The system reads some pages around each page that is touched. This is the state without advice, and it
    /// takes [`Self::Random`] and [`Self::Sequential`] back.
    #[default]
    Normal,
    /// Soon. The system begins to read the part while the caller does something else.
    WillNeed,
    /// From beginning to end. The system reads far ahead.
    Sequential,
    /// In random order. The system reads only the pages that are touched.
    Random,
    /// Not any more. The memory is freed at once, and the map stays valid. A later read takes the bytes from the file
    /// again, or from the system's cache if they are still there. Linux only; other systems ignore it.
    Done,
}

/// Gives the advice about a range of the map.
///
/// # Errors
/// The errors of the system.
#[cfg(unix)]
pub(super) fn give(map: &Mmap, range: &Range<usize>, advice: Advice) -> io::Result<()> {
    let advice = match advice {
        Advice::Normal => memmap2::Advice::Normal,
        Advice::WillNeed => memmap2::Advice::WillNeed,
        Advice::Sequential => memmap2::Advice::Sequential,
        Advice::Random => memmap2::Advice::Random,
        #[cfg(target_os = "linux")]
        Advice::Done => {
            let done = memmap2::UncheckedAdvice::DontNeed;
            // SAFETY: the map is shared and read only, so a page that is given back is read from the file again when it
            // is touched. It has the same bytes, because the contract of `MappedFile` says that the file does not
            // change. So borrowed slices stay valid.
            return unsafe { map.unchecked_advise_range(done, range.start, range.len()) };
        }
        // Other systems do less on this advice, or do not say what they do.
        #[cfg(not(target_os = "linux"))]
        Advice::Done => return Ok(()),
    };
    map.advise_range(advice, range.start, range.len())
}

#[cfg(not(unix))]
pub(super) fn give(_: &Mmap, _: &Range<usize>, _: Advice) -> io::Result<()> {
    Ok(())
}

// Emulators of other machines do not pass advice on to the system.
#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
