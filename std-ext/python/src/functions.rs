//! The functions of the module, by subject.

mod decode;
mod doctor;
pub(crate) mod encode;
mod hash;
mod packing;
mod reference;
pub(crate) mod scan;
mod validate;

use pyo3::prelude::*;

/// Adds all functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($function:path),+ $(,)?) => {
            $(module.add_function(wrap_pyfunction!($function, module)?)?;)+
        };
    }
    add!(
        crate::descriptor::_descriptor_from_cbor,
        crate::errors::_advice,
        crate::file::_open_again,
        crate::iterators::iter_messages,
        crate::metadata::_metadata_from_cbor,
        decode::decode,
        decode::decode_descriptors,
        decode::decode_metadata,
        decode::decode_object,
        decode::decode_range,
        decode::decode_with_masks,
        doctor::doctor,
        encode::encode,
        encode::encode_pre_encoded,
        hash::compute_hash,
        packing::_packing_within,
        packing::compute_packing_params,
        scan::_shown,
        scan::is_remote_url,
        scan::scan,
        validate::validate,
        validate::validate_file,
    );
    reference::add_to(module)
}
