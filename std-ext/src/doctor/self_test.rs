//! A test of every codec that is built in: encode, decode, compare.

use std::borrow::Cow;

use tgm_codec::about::{About, Before, Input};
use tgm_core::descriptor::{ByteOrder, Dtype, Encoding, Filter};
use tgm_core::wire::FRAME_HEADER_SIZE;
use zerocopy::IntoBytes as _;

use super::SelfTestResult;
use crate::base::error::TensogramError;
use crate::base::options::{DecodeOptions, EncodeOptions, MaskMethod, Provenance};
use crate::decode::{decode, decode_metadata};
use crate::encode::{MessageBuilder, ObjectBuilder};
use crate::model::params::value_of;
use crate::model::types::DataObjectDescriptor;
use crate::scan::scan;

/// The result of one test: a sentence if it failed.
type Tried = Result<(), String>;
/// An object that owns its values.
type Object = ObjectBuilder<'static>;

/// Encodes and decodes some values by each codec. One row each, skipped if the codec is not built in.
pub fn run_self_test() -> Vec<SelfTestResult> {
    let mut rows = vec![
        row("encode and decode none/none/none", None, values_return(0.0, |object| object)),
        row("decode_metadata", None, metadata_returns()),
        row("scan of several messages", None, messages_are_found()),
        row("digests xxh3", None, damage_is_noticed()),
        row("masks", None, masks_return(MaskMethod::Rle)),
    ];
    rows.extend(tgm_codec::all().map(|codec| by_codec(codec.about())));
    rows
}

/// Encodes and decodes some values by a codec, after the stages that go with it.
fn by_codec(about: &'static About) -> SelfTestResult {
    let trial = about.trial;
    let label = match trial.before {
        Before::Nothing => format!("pipeline {}", about.name()),
        Before::Packing => format!("pipeline {}+{}", Encoding::SimplePacking.name(), about.name()),
        Before::Shuffle => format!("pipeline {}+{}", Filter::Shuffle.name(), about.name()),
    };
    let pipeline = |object: Object| {
        let object = match trial.before {
            Before::Nothing => object,
            Before::Packing => object.simple_packing(24),
            Before::Shuffle => object.shuffle(),
        };
        let object = object.compression(about.compression);
        trial.parameters.iter().fold(object, |object, (key, value)| object.parameter(key.name(), value_of(*value)))
    };
    let lacking = about.encoding.missing_feature().map(|feature| format!("feature '{feature}' not built in"));
    if about.input == Input::Bits {
        row(label, lacking, bits_return(pipeline))
    } else {
        row(label, lacking, values_return(trial.loss, pipeline))
    }
}

fn row(label: impl Into<Cow<'static, str>>, lacking: Option<String>, tried: impl FnOnce() -> Tried) -> SelfTestResult {
    match lacking {
        Some(reason) => SelfTestResult::skipped(label, reason),
        None => match tried() {
            Ok(()) => SelfTestResult::ok(label),
            Err(error) => SelfTestResult::failed(label, error),
        },
    }
}

/// A smooth field, computed with the four basic operations. Other functions differ between machines.
fn field() -> Vec<f64> {
    let wave = |x: f64| x * (1.0 - x * x);
    (0..512).map(|i| 280.0 + 20.0 * wave(f64::from(i % 128) / 64.0 - 1.0)).collect()
}

/// Options for machines without a clock too.
fn options() -> EncodeOptions {
    let text = |text: &str| text.to_owned();
    let provenance = Provenance {
        time: text("2026-01-01T00:00:00Z"),
        uuid: text("00000000-0000-4000-8000-000000000000"),
        encoder_name: text(env!("CARGO_PKG_NAME")),
        encoder_version: text(env!("CARGO_PKG_VERSION")),
    };
    EncodeOptions { provenance: Some(provenance), ..EncodeOptions::default() }
}

/// A message of one object.
fn message(object: Object, options: EncodeOptions) -> Result<Vec<u8>, String> {
    MessageBuilder::new().object(object).options(options).encode().map_err(words)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn words(error: impl ToString) -> String {
    error.to_string()
}

/// Tests that a field comes back within `loss` after `pipeline`.
fn values_return(loss: f64, pipeline: impl FnOnce(Object) -> Object) -> impl FnOnce() -> Tried {
    move || {
        let field = field();
        let descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::NATIVE, &[16, 32]);
        let object = ObjectBuilder::from_parts(descriptor, field.as_bytes().to_vec());
        let message = message(pipeline(object), options())?;
        let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
        let (_, objects) = decode(&message, &options).map_err(words)?;
        let bytes = objects.first().map_or(&[][..], |(_, bytes)| bytes.as_chunks().0);
        let same = |(value, bytes): (&f64, &[u8; 8])| (value - f64::from_ne_bytes(*bytes)).abs() <= loss;
        let all = bytes.len() == field.len() && field.iter().zip(bytes).all(same);
        if all { Ok(()) } else { Err("decoded values are not those that were encoded".to_string()) }
    }
}

/// Tests that bits come back after `pipeline`.
fn bits_return(pipeline: impl FnOnce(Object) -> Object) -> impl FnOnce() -> Tried {
    move || {
        let bits = [0xff, 0xf0, 0x00, 0x0f];
        let descriptor = DataObjectDescriptor::new(Dtype::Bitmask, ByteOrder::NATIVE, &[32]);
        let object = ObjectBuilder::from_parts(descriptor, bits.to_vec());
        let message = message(pipeline(object), options())?;
        let (_, objects) = decode(&message, &DecodeOptions::default()).map_err(words)?;
        let same = objects.first().is_some_and(|(_, decoded)| *decoded == bits);
        if same { Ok(()) } else { Err("decoded bits are not those that were encoded".to_string()) }
    }
}

/// Tests that NaN comes back in its place.
fn masks_return(method: MaskMethod) -> impl FnOnce() -> Tried {
    move || {
        let values = [1.0, f64::NAN, 3.0];
        let options =
            EncodeOptions { allow_nan: true, nan_mask_method: method, small_mask_threshold_bytes: 0, ..options() };
        let object = ObjectBuilder::new(&[3], &values).and_then(ObjectBuilder::into_owned).map_err(words)?;
        let message = message(object, options)?;
        let (_, objects) = decode(&message, &DecodeOptions::default()).map_err(words)?;
        let decoded = objects.first().map_or(&[][..], |(_, bytes)| bytes.as_chunks().0);
        let nans: Vec<bool> = decoded.iter().map(|bytes| f64::from_ne_bytes(*bytes).is_nan()).collect();
        if nans == [false, true, false] { Ok(()) } else { Err("NaN is not where it was".to_string()) }
    }
}

fn small() -> Result<Vec<u8>, String> {
    message(
        ObjectBuilder::new(&[2], &[1_u8, 2]).map_err(words)?.metadata("param", "2t").into_owned().map_err(words)?,
        options(),
    )
}

fn metadata_returns() -> impl FnOnce() -> Tried {
    || {
        let metadata = decode_metadata(&small()?).map_err(words)?;
        let found = metadata.get("param").and_then(|value| value.as_str()) == Some("2t");
        if found { Ok(()) } else { Err("a key is missing from the metadata".to_string()) }
    }
}

fn messages_are_found() -> impl FnOnce() -> Tried {
    || {
        let message = small()?;
        let buffer = [&message[..], b"junk", &message].concat();
        let expected = [(0, message.len()), (message.len() + 4, message.len())];
        let found = scan(&buffer);
        if found == expected { Ok(()) } else { Err(format!("messages found at {found:?}, not at {expected:?}")) }
    }
}

fn damage_is_noticed() -> impl FnOnce() -> Tried {
    || {
        let mut message = small()?;
        let starts =
            crate::compat::framing::decode_message(&message).map_err(words)?.objects.first().map(|object| object.3);
        let payload =
            starts.and_then(|start| message.get_mut(start + FRAME_HEADER_SIZE)).ok_or("no object in the message")?;
        *payload ^= 1;
        let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
        match decode(&message, &options) {
            Err(TensogramError::HashMismatch { object_index: Some(0), .. }) => Ok(()),
            Err(other) => Err(words(other)),
            Ok(_) => Err("a damaged payload passed its digest".to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use tgm_core::descriptor::ZfpMode;

    use super::*;

    #[test]
    fn every_row_is_fine_or_names_the_feature_it_lacks() {
        for result in run_self_test() {
            assert!(!result.is_failed(), "{result:?}");
        }
    }

    #[test]
    fn a_codec_that_loses_more_than_it_may_fails() {
        let lossy = row("zfp", None, values_return(1e-9, |object| object.zfp(ZfpMode::FixedRate(8.0))));
        assert!(lossy.is_failed(), "{lossy:?}");
    }
}
