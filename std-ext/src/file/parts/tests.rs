//! What is read in part against what is there in memory.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::scan::{Bytes, ScanOptions, Table};
use crate::{
    DecodeLimits, DecodeOptions, EncodeOptions, MaskMethod, MessageBuilder, ObjectBuilder, TensogramError,
    TensogramFile, decode_descriptors, decode_metadata, decode_object, decode_range,
};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

fn options() -> DecodeOptions {
    let limits = DecodeLimits { free_bytes: 1 << 20, max_decoded_bytes: 8 << 20, ..DecodeLimits::default() };
    DecodeOptions { verify_hash: true, limits, ..DecodeOptions::default() }
}

/// What a reader of the bytes finds of what was wanted.
fn found(bytes: &[u8], wanted: Wanted<'_>) -> String {
    let options = options();
    match wanted {
        Wanted::FirstMetadata => format!("{:?}", decode_metadata(bytes)),
        Wanted::Descriptors => format!("{:?}", decode_descriptors(bytes)),
        Wanted::Object(index) => format!("{:?}", decode_object(bytes, index, &options)),
        Wanted::DescriptorsAndObject(index) => {
            format!("{:?} {:?}", decode_descriptors(bytes), decode_object(bytes, index, &options))
        }
        // A digest covers all of the object.
        Wanted::Ranges(index, ranges) => {
            let unchecked = DecodeOptions { verify_hash: false, ..options };
            format!("{:?}", decode_range(bytes, index, ranges, &unchecked))
        }
    }
}

/// Reads a message in parts out of a file, where it lies behind `before` bytes, and compares. The bytes that were not read are
/// not looked at: they are noise here.
fn check(file: &File, before: u64, message: &[u8], wanted: Wanted<'_>) {
    let mut bytes = vec![0xa5; message.len()];
    read(file, before, &mut bytes, wanted).unwrap();
    assert_eq!(found(&bytes, wanted), found(message, wanted), "{wanted:?}");
}

fn check_all(file: &File, before: u64, message: &[u8]) {
    check(file, before, message, Wanted::FirstMetadata);
    check(file, before, message, Wanted::Descriptors);
    for index in 0..4 {
        check(file, before, message, Wanted::Object(index));
        check(file, before, message, Wanted::DescriptorsAndObject(index));
        for ranges in [&[][..], &[(0, 1)], &[(5, 3), (0, 2), (5, 1)], &[(3, u64::MAX)], &[(0, 1 << 40)]] {
            check(file, before, message, Wanted::Ranges(index, ranges));
        }
    }
}

fn data_files(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension() {
            _ if path.is_dir() => data_files(&path, files),
            Some(extension) if extension == "tgm" => files.push(path),
            _ => {}
        }
    }
}

/// Good messages and bad ones.
#[test]
fn parts_of_a_message_are_found_as_in_all_of_it() {
    let mut files = Vec::new();
    data_files(Path::new(DATA), &mut files);
    assert!(files.len() > 500);
    for path in files {
        let (bytes, file) = (fs::read(&path).unwrap(), File::open(&path).unwrap());
        let Ok::<_, std::convert::Infallible>(table) = Table::scan(Bytes(&bytes), &ScanOptions::default());
        for layout in table.messages.iter().take(3) {
            let start = usize::try_from(layout.offset).unwrap();
            let message = &bytes[start..][..usize::try_from(layout.length).unwrap()];
            check_all(&file, layout.offset, message);
        }
        if table.messages.is_empty() {
            check_all(&file, 0, &bytes);
        }
    }
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_of_large_messages_are_found_as_in_all_of_them(
        streamed: bool, before in 0..100_usize, damage in proptest::option::weighted(0.5, any::<(usize, u8)>()),
        ranges in proptest::collection::vec((0..20_000_u64, 0..300_u64), 0..6),
    ) {
        let mut bytes = message(streamed, 20_000);
        if let Some((at, with)) = damage {
            let at = at % bytes.len();
            bytes[at] = with;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("message");
        fs::write(&path, [&vec![1; before], bytes.as_slice()].concat()).unwrap();
        let file = File::open(&path).unwrap();
        for index in 0..6 {
            check(&file, before as u64, &bytes, Wanted::Object(index));
            check(&file, before as u64, &bytes, Wanted::DescriptorsAndObject(index));
            check(&file, before as u64, &bytes, Wanted::Ranges(index, &ranges));
        }
        check(&file, before as u64, &bytes, Wanted::FirstMetadata);
        check(&file, before as u64, &bytes, Wanted::Descriptors);
    }
}

/// Bytes that were read: those of the messages here are hardly ever 0.
fn read_bytes(message: &[u8], wanted: Wanted<'_>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("message");
    fs::write(&path, message).unwrap();
    let mut bytes = vec![0; message.len()];
    read(&File::open(&path).unwrap(), 0, &mut bytes, wanted).unwrap();
    bytes.iter().filter(|byte| **byte != 0).count()
}

#[test]
fn what_nobody_wants_is_not_read() {
    let values = vec![0x0101_0101_u32; 1 << 18];
    let objects = [(); 4].map(|()| ObjectBuilder::new(&[1 << 18], &values).unwrap());
    let message = objects.into_iter().fold(MessageBuilder::new(), MessageBuilder::object);
    for message in [message.clone().encode().unwrap(), message.stream_to(Vec::new()).unwrap()] {
        let read = |wanted| read_bytes(&message, wanted);
        assert!(read(Wanted::FirstMetadata) <= 3 * GLANCE);
        assert!(read(Wanted::Descriptors) <= 16 * GLANCE);
        for index in 0..4 {
            for wanted in [Wanted::Object(index), Wanted::DescriptorsAndObject(index)] {
                let object = read(wanted);
                assert!((1 << 20..=(1 << 20) + WINDOW + 16 * GLANCE).contains(&object), "{wanted:?}: {object}");
            }
            let part = read(Wanted::Ranges(index, &[(1000, 50), (200_000, 50), (100_000, 50)]));
            assert!((600..=24 * GLANCE).contains(&part), "{index}: {part}");
        }
        assert!(read(Wanted::Object(4)) <= 16 * GLANCE);
    }
}

/// FORMAT §1.7 allows it, and nobody writes it any more.
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("front");
    fs::write(&path, &message).unwrap();
    check_all(&File::open(&path).unwrap(), 0, &message);
    assert!((40_000..60 * GLANCE).contains(&read_bytes(&message, Wanted::Descriptors)));
}

/// The limit is about all objects, whichever is wanted.
#[test]
fn a_limit_of_nesting_holds_for_what_nobody_wants() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("message");
    let bytes = message(false, 20_000);
    fs::write(&path, &bytes).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    let mut seen = [false; 2];
    for max_nesting in 0..8 {
        let options = DecodeOptions { limits: DecodeLimits { max_nesting, ..options().limits }, ..options() };
        let objects = [file.decode_object(0, 0, &options), decode_object(&bytes, 0, &options)];
        let [in_part, in_memory] = objects.map(|object| format!("{object:?}"));
        assert_eq!(in_part, in_memory, "{max_nesting}");
        let ranges = [file.decode_range(0, 0, &[(7, 2)], &options), decode_range(&bytes, 0, &[(7, 2)], &options)];
        let [in_part, in_memory] = ranges.map(|ranges| format!("{ranges:?}"));
        assert_eq!(in_part, in_memory, "{max_nesting}");
        seen[usize::from(in_part.starts_with("Ok"))] = true;
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn a_file_that_became_shorter_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("message");
    let values = vec![1.0_f64; 1 << 17];
    let bytes = MessageBuilder::new().object(ObjectBuilder::new(&[1 << 17], &values).unwrap()).encode().unwrap();
    assert!(bytes.len() as u64 > AT_ONCE);
    fs::write(&path, &bytes).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(
        file.decode_range(0, 0, &[(1000, 2)], &options()).unwrap().1,
        [1.0_f64.to_ne_bytes(); 2].concat().chunks(16).collect::<Vec<_>>()
    );
    File::options().write(true).open(&path).unwrap().set_len(1000).unwrap();
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
