//! Turns the pointers that C passes into references, slices and texts, and into memory for results.
//!
//! Handles and inputs become shared references, never mutable ones. What changes in a handle is behind a lock, so
//! several calls may use one handle at the same time. Memory for results stays a pointer until it is written: a
//! [`Place`] for one result, an [`OutputMemory`] for decoded values.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::slice;

use crate::error::{Result, invalid};

/// A `bool` of C as a parameter. It is a byte here, because C can put any byte there.
#[cfg(feature = "async")]
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Flag(u8);

#[cfg(feature = "async")]
impl Flag {
    pub(crate) const fn is_set(self) -> bool {
        self.0 != 0
    }
}

/// Checks that a pointer is neither NULL nor misaligned for `T`.
fn check<T>(pointer: *const T) -> Result<()> {
    if pointer.is_null() {
        return Err(invalid("null argument"));
    }
    if !pointer.is_aligned() {
        return Err(invalid("misaligned pointer"));
    }
    Ok(())
}

/// The `T` that a pointer leads to. NULL is an error.
///
/// # Safety
/// A pointer that is not NULL leads to a `T` that lives and does not change during `'a`.
pub(crate) unsafe fn required<'a, T>(pointer: *const T) -> Result<&'a T> {
    check(pointer)?;
    // SAFETY: the pointer is not NULL and aligned; the caller promises the rest.
    Ok(unsafe { &*pointer })
}

/// The `T` that a pointer leads to; `None` for NULL. A misaligned pointer is an error.
///
/// # Safety
/// As for [`required`].
pub(crate) unsafe fn given<'a, T>(pointer: *const T) -> Result<Option<&'a T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller makes the same promise.
    unsafe { required(pointer) }.map(Some)
}

/// The handle that a pointer leads to; `None` for NULL and for a misaligned pointer. For functions that cannot report
/// an error.
///
/// # Safety
/// As for [`required`].
pub(crate) unsafe fn optional<'a, T>(pointer: *const T) -> Option<&'a T> {
    if !pointer.is_aligned() {
        return None;
    }
    // SAFETY: the pointer is aligned; the caller promises the rest.
    unsafe { pointer.as_ref() }
}

/// The `len` items that a pointer leads to. NULL is an error even if `len` is 0.
///
/// # Safety
/// A pointer that is not NULL leads to `len` items that live and do not change during `'a`.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, len: usize) -> Result<&'a [T]> {
    check(pointer)?;
    check_len::<T>(len)?;
    // SAFETY: the pointer is not NULL and aligned, and the length fits; the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(pointer, len) })
}

/// [`slice()`], but length 0 gives the empty slice, even for NULL.
///
/// # Safety
/// As for [`slice()`].
pub(crate) unsafe fn slice_or_empty<'a, T>(pointer: *const T, len: usize) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller makes the same promise.
    unsafe { slice(pointer, len) }
}

/// The caller's memory for decoded values.
pub(crate) struct OutputMemory<'a, T> {
    start: *mut T,
    len: usize,
    lent: PhantomData<&'a mut [T]>,
}

impl<'a, T> OutputMemory<'a, T> {
    /// The memory as a mutable slice. `input` is the message that is decoded: a slice that overlaps it would be
    /// undefined behaviour.
    ///
    /// # Errors
    /// `TGM_ERROR_INVALID_ARG` if the memory overlaps `input`.
    pub(crate) fn apart_from(self, input: &[u8]) -> Result<&'a mut [T]> {
        if self.len == 0 {
            return Ok(&mut []);
        }
        let (start, bytes) = (self.start.addr(), self.len.saturating_mul(size_of::<T>()));
        let other = input.as_ptr().addr();
        if start < other.saturating_add(input.len()) && other < start.saturating_add(bytes) {
            return Err(invalid("the memory for the result lies on the message"));
        }
        // SAFETY: `output_memory` checked pointer and length. Its caller promises that the memory is there, and that no other
        // argument lies there. Some calls know the message only through a handle, so the check above compares it. Bytes
        // that C never set have some value here, because C can see them.
        Ok(unsafe { slice::from_raw_parts_mut(self.start, self.len) })
    }
}

/// The memory for `len` items that a pointer leads to. With length 0 any pointer is accepted, NULL too.
///
/// # Safety
/// A pointer that is not NULL leads to `len` items that live during `'a`. Nobody else reads or writes them before the
/// call returns, and no other argument lies there. Any bytes are a valid `T`.
pub(crate) unsafe fn output_memory<'a, T>(start: *mut T, len: usize) -> Result<OutputMemory<'a, T>> {
    if len > 0 {
        check(start)?;
        check_len::<T>(len)?;
    }
    Ok(OutputMemory { start, len, lent: PhantomData })
}

/// Checks that the size of `len` items fits `isize`, as slices require.
fn check_len<T>(len: usize) -> Result<()> {
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(invalid("length exceeds the address space")),
    }
}

/// The text that a pointer leads to. `what` names it in errors.
///
/// # Safety
/// A pointer that is not NULL leads to a text that ends with NUL, and that lives and does not change during `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str> {
    check(pointer)?;
    // SAFETY: the pointer is not NULL; the caller promises the rest.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| invalid(format!("invalid UTF-8 in {what}")))
}

/// [`text`]; `None` for NULL.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn optional_text<'a>(pointer: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller makes the same promise.
    unsafe { text(pointer, what) }.map(Some)
}

/// The caller's memory for one result. It is written last, so it stays as it was if the call fails.
///
/// It is a pointer and not a reference, because a caller may pass one address for two results. The later result stays.
pub(crate) struct Place<'a, T> {
    pointer: *mut T,
    lent: PhantomData<&'a mut T>,
}

impl<T> Place<'_, T> {
    /// Writes the result.
    pub(crate) fn put(self, value: T) {
        // SAFETY: `place` checked the pointer. Its caller promises memory for a `T` that lives as long as this place.
        unsafe { self.pointer.write(value) };
    }
}

impl<T> Place<'_, *mut T> {
    /// Moves `handle` to the heap, and writes its address. The caller frees it later by a function that calls [`free`].
    pub(crate) fn put_handle(self, handle: T) {
        self.put(Box::into_raw(Box::new(handle)));
    }
}

/// The place that a pointer leads to. NULL is an error.
///
/// # Safety
/// A pointer that is not NULL leads to memory for a `T` that lives during `'a`. Nobody reads it before the call
/// returns.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T) -> Result<Place<'a, T>> {
    check(pointer)?;
    Ok(Place { pointer, lent: PhantomData })
}

/// Frees a handle. NULL is ignored.
///
/// # Safety
/// A pointer that is not NULL comes from [`Place::put_handle`]. No call uses the handle now or later.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the caller promises that the handle comes from a box, and that this is its last use.
        drop(unsafe { Box::from_raw(handle) });
    }
}
