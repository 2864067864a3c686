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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use super::*;
    use crate::Dtype;

    fn descriptor(dtype: Dtype) -> DataObjectDescriptor {
        DataObjectDescriptor::new(dtype, ByteOrder::Little, &[4])
    }

    fn pipeline(encoding: &str, filter: &str, compression: &str) -> DataPipeline {
        let (encoding, filter, compression) = (encoding.into(), filter.into(), compression.into());
        DataPipeline { encoding, filter, compression, ..DataPipeline::default() }
    }

    /// The parameters as text, in the order of their names.
    fn params(descriptor: &DataObjectDescriptor) -> String {
        let text = |(key, value): (&String, &Value)| match value {
            Value::Integer(n) => format!("{key}={}", i128::from(*n)),
            Value::Float(x) => format!("{key}={x:?}"),
            other => format!("{key}={}", other.as_text().unwrap()),
        };
        descriptor.params.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    const VALUES: [f64; 4] = [1.0, 2.5, 3.0, 4.0];

    #[test]
    fn stages_come_with_the_parameters_that_the_reference_gives_them() {
        let szip = "szip_block_size=16 szip_flags=8 szip_rsi=128";
        for (dtype, filter, compression, expected) in [
            (Dtype::Float64, "none", "szip", szip.to_string()),
            (Dtype::Float32, "shuffle", "szip", format!("shuffle_element_size=4 {szip}")),
            (Dtype::Complex64, "shuffle", "zstd", "shuffle_element_size=8 zstd_level=3".into()),
            (Dtype::Uint8, "shuffle", "lz4", "shuffle_element_size=1".into()),
            (Dtype::Int16, "none", "blosc2", "blosc2_clevel=5 blosc2_codec=lz4".into()),
        ] {
            let mut read = descriptor(dtype);
            apply_pipeline(&mut read, None, &pipeline("none", filter, compression), "v").unwrap();
            assert_eq!((params(&read), &*read.filter, &*read.compression), (expected, filter, compression));
        }
        for (bits, scale, size) in
            [(None, -14, 2), (Some(0), 0, 1), (Some(12), -10, 2), (Some(24), -22, 3), (Some(64), -62, 8)]
        {
            let mut read = descriptor(Dtype::Float64);
            let pipeline = DataPipeline { bits, ..pipeline("simple_packing", "shuffle", "none") };
            apply_pipeline(&mut read, Some(&VALUES), &pipeline, "v").unwrap();
            let bits = bits.unwrap_or(16);
            assert_eq!(
                params(&read),
                format!(
                    "shuffle_element_size={size} sp_binary_scale_factor={scale} sp_bits_per_value={bits} \
                     sp_decimal_scale_factor=0 sp_reference_value=1.0"
                )
            );
        }
    }

    #[test]
    fn levels_are_handed_on() {
        for (compression, key) in [("zstd", "zstd_level"), ("blosc2", "blosc2_clevel")] {
            let mut read = descriptor(Dtype::Uint8);
            let pipeline = DataPipeline { compression_level: Some(7), ..pipeline("none", "none", compression) };
            apply_pipeline(&mut read, None, &pipeline, "v").unwrap();
            assert_eq!(read.params[key], 7.into());
        }
    }

    #[test]
    fn stages_that_are_none_leave_what_is_there() {
        let mut read = descriptor(Dtype::Float64);
        apply_pipeline(&mut read, Some(&VALUES), &pipeline("simple_packing", "shuffle", "zstd"), "v").unwrap();
        let before = read.clone();
        apply_pipeline(&mut read, None, &DataPipeline::default(), "v").unwrap();
        assert_eq!(read, before);
    }

    #[test]
    fn errors_name_the_stage_and_the_variable() {
        let error = |values: Option<&[f64]>, pipeline: DataPipeline| {
            apply_pipeline(&mut descriptor(Dtype::Float64), values, &pipeline, "temperature").unwrap_err()
        };
        assert!(error(None, pipeline("grib", "none", "none")).starts_with("unknown encoding 'grib'; expected"));
        assert!(error(None, pipeline("none", "x", "none")).starts_with("unknown filter 'x'; expected"));
        for compression in ["zfp", "sz3", "rle", "roaring", "gzip"] {
            let text = error(None, pipeline("none", "none", compression));
            assert!(
                text.starts_with(&format!("unknown compression '{compression}'; expected one of: none, ")),
                "{text}"
            );
        }
        let text = error(None, pipeline("simple_packing", "none", "none"));
        assert!(text.starts_with("simple_packing requires float64 payload for temperature,"), "{text}");
        let text = error(Some(&[1.0, f64::NAN]), pipeline("simple_packing", "none", "none"));
        assert!(text.starts_with("simple_packing failed for temperature: NaN value encountered at index 1"), "{text}");
        let bits = DataPipeline { bits: Some(65), ..pipeline("simple_packing", "none", "none") };
        let text = error(Some(&VALUES), bits);
        assert!(text.starts_with("simple_packing failed for temperature: bits_per_value 65 exceeds"), "{text}");
    }
}
