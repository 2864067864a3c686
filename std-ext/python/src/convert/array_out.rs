//! Values of objects as arrays of numpy.

use std::ffi::c_int;
use std::ptr;

use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{
    IntoPyArray, PyArray1, PyArrayDescr, PyArrayDescrMethods as _, PyUntypedArray, PyUntypedArrayMethods as _, npyffi,
};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use tgm_std::{DataObjectDescriptor, Dtype};

/// Values up to this many bytes are copied into memory of numpy.
const SMALL: usize = 4096;

/// The encoding whose values are float64, whatever the descriptor's dtype.
const PACKED: &str = "simple_packing";

/// The type of an object's decoded values.
pub(crate) fn decoded_dtype(descriptor: &DataObjectDescriptor) -> Dtype {
    if descriptor.encoding == PACKED { Dtype::Float64 } else { descriptor.dtype }
}

/// The dtype of numpy for an element type, in this machine's byte order: a bitmask's is bool. bfloat16 comes
/// from the package `ml_dtypes` if it is installed, and is uint16 otherwise.
///
/// # Errors
/// The errors of importing numpy.
pub(crate) fn numpy_dtype(py: Python<'_>, dtype: Dtype) -> PyResult<&Bound<'_, PyAny>> {
    static DTYPES: [PyOnceLock<Py<PyAny>>; 15] = [const { PyOnceLock::new() }; 15];
    let at = dtype as usize;
    let Some(slot) = DTYPES.get(at) else {
        return Err(PyValueError::new_err(format!("dtype {} has no counterpart in numpy", dtype.name())));
    };
    let found = slot.get_or_try_init(py, || {
        let numpy = py.import(intern!(py, "numpy"))?;
        let name = match dtype {
            Dtype::Bitmask => "bool",
            Dtype::Bfloat16 => match py.import(intern!(py, "ml_dtypes")) {
                Ok(module) => {
                    let class = module.getattr(intern!(py, "bfloat16"))?;
                    return numpy.call_method1(intern!(py, "dtype"), (class,)).map(Bound::unbind);
                }
                Err(_) => "uint16",
            },
            dtype => dtype.name(),
        };
        numpy.call_method1(intern!(py, "dtype"), (name,)).map(Bound::unbind)
    })?;
    Ok(found.bind(py))
}

/// What a bitmask becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    /// An array of bool of the object's shape.
    Truths,
    /// A flat array of its bytes, as the module `tensogram` has it.
    Packed,
}

/// An array of `values` of type `dtype`, which it takes over without a copy. It is writable and belongs to nobody else.
///
/// The shape is `shape`, but for packed bits.
///
/// # Errors
/// `ValueError` for more dimensions than numpy has.
pub(crate) fn array<'py>(
    py: Python<'py>,
    dtype: Dtype,
    shape: &[u64],
    values: Vec<u8>,
    bits: Bits,
) -> PyResult<Bound<'py, PyAny>> {
    if dtype != Dtype::Bitmask && values.len() <= SMALL {
        return small(py, dtype, shape, &values);
    }
    let flat = match (dtype, bits) {
        (Dtype::Bitmask, Bits::Packed) => return flat(py, dtype, values),
        (Dtype::Bitmask, Bits::Truths) => bools(py, shape, values)?,
        _ => flat(py, dtype, values)?,
    };
    if matches!(shape, [_]) {
        return Ok(flat);
    }
    let dims = PyTuple::new(py, shape)?;
    flat.call_method1(intern!(py, "reshape"), (dims,)).map_err(|error| too_deep(py, shape, error))
}

/// The error of an array that numpy does not make, which may be for its dimensions.
fn too_deep(py: Python<'_>, shape: &[u64], error: PyErr) -> PyErr {
    if shape.len() <= 32 {
        return error;
    }
    let (rank, text) = (shape.len(), error.value(py));
    PyValueError::new_err(format!("the number of dimensions, {rank}, is more than numpy has: {text}"))
}

/// An array over the memory at `address`, which `owner` keeps: it is read-only, and keeps `owner`. Without an owner, a writable
/// array in memory of numpy's own, without content.
///
/// # Safety
/// With an owner, as many bytes as an array of that shape and dtype has lie from `address` on, for as long as `owner` lives.
/// Without one, `address` is null.
///
/// # Errors
/// `ValueError` for more dimensions than numpy has.
#[allow(unsafe_code, reason = "numpy's C interface makes arrays over foreign memory")]
pub(crate) unsafe fn array_at<'py>(
    owner: Option<&Bound<'py, PyAny>>,
    dtype: &Bound<'py, PyArrayDescr>,
    shape: &[u64],
    address: *const u8,
) -> PyResult<Bound<'py, PyAny>> {
    let py = dtype.py();
    let dims = shape.iter().map(|&dim| npy_intp::try_from(dim)).collect::<Result<Vec<_>, _>>();
    let mut dims = dims.map_err(|_| PyValueError::new_err("a dimension is larger than numpy has"))?;
    let rank = c_int::try_from(dims.len()).unwrap_or(c_int::MAX);
    // SAFETY: `dims` has `rank` lengths. numpy takes over the reference to the dtype, which is why it is a new one. It
    // makes strides of its own, and checks rank and size. The flags leave out WRITEABLE, so nobody writes through the
    // array to memory that is `const` here; memory of numpy's own is writable. The result is a new reference, or null and an
    // exception.
    let array = unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            dtype.clone().into_ptr().cast(),
            rank,
            dims.as_mut_ptr(),
            ptr::null_mut(),
            address.cast_mut().cast(),
            0,
            ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)
    };
    let array = array.map_err(|error| too_deep(py, shape, error))?;
    let Some(owner) = owner else { return Ok(array) };
    // SAFETY: the array is new, and numpy takes over the new reference to its owner, also if it fails.
    let failed = unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), owner.clone().into_ptr()) };
    if failed < 0 { Err(PyErr::fetch(py)) } else { Ok(array) }
}

/// An array of few values in memory of numpy, which takes less time than to hand memory over.
#[allow(unsafe_code, reason = "numpy gives the address of an array's memory")]
fn small<'py>(py: Python<'py>, dtype: Dtype, shape: &[u64], values: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let descr = numpy_dtype(py, dtype)?.clone().cast_into::<PyArrayDescr>()?;
    // SAFETY: there is no owner and no address, so the memory is numpy's.
    let array = unsafe { array_at(None, &descr, shape, ptr::null()) };
    let array = array?.cast_into::<PyUntypedArray>()?;
    if array.len().saturating_mul(array.dtype().itemsize()) != values.len() {
        return Err(PyValueError::new_err(format!("{} bytes are not the values of shape {shape:?}", values.len())));
    }
    // SAFETY: the array is new and contiguous, has as many bytes as `values`, and no other code has a reference to it yet.
    unsafe {
        let data: *mut u8 = (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast();
        ptr::copy_nonoverlapping(values.as_ptr(), data, values.len());
    }
    Ok(array.into_any())
}

/// A flat array of the truth values that are packed into `bytes`, the highest bit first. Their number is the product of
/// `shape`; bits after the last one fill its byte.
///
/// # Errors
/// `OverflowError` for more values than this machine can address; `MemoryError`.
pub(crate) fn bools<'py>(py: Python<'py>, shape: &[u64], bytes: Vec<u8>) -> PyResult<Bound<'py, PyAny>> {
    let count = shape.iter().try_fold(1_isize, |count, &dim| count.checked_mul(isize::try_from(dim).ok()?));
    let count = count.ok_or_else(|| PyOverflowError::new_err("a bitmask has more values than can be addressed"))?;
    let keys = PyDict::new(py);
    keys.set_item("count", count)?;
    let bytes = PyArray1::from_vec(py, bytes);
    let bits = py.import(intern!(py, "numpy"))?.call_method(intern!(py, "unpackbits"), (bytes,), Some(&keys))?;
    bits.call_method1(intern!(py, "view"), (numpy_dtype(py, Dtype::Bitmask)?,))
}

/// An array of one dimension over `values`, which it takes over without a copy.
///
/// # Errors
/// The errors of importing numpy.
pub(crate) fn flat(py: Python<'_>, dtype: Dtype, values: Vec<u8>) -> PyResult<Bound<'_, PyAny>> {
    flat_view(PyArray1::from_vec(py, values).into_any(), dtype)
}

/// A flat array of bytes as one of their type.
///
/// # Errors
/// The errors of importing numpy.
pub(crate) fn flat_view(bytes: Bound<'_, PyAny>, dtype: Dtype) -> PyResult<Bound<'_, PyAny>> {
    let py = bytes.py();
    if matches!(dtype, Dtype::Uint8 | Dtype::Bitmask) {
        return Ok(bytes);
    }
    bytes.call_method1(intern!(py, "view"), (numpy_dtype(py, dtype)?,))
}

/// A flat array of truth values.
pub(crate) fn truths(py: Python<'_>, truths: Vec<bool>) -> Bound<'_, PyAny> {
    truths.into_pyarray(py).into_any()
}
