//! What is read in part against what is there in memory.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic")]

use std::fmt::Debug;
use std::{fs, io};

use proptest::prelude::*;

use crate::{
    DecodeLimits, DecodeOptions, EncodeOptions, MaskMethod, MessageBuilder, ObjectBuilder, TensogramError,
    TensogramFile, decode_descriptors, decode_metadata, decode_object, decode_range,
};

fn options() -> DecodeOptions {
    let limits = DecodeLimits { free_bytes: 1 << 20, max_decoded_bytes: 8 << 20, ..DecodeLimits::default() };
    DecodeOptions { verify_hash: true, limits, ..DecodeOptions::default() }
}

/// A digest covers all of the object, so ranges are read in part only without it.
fn unchecked() -> DecodeOptions {
    DecodeOptions { verify_hash: false, ..options() }
}

fn file(bytes: &[u8]) -> (tempfile::TempDir, TensogramFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("message");
    fs::write(&path, bytes).unwrap();
    (folder, TensogramFile::open(&path).unwrap())
}

/// Messages with an object of each storage, streamed or not, with and without NaN.
fn message(streamed: bool, len: usize) -> Vec<u8> {
    let values: Vec<f64> = (0_u32..).take(len).map(|i| f64::from(i) * 0.5).collect();
    let mut with_nan = values.clone();
    with_nan[len / 3] = f64::NAN;
    let object = |values| ObjectBuilder::new(&[len as u64], values).unwrap();
    let objects = [
        object(&values),
        object(&values).simple_packing(12),
        object(&values).shuffle(),
        object(&values).simple_packing(16).szip(),
        object(&with_nan),
    ];
    let options = EncodeOptions { allow_nan: true, nan_mask_method: MaskMethod::Rle, ..EncodeOptions::default() };
    let message = objects.into_iter().fold(MessageBuilder::new(), MessageBuilder::object).options(options);
    if streamed { message.stream_to(Vec::new()).unwrap() } else { message.encode().unwrap() }
}

/// Holds what was found in part against what is in memory. Damage elsewhere may not be noticed in part.
fn same<T: Debug>(in_part: crate::Result<T>, in_memory: crate::Result<T>) {
    match (in_part, in_memory) {
        (Ok(in_part), Ok(in_memory)) => assert_eq!(format!("{in_part:?}"), format!("{in_memory:?}")),
        (Err(in_part), Err(in_memory)) => {
            let (in_part, in_memory) = (in_part.to_string(), in_memory.to_string());
            assert!(in_part == in_memory || in_part.contains("out of range (num_objects="), "{in_part}, {in_memory}");
        }
        (Ok(_), Err(_)) => {}
        (Err(in_part), Ok(_)) => panic!("{in_part}"),
    }
}

proptest! {
    // Machines of 32 bits are emulated, and slow.
    #![proptest_config(ProptestConfig::with_cases(if usize::BITS < u64::BITS { 8 } else { 64 }))]

    #[test]
    fn parts_of_large_messages_are_found_as_in_all_of_them(
        streamed: bool, damage in proptest::option::weighted(0.5, any::<(usize, u8)>()),
        ranges in proptest::collection::vec((0..20_000_u64, 0..300_u64), 0..6),
    ) {
        let mut bytes = message(streamed, 20_000);
        if let Some((at, with)) = damage {
            // The preamble and the postamble say whether there is a message at all.
            let at = 24 + at % (bytes.len() - 48);
            bytes[at] = with;
        }
        let (_folder, file) = file(&bytes);
        prop_assert_eq!(file.message_count().unwrap(), 1);
        for index in 0..6 {
            same(file.decode_object(0, index, &options()), decode_object(&bytes, index, &options()));
            let in_memory = decode_range(&bytes, index, &ranges, &unchecked());
            same(file.decode_range(0, index, &ranges, &unchecked()), in_memory);
            let outline = file.read_message_object(0, index).unwrap();
            same(decode_object(&outline, index, &options()), decode_object(&bytes, index, &options()));
        }
        same(file.decode_metadata(0), decode_metadata(&bytes));
        same(file.decode_descriptors(0), decode_descriptors(&bytes));
        same(decode_descriptors(&file.read_message_outline(0).unwrap()), decode_descriptors(&bytes));
    }
}

/// FORMAT §1.7 allows it, and writers write it only if asked to.
#[test]
fn a_descriptor_in_front_is_read_to_its_end() {
    let values = vec![0x0101_0101_u32; 1 << 18];
    let object = ObjectBuilder::new(&[1 << 18], &values).unwrap().parameter("long", "x".repeat(40_000));
    let mut message = MessageBuilder::new().object(object).encode().unwrap();
    let frame = *tgm_core::Message::parse(&message).unwrap().object(0).unwrap().frame();
    let start = usize::try_from(frame.offset()).unwrap();
    let place = start..start + usize::try_from(frame.total_length()).unwrap();
    let (descriptor, payload, ..) = crate::compat::framing::decode_data_object_frame(&message[place.clone()]).unwrap();
    let turned = crate::compat::framing::encode_data_object_frame(&descriptor, payload, true, true).unwrap();
    assert!(turned != message[place.clone()]);
    message[place].copy_from_slice(&turned);
    assert!(decode_object(&message, 0, &options()).unwrap().1.params.contains_key("long"));
    let (_folder, file) = file(&message);
    assert_eq!(file.decode_descriptors(0).unwrap(), decode_descriptors(&message).unwrap());
    let ranges = [(5, 3), (100_000, 2)];
    assert_eq!(
        file.decode_range(0, 0, &ranges, &unchecked()).unwrap(),
        decode_range(&message, 0, &ranges, &unchecked()).unwrap()
    );
    let outline = file.read_message_outline(0).unwrap();
    assert_eq!(decode_descriptors(&outline).unwrap(), decode_descriptors(&message).unwrap());
    let shown = outline.iter().filter(|byte| **byte != 0).count();
    assert!((40_000..240_000).contains(&shown), "{shown} of {} bytes are in the outline", message.len());
}

#[test]
fn a_file_that_became_shorter_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("message");
    let values = vec![1.0_f64; 1 << 17];
    let bytes = MessageBuilder::new().object(ObjectBuilder::new(&[1 << 17], &values).unwrap()).encode().unwrap();
    assert!(bytes.len() > 256 << 10);
    fs::write(&path, &bytes).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(
        file.decode_range(0, 0, &[(1000, 2)], &options()).unwrap().1,
        [1.0_f64.to_ne_bytes(); 2].concat().chunks(16).collect::<Vec<_>>()
    );
    fs::File::options().write(true).open(&path).unwrap().set_len(1000).unwrap();
    for error in [
        file.decode_metadata(0).unwrap_err(),
        file.decode_descriptors(0).unwrap_err(),
        file.decode_object(0, 0, &options()).unwrap_err(),
        file.decode_range(0, 0, &[(0, 1)], &options()).unwrap_err(),
        file.read_message_outline(0).unwrap_err(),
        file.read_message_object(0, 0).unwrap_err(),
    ] {
        assert!(matches!(&error, TensogramError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof), "{error}");
    }
}
