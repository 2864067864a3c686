//! Requests for the values of objects: which values, how they are decoded, and where they go.

use std::borrow::Cow;
use std::ffi::{c_char, c_void};

use tgm_std::core::selection::{Pick, Selection};
use tgm_std::{DecodeOptions, Object, Picks, Read};

use crate::archive_object::ObjectHandle;
use crate::args;
use crate::call::call;
use crate::error::{Code, ENCODING, Report, Result, invalid};
use crate::options::{self, DecodeOptionsStruct, sized};
use crate::ranges;

/// A `tgm_read_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ReadRequest {
    struct_size: usize,
    pub(crate) selection: *const c_char,
    range_starts: *const u64,
    range_counts: *const u64,
    num_ranges: usize,
    pub(crate) options: *const DecodeOptionsStruct,
}

impl ReadRequest {
    /// Whether ranges are meant, also if there are none.
    pub(crate) const fn has_ranges(&self) -> bool {
        self.num_ranges > 0 || !self.range_starts.is_null()
    }
}

/// Which values.
enum Wanted {
    All,
    Ranges(Vec<(u64, u64)>),
    Box(Vec<Pick>),
}

/// What a call asks of an object.
pub(crate) struct Request {
    wanted: Wanted,
    pub(crate) options: DecodeOptions,
}

/// The dimensions, the number of elements and the bytes of what is wanted.
pub(crate) struct Extent {
    pub(crate) shape: Vec<u64>,
    pub(crate) size: usize,
}

impl Request {
    /// Reads what is asked of an object into `out`, by `read`.
    ///
    /// # Errors
    /// The errors of `read`.
    pub(crate) fn read_into<T>(
        &self,
        handle: &ObjectHandle,
        out: &mut [T],
        read: impl FnOnce(Read<'_, '_>, &mut [T]) -> tgm_std::Result<()>,
    ) -> Result<()> {
        handle.read_with(|scratch| read(self.of(handle.object()).scratch(scratch), out))
    }

    /// Reads a request for an object. NULL asks for all values, by the default options.
    ///
    /// # Safety
    /// The header's contract.
    unsafe fn new(request: *const ReadRequest, object: &Object<'_>) -> Result<Self> {
        // SAFETY: the header's contract.
        let Some(given) = (unsafe { sized(request, size_of::<ReadRequest>())? }) else {
            return Ok(Self { wanted: Wanted::All, options: DecodeOptions::default() });
        };
        // SAFETY: the header's contract.
        let (text, options, ranges) = unsafe {
            (
                args::optional_text(given.selection, "selection")?,
                options::decoding_struct(given.options)?,
                ranges::read(given.range_starts, given.range_counts, given.num_ranges)?,
            )
        };
        let wanted = match text {
            Some(_) if given.has_ranges() => {
                return Err(invalid("a request is for a selection or for ranges, not for both"));
            }
            Some(text) => Wanted::Box(picks(object, text)?),
            None if given.has_ranges() => Wanted::Ranges(ranges),
            None => Wanted::All,
        };
        Ok(Self { wanted, options })
    }

    /// Whether it asks for all values.
    pub(crate) const fn is_whole(&self) -> bool {
        matches!(self.wanted, Wanted::All)
    }

    /// The request as Rust has it.
    pub(crate) fn of<'r, 's>(&'r self, object: &'r Object<'s>) -> Read<'r, 's> {
        let request = object.read().options(&self.options);
        match &self.wanted {
            Wanted::All => request,
            Wanted::Ranges(ranges) => request.ranges(ranges),
            Wanted::Box(picks) => request.select(picks),
        }
    }

    /// The extent of what is wanted.
    ///
    /// # Errors
    /// ENCODING for ranges and picks that the object does not have, and for values that exceed the address space.
    pub(crate) fn extent(&self, object: &Object<'_>) -> Result<Extent> {
        let dtype = object.dtype();
        let (shape, bytes) = match &self.wanted {
            Wanted::All => (object.shape().to_vec(), Some(object.byte_len())),
            Wanted::Box(picks) => {
                let selection = Selection::new(object.shape().into(), picks)?;
                (selection.shape().collect(), dtype.byte_len(selection.element_count()))
            }
            Wanted::Ranges(ranges) => {
                let (mut count, mut bytes) = (Some(0_u64), Some(0_u64));
                for (start, len) in ranges {
                    let end = start.checked_add(*len).filter(|end| *end <= object.element_count());
                    if end.is_none() {
                        let text = format!("range {start}+{len} exceeds {} elements", object.element_count());
                        return Err(Report::new(ENCODING, text).into());
                    }
                    count = count.and_then(|count| count.checked_add(*len));
                    // Each range of bits begins with a byte of its own.
                    bytes = bytes.and_then(|bytes| bytes.checked_add(dtype.byte_len(*len)?));
                }
                (vec![count.ok_or_else(too_large)?], bytes)
            }
        };
        let size = bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(too_large)?;
        Ok(Extent { shape, size })
    }
}

fn too_large() -> Report {
    Report::new(ENCODING, "the values exceed the address space")
}

/// The picks that a text names for an object.
fn picks(object: &Object<'_>, text: &str) -> Result<Vec<Pick>> {
    let picks = Picks::parse(text).and_then(|picks| picks.resolve(object.shape().iter().copied()));
    Ok(picks.map_err(|error| Report::new(ENCODING, error.to_string()))?)
}

/// An object, and what a call asks of it.
///
/// # Safety
/// The header's contract.
pub(crate) unsafe fn asked<'a>(
    object: *const ObjectHandle,
    request: *const ReadRequest,
) -> Result<(&'a ObjectHandle, Request)> {
    // SAFETY: the caller makes the same promise.
    unsafe {
        let handle = args::required(object)?;
        Ok((handle, Request::new(request, handle.object())?))
    }
}

/// The shape of what a request asks for, and the bytes that it takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_read_size(
    object: *const ObjectHandle,
    request: *const ReadRequest,
    out_shape: *mut u64,
    shape_capacity: usize,
    out_ndim: *mut usize,
    out_size: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let ((handle, request), shape, ndim, size) = unsafe {
            (
                asked(object, request)?,
                args::output_memory(out_shape, shape_capacity)?,
                args::place(out_ndim)?,
                args::place(out_size)?,
            )
        };
        let extent = request.extent(handle.object())?;
        let shape = handle.apart(shape)?;
        shape.iter_mut().zip(&extent.shape).for_each(|(slot, dim)| *slot = *dim);
        ndim.put(extent.shape.len());
        size.put(extent.size);
        Ok(())
    })
}

/// Reads values into memory of the caller, by `read`.
///
/// # Safety
/// The header's contract.
unsafe fn read_into<T>(
    object: *const ObjectHandle,
    request: *const ReadRequest,
    (out, len): (*mut T, usize),
    read: impl FnOnce(Read<'_, '_>, &mut [T]) -> tgm_std::Result<()>,
) -> Code {
    call(|| {
        // SAFETY: the caller makes the same promise.
        let ((handle, request), out) = unsafe { (asked(object, request)?, args::output_memory(out, len)?) };
        request.read_into(handle, handle.apart(out)?, read)
    })
}

/// Reads values as they are.
#[allow(clippy::redundant_closure_for_method_calls, reason = "as a path, the method would be of one lifetime")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_read_into(
    object: *const ObjectHandle,
    request: *const ReadRequest,
    out: *mut c_void,
    out_len: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { read_into(object, request, (out.cast::<u8>(), out_len), |read, out| read.bytes_into(out)) }
}

/// Reads values as `double`, whatever their type is.
#[allow(clippy::redundant_closure_for_method_calls, reason = "as a path, the method would be of one lifetime")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_read_f64(
    object: *const ObjectHandle,
    request: *const ReadRequest,
    out: *mut f64,
    out_count: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { read_into(object, request, (out, out_count), |read, out| read.values_into(out)) }
}

/// Reads values as `float`, whatever their type is.
#[allow(clippy::redundant_closure_for_method_calls, reason = "as a path, the method would be of one lifetime")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_read_f32(
    object: *const ObjectHandle,
    request: *const ReadRequest,
    out: *mut f32,
    out_count: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { read_into(object, request, (out, out_count), |read, out| read.values_into(out)) }
}

/// The values where they lie in memory, if they lie there as the request wants them.
///
/// # Errors
/// `INVALID_ARG` if the object is not in memory; ENCODING if the values have to be decoded, swapped or gathered.
pub(crate) fn in_place(handle: &ObjectHandle, request: &Request) -> Result<&'static [u8]> {
    let view = handle.object().view().ok_or_else(|| invalid("the object is not in memory: open bytes, or a map"))?;
    // What is staged is not decoded in vain.
    view.view_any()?;
    match handle.named(request.of(handle.object()).bytes())? {
        Cow::Borrowed(bytes) => Ok(bytes),
        Cow::Owned(_) => {
            Err(Report::new(ENCODING, "the values do not lie side by side, in the byte order of the request").into())
        }
    }
}

/// The values where they lie.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_read_view(
    object: *const ObjectHandle,
    request: *const ReadRequest,
    out: *mut *const c_void,
    out_len: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let ((handle, request), out, out_len) =
            unsafe { (asked(object, request)?, args::place(out)?, args::place(out_len)?) };
        let bytes = in_place(handle, &request)?;
        out.put(bytes.as_ptr().cast());
        out_len.put(bytes.len());
        Ok(())
    })
}
