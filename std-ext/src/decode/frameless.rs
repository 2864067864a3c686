//! Objects that lie in no frame: an owned descriptor, and bytes that the caller keeps.
//!
//! The descriptor is written as CBOR and read as a view. So it passes the same checks as a descriptor in a message, and
//! the bytes are decoded by the same code, where they lie. They have no digest: with `verify_hash` that is an error.

use tgm_core::descriptor::{Descriptor, Dtype, Encoding};
use tgm_core::wire::FRAME_HEADER_SIZE;

use super::each_range::trusted_ranges;
use super::trust::{Proof, Trusted};
use super::whole::trusted_values;
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::model::metadata::object_descriptor_to_cbor;
use crate::model::types::DataObjectDescriptor;

/// All values of an object, out of its payload region.
///
/// Offsets in errors count as in a frame that holds the region and, after it, the descriptor.
///
/// # Errors
/// [`TensogramError::Metadata`] for a descriptor that cannot be CBOR; [`TensogramError::MissingHash`] with
/// `verify_hash`; the errors of the descriptor, the masks and the stages.
pub(crate) fn decode_region(
    descriptor: &DataObjectDescriptor,
    region: &[u8],
    options: &DecodeOptions,
) -> Result<Vec<u8>> {
    let cbor = cbor(descriptor)?;
    let proof = Proof::of_bare_bytes(options)?;
    let region_offset = FRAME_HEADER_SIZE as u64;
    let view = Descriptor::parse(&cbor, region_offset + region.len() as u64).map_err(TensogramError::of_object)?;
    let object = Trusted::without_frame(&view, region, region_offset, proof)?;
    options.limits.owned(trusted_values(object, options)?)
}

/// The values of `ranges` of an object, out of its payload. Masks are left out: their blobs are not in a payload.
///
/// Offsets in errors about the descriptor count as in a frame that holds nothing else. Offsets in errors about values
/// count from the payload's start.
///
/// # Errors
/// As [`decode_region`]; [`TensogramError::Encoding`] for a range that the object does not have.
pub(super) fn decode_payload_ranges(
    descriptor: &DataObjectDescriptor,
    payload: &[u8],
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    let cbor = cbor(&DataObjectDescriptor { masks: None, ..descriptor.clone() })?;
    let view = Descriptor::parse(&cbor, FRAME_HEADER_SIZE as u64).map_err(TensogramError::of_object)?;
    let proof = Proof::of_bare_bytes(options)?;
    trusted_ranges(Trusted::without_frame(&view, payload, 0, proof)?, ranges, options)
}

/// The descriptor's CBOR, as a frame holds it.
fn cbor(descriptor: &DataObjectDescriptor) -> Result<Vec<u8>> {
    // The stages refuse it as well, by an offset in a frame that does not exist here.
    let dtype = descriptor.dtype;
    if dtype != Dtype::Float64 && Encoding::from_name(&descriptor.encoding) == Some(Encoding::SimplePacking) {
        return Err(TensogramError::encoding(format!("simple_packing only supports float64, got {dtype}")));
    }
    object_descriptor_to_cbor(descriptor)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    use super::*;
    use crate::encode::encode_data_object_frame;
    use crate::model::types::{MaskDescriptor, MasksMetadata};
    use crate::{ByteOrder, decode_object_from_frame, read};

    /// Descriptors of regions of 24 bytes; most are wrong.
    fn descriptors() -> Vec<DataObjectDescriptor> {
        let good = DataObjectDescriptor::new(Dtype::Float32, ByteOrder::Little, &[6]);
        let mask = |method: &str, offset, length| {
            let nan = Some(MaskDescriptor { method: method.into(), offset, length, params: BTreeMap::default() });
            let masks = Some(MasksMetadata { nan, ..Default::default() });
            DataObjectDescriptor { shape: vec![5], masks, ..good.clone() }
        };
        vec![
            good.clone(),
            DataObjectDescriptor { shape: vec![7], ..good.clone() },
            DataObjectDescriptor { strides: vec![], ..good.clone() },
            DataObjectDescriptor { encoding: "odd".into(), ..good.clone() },
            DataObjectDescriptor { filter: "odd".into(), ..good.clone() },
            DataObjectDescriptor { filter: "shuffle".into(), ..good.clone() },
            DataObjectDescriptor { compression: "odd".into(), ..good.clone() },
            DataObjectDescriptor { compression: "szip".into(), ..good.clone() },
            DataObjectDescriptor { encoding: "simple_packing".into(), dtype: Dtype::Float64, ..good.clone() },
            mask("none", 20, 1),
            mask("none", 20, 5),
            mask("odd", 20, 1),
            mask("rle", 20, 4),
        ]
    }

    #[test]
    fn a_region_decodes_as_in_a_frame_to_the_same_values_and_errors() {
        let region = [0x81; 24];
        for descriptor in descriptors() {
            let frame = encode_data_object_frame(&descriptor, &region, false, false).unwrap();
            let options = DecodeOptions::default();
            let expected = decode_object_from_frame(&frame, &options).map(|(_, values)| values);
            let found = decode_region(&descriptor, &region, &options);
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
    }

    #[test]
    fn a_payload_decodes_as_beside_a_frame_to_the_same_values_and_errors() {
        let payload = [0x81; 24];
        for descriptor in descriptors() {
            let unmasked = DataObjectDescriptor { masks: None, ..descriptor.clone() };
            let frame = encode_data_object_frame(&unmasked, &[], false, false).unwrap();
            for wanted in [&[(1, 3), (0, 2)][..], &[(5, 2)], &[]] {
                let options = DecodeOptions::default();
                let object = super::super::object_of_frame(&frame);
                let expected = object.and_then(|object| {
                    read(&object.with_payload(&payload)).ranges(wanted).bytes().map(Cow::into_owned)
                });
                let found = decode_payload_ranges(&descriptor, &payload, wanted, &options).map(|parts| parts.concat());
                assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            }
        }
    }
}
