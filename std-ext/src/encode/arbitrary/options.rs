//! Options of encoding.

use ::arbitrary::{Arbitrary, Result, Unstructured};
use tgm_core::descriptor::Compression;

use super::pipeline::encodes;
use crate::base::options::{AggregateHashPolicy, Blosc2Codec, EncodeOptions, MaskMethod, Provenance, ValueOrder};

/// Options that allow NaN and infinities, with every mask method that this build can encode. The provenance is fixed, so
/// that finds can be repeated.
impl<'a> Arbitrary<'a> for EncodeOptions {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            hashing: !u.ratio(1_u8, 4)?,
            allow_nan: true,
            allow_inf: true,
            nan_mask_method: u.arbitrary()?,
            pos_inf_mask_method: u.arbitrary()?,
            neg_inf_mask_method: u.arbitrary()?,
            small_mask_threshold_bytes: *u.choose(&[0, 8, 128])?,
            aggregate_hash: u.arbitrary()?,
            // Values may be any bytes: their byte order must not be judged by them.
            value_order: ValueOrder::Declared,
            descriptor_first: u.arbitrary()?,
            provenance: Some(provenance()),
            ..Self::default()
        })
    }
}

/// One of the methods that this build can encode.
impl<'a> Arbitrary<'a> for MaskMethod {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut methods = vec![Self::None, Self::Rle];
        if encodes(Compression::Roaring) {
            methods.push(Self::Roaring);
        }
        if encodes(Compression::Lz4) {
            methods.push(Self::Lz4);
        }
        if encodes(Compression::Zstd) {
            methods.push(Self::Zstd { level: *u.choose(&[None, Some(1), Some(5)])? });
        }
        if encodes(Compression::Blosc2) {
            methods.push(Self::Blosc2 { codec: *u.choose(&Blosc2Codec::ALL)?, level: u.int_in_range(1..=9)? });
        }
        Ok(u.choose(&methods)?.clone())
    }
}

impl<'a> Arbitrary<'a> for AggregateHashPolicy {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        u.choose(&[Self::Auto, Self::None, Self::Header, Self::Footer, Self::Both]).copied()
    }
}

fn provenance() -> Provenance {
    Provenance {
        time: "2026-01-01T00:00:00Z".into(),
        uuid: "00000000-0000-4000-8000-000000000000".into(),
        encoder_name: "arbitrary".into(),
        encoder_version: "0".into(),
    }
}
