//! The class `DataObjectDescriptor`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tgm_std::DataObjectDescriptor as Described;
use tgm_std::decode::deferred::DeferredDescriptor;

use crate::canonical::{Canonical, Reduced};
use crate::convert::cbor_out;
use crate::errors::raise;
use crate::html;

/// What an object is: its shape, the type of its elements, and the stages that its payload went through.
///
/// Instances do not change; equal descriptors are equal, whichever object they come from. They pickle.
///
/// >>> import numpy, tgmio as tgm
/// >>> keys = {"type": "ntensor", "shape": [2, 3], "dtype": "int16", "compression": "zstd", "zstd_level": 9}
/// >>> message = tgm.encode({}, [(keys, numpy.zeros(6, "int16"))])
/// >>> _, (descriptor,) = tgm.decode_descriptors(message)
/// >>> descriptor.shape, descriptor.strides, descriptor.dtype, descriptor.params
/// ([2, 3], [3, 1], 'int16', {'zstd_level': 9})
#[pyclass(frozen, weakref, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct DataObjectDescriptor {
    inner: DeferredDescriptor,
}

impl From<DeferredDescriptor> for DataObjectDescriptor {
    fn from(inner: DeferredDescriptor) -> Self {
        Self { inner }
    }
}

impl DataObjectDescriptor {
    pub(crate) fn new(inner: Described) -> Self {
        Self { inner: Arc::new(inner).into() }
    }

    /// The descriptor, which is made when it is first asked for.
    pub(crate) fn described(&self, py: Python<'_>) -> PyResult<&Described> {
        self.inner.get().map(|inner| &**inner).map_err(raise(py))
    }
}

impl Canonical for DataObjectDescriptor {
    const MAKER: &'static str = "_descriptor_from_cbor";
    fn cbor(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        tgm_std::metadata::object_descriptor_to_cbor(self.described(py)?).map_err(raise(py))
    }
}

#[pymethods]
impl DataObjectDescriptor {
    /// The kind of object, "ntensor" by convention.
    #[getter]
    fn obj_type(&self, py: Python<'_>) -> PyResult<&str> {
        Ok(&self.described(py)?.obj_type)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.described(py)?.ndim)
    }

    /// A new list of the dimensions, slowest first.
    #[getter]
    fn shape(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        Ok(self.described(py)?.shape.clone())
    }

    /// A new list with one number of elements for each dimension.
    #[getter]
    fn strides(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        Ok(self.described(py)?.strides.clone())
    }

    /// The type of the elements, such as "float32". Packed values decode to float64 all the same.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.described(py)?.dtype.name())
    }

    /// The order of the stored bytes: "little" or "big".
    #[getter]
    fn byte_order(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.described(py)?.byte_order.name())
    }

    /// The first stage: "none" or "simple_packing".
    #[getter]
    fn encoding(&self, py: Python<'_>) -> PyResult<&str> {
        Ok(&self.described(py)?.encoding)
    }

    /// The second stage: "none" or "shuffle".
    #[getter]
    fn filter(&self, py: Python<'_>) -> PyResult<&str> {
        Ok(&self.described(py)?.filter)
    }

    /// The third stage: "none", "szip", "zstd", "lz4", "blosc2", "zfp" or "sz3".
    #[getter]
    fn compression(&self, py: Python<'_>) -> PyResult<&str> {
        Ok(&self.described(py)?.compression)
    }

    /// A new `dict` with the parameters of the stages, and all other entries of the writer.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        cbor_out::dict(py, &self.described(py)?.params)
    }

    /// None. Digests lie in the frames of a message, not in descriptors.
    #[getter]
    fn hash(&self) -> Option<String> {
        None
    }

    /// All of it as a flat `dict` that `encode` takes.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("type", self.obj_type(py)?)?;
        dict.set_item("ndim", self.ndim(py)?)?;
        dict.set_item("shape", self.shape(py)?)?;
        dict.set_item("strides", self.strides(py)?)?;
        dict.set_item("dtype", self.dtype(py)?)?;
        dict.set_item("byte_order", self.byte_order(py)?)?;
        dict.set_item("encoding", self.encoding(py)?)?;
        dict.set_item("filter", self.filter(py)?)?;
        dict.set_item("compression", self.compression(py)?)?;
        dict.update(self.params(py)?.as_mapping())?;
        Ok(dict)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.equals(other)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        self.hashed(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Described { obj_type, shape, dtype, encoding, compression, .. } = self.described(py)?;
        let dtype = dtype.name();
        Ok(format!(
            "DataObjectDescriptor(type='{obj_type}', shape={shape:?}, dtype='{dtype}', encoding='{encoding}', \
             compression='{compression}')"
        ))
    }

    /// A table of the fields.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let items = self.to_dict(py)?.into_iter();
        let rows =
            items.map(|(name, value)| Ok([html::text(&name)?, html::text(&value)?])).collect::<PyResult<Vec<_>>>()?;
        Ok(html::table(["field", "value"], rows.into_iter()))
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

/// The descriptor that a pickled descriptor consists of.
#[pyfunction]
pub(crate) fn _descriptor_from_cbor(py: Python<'_>, cbor: &[u8]) -> PyResult<DataObjectDescriptor> {
    tgm_std::metadata::cbor_to_object_descriptor(cbor).map(DataObjectDescriptor::new).map_err(raise(py))
}
