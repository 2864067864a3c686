//! The methods of `Message` in Python.

use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use tgm_std::core::Message as Parsed;
use tgm_std::decode::deferred::decode_deferred;
use tgm_std::hash::checked_metadata;
use tgm_std::validate::check_message;

use super::message::Message;
use super::object::Object;
use super::objects::Objects;
use super::{buffer_protocol, show};
use crate::convert::arguments::decoding;
use crate::convert::array_out::Bits;
use crate::convert::index::iterate;
use crate::convert::query;
use crate::errors::raise_at;
use crate::message;
use crate::metadata::Metadata;
use crate::work::detached;

#[pymethods]
impl Message {
    #[new]
    fn new(py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::in_buffer(py, buffer)
    }

    /// The objects: a sequence of `Object`, none of which is decoded before it is asked for.
    #[getter]
    fn objects(slf: &Bound<'_, Self>) -> PyResult<Objects> {
        Objects::new(slf)
    }

    /// The metadata, read when it is first asked for. Digests of its frames are checked: HashMismatchError.
    /// `tgm.decode_metadata` does not check them.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> PyResult<Metadata> {
        self.global(py).map(Metadata::of)
    }

    /// The number of the message in its file; None for one that is not part of a file.
    #[getter]
    fn index(&self) -> Option<usize> {
        self.number()
    }

    /// The number of bytes.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        self.byte_len(py)
    }

    /// The objects of this message for which a query holds, as a list. See `Archive.query`.
    fn query<'py>(slf: &Bound<'py, Self>, query: &str) -> PyResult<Bound<'py, PyList>> {
        let (py, this, query) = (slf.py(), slf.get(), query::query(query)?);
        let found = this.memory(py)?.run(py, this.place(), |bytes| {
            let mut found = Vec::new();
            query.objects_of(&checked_metadata(&Parsed::parse(bytes)?)?, |object| found.push(object))?;
            Ok(found)
        })?;
        let found = found.map_err(raise_at(py, this.place_of(None)))?;
        if found.is_empty() {
            query::warn_of_keys(py, &*this.global(py)?, &query)?;
        }
        let objects = found.into_iter().map(|number| Py::new(py, Object::new(slf, number)?));
        PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)
    }

    /// Decodes all objects into new arrays: `(metadata, objects)`, as `tgm.decode` does.
    #[pyo3(signature = (native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false))]
    #[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python method")]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        native_byte_order: bool,
        threads: u32,
        restore_non_finite: bool,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decoding(native_byte_order, threads, restore_non_finite, verify_hash);
        let decoded = if self.elsewhere().is_some() {
            let bytes = self.read(py)?;
            detached(py, move || decode_deferred(&bytes, &options))?
        } else {
            self.memory(py)?.run(py, self.place(), |bytes| decode_deferred(bytes, &options))?
        };
        message::deferred(py, decoded.map_err(raise_at(py, self.place_of(None)))?, Bits::Truths)
    }

    /// Checks that the message is intact: the digest of each frame, and the structure. All of it is read, and nothing is
    /// decoded.
    ///
    /// Raises HashMismatchError for a wrong digest; MissingHashError for an object without one, if all else is right; what is
    /// wrong with the structure as `tgm.decode` raises it.
    ///
    /// >>> import numpy, tgmio as tgm
    /// >>> tgm.Message(tgm.encode({}, [(None, numpy.arange(3.0))])).verify()
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let checked = if self.elsewhere().is_some() {
            let bytes = self.read(py)?;
            detached(py, move || Ok(check_message(&bytes)?))?
        } else {
            self.memory(py)?.run(py, self.place(), |bytes| Ok(check_message(bytes)?))?
        };
        checked.map_err(raise_at(py, self.place_of(None)))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.table(py)?.len())
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Objects::item(slf, index)
    }

    fn __bytes__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(Self::as_array(slf)?.call_method0("tobytes")?.cast_into()?)
    }

    /// The bytes of the message, read-only.
    #[allow(unsafe_code, reason = "the buffer protocol is unsafe by nature")]
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: Python calls this with a struct to fill.
        unsafe { buffer_protocol::export(|| Self::as_array(slf), view, flags) }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf.as_any())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (objects, bytes) = (self.table(py)?.len(), self.byte_len(py));
        let within = self.within(py)?;
        let number = self.number().map(|number| format!("index={number}, ")).unwrap_or_default();
        Ok(format!("Message({number}objects={objects}, bytes={bytes}, in={within})"))
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        show::message(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        match slf.get().archive() {
            Some((archive, number)) => {
                Ok((py.import("operator")?.getattr("getitem")?, (archive.clone_ref(py), *number).into_pyobject(py)?))
            }
            None => Ok((slf.get_type().into_any(), (Self::__bytes__(slf)?,).into_pyobject(py)?)),
        }
    }
}
