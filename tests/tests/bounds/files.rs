//! Files with many readers, files that change while they are open, and paths that hold no messages.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::fs::{self, OpenOptions};
use std::thread;

use tgm_core::Message as View;
use tgm_core::metadata::MessageMetadata;
use tgm_core::object::DataObject;
use tgm_core::tensor::AnyView;
use tgm_std::{DecodeOptions, FileMessageIter, MappedFile, TensogramError, TensogramFile};
use tgm_tests::builder::{Message, Object};
use tgm_tests::corpus;

const fn send_and_sync<T: Send + Sync>() {}

const _: () = {
    send_and_sync::<TensogramFile>();
    send_and_sync::<MappedFile>();
    send_and_sync::<FileMessageIter>();
    send_and_sync::<View<'_>>();
    send_and_sync::<DataObject<'_>>();
    send_and_sync::<MessageMetadata<'_>>();
    send_and_sync::<AnyView<'_>>();
    send_and_sync::<TensogramError>();
    send_and_sync::<DecodeOptions>();
};

/// The digests of every object of every message, read through a file.
fn digests(file: &TensogramFile) -> Vec<String> {
    let options = DecodeOptions::default();
    let messages = 0..file.message_count().unwrap();
    let objects = messages.flat_map(|index| file.decode_message(index, &options).unwrap().1);
    objects.map(|(_, values)| tgm_tests::sha256(&values)).collect()
}

/// The digests of every object of every message, read through a map.
fn digests_of_map(file: &MappedFile) -> Vec<String> {
    let options = DecodeOptions::default();
    let mut digests = Vec::new();
    for index in 0..file.message_count() {
        for object in file.message(index).unwrap().objects() {
            digests.push(tgm_tests::sha256(&tgm_std::read(&object.unwrap()).options(&options).bytes().unwrap()));
        }
    }
    digests
}

#[test]
fn many_readers_of_one_file_get_the_same_values() {
    for name in ["multi/many", "multi/three", "many/objects"] {
        let path = corpus::sample(name).path;
        let expected = digests(&TensogramFile::open(&path).unwrap());
        assert!(!expected.is_empty());
        // This file is not scanned yet: all threads ask for the scan at the same time.
        let positioned = TensogramFile::open(&path).unwrap();
        let mapped = TensogramFile::open_mmap(&path).unwrap();
        let map = crate::mapped::map(&path).unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(digests(&positioned), expected));
                scope.spawn(|| assert_eq!(digests(&mapped), expected));
                scope.spawn(|| assert_eq!(digests_of_map(&map), expected));
            }
        });
    }
}

fn two_messages() -> Vec<u8> {
    let message = |n: u8| Message::buffered([Object::bytes(&[n; 3000])]).build().bytes;
    [message(1), message(2)].concat()
}

#[test]
fn a_file_cut_short_while_it_is_open_gives_errors() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.tgm");
    let bytes = two_messages();
    let options = DecodeOptions::default();
    for cut in [0, 1, 23, 24, 100, bytes.len() / 2, bytes.len() / 2 + 30, bytes.len() - 1] {
        fs::write(&path, &bytes).unwrap();
        let mut file = TensogramFile::open(&path).unwrap();
        assert_eq!(file.message_count().unwrap(), 2);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(cut as u64).unwrap();
        let error = file.decode_message(1, &options).unwrap_err();
        assert!(matches!(error, TensogramError::Io(_)), "{cut}: {error}");
        assert!(error.to_string().contains("cut.tgm"), "{error}");
        assert!(file.iter().unwrap().any(|message| message.is_err()));
        assert_eq!(file.decode_message(0, &options).is_ok(), cut >= bytes.len() / 2, "{cut}");
        file.invalidate_offsets();
        assert_eq!(file.message_count().unwrap(), usize::from(cut >= bytes.len() / 2), "{cut}");
    }
}

#[test]
fn a_file_overwritten_while_it_is_open_gives_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("overwritten.tgm");
    fs::write(&path, two_messages()).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(file.message_count().unwrap(), 2);
    fs::write(&path, vec![0xa5; two_messages().len()]).unwrap();
    let error = file.decode_message(0, &DecodeOptions::default()).unwrap_err();
    assert!(error.to_string().contains("magic"), "{error}");
}

#[test]
fn a_file_replaced_while_it_is_open_is_still_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("replaced.tgm");
    fs::write(&path, two_messages()).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    let map = crate::mapped::map(&path).unwrap();
    let new = dir.path().join("new.tgm");
    fs::write(&new, b"nothing").unwrap();
    // Some systems refuse to replace an open file; then there is nothing to check.
    if fs::rename(&new, &path).is_ok() {
        assert_eq!(file.message_count().unwrap(), 2);
        assert_eq!(file.decode_message(1, &DecodeOptions::default()).unwrap().1[0].1, [2; 3000]);
        assert_eq!(map.object(1, 0).unwrap().payload(), [2; 3000]);
    }
}

#[test]
fn an_empty_file_has_no_messages() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("empty.tgm");
    fs::write(&path, b"").unwrap();
    for file in [TensogramFile::open(&path).unwrap(), TensogramFile::open_mmap(&path).unwrap()] {
        assert_eq!(file.message_count().unwrap(), 0);
        assert_eq!(file.segments().unwrap().len(), 0);
        assert_eq!(file.iter().unwrap().count(), 0);
    }
    assert_eq!(crate::mapped::map(&path).unwrap().as_bytes(), b"");
    assert!(tgm_std::scan(b"").is_empty());
}

#[test]
fn a_missing_file_is_named() {
    let path = std::env::temp_dir().join("no such directory").join("no.tgm");
    let expected = format!("io error: file not found: {}", path.display());
    assert_eq!(TensogramFile::open(&path).unwrap_err().to_string(), expected);
    assert_eq!(TensogramFile::open_mmap(&path).unwrap_err().to_string(), expected);
    assert_eq!(crate::mapped::map(&path).unwrap_err().to_string(), expected);
}

#[test]
fn a_directory_is_an_io_error() {
    let dir = tempfile::tempdir().unwrap();
    let opened = TensogramFile::open(dir.path()).and_then(|file| file.message_count());
    assert!(matches!(opened, Err(TensogramError::Io(_))), "{opened:?}");
    assert!(matches!(crate::mapped::map(dir.path()), Err(TensogramError::Io(_))));
}

#[test]
fn a_message_index_out_of_range_is_a_framing_error_with_the_count() {
    let path = corpus::sample("multi/three").path;
    let options = DecodeOptions::default();
    for file in [TensogramFile::open(&path).unwrap(), TensogramFile::open_mmap(&path).unwrap()] {
        for index in [3, usize::MAX] {
            let expected = format!("framing error: message index {index} out of range (count=3)");
            for error in [
                file.read_message(index).unwrap_err(),
                file.decode_message(index, &options).unwrap_err(),
                file.decode_metadata(index).unwrap_err(),
                file.decode_descriptors(index).unwrap_err(),
                file.decode_object(index, 0, &options).unwrap_err(),
                file.decode_range(index, 0, &[], &options).unwrap_err(),
            ] {
                assert!(matches!(error, TensogramError::Framing(_)), "{error:?}");
                assert_eq!(error.to_string(), expected);
            }
        }
        let error = file.decode_object(0, 99, &options).unwrap_err();
        assert!(matches!(error, TensogramError::Object(_)), "{error:?}");
        assert!(error.to_string().contains("object index 99 out of range (num_objects="), "{error}");
    }
    let map = crate::mapped::map(&path).unwrap();
    let error = map.message(3).unwrap_err();
    assert_eq!(error.to_string(), "framing error: message index 3 out of range (count=3)");
}
