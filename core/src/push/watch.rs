//! Looking for the start of a message in bytes that come in pieces.
//!
//! ```text
//! for each byte:  append it to the held bytes
//!                 while the held bytes cannot begin a preamble:  drop the first of them
//! ```
//!
//! Where nothing is held, [`find`] skips ahead to the next start magic instead of going byte by byte.

use zerocopy::FromBytes;

use crate::message::check_preamble;
use crate::scan::find;
use crate::wire::{MAGIC, PREAMBLE_SIZE, Preamble};

/// The last bytes that came, as far as they may be the beginning of a preamble.
///
/// The start magic has its first letter only once. So few bytes stay held after a mismatch, and each byte is looked at a
/// bounded number of times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    bytes: [u8; PREAMBLE_SIZE],
    len: usize,
}

impl Watch {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; PREAMBLE_SIZE], len: 0 }
    }

    /// Drops all held bytes.
    pub(super) const fn clear(&mut self) {
        self.len = 0;
    }

    /// The held preamble, if it is whole.
    pub(super) fn preamble(&self) -> Option<[u8; PREAMBLE_SIZE]> {
        (self.len >= PREAMBLE_SIZE).then_some(self.bytes)
    }

    /// Reads bytes until a whole preamble is held, and returns how many it read. `None` if all of them were not enough.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        loop {
            if self.len == 0 {
                rest = rest.get(candidate(rest)..).unwrap_or_default();
            }
            let (&byte, after) = rest.split_first()?;
            rest = after;
            let is_still = self.take(byte);
            let seen = bytes.len().saturating_sub(rest.len());
            if self.len >= PREAMBLE_SIZE {
                return Some(seen);
            }
            // After a mismatch some bytes may still be held. If all of them are in `bytes`, the quick search starts there.
            if !is_still && let Some(again) = seen.checked_sub(self.len).and_then(|from| bytes.get(from..)) {
                rest = again;
                self.len = 0;
            }
        }
    }

    /// Appends a byte, and returns whether the held bytes may still begin a preamble. If not, drops the first of them.
    fn take(&mut self, byte: u8) -> bool {
        if let Some(slot) = self.bytes.get_mut(self.len) {
            *slot = byte;
            self.len = self.len.saturating_add(1);
        }
        let is_still = may_be_preamble(self.held());
        if !is_still {
            self.give_up_first();
        }
        is_still
    }

    /// Drops held bytes up to the next place, after the first byte, where a preamble may begin.
    pub(super) fn give_up_first(&mut self) {
        let held = self.held();
        let next = (1..self.len).find(|&from| held.get(from..).is_some_and(may_be_preamble)).unwrap_or(self.len);
        let mut moved = [0; PREAMBLE_SIZE];
        for (slot, &byte) in moved.iter_mut().zip(held.get(next..).unwrap_or_default()) {
            *slot = byte;
        }
        self.bytes = moved;
        self.len = self.len.saturating_sub(next);
    }

    fn held(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Where the first start magic in `bytes` begins, complete or cut off by the end of `bytes`.
///
/// Without a start magic, the length of `bytes`.
fn candidate(bytes: &[u8]) -> usize {
    if let Some(at) = find(bytes, MAGIC) {
        return at;
    }
    let [first, rest @ ..] = MAGIC;
    let end = bytes.last_chunk().unwrap_or(rest);
    // Only the first letter of a magic equals `first`. Without that letter in the last seven bytes, none is cut off.
    if bytes.len() >= rest.len() && end.iter().all(|byte| byte != first) {
        return bytes.len();
    }
    let cut_off = bytes.len().saturating_sub(rest.len());
    let end = bytes.get(cut_off..).unwrap_or_default();
    cut_off.saturating_add(end.iter().position(|byte| byte == first).unwrap_or(end.len()))
}

/// Whether a preamble that [`check_preamble`] accepts may begin with these bytes.
fn may_be_preamble(bytes: &[u8]) -> bool {
    if let Ok(preamble) = Preamble::ref_from_bytes(bytes) {
        return check_preamble(preamble, u64::MAX).is_ok();
    }
    MAGIC.starts_with(bytes.get(..MAGIC.len()).unwrap_or(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREAMBLE: &[u8; PREAMBLE_SIZE] = include_bytes!("../../samples/float32-little.tgm").first_chunk().unwrap();

    #[test]
    fn a_preamble_is_found_behind_letters_that_are_like_its_first_wherever_it_is_cut() {
        for before in 0..20 {
            for cut in 1..PREAMBLE_SIZE {
                let mut watch = Watch::new();
                let (begin, rest) = PREAMBLE.split_at(cut);
                assert_eq!(watch.feed(&[b'T'; 20][..before]), None);
                assert_eq!(watch.feed(begin), None);
                assert_eq!((watch.feed(rest), watch.preamble()), (Some(rest.len()), Some(*PREAMBLE)));

                let mut watch = Watch::new();
                assert_eq!(watch.feed(&[&[b'T'; 20][..before], begin].concat()), None);
                assert_eq!((watch.feed(rest), watch.preamble()), (Some(rest.len()), Some(*PREAMBLE)));
            }
        }
    }
}
