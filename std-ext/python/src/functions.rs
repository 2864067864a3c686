//! The functions of the module, by subject.

mod decode;
mod encode;

use pyo3::prelude::*;

/// Adds all functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(crate::metadata::_metadata_from_cbor, module)?)?;
    module.add_function(wrap_pyfunction!(crate::descriptor::_descriptor_from_cbor, module)?)?;
    module.add_function(wrap_pyfunction!(encode::encode, module)?)?;
    module.add_function(wrap_pyfunction!(encode::encode_pre_encoded, module)?)?;
    module.add_function(wrap_pyfunction!(decode::decode, module)?)?;
    module.add_function(wrap_pyfunction!(decode::decode_with_masks, module)?)?;
    module.add_function(wrap_pyfunction!(decode::decode_metadata, module)?)?;
    module.add_function(wrap_pyfunction!(decode::decode_descriptors, module)?)?;
    module.add_function(wrap_pyfunction!(decode::decode_object, module)?)?;
    module.add_function(wrap_pyfunction!(decode::decode_range, module)?)
}
