//! Messages decoded whole, with metadata and descriptors that become owned when they are looked at.

use tgm_core::descriptor::{Dtype, Encoding};

use super::checked::CheckedMessage;
use super::whole::decode_owned_values;
use crate::base::error::Result;
use crate::base::options::DecodeOptions;
pub use crate::model::to_owned::{DeferredDescriptor, DeferredMetadata};

/// A decoded object.
#[derive(Debug)]
pub struct DeferredObject {
    /// What it is.
    pub descriptor: DeferredDescriptor,
    /// The type of the values: of packed ones `float64`.
    pub dtype: Dtype,
    /// The dimensions, slowest first.
    pub shape: Vec<u64>,
    /// The values, as bytes.
    pub values: Vec<u8>,
}

/// [`decode`](crate::decode()) for callers that look at few descriptors and at little metadata.
///
/// # Errors
/// As [`decode`](crate::decode()).
pub fn decode_deferred(bytes: &[u8], options: &DecodeOptions) -> Result<(DeferredMetadata, Vec<DeferredObject>)> {
    let (checked, proof) = CheckedMessage::for_values(bytes, options, None)?;
    let objects = checked.map_objects(proof, options, |object, threads| {
        let values = decode_owned_values(object, options, threads)?;
        let view = object.descriptor();
        let is_packed = view.encoding().known() == Some(Encoding::SimplePacking);
        Ok(DeferredObject {
            descriptor: DeferredDescriptor::new(view, &checked.budget)?,
            dtype: if is_packed { Dtype::Float64 } else { view.dtype() },
            shape: view.shape().iter().collect(),
            values,
        })
    })?;
    Ok((DeferredMetadata::new(&checked.metadata, &checked.budget)?, objects))
}
