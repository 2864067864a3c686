//! Known bytes as a source of scans: a scan that needs an unknown byte stops there, and goes on later.

use std::ops::Range;

use memchr::memmem;
use tgm_core::scan::Source;

use super::known_bytes::KnownBytes;
use crate::base::span::{head, head_mut, span, span_len};

/// Why a scan stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// These bytes are read, and one of them is not known.
    Missing(Range<u64>),
    /// The bytes from the range's start up to its end were searched for a magic and do not have it. What follows is not
    /// known.
    Searched(Range<u64>),
}

/// Known bytes of a source of `size` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownSource<'k> {
    pub(super) known: &'k KnownBytes,
    pub(super) size: u64,
}

impl Source for KnownSource<'_> {
    type Error = Stop;

    fn len(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, Stop> {
        let end = span(offset, out.len() as u64).end.min(self.size);
        let out = head_mut(out, span_len(&(offset..end)));
        self.known.copy_to(offset, out).ok_or(Stop::Missing(offset..end))?;
        Ok(out.len())
    }

    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> Result<Option<u64>, Stop> {
        // All places below are places of known bytes, which lie before the source's end.
        let end = end.min(self.size);
        let mut at = from;
        while span_len(&(at..end)) >= magic.len() as u64 {
            let until = self.known.known_until(at).min(end);
            let together = head(self.known.from(at), span_len(&(at..until)));
            if let Some(found) = memmem::find(together, magic) {
                return Ok(Some(at + found as u64));
            }
            // The last seven bytes may be the beginning of a magic.
            let searched = together.len().saturating_sub(magic.len() - 1) as u64;
            if searched > 0 {
                at += searched;
                continue;
            }
            // These bytes were fetched apart from the ones after them.
            let mut joint = [0; 8];
            if self.known.copy_to(at, &mut joint).is_none() {
                return Err(Stop::Searched(from..until));
            }
            if joint == *magic {
                return Ok(Some(at));
            }
            at += 1;
        }
        Ok(None)
    }
}
