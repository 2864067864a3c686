//! From pointers of C to slices and values, with every check that is possible, and back.

use crate::abi::{END, Fault, OK, Status};
use crate::kinds;

/// Memory: its first byte and its length.
pub(crate) type Extent = (*const u8, usize);

/// The memory of some bytes.
pub(crate) const fn span(bytes: &[u8]) -> Extent {
    (bytes.as_ptr(), bytes.len())
}

/// The memory of a struct.
#[cfg(feature = "push")]
pub(crate) fn extent<T>(place: *const T) -> Extent {
    (place.cast(), size_of::<T>())
}

/// A result, or what is wrong. A fault of kind `END` is not an error.
pub(crate) type Outcome<T> = Result<T, Fault>;

/// `len` bytes at `data`. NULL is accepted for no bytes.
///
/// # Errors
/// `NULL`; `LENGTH` if the bytes reach beyond the address space.
///
/// # Safety
/// Unless an error is due, the bytes can be read and do not change during `'a`.
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize) -> Outcome<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    check_range(data, len)?;
    // SAFETY: not NULL, inside the address space; the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(data, len) })
}

/// `count` values at `data`, to be written. NULL is accepted for no values.
///
/// # Errors
/// `NULL`, `ALIGNMENT`, `LENGTH`; `OVERLAP` if they lie on one of `inputs`.
///
/// # Safety
/// Unless an error is due, the values can be read and written, and only this call uses them during `'a`. All bit
/// patterns are values of `T`.
pub(crate) unsafe fn output<'a, T>(data: *mut T, count: usize, inputs: &[Extent]) -> Outcome<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    let len = count.checked_mul(size_of::<T>()).ok_or(kinds::LENGTH.fault())?;
    passed(check_output((data.cast_const().cast(), len), align_of::<T>(), inputs))?;
    // SAFETY: not NULL, aligned, inside the address space, apart from the inputs; the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts_mut(data, count) })
}

/// The checks of [`output`]: `OK` or a status.
// Never inlined: every function with an output calls it, for several types.
#[inline(never)]
fn check_output(output: Extent, align: usize, inputs: &[Extent]) -> Status {
    if let Err(fault) = check_range(output.0, output.1) {
        return fault.kind;
    }
    if output.0.addr() & align.wrapping_sub(1) != 0 {
        return kinds::ALIGNMENT.number;
    }
    let meets = inputs.iter().any(|&input| overlap(output, input));
    if meets { kinds::OVERLAP.number } else { OK }
}

/// A status of a check as a result.
fn passed(status: Status) -> Outcome<()> {
    if status == OK { Ok(()) } else { Err(Fault { kind: status, ..Fault::default() }) }
}

/// A copy of a struct.
///
/// # Errors
/// `NULL`, `ALIGNMENT`.
///
/// # Safety
/// Unless an error is due, the struct can be read. All bit patterns are values of `T`.
pub(crate) unsafe fn copy<T: Copy>(from: *const T) -> Outcome<T> {
    check_place(from)?;
    // SAFETY: not NULL and aligned; the rest is the caller's promise.
    Ok(unsafe { from.read() })
}

/// Calls `result` and writes what it returns to `out`; zeros if it fails. `error` is written only if it fails.
///
/// # Safety
/// `out` and `error` are NULL or can be written, and no reference to them is alive.
pub(crate) unsafe fn answer<T: Default>(out: *mut T, error: *mut Fault, result: impl FnOnce() -> Outcome<T>) -> Status {
    // SAFETY: `out` is written if it is not NULL and aligned; the rest is the caller's promise. The borrows of `result`
    // have ended then.
    unsafe {
        if let Err(fault) = check_place(out) {
            return report(error, fault);
        }
        match result() {
            Ok(value) => {
                out.write(value);
                OK
            }
            Err(fault) => {
                out.write(T::default());
                report(error, fault)
            }
        }
    }
}

/// The status of a result without a value. `error` is written only if it failed.
///
/// # Safety
/// `error` is NULL or can be written, and no reference to it is alive.
pub(crate) unsafe fn status(error: *mut Fault, result: Outcome<()>) -> Status {
    match result {
        Ok(()) => OK,
        // SAFETY: the caller's promise.
        Err(fault) => unsafe { report(error, fault) },
    }
}

/// Writes a fault, unless `error` is NULL or unaligned, or the fault is only an end. Returns its status.
///
/// # Safety
/// As for [`status`].
// Never inlined: it is called from every function.
#[inline(never)]
pub(crate) unsafe fn report(error: *mut Fault, fault: Fault) -> Status {
    if fault.kind != END && check_place(error).is_ok() {
        // SAFETY: not NULL and aligned; the rest is the caller's promise.
        unsafe { error.write(fault) };
    }
    fault.kind
}

/// Writes a value, unless `out` is NULL or unaligned.
///
/// # Safety
/// As for [`answer`].
pub(crate) unsafe fn write_if<T>(out: *mut T, value: T) {
    if check_place(out).is_ok() {
        // SAFETY: not NULL and aligned; the rest is the caller's promise.
        unsafe { out.write(value) };
    }
}

/// Checks that a struct can be at `place`.
pub(crate) fn check_place<T>(place: *const T) -> Outcome<()> {
    if place.is_null() {
        return Err(kinds::NULL.fault());
    }
    check_aligned(place)
}

/// Checks that an optional struct can be at `place`, which may be NULL.
pub(crate) fn check_aligned<T>(place: *const T) -> Outcome<()> {
    if place.is_aligned() { Ok(()) } else { Err(kinds::ALIGNMENT.fault()) }
}

/// Checks that two pieces of memory have no byte in common.
#[cfg(feature = "push")]
pub(crate) fn check_apart(a: Extent, b: Extent) -> Outcome<()> {
    if overlap(a, b) { Err(kinds::OVERLAP.fault()) } else { Ok(()) }
}

/// Whether two pieces of memory have a byte in common. NULL leads to no memory.
// Never inlined: every function with an output calls it.
#[inline(never)]
pub(crate) fn overlap((a, a_len): Extent, (b, b_len): Extent) -> bool {
    let (a, b) = (a.addr(), b.addr());
    // Each reaches at most to the end of the address space, so the sums do not overflow.
    a > 0 && a_len > 0 && b_len > 0 && a.saturating_add(a_len) > b && b.saturating_add(b_len) > a
}

fn check_range(data: *const u8, len: usize) -> Outcome<()> {
    if data.is_null() {
        return Err(kinds::NULL.fault());
    }
    if len > isize::MAX as usize || data.addr().checked_add(len).is_none() {
        return Err(kinds::LENGTH.fault());
    }
    Ok(())
}

/// A path or name as text.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn text<'a>(data: *const u8, len: usize) -> Outcome<&'a str> {
    // SAFETY: the caller's promise.
    core::str::from_utf8(unsafe { bytes(data, len)? }).map_err(|_| kinds::UTF8.fault())
}
