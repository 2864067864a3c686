//! The values of objects as floats.

#[cfg(feature = "szip")]
use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter};
use tgm_core::object::DataObject;

use crate::abi::{Fault, Status};
use crate::float::Float;
use crate::object::{Object, with_object};
use crate::pointers::{Outcome, output, span};
use crate::values::range;

/// Packed values from `start` on.
fn unpack<T: Float>(object: &DataObject<'_>, start: u64, out: &mut [T]) -> Outcome<()> {
    range(object, start, out.len() as u64)?;
    #[cfg(feature = "szip")]
    let descriptor = object.descriptor();
    #[cfg(feature = "szip")]
    if descriptor.compression().known() == Some(Compression::Szip)
        && descriptor.filter().known() == Some(Filter::None)
        && descriptor.encoding().known() == Some(Encoding::SimplePacking)
        && descriptor.dtype() == Dtype::Float64
    {
        return crate::szip::unpack(object, start, out);
    }
    let stored = object.stored()?;
    Ok(stored.unpack_into(start, out).map_err(|error| error.shift(object.region_offset()))?)
}

/// Packed values out of szip from `start` on.
#[cfg(feature = "szip")]
fn unszip<T: Float>(object: &DataObject<'_>, start: u64, out: &mut [T]) -> Outcome<()> {
    range(object, start, out.len() as u64)?;
    crate::szip::unpack(object, start, out)
}

/// Writes values that `unpack` gets, from `start` on.
///
/// # Safety
/// As `tgm_core.h` says.
unsafe fn unpack_to<T: Float>(
    object: *const Object,
    start: u64,
    out: *mut T,
    count: usize,
    error: *mut Fault,
    unpack: impl FnOnce(&DataObject<'_>, u64, &mut [T]) -> Outcome<()>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with_object(object, error, |object, bytes| unpack(object, start, output(out, count, &[span(bytes)])?)) }
}

/// Unpacks to singles.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_unpack_f32"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_unpack_f32(
    object: *const Object,
    start: u64,
    out: *mut f32,
    count: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe { unpack_to(object, start, out, count, error, unpack) }
}

/// Unpacks to doubles.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_unpack_f64"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_unpack_f64(
    object: *const Object,
    start: u64,
    out: *mut f64,
    count: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe { unpack_to(object, start, out, count, error, unpack) }
}

/// Writes all values.
///
/// # Safety
/// As `tgm_core.h` says.
unsafe fn read_to<T: Float>(
    object: *const Object,
    out: *mut T,
    count: usize,
    scratch: *mut u8,
    scratch_len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        with_object(object, error, |object, bytes| {
            let scratch = output(scratch, scratch_len, &[span(bytes)])?;
            let out = output(out, count, &[span(bytes), span(scratch)])?;
            Ok(object.decode_floats_into(scratch, out)?)
        })
    }
}

/// All values as singles.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_read_f32"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_read_f32(
    object: *const Object,
    out: *mut f32,
    count: usize,
    scratch: *mut u8,
    scratch_len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe { read_to(object, out, count, scratch, scratch_len, error) }
}

/// All values as doubles.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_read_f64"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_read_f64(
    object: *const Object,
    out: *mut f64,
    count: usize,
    scratch: *mut u8,
    scratch_len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe { read_to(object, out, count, scratch, scratch_len, error) }
}

/// Unpacks to singles out of szip.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg(feature = "szip")]
#[cfg_attr(any(not(chosen), only = "tgmc_object_unszip_f32"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_unszip_f32(
    object: *const Object,
    start: u64,
    out: *mut f32,
    count: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe { unpack_to(object, start, out, count, error, unszip) }
}

/// Unpacks to doubles out of szip.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg(feature = "szip")]
#[cfg_attr(any(not(chosen), only = "tgmc_object_unszip_f64"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_unszip_f64(
    object: *const Object,
    start: u64,
    out: *mut f64,
    count: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe { unpack_to(object, start, out, count, error, unszip) }
}
