//! Decoders that keep their state between calls, in the caller's memory.
//!
//! Such a state cannot be made anew from plain words. It lies between two guard words, which depend on its address. So
//! memory that this library did not fill is refused, as is a copy, and a state whose neighbours wrote over its ends. A
//! write into the middle of a state is not found, so each call checks that its results lie elsewhere.

use core::mem::offset_of;

use crate::abi::{Fault, OK, Status};
use crate::kinds;
use crate::pointers::{Extent, Outcome, check_place, extent, overlap, report};
use crate::words::check_word;

/// Checks that `error` and `places` lie outside of `own`, the memory of a decoder. Returns `OK` or a status. The fault
/// is written if `error` lies outside.
///
/// # Safety
/// As for [`report`].
// Never inlined: several functions of decoders call it.
#[inline(never)]
pub(crate) unsafe fn outside(own: Extent, error: *mut Fault, places: &[Extent; 2]) -> Status {
    if overlap(extent(error), own) {
        return kinds::OVERLAP.number;
    }
    if places.iter().any(|&place| overlap(place, own)) {
        // SAFETY: the caller's promise.
        return unsafe { report(error, kinds::OVERLAP.fault()) };
    }
    OK
}

/// [`answer`](crate::pointers::answer) with one write for both outcomes. That is less code for decoders, whose results
/// are made in many places.
///
/// # Safety
/// `out` and `error` are NULL or can be written, and no reference to them is alive.
pub(crate) unsafe fn answer_once<T: Default>(
    out: *mut T,
    error: *mut Fault,
    result: impl FnOnce() -> Outcome<T>,
) -> Status {
    // SAFETY: `out` is written if it is not NULL and aligned; the rest is the caller's promise. The borrows of `result`
    // have ended then.
    unsafe {
        if let Err(fault) = check_place(out) {
            return report(error, fault);
        }
        let (value, fault) = match result() {
            Ok(value) => (value, None),
            Err(fault) => (T::default(), Some(fault)),
        };
        out.write(value);
        match fault {
            None => OK,
            Some(fault) => report(error, fault),
        }
    }
}

/// A state between its guards.
#[repr(C)]
pub(crate) struct Guarded<T> {
    head: u64,
    state: T,
    tail: u64,
}

impl<T> Guarded<T> {
    /// Puts a state to `place`. `len` is a number that must be the same at every [`Self::get`].
    ///
    /// # Safety
    /// `place` is aligned, can be written, and nothing refers to it.
    pub(crate) unsafe fn put(place: *mut Self, tag: u32, len: usize, state: T) {
        let guard = guard(place.addr(), tag, len);
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
    /// `HANDLE` if no state is there.
    ///
    /// # Safety
    /// `place` is aligned and not NULL. It can be read and written, and only this call uses it during `'a`.
    pub(crate) unsafe fn get<'a>(place: *mut Self, tag: u32, len: usize) -> Outcome<&'a mut T> {
        // SAFETY: the caller's promise. The state is only referred to if both guards are right: `put` wrote it.
        unsafe {
            if !is_guarded(place.cast_const().cast(), tag, len, offset_of!(Self, tail)) {
                return Err(kinds::HANDLE.fault());
            }
            Ok(&mut (*place).state)
        }
    }
}

/// The guard word of a state: of its address, its type, and the number that comes with it.
fn guard(address: usize, tag: u32, len: usize) -> u64 {
    check_word(tag, &[address as u64, len as u64, 0])
}

/// Whether both guards of a state are right. The second one is `tail` bytes after the first.
///
/// # Safety
/// `place` is aligned for `u64`, and can be read up to the end of the second guard.
// Never inlined: it is called for every type of state.
#[inline(never)]
unsafe fn is_guarded(place: *const u64, tag: u32, len: usize, tail: usize) -> bool {
    let guard = guard(place.addr(), tag, len);
    // SAFETY: the caller's promise.
    unsafe { place.read() == guard && place.byte_add(tail).read() == guard }
}
