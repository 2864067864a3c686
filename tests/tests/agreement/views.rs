//! On generated messages the views of `tgm_core`, the decoder of `tgm_std` and the naive decoder give the same results.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::fmt::Debug;

use ciborium::Value;
use proptest::collection::vec;
use proptest::prelude::*;
use tgm_core::descriptor::ByteOrder;
use tgm_core::scan::{Scanner, Segment};
use tgm_core::{ErrorKind, Message as View, cbor};
use tgm_std::DecodeOptions;
use tgm_tests::builder::{self, Body, Frame, Message, Object, frame_type, map};
use tgm_tests::messages::INDEX_CHANGES;
use tgm_tests::naive;

/// The `Debug` text, for comparisons in which NaN is equal to itself.
fn text(value: &impl Debug) -> String {
    format!("{value:?}")
}

/// Keys from a small set, so that they occur again in other maps and as parts of paths.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(&["a", "b", "mars", "param", "step", "extra", "_extra_", "base", "version"][..]),
        1 => Just(""),
        1 => Just("größe"),
        1 => Just("a key of more than twenty-three bytes"),
    ]
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-30_i64..300).prop_map(Value::from),
        any::<f64>().prop_map(Value::Float),
        prop::sample::select(&[0.0, -0.0, 1.5, 230.5, 1e5, f64::NAN, f64::INFINITY][..]).prop_map(Value::Float),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
        "[a-zé]{0,30}".prop_map(Value::Text),
        vec(any::<u8>(), 0..30).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            entries(inner.clone()).prop_map(Value::Map),
            (100_u64..200, inner).prop_map(|(tag, inner)| Value::Tag(tag, Box::new(inner))),
        ]
    })
}

/// Entries in any order, some with repeated keys.
fn entries(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<(Value, Value)>> {
    vec((key().prop_map(Value::Text), value), 0..5)
}

/// Global metadata for at most `objects` objects, with unknown keys beside the sections.
fn metadata(objects: usize) -> impl Strategy<Value = Value> {
    let section = || prop::option::of(entries(value()).prop_map(Value::Map));
    let base = prop::option::of(vec(entries(value()).prop_map(Value::Map), 0..=objects));
    let unknown = vec((prop::sample::select(&["k1", "k2", "title"][..]), value()), 0..3);
    (base, section(), section(), unknown).prop_map(|(base, extra, reserved, unknown)| {
        let mut all: Vec<(&str, Value)> = unknown;
        all.extend(base.map(|base| ("base", Value::Array(base))));
        all.extend(extra.map(|extra| ("_extra_", extra)));
        all.extend(reserved.map(|reserved| ("_reserved_", reserved)));
        map(all)
    })
}

/// An object of any dtype, shape and byte order, by any pipeline that the naive decoder knows.
fn object() -> impl Strategy<Value = Object> {
    let shape = vec(0_u64..6, 0..4);
    let dtype = prop::sample::select(&tgm_core::descriptor::Dtype::ALL[..]);
    let packing = (any::<bool>(), -1e6..1e6_f64, -20..20_i32, -3..4_i32, 0..=64_u32);
    let stages = (any::<bool>(), 0_usize..5, 0_usize..5, any::<bool>());
    (dtype, shape, packing, stages, any::<u64>(), vec((0_usize..5, 0_u8..4), 3)).prop_map(
        |(dtype, shape, packing, (big, element_size, codec, first), seed, masks)| {
            let mut rng = tgm_tests::Rng(seed);
            let mut bytes = |len: u64| (0..len).map(|_| u8::try_from(rng.next() >> 60).unwrap()).collect::<Vec<u8>>();
            let count: u64 = shape.iter().product();
            let mut object = if dtype.name() == "float64" && packing.0 {
                let packed = bytes((count * u64::from(packing.4)).div_ceil(8));
                Object::packed(&shape, packed, packing.1, (packing.2, packing.3), packing.4)
            } else {
                Object::plain(dtype.name(), &shape, bytes(dtype.byte_len(count).unwrap()))
            };
            if big {
                object = object.big_endian();
            }
            let element_size = [0, 1, 2, 3, 8][element_size];
            if element_size > 0 && object.payload.len().is_multiple_of(element_size) {
                object = object.shuffled(element_size);
            }
            match (codec, dtype.name()) {
                (1, _) => object = object.compressed("lz4"),
                (2, _) => object = object.compressed("zstd"),
                (3, "bitmask") => object = object.compressed("rle"),
                (4, "bitmask") => object = object.compressed("roaring"),
                _ => {}
            }
            object.descriptor_first = first;
            for ((method, wanted), kind) in masks.into_iter().zip(["nan", "inf+", "inf-"]) {
                if dtype.is_float() && wanted == 0 {
                    let bits: Vec<bool> = bytes(count).iter().map(|byte| byte % 3 == 0).collect();
                    object = object.masked(kind, ["none", "rle", "roaring", "lz4", "zstd"][method], &bits);
                }
            }
            object
        },
    )
}

/// A message with the layout of the buffered encoder, of the streaming encoder, or of neither.
fn message() -> impl Strategy<Value = Message> {
    vec((prop::option::of(entries(value())), object()), 0..6).prop_flat_map(|objects| {
        let count = objects.len();
        let frames = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
        let padding = vec(prop::option::weighted(0.2, 0_usize..20), count * 2 + 8);
        (metadata(count), metadata(count), Just(objects), frames, any::<bool>(), padding).prop_map(
            |(header, footer, objects, (streaming, with_footer, with_index, hashing), precede, padding)| {
                let mut message = Message::empty().with(Frame::metadata(frame_type::HEADER_METADATA, &header));
                (message.streaming, message.hashing) = (streaming, hashing);
                if with_index && !streaming {
                    message = message.with(Frame::index(frame_type::HEADER_INDEX));
                    message = message.with(Frame::hashes(frame_type::HEADER_HASH));
                }
                for (preceder, object) in objects {
                    let preceder = preceder.filter(|_| precede);
                    message.frames.extend(preceder.map(|entry| Frame::preceder(&Value::Map(entry))));
                    message.frames.push(Frame::object(object));
                }
                if with_footer {
                    message = message.with(Frame::metadata(frame_type::FOOTER_METADATA, &footer));
                }
                if with_index && streaming {
                    message = message.with(Frame::hashes(frame_type::FOOTER_HASH));
                    message = message.with(Frame::index(frame_type::FOOTER_INDEX));
                }
                for (frame, padding) in message.frames.iter_mut().zip(padding) {
                    frame.padding = padding.map(|len| vec![0; len]);
                }
                message
            },
        )
    })
}

/// A number from 0 to `end`, both included.
fn at_most(index: &prop::sample::Index, end: u64) -> u64 {
    index.index(usize::try_from(end).unwrap() + 1) as u64
}

/// Dotted paths to everything in a value.
fn paths_of(prefix: &str, value: &Value, paths: &mut Vec<String>) {
    for (key, value) in value.as_map().into_iter().flatten() {
        let Some(key) = key.as_text() else { continue };
        let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        paths_of(&path, value, paths);
        paths.push(path);
    }
}

fn owned(view: Option<cbor::Value<'_>>) -> Option<Value> {
    view.map(|view| ciborium::from_reader(view.as_encoded()).unwrap())
}

/// Asserts that a typed getter gives nothing, the value, or an error that names the type found.
fn check_typed<T: PartialEq + Debug>(
    found: tgm_core::Result<Option<T>>,
    expected: Option<&Value>,
    convert: impl Fn(&Value) -> Option<T>,
) -> Result<(), TestCaseError> {
    match (found, expected) {
        (Ok(None), None) => {}
        (Ok(Some(found)), Some(value)) => prop_assert_eq!(Some(found), convert(value)),
        (Err(error), Some(value)) => {
            prop_assert!(convert(value).is_none());
            let is_type = matches!(error.kind(), ErrorKind::WrongType { .. } | ErrorKind::IntegerRange);
            prop_assert!(is_type, "{error}");
        }
        (found, expected) => prop_assert!(false, "{found:?} instead of {expected:?}"),
    }
    Ok(())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases: tgm_tests::cases(cases), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn frames_and_metadata_equal_the_naive_decoders(message in message()) {
        let built = message.build();
        let naive = naive::decode(&built.bytes).unwrap();
        let view = View::parse(&built.bytes).unwrap();

        let frames: Vec<_> = view.frames().map(Result::unwrap).collect();
        prop_assert_eq!(frames.len(), naive.frames.len());
        for (frame, naive) in frames.iter().zip(&naive.frames) {
            prop_assert_eq!(frame.frame_type().as_u16(), naive.frame_type);
            prop_assert_eq!((frame.offset(), frame.total_length()), (naive.offset, naive.length));
            prop_assert_eq!((frame.flags().bits(), frame.hash_slot()), (naive.flags, naive.hash));
            prop_assert_eq!((frame.body(), frame.cbor_offset()), (&naive.body[..], naive.cbor_offset));
            prop_assert_eq!(frame.verify_slot().is_ok(), message.hashing);
        }
        let (metadata, descriptors) = tgm_std::decode_descriptors(&built.bytes).unwrap();
        prop_assert_eq!(text(&metadata.base), text(&naive.base));
        prop_assert_eq!(text(&metadata.extra), text(&naive.extra));
        prop_assert_eq!(text(&metadata.reserved), text(&naive.reserved));
        prop_assert_eq!(descriptors.len(), naive.objects.len());

        let metadata = view.metadata().unwrap();
        let mut paths = vec![String::new(), "no.such".into(), "mars.".into(), "_reserved_.a".into(), "extra".into()];
        for entry in naive.base.iter().chain([&naive.extra]) {
            let entries = entry.iter().map(|(key, value)| (Value::from(key.clone()), value.clone()));
            paths_of("", &Value::Map(entries.collect()), &mut paths);
        }
        for path in paths.iter().flat_map(|path| [path.clone(), format!("_extra_.{path}"), format!("{path}.x")]) {
            let expected = naive.get(&path);
            prop_assert_eq!(text(&owned(metadata.get(&path).unwrap()).as_ref()), text(&expected), "{}", path);
            check_typed(metadata.get_str(&path).map(|s| s.map(str::len)), expected, |v| Some(v.as_text()?.len()))?;
            check_typed(metadata.get_bool(&path), expected, Value::as_bool)?;
            check_typed(metadata.get_i64(&path), expected, |v| i64::try_from(i128::from(v.as_integer()?)).ok())?;
            check_typed(metadata.get_u64(&path), expected, |v| u64::try_from(i128::from(v.as_integer()?)).ok())?;
            check_typed(metadata.get_array(&path).map(|a| a.map(|a| a.len())), expected, |v| Some(v.as_array()?.len()))?;
            check_typed(metadata.get_map(&path).map(|m| m.map(|m| m.len())), expected, |v| Some(v.as_map()?.len()))?;
            check_typed(metadata.get_bytes(&path).map(|b| b.map(|b| b.len())), expected, |v| Some(v.as_bytes()?.len()))?;
            for index in 0..=naive.base.len() {
                let found = owned(metadata.get_at(index, &path).unwrap());
                prop_assert_eq!(text(&found.as_ref()), text(&naive.get_at(index, &path)), "{} of {}", path, index);
            }
        }
    }

    #[test]
    fn values_equal_the_naive_decoders(message in message(), cuts in vec(any::<prop::sample::Index>(), 3)) {
        let built = message.build();
        let bytes = &built.bytes;
        let naive = naive::decode(bytes).unwrap();
        let options = DecodeOptions::default();
        let view = View::parse(bytes).unwrap();
        let (_, decoded) = tgm_std::decode(bytes, &options).unwrap();
        prop_assert_eq!(decoded.len(), naive.objects.len());
        for (index, (expected, (descriptor, values))) in naive.objects.iter().zip(&decoded).enumerate() {
            let expected = expected.values.as_ref().unwrap();
            let little = cfg!(target_endian = "little");
            prop_assert!(!little || values == expected, "{descriptor:?}: {values:?} instead of {expected:?}");
            let walked = view.objects().nth(index).unwrap().unwrap();
            let indexed = view.object(index).unwrap();
            prop_assert_eq!(walked.frame().offset(), indexed.frame().offset());
            prop_assert_eq!(&*tgm_std::read(&indexed).options(&options).bytes().unwrap(), &values[..]);

            let count = walked.descriptor().element_count();
            let mut cuts: Vec<u64> = cuts.iter().map(|cut| at_most(cut, count)).chain([0, count]).collect();
            cuts.sort_unstable();
            let pieces: Vec<(u64, u64)> = cuts.windows(2).map(|cut| (cut[0], cut[1] - cut[0])).collect();
            let (_, parts) = tgm_std::decode_range(bytes, index, &pieces, &options).unwrap();
            for (&(start, count), part) in pieces.iter().zip(&parts) {
                let width = descriptor.dtype.byte_width();
                let at = |element: u64| usize::try_from(element).unwrap();
                let slice = if width == 0 {
                    let bit = |i: u64| values[at(i) / 8] >> (7 - i % 8) & 1 == 1;
                    builder::pack_bits(&(start..start + count).map(bit).collect::<Vec<_>>())
                } else {
                    values[at(start) * width..at(start + count) * width].to_vec()
                };
                // A range of a whole bitmask keeps the stored padding bits.
                let is_whole = width == 0 && count == walked.descriptor().element_count();
                prop_assert!(*part == slice || (is_whole && part == values), "{start} {count}: {part:?}, {slice:?}");
                let mut out = vec![0xa5; part.len()];
                match walked.decode_into(start..start + count, ByteOrder::NATIVE, &mut out) {
                    Ok(()) => prop_assert_eq!(&out, part),
                    Err(error) => prop_assert!(matches!(error.kind(), ErrorKind::NeedsDecoding(_)), "{}", error),
                }
            }
        }
        prop_assert_eq!(view.object(naive.objects.len()).unwrap_err().kind(), ErrorKind::ObjectOutOfRange);
    }

    #[test]
    fn a_message_cut_short_anywhere_is_an_error(message in message(), cuts in vec(any::<prop::sample::Index>(), 40)) {
        let built = message.build();
        for cut in cuts.iter().map(|cut| cut.index(built.bytes.len())).chain([0, 23, 24, 47, built.bytes.len() - 1]) {
            let cut = &built.bytes[..cut.min(built.bytes.len() - 1)];
            prop_assert!(tgm_std::decode(cut, &DecodeOptions::default()).is_err(), "{} of {:?}", cut.len(), built);
            prop_assert!(tgm_std::decode_descriptors(cut).is_err());
            // Metadata may lie before the cut.
            let _ = tgm_std::decode_metadata(cut);
            if let Ok(view) = View::parse(cut) {
                prop_assert!(view.frames().any(|frame| frame.is_err()), "{} of {:?}", cut.len(), built);
                let _ = view.object(0);
            }
        }
    }

    #[test]
    fn a_message_with_a_flipped_byte_never_panics(
        message in message(),
        flips in vec((any::<prop::sample::Index>(), 1_u8..), 30),
    ) {
        let built = message.build();
        let options = DecodeOptions { verify_hash: true, ..Default::default() };
        for (at, flip) in flips {
            let mut bytes = built.bytes.clone();
            bytes[at.index(built.bytes.len())] ^= flip;
            let decoded = tgm_std::decode(&bytes, &DecodeOptions::default()).map(|(_, objects)| objects.len());
            let listed = tgm_std::decode_descriptors(&bytes).map(|(_, objects)| objects.len());
            prop_assert!(decoded.is_err() || listed.is_ok());
            let _ = tgm_std::decode(&bytes, &options);
            let _ = tgm_std::decode_with_masks(&bytes, &DecodeOptions::default());
            tgm_core::scan::scan(&bytes).for_each(drop);
            if let Ok(view) = View::parse(&bytes) {
                for index in 0..message.frames.len() {
                    let _ = view.object(index).map(|object| tgm_std::read(&object).options(&options).bytes().is_ok());
                }
            }
        }
    }

    #[test]
    fn scans_from_either_end_and_from_both_find_the_same(
        parts in vec((junk(), message()), 0..5),
        last in junk(),
    ) {
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for (junk, message) in &parts {
            bytes.extend(junk);
            let message = message.build().bytes;
            expected.push((bytes.len() as u64, message.len() as u64));
            bytes.extend(message);
        }
        bytes.extend(&last);

        let forward: Vec<Segment> = tgm_core::scan::scan(&bytes).collect();
        check_cover(&forward, bytes.len())?;
        let messages = |segments: &[Segment]| -> Vec<(u64, u64)> {
            segments.iter().filter(|s| s.is_message()).map(|s| (s.offset(), s.length())).collect()
        };
        prop_assert_eq!(&messages(&forward), &expected);

        // From the end as far as possible, then the rest from the start.
        let mut scanner = Scanner::new(&bytes[..]);
        let mut behind = Vec::new();
        while let Ok(Some(segment)) = scanner.next_message_back(u64::MAX) {
            behind.push(segment);
        }
        let mut backward: Vec<Segment> = scanner.by_ref().collect();
        backward.extend(behind.into_iter().rev());
        check_cover(&backward, bytes.len())?;
        prop_assert_eq!(&backward, &forward);

        let both: Vec<(u64, u64)> = tgm_std::scan(&bytes).iter().map(|&(at, n)| (at as u64, n as u64)).collect();
        prop_assert_eq!(&both, &expected);
        let file = tgm_std::scan_file(&mut std::io::Cursor::new(&bytes)).unwrap();
        prop_assert_eq!(file.len(), expected.len());
    }
}

/// Bytes that look like parts of a message but hold no whole preamble.
fn junk() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] =
        &[b"TENSOGR", b"TENSOGRM\0\x02", b"39277777", b"3927777", b"FR\0\x09\0\x01", b"ENDF", b"\0\0\0", b"M"];
    let piece = prop::sample::select(PIECES);
    vec(piece, 0..5).prop_map(|pieces| pieces.concat()).prop_filter("version 3", |junk| {
        // Pieces beside each other could make a preamble of version 3.
        !junk.windows(10).any(|window| window.starts_with(b"TENSOGRM") && window[8..] == [0, 3])
    })
}

fn check_cover(segments: &[Segment], len: usize) -> Result<(), TestCaseError> {
    let mut end = 0;
    for segment in segments {
        prop_assert_eq!(segment.offset(), end);
        prop_assert!(segment.length() > 0);
        end += segment.length();
    }
    prop_assert_eq!(end, len as u64);
    Ok(())
}

#[test]
fn an_index_leads_to_the_object_that_the_walk_finds_or_to_an_error() {
    let objects: Vec<Object> = (0..5_u8).map(|n| Object::bytes(&[n; 5])).collect();
    for change in INDEX_CHANGES {
        let mut message = Message::buffered(objects.clone());
        message.frames[1] = Frame::changed_index(frame_type::HEADER_INDEX, *change);
        assert!(matches!(message.frames[1].body, Body::Index(_)));
        let built = message.build();
        let view = View::parse(&built.bytes).unwrap();
        for (index, walked) in view.objects().enumerate() {
            match view.object(index) {
                Ok(found) => assert_eq!(found.payload(), walked.unwrap().payload()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::IndexEntry),
            }
        }
        // Decoding a whole message does not use the index, as in the reference.
        assert_eq!(tgm_std::decode(&built.bytes, &DecodeOptions::default()).unwrap().1.len(), 5);
    }
}
