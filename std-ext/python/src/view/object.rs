//! The class `Object`.

use std::ffi::c_int;

use numpy::PyArrayDescr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use tgm_std::core::Message as Parsed;
use tgm_std::core::descriptor::{ByteOrder, Encoding};
use tgm_std::core::object::DataObject;
use tgm_std::{DecodeOptions, Dtype, Result};

use super::message::Message;
use super::{borrowed, buffer_protocol, dlpack, out, select, show};
use crate::convert::arguments::decoding;
use crate::convert::{array_out, cbor_out};
use crate::descriptor::DataObjectDescriptor;
use crate::errors::raise_at;

/// An object of a message: a tensor, where it lies.
///
/// | want | take |
/// |---|---|
/// | the values, without a copy if they lie in the message as they are | `.array`, `numpy.asarray(object)`, `memoryview(object)` |
/// | some values, of which only these are decoded | `object[10:20, ::4]` |
/// | an array of one's own | `.decode()`, or `.decode(out=array)` |
/// | the values in torch, jax and others | `torch.from_dlpack(object)` |
/// | what it is | `.shape`, `.dtype`, `.descriptor`, `.metadata` |
///
/// An array that is a view keeps the object, and so the map or buffer. It is read-only.
///
/// >>> import numpy, tgm
/// >>> field = tgm.Message(tgm.encode({"base": [{"step": 6}]}, [(None, numpy.arange(8.0).reshape(2, 4))])).objects[0]
/// >>> field.shape, field.dtype, field.metadata["step"], field.is_view
/// ((2, 4), dtype('float64'), 6, True)
/// >>> field[:, 1:3]
/// array([[1., 2.],
///        [5., 6.]])
#[pyclass(frozen, weakref, module = "tgm")]
pub(crate) struct Object {
    message: Py<Message>,
    number: usize,
    facts: Facts,
    /// The decoded values, where a stage stands between the payload and them.
    decoded: PyOnceLock<Py<PyAny>>,
    numpy_dtype: PyOnceLock<Py<PyArrayDescr>>,
}

/// What the descriptor says.
pub(super) struct Facts {
    /// The type of the values. Packed values are float64.
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<u64>,
    pub(super) element_count: u64,
    /// The number of bytes of the payload.
    pub(super) payload_len: usize,
    /// The number of bytes of the values.
    pub(super) decoded_len: u64,
    /// Where the values lie in the memory, if no stage stands between the payload and them.
    stored: Option<usize>,
    /// Whether stored values are in the order of other machines.
    is_swapped: bool,
}

impl Facts {
    fn read(object: &DataObject<'_>, message_start: usize) -> Result<Self> {
        let descriptor = object.descriptor();
        let dtype = match descriptor.encoding().known() {
            Some(Encoding::SimplePacking) => Dtype::Float64,
            _ => descriptor.dtype(),
        };
        let decoded_len = dtype.byte_len(descriptor.element_count());
        // The view checks that no stage stands between, and that the payload is as long as the shape says.
        let offset = object.view_any().ok().and_then(|_| usize::try_from(object.region_offset()).ok());
        Ok(Self {
            dtype,
            shape: descriptor.shape().into_iter().collect(),
            element_count: descriptor.element_count(),
            payload_len: object.payload().len(),
            decoded_len: decoded_len.map_or_else(|| descriptor.decoded_len(), Ok)?,
            stored: offset.and_then(|offset| message_start.checked_add(offset)),
            is_swapped: descriptor.byte_order() != ByteOrder::NATIVE && dtype.byte_width() > 1,
        })
    }

    /// The dtype and shape of an array over the values as they lie in the message. Bits are flat, as their bytes are.
    fn stored_form(&self) -> (Dtype, Vec<u64>) {
        match self.dtype {
            Dtype::Bitmask => (Dtype::Uint8, vec![self.decoded_len]),
            dtype => (dtype, self.shape.clone()),
        }
    }

    fn shape_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }
}

impl Object {
    /// Object `number` of a message. Its descriptor is read, and nothing of its payload.
    pub(super) fn new(message: &Bound<'_, Message>, number: usize) -> PyResult<Self> {
        let (py, this) = (message.py(), message.get());
        let (table, place) = (this.table(py)?, this.place());
        let facts = this
            .memory()
            .look(py, place, |bytes| Facts::read(&table.object(&Parsed::parse(bytes)?, number)?, place.start))?;
        let mut facts = facts.map_err(raise_at(py, this.place_of(Some(number))))?;
        // Holding a place means: all bytes of the values are in the memory.
        facts.stored = facts.stored.filter(|start| {
            let end = usize::try_from(facts.decoded_len).ok().and_then(|len| start.checked_add(len));
            end.is_some_and(|end| this.memory().address(py, &(*start..end)).is_some())
        });
        let message = message.clone().unbind();
        Ok(Self { message, number, facts, decoded: PyOnceLock::new(), numpy_dtype: PyOnceLock::new() })
    }

    pub(super) const fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(super) const fn owner(&self) -> &Py<Message> {
        &self.message
    }

    /// Runs `work` on the object, without the GIL if nobody can change its bytes.
    pub(super) fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&DataObject<'_>) -> Result<R> + Send,
    ) -> PyResult<R> {
        let message = self.message.get();
        let table = message.table(py)?;
        let done = message
            .memory()
            .run(py, message.place(), |bytes| work(&table.object(&Parsed::parse(bytes)?, self.number)?))?;
        done.map_err(raise_at(py, message.place_of(Some(self.number))))
    }

    /// Runs short `work` on the object with the GIL held.
    pub(super) fn look<R>(&self, py: Python<'_>, work: impl FnOnce(&DataObject<'_>) -> Result<R>) -> PyResult<R> {
        let message = self.message.get();
        let table = message.table(py)?;
        let done = message
            .memory()
            .look(py, message.place(), |bytes| work(&table.object(&Parsed::parse(bytes)?, self.number)?))?;
        done.map_err(raise_at(py, message.place_of(Some(self.number))))
    }

    /// Whether an array of the values needs no copy.
    pub(super) const fn is_in_place(&self) -> bool {
        self.facts.stored.is_some() && !self.facts.is_swapped && !matches!(self.facts.dtype, Dtype::Bitmask)
    }

    /// The dtype of the values in this machine's order.
    pub(super) fn descr<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDescr>> {
        let make = || borrowed::descr(py, self.facts.dtype, false).map(Bound::unbind);
        Ok(self.numpy_dtype.get_or_try_init(py, make)?.bind(py))
    }

    /// The values as a read-only array: a view, or what was decoded.
    pub(super) fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if let Some(start) = this.facts.stored.filter(|_| this.is_in_place()) {
            return Self::view_at(slf, this.descr(py)?, start);
        }
        if let Some(array) = this.decoded.get(py) {
            return Ok(array.bind(py).clone());
        }
        let array = this.decode_new(py, &DecodeOptions::default())?;
        array.getattr("flags")?.setattr("writeable", false)?;
        // Bytes that may change can give other values next time.
        if !this.message.get().memory().is_fixed() {
            return Ok(array);
        }
        Ok(this.decoded.get_or_init(py, || array.unbind()).bind(py).clone())
    }

    #[allow(unsafe_code, reason = "an array over foreign memory")]
    fn view_at<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyArrayDescr>,
        start: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let len = usize::try_from(this.facts.decoded_len).unwrap_or(usize::MAX);
        let address = this.message.get().memory().address(py, &(start..start.saturating_add(len)));
        let address = address.ok_or_else(|| PyValueError::new_err("the object lies beyond the end of its buffer"))?;
        // SAFETY: the memory has `decoded_len` bytes from `start` on, as `address` found, which is as many as an array
        // of this shape and dtype has. It keeps them in place for as long as it lives, and the object keeps it.
        unsafe { borrowed::array(slf.as_any(), dtype, &this.facts.stored_form().1, address) }
    }

    /// The values as a new array.
    pub(super) fn decode_new<'py>(&self, py: Python<'py>, options: &DecodeOptions) -> PyResult<Bound<'py, PyAny>> {
        let values = self.run(py, |object| Ok(tgm_std::codec::memory::owned(tgm_std::read(object).options(options).bytes()?)?))?;
        shaped(py, self.facts.dtype, &self.facts.shape, values)
    }
}

/// An array of `values`, which it takes over.
pub(super) fn shaped<'py>(
    py: Python<'py>,
    dtype: Dtype,
    shape: &[u64],
    values: Vec<u8>,
) -> PyResult<Bound<'py, PyAny>> {
    let flat = match dtype {
        Dtype::Bitmask => array_out::bools(py, shape, values)?,
        dtype => array_out::flat(py, dtype, values)?,
    };
    flat.call_method1("reshape", (PyTuple::new(py, shape)?,))
}

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

    /// The stored values as they lie, as a view in the stored byte order, such as `>f4`. Of a bitmask these are bytes of
    /// packed bits.
    ///
    /// Raises ValueError if a stage or a mask stands between the payload and the values.
    fn stored<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let facts = &slf.get().facts;
        let Some(start) = facts.stored else {
            return Err(PyValueError::new_err("the values are not stored as they are: use array or decode()"));
        };
        Self::view_at(slf, &borrowed::descr(slf.py(), facts.stored_form().0, facts.is_swapped)?, start)
    }

    /// The dimensions, slowest first.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.facts.shape_tuple(py)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.facts.shape.len()
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> u64 {
        self.facts.element_count
    }

    /// The dtype of the values, in this machine's byte order. A bitmask's is bool.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        self.descr(py).cloned()
    }

    /// The number of bytes of the values.
    #[getter]
    fn nbytes(&self) -> u64 {
        if self.facts.dtype == Dtype::Bitmask { self.facts.element_count } else { self.facts.decoded_len }
    }

    /// The number of bytes of the payload, as it is stored.
    #[getter]
    fn stored_nbytes(&self) -> usize {
        self.facts.payload_len
    }

    /// The number of the object in its message.
    #[getter]
    fn index(&self) -> usize {
        self.number
    }

    /// The message.
    #[getter]
    fn message(&self, py: Python<'_>) -> Py<Message> {
        self.message.clone_ref(py)
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
        match self.message.get().global(py)?.base.get(self.number) {
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
    /// >>> import numpy, tgm
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

    /// The selected values, as indexing an array of numpy gives them. Only what is selected is decoded.
    ///
    /// Integers, slices (steps of either sign), `...` and `None` select; anything else, such as a list or an array of
    /// truth values, indexes the whole decoded array. Where `is_view` holds the result is a view. A bitmask gives truth
    /// values.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        select::item(slf, key)
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.facts.shape.first() {
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
        let values = || match slf.get().facts.dtype {
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
        Ok((py.import("tgm._native")?.getattr("_object")?, (self.message.clone_ref(py), self.number)))
    }
}
