//! Checks of the caller's descriptors and metadata, before anything is encoded (FORMAT §4.2, §4.7).

use ciborium::Value;
use tgm_core::descriptor::{Compression, Dtype, Encoding, Key};

use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::encode::plan::{compression, encoding};
use crate::model::metadata::RESERVED_KEY;
use crate::model::params::metadata;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata, MaskDescriptor};

/// Checks a descriptor, and its data's length against it. Returns the number of elements.
///
/// `encoded` data went through the pipeline already. Its length is only known if there is no encoding.
///
/// # Errors
/// [`TensogramError::Metadata`] saying what does not fit, and [`TensogramError::Encoding`] for an unknown encoding.
pub(crate) fn descriptor(descriptor: &DataObjectDescriptor, data_len: usize, encoded: bool) -> Result<u64> {
    let count = consistent(descriptor)?;
    let packs = encoding(descriptor)? == Encoding::SimplePacking;
    let dtype = if packs { Dtype::Float64 } else { descriptor.dtype };
    let expected = dtype.byte_len(count).ok_or_else(|| metadata("shape product overflow"))?;
    // `packing::check_dtype` refuses other types than float64 later, with a better text.
    let known = !packs || !encoded && descriptor.dtype == Dtype::Float64;
    if known && expected != data_len as u64 {
        return Err(metadata(format!("data_len {data_len} does not match expected {expected} bytes")));
    }
    masks(descriptor)?;
    Ok(count)
}

/// Checks that the fields of a descriptor fit each other. Returns the number of elements.
///
/// # Errors
/// [`TensogramError::Metadata`] saying what does not fit.
pub(crate) fn consistent(descriptor: &DataObjectDescriptor) -> Result<u64> {
    if descriptor.obj_type.is_empty() {
        return Err(metadata("obj_type must not be empty"));
    }
    let (ndim, rank, strides) = (descriptor.ndim, descriptor.shape.len(), descriptor.strides.len());
    if ndim != rank as u64 {
        return Err(metadata(format!("ndim {ndim} does not match shape.len() {rank}")));
    }
    if strides != rank {
        return Err(metadata(format!("strides.len() {strides} does not match shape.len() {rank}")));
    }
    let count = descriptor.shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim));
    let count = count.ok_or_else(|| metadata("shape product overflow"))?;
    if let Some(key) = descriptor.params.keys().find(|key| Key::from_name(key).is_some_and(Key::is_field)) {
        return Err(metadata(format!("parameter '{key}' has the name of a descriptor field")));
    }
    Ok(count)
}

/// Checks the masks in the caller's descriptor.
fn masks(descriptor: &DataObjectDescriptor) -> Result<()> {
    let Some(masks) = &descriptor.masks else { return Ok(()) };
    [&masks.nan, &masks.pos_inf, &masks.neg_inf].into_iter().flatten().try_for_each(mask)
}

fn mask(mask: &MaskDescriptor) -> Result<()> {
    let method = mask.method.as_str();
    let allowed: &[&str] = match method {
        "none" | "rle" | "roaring" | "lz4" => &[],
        "zstd" => &["level"],
        "blosc2" => &["codec", "level"],
        _ => return Err(metadata(format!("masks: unknown method \"{method}\""))),
    };
    match mask.params.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(metadata(format!("masks: unknown param \"{key}\" for method \"{method}\""))),
        None => Ok(()),
    }
}

/// Checks the metadata of a message of `objects` objects.
///
/// # Errors
/// [`TensogramError::Metadata`] for entries that only the library writes, and for too many entries in `base`.
pub(crate) fn message(global: &GlobalMetadata, objects: usize) -> Result<()> {
    reserved(global)?;
    entries(global, objects)
}

/// Checks that `base` has at most as many entries as the message has objects.
///
/// # Errors
/// [`TensogramError::Metadata`] if it has more. No reader accepts such a message.
pub(crate) fn entries(global: &GlobalMetadata, objects: usize) -> Result<()> {
    let entries = global.base.len();
    if entries > objects {
        return Err(metadata(format!("metadata base has {entries} entries but only {objects} descriptors provided")));
    }
    Ok(())
}

/// Checks that the caller's metadata has no entries that only the library writes.
///
/// # Errors
/// [`TensogramError::Metadata`] saying where such an entry is.
pub(crate) fn reserved(global: &GlobalMetadata) -> Result<()> {
    if !global.reserved.is_empty() {
        return Err(metadata(format!("client code must not write to '{RESERVED_KEY}' at message level")));
    }
    match global.base.iter().position(|entry| entry.contains_key(RESERVED_KEY)) {
        Some(i) => Err(metadata(format!("client code must not write to '{RESERVED_KEY}' in base[{i}]"))),
        None => Ok(()),
    }
}

/// Checks szip's offsets in a descriptor that comes with an encoded payload of `len` bytes.
///
/// # Errors
/// [`TensogramError::Metadata`] for impossible offsets, and for offsets with another compression.
pub(crate) fn block_offsets(descriptor: &DataObjectDescriptor, len: usize) -> Result<()> {
    let key = Key::SzipBlockOffsets.name();
    let Some(value) = descriptor.params.get(key) else { return Ok(()) };
    if compression(descriptor)? != Compression::Szip {
        let name = &descriptor.compression;
        return Err(metadata(format!("{key} provided but compression is \"{name}\", not \"szip\"")));
    }
    let Value::Array(items) = value else { return Err(metadata(format!("{key} must be an array"))) };
    let mut last = None;
    for (i, item) in items.iter().enumerate() {
        let offset = item.as_integer().and_then(|item| u64::try_from(item).ok());
        let offset = offset.ok_or_else(|| metadata(format!("{key}[{i}] must be an integer")))?;
        match last {
            None if offset != 0 => {
                return Err(metadata(format!("{key}[0] must be 0, got {offset}: the first offset must be 0")));
            }
            Some(last) if offset <= last => {
                return Err(metadata(format!("{key} must be strictly increasing: {offset} at {i} comes after {last}")));
            }
            _ => {}
        }
        if offset > len as u64 * 8 {
            return Err(metadata(format!("{key}[{i}] = {offset} exceeds bit bound {} of the payload", len as u64 * 8)));
        }
        last = Some(offset);
    }
    match last {
        None => Err(metadata(format!("{key} must not be empty; first offset must be 0"))),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tgm_core::descriptor::ByteOrder;

    use super::*;
    use crate::model::types::MasksMetadata;

    #[test]
    fn masks_have_known_methods_and_only_the_parameters_of_these() {
        let is_fine = |method: &str, params: &[&str]| {
            let params: BTreeMap<_, _> = params.iter().map(|key| ((*key).to_owned(), Value::from(1))).collect();
            let mask = MaskDescriptor { method: method.into(), offset: 0, length: 1, params };
            let masks = Some(MasksMetadata { pos_inf: Some(mask), ..MasksMetadata::default() });
            let plain = DataObjectDescriptor::new(Dtype::Float32, ByteOrder::Little, &[2]);
            descriptor(&DataObjectDescriptor { masks, ..plain }, 8, false).is_ok()
        };
        for method in ["none", "rle", "roaring", "lz4", "zstd", "blosc2"] {
            assert!(is_fine(method, &[]), "{method}");
            assert_eq!(is_fine(method, &["level"]), ["zstd", "blosc2"].contains(&method), "{method}");
            assert_eq!(is_fine(method, &["codec", "level"]), method == "blosc2", "{method}");
            assert!(!is_fine(method, &["other"]), "{method}");
        }
        assert!(!is_fine("other", &[]));
    }
}
