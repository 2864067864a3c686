//! Datasets over archives, as `tgm/_dataset.py` calls them.

use std::num::NonZeroU64;
use std::path::PathBuf;

use numpy::IntoPyArray;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};
use tgm_dataset::{
    Attribute, Attributes, Coordinate, Duplicates, Indices, Join, OpenOptions, Profile, Values, Variable, groups,
    on_all_cores, open_all,
};

use crate::convert::array_out::{flat, numpy_dtype};
use crate::errors::raise;
use crate::work::detached;

/// A dataset over archives.
#[pyclass(frozen, name = "_Dataset", module = "tgm._native")]
pub(crate) struct Dataset(tgm_dataset::Dataset);

/// The option of a name among words.
fn word<T: Copy>(options: &Bound<'_, PyDict>, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
    let Some(given) = options.get_item(name)? else { return Ok(None) };
    let given: String = given.extract()?;
    let found = words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value);
    let known = || words.iter().map(|(word, _)| format!("'{word}'")).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| PyValueError::new_err(format!("argument '{name}': one of {} is expected", known())))
}

fn options_of(options: &Bound<'_, PyDict>) -> PyResult<OpenOptions> {
    let mut found = OpenOptions::default();
    let profiles = [("auto", Profile::Auto), ("mars", Profile::Mars), ("cf", Profile::Cf)];
    found.profile = word(options, "profile", &profiles)?.unwrap_or_default();
    found.join = word(options, "join", &[("widen", Join::Widen), ("exact", Join::Exact)])?.unwrap_or_default();
    let duplicates = [("error", Duplicates::Error), ("first", Duplicates::First), ("last", Duplicates::Last)];
    found.duplicates = word(options, "duplicates", &duplicates)?.unwrap_or_default();
    if let Some(squeeze) = options.get_item("squeeze")? {
        found.squeeze = squeeze.extract()?;
    }
    if let Some(fill) = options.get_item("fill")? {
        found.fill = fill.extract::<std::collections::HashMap<String, f64>>()?.into_iter().collect();
    }
    if let Some(group) = options.get_item("group")? {
        found.group = group.extract()?;
    }
    Ok(found)
}

/// The datasets of archives, the one with the most objects first.
#[pyfunction]
fn _open_datasets(py: Python<'_>, sources: Vec<PathBuf>, options: &Bound<'_, PyDict>) -> PyResult<Vec<Dataset>> {
    let options = options_of(options)?;
    let found = detached(py, || open_all(&sources, &options))?.map_err(raise(py))?;
    Ok(found.into_iter().map(Dataset).collect())
}

/// The groups of archives.
#[pyfunction]
fn _dataset_groups(py: Python<'_>, sources: Vec<PathBuf>, options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let options = options_of(options)?;
    detached(py, || groups(&sources, &options))?.map_err(raise(py))
}

#[pymethods]
impl Dataset {
    /// Attributes by their names.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attributes(py, &self.0.attributes)
    }

    /// What does not fit, in words.
    #[getter]
    fn left_out(&self) -> Vec<String> {
        self.0.left_out.iter().map(ToString::to_string).collect()
    }

    /// What else is worth knowing.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// Coordinates: the name, the dimensions, the kind of values, the values flat, and the attributes of each.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.0.coordinates.iter().map(|it| coordinate(py, it)).collect()
    }

    /// Variables, each as a dictionary.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.0.variables.iter().map(|it| variable(py, it)).collect()
    }

    /// Places without an object, in words.
    fn holes(&self, most: usize) -> Vec<String> {
        self.0.holes(most)
    }

    /// The values that indices pick of a variable, flat.
    fn read<'py>(&self, py: Python<'py>, name: &str, indices: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let variable = self.0.variable(name);
        let dtype = variable.and_then(Variable::dtype);
        let (variable, dtype) = variable
            .zip(dtype)
            .ok_or_else(|| PyValueError::new_err(format!("the dataset has no variable {name} of numbers")))?;
        let indices = indices.iter().zip(&variable.shape).map(|(key, len)| picked(&key, *len));
        let indices = indices.collect::<PyResult<Vec<_>>>()?;
        let width = dtype.byte_width().max(1) as u64;
        let bytes = indices.iter().fold(width, |all, indices| all.saturating_mul(indices.count()));
        let len = usize::try_from(bytes)
            .map_err(|_| PyOverflowError::new_err(format!("{name}: {bytes} bytes cannot be addressed")))?;
        let values = detached(py, || {
            let mut values = tgm_std::internal::reserve(len)?;
            self.0.read_into(name, &indices, &on_all_cores(), &mut values)?;
            Ok(values)
        })?;
        flat(py, dtype, values.map_err(raise(py))?)
    }
}

/// What a key picks of a dimension. A slice has been brought to its length.
fn picked(key: &Bound<'_, PyAny>, len: u64) -> PyResult<Indices> {
    if let Ok(slice) = key.cast::<PySlice>() {
        let len = isize::try_from(len).map_err(|_| PyOverflowError::new_err("the dimension is too large"))?;
        let indices = slice.indices(len)?;
        let step = u64::try_from(indices.step).ok().and_then(NonZeroU64::new);
        let step = step.ok_or_else(|| PyTypeError::new_err("the step of a slice is positive here"))?;
        let start = u64::try_from(indices.start).unwrap_or(0);
        return Ok(Indices::Range { start, count: indices.slicelength as u64, step });
    }
    if let Ok(index) = key.extract::<u64>() {
        return Ok(Indices::Index(index));
    }
    Ok(Indices::List(key.extract()?))
}

fn attribute<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    Ok(match attribute {
        Attribute::Text(text) => text.into_pyobject(py)?.into_any(),
        Attribute::Integer(number) => number.into_pyobject(py)?.into_any(),
        Attribute::Float(number) => number.into_pyobject(py)?.into_any(),
        Attribute::Integers(numbers) => numbers.clone().into_pyarray(py).into_any(),
        Attribute::Floats(numbers) => numbers.clone().into_pyarray(py).into_any(),
        Attribute::Texts(texts) => PyList::new(py, texts)?.into_any(),
    })
}

fn attributes<'py>(py: Python<'py>, all: &Attributes) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (name, value) in all {
        found.set_item(name, attribute(py, value)?)?;
    }
    Ok(found)
}

fn coordinate<'py>(py: Python<'py>, it: &Coordinate) -> PyResult<Bound<'py, PyTuple>> {
    let (kind, values) = match &it.values {
        Values::Integers(numbers) => ("numbers", numbers.clone().into_pyarray(py).into_any()),
        Values::Floats(numbers) => ("numbers", numbers.clone().into_pyarray(py).into_any()),
        Values::Texts(texts) => ("texts", PyList::new(py, texts)?.into_any()),
        Values::Times(seconds) => ("times", seconds.clone().into_pyarray(py).into_any()),
        Values::Durations(seconds) => ("durations", seconds.clone().into_pyarray(py).into_any()),
    };
    let dims = PyTuple::new(py, &it.dims)?;
    (&it.name, dims, kind, values, attributes(py, &it.attributes)?).into_pyobject(py)
}

fn variable<'py>(py: Python<'py>, it: &Variable) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("name", &it.name)?;
    found.set_item("dims", PyTuple::new(py, &it.dims)?)?;
    found.set_item("shape", PyTuple::new(py, &it.shape)?)?;
    found.set_item("attributes", attributes(py, &it.attributes)?)?;
    found.set_item("dtype", it.dtype().map(|dtype| numpy_dtype(py, dtype)).transpose()?)?;
    found.set_item("texts", it.texts())?;
    found.set_item("piece", PyTuple::new(py, it.piece_shape())?)?;
    found.set_item("objects", it.object_count())?;
    found.set_item("holes", it.hole_count())?;
    Ok(found)
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Dataset>()?;
    module.add_function(wrap_pyfunction!(_open_datasets, module)?)?;
    module.add_function(wrap_pyfunction!(_dataset_groups, module)?)
}
