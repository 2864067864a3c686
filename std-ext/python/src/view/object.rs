//! The class `Object`.

use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use tgm_std::codec::memory::owned;
use tgm_std::core::Message as Parsed;
use tgm_std::core::object::DataObject;
use tgm_std::{DecodeOptions, Dtype, Read, Result, TensogramError, read};

use super::facts::Facts;
use super::message::{Elsewhere, Message};
use super::numpy_memory;
use crate::convert::array_out;
use crate::errors::raise_at;

/// An object of a message: a tensor, where it lies.
///
/// | want | take |
/// |---|---|
/// | what it is | `.shape`, `.dtype`, `.stages`, `.nbytes`, `.chunks`, `.name`, `.metadata` |
/// | values in a new array | `.read()`, `.read(numpy.s_[10:20, ::4])`, `.read(ranges=[(0, 10)])`, `.read(dtype="float32")` |
/// | values in an array of yours | `.read(out=array)` |
/// | some values, of which only these are read and decoded | `object[10:20, ::4]` |
/// | all values, without a copy if they lie in memory as they are | `.array`, `numpy.asarray(object)`, `memoryview(object)` |
/// | the values in torch, jax and others | `torch.from_dlpack(object)` |
///
/// Nothing of the payload is read before it is asked for.
///
/// An array that is a view keeps the object, and so the map or buffer. It is read-only.
///
/// >>> import numpy, tgmio as tgm
/// >>> field = tgm.Message(tgm.encode({"base": [{"step": 6}]}, [(None, numpy.arange(8.0).reshape(2, 4))])).objects[0]
/// >>> field.shape, field.dtype, field.metadata["step"], field.is_view
/// ((2, 4), dtype('float64'), 6, True)
/// >>> field[:, 1:3]
/// array([[1., 2.],
///        [5., 6.]])
#[pyclass(frozen, weakref, module = "tgmio")]
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

    /// The number of the object in its message.
    pub(super) const fn number(&self) -> usize {
        self.number
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

    /// An array over the values as they are stored, from byte `start` of the memory on.
    #[allow(unsafe_code, reason = "an array over foreign memory")]
    pub(super) fn view_at<'py>(
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
