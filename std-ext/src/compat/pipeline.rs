//! The pipeline as four names and two numbers, for importers whose users choose it.
//!
//! [`DataPipeline`] holds the choice for every variable. [`apply_pipeline`] writes it into each variable's descriptor.

use ciborium::Value;
use tgm_codec::about::Input;
use tgm_codec::{Blosc2Codec, Codec};
use tgm_core::descriptor::{ByteOrder, Compression, Encoding, Filter, Key};
use zerocopy::IntoBytes as _;

use crate::base::error::TensogramError;
pub use crate::base::options::DEFAULT_SIMPLE_PACKING_BITS;
use crate::encode::defaults::packed_bits;
use crate::encode::packing::{Values, derive};
use crate::model::params::value_of;
use crate::model::types::DataObjectDescriptor;
pub use crate::stages::pipeline::{decode_pipeline, encode_pipeline};

/// The stages of objects, by their names on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataPipeline {
    /// "none" or "`simple_packing`".
    pub encoding: String,
    /// Bits of a packed value, 16 if `None`.
    pub bits: Option<u32>,
    /// "none" or "shuffle".
    pub filter: String,
    /// "none", "zstd", "lz4", "blosc2" or "szip": those that take values of any kind.
    pub compression: String,
    /// The level of zstd, 3 if `None`, or of blosc2, 5 if `None`.
    pub compression_level: Option<i32>,
}

impl Default for DataPipeline {
    fn default() -> Self {
        let none = || "none".to_string();
        Self { encoding: none(), bits: None, filter: none(), compression: none(), compression_level: None }
    }
}

/// Writes the stages of `pipeline` into a descriptor, each with the parameters it needs.
///
/// Parameters of `simple_packing` are derived from `values`: the object's values if they are `f64`, `None` otherwise. A
/// stage "none" leaves the descriptor as it is. `label` names the variable in messages.
///
/// # Errors
/// A sentence, for an unknown stage, for `simple_packing` without values, and for values that cannot be packed. The
/// stages before the failing one are written.
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, DataPipeline, Dtype, apply_pipeline};
///
/// let mut descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::native(), &[3]);
/// let pipeline = DataPipeline { encoding: "simple_packing".into(), filter: "shuffle".into(), ..DataPipeline::default() };
/// apply_pipeline(&mut descriptor, Some(&[1.0, 2.0, 4.0]), &pipeline, "temperature")?;
/// assert_eq!(descriptor.params["shuffle_element_size"], 2.into());
/// # Ok::<(), String>(())
/// ```
pub fn apply_pipeline(
    descriptor: &mut DataObjectDescriptor,
    values: Option<&[f64]>,
    pipeline: &DataPipeline,
    label: &str,
) -> Result<(), String> {
    match Encoding::from_name(&pipeline.encoding) {
        Some(Encoding::None) => {}
        Some(Encoding::SimplePacking) => pack(descriptor, values, pipeline, label)?,
        None => {
            let name = &pipeline.encoding;
            return Err(format!("unknown encoding '{name}'; expected 'none' or 'simple_packing'"));
        }
    }
    match Filter::from_name(&pipeline.filter) {
        Some(Filter::None) => {}
        Some(Filter::Shuffle) => shuffle(descriptor),
        None => return Err(format!("unknown filter '{}'; expected 'none' or 'shuffle'", pipeline.filter)),
    }
    compress(descriptor, pipeline)
}

fn pack(
    descriptor: &mut DataObjectDescriptor,
    values: Option<&[f64]>,
    pipeline: &DataPipeline,
    label: &str,
) -> Result<(), String> {
    let values = values.ok_or_else(|| {
        format!(
            "simple_packing requires float64 payload for {label}, but its values are of another dtype: \
             convert them to float64, or choose encoding=\"none\""
        )
    })?;
    let bits = pipeline.bits.unwrap_or(DEFAULT_SIMPLE_PACKING_BITS);
    let packing = derive(Values::new(values.as_bytes(), ByteOrder::NATIVE), bits, 0).map_err(|error| {
        let reason = match error {
            TensogramError::Encoding(reason) => reason.to_string(),
            other => other.to_string(),
        };
        format!("simple_packing failed for {label}: {reason}; other values, or another encoding (\"none\"), are needed")
    })?;
    descriptor.encoding = Encoding::SimplePacking.name().to_string();
    set(descriptor, Key::SpReferenceValue, packing.reference_value);
    set(descriptor, Key::SpBinaryScaleFactor, packing.binary_scale_factor);
    set(descriptor, Key::SpDecimalScaleFactor, packing.decimal_scale_factor);
    set(descriptor, Key::SpBitsPerValue, packing.bits_per_value);
    Ok(())
}

fn shuffle(descriptor: &mut DataObjectDescriptor) {
    let size = packed_bits(descriptor).map_or(descriptor.dtype.byte_width() as u64, |bits| bits.div_ceil(8));
    descriptor.filter = Filter::Shuffle.name().to_string();
    set(descriptor, Key::ShuffleElementSize, size.max(1));
}

fn compress(descriptor: &mut DataObjectDescriptor, pipeline: &DataPipeline) -> Result<(), String> {
    let name = &pipeline.compression;
    let compression = Compression::from_name(name);
    let codec = compression.and_then(tgm_codec::find).map(Codec::about).filter(|about| about.input == Input::Bytes);
    let Some(about) = codec else {
        if compression == Some(Compression::None) {
            return Ok(());
        }
        return Err(format!("unknown compression '{name}'; expected one of: none, zstd, lz4, blosc2, szip"));
    };
    for (key, usual) in about.usual.unwrap_or(&[]) {
        set(descriptor, *key, value_of(*usual));
    }
    if let Some(level) = about.level {
        set(descriptor, level.key, pipeline.compression_level.unwrap_or(level.usual));
    }
    // The reference notes it, though readers do not need it.
    if about.compression == Compression::Blosc2 {
        set(descriptor, Key::Blosc2Codec, Blosc2Codec::default().name());
    }
    descriptor.compression.clone_from(&pipeline.compression);
    Ok(())
}

fn set(descriptor: &mut DataObjectDescriptor, key: Key, value: impl Into<Value>) {
    descriptor.params.insert(key.name().to_string(), value.into());
}
