//! Values of objects for other libraries, by DLPack 1.
//!
//! `dlpack.h` defines the structs. A capsule owns one of them until a consumer takes it and renames the capsule.
//! Then the consumer calls the deleter. If nobody takes it, the capsule's destructor does.

use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::ptr;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use tgm_std::{DecodeOptions, Dtype};

use super::numpy_memory::address_of;
use super::object::Object;

/// The processor's memory, as a type of device and a number.
pub(super) const CPU: (i32, i32) = (1, 0);

/// Version 1.0 of the structs.
const VERSION: Version = Version { major: 1, minor: 0 };
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

#[repr(C)]
struct Version {
    major: u32,
    minor: u32,
}

#[repr(C)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Type {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: Type,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct ManagedVersioned {
    version: Version,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: Tensor,
}

/// A struct for a consumer, with what it points to. Its address is the struct's, which comes first.
#[repr(C)]
struct Exported<M> {
    managed: M,
    _shape: Box<[i64]>,
    _strides: Box<[i64]>,
    /// Keeps the values.
    _array: Py<PyAny>,
}

/// The code of DLPack for a type, and its number of bits.
const fn type_of(dtype: Dtype) -> Type {
    let (code, bits) = match dtype {
        Dtype::Int8 => (0, 8),
        Dtype::Int16 => (0, 16),
        Dtype::Int32 => (0, 32),
        Dtype::Int64 => (0, 64),
        Dtype::Uint8 => (1, 8),
        Dtype::Bitmask => (6, 8),
        Dtype::Uint16 => (1, 16),
        Dtype::Uint32 => (1, 32),
        Dtype::Uint64 => (1, 64),
        Dtype::Float16 => (2, 16),
        Dtype::Float32 => (2, 32),
        Dtype::Float64 => (2, 64),
        Dtype::Bfloat16 => (4, 16),
        Dtype::Complex64 => (5, 64),
        Dtype::Complex128 => (5, 128),
    };
    Type { code, bits, lanes: 1 }
}

/// The values of an object as a capsule.
///
/// # Errors
/// `BufferError` for another device or a stream, and if `copy=False` asks for a view where a copy is needed.
pub(super) fn export<'py>(
    object: &Bound<'py, Object>,
    stream: Option<&Bound<'py, PyAny>>,
    max_version: Option<(u32, u32)>,
    device: Option<(i64, i64)>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, this) = (object.py(), object.get());
    if stream.is_some() {
        return Err(PyBufferError::new_err("the values are in the processor's memory, which has no streams"));
    }
    if device.is_some_and(|(kind, id)| (kind, id) != (i64::from(CPU.0), i64::from(CPU.1))) {
        return Err(PyBufferError::new_err("the values are in the processor's memory, device (1, 0)"));
    }
    let is_versioned = max_version.is_some_and(|(major, _)| major >= VERSION.major);
    let view = if copy == Some(true) { None } else { lendable(object, is_versioned)? };
    let (array, flags) = match view {
        Some(array) => (array, READ_ONLY),
        None if copy == Some(false) => {
            return Err(PyBufferError::new_err(
                "a copy is needed: the values are read-only and the consumer is older than DLPack 1, or not aligned",
            ));
        }
        None => (this.decode_new(py, &DecodeOptions::default())?, IS_COPIED),
    };
    let array = array.cast_into::<PyUntypedArray>()?;
    let shape = &this.facts().shape;
    if is_versioned {
        capsule::<ManagedVersioned>(&array, this, shape, flags)
    } else {
        capsule::<Managed>(&array, this, shape, flags)
    }
}

/// The read-only array for a consumer that supports read-only data.
fn lendable<'py>(object: &Bound<'py, Object>, is_versioned: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !is_versioned {
        return Ok(None);
    }
    let array = Object::values(object)?;
    let is_aligned = array.getattr("flags")?.getattr("aligned")?.is_truthy()?;
    Ok(is_aligned.then_some(array))
}

/// A struct of either kind.
trait Struct: Sized {
    const NAME: &'static CStr;

    fn new(tensor: Tensor, flags: u64) -> Self;
}

impl Struct for Managed {
    const NAME: &'static CStr = PLAIN;

    fn new(tensor: Tensor, _flags: u64) -> Self {
        Self { tensor, context: ptr::null_mut(), deleter: Some(delete::<Self>) }
    }
}

impl Struct for ManagedVersioned {
    const NAME: &'static CStr = VERSIONED;

    fn new(tensor: Tensor, flags: u64) -> Self {
        Self { version: VERSION, context: ptr::null_mut(), deleter: Some(delete::<Self>), flags, tensor }
    }
}

/// Frees a struct and what it points to. It may be called without the GIL, which giving up the array takes. If the
/// interpreter ends, nothing is freed.
#[allow(unsafe_code, reason = "memory that C code gives back")]
unsafe extern "C" fn delete<M>(managed: *mut M) {
    if !managed.is_null() {
        // SAFETY: the struct is the first field of the `Exported` that `capsule` leaked, so both have one address. A
        // consumer calls this once, as the format asks.
        let exported = unsafe { Box::from_raw(managed.cast::<Exported<M>>()) };
        let mut exported = ManuallyDrop::new(exported);
        // SAFETY: it is dropped once, here.
        Python::try_attach(|_| unsafe { ManuallyDrop::drop(&mut exported) });
    }
}

#[allow(unsafe_code, reason = "a capsule owns memory that C code gives back")]
fn capsule<'py, M: Struct>(
    array: &Bound<'py, PyUntypedArray>,
    object: &Object,
    shape: &[u64],
    flags: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let mut dims = shape.iter().map(|&dim| i64::try_from(dim)).collect::<Result<Box<[i64]>, _>>()?;
    let mut strides = vec![1_i64; dims.len()].into_boxed_slice();
    let mut below = 1_i64;
    for (stride, dim) in strides.iter_mut().zip(&dims).rev() {
        *stride = below;
        below = below.saturating_mul(*dim);
    }
    let tensor = Tensor {
        data: if array.is_empty() { ptr::null_mut() } else { address_of(array).cast() },
        device: Device { kind: CPU.0, id: CPU.1 },
        ndim: i32::try_from(dims.len())?,
        dtype: type_of(object.facts().dtype),
        shape: dims.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let exported = Exported {
        managed: M::new(tensor, flags),
        _shape: dims,
        _strides: strides,
        _array: array.clone().into_any().unbind(),
    };
    let managed: *mut M = Box::into_raw(Box::new(exported)).cast();
    // SAFETY: the pointer is not null, and the name lives forever.
    let capsule = unsafe { ffi::PyCapsule_New(managed.cast(), M::NAME.as_ptr(), Some(end::<M>)) };
    if capsule.is_null() {
        // SAFETY: nobody else has the struct.
        unsafe { delete::<M>(managed) };
    }
    // SAFETY: a new reference, or null and an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

/// Frees the struct of a capsule that nobody took.
#[allow(unsafe_code, reason = "the destructor of a capsule")]
unsafe extern "C" fn end<M: Struct>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with the capsule. One that was taken has another name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) == 1 {
            delete::<M>(ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast());
        }
    }
}
