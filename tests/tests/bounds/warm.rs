//! Decoding into buffers that the caller keeps, and objects found in a table that the caller keeps.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use tgm_core::ErrorKind;
use tgm_core::Message as View;
use tgm_core::descriptor::{Dtype, Encoding};
use tgm_core::object::DataObject;
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, ObjectTable, Scratch, TensogramError, read};
use tgm_tests::builder::{Frame, Message, Object, frame_type};
use tgm_tests::corpus;
use tgm_tests::messages::INDEX_CHANGES;

/// The least number of packed objects in the corpus.
const LEAST_PACKED: usize = 50;

fn count_of(object: &DataObject<'_>) -> usize {
    usize::try_from(object.descriptor().element_count()).unwrap()
}

/// The values of an object as `f64`, if it decodes.
fn doubles(object: &DataObject<'_>, options: &DecodeOptions) -> Option<Vec<f64>> {
    let values = read(object).options(options).bytes().ok()?;
    Some(values.as_chunks().0.iter().map(|value| f64::from_ne_bytes(*value)).collect())
}

#[test]
fn buffers_of_the_wrong_length_are_an_error_and_stay_unchanged() {
    let built = Message::buffered([
        Object::f32(&[10], &[1.5; 10]),
        Object::packed(&[10], vec![0x5a; 15], 273.15, (-4, 0), 12),
        Object::f32(&[10], &[1.5; 10]).compressed("zstd"),
        Object::f32(&[10], &[1.5; 10]).shuffled(4).compressed("lz4"),
        Object::plain("bitmask", &[10], [0xf0, 0x40]),
    ])
    .build();
    let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
    for object in View::parse(&built.bytes).unwrap().objects() {
        let object = object.unwrap();
        let len = usize::try_from(object.descriptor().decoded_len().unwrap()).unwrap();
        let of_range = usize::try_from(object.descriptor().dtype().byte_len(3).unwrap()).unwrap();
        for wrong in [0, 1, len - 1, len + 1, 2 * len] {
            let mut out = vec![0xa5; wrong];
            let error = read(&object).options(&options).scratch(&mut scratch).bytes_into(&mut out).unwrap_err();
            assert!(matches!(&error, TensogramError::Encoding(_)), "{error}");
            assert!(error.to_string().contains(&format!("{wrong} bytes, the values have {len}")), "{error}");
            assert!(out.iter().all(|byte| *byte == 0xa5));
            if wrong != of_range {
                assert!(
                    read(&object)
                        .ranges(&[(2, 3)])
                        .options(&options)
                        .scratch(&mut scratch)
                        .bytes_into(&mut out)
                        .is_err()
                );
                assert!(out.iter().all(|byte| *byte == 0xa5));
            }
        }
        read(&object).options(&options).scratch(&mut scratch).bytes_into(&mut vec![0; len]).unwrap();
        assert!(read(&object).ranges(&[]).options(&options).scratch(&mut scratch).bytes_into(&mut []).is_ok());
        assert!(read(&object).ranges(&[]).options(&options).scratch(&mut scratch).bytes_into(&mut [0]).is_err());
        for beyond in [(8, 3), (11, 0), (u64::MAX, 2), (0, u64::MAX)] {
            assert!(
                read(&object)
                    .ranges(&[beyond])
                    .options(&options)
                    .scratch(&mut scratch)
                    .bytes_into(&mut vec![0; of_range])
                    .is_err()
            );
        }
    }
}

#[test]
fn elements_must_have_the_type_of_the_object_and_come_in_native_byte_order() {
    let numbers: Vec<f32> = (0..100_u8).map(f32::from).collect();
    let object = || Object::f32(&[100], &numbers);
    let stored = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
    let mut scratch = Scratch::default();
    let swapped: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    let swapped = || Object::plain("float32", &[100], swapped.as_slice()).big_endian();
    for object in [
        object(),
        object().shuffled(4).compressed("zstd"),
        object().compressed("lz4"),
        swapped(),
        swapped().shuffled(4),
        swapped().compressed("zstd"),
        swapped().shuffled(4).compressed("lz4"),
    ] {
        let built = Message::buffered([object]).build();
        let object = View::parse(&built.bytes).unwrap().object(0).unwrap();
        let mut out = vec![0.0_f32; 100];
        read(&object).options(&stored).scratch(&mut scratch).values_into(&mut out).unwrap();
        assert_eq!(out, numbers);
        let mut out = vec![0.0_f32; 7];
        read(&object).ranges(&[(90, 5), (3, 2)]).options(&stored).scratch(&mut scratch).values_into(&mut out).unwrap();
        assert_eq!(out, [90.0, 91.0, 92.0, 93.0, 94.0, 3.0, 4.0]);
        assert!(read(&object).options(&stored).scratch(&mut scratch).values_into(&mut [0.0_f32; 99]).is_err());
        for error in [
            read(&object).options(&stored).scratch(&mut scratch).values_into(&mut [0_i32; 100]).unwrap_err(),
            read(&object)
                .ranges(&[(0, 1)])
                .options(&stored)
                .scratch(&mut scratch)
                .values_into(&mut [0_u32; 1])
                .unwrap_err(),
        ] {
            let kind = error.cause().map(|cause| cause.kind());
            assert!(matches!(kind, Some(ErrorKind::DtypeMismatch { found: Dtype::Float32, .. })), "{kind:?}");
        }
        let mut wide = [0.0_f64; 100];
        read(&object).options(&stored).scratch(&mut scratch).values_into(&mut wide).unwrap();
        assert!(wide.iter().zip(&numbers).all(|(wide, number)| *wide == f64::from(*number)));
    }
}

#[test]
fn packed_values_of_the_corpus_unpack_to_f64_and_f32_whole_and_in_parts() {
    let options = DecodeOptions::default();
    let (mut scratch, mut found) = (Scratch::default(), 0);
    for sample in corpus::samples_where(false) {
        for (start, len) in tgm_std::scan(&sample.bytes) {
            let Ok(message) = View::parse(&sample.bytes[start..start + len]) else { continue };
            for object in message.objects().flatten() {
                if object.descriptor().encoding().known() != Some(Encoding::SimplePacking) {
                    continue;
                }
                let Some(expected) = doubles(&object, &options) else { continue };
                found += 1;
                let third = expected.len() / 3;
                for (start, end) in [(0, expected.len()), (third, 2 * third), (third, third)] {
                    let (mut wide, mut narrow) = (vec![0.5_f64; end - start], vec![0.5_f32; end - start]);
                    let first = start as u64;
                    read(&object)
                        .ranges(&[(first, wide.len() as u64)])
                        .options(&options)
                        .scratch(&mut scratch)
                        .values_into(&mut wide)
                        .unwrap();
                    read(&object)
                        .ranges(&[(first, narrow.len() as u64)])
                        .options(&options)
                        .scratch(&mut scratch)
                        .values_into(&mut narrow)
                        .unwrap();
                    for ((value, wide), narrow) in expected[start..end].iter().zip(wide).zip(narrow) {
                        let name = &sample.name;
                        assert_eq!(wide.to_bits(), value.to_bits(), "{name}: {wide} {value}");
                        #[expect(clippy::cast_possible_truncation, reason = "rounding to `f32` is the promise")]
                        let rounded = *value as f32;
                        assert!(narrow.to_bits() == rounded.to_bits() || narrow.is_nan() && value.is_nan(), "{name}");
                    }
                }
                let beyond = read(&object)
                    .ranges(&[(1, expected.len() as u64)])
                    .options(&options)
                    .scratch(&mut scratch)
                    .values_into(&mut vec![0.0_f32; expected.len()]);
                assert!(beyond.is_err(), "{}", sample.name);
            }
        }
    }
    assert!(found >= LEAST_PACKED, "only {found} packed objects");
}

#[test]
fn masked_packed_values_are_restored_as_f32() {
    let bits: Vec<bool> = (0..100).map(|at| at % 7 == 0).collect();
    let packed = || Object::packed(&[100], vec![0x5a; 150], 273.15, (-4, 0), 12).masked("inf-", "zstd", &bits);
    let unrestored = DecodeOptions { restore_non_finite: false, ..DecodeOptions::default() };
    let mut scratch = Scratch::default();
    for object in [packed(), packed().shuffled(2), packed().compressed("zstd")] {
        let built = Message::buffered([object]).build();
        let object = View::parse(&built.bytes).unwrap().object(0).unwrap();
        let mut out = vec![0.0_f32; 95];
        read(&object).ranges(&[(5, out.len() as u64)]).scratch(&mut scratch).values_into(&mut out).unwrap();
        assert!(out.iter().zip(&bits[5..]).all(|(value, masked)| (*value == f32::NEG_INFINITY) == *masked));
        read(&object)
            .ranges(&[(5, out.len() as u64)])
            .options(&unrestored)
            .scratch(&mut scratch)
            .values_into(&mut out)
            .unwrap();
        assert!(out.iter().all(|value| value.is_finite()));
    }
}

#[test]
fn scratch_memory_of_one_object_does_not_affect_the_next() {
    let many: Vec<f64> = (0..5000).map(f64::from).collect();
    let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
    for (values, is_zstd) in [(&many[..], true), (&many[..9], false), (&many[..800], true)] {
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap().shuffle();
        let object = if is_zstd { object.zstd(1) } else { object.szip() };
        let bytes = MessageBuilder::new().object(object).encode().unwrap();
        let object = View::parse(&bytes).unwrap().object(0).unwrap();
        let mut out = vec![f64::NAN; values.len()];
        read(&object).options(&options).scratch(&mut scratch).values_into(&mut out).unwrap();
        assert_eq!(out, values);
        let mut part = [0; 16];
        read(&object).ranges(&[(3, 2)]).options(&options).scratch(&mut scratch).bytes_into(&mut part).unwrap();
        assert_eq!(part, *read(&object).ranges(&[(3, 2)]).options(&options).bytes().unwrap());
    }
}

#[test]
fn an_object_table_finds_the_objects_of_the_walk_in_every_file() {
    let mut objects = 0;
    for sample in corpus::samples_where(false) {
        for (start, len) in tgm_std::scan(&sample.bytes) {
            let Ok(message) = View::parse(&sample.bytes[start..start + len]) else { continue };
            let (Ok(table), Ok(walked)) = (ObjectTable::new(&message), ObjectTable::by_walk(&message)) else {
                continue;
            };
            let by_walk = message.objects();
            for (index, object) in by_walk.enumerate() {
                let Ok(object) = object else { break };
                let Ok(of_message) = message.object(index) else { continue };
                assert_eq!(of_message.frame().offset(), object.frame().offset(), "{}", sample.name);
                for table in [&table, &walked] {
                    let found = table.object(&message, index).unwrap();
                    assert_eq!(found.frame().offset(), object.frame().offset(), "{}", sample.name);
                    assert_eq!(count_of(&found), count_of(&object));
                }
                objects += 1;
            }
            assert!(table.object(&message, walked.len()).is_err(), "{}", sample.name);
        }
    }
    assert!(objects > 500, "only {objects} objects");
}

#[test]
fn a_wrong_index_is_detected_and_leads_to_no_other_object() {
    let objects = || (0..5_u8).map(|n| Object::bytes(&[n; 5]));
    let is_index_error =
        |error: &TensogramError| error.cause().is_some_and(|cause| cause.kind() == ErrorKind::IndexEntry);
    for (number, change) in INDEX_CHANGES.iter().enumerate() {
        let mut message = Message::buffered(objects());
        message.frames[1] = Frame::changed_index(frame_type::HEADER_INDEX, *change);
        let built = message.build();
        let view = View::parse(&built.bytes).unwrap();
        let mut is_detected = false;
        match ObjectTable::new(&view) {
            Err(error) => is_detected = is_index_error(&error),
            Ok(table) => {
                for (index, walked) in view.objects().enumerate() {
                    match table.object(&view, index) {
                        Ok(found) => assert_eq!(found.payload(), walked.unwrap().payload()),
                        Err(error) => is_detected |= is_index_error(&error),
                    }
                }
            }
        }
        assert!(is_detected, "change {number}");
        let table = ObjectTable::by_walk(&view).unwrap();
        assert_eq!(table.len(), 5);
        assert_eq!(table.object(&view, 4).unwrap().payload(), [4; 5]);
    }
}

#[test]
fn a_table_of_one_message_is_checked_against_another() {
    let message = |len: usize| Message::buffered([Object::bytes(&vec![1; len]), Object::bytes(&vec![2; len])]).build();
    let (short, long) = (message(9), message(50));
    let table = ObjectTable::new(&View::parse(&short.bytes).unwrap()).unwrap();
    assert_eq!((table.len(), table.is_empty(), size_of_val(table.entries())), (2, false, 32));
    let long = View::parse(&long.bytes).unwrap();
    for index in 0..2 {
        let error = table.object(&long, index).unwrap_err();
        assert_eq!(error.cause().map(|cause| cause.kind()), Some(ErrorKind::IndexEntry), "{error}");
    }
}
