//! Decoders that keep their state between calls, in the caller's memory.
//!
//! Such a state cannot be made anew from plain words. It lies between two guard words, which depend on its address. So
//! memory that this library did not fill is refused, as is a copy, and a state whose neighbours wrote over its ends. A
//! write into the middle of a state is not found.

use crate::kinds;
use crate::pointers::{Outcome, check_place};
use crate::words::check_word;

/// A state between its guards.
#[repr(C)]
pub(crate) struct Guarded<T> {
    head: u64,
    state: T,
    tail: u64,
}

impl<T> Guarded<T> {
    fn guard(place: *const Self, tag: u32, len: usize) -> u64 {
        check_word(tag, &[place.addr() as u64, len as u64, size_of::<T>() as u64, 0])
    }

    /// Puts a state to `place`. `len` is a number that must be the same at every [`Self::get`].
    ///
    /// # Safety
    /// `place` is aligned, can be written, and nothing refers to it.
    pub(crate) unsafe fn put(place: *mut Self, tag: u32, len: usize, state: T) {
        let guard = Self::guard(place, tag, len);
        // SAFETY: the caller's promise. Field by field, so the state is not moved a second time.
        unsafe {
            (&raw mut (*place).state).write(state);
            (&raw mut (*place).head).write(guard);
            (&raw mut (*place).tail).write(guard);
        }
    }

    /// The state at `place`.
    ///
    /// # Errors
    /// `NULL`, `ALIGNMENT`; `HANDLE` if no state is there.
    ///
    /// # Safety
    /// Unless an error is due, `place` can be read and written, and nothing else refers to it during `'a`.
    pub(crate) unsafe fn get<'a>(place: *mut Self, tag: u32, len: usize) -> Outcome<&'a mut T> {
        check_place(place)?;
        let guard = Self::guard(place, tag, len);
        // SAFETY: the caller's promise. The state is only referred to if both guards are right: `put` wrote it.
        unsafe {
            if (&raw const (*place).head).read() != guard || (&raw const (*place).tail).read() != guard {
                return Err(kinds::HANDLE.fault());
            }
            Ok(&mut (*place).state)
        }
    }
}
