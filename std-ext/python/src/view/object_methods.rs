//! The methods of `Object` in Python.

use std::ffi::c_int;

use numpy::{PyArray1, PyArrayDescr};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tgm_std::codec::memory::owned;
use tgm_std::{DecodeOptions, Dtype};

use super::message::Message;
use super::object::Object;
use super::objects;
use super::read::{Request, read as read_request};
use super::{buffer_protocol, dlpack, numpy_memory, out, select, show};
use crate::convert::arguments::decoding;
use crate::convert::cbor_out;
use crate::descriptor::DataObjectDescriptor;

/// An object of a message, which a pickled object consists of.
#[pyfunction]
pub(crate) fn _object(message: &Bound<'_, Message>, number: usize) -> PyResult<Object> {
    Object::new(message, number)
}

#[pymethods]
impl Object {
    /// The values as a read-only array of numpy.
    ///
    /// It is a view of the map or buffer if `is_view` says so: O(1), and no memory. Otherwise the values are decoded
    /// when they are first asked for, and kept as long as the object lives. (If the buffer may change, they are decoded
    /// each time.) The digest is not checked: `decode(verify_hash=True)` does that. A bitmask gives truth values.
    #[getter]
    fn array<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::values(slf)
    }

    /// Whether `array` is a view: no stage, no mask, this machine's byte order, and not a bitmask.
    #[getter]
    fn is_view(&self) -> bool {
        self.is_in_place()
    }

    /// The stored values as they lie, as a view in the stored byte order, such as `>f4`. For a bitmask these are bytes of
    /// packed bits.
    ///
    /// Raises ValueError if a stage or a mask stands between the payload and the values.
    fn stored<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let facts = slf.get().facts();
        let Some(start) = facts.stored else {
            return Err(PyValueError::new_err("the values are not stored as they are: use array or read()"));
        };
        let (py, this) = (slf.py(), slf.get());
        if this.is_elsewhere() {
            let (dtype, shape) = facts.stored_form();
            let dtype = numpy_memory::descr(py, dtype, facts.is_swapped)?;
            let options = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
            let bytes = this.request(py, |request| Ok(owned(request.options(&options).bytes()?)?))?;
            let array = PyArray1::from_vec(py, bytes).call_method1("view", (dtype,))?;
            let array = array.call_method1("reshape", (PyTuple::new(py, shape)?,))?;
            array.getattr("flags")?.setattr("writeable", false)?;
            return Ok(array);
        }
        Self::view_at(slf, &numpy_memory::descr(py, facts.stored_form().0, facts.is_swapped)?, start)
    }

    /// The dimensions, slowest first.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.facts().shape_tuple(py)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.facts().shape.len()
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> u64 {
        self.facts().element_count
    }

    /// The dtype of the values, in this machine's byte order. A bitmask's is bool.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        self.descr(py).cloned()
    }

    /// The number of bytes of the values.
    #[getter]
    fn nbytes(&self) -> u64 {
        if self.facts().dtype == Dtype::Bitmask { self.facts().element_count } else { self.facts().decoded_len }
    }

    /// The number of bytes of the payload, as it is stored.
    #[getter]
    fn stored_nbytes(&self) -> usize {
        self.facts().payload_len
    }

    /// The names of the stages between the values and the payload: of encoding, filter and compression those that are not
    /// "none".
    #[getter]
    fn stages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.facts().stages)
    }

    /// The shape of boxes that cost about as much to read as they hold, of a few megabytes each. It is the whole shape
    /// where a part costs as much as the whole: after a filter, and with zstd, lz4 and sz3.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.facts().chunks())
    }

    /// The name by its metadata, as `objects[name]` takes it, or None.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(objects::name(&*self.owner().get().global(py)?, self.number()))
    }

    /// The number of the object in its message.
    #[getter]
    fn index(&self) -> usize {
        self.number()
    }

    /// The message.
    #[getter]
    fn message(&self, py: Python<'_>) -> Py<Message> {
        self.owner().clone_ref(py)
    }

    /// The descriptor.
    #[getter]
    fn descriptor(&self, py: Python<'_>) -> PyResult<DataObjectDescriptor> {
        let described =
            self.look(py, |object| tgm_std::metadata::cbor_to_object_descriptor(object.descriptor().as_encoded()))?;
        Ok(DataObjectDescriptor::new(described))
    }

    /// A new `dict` of the object's metadata, read when it is first asked for.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.owner().get().global(py)?.base.get(self.number()) {
            Some(entries) => cbor_out::dict(py, entries),
            None => Ok(PyDict::new(py)),
        }
    }

    /// Decodes the values into a new array, or into `out`, which is returned.
    ///
    /// `out` is a writable C-contiguous array of the object's shape and dtype, or of float32 or float64: then the
    /// values are converted. No memory is allocated for them. A new array is writable.
    ///
    /// With `verify_hash=True` the digest is checked first. The other arguments are as for `tgm.decode`.
    ///
    /// Raises TypeError unless `out` is an array; ValueError if it has another shape or dtype, is read-only, is not
    /// contiguous, or shares memory with the message; what `tgm.decode` raises.
    ///
    /// >>> import numpy, tgmio as tgm
    /// >>> field = tgm.Message(tgm.encode({}, [(None, numpy.arange(3, dtype="int16"))])).objects[0]
    /// >>> field.decode(out=numpy.empty(3, "float32"))
    /// array([0., 1., 2.], dtype=float32)
    #[pyo3(signature = (out=None, *, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false))]
    #[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python method")]
    fn decode<'py>(
        slf: &Bound<'py, Self>,
        out: Option<Bound<'py, PyAny>>,
        native_byte_order: bool,
        threads: u32,
        restore_non_finite: bool,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decoding(native_byte_order, threads, restore_non_finite, verify_hash);
        match out {
            None => slf.get().decode_new(slf.py(), &options),
            Some(out) => {
                out::decode_into(slf, &out, &options)?;
                Ok(out)
            }
        }
    }

    /// Reads values into a new array, or into `out`, which is returned.
    ///
    /// | argument | |
    /// |---|---|
    /// | `index` | what to read, as numpy indexes: `numpy.s_[10:20, ::4]`; all values without it |
    /// | `ranges` | instead of an index: tuples `(start, count)` of the flat values. The result is a list of flat arrays; `out` gets them one after the other |
    /// | `dtype` | "float32" or "float64", which real numbers are converted to |
    /// | `out` | a writable array of the shape that is read, with the object's dtype or float32 or float64 |
    /// | `checked` | whether the digest is checked first, for which the whole object is read |
    /// | `threads` | how many threads decode |
    /// | `restore_non_finite` | False for zeros in the place of masked values |
    ///
    /// Only what is asked for is read and decoded, where the compression has parts (see `chunks`). Values that are stored
    /// as they are go straight into the array.
    ///
    /// Raises IndexError, TypeError and ValueError for requests that the object cannot answer; HashMismatchError and
    /// MissingHashError with `checked`; OSError of the source.
    ///
    /// >>> import numpy, tgmio as tgm
    /// >>> archive = tgm.open(tgm.encode({}, [(None, numpy.arange(6, dtype="int16").reshape(2, 3))]))
    /// >>> field = archive[0].objects[0]
    /// >>> field.read(numpy.s_[1, 1:], dtype="float32"), field.read(ranges=[(0, 2), (5, 1)])
    /// (array([4., 5.], dtype=float32), [array([0, 1], dtype=int16), array([5], dtype=int16)])
    #[pyo3(signature = (index=None, *, ranges=None, dtype=None, out=None, checked=false, threads=0, restore_non_finite=true))]
    #[allow(clippy::too_many_arguments, reason = "the face of the Python method")]
    fn read<'py>(
        slf: &Bound<'py, Self>,
        index: Option<Bound<'py, PyAny>>,
        ranges: Option<Bound<'py, PyAny>>,
        dtype: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
        checked: bool,
        threads: u32,
        restore_non_finite: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decoding(true, threads, restore_non_finite, checked);
        read_request(slf, Request { key: index, ranges, dtype, out, options })
    }

    /// The selected values, as indexing an array of numpy gives them. Only what is selected is decoded.
    ///
    /// Integers, slices (steps of either sign), `...` and `None` select; anything else, such as a list or an array of
    /// truth values, indexes the whole decoded array. Where `is_view` holds the result is a view. A bitmask gives truth
    /// values.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        select::item(slf, key)
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.facts().shape.first() {
            Some(len) => Ok(usize::try_from(*len)?),
            None => Err(PyTypeError::new_err("len() of an object without dimensions")),
        }
    }

    /// The values as an array of numpy, for `numpy.asarray` and its like.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = Self::values(slf)?;
        let dtype = match dtype {
            Some(dtype) => py.import("numpy")?.call_method1("dtype", (dtype,))?,
            None => array.getattr("dtype")?,
        };
        let is_same = dtype.eq(array.getattr("dtype")?)?;
        match copy {
            Some(false) if !is_same => Err(PyValueError::new_err(format!("a copy is needed for dtype {dtype}"))),
            Some(true) => array.call_method1("astype", (dtype,)),
            _ if is_same => Ok(array),
            _ => array.call_method1("astype", (dtype,)),
        }
    }

    /// The values, read-only. bfloat16 has no format there: its bits are exported as uint16.
    #[allow(unsafe_code, reason = "the buffer protocol is unsafe by nature")]
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let values = || match slf.get().facts().dtype {
            Dtype::Bfloat16 => Self::values(slf)?.call_method1("view", ("uint16",)),
            _ => Self::values(slf),
        };
        // SAFETY: Python calls this with a struct to fill.
        unsafe { buffer_protocol::export(values, view, flags) }
    }

    /// The values as a DLPack capsule, for `from_dlpack` of torch, jax, cupy, numpy and others.
    ///
    /// Consumers of DLPack 1 get a read-only view where `is_view` holds. Older ones cannot know that it is read-only,
    /// so they get a copy, or BufferError with `copy=False`.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i64, i64)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dlpack::export(slf, stream.as_ref(), max_version, dl_device, copy)
    }

    /// The device that the values are on: the processor's memory.
    fn __dlpack_device__(&self) -> (i32, i32) {
        dlpack::CPU
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        show::object(slf)
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        show::object_html(slf)
    }

    #[allow(clippy::type_complexity, reason = "what pickle wants")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Py<Message>, usize))> {
        Ok((py.import("tgmio._native")?.getattr("_object")?, (self.owner().clone_ref(py), self.number())))
    }
}
