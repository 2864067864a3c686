//! Catalogues, as `tgmio/_catalogue.py` calls them.

use std::path::{Path, PathBuf};

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyTuple};
use tgm_catalog::VaryingKeys;
use tgm_catalog::tree::{ALWAYS, Child, Choice, Tree};
use tgm_dataset::on_all_cores;
use tgm_std::TensogramError;
use tgm_std::file::{TensogramFile, is_remote_url};

use crate::convert::arguments::{items, paths};
use crate::convert::cbor_out;
use crate::errors::raise;
use crate::work::detached;

/// A catalogue of a file.
#[pyclass(frozen, name = "_Catalog", module = "tgmio._native")]
pub(crate) struct Catalog(tgm_catalog::Catalog);

/// The data that a catalogue is of.
fn data(source: &Path) -> tgm_std::Result<TensogramFile> {
    match source.to_str().filter(|text| is_remote_url(text)) {
        Some(address) => TensogramFile::open_source(address, None),
        None => TensogramFile::open(source),
    }
}

#[pymethods]
impl Catalog {
    /// Catalogues a file: with these keys, or with all that it has, the structural ones among them.
    #[staticmethod]
    fn build(py: Python<'_>, source: PathBuf, keys: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let keys = keys.map(|keys| items(keys, "keys", |key| key.extract::<String>())).transpose()?;
        let built = detached(py, || {
            let (data, options) = (data(&source)?, on_all_cores());
            let within = |error: TensogramError| error.within(data.name());
            let keys = if let Some(keys) = keys {
                keys
            } else {
                let mut keys = VaryingKeys::default();
                keys.add(&data, &options).map_err(within)?;
                let mut keys = keys.finish(|_| true);
                keys.extend(["codec", "bytes", "stored"].map(String::from));
                keys
            };
            let built = tgm_catalog::Catalog::build_with(&data, &keys, &options).map_err(within)?;
            if built.message_count() == 0 {
                // A file of another format is an error.
                tgm_std::Archive::open(&source)?;
            }
            Ok(built)
        })?;
        built.map(Self).map_err(raise(py))
    }

    /// Opens the catalogue in a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        detached(py, || tgm_catalog::Catalog::open(&path))?.map(Self).map_err(raise(py))
    }

    /// The bytes of the catalogue.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// What the catalogue is worth for a file: "fresh", or what is wrong.
    fn check(&self, py: Python<'_>, source: PathBuf) -> PyResult<String> {
        let found = detached(py, || self.0.check(&data(&source)?))?;
        found.map(|freshness| freshness.to_string()).map_err(raise(py))
    }

    /// The keys that have a column.
    #[getter]
    fn keys(&self) -> Vec<String> {
        self.0.keys().map(str::to_string).collect()
    }

    /// The number of messages.
    #[getter]
    fn message_count(&self) -> usize {
        self.0.message_count()
    }

    /// The number of objects.
    #[getter]
    fn object_count(&self) -> usize {
        self.0.object_count()
    }

    /// For all objects: the numbers of their messages, their own numbers, the first bytes of their frames, and their lengths.
    fn places<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let found = detached(py, || self.0.objects())?.map_err(raise(py))?;
        let columns: [Vec<u64>; 4] = [
            found.iter().map(|it| it.message as u64).collect(),
            found.iter().map(|it| it.object as u64).collect(),
            found.iter().map(|it| it.offset).collect(),
            found.iter().map(|it| it.length).collect(),
        ];
        PyTuple::new(py, columns.map(|column| column.into_pyarray(py)))
    }

    /// The distinct values of a key, and for each object the number of its value: -1 where it is missing.
    fn column<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyTuple>> {
        let found = detached(py, || self.0.column(key))?.map_err(raise(py))?;
        let values = found.values.iter().map(|value| cbor_out::object(py, value)).collect::<PyResult<Vec<_>>>()?;
        let codes: Vec<i64> = found.codes.iter().map(|code| code.map_or(-1, i64::from)).collect();
        PyTuple::new(py, [PyList::new(py, values)?.into_any(), codes.into_pyarray(py).into_any()])
    }
}

/// The keys that vary among the objects of several files, and those that a tree always has.
#[pyfunction]
fn _varying_keys(py: Python<'_>, #[pyo3(from_py_with = paths)] sources: Vec<PathBuf>) -> PyResult<Vec<String>> {
    let found = detached(py, || {
        let (mut keys, options) = (VaryingKeys::default(), on_all_cores());
        for source in &sources {
            let data = data(source)?;
            keys.add(&data, &options).map_err(|error| error.within(data.name()))?;
        }
        Ok(keys.finish(|key| key.starts_with(ALWAYS)))
    });
    found?.map_err(raise(py))
}

/// The bytes of a tree: of the names of its children below its folder, and the bytes of the catalogue or the tree of each.
#[pyfunction]
fn _tree<'py>(py: Python<'py>, children: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let children: Vec<(String, PyBackedBytes)> = items(children, "children", |child| child.extract())?;
    let built = detached(py, || {
        let child = |(name, bytes): &(String, PyBackedBytes)| {
            let child = if Choice::is_tree(Path::new(name)) {
                Tree::from_bytes(bytes).and_then(|tree| Child::of_tree(name, &tree, bytes))
            } else {
                tgm_catalog::Catalog::from_bytes(bytes).and_then(|found| Child::of_catalog(name, &found, bytes))
            };
            child.map_err(|error| error.within(name))
        };
        Ok(Tree::build(&children.iter().map(child).collect::<tgm_std::Result<Vec<_>>>()?)?.to_bytes())
    });
    Ok(PyBytes::new(py, &built?.map_err(raise(py))?))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Catalog>()?;
    module.add_function(wrap_pyfunction!(_varying_keys, module)?)?;
    module.add_function(wrap_pyfunction!(_tree, module)?)
}
