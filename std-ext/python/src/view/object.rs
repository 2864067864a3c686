//! The class `Object`.

use std::ffi::c_int;

use numpy::{PyArray1, PyArrayDescr};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use tgm_std::codec::memory::owned;
use tgm_std::core::Message as Parsed;
use tgm_std::core::object::DataObject;
use tgm_std::{DecodeOptions, Dtype, Read, Result, TensogramError, read};

use super::facts::Facts;
use super::message::{Elsewhere, Message};
use super::objects;
use super::read::{Request, read as read_request};
use super::{buffer_protocol, dlpack, numpy_memory, out, select, show};
use crate::convert::arguments::decoding;
use crate::convert::{array_out, cbor_out};
use crate::descriptor::DataObjectDescriptor;
use crate::errors::raise_at;

/// An object of a message: a tensor, where it lies.
///
/// | want | take |
/// |---|---|
/// | what it is | `.shape`, `.dtype`, `.stages`, `.nbytes`, `.chunks`, `.name`, `.metadata` |
/// | values in a new array | `.read()`, `.read(numpy.s_[10:20, ::4])`, `.read(ranges=[(0, 10)])`, `.read(dtype="float32")` |
/// | values in an array of one's own | `.read(out=array)` |
/// | some values, of which only these are read and decoded | `object[10:20, ::4]` |
/// | all values, without a copy if they lie in memory as they are | `.array`, `numpy.asarray(object)`, `memoryview(object)` |
/// | the values in torch, jax and others | `torch.from_dlpack(object)` |
///
/// Nothing of the payload is read before it is asked for.
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
    /// Where the payload is read, if it is not in memory.
    elsewhere: Option<Elsewhere>,
    /// The decoded values, where a stage stands between the payload and them.
    decoded: PyOnceLock<Py<PyAny>>,
    numpy_dtype: PyOnceLock<Py<PyArrayDescr>>,
}

impl Object {
    /// Object `number` of a message. Its descriptor is read, and nothing of its payload.
    pub(super) fn new(message: &Bound<'_, Message>, number: usize) -> PyResult<Self> {
        let (py, this) = (message.py(), message.get());
        let (table, place) = (this.table(py)?, this.place());
        let memory = this.memory(py)?;
        let facts =
            memory.look(py, place, |bytes| Facts::read(&table.object(&Parsed::parse(bytes)?, number)?, place.start))?;
        let mut facts = facts.map_err(raise_at(py, this.place_of(Some(number))))?;
        // Holding a place means: all bytes of the values are in the memory.
        facts.stored = facts.stored.filter(|start| {
            let end = usize::try_from(facts.decoded_len).ok().and_then(|len| start.checked_add(len));
            end.is_some_and(|end| memory.address(py, &(*start..end)).is_some())
        });
        let (elsewhere, message) = (this.elsewhere(), message.clone().unbind());
        Ok(Self { message, number, facts, elsewhere, decoded: PyOnceLock::new(), numpy_dtype: PyOnceLock::new() })
    }

    pub(super) const fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(super) const fn owner(&self) -> &Py<Message> {
        &self.message
    }

    /// Runs `work` on a request for the values, without the GIL if the bytes are immutable.
    ///
    /// # Errors
    /// The errors of the source and of the work, as exceptions that name the object.
    pub(super) fn request<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Read<'_, '_>) -> Result<R> + Send,
    ) -> PyResult<R> {
        let (message, number) = (self.message.get(), self.number);
        let place = message.place_of(Some(number));
        if let Some(Elsewhere { backing, message }) = &self.elsewhere {
            return backing.ask(py, place, |archive| work(archive.object(*message, number)?.read()));
        }
        let table = message.table(py)?;
        let done = message
            .memory(py)?
            .run(py, message.place(), |bytes| work(read(&table.object(&Parsed::parse(bytes)?, number)?)))?;
        done.map_err(|error| match error {
            // An object in memory does not know its number.
            TensogramError::MissingHash { .. } => TensogramError::MissingHash { object_index: number },
            error => error,
        })
        .map_err(raise_at(py, place))
    }

    /// Runs short `work` on the object with the GIL held. There may be zeros in the place of its payload and masks.
    pub(super) fn look<R>(&self, py: Python<'_>, work: impl FnOnce(&DataObject<'_>) -> Result<R>) -> PyResult<R> {
        let message = self.message.get();
        let table = message.table(py)?;
        let done = message
            .memory(py)?
            .look(py, message.place(), |bytes| work(&table.object(&Parsed::parse(bytes)?, self.number)?))?;
        done.map_err(raise_at(py, message.place_of(Some(self.number))))
    }

    /// Whether an array of the values needs no copy.
    pub(super) const fn is_in_place(&self) -> bool {
        self.elsewhere.is_none()
            && self.facts.stored.is_some()
            && !self.facts.is_swapped
            && !matches!(self.facts.dtype, Dtype::Bitmask)
    }

    /// The dtype of the values in this machine's order.
    pub(super) fn descr<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDescr>> {
        let make = || numpy_memory::descr(py, self.facts.dtype, false).map(Bound::unbind);
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
        if !this.message.get().memory(py)?.is_fixed() {
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
        let address = this.message.get().memory(py)?.address(py, &(start..start.saturating_add(len)));
        let address = address.ok_or_else(|| PyValueError::new_err("the object lies beyond the end of its buffer"))?;
        // SAFETY: the memory has `decoded_len` bytes from `start` on, as `address` found, which is as many as an array
        // of this shape and dtype has. It keeps them in place for as long as it lives, and the object keeps it.
        unsafe { array_out::array_at(Some(slf.as_any()), dtype, &this.facts.stored_form().1, address) }
    }

    /// The bytes of ranges of the values, each a first value and a count.
    pub(super) fn ranges(
        &self,
        py: Python<'_>,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> PyResult<Vec<Vec<u8>>> {
        let dtype = self.facts.dtype;
        self.request(py, |request| {
            let values = request.ranges(ranges).options(options).bytes()?;
            let mut rest = &*values;
            let part = |&(_, count): &(u64, u64)| {
                let len = dtype.byte_len(count).and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX);
                let (part, behind) = rest.split_at_checked(len).unwrap_or((rest, &[]));
                rest = behind;
                part.to_vec()
            };
            Ok(ranges.iter().map(part).collect())
        })
    }

    /// The values as a new array.
    pub(super) fn decode_new<'py>(&self, py: Python<'py>, options: &DecodeOptions) -> PyResult<Bound<'py, PyAny>> {
        let values = self.request(py, |request| Ok(owned(request.options(options).bytes()?)?))?;
        shaped(py, self.facts.dtype, &self.facts.shape, values)
    }

    /// Whether reading values takes requests to a server.
    pub(super) fn is_remote(&self) -> bool {
        self.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.backing.is_remote())
    }

    /// Whether the payload is read from a source when it is asked for.
    pub(super) const fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
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
            return Err(PyValueError::new_err("the values are not stored as they are: use array or read()"));
        };
        let (py, this) = (slf.py(), slf.get());
        if this.elsewhere.is_some() {
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

    /// The names of the stages between the values and the payload: of encoding, filter and compression those that are not
    /// "none".
    #[getter]
    fn stages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.facts.stages)
    }

    /// The shape of boxes that cost about as much to read as they hold, of a few megabytes each. It is the whole shape
    /// where a part costs as much as the whole: behind a filter, and with zstd, lz4 and sz3.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.facts.chunks())
    }

    /// The name by its metadata, as `objects[name]` takes it, or None.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(objects::name(&*self.message.get().global(py)?, self.number))
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
    /// >>> import numpy, tgm
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
