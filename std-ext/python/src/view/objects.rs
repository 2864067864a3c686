//! The class `Objects`.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tgm_std::GlobalMetadata;
use tgm_std::core::metadata::NAME_KEYS;

use super::message::Message;
use super::object::Object;
use crate::convert::index;

/// The objects of a message: a sequence of `Object`.
///
/// Indexing and iterating read descriptors, and no payloads. `objects[0]` takes a number, `objects[1:]` a slice, and
/// `objects["2t"]` a name: the first of the metadata `name`, `mars.param`, `param`, `mars.shortName`, `shortName`,
/// `variable` and `long_name` that an object has. KeyError if no object has the name, or several.
#[pyclass(frozen, module = "tgmio")]
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
        if let Ok(name) = key.cast::<PyString>() {
            let number = Self::named(message, &name.to_string_lossy())?;
            return Ok(Py::new(py, Object::new(message, number)?)?.into_bound(py).into_any());
        }
        let object = |number| Ok(Py::new(py, Object::new(message, number)?)?.into_bound(py).into_any());
        index::item(key, count, object, |index| {
            format!("object index {index} out of range for message with {count} objects")
        })
    }
}

impl Objects {
    /// The number of the object of that name.
    ///
    /// # Errors
    /// `KeyError` if no object has the name, or several have it.
    fn named(message: &Bound<'_, Message>, name: &str) -> PyResult<usize> {
        let (py, this) = (message.py(), message.get());
        let names = names(message)?;
        let found: Vec<usize> =
            names.iter().enumerate().filter(|(_, each)| each.as_deref() == Some(name)).map(|(at, _)| at).collect();
        match &*found {
            [number] => Ok(*number),
            [] => {
                let known: Vec<&str> = names.iter().flatten().map(String::as_str).take(SHOWN).collect();
                let known = if known.is_empty() { "they have no names".to_owned() } else { known.join(", ") };
                Err(PyKeyError::new_err(format!(
                    "none of {} objects is named {name:?}: {known}",
                    this.table(py)?.len()
                )))
            }
            several => {
                let numbers: Vec<String> = several.iter().take(SHOWN).map(ToString::to_string).collect();
                Err(PyKeyError::new_err(format!(
                    "{} objects are named {name:?} (numbers {}): take a number, or query()",
                    several.len(),
                    numbers.join(", ")
                )))
            }
        }
    }
}

/// Names that an error lists.
const SHOWN: usize = 20;

/// The name of each object.
fn names(message: &Bound<'_, Message>) -> PyResult<Vec<Option<String>>> {
    let (py, this) = (message.py(), message.get());
    let metadata = this.global(py)?;
    Ok((0..this.table(py)?.len()).map(|number| name(&metadata, number)).collect())
}

/// The name of object `number` by its metadata: the first text or integer under one of the keys.
pub(super) fn name(metadata: &GlobalMetadata, number: usize) -> Option<String> {
    let found = NAME_KEYS.iter().filter_map(|key| metadata.get_at(number, key)).find_map(|value| {
        value.as_str().map(str::to_owned).or_else(|| value.as_i64().map(|number| number.to_string()))
    });
    found.filter(|name| !name.is_empty())
}

#[pymethods]
impl Objects {
    fn __len__(&self) -> usize {
        self.count
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::item(self.message.bind(index.py()), index)
    }

    /// The name of each object, or None.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        names(self.message.bind(py))
    }

    /// Whether an object has this name.
    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(name) = name.cast::<PyString>() else { return Ok(false) };
        let wanted = name.to_string_lossy();
        Ok(names(self.message.bind(name.py()))?.iter().any(|each| each.as_deref() == Some(&*wanted)))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        index::iterate(slf.as_any())
    }

    fn __repr__(&self) -> String {
        format!("Objects({})", self.count)
    }
}
