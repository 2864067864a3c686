//! Inputs: what they read, and files that change meanwhile.

use std::fs::{self, File};
use std::io::ErrorKind;

use proptest::prelude::*;
use tgm_core::Message;
use tgm_std::{MessageBuilder, ObjectBuilder, decode_descriptors, decode_object};

use super::*;

/// A message with one object of `len` bytes.
fn message(len: usize) -> Vec<u8> {
    let values: Vec<u8> = (0..len).map(|i| (i % 251).to_le_bytes()[0]).collect();
    MessageBuilder::new().object(ObjectBuilder::new(&[len as u64], &values).unwrap()).encode().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Small messages are read in windows and large ones in parts. Both equal the bytes of the file.
    #[test]
    fn a_reader_gives_the_messages_that_lie_there(
        lens in proptest::collection::vec(prop_oneof![0..300_usize, 60_000..70_000_usize, 250_000..300_000_usize], 1..8),
        order in proptest::collection::vec((any::<usize>(), 0..3_u8), 1..20),
        junk in 0..20_usize,
    ) {
        let messages: Vec<_> = lens.into_iter().map(message).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, [&vec![0; junk], messages.concat().as_slice()].concat()).unwrap();
        let input = Input::open(&path).unwrap();
        prop_assert_eq!(input.message_count(), messages.len());
        let mut reader = input.reader();
        for (index, wanted) in order {
            let index = index % messages.len();
            let place = input.places(index..index + 1).next().unwrap();
            let wanted = [MessagePart::Whole, MessagePart::Outline, MessagePart::Object(0)][usize::from(wanted)];
            let (entry, expected) = (reader.entry(place, wanted).unwrap(), &messages[index]);
            prop_assert_eq!((entry.index, entry.bytes.len()), (index.into(), expected.len()));
            prop_assert_eq!(
                format!("{:?}", decode_descriptors(entry.bytes)), format!("{:?}", decode_descriptors(expected))
            );
            if wanted != MessagePart::Outline {
                let read = |bytes| decode_object(bytes, 0, &tgm_std::DecodeOptions::default()).unwrap().2;
                prop_assert!(read(entry.bytes) == read(expected));
            }
            if wanted == MessagePart::Whole {
                prop_assert!(entry.bytes == expected);
            }
        }
    }
}

#[test]
fn an_outline_of_a_large_message_leaves_the_payload_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, message(1 << 20)).unwrap();
    let input = Input::open(&path).unwrap();
    let mut reader = input.reader();
    let entry = reader.entry(input.all().next().unwrap(), MessagePart::Outline).unwrap();
    let read =
        Message::parse(entry.bytes).unwrap().object(0).unwrap().payload().iter().filter(|byte| **byte != 0).count();
    assert!(read < 300_000, "{read}");
}

#[test]
fn a_file_that_was_truncated_is_an_error_wherever_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for len in [100, 300_000] {
        let path = folder.path().join("file");
        let one = message(len);
        fs::write(&path, one.repeat(5)).unwrap();
        let input = Input::open(&path).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(one.len() as u64 * 2 + 50).unwrap();
        let mut reader = input.reader();
        for (index, place) in input.all().enumerate() {
            for wanted in [MessagePart::Whole, MessagePart::Outline, MessagePart::Object(0)] {
                match reader.entry(place, wanted) {
                    Ok(entry) => assert!(index < 2 && entry.bytes.len() == one.len()),
                    Err(TensogramError::Io(error)) => {
                        assert!(index >= 2 && error.kind() == ErrorKind::UnexpectedEof, "{index}: {error}");
                        assert!(error.to_string().contains("truncated while it was read"), "{error}");
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
        assert!(input.all_bytes().is_err() && input.bytes(0, one.len() as u64).is_ok());
        assert!(input.copy(0, input.len(), &mut io::sink()).is_err());
    }
}
