//! Decoded messages and objects as Python has them.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use tgm_std::decode::deferred::{DeferredMetadata, DeferredObject};
use tgm_std::decode::{DecodedMaskSet, DecodedObjectWithMasks};
use tgm_std::{DataObjectDescriptor as Described, GlobalMetadata};

use crate::convert::array_out::{self, Bits};
use crate::descriptor::DataObjectDescriptor;
use crate::metadata::Metadata;
use crate::work::detached;

/// The namedtuple `(metadata, objects)`.
pub(crate) fn message<'py>(
    py: Python<'py>,
    metadata: Metadata,
    objects: Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.import(py, "tgmio._message", "DecodedMessage")?;
    // A namedtuple's own constructor runs code of Python.
    let make = MAKE.get_or_try_init(py, || py.get_type::<PyTuple>().getattr("__new__").map(Bound::unbind))?;
    make.bind(py).call1((class, (metadata, objects)))
}

/// A decoded message: its objects are pairs of descriptor and array.
pub(crate) fn decoded(
    py: Python<'_>,
    (metadata, objects): (GlobalMetadata, Vec<(Described, Vec<u8>)>),
) -> PyResult<Bound<'_, PyAny>> {
    let list = PyList::empty(py);
    for (descriptor, values) in objects {
        let array = array_of(py, &descriptor, values, Bits::Truths)?;
        list.append((DataObjectDescriptor::new(descriptor), array))?;
    }
    message(py, Metadata::new(metadata), list)
}

/// [`decoded`] of what is made of metadata and descriptors later, with bitmasks as `bits` says.
pub(crate) fn deferred(
    py: Python<'_>,
    (metadata, objects): (DeferredMetadata, Vec<DeferredObject>),
    bits: Bits,
) -> PyResult<Bound<'_, PyAny>> {
    let pair = |object: DeferredObject| {
        let DeferredObject { descriptor, dtype, shape, values } = object;
        let array = array_out::array(py, dtype, &shape, values, bits)?;
        (DataObjectDescriptor::from(descriptor), array).into_pyobject(py)
    };
    let pairs = objects.into_iter().map(pair).collect::<PyResult<Vec<_>>>()?;
    message(py, Metadata::of(metadata), PyList::new(py, pairs)?)
}

/// The array of an object's decoded values.
fn array_of<'py>(py: Python<'py>, descriptor: &Described, values: Vec<u8>, bits: Bits) -> PyResult<Bound<'py, PyAny>> {
    array_out::array(py, array_out::decoded_dtype(descriptor), &descriptor.shape, values, bits)
}

/// A decoded message whose objects are triples of descriptor, array and masks.
pub(crate) fn decoded_with_masks(
    py: Python<'_>,
    (metadata, objects): (GlobalMetadata, Vec<DecodedObjectWithMasks>),
    bits: Bits,
) -> PyResult<Bound<'_, PyAny>> {
    let list = PyList::empty(py);
    for DecodedObjectWithMasks { descriptor, payload, masks } in objects {
        let array = array_of(py, &descriptor, payload, bits)?;
        list.append((DataObjectDescriptor::new(descriptor), array, mask_dict(py, masks)?))?;
    }
    message(py, Metadata::new(metadata), list)
}

/// The masks of an object: flat arrays of bool by the names of the format.
fn mask_dict(py: Python<'_>, masks: DecodedMaskSet) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let DecodedMaskSet { nan, pos_inf, neg_inf } = masks;
    for (name, mask) in [("nan", nan), ("inf+", pos_inf), ("inf-", neg_inf)] {
        if let Some(mask) = mask {
            dict.set_item(name, array_out::truths(py, mask))?;
        }
    }
    Ok(dict)
}

/// The tuple of a message's metadata, and the descriptor and the array of one object.
pub(crate) fn object(
    py: Python<'_>,
    (metadata, descriptor, values): (GlobalMetadata, Described, Vec<u8>),
    bits: Bits,
) -> PyResult<Bound<'_, PyTuple>> {
    let array = array_of(py, &descriptor, values, bits)?;
    (Metadata::new(metadata), DataObjectDescriptor::new(descriptor), array).into_pyobject(py)
}

/// The same as a dict, as methods of files return it.
pub(crate) fn object_dict(
    py: Python<'_>,
    (metadata, descriptor, values): (GlobalMetadata, Described, Vec<u8>),
) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("metadata", Metadata::new(metadata))?;
    let array = array_of(py, &descriptor, values, Bits::Truths)?;
    dict.set_item("descriptor", DataObjectDescriptor::new(descriptor))?;
    dict.set_item("data", array)?;
    Ok(dict)
}

/// The metadata of a message and a list of its descriptors.
pub(crate) fn descriptors(
    py: Python<'_>,
    (metadata, descriptors): (GlobalMetadata, Vec<Described>),
) -> PyResult<(Metadata, Bound<'_, PyList>)> {
    let list = PyList::empty(py);
    descriptors.into_iter().try_for_each(|descriptor| list.append(DataObjectDescriptor::new(descriptor)))?;
    Ok((Metadata::new(metadata), list))
}

/// The arrays of ranges, one for each, or one for all of them (`join`).
pub(crate) fn ranges(
    py: Python<'_>,
    (descriptor, ranges): (Described, Vec<Vec<u8>>),
    join: bool,
) -> PyResult<Bound<'_, PyAny>> {
    let dtype = array_out::decoded_dtype(&descriptor);
    if join {
        let joined = detached(py, || ranges.concat())?;
        return array_out::flat(py, dtype, joined);
    }
    let arrays = ranges.into_iter().map(|range| array_out::flat(py, dtype, range)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, arrays)?.into_any())
}

/// [`descriptors`] as a dict, as methods of files return it.
pub(crate) fn descriptors_dict(
    py: Python<'_>,
    decoded: (GlobalMetadata, Vec<Described>),
) -> PyResult<Bound<'_, PyDict>> {
    let (metadata, descriptors) = descriptors(py, decoded)?;
    let dict = PyDict::new(py);
    dict.set_item("metadata", metadata)?;
    dict.set_item("descriptors", descriptors)?;
    Ok(dict)
}

/// A list of [`object_dict`].
pub(crate) fn object_dicts(
    py: Python<'_>,
    objects: Vec<(GlobalMetadata, Described, Vec<u8>)>,
) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    objects.into_iter().try_for_each(|object| list.append(object_dict(py, object)?))?;
    Ok(list)
}

/// A list of [`ranges`].
pub(crate) fn range_lists(
    py: Python<'_>,
    found: Vec<(Described, Vec<Vec<u8>>)>,
    join: bool,
) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    found.into_iter().try_for_each(|found| list.append(ranges(py, found, join)?))?;
    Ok(list)
}
