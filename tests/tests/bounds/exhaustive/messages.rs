//! Small messages that together hold every kind of frame, every codec and every method of masks.

use std::collections::BTreeSet;

use tgm_core::descriptor::{Compression, Encoding, Filter, MaskMethod as Method, ZfpMode};
use tgm_core::{Message, wire::FrameType};
use tgm_std::codec::ErrorBound;
use tgm_std::{AggregateHashPolicy, EncodeOptions, MaskMethod, MessageBuilder, ObjectBuilder, Provenance};
use tgm_tests::builder::{self, Object};
use tgm_tests::corpus;

/// A message and what is special about it.
pub(crate) struct Small {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// Options for short messages: the least provenance, and no frames of digests.
fn options() -> EncodeOptions {
    let provenance = Provenance {
        time: "2026-01-01T00:00:00Z".into(),
        uuid: "0".into(),
        encoder_name: "t".into(),
        encoder_version: "0".into(),
    };
    EncodeOptions {
        provenance: Some(provenance),
        aggregate_hash: AggregateHashPolicy::None,
        ..EncodeOptions::default()
    }
}

fn values() -> Vec<f64> {
    (0..8).map(|i| 270.0 + f64::from(i * i) / 4.0).collect()
}

/// All small messages.
pub(crate) fn all() -> Vec<Small> {
    let values = values();
    let of = |how: &dyn Fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>| {
        let object = how(ObjectBuilder::new(&[8], &values).unwrap());
        MessageBuilder::new().options(options()).object(object).encode().unwrap()
    };
    let bits = |how: &dyn Fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>| {
        let object = how(ObjectBuilder::bitmask(&[40], &[0xf0, 0x0f, 0, 0xff, 0x80]));
        MessageBuilder::new().options(options()).object(object).encode().unwrap()
    };
    let small = |name, bytes| Small { name, bytes };
    vec![
        small("plain, header frames", {
            let options = EncodeOptions { aggregate_hash: AggregateHashPolicy::Header, ..options() };
            let object = ObjectBuilder::new(&[3], &[1_u16, 2, 3]).unwrap();
            MessageBuilder::new().options(options).object(object).encode().unwrap()
        }),
        small("streamed, preceder, footer frames", {
            let options = EncodeOptions { aggregate_hash: AggregateHashPolicy::Footer, ..options() };
            let object = ObjectBuilder::new(&[3], &[1_u16, 2, 3]).unwrap().metadata("k", 1);
            MessageBuilder::new().options(options).object(object).stream_to(Vec::new()).unwrap()
        }),
        small("packed", of(&|object| object.simple_packing(11))),
        small("packed, shuffled, zstd", of(&|object| object.simple_packing(16).shuffle().zstd(1))),
        small("lz4", of(&|object| object.lz4())),
        small("packed, szip", of(&|object| object.simple_packing(16).szip())),
        small("zfp", of(&|object| object.zfp(ZfpMode::FixedRate(8.0)))),
        small("sz3", of(&|object| object.sz3(ErrorBound::Absolute(0.0)))),
        small("blosc2", blosc2()),
        small("rle", bits(&|object| object.rle())),
        small("roaring", bits(&|object| object.roaring())),
        small("masks: none, rle, roaring", masked([MaskMethod::None, MaskMethod::Rle, MaskMethod::Roaring])),
        small("masks: lz4, zstd", masked([MaskMethod::Lz4, MaskMethod::Zstd { level: None }, MaskMethod::Rle])),
        small("descriptor first, masked", {
            let mask = [true, false, false];
            let object = Object::f32(&[3], &[0.0, 1.0, 2.0]).masked("nan", "rle", &mask).descriptor_first();
            builder::Message::buffered([object]).build().bytes
        }),
    ]
}

/// A message with NaN and infinities, whose masks are stored by these methods.
fn masked([nan, pos_inf, neg_inf]: [MaskMethod; 3]) -> Vec<u8> {
    let values = [f32::NAN, 1.0, f32::INFINITY, f32::NEG_INFINITY, 2.0];
    let options = EncodeOptions {
        allow_nan: true,
        allow_inf: true,
        nan_mask_method: nan,
        pos_inf_mask_method: pos_inf,
        neg_inf_mask_method: neg_inf,
        small_mask_threshold_bytes: 0,
        ..options()
    };
    let object = ObjectBuilder::new(&[5], &values).unwrap();
    MessageBuilder::new().options(options).object(object).encode().unwrap()
}

/// A message with a payload that c-blosc2 wrote: the default features can only read blosc2.
fn blosc2() -> Vec<u8> {
    let sample = corpus::sample("bitmask/shuffle1-blosc2");
    let (_, descriptors) = tgm_std::decode_descriptors(&sample.bytes).unwrap();
    let descriptor = &descriptors[0];
    let payload = Message::parse(&sample.bytes).unwrap().object(0).unwrap().payload().to_vec();
    let object = Object::plain(descriptor.dtype.name(), &descriptor.shape, payload)
        .set("filter", descriptor.filter.as_str())
        .set("compression", descriptor.compression.as_str());
    let object = descriptor.params.iter().fold(object, |object, (key, value)| object.set(key, value.clone()));
    builder::Message::buffered([object]).build().bytes
}

/// Asserts that every kind of frame, every stage of a pipeline and every method of masks occurs.
pub(crate) fn assert_covered(messages: &[Small]) {
    use FrameType as F;

    let mut kinds = BTreeSet::new();
    let mut stages = BTreeSet::new();
    for small in messages {
        let message = Message::parse(&small.bytes).unwrap();
        kinds.extend(message.frames().map(|frame| frame.unwrap().frame_type() as u16));
        for object in message.objects() {
            let object = object.unwrap();
            let descriptor = object.descriptor();
            stages.insert(format!("{}", descriptor.encoding()));
            stages.insert(format!("{}", descriptor.filter()));
            stages.insert(format!("{}", descriptor.compression()));
            stages.extend(descriptor.masks().iter().map(|(_, mask)| format!("mask {}", mask.method())));
        }
    }
    for kind in [
        F::HeaderMetadata,
        F::HeaderIndex,
        F::HeaderHash,
        F::FooterHash,
        F::FooterIndex,
        F::FooterMetadata,
        F::PrecederMetadata,
        F::NTensorFrame,
    ] {
        assert!(kinds.contains(&(kind as u16)), "{kind:?}");
    }
    let compressions = Compression::ALL.iter().map(|stage| stage.name().to_owned());
    let encodings = Encoding::ALL.iter().map(|stage| stage.name().to_owned());
    let filters = Filter::ALL.iter().map(|stage| stage.name().to_owned());
    // The default features cannot write blosc2 masks. Their blobs have the same form as blosc2 payloads, which are
    // covered.
    let methods = Method::ALL.iter().filter(|method| method.name() != "blosc2");
    let methods = methods.map(|method| format!("mask {}", method.name()));
    for stage in compressions.chain(encodings).chain(filters).chain(methods) {
        assert!(stages.contains(&stage), "{stage}");
    }
}
