//! Bytes of Python objects, borrowed.
//!
//! Only bytes that nobody can change are lent to threads that do not hold the GIL: `bytes`, views of `bytes`, and maps
//! that are read-only (whose file must not change, as for every map). Other buffers, such as a `bytearray`, may be
//! written to by other threads of Python:
//!
//! | the work reads | what happens to a buffer that may change |
//! |---|---|
//! | all of it | it is copied, then worked on without the GIL: the copy costs little beside the work |
//! | parts of it | it is read with the GIL held: nobody changes it meanwhile, and a large map is not copied |
//!
//! An interpreter without the GIL copies in both cases.
//!
//! A borrowed buffer is locked while it is in use: a `bytearray` refuses to change its size, and an `mmap` to close.

use std::ops::Range;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};

use crate::convert::copy::copy;
use crate::work::{attached, detached, has_gil};

/// Buffers up to this size are worked on with the GIL held, whatever the work reads: that takes less time than to give the
/// GIL away.
const SMALL: usize = 4096;

/// How much of a buffer some work reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// All of it.
    All,
    /// Parts of it.
    Parts,
}

/// Bytes of a Python object, which is kept alive.
#[derive(Debug)]
pub(crate) struct Bytes {
    held: Owner,
    /// Whether nobody can change the bytes.
    is_fixed: bool,
}

#[derive(Debug)]
enum Owner {
    Bytes(Py<PyBytes>),
    Buffer(PyBuffer<u8>),
}

impl Bytes {
    /// The bytes of `object`, which is the argument `name`.
    ///
    /// # Errors
    /// `TypeError` for an object without a buffer of bytes; `BufferError` for a buffer with gaps.
    pub(crate) fn borrow(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self { held: Owner::Bytes(bytes.clone().unbind()), is_fixed: true });
        }
        let Ok(buffer) = PyBuffer::<u8>::get(object) else {
            return Err(not_bytes(object, name));
        };
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err(format!(
                "argument '{name}': the bytes of the buffer are not contiguous"
            )));
        }
        let is_fixed = buffer.readonly() && is_immutable(object);
        Ok(Self { held: Owner::Buffer(buffer), is_fixed })
    }

    /// Runs `work` on the bytes, without the GIL if that is safe.
    ///
    /// # Errors
    /// `RuntimeError` for a panic.
    pub(crate) fn run<R: Send>(
        &self,
        py: Python<'_>,
        reads: Reads,
        work: impl FnOnce(&[u8]) -> R + Send,
    ) -> PyResult<R> {
        let bytes = self.while_attached(py);
        if has_gil(py) && (bytes.len() <= SMALL || reads == Reads::Parts && !self.is_fixed) {
            return attached(py, || work(bytes));
        }
        if self.is_fixed {
            return detached(py, || work(bytes));
        }
        let copy = self.to_vec(py)?;
        // The copy is given back within: freeing much memory takes time.
        detached(py, move || work(&copy))
    }

    /// Runs `work`, which reads all of `range`, on these bytes: without the GIL, unless they are few.
    ///
    /// # Errors
    /// `RuntimeError` for a panic.
    #[allow(unsafe_code, reason = "the buffer protocol gives a pointer")]
    pub(crate) fn run_in<R: Send>(
        &self,
        py: Python<'_>,
        range: Range<usize>,
        work: impl FnOnce(&[u8]) -> R + Send,
    ) -> PyResult<R> {
        // A buffer that shrank gives fewer bytes.
        let bytes = self.while_attached(py).get(range).unwrap_or_default();
        if bytes.len() <= SMALL && (self.is_fixed || has_gil(py)) {
            return attached(py, || work(bytes));
        }
        if self.is_fixed {
            return detached(py, || work(bytes));
        }
        // SAFETY: `self` holds the object and its buffer, which keep these bytes in place.
        let copy = unsafe { copy(py, bytes.as_ptr(), bytes.len()) }?;
        detached(py, move || work(&copy))
    }

    /// Whether it takes less time to work on the bytes than to give the GIL away.
    pub(crate) fn is_small(&self, py: Python<'_>) -> bool {
        has_gil(py) && self.while_attached(py).len() <= SMALL
    }

    /// Whether nobody can change the bytes.
    pub(crate) const fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// A copy.
    ///
    /// # Errors
    /// `RuntimeError` for a panic.
    #[allow(unsafe_code, reason = "the buffer protocol gives a pointer")]
    pub(crate) fn to_vec(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let bytes = self.while_attached(py);
        // SAFETY: `self` holds the object and its buffer, which keep these bytes in place.
        unsafe { copy(py, bytes.as_ptr(), bytes.len()) }
    }

    /// The bytes, for as long as the GIL is held and no code of Python runs. If they are fixed, also without the GIL.
    #[allow(unsafe_code, reason = "the buffer protocol gives a pointer")]
    pub(crate) fn while_attached(&self, py: Python<'_>) -> &[u8] {
        match &self.held {
            Owner::Bytes(bytes) => bytes.as_bytes(py),
            Owner::Buffer(buffer) => match buffer.as_slice_ptr() {
                // SAFETY: the exporter keeps the memory in place as long as `buffer` lives, and `self` holds it. The
                // callers above either hold the GIL while they use the slice, so that no thread of Python writes to
                // it, or have made sure that nobody can write (`is_fixed`).
                Some(slice) => unsafe { slice.as_ref() },
                // An empty buffer may have no address.
                None => &[],
            },
        }
    }
}

/// Whether nobody can write into the buffer that `object` exports read-only: a view of `bytes`, an array over `bytes`,
/// or a map.
fn is_immutable(object: &Bound<'_, PyAny>) -> bool {
    /// Views of views of views are not followed further.
    const DEPTH: usize = 8;
    let mut object = object.clone();
    for _ in 0..DEPTH {
        if object.is_exact_instance_of::<PyBytes>() || is_map(&object) {
            return true;
        }
        let attribute = if object.is_instance_of::<PyMemoryView>() { "obj" } else { "base" };
        match object.getattr(attribute) {
            Ok(next) if !next.is_none() => object = next,
            _ => return false,
        }
    }
    false
}

fn is_map(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    class.name().is_ok_and(|name| name == "mmap") && class.module().is_ok_and(|module| module == "mmap")
}

fn not_bytes(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let class = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "argument '{name}': '{class}' object is not an instance of 'bytes | bytearray', nor another buffer of bytes"
    ))
}

/// The bytes of a `bytes` or `bytearray`, and of nothing else.
///
/// # Errors
/// `TypeError` for another object.
pub(crate) fn strictly_bytes(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Bytes> {
    if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        return Bytes::borrow(object, name);
    }
    let class = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("argument '{name}': '{class}' object is not an instance of 'bytes | bytearray'")))
}
