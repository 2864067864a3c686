//! Messages whose descriptors come before their payloads: every route writes them, every reader finds the same values.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic")]
#![allow(
    clippy::redundant_closure_for_method_calls,
    reason = "a method with a lifetime is not such a function pointer"
)]

use std::io;

use tgm_std::core::Message;
use tgm_std::core::descriptor::ZfpMode;
use tgm_std::core::wire::FrameFlags;
use tgm_std::encode::{Part, TakenObject, encode_parts, reframe};
use tgm_std::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder,
    StreamingEncoder, decode, encode, encode_pre_encoded,
};

/// An object: its descriptor as the caller gives it, and its elements.
struct Case {
    name: &'static str,
    descriptor: DataObjectDescriptor,
    data: Vec<u8>,
}

fn floats() -> Vec<f64> {
    (0..5000_u32).map(|i| f64::from(i / 7).sin()).collect()
}

fn cases() -> Vec<Case> {
    let values = floats();
    let holes: Vec<f64> = values.iter().map(|v| if *v > 0.9 { f64::NAN } else { *v }).collect();
    let numbers: Vec<u16> = (0..5000).map(|i| i / 3).collect();
    let bits: Vec<u8> = (0..700).map(|i: u32| (i / 5).to_le_bytes()[0]).collect();
    let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>();
    let of = |build: fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>| {
        build(ObjectBuilder::new(&[5000], &values).unwrap()).descriptor().clone()
    };
    let float = |name, descriptor| Case { name, descriptor, data: bytes(&values) };
    let mask = |name, build: fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>| {
        let descriptor = build(ObjectBuilder::bitmask(&[5600], &bits)).descriptor().clone();
        Case { name, descriptor, data: bits.clone() }
    };
    let number = |name, build: fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>| {
        let descriptor = build(ObjectBuilder::new(&[5000], &numbers).unwrap()).descriptor().clone();
        Case { name, descriptor, data: numbers.iter().flat_map(|n| n.to_ne_bytes()).collect() }
    };
    vec![
        float("plain", of(|object| object)),
        float("packed", of(|object| object.simple_packing(13))),
        float("packed in 0 bits", of(|object| object.simple_packing(0))),
        float("szip of packed", of(|object| object.simple_packing(16).szip())),
        number("plain numbers", |object| object),
        number("szip", |object| object.szip()),
        float("szip of shuffled", of(|object| object.shuffle().szip())),
        float("zstd", of(|object| object.zstd(3))),
        float("zstd of shuffled", of(|object| object.shuffle().zstd(1))),
        float("lz4 of packed", of(|object| object.simple_packing(24).lz4())),
        float("zfp", of(|object| object.zfp(ZfpMode::FixedRate(8.0)))),
        Case { name: "masked", descriptor: of(|object| object), data: bytes(&holes) },
        Case { name: "masked zstd", descriptor: of(|object| object.zstd(1)), data: bytes(&holes) },
        mask("bits", |object| object),
        mask("rle", |object| object.rle()),
        mask("roaring", |object| object.roaring()),
    ]
}

fn options(descriptor_first: bool) -> EncodeOptions {
    EncodeOptions { allow_nan: true, descriptor_first, ..EncodeOptions::default() }
}

type Objects<'a> = [(&'a DataObjectDescriptor, &'a [u8])];
/// `None` if the route does not take these objects.
type Route = fn(&Objects<'_>, &EncodeOptions) -> Option<Vec<u8>>;

/// The descriptors and regions of the objects, encoded with their descriptors last.
fn encoded(objects: &Objects<'_>) -> (Vec<DataObjectDescriptor>, Vec<Vec<u8>>) {
    let message = encode(&GlobalMetadata::default(), objects, &options(false)).unwrap();
    let view = Message::parse(&message).unwrap();
    let regions = view.objects().map(|object| object.unwrap().region().to_vec()).collect();
    (tgm_std::decode_descriptors(&message).unwrap().1, regions)
}

const ROUTES: &[(&str, Route)] = &[
    ("encode", |objects, options| Some(encode(&GlobalMetadata::default(), objects, options).unwrap())),
    ("encode on threads", |objects, options| {
        let options = EncodeOptions { threads: 3, parallel_threshold_bytes: Some(0), ..options.clone() };
        Some(encode(&GlobalMetadata::default(), objects, &options).unwrap())
    }),
    ("encode_parts", |objects, options| {
        let parts: Vec<_> = objects.iter().map(|(descriptor, data)| Part::Values(descriptor, data, options)).collect();
        Some(encode_parts(&GlobalMetadata::default(), &parts, options).unwrap())
    }),
    ("encode_parts of regions", |objects, options| {
        let (descriptors, regions) = encoded(objects);
        let parts: Vec<_> = descriptors.iter().zip(&regions).map(|(it, region)| Part::Region(it, region)).collect();
        Some(encode_parts(&GlobalMetadata::default(), &parts, options).unwrap())
    }),
    ("encode_pre_encoded", |objects, options| {
        let (descriptors, regions) = encoded(objects);
        let objects: Vec<_> = descriptors.iter().zip(&regions).map(|(it, region)| (it, region.as_slice())).collect();
        // It takes compressed payloads only if they are packed.
        encode_pre_encoded(&GlobalMetadata::default(), &objects, options).ok()
    }),
    ("StreamingEncoder", |objects, options| {
        let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), options).unwrap();
        for (descriptor, data) in objects {
            encoder.write_object(descriptor, data).unwrap();
        }
        Some(encoder.finish().unwrap())
    }),
    ("StreamingEncoder of encoded objects", |objects, options| {
        let (descriptors, regions) = encoded(objects);
        let mut encoder =
            StreamingEncoder::new(io::Cursor::new(Vec::new()), &GlobalMetadata::default(), options).unwrap();
        for (descriptor, region) in descriptors.iter().zip(&regions) {
            encoder.write_object_pre_encoded(descriptor, region).ok()?;
        }
        Some(encoder.finish_with_backfill().unwrap().into_inner())
    }),
    ("MessageBuilder", |objects, options| Some(builder(objects, options).encode().unwrap())),
    ("MessageBuilder, streamed", |objects, options| Some(builder(objects, options).stream_to(Vec::new()).unwrap())),
    ("reframe", |objects, options| {
        let message = encode(&GlobalMetadata::default(), objects, &self::options(false)).unwrap();
        let view = Message::parse(&message).unwrap();
        let taken = view.objects().map(|object| TakenObject::new(&object.unwrap()).unwrap()).collect();
        Some(reframe(&GlobalMetadata::default(), taken, options).unwrap())
    }),
];

fn builder<'a>(objects: &Objects<'a>, options: &EncodeOptions) -> MessageBuilder<'a> {
    let builder = MessageBuilder::new().options(options.clone());
    objects.iter().fold(builder, |builder, (descriptor, data)| {
        builder.object(ObjectBuilder::from_parts((*descriptor).clone(), *data))
    })
}

/// The bytes of each object's values.
fn values(message: &[u8]) -> Vec<Vec<u8>> {
    let checked = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    decode(message, &checked).unwrap().1.into_iter().map(|(_, values)| values).collect()
}

#[test]
fn every_route_and_pipeline_decodes_to_the_same_values() {
    let cases = cases();
    for (route, write) in ROUTES {
        let of = |case: &Case| (case.descriptor.clone(), case.data.clone());
        let mut groups: Vec<(String, Vec<_>)> = cases.iter().map(|case| (case.name.into(), vec![of(case)])).collect();
        groups.push(("all".into(), cases.iter().map(of).collect()));
        let mut written = 0;
        for (name, objects) in groups {
            let objects: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect();
            let (first, last) = match (write(&objects, &options(true)), write(&objects, &options(false))) {
                (Some(first), Some(last)) => (first, last),
                (None, None) => continue,
                _ => panic!("{route}, {name}: only one order is taken"),
            };
            written += 1;
            assert_eq!(values(&first), values(&last), "{route}, {name}");
            assert!(tgm_std::check_message(&first).is_ok(), "{route}, {name}");
            for (message, is_first) in [(&first, true), (&last, false)] {
                for object in Message::parse(message).unwrap().objects() {
                    let object = object.unwrap();
                    assert_eq!(
                        object.frame().flags().has(FrameFlags::CBOR_AFTER_PAYLOAD),
                        !is_first,
                        "{route}, {name}"
                    );
                    assert_eq!(object.descriptor().offset() < object.region_offset(), is_first, "{route}, {name}");
                }
            }
            let descriptors = |message: &[u8]| tgm_std::decode_descriptors(message).unwrap().1;
            assert_eq!(descriptors(&first), descriptors(&last), "{route}, {name}");
        }
        assert!(written >= 5, "{route}: {written}");
    }
}
