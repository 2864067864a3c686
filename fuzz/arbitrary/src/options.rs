//! Options of encoding.

use arbitrary::{Arbitrary, Result, Unstructured};
use tgm_core::descriptor::Compression;

use tgm_std::options::{AggregateHashPolicy, Blosc2Codec, EncodeOptions, MaskMethod, Provenance, ValueOrder};

use crate::pipeline::encodes;
use crate::{Any, any};

/// Options that allow NaN and infinities, with every mask method that this build can encode. The provenance is fixed, so
/// that finds can be repeated.
impl<'a> Arbitrary<'a> for Any<EncodeOptions> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(EncodeOptions {
            hashing: !u.ratio(1_u8, 4)?,
            allow_nan: true,
            allow_inf: true,
            nan_mask_method: any(u)?,
            pos_inf_mask_method: any(u)?,
            neg_inf_mask_method: any(u)?,
            small_mask_threshold_bytes: *u.choose(&[0, 8, 128])?,
            aggregate_hash: any(u)?,
            // Values may be any bytes: their byte order must not be judged by them.
            value_order: ValueOrder::Declared,
            descriptor_first: u.arbitrary()?,
            provenance: Some(provenance()),
            ..EncodeOptions::default()
        }))
    }
}

/// One of the methods that this build can encode.
impl<'a> Arbitrary<'a> for Any<MaskMethod> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut methods = vec![MaskMethod::None, MaskMethod::Rle];
        if encodes(Compression::Roaring) {
            methods.push(MaskMethod::Roaring);
        }
        if encodes(Compression::Lz4) {
            methods.push(MaskMethod::Lz4);
        }
        if encodes(Compression::Zstd) {
            methods.push(MaskMethod::Zstd { level: *u.choose(&[None, Some(1), Some(5)])? });
        }
        if encodes(Compression::Blosc2) {
            methods.push(MaskMethod::Blosc2 { codec: *u.choose(&Blosc2Codec::ALL)?, level: u.int_in_range(1..=9)? });
        }
        u.choose(&methods).cloned().map(Self)
    }
}

impl<'a> Arbitrary<'a> for Any<AggregateHashPolicy> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        use AggregateHashPolicy::{Auto, Both, Footer, Header, None};
        u.choose(&[Auto, None, Header, Footer, Both]).copied().map(Self)
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
