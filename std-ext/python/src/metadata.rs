//! The class `Metadata`.

use std::collections::BTreeMap;
use std::sync::Arc;

use ciborium::Value;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyString};
use tgm_std::GlobalMetadata;
use tgm_std::decode::deferred::DeferredMetadata;

use crate::canonical::{Canonical, Reduced};
use crate::convert::cbor_out;
use crate::errors::raise;
use crate::html;

/// The entry of an object that the library writes. Keys and paths do not find it.
const RESERVED: &str = "_reserved_";
/// The version of the format, which the preamble of a message states.
const VERSION: u16 = 3;

/// Metadata of a message: one mapping for each object, and annotations of the message.
///
/// It is a mapping of the top-level keys: a key stands for the value in the first object that has it, or else in the
/// annotations. Instances do not change; equal metadata are equal, whichever message they come from. They pickle.
///
/// >>> import numpy, tgmio as tgm
/// >>> field = numpy.zeros(3, "float32")
/// >>> message = tgm.encode({"base": [{"mars": {"param": "2t"}}], "run": 7}, [(None, field)])
/// >>> meta = tgm.decode_metadata(message)
/// >>> meta["run"], meta.get_path("mars.param"), "step" in meta
/// (7, '2t', False)
/// >>> list(meta)
/// ['mars', 'run']
#[pyclass(frozen, mapping, weakref, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct Metadata {
    inner: DeferredMetadata,
}

impl Metadata {
    pub(crate) fn new(inner: GlobalMetadata) -> Self {
        Self::of(Arc::new(inner))
    }

    /// Metadata that others have too, or that are made later.
    pub(crate) fn of(inner: impl Into<DeferredMetadata>) -> Self {
        Self { inner: inner.into() }
    }

    /// The metadata, which are made when they are first asked for.
    fn owned(&self, py: Python<'_>) -> PyResult<&GlobalMetadata> {
        self.inner.get().map(|inner| &**inner).map_err(raise(py))
    }

    /// What a program wrote, without what the library added.
    pub(crate) fn without_reserved(&self, py: Python<'_>) -> PyResult<GlobalMetadata> {
        let mut metadata = GlobalMetadata { reserved: BTreeMap::new(), ..self.owned(py)?.clone() };
        for entries in &mut metadata.base {
            entries.remove(RESERVED);
        }
        Ok(metadata)
    }

    fn find(&self, py: Python<'_>, key: &str) -> PyResult<Option<&Value>> {
        let inner = self.owned(py)?;
        if key == RESERVED {
            return Ok(inner.extra.get(key));
        }
        Ok(inner.base.iter().find_map(|entries| entries.get(key)).or_else(|| inner.extra.get(key)))
    }

    /// The keys and values of the mapping, in order.
    fn union(&self, py: Python<'_>) -> PyResult<Vec<(&str, &Value)>> {
        let inner = self.owned(py)?;
        let mut union: Vec<(&str, &Value)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let base = inner.base.iter().flatten().filter(|(key, _)| *key != RESERVED);
        for (key, value) in base.chain(&inner.extra) {
            if seen.insert(key.as_str()) {
                union.push((key, value));
            }
        }
        Ok(union)
    }
}

/// A value that was found, or else the default of the caller.
fn found<'py>(
    py: Python<'py>,
    value: Option<&Value>,
    default: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Some(value) => cbor_out::object(py, value),
        None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
    }
}

impl Canonical for Metadata {
    const MAKER: &'static str = "_metadata_from_cbor";
    fn cbor(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        tgm_std::metadata::global_metadata_to_cbor(self.owned(py)?).map_err(raise(py))
    }
}

#[pymethods]
impl Metadata {
    /// The version of the format: 3.
    #[getter]
    fn version(&self) -> u16 {
        VERSION
    }

    /// A new list with a `dict` for each object, keys in order.
    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let dicts =
            self.owned(py)?.base.iter().map(|entries| cbor_out::dict(py, entries)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, dicts)
    }

    /// A new `dict` with the annotations of the message.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        cbor_out::dict(py, &self.owned(py)?.extra)
    }

    /// A new `dict` with what the library wrote: encoder, time, uuid.
    #[getter]
    fn reserved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        cbor_out::dict(py, &self.owned(py)?.reserved)
    }

    /// How many objects have metadata.
    #[getter]
    fn num_objects(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.owned(py)?.num_objects())
    }

    fn __getitem__<'py>(&self, key: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let text = key.cast::<PyString>()?;
        match self.find(key.py(), text.to_str()?)? {
            Some(value) => cbor_out::object(key.py(), value),
            None => Err(PyKeyError::new_err(key.unbind())),
        }
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        match key.cast::<PyString>() {
            Ok(text) => Ok(self.find(key.py(), text.to_str()?)?.is_some()),
            Err(_) => Ok(false),
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.union(py)?.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
    }

    /// The value of a top-level key, or the default.
    ///
    /// >>> import tgmio as tgm
    /// >>> meta = tgm.decode_metadata(tgm.encode({"run": None}, []))
    /// >>> meta.get("run", 1) is None, meta.get("step", 1)
    /// (True, 1)
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(&self, key: Bound<'py, PyAny>, default: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let value = match key.cast::<PyString>() {
            Ok(text) => self.find(key.py(), text.to_str()?)?,
            Err(_) => None,
        };
        found(key.py(), value, default)
    }

    /// The list of all keys: first the keys of each object, in order, then the keys of the annotations.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.union(py)?.into_iter().map(|(key, _)| key))
    }

    /// The list of values, in the order of `keys()`.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values = self.union(py)?.into_iter().map(|(_, value)| cbor_out::object(py, value));
        PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    /// The list of pairs of key and value, in the order of `keys()`.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let items = self.union(py)?.into_iter().map(|(key, value)| Ok((key, cbor_out::object(py, value)?)));
        PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)
    }

    /// Whether a dotted path leads to a value, in any object or in the annotations.
    fn has_path(&self, py: Python<'_>, path: &str) -> PyResult<bool> {
        Ok(self.owned(py)?.get_value(path).is_some())
    }

    /// The value at a dotted path such as `mars.param`, or the default.
    ///
    /// The first object counts in which the whole path leads to a value, then the annotations. A path that begins with
    /// `extra.` or `_extra_.` looks at the annotations only.
    #[pyo3(signature = (path, default=None))]
    fn get_path<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        found(py, self.owned(py)?.get_value(path), default)
    }

    /// Whether a dotted path leads to a value in the metadata of object `obj`.
    fn has_path_at(&self, py: Python<'_>, obj: usize, path: &str) -> PyResult<bool> {
        Ok(self.owned(py)?.get_value_at(obj, path).is_some())
    }

    /// The value at a dotted path in the metadata of object `obj`, or the default.
    #[pyo3(signature = (obj, path, default=None))]
    fn get_path_at<'py>(
        &self,
        py: Python<'py>,
        obj: usize,
        path: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        found(py, self.owned(py)?.get_value_at(obj, path), default)
    }

    /// All of it as a `dict` that `encode` takes: `base` without what the library wrote, and `_extra_`.
    ///
    /// >>> import tgmio as tgm
    /// >>> tgm.decode_metadata(tgm.encode({"run": 7}, [])).to_dict()
    /// {'base': [], '_extra_': {'run': 7}}
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metadata = self.without_reserved(py)?;
        let base = metadata.base.iter().map(|entries| cbor_out::dict(py, entries)).collect::<PyResult<Vec<_>>>()?;
        let dict = PyDict::new(py);
        dict.set_item("base", base)?;
        dict.set_item("_extra_", cbor_out::dict(py, &metadata.extra)?)?;
        Ok(dict)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.equals(other)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        self.hashed(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.owned(py)?;
        let keys: Vec<&String> = inner.extra.keys().collect();
        Ok(format!("Metadata(version={VERSION}, base_len={}, extra_keys={keys:?})", inner.base.len()))
    }

    /// A table of the objects and their metadata, with the annotations last.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let own = self.without_reserved(py)?;
        let text = |entries| html::text(cbor_out::dict(py, entries)?.as_any());
        let objects = own.base.iter().enumerate();
        let mut rows: Vec<[String; 2]> =
            objects.map(|(index, entries)| Ok([index.to_string(), text(entries)?])).collect::<PyResult<_>>()?;
        rows.push(["message".to_owned(), text(&own.extra)?]);
        Ok(html::table(["object", "metadata"], rows.into_iter()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        self.reduced(py)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

/// The metadata that pickled metadata consists of.
#[pyfunction]
pub(crate) fn _metadata_from_cbor(py: Python<'_>, cbor: &[u8]) -> PyResult<Metadata> {
    tgm_std::metadata::cbor_to_global_metadata(cbor).map(Metadata::new).map_err(raise(py))
}
