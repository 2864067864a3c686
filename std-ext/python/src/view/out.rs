//! Decoding into an array of the caller.

use std::ops::Range;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tgm_std::core::object::DataObject;
use tgm_std::{DecodeOptions, Dtype, Result, Scratch, read};

use super::borrowed::{self, address_of};
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
    let (py, this) = (object.py(), object.get());
    let Ok(array) = out.cast::<PyUntypedArray>() else {
        let class = out.get_type().name()?;
        return Err(PyTypeError::new_err(format!("argument 'out': a numpy array is expected, not {class}")));
    };
    let way = way(this, py, array, options)?;
    check_layout(this, array)?;
    let len = array.len().saturating_mul(array.dtype().itemsize());
    if this.elsewhere().is_some() {
        if len > 0 && way == Way::Bytes && this.is_plain(options) {
            let flat = array.call_method1("reshape", (-1,))?.call_method1("view", ("uint8",))?;
            return this.fill(&flat);
        }
        if options.verify_hash {
            // The rules of the whole message say whether there is a digest, so all of it is decoded first.
            let values = this.decode_new(py, options)?;
            let keys = PyDict::new(py);
            keys.set_item("casting", "unsafe")?;
            return py.import("numpy")?.call_method("copyto", (array, values), Some(&keys)).map(drop);
        }
    }
    let address = address_of(array) as usize;
    let memory = this.owner().get().memory(py)?;
    let whole = memory.address(py, &(0..memory.len(py))).map_or(0, |start| start as usize);
    if overlap(&(whole..whole.saturating_add(memory.len(py))), &(address..address.saturating_add(len))) {
        return Err(PyValueError::new_err("argument 'out': the array shares memory with the message"));
    }
    let count = array.len();
    this.run(py, |object| write(object, options, way, address, len, count))
}

/// The way in which the values get into an array of that dtype.
fn way(object: &Object, py: Python<'_>, array: &Bound<'_, PyUntypedArray>, options: &DecodeOptions) -> PyResult<Way> {
    let expected = object.descr(py)?;
    let given = array.dtype();
    if given.is_equiv_to(expected) {
        return Ok(if object.facts().dtype == Dtype::Bitmask { Way::Bools } else { Way::Bytes });
    }
    let is_float = |dtype| borrowed::descr(py, dtype, false).map(|float| given.is_equiv_to(&float));
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

fn check_layout(object: &Object, array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let expected = &object.facts().shape;
    if !array.shape().iter().map(|&dim| dim as u64).eq(expected.iter().copied()) {
        let given = array.shape();
        return Err(PyValueError::new_err(format!("argument 'out': shape {expected:?} is expected, not {given:?}")));
    }
    let flags = array.getattr("flags")?;
    for (flag, text) in [
        ("writeable", "the array is read-only"),
        ("c_contiguous", "the array is not C-contiguous"),
        ("aligned", "the array is not aligned"),
    ] {
        if !flags.getattr(flag)?.is_truthy()? {
            return Err(PyValueError::new_err(format!("argument 'out': {text}")));
        }
    }
    Ok(())
}

const fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Writes the values to the memory of an array.
#[allow(unsafe_code, reason = "numpy gives an address")]
fn write(
    object: &DataObject<'_>,
    options: &DecodeOptions,
    way: Way,
    address: usize,
    len: usize,
    count: usize,
) -> Result<()> {
    let scratch = &mut Scratch::default();
    if len == 0 {
        return read(object).options(options).scratch(scratch).bytes_into(&mut []);
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
                return read(object).options(options).scratch(scratch).bytes_into(out);
            }
            let packed = read(object).options(options).bytes()?;
            for (places, byte) in out.chunks_mut(8).zip(packed.iter().copied()) {
                places.iter_mut().enumerate().for_each(|(bit, place)| *place = byte << bit >> 7);
            }
            Ok(())
        }
        Way::Float32 => {
            // SAFETY: above.
            let out = unsafe { std::slice::from_raw_parts_mut(address as *mut f32, count) };
            read(object).options(options).scratch(scratch).values_into(out)
        }
        Way::Float64 => {
            // SAFETY: above.
            let out = unsafe { std::slice::from_raw_parts_mut(address as *mut f64, count) };
            read(object).options(options).scratch(scratch).values_into(out)
        }
    }
}
