//! Messages whose descriptors come before their payloads: every route writes them, every reader finds the same values, and
//! values can be read before the message ends.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic")]
#![allow(
    clippy::redundant_closure_for_method_calls,
    reason = "a method with a lifetime is not such a function pointer"
)]

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use tgm_std::core::Message;
use tgm_std::core::descriptor::ZfpMode;
use tgm_std::core::scan::{Segment, scan};
use tgm_std::core::wire::FrameFlags;
use tgm_std::encode::{Part, TakenObject, encode_parts, reframe};
use tgm_std::file::{StreamOptions, ValueEvent, ValueReader};
use tgm_std::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder,
    StreamingEncoder, TensogramError, decode, encode, encode_pre_encoded,
};

/// An object: its descriptor as the caller gives it, and its elements.
struct Case {
    name: &'static str,
    descriptor: DataObjectDescriptor,
    data: Vec<u8>,
    /// Whether values come while the payload comes.
    is_early: bool,
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
    let float = |name, is_early, descriptor| Case { name, descriptor, data: bytes(&values), is_early };
    let mask = |name, build: fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>| {
        let descriptor = build(ObjectBuilder::bitmask(&[5600], &bits)).descriptor().clone();
        Case { name, descriptor, data: bits.clone(), is_early: false }
    };
    let number = |name, build: fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>| {
        let descriptor = build(ObjectBuilder::new(&[5000], &numbers).unwrap()).descriptor().clone();
        Case { name, descriptor, data: numbers.iter().flat_map(|n| n.to_ne_bytes()).collect(), is_early: true }
    };
    vec![
        float("plain", true, of(|object| object)),
        float("packed", true, of(|object| object.simple_packing(13))),
        float("packed in 0 bits", false, of(|object| object.simple_packing(0))),
        float("szip of packed", true, of(|object| object.simple_packing(16).szip())),
        number("plain numbers", |object| object),
        number("szip", |object| object.szip()),
        float("szip of shuffled", false, of(|object| object.shuffle().szip())),
        float("zstd", false, of(|object| object.zstd(3))),
        float("zstd of shuffled", false, of(|object| object.shuffle().zstd(1))),
        float("lz4 of packed", false, of(|object| object.simple_packing(24).lz4())),
        float("zfp", false, of(|object| object.zfp(ZfpMode::FixedRate(8.0)))),
        Case { name: "masked", descriptor: of(|object| object), data: bytes(&holes), is_early: false },
        Case { name: "masked zstd", descriptor: of(|object| object.zstd(1)), data: bytes(&holes), is_early: false },
        Case { is_early: true, ..mask("bits", |object| object) },
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

/// Bytes in reads of this length.
struct Cut<'a>(&'a [u8], usize);

impl Read for Cut<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(out.len());
        self.0.read(&mut out[..length])
    }
}

/// What a reader says of whole messages: each object's values, the number of messages, and the digests that were wrong.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    values: Vec<Vec<u8>>,
    descriptors: Vec<DataObjectDescriptor>,
    messages: Vec<(u64, u64)>,
    metadata: usize,
}

fn heard(bytes: &[u8], length: usize) -> Heard {
    let mut reader = ValueReader::new(Cut(bytes, length));
    let mut heard = Heard::default();
    let mut first = 0;
    while let Some(event) = reader.next_event().unwrap() {
        match event {
            ValueEvent::Message { .. } => first = heard.values.len(),
            ValueEvent::Metadata { .. } => heard.metadata += 1,
            ValueEvent::Object { index, descriptor } => {
                assert_eq!(first + index, heard.values.len());
                heard.values.push(Vec::new());
                heard.descriptors.push(*descriptor);
            }
            ValueEvent::Values { index, offset, bytes } => {
                assert_eq!(heard.values[first + index].len() as u64, offset);
                assert!(!bytes.is_empty());
                heard.values[first + index].extend_from_slice(bytes);
            }
            ValueEvent::ObjectEnd { verdict, .. } => {
                assert!(!matches!(verdict, tgm_std::core::hash::Verdict::Mismatch(_)));
            }
            ValueEvent::MessageEnd { offset, length } => heard.messages.push((offset, length)),
            other => panic!("{other:?}"),
        }
    }
    heard
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
            for message in [&first, &last] {
                let heard = heard(message, 777);
                assert_eq!(heard.values, values(message), "{route}, {name}");
                assert_eq!(heard.descriptors, descriptors(message), "{route}, {name}");
                assert_eq!(heard.messages, [(0, message.len() as u64)]);
                assert!(heard.metadata > 0);
            }
        }
        assert!(written >= 5, "{route}: {written}");
    }
}

#[test]
fn values_come_while_their_payload_comes() {
    for case in cases() {
        let objects = [(&case.descriptor, case.data.as_slice())];
        let message = encode(&GlobalMetadata::default(), &objects, &options(true)).unwrap();
        let view = Message::parse(&message).unwrap().object(0).unwrap();
        let half = usize::try_from(view.region_offset()).unwrap() + view.payload().len() / 2;
        let mut reader = ValueReader::new(&message[..half]);
        let mut count = 0;
        while let Ok(Some(event)) = reader.next_event() {
            if let ValueEvent::Values { bytes, .. } = event {
                count += bytes.len();
            }
        }
        let all = values(&message)[0].len();
        assert!(count < all && (count > all / 4) == case.is_early, "{}: {count} of {all} bytes", case.name);
    }
}

#[test]
fn a_reader_of_values_finds_the_values_of_every_sound_file() {
    fn files(folder: &Path, found: &mut Vec<Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else if path.extension().is_some_and(|end| end == "tgm") && path.metadata().unwrap().len() < 100_000 {
                found.push(fs::read(path).unwrap());
            }
        }
    }
    let mut found = Vec::new();
    files(Path::new("../tests/data"), &mut found);
    let mut tried = 0;
    for file in found {
        let parts: Vec<_> = scan(&file).collect();
        let messages: Vec<_> = parts.iter().map(|part| part.bytes_of(&file).unwrap()).collect();
        let is_sound =
            |bytes: &&[u8]| tgm_std::check_message(bytes).is_ok() && decode(bytes, &DecodeOptions::default()).is_ok();
        if !parts.iter().all(Segment::is_message) || !messages.iter().all(is_sound) {
            continue;
        }
        tried += 1;
        let decoded = |bytes: &&[u8]| decode(bytes, &DecodeOptions::default()).unwrap().1;
        let expected: Vec<_> = messages.iter().flat_map(decoded).map(|(_, values)| values).collect();
        for length in [usize::MAX, 61] {
            assert_eq!(heard(&file, length).values, expected);
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn damage_is_an_error_and_the_next_message_is_read() {
    let case = &cases()[1];
    let objects = [(&case.descriptor, case.data.as_slice())];
    let message = encode(&GlobalMetadata::default(), &objects, &options(true)).unwrap();
    let mut damaged = message.clone();
    let end = damaged.len();
    damaged[end - 1] = b'X';
    let stream = [damaged, message.clone()].concat();
    let mut reader = ValueReader::new(Cut(&stream, 500));
    let (mut errors, mut ends, mut junk) = (0, Vec::new(), Vec::new());
    loop {
        match reader.next_event() {
            Ok(Some(ValueEvent::MessageEnd { offset, .. })) => ends.push(offset),
            Ok(Some(ValueEvent::Junk { offset, length })) => junk.push((offset, length)),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(_) => errors += 1,
        }
    }
    let length = message.len() as u64;
    assert_eq!((errors, ends, junk), (1, vec![length], vec![(0, length)]));
}

#[test]
fn an_object_that_has_to_be_whole_is_limited() {
    let case = &cases()[0];
    let objects = [(&case.descriptor, case.data.as_slice())];
    let stream = StreamOptions { max_message_bytes: 1000, ..StreamOptions::default() };
    for (descriptor_first, is_read) in [(true, true), (false, false)] {
        let message = encode(&GlobalMetadata::default(), &objects, &options(descriptor_first)).unwrap();
        let mut reader = ValueReader::with_options(&message[..], &stream, &DecodeOptions::default());
        let (mut count, mut errors, mut has_ended) = (0, 0, false);
        loop {
            match reader.next_event() {
                Ok(Some(ValueEvent::Values { bytes, .. })) => count += bytes.len(),
                Ok(Some(ValueEvent::MessageEnd { .. })) => has_ended = true,
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(TensogramError::MessageTooLarge { offset: 0, limit: 1000, .. }) => errors += 1,
                Err(error) => panic!("{error}"),
            }
        }
        let expected = if is_read { (case.data.len(), 0) } else { (0, 1) };
        assert_eq!(((count, errors), has_ended), (expected, true));
    }
}
