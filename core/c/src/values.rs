//! The values of objects: in place, or decoded into the caller's memory.

use core::ops::Range;

use tgm_core::ErrorKind;
use tgm_core::descriptor::ByteOrder;
#[cfg(feature = "szip")]
use tgm_core::descriptor::Compression;
use tgm_core::object::DataObject;

use crate::abi::{Fault, Slice, Status};
use crate::object::{Object, ask_object, order_of, with_object};
use crate::pointers::{Outcome, check_aligned, output, span, write_if};

/// The range of `count` elements from `start` on; of all of them if `count` is `TGMC_ALL`.
pub(crate) fn range(object: &DataObject<'_>, start: u64, count: u64) -> Outcome<Range<u64>> {
    let all = object.descriptor().element_count();
    let end = if count == u64::MAX { Some(all) } else { start.checked_add(count) };
    let end = end.filter(|&end| start <= end && end <= all);
    Ok(start..end.ok_or(ErrorKind::RangeOutOfBounds.at(object.region_offset()))?)
}

/// Bytes of the values of a range.
fn len_of(object: &DataObject<'_>, range: &Range<u64>) -> Outcome<usize> {
    let len = object.descriptor().dtype().byte_len(range.end.saturating_sub(range.start));
    let len = len.and_then(|len| usize::try_from(len).ok());
    Ok(len.ok_or(ErrorKind::TooLarge.at(object.descriptor().offset()))?)
}

/// The values in place.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_view"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_view(
    object: *const Object,
    values: *mut Slice,
    swapped: *mut u8,
    error: *mut Fault,
) -> Status {
    let mut other_order = false;
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        let status = ask_object(object, values, error, |opened| {
            check_aligned(swapped)?;
            let view = opened.object.view_any()?;
            let descriptor = opened.object.descriptor();
            other_order = descriptor.byte_order() != ByteOrder::NATIVE && descriptor.dtype().swap_unit_size() > 1;
            Ok(view.as_bytes().into())
        });
        write_if(swapped, u8::from(other_order));
        status
    }
}

/// Bytes of decoded values.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_decoded_len"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_decoded_len(
    object: *const Object,
    start: u64,
    count: u64,
    len: *mut usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe { ask_object(object, len, error, |opened| len_of(&opened.object, &range(&opened.object, start, count)?)) }
}

/// Bytes of scratch memory that decoding needs.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_scratch_len"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_scratch_len(object: *const Object, len: *mut usize, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        ask_object(object, len, error, |opened| {
            let len = usize::try_from(opened.object.scratch_len()?).ok();
            Ok(len.ok_or(ErrorKind::TooLarge.at(opened.object.descriptor().offset()))?)
        })
    }
}

/// Decodes values to bytes.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_decode"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_decode(
    object: *const Object,
    start: u64,
    count: u64,
    order: u8,
    out: *mut u8,
    out_len: usize,
    scratch: *mut u8,
    scratch_len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        with_object(object, error, |object, bytes| {
            let scratch = output(scratch, scratch_len, &[span(bytes)])?;
            let out = output(out, out_len, &[span(bytes), span(scratch)])?;
            let range = range(object, start, count)?;
            if len_of(object, &range)? != out.len() {
                return Err(ErrorKind::OutputLength.at(object.region_offset()).into());
            }
            decode(object, range, order_of(order)?, out, scratch)
        })
    }
}

/// Decodes `range` to `out`, which has its length.
fn decode(
    object: &DataObject<'_>,
    range: Range<u64>,
    order: ByteOrder,
    out: &mut [u8],
    scratch: &mut [u8],
) -> Outcome<()> {
    #[cfg(feature = "szip")]
    if object.descriptor().compression().known() == Some(Compression::Szip) {
        return crate::szip::decode_object(object, range, order, out, scratch);
    }
    let _ = scratch;
    Ok(object.decode_into(range, order, out)?)
}

/// Decodes values that are not compressed to bytes.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_decode_stored"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_decode_stored(
    object: *const Object,
    start: u64,
    count: u64,
    order: u8,
    out: *mut u8,
    out_len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        with_object(object, error, |object, bytes| {
            let out = output(out, out_len, &[span(bytes)])?;
            Ok(object.decode_into(range(object, start, count)?, order_of(order)?, out)?)
        })
    }
}

/// Restores masked values.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg(feature = "masks")]
#[cfg_attr(any(not(chosen), only = "tgmc_object_restore"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_restore(
    object: *const Object,
    start: u64,
    order: u8,
    values: *mut u8,
    len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        with_object(object, error, |object, bytes| {
            Ok(object.restore_into(start, order_of(order)?, output(values, len, &[span(bytes)])?)?)
        })
    }
}

/// The bits of one mask.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg(feature = "masks")]
#[cfg_attr(any(not(chosen), only = "tgmc_object_mask_bits"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_mask_bits(
    object: *const Object,
    mask: u8,
    start: u64,
    count: u64,
    bits: *mut u8,
    bits_len: usize,
    error: *mut Fault,
) -> Status {
    use crate::kinds::AT_END;
    use crate::object::mask_kind;

    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        with_object(object, error, |object, bytes| {
            let bits = output(bits, bits_len, &[span(bytes)])?;
            let entry = object.descriptor().masks().get(mask_kind(mask)?).ok_or(AT_END)?;
            let base = object.region_offset().saturating_add(entry.offset());
            Ok(object.mask(&entry)?.bits_into(start, count, bits).map_err(|error| error.shift(base))?)
        })
    }
}
