//! Arguments of C: pointers as references, slices and texts, and places for results.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::slice;

use crate::error::{Result, invalid};

/// Checks a pointer that must lead to a `T`.
fn check<T>(pointer: *const T) -> Result<()> {
    if pointer.is_null() {
        return Err(invalid("null argument"));
    }
    if !pointer.is_aligned() {
        return Err(invalid("misaligned pointer"));
    }
    Ok(())
}

/// What a pointer leads to.
///
/// # Safety
/// A pointer that is not NULL leads to a `T` that lives and does not change during `'a`.
pub(crate) unsafe fn required<'a, T>(pointer: *const T) -> Result<&'a T> {
    check(pointer)?;
    // SAFETY: the pointer is not NULL and aligned; the caller promises the rest.
    Ok(unsafe { &*pointer })
}

/// What a pointer leads to, to be changed.
///
/// # Safety
/// A pointer that is not NULL leads to a `T` that lives during `'a` and that nobody else uses meanwhile.
pub(crate) unsafe fn required_mut<'a, T>(pointer: *mut T) -> Result<&'a mut T> {
    check(pointer)?;
    // SAFETY: the pointer is not NULL and aligned; the caller promises the rest.
    Ok(unsafe { &mut *pointer })
}

/// What a pointer leads to; `None` for NULL. A misaligned pointer is an error.
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

/// The handle that a pointer leads to; `None` for NULL, and for an address where no handle can be.
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

/// The `len` items that a pointer leads to. NULL is refused, also for no items.
///
/// # Safety
/// A pointer that is not NULL leads to `len` items that live and do not change during `'a`.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, len: usize) -> Result<&'a [T]> {
    check(pointer)?;
    check_len::<T>(len)?;
    // SAFETY: the pointer is not NULL and aligned, and the length fits; the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(pointer, len) })
}

/// [`slice()`], but NULL with length 0 is the empty slice.
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

/// The `len` items that the caller lends for a result. NULL with length 0 is the empty slice.
///
/// # Safety
/// A pointer that is not NULL leads to `len` items that live during `'a` and that nobody else uses meanwhile. Any bytes
/// are a valid `T`.
pub(crate) unsafe fn slice_mut<'a, T>(pointer: *mut T, len: usize) -> Result<&'a mut [T]> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(pointer)?;
    check_len::<T>(len)?;
    // SAFETY: the pointer is not NULL and aligned, and the length fits; the caller promises that the items are there
    // and used by nobody else. Bytes that C never set have some value here, as C can see them.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, len) })
}

/// Checks that `len` items have a size that addresses can have.
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

/// A place of the caller for a result. It is written last, so it stays as it was if the call fails.
pub(crate) struct Place<'a, T>(&'a mut MaybeUninit<T>);

impl<T> Place<'_, T> {
    pub(crate) fn put(self, value: T) {
        self.0.write(value);
    }
}

impl<T> Place<'_, *mut T> {
    /// Puts a handle there, which the caller frees.
    pub(crate) fn put_handle(self, handle: T) {
        self.put(Box::into_raw(Box::new(handle)));
    }
}

/// The place that a pointer leads to.
///
/// # Safety
/// A pointer that is not NULL leads to memory for a `T` that lives during `'a` and that nobody else uses meanwhile.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T) -> Result<Place<'a, T>> {
    check(pointer)?;
    // SAFETY: the pointer is not NULL and aligned; any bytes are a `MaybeUninit`; the caller promises the rest.
    Ok(Place(unsafe { &mut *pointer.cast() }))
}

/// Frees a handle. NULL is none.
///
/// # Safety
/// A pointer that is not NULL comes from [`Place::put_handle`], and is not used any more.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the caller promises that the handle comes from a box and is used no more.
        drop(unsafe { Box::from_raw(handle) });
    }
}
