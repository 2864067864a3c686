//! Datasets over archives, as `tgmio/_dataset.py` calls them.

use std::borrow::Cow;
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice, PyTuple};
use tgm_core::frame::Frame;
use tgm_core::object::DataObject;
use tgm_core::selection::Pick;
use tgm_dataset::{
    Attribute, Attributes, Catalogs, Computed, Coordinate, Duplicates, Hole, Indices, Join, Member, OpenOptions,
    Profile, Raw, Statistic, Values, Variable, groups, groups_of_archives, on_all_cores, open_all, open_archives,
};
use tgm_std::metadata::Query;
use tgm_std::{Archive, DecodeOptions, Dtype, TensogramError};

use crate::convert::arguments::{items, paths};
use crate::convert::array_out::{bools, flat, numpy_dtype};
use crate::convert::cbor_out::object;
use crate::errors::raise;
use crate::view;
use crate::work::detached;

/// A dataset over archives.
#[pyclass(frozen, name = "_Dataset", module = "tgmio._native")]
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
    if let Some(profile) = options.get_item("profile")? {
        let parsed: Result<Profile, String> = profile.extract::<String>()?.parse();
        found.profile = parsed.map_err(|error| PyValueError::new_err(format!("argument 'profile': {error}")))?;
    }
    found.join = word(options, "join", &[("widen", Join::Widen), ("exact", Join::Exact)])?.unwrap_or_default();
    let duplicates = [("error", Duplicates::Error), ("first", Duplicates::First), ("last", Duplicates::Last)];
    found.duplicates = word(options, "duplicates", &duplicates)?.unwrap_or_default();
    if let Some(dims) = options.get_item("time_dims")? {
        found.valid_time =
            match dims.extract::<Vec<String>>()?.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
                ["time", "step"] => false,
                ["valid_time"] => true,
                _ => {
                    let expected = "argument 'time_dims': ('time', 'step') or ('valid_time',) is expected";
                    return Err(PyValueError::new_err(expected));
                }
            };
    }
    if let Some(squeeze) = options.get_item("squeeze")? {
        found.squeeze = squeeze.extract()?;
    }
    if let Some(fill) = options.get_item("fill")? {
        found.fill = fill.extract::<std::collections::HashMap<String, f64>>()?.into_iter().collect();
    }
    if let Some(group) = options.get_item("group")? {
        found.group = group.extract()?;
    }
    if let Some(catalog) = options.get_item("catalog")? {
        found.catalogs = match catalog.extract::<bool>() {
            Ok(true) => Catalogs::Beside,
            Ok(false) => Catalogs::Unused,
            Err(_) => Catalogs::Named(paths(&catalog)?),
        };
    }
    if let Some(grid) = options.get_item("grid")? {
        let (py, path) = (grid.py(), grid.extract::<PathBuf>()?);
        let points = detached(py, || tgm_convert::points::read(&path, &DecodeOptions::default()))?;
        found.grid = Some(Arc::new(points.map_err(raise(py))?));
    }
    if let Some(only) = options.get_item("only")? {
        let parse = |text: &String| {
            let parsed = text.parse();
            parsed.map_err(|error| PyValueError::new_err(format!("argument 'only': {error}")))
        };
        found.only = texts(&only)?.iter().map(parse).collect::<PyResult<_>>()?;
    }
    if let Some(raw) = options.get_item("raw")? {
        found.raw = match raw.extract::<bool>() {
            Ok(true) => Raw::Everything,
            Ok(false) => Raw::Nothing,
            Err(_) => Raw::Named(raw.extract()?),
        };
    }
    Ok(found)
}

/// What datasets are opened from.
enum Sources {
    /// Paths and addresses.
    Paths(Vec<PathBuf>),
    /// Archives that are open.
    Open(Vec<Member>),
}

/// # Errors
/// `TypeError` for other objects, and for paths among archives; `ValueError` for an archive that is closed.
fn sources(sources: &Bound<'_, PyAny>) -> PyResult<Sources> {
    let given = items(sources, "sources", |source| Ok(source.clone()))?;
    if !given.iter().any(Bound::is_instance_of::<view::Archive>) {
        return Ok(Sources::Paths(given.iter().map(PyAnyMethods::extract).collect::<PyResult<_>>()?));
    }
    let member = |source: &Bound<'_, PyAny>| {
        let archive = source.cast::<view::Archive>().map_err(|_| {
            PyTypeError::new_err("argument 'sources': paths cannot be mixed with archives, bytes and file objects")
        })?;
        Ok(Member::from(archive.get().library()?))
    };
    Ok(Sources::Open(given.iter().map(member).collect::<PyResult<_>>()?))
}

/// The datasets of archives, the one with the most objects first.
#[pyfunction]
fn _open_datasets(
    py: Python<'_>,
    #[pyo3(from_py_with = sources)] sources: Sources,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<Dataset>> {
    let options = options_of(options)?;
    let open = || match &sources {
        Sources::Paths(paths) => open_all(paths, &options),
        Sources::Open(members) => open_archives(members, &options),
    };
    let found = detached(py, open)?.map_err(raise(py))?;
    Ok(found.into_iter().map(Dataset).collect())
}

/// What filters may mean that selected nothing of an archive, in words. None where nothing is known of it.
#[pyfunction]
fn _hint(py: Python<'_>, source: PathBuf, #[pyo3(from_py_with = texts)] only: Vec<String>) -> PyResult<Option<String>> {
    let hint = || -> tgm_std::Result<Option<String>> {
        let archive = Archive::open(&source)?;
        if archive.len()? == 0 {
            return Ok(None);
        }
        let message = archive.message(0)?;
        let metadata = message.metadata()?;
        Ok(only.iter().filter_map(|text| text.parse::<Query>().ok()).find_map(|query| query.hint(metadata)))
    };
    detached(py, hint)?.map_err(raise(py))
}

/// The groups of archives.
#[pyfunction]
fn _dataset_groups(
    py: Python<'_>,
    #[pyo3(from_py_with = sources)] sources: Sources,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<String>> {
    let options = options_of(options)?;
    let find = || match &sources {
        Sources::Paths(paths) => groups(paths, &options),
        Sources::Open(members) => groups_of_archives(members, &options),
    };
    detached(py, find)?.map_err(raise(py))
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

    /// Bytes that belong to no message, in words.
    #[getter]
    fn lost(&self) -> Vec<String> {
        self.0.lost().to_vec()
    }

    /// The path or address of each file that was opened, and its version. None where it is not known.
    #[getter]
    fn sources(&self) -> Vec<(OsString, Option<Cow<'_, [u8]>>)> {
        self.0.sources().into_iter().map(|(source, version)| (source, version.map(Cow::Owned))).collect()
    }

    /// How many parts were appended to the file that it came from.
    #[getter]
    fn appended(&self) -> usize {
        self.0.appended
    }

    /// Whether it has variables of files, as NetCDF and Zarr have them, and not fields.
    #[getter]
    fn is_of_files(&self) -> bool {
        self.0.is_of_files
    }

    /// Dimensions that have no fixed length in the file of NetCDF that it came from.
    #[getter]
    fn unlimited(&self) -> Vec<String> {
        self.0.unlimited.clone()
    }

    /// Where the first object of a variable is: the numbers of its source, of its message, and in the message.
    fn first_object(&self, name: &str) -> Option<(usize, usize, usize)> {
        self.0.first_object(name)
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

    /// The numbers of pieces along each dimension, and the numbers of those that have an object, in order.
    fn pieces<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyTuple>> {
        let counts = self.0.piece_counts(name).map_err(raise(py))?;
        let numbers = self.0.piece_numbers(name).map_err(raise(py))?;
        (PyTuple::new(py, counts)?, numbers.into_pyarray(py)).into_pyobject(py)
    }

    /// How all objects of a variable are stored, as a dictionary. None if they differ.
    fn stored<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = detached(py, || self.0.stored(name, &on_all_cores()))?.map_err(raise(py))?;
        let Some(found) = found else { return Ok(None) };
        let about = PyDict::new(py);
        about.set_item("dtype", found.dtype.name())?;
        about.set_item("byte_order", found.byte_order.name())?;
        about.set_item("encoding", found.encoding)?;
        about.set_item("filter", found.filter)?;
        about.set_item("compression", found.compression)?;
        about.set_item("shuffle_element_size", found.shuffle_element_size)?;
        about.set_item("has_masks", found.has_masks)?;
        Ok(Some(about))
    }

    /// The frame of the object at a piece, as bytes: whole, or its payload alone. None where no object is.
    fn piece<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        number: u64,
        is_payload: bool,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let frame = detached(py, || self.0.piece_frame(name, number))?.map_err(raise(py))?;
        let Some(frame) = frame else { return Ok(None) };
        if !is_payload {
            return Ok(Some(PyBytes::new(py, &frame)));
        }
        let object = object_of(&frame).map_err(raise(py))?;
        Ok(Some(PyBytes::new(py, object.payload())))
    }

    /// References of kerchunk as JSON, and each variable that is not among them with the reason.
    fn references(&self, py: Python<'_>) -> PyResult<(String, Vec<(String, String)>)> {
        let found = detached(py, || {
            let found = self.0.references(&on_all_cores())?;
            let mut text = Vec::new();
            found.write_json(&mut text)?;
            Ok((String::from_utf8_lossy(&text).into_owned(), found.refused))
        });
        found?.map_err(raise(py))
    }

    /// Statistics over dimensions, among which `grid` stands for the dimensions of latitude and longitude: the dimensions that are left,
    /// their lengths, and the values of each statistic, flat: extremes of whole numbers of 64 bits as such, all else as `float64`. With
    /// `is_weighted` values count by their areas.
    #[pyo3(signature = (name, indices, over, statistics, is_weighted=false))]
    fn reduce<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        indices: &Bound<'py, PyTuple>,
        #[pyo3(from_py_with = texts)] over: Vec<String>,
        #[pyo3(from_py_with = texts)] statistics: Vec<String>,
        is_weighted: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let named = |name: &String| Statistic::ALL.into_iter().find(|it| it.name() == name);
        let wanted = statistics
            .iter()
            .map(|name| named(name).ok_or_else(|| PyValueError::new_err(format!("statistic '{name}' is not known"))));
        let wanted = wanted.collect::<PyResult<Vec<_>>>()?;
        let shape = self.0.variable(name).map(|it| it.shape.clone()).unwrap_or_default();
        let indices = indices.iter().zip(&shape).map(|(key, len)| picked(&key, *len)).collect::<PyResult<Vec<_>>>()?;
        let found = detached(py, || reduced(&self.0, name, &indices, &over, &wanted, is_weighted))?;
        let (dims, shape, results) = found.map_err(raise(py))?;
        // What is computed of float32 is not rounded to it.
        let of_variable = self.0.variable(name).and_then(Variable::dtype).filter(|dtype| *dtype == Dtype::Uint64);
        let stored = results.iter().map(|result| {
            let (dtype, bytes) = result.stored(of_variable, &shape).map_err(raise(py))?;
            flat(py, dtype, bytes)
        });
        let values = stored.collect::<PyResult<Vec<_>>>()?;
        (PyTuple::new(py, &dims)?, PyTuple::new(py, &shape)?, PyList::new(py, values)?).into_pyobject(py)
    }

    /// The values that indices pick of a variable, flat. With `is_single` real numbers are `float32`.
    #[pyo3(signature = (name, indices, is_single=false))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        indices: &Bound<'py, PyTuple>,
        is_single: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let variable = self.0.variable(name);
        let dtype = variable.and_then(Variable::dtype);
        let (variable, dtype) = variable
            .zip(dtype)
            .ok_or_else(|| PyValueError::new_err(format!("the dataset has no variable {name} of numbers")))?;
        let indices = indices.iter().zip(&variable.shape).map(|(key, len)| picked(&key, *len));
        let indices = indices.collect::<PyResult<Vec<_>>>()?;
        if is_single {
            let count = indices.iter().fold(1_u64, |all, indices| all.saturating_mul(indices.count()));
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let values = detached(py, || {
                let mut values: Vec<f32> = Vec::new();
                let no_memory =
                    |_| TensogramError::Metadata(format!("{name}: there is no memory for its values").into());
                values.try_reserve_exact(count).map_err(no_memory)?;
                values.resize(count, 0.0);
                self.0.read_floats_into(name, &indices, &on_all_cores(), &mut values)?;
                Ok(values)
            })?;
            return Ok(values.map_err(raise(py))?.into_pyarray(py).into_any());
        }
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

/// Dimensions, their lengths, and the values of each statistic.
type Reduction = (Vec<String>, Vec<u64>, Vec<Computed>);

fn reduced(
    dataset: &tgm_dataset::Dataset,
    variable: &str,
    indices: &[Indices],
    over: &[String],
    statistics: &[Statistic],
    is_weighted: bool,
) -> tgm_std::Result<Reduction> {
    let over = dataset.meant_dims(variable, over)?;
    let computed =
        |values, integers| Computed { name: variable.into(), values, integers, method: String::new(), units: None };
    if !is_weighted {
        let found = dataset.reduce(variable, indices, &over, statistics, &on_all_cores())?;
        let values = statistics.iter().map(|it| computed(found.values(*it), found.integers(*it))).collect();
        return Ok((found.dims, found.shape, values));
    }
    let found = dataset.reduce_weighted(variable, indices, &over, &on_all_cores())?;
    let values = statistics.iter().map(|statistic| {
        let without = || TensogramError::Metadata("a sum has no weights".into());
        Ok(computed(found.values(*statistic).ok_or_else(without)?, found.integers(*statistic)))
    });
    let values = values.collect::<tgm_std::Result<_>>()?;
    Ok((found.dims, found.shape, values))
}

fn texts(all: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    items(all, "names", |text| text.extract())
}

/// The first index of each dimension, and the one after the last. None stands for all.
fn boxes(picks: &Bound<'_, PyAny>) -> PyResult<Option<Vec<(u64, u64)>>> {
    if picks.is_none() { Ok(None) } else { items(picks, "picks", |pick| pick.extract()).map(Some) }
}

/// The object of a frame.
fn object_of(frame: &[u8]) -> tgm_std::Result<DataObject<'_>> {
    Ok(DataObject::parse(Frame::parse(frame)?.0)?)
}

/// The shape of the object in a frame.
#[pyfunction]
fn _frame_shape<'py>(py: Python<'py>, frame: &[u8]) -> PyResult<Bound<'py, PyTuple>> {
    let object = object_of(frame).map_err(raise(py))?;
    PyTuple::new(py, object.descriptor().shape().iter().collect::<Vec<u64>>())
}

/// The shape of the object in a frame, and the values of a box of it: the first index, and the one after the last, of each
/// dimension. All of it without a box.
#[pyfunction]
fn _decode_frame<'py>(
    py: Python<'py>,
    frame: &[u8],
    #[pyo3(from_py_with = boxes)] picks: Option<Vec<(u64, u64)>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let decoded = || -> tgm_std::Result<_> {
        let object = object_of(frame)?;
        let (dtype, whole) = (object.descriptor().dtype(), object.descriptor().shape().iter().collect::<Vec<u64>>());
        let picks: Vec<Pick> = match &picks {
            Some(picks) => {
                let pick = |(start, end): &(u64, u64)| Pick::Range { start: *start, end: *end, step: NonZeroU64::MIN };
                picks.iter().map(pick).collect()
            }
            None => vec![Pick::All; whole.len()],
        };
        let lens = picks.iter().zip(&whole).map(|(pick, len)| match pick {
            Pick::Range { start, end, .. } => end.saturating_sub(*start),
            _ => *len,
        });
        let shape: Vec<u64> = lens.collect();
        let options = DecodeOptions { native_byte_order: true, ..DecodeOptions::default() };
        let bytes = tgm_std::read(&object).select(&picks).options(&options).bytes()?.into_owned();
        Ok((dtype, whole, shape, bytes))
    };
    let (dtype, whole, shape, bytes) = detached(py, decoded)?.map_err(raise(py))?;
    let values = if dtype == Dtype::Bitmask { bools(py, &shape, bytes)? } else { flat(py, dtype, bytes)? };
    let values = values.call_method1("reshape", (PyTuple::new(py, &shape)?,))?;
    (PyTuple::new(py, &whole)?, values).into_pyobject(py)
}

/// The most indices of a list: 32 GiB of them.
const MOST_INDICES: u64 = 1 << 32;

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
    // Not by `extract`: what says that it is long would end the process.
    let (count, mut list) = (key.len()?, Vec::new());
    let too_many = || PyOverflowError::new_err(format!("{count} indices have no room in memory"));
    if count as u64 > MOST_INDICES {
        return Err(too_many());
    }
    list.try_reserve_exact(count).map_err(|_| too_many())?;
    for index in key.try_iter()? {
        list.push(index?.extract()?);
    }
    Ok(Indices::List(list))
}

fn attribute<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    Ok(match attribute {
        Attribute::Text(text) => text.into_pyobject(py)?.into_any(),
        Attribute::Integer(number) => number.into_pyobject(py)?.into_any(),
        Attribute::Float(number) => number.into_pyobject(py)?.into_any(),
        Attribute::Integers(numbers) => numbers.clone().into_pyarray(py).into_any(),
        Attribute::Floats(numbers) => numbers.clone().into_pyarray(py).into_any(),
        Attribute::Texts(texts) => PyList::new(py, texts)?.into_any(),
        Attribute::Nested(value) => object(py, value)?,
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
        Values::Times(times) => ("times", times.seconds().into_pyarray(py).into_any()),
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
    found.set_item("packed", it.is_packed())?;
    found.set_item("piece", PyTuple::new(py, it.piece_shape().as_ref())?)?;
    found.set_item("seams", it.seams())?;
    found.set_item("objects", it.object_count())?;
    found.set_item("holes", it.hole_count())?;
    found.set_item("fill", fill(py, it)?)?;
    Ok(found)
}

/// The element of places without an object, as an array of one: where the caller or the file says it.
fn fill<'py>(py: Python<'py>, it: &Variable) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (Some(Hole::Fill(element)), Some(dtype)) = (it.hole(), it.dtype()) else { return Ok(None) };
    // Parts of several types have one that holds all their values, and the element is of the first part's.
    if element.len() != dtype.byte_width().max(1) {
        return Ok(None);
    }
    flat(py, dtype, element.clone()).map(Some)
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Dataset>()?;
    module.add_function(wrap_pyfunction!(_decode_frame, module)?)?;
    module.add_function(wrap_pyfunction!(_frame_shape, module)?)?;
    module.add_function(wrap_pyfunction!(_open_datasets, module)?)?;
    module.add_function(wrap_pyfunction!(_hint, module)?)?;
    module.add_function(wrap_pyfunction!(_dataset_groups, module)?)
}
