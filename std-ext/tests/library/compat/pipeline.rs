//! The pipeline as four names and two numbers.

use ciborium::Value;
use tgm_std::{ByteOrder, DataObjectDescriptor, DataPipeline, Dtype, apply_pipeline};

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
        assert!(text.starts_with(&format!("unknown compression '{compression}'; expected one of: none, ")), "{text}");
    }
    let text = error(None, pipeline("simple_packing", "none", "none"));
    assert!(text.starts_with("simple_packing requires float64 payload for temperature,"), "{text}");
    let text = error(Some(&[1.0, f64::NAN]), pipeline("simple_packing", "none", "none"));
    assert!(text.starts_with("simple_packing failed for temperature: NaN value encountered at index 1"), "{text}");
    let bits = DataPipeline { bits: Some(65), ..pipeline("simple_packing", "none", "none") };
    let text = error(Some(&VALUES), bits);
    assert!(text.starts_with("simple_packing failed for temperature: bits_per_value 65 exceeds"), "{text}");
}
