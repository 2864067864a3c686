//! Stores an object's masks by the methods in the options (PIPELINE §6.3).

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_codec::kernels::finite::PackedMasks;
use tgm_codec::{CodecError, MaskSettings};
use tgm_core::descriptor::MaskKind;

use crate::base::error::{Result, TensogramError};
use crate::base::options::{EncodeOptions, MaskMethod};
use crate::model::types::{MaskDescriptor, MasksMetadata};

/// Stores masks of `count` elements one after the other. Returns their descriptions, and the blobs. Offsets count from
/// the first blob.
///
/// # Errors
/// [`TensogramError::Encoding`] for a method that is not compiled in, and for one that fails.
pub fn store(masks: &PackedMasks, count: u64, options: &EncodeOptions) -> Result<(MasksMetadata, Vec<u8>)> {
    let (mut metadata, mut blobs) = (MasksMetadata::default(), Vec::new());
    for (kind, bits) in masks {
        let method = method_of(*kind, bits.len(), options);
        let start = blobs.len();
        append(bits, count, method, &mut blobs).map_err(|error| {
            TensogramError::encoding(format!("mask {} of method {}: {error}", kind.name(), method.name()))
        })?;
        let entry = MaskDescriptor {
            method: method.name().to_string(),
            offset: start as u64,
            length: (blobs.len() - start) as u64,
            params: params_of(method),
        };
        match kind {
            MaskKind::Nan => metadata.nan = Some(entry),
            MaskKind::PosInf => metadata.pos_inf = Some(entry),
            MaskKind::NegInf => metadata.neg_inf = Some(entry),
        }
    }
    Ok((metadata, blobs))
}

/// The method for a mask of `len` bytes: the one in the options, but none for a small mask.
fn method_of(kind: MaskKind, len: usize, options: &EncodeOptions) -> &MaskMethod {
    if len <= options.small_mask_threshold_bytes {
        return &MaskMethod::None;
    }
    match kind {
        MaskKind::Nan => &options.nan_mask_method,
        MaskKind::PosInf => &options.pos_inf_mask_method,
        MaskKind::NegInf => &options.neg_inf_mask_method,
    }
}

fn append(bits: &[u8], count: u64, method: &MaskMethod, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let Some(codec) = method.kind().and_then(tgm_codec::of_masks) else {
        out.extend_from_slice(bits);
        return Ok(());
    };
    let settings = match method {
        MaskMethod::Zstd { level } => MaskSettings { level: *level, ..MaskSettings::default() },
        MaskMethod::Blosc2 { codec, level } => MaskSettings { level: Some(*level), codec: *codec },
        _ => MaskSettings::default(),
    };
    codec.append_mask(bits, count, settings, out)
}

/// The parameters of the method, for the descriptor. Readers do not need them.
fn params_of(method: &MaskMethod) -> BTreeMap<String, Value> {
    let mut params = BTreeMap::new();
    match method {
        MaskMethod::Zstd { level: Some(level) } => {
            params.insert("level".to_string(), Value::from(*level));
        }
        MaskMethod::Blosc2 { codec, level } => {
            params.insert("codec".to_string(), Value::from(codec.name()));
            params.insert("level".to_string(), Value::from(*level));
        }
        _ => {}
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::options::Blosc2Codec;

    #[test]
    fn a_mask_up_to_the_threshold_is_stored_as_it_is() {
        let options = EncodeOptions {
            small_mask_threshold_bytes: 8,
            nan_mask_method: MaskMethod::Rle,
            pos_inf_mask_method: MaskMethod::Roaring,
            neg_inf_mask_method: MaskMethod::Lz4,
            ..EncodeOptions::default()
        };
        let names = |len| MaskKind::ALL.map(|kind| method_of(kind, len, &options).name());
        assert_eq!(names(8), ["none"; 3]);
        assert_eq!(names(9), ["rle", "roaring", "lz4"]);
    }

    #[cfg(feature = "blosc2")]
    #[test]
    fn a_mask_that_blosc2_compresses_comes_back() {
        let values: Vec<f64> = (0..4096).map(|i| if i % 7 < 2 { f64::NAN } else { f64::from(i) }).collect();
        let options = EncodeOptions {
            allow_nan: true,
            nan_mask_method: MaskMethod::Blosc2 { codec: Blosc2Codec::Lz4, level: 5 },
            ..EncodeOptions::default()
        };
        let object = crate::ObjectBuilder::new(&[4096], &values).unwrap();
        let message = crate::MessageBuilder::new().object(object).options(options).encode().unwrap();
        let object = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
        let blosc2 = Some(tgm_core::descriptor::MaskMethod::Blosc2);
        assert!(object.descriptor().masks().iter().all(|(_, mask)| mask.method().known() == blosc2));
        let back = crate::read(&object).values::<f64>().unwrap();
        assert!(back.iter().map(|value| value.is_nan()).eq(values.iter().map(|value| value.is_nan())));
    }

    #[test]
    fn the_level_of_a_method_is_noted_if_it_was_chosen() {
        let noted = |method: MaskMethod| {
            let params = params_of(&method);
            params.into_iter().map(|(key, value)| format!("{key}={value:?}")).collect::<Vec<_>>()
        };
        assert!(noted(MaskMethod::Zstd { level: None }).is_empty() && noted(MaskMethod::Rle).is_empty());
        assert_eq!(noted(MaskMethod::Zstd { level: Some(7) }), [format!("level={:?}", Value::from(7))]);
        let blosc2 = MaskMethod::Blosc2 { codec: Blosc2Codec::Zlib, level: 4 };
        assert_eq!(noted(blosc2), [format!("codec={:?}", Value::from("zlib")), format!("level={:?}", Value::from(4))]);
    }
}
