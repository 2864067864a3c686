//! Opaque structs as plain words: an address, numbers, and a check word over all of them.

use crate::kinds;
use crate::pointers::{self, Outcome};

/// The words of an opaque struct. The last one is the check word.
///
/// `TAG` tells one struct from another. A struct may be copied, because the check word does not depend on its place.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Words<const TAG: u32, const N: usize> {
    words: [u64; N],
}

impl<const TAG: u32, const N: usize> Words<TAG, N> {
    /// The struct of some bytes and up to `N - 3` numbers.
    pub(crate) fn new(bytes: &[u8], numbers: &[u64]) -> Self {
        let mut words = [0; N];
        let values = [bytes.as_ptr().expose_provenance() as u64, bytes.len() as u64];
        if let Some((front, rest)) = words.split_first_chunk_mut() {
            *front = values;
            for (word, number) in rest.iter_mut().zip(numbers) {
                *word = *number;
            }
        }
        let sum = check_word(TAG, &words);
        if let Some(last) = words.last_mut() {
            *last = sum;
        }
        Self { words }
    }

    /// The numbers after address and length.
    ///
    /// # Errors
    /// `HANDLE` if this library did not fill the struct.
    pub(crate) fn numbers(&self) -> Outcome<&[u64]> {
        match self.words.as_slice() {
            [_, _, numbers @ .., sum] if *sum == check_word(TAG, &self.words) => Ok(numbers),
            _ => Err(kinds::HANDLE.fault()),
        }
    }

    /// The bytes.
    ///
    /// # Errors
    /// The errors of [`Self::numbers`].
    ///
    /// # Safety
    /// The bytes that the struct was made of still exist and do not change during `'a`.
    pub(crate) unsafe fn bytes<'a>(&self) -> Outcome<&'a [u8]> {
        self.numbers()?;
        let [address, len, ..] = self.words.as_slice() else { return Err(kinds::HANDLE.fault()) };
        let (address, len) = (*address as usize, *len as usize);
        // SAFETY: the check word says that address and length belong to bytes that were given to this library. The
        // caller keeps them.
        unsafe { pointers::bytes(core::ptr::with_exposed_provenance(address), len) }
    }
}

impl<const TAG: u32, const N: usize> Default for Words<TAG, N> {
    /// Zeros, which are refused.
    fn default() -> Self {
        Self { words: [0; N] }
    }
}

/// A number that depends on every bit of the tag and of all words except the last.
// Never inlined: it is called from every function.
#[inline(never)]
pub(crate) fn check_word(tag: u32, words: &[u64]) -> u64 {
    let Some((_, words)) = words.split_last() else { return 0 };
    let mut sum = !u64::from(tag);
    for word in words {
        // An odd factor makes the product a permutation, so one changed word always changes the sum.
        sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 32;
    }
    sum
}
