//! Metadata and descriptors as values of CBOR, and out of them.

use ciborium::Value;
#[cfg(feature = "writer")]
use tgm_std::TensogramError;
#[cfg(feature = "writer")]
use tgm_std::metadata::cbor_to_object_descriptor;
use tgm_std::metadata::object_descriptor_to_cbor;
use tgm_std::{DataObjectDescriptor, GlobalMetadata};

use crate::args::Entries;
#[cfg(feature = "writer")]
use crate::args::entries;
use crate::failure::{Failure, map, wrong};

fn to_map(entries: Entries) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// Metadata as they are handed out.
pub(crate) fn metadata(metadata: GlobalMetadata) -> Value {
    let GlobalMetadata { base, reserved, extra } = metadata;
    let base = base.into_iter().map(to_map).collect();
    map([("base", Value::Array(base)), ("_reserved_", to_map(reserved)), ("_extra_", to_map(extra))])
}

/// A descriptor as it is written.
///
/// # Errors
/// The errors of writing it.
pub(crate) fn descriptor(descriptor: &DataObjectDescriptor) -> Result<Value, Failure> {
    let bytes = object_descriptor_to_cbor(descriptor)?;
    ciborium::from_reader(&bytes[..]).map_err(|error| wrong(error.to_string()))
}

/// Metadata out of a map with `base` and `_extra_`.
///
/// # Errors
/// [`Failure`] for other values.
#[cfg(feature = "writer")]
pub(crate) fn to_metadata(value: Value) -> Result<GlobalMetadata, Failure> {
    let mut found = GlobalMetadata::default();
    for (key, value) in entries(value)? {
        match key.as_str() {
            "base" => {
                let base = value.into_array().map_err(|_| wrong("base is not a list"))?;
                found.base = base.into_iter().map(entries).collect::<Result<_, _>>()?;
            }
            "_extra_" => found.extra = entries(value)?,
            other => return Err(wrong(format!("metadata: {other}"))),
        }
    }
    Ok(found)
}

/// A descriptor out of a map.
///
/// # Errors
/// The errors of reading it.
#[cfg(feature = "writer")]
pub(crate) fn to_descriptor(value: &Value) -> Result<DataObjectDescriptor, Failure> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).map_err(|error| TensogramError::Metadata(error.to_string().into()))?;
    Ok(cbor_to_object_descriptor(&bytes)?)
}
