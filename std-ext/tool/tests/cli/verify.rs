//! `tgm verify`: digests of every frame.

use tgm_core::Message;
use tgm_core::frame::Frame;
use tgm_core::wire::ObjectTail;
use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::corpus::{data, files, sha256, sidecar};
use crate::tool::tgm;

fn code(arguments: &[&str]) -> Option<i32> {
    tgm(["verify"].iter().chain(arguments)).code
}

#[test]
fn what_a_reader_must_reject_on_verification_is_found() {
    let wrong = files("malformed").into_iter().filter(|path| sidecar(path)["spec"]["verdict"] == "reject-verify");
    let mut count = 0;
    for path in wrong {
        let run = tgm([&"verify".into(), &"--strict".into(), &path]);
        assert_eq!(run.code, Some(1), "{path:?}: {}", run.text());
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn the_frame_that_is_wrong_is_named() {
    let run = tgm(["verify", "--json", &data("malformed/hash/single-payload-bitflip.tgm")]);
    let message = &run.json()["messages"][0];
    assert_eq!((message["ok"].clone(), message["result"].clone()), (false.into(), "mismatch".into()));
    let finding = &message["findings"][0];
    assert_eq!((finding["type"].clone(), finding["object"].clone()), ("NTensorFrame".into(), 0.into()));
    assert_eq!(finding["expected"], "1dcc4255fa0b7e89");
}

#[test]
fn missing_digests_fail_unless_allowed() {
    let path = data("hash/off-0.24.0.tgm");
    assert_eq!(code(&[&path]), Some(1));
    assert_eq!(code(&["--allow-missing", &path]), Some(0));
    let path = data("malformed/hash/one-object-unhashed.tgm");
    assert_eq!(code(&[&path]), Some(1));
    assert_eq!(code(&["--allow-missing", &path]), Some(0));
}

#[test]
fn digests_of_old_releases_count_unless_strict() {
    let path = data("hash/on-0.20.0.tgm");
    assert_eq!(code(&[&path]), Some(0));
    assert_eq!(code(&["--strict", &path]), Some(1));
    assert_eq!(code(&["--strict", &data("hash/on-0.24.0.tgm")]), Some(0));
}

#[test]
fn bytes_outside_of_messages_were_not_verified() {
    let run = tgm(["verify", &data("multi/garbage-between.tgm")]);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.text().matches("ok").count(), 3);
    assert!(run.stderr.contains("37 bytes at offset 568 belong to no message"), "{}", run.stderr);
}

/// A message of two objects whose frames differ only in their values.
fn twins() -> (Vec<u8>, [(usize, usize); 2]) {
    let (ones, twos) = ([1_u8; 8], [2_u8; 8]);
    let object = |values| ObjectBuilder::new(&[8], values).unwrap();
    let bytes = MessageBuilder::new().object(object(&ones)).object(object(&twos)).encode().unwrap();
    let in_memory = |n: u64| usize::try_from(n).unwrap();
    let place = |frame: Frame<'_>| (in_memory(frame.offset()), in_memory(frame.total_length()));
    let message = Message::parse(&bytes).unwrap();
    let frames: Vec<_> = [0, 1].map(|index| place(message.object_frame(index).unwrap())).to_vec();
    (bytes, [frames[0], frames[1]])
}

#[test]
fn objects_that_were_swapped_are_found() {
    let (mut bytes, [(first, len), (second, _)]) = twins();
    let (a, b) = (bytes[first..first + len].to_vec(), bytes[second..second + len].to_vec());
    bytes[first..first + len].copy_from_slice(&b);
    bytes[second..second + len].copy_from_slice(&a);
    let file = written(&bytes);
    let run = tgm(["verify", "--json", &file.path().display().to_string()]);
    let message = &run.json()["messages"][0];
    assert_eq!((run.code, &message["result"], &message["ok"]), (Some(1), &"lists differ".into(), &false.into()));
    let finding = &message["findings"][0];
    assert_eq!((&finding["finding"], &finding["object"]), (&"hash_list".into(), &0.into()));
    let run = tgm(["verify", &file.path().display().to_string()]);
    assert!(run.text().contains("hash list (object 0): an entry of the hash list is not the object's digest"));
}

/// No command uses the index, all walk the frames. `verify` reports a wrong index.
#[test]
fn an_index_that_lies_is_found_and_leads_no_command_astray() {
    let (twins, [_, (second, len)]) = twins();
    // The frame of an object is hidden in the values of another one, and the index points to it.
    let hidden = &twins[second..second + len];
    let outer = ObjectBuilder::new(&[len as u64], hidden).unwrap();
    let behind = ObjectBuilder::new(&[8], &[7_u8; 8]).unwrap();
    let options = EncodeOptions { hashing: false, ..EncodeOptions::default() };
    let mut bytes = MessageBuilder::new().object(outer).object(behind).options(options).encode().unwrap();
    let message = Message::parse(&bytes).unwrap();
    let entries: Vec<_> = [0, 1].map(|index| message.object_frame(index).unwrap()).to_vec();
    let (payload, true_offset) = (entries[0].body_offset(), entries[1].offset());
    assert_eq!(entries[1].total_length(), len as u64);
    let offset = |offset: u64| [&[0x19][..], &u16::try_from(offset).unwrap().to_be_bytes()].concat();
    let entry = bytes.windows(3).position(|window| window == offset(true_offset)).unwrap();
    bytes[entry..entry + 3].copy_from_slice(&offset(payload));
    assert_eq!(Message::parse(&bytes).unwrap().object(1).unwrap().payload(), [2; 8], "the index is followed");

    let file = written(&bytes);
    let path = file.path().display().to_string();
    let run = tgm(["verify", "--allow-missing", &path]);
    assert_eq!(run.code, Some(1));
    assert!(run.text().contains("index (object 1): "), "{}", run.text());
    assert_eq!(tgm(["validate", &path]).code, Some(1));
    // The output is the object that the walk finds.
    let extracted = tgm(["extract", "-o", "1", &path]).good().stdout;
    assert_eq!(extracted, [7; 8]);
    let digest = tgm(["digest", "--json", &path]).good().json();
    assert_eq!(digest["messages"][0]["objects"][1]["sha256"], sha256(&extracted));
    // A message with a wrong index is not rewritten as if it were sound.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.tgm").display().to_string();
    for command in ["reshuffle", "repack"] {
        let flags: &[&str] = if command == "repack" { &["--compression", "lz4"] } else { &[] };
        let run = tgm([command, &path, "-o", &out].iter().chain(flags));
        assert_eq!(run.code, Some(1), "{command}: {}", run.stderr);
        assert!(run.stderr.contains("index") && !std::path::Path::new(&out).exists(), "{command}: {}", run.stderr);
    }
}

/// The commands find objects by walking: no source file of the tool calls a function that uses the index.
#[test]
fn no_command_follows_an_index() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut sources = 0;
    let mut folders = vec![std::path::PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            for call in ["message.object(", "object_frame(", "object_at(", "ObjectTable::new(", "find_index("] {
                assert!(!source.contains(call), "{}: {call}", path.display());
            }
            sources += 1;
        }
    }
    assert!(sources > 40, "{sources}");
}

fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, bytes).unwrap();
    file
}

/// The place of an object's descriptor stands in the tail of its frame, which no digest covers.
#[test]
fn damage_beside_the_digests_is_found() {
    let (mut bytes, [(offset, len), _]) = twins();
    bytes[offset + len - size_of::<ObjectTail>() + 7] ^= 8;
    let damaged = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(damaged.path(), &bytes).unwrap();
    let run = tgm(["verify".as_ref(), damaged.path()]);
    assert_eq!(run.code, Some(1), "{}", run.text());
}
