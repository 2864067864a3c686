//! The class `Objects`.

use pyo3::prelude::*;

use super::message::Message;
use super::object::Object;
use crate::convert::index;

/// The objects of a message: a sequence of `Object`.
///
/// Indexing and iterating read descriptors, and no payloads.
#[pyclass(frozen, module = "tgm")]
pub(crate) struct Objects {
    message: Py<Message>,
    count: usize,
}

impl Objects {
    /// The objects of `message`.
    pub(super) fn new(message: &Bound<'_, Message>) -> PyResult<Self> {
        let count = message.get().table(message.py())?.len();
        Ok(Self { message: message.clone().unbind(), count })
    }

    /// An object by its number, or a list of objects by a slice.
    pub(super) fn item<'py>(message: &Bound<'py, Message>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = message.py();
        let count = message.get().table(py)?.len();
        let object = |number| Ok(Py::new(py, Object::new(message, number)?)?.into_bound(py).into_any());
        index::item(key, count, object, |index| {
            format!("object index {index} out of range for message with {count} objects")
        })
    }
}

#[pymethods]
impl Objects {
    fn __len__(&self) -> usize {
        self.count
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::item(self.message.bind(index.py()), index)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        index::iterate(slf.as_any())
    }

    fn __repr__(&self) -> String {
        format!("Objects({})", self.count)
    }
}
