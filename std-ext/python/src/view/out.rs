//! Decoding into an array of the caller.

use std::ops::Range;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use tgm_std::core::selection::Pick;
use tgm_std::{DecodeOptions, Dtype, Read, Result};

use super::numpy_memory::{self, address_of};
use super::object::Object;

/// How values get into the array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As bytes of their own type.
    Bytes,
    /// Converted.
    Float32,
    Float64,
    /// Bits as truth values.
    Bools,
}

/// Writes the values of `object` to all of `out`.
///
/// # Errors
/// `TypeError` unless `out` is an array; `ValueError` if the values do not fit it; the errors of decoding.
pub(super) fn decode_into(object: &Bound<'_, Object>, out: &Bound<'_, PyAny>, options: &DecodeOptions) -> PyResult<()> {
    let Ok(array) = out.cast::<PyUntypedArray>() else {
        let class = out.get_type().name()?;
        return Err(PyTypeError::new_err(format!("argument 'out': a numpy array is expected, not {class}")));
    };
    let way = way(object.get(), object.py(), array, options)?;
    check_shape(&object.get().facts().shape, array)?;
    if let Some(text) = misfit(array)? {
        return Err(PyValueError::new_err(format!("argument 'out': {text}")));
    }
    values_into(object, None, way, array, options)
}

/// Writes the values of a box to all of `out`, and returns whether it did: numpy can write to arrays of other layouts, and
/// of truth values. The box is given by picks, and its dimensions.
///
/// # Errors
/// As [`decode_into`].
pub(super) fn box_into(
    object: &Bound<'_, Object>,
    (picks, shape): (&[Pick], &[u64]),
    out: &Bound<'_, PyAny>,
    options: &DecodeOptions,
) -> PyResult<bool> {
    let Ok(array) = out.cast::<PyUntypedArray>() else { return Ok(false) };
    check_shape(shape, array)?;
    let way = way(object.get(), object.py(), array, options)?;
    if way == Way::Bools || misfit(array)?.is_some() {
        return Ok(false);
    }
    values_into(object, Some(picks), way, array, options)?;
    Ok(true)
}

/// Writes values to an array that was looked at.
fn values_into(
    object: &Bound<'_, Object>,
    picks: Option<&[Pick]>,
    way: Way,
    array: &Bound<'_, PyUntypedArray>,
    options: &DecodeOptions,
) -> PyResult<()> {
    let (py, this) = (object.py(), object.get());
    let len = array.len().saturating_mul(array.dtype().itemsize());
    let address = address_of(array) as usize;
    if !this.is_elsewhere() {
        let memory = this.owner().get().memory(py)?;
        let whole = memory.address(py, &(0..memory.len(py))).map_or(0, |start| start as usize);
        if overlap(&(whole..whole.saturating_add(memory.len(py))), &(address..address.saturating_add(len))) {
            return Err(PyValueError::new_err("argument 'out': the array shares memory with the message"));
        }
    }
    let count = array.len();
    this.request(py, |request| {
        let request = if let Some(picks) = picks { request.select(picks) } else { request };
        write(request.options(options), way, address, len, count)
    })
}

/// The way in which the values get into an array of that dtype.
fn way(object: &Object, py: Python<'_>, array: &Bound<'_, PyUntypedArray>, options: &DecodeOptions) -> PyResult<Way> {
    let expected = object.descr(py)?;
    let given = array.dtype();
    if given.is_equiv_to(expected) {
        return Ok(if object.facts().dtype == Dtype::Bitmask { Way::Bools } else { Way::Bytes });
    }
    let is_float = |dtype| numpy_memory::descr(py, dtype, false).map(|float| given.is_equiv_to(&float));
    let is_real = !matches!(object.facts().dtype, Dtype::Complex64 | Dtype::Complex128 | Dtype::Bitmask);
    if is_real && options.native_byte_order {
        if is_float(Dtype::Float32)? {
            return Ok(Way::Float32);
        }
        if is_float(Dtype::Float64)? {
            return Ok(Way::Float64);
        }
    }
    Err(PyValueError::new_err(format!("argument 'out': dtype {expected} is expected, not {given}")))
}

fn check_shape(expected: &[u64], array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let given = array.shape();
    if given.iter().map(|&dim| dim as u64).eq(expected.iter().copied()) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("argument 'out': shape {expected:?} is expected, not {given:?}")))
}

/// Why the memory of an array cannot be written to as a slice.
fn misfit(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<&'static str>> {
    let flags = array.getattr("flags")?;
    for (flag, text) in [
        ("writeable", "the array is read-only"),
        ("c_contiguous", "the array is not C-contiguous"),
        ("aligned", "the array is not aligned"),
    ] {
        if !flags.getattr(flag)?.is_truthy()? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

const fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Writes the values to the memory of an array.
#[allow(unsafe_code, reason = "numpy gives an address")]
fn write(request: Read<'_, '_>, way: Way, address: usize, len: usize, count: usize) -> Result<()> {
    if len == 0 {
        return request.bytes_into(&mut []);
    }
    // SAFETY, for the slices: the caller has checked that the array is writable, contiguous and aligned, has
    // `count` elements of the slice's type, or `len` bytes, and shares no memory with the message. It holds the array
    // meanwhile, so numpy does not free or resize it. Another thread that reads or writes the array meanwhile sees what
    // it would see with a function of numpy that gives the GIL away: some old and some new values.
    match way {
        Way::Bytes | Way::Bools => {
            // SAFETY: above. numpy's truth values are bytes, 0 or 1.
            let out = unsafe { std::slice::from_raw_parts_mut(address as *mut u8, len) };
            if way == Way::Bytes {
                return request.bytes_into(out);
            }
            let packed = request.bytes()?;
            for (places, byte) in out.chunks_mut(8).zip(packed.iter().copied()) {
                places.iter_mut().enumerate().for_each(|(bit, place)| *place = byte << bit >> 7);
            }
            Ok(())
        }
        Way::Float32 => {
            // SAFETY: above.
            let out = unsafe { std::slice::from_raw_parts_mut(address as *mut f32, count) };
            request.values_into(out)
        }
        Way::Float64 => {
            // SAFETY: above.
            let out = unsafe { std::slice::from_raw_parts_mut(address as *mut f64, count) };
            request.values_into(out)
        }
    }
}
