//! Messages of version 2 from old releases, compared with what those releases decoded.
#![allow(clippy::unwrap_used, clippy::unnecessary_debug_formatting, reason = "tests may panic, and say where")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use tgm_core::Message;
use tgm_core::hash::Verdict;
use tgm_std::v2::{Kind, Segment, UPGRADED_FROM, UpgradeOptions, scan, upgrade_message};
use tgm_std::{DecodeOptions, TensogramError, decode, decode_with_masks};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

/// Every file of version 2 with its sidecar.
static FILES: LazyLock<Vec<(PathBuf, Vec<u8>, Json)>> = LazyLock::new(|| {
    let paths = fs::read_dir(Path::new(DATA).join("v2")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "tgm")).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.to_str().unwrap().strip_suffix(".tgm").unwrap().to_owned();
        let sidecar = serde_json::from_slice(&fs::read(format!("{name}.json")).unwrap()).unwrap();
        (path.clone(), fs::read(path).unwrap(), sidecar)
    };
    paths.into_iter().map(read).collect()
});

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn list(json: &Json) -> &[Json] {
    json.as_array().unwrap()
}

/// Calls `with` for every message, with its recorded facts.
fn for_each_message(mut with: impl FnMut(&Path, &[u8], &Json)) {
    for (path, bytes, sidecar) in FILES.iter() {
        let recorded = list(&sidecar["decoded_by_producer"]);
        let segments = scan(bytes);
        assert_eq!(segments.len(), recorded.len(), "{path:?}");
        for (segment, recorded) in segments.into_iter().zip(recorded) {
            assert_eq!(segment.kind, Kind::V2, "{path:?}");
            assert_eq!(recorded["offset"], segment.range.start, "{path:?}");
            assert_eq!(recorded["length"], segment.range.len(), "{path:?}");
            with(path, &bytes[segment.range], recorded);
        }
    }
}

#[test]
fn values_are_those_that_the_old_release_decodes() {
    let (mut messages, mut objects) = (0, 0);
    for_each_message(|path, old, recorded| {
        let new = upgrade_message(old, &UpgradeOptions::default()).unwrap();
        let (metadata, decoded) = decode(&new, &DecodeOptions { verify_hash: true, ..Default::default() }).unwrap();
        assert_eq!(decoded.len(), list(&recorded["objects"]).len(), "{path:?}");
        for ((descriptor, values), recorded) in decoded.iter().zip(list(&recorded["objects"])) {
            assert_eq!(recorded["sha256"], sha256(values), "{path:?}");
            assert_eq!(recorded["dtype"], descriptor.dtype.name(), "{path:?}");
            assert_eq!(recorded["compression"], descriptor.compression, "{path:?}");
            assert!(!descriptor.params.contains_key("hash"), "{path:?}");
            let packs = descriptor.encoding == "simple_packing";
            assert_eq!(descriptor.params.contains_key("sp_bits_per_value"), packs, "{path:?}");
            assert!(!descriptor.params.contains_key("bits_per_value"), "{path:?}");
            objects += 1;
        }
        assert!(!metadata.extra.contains_key("version") || path.ends_with("0.16.1-metadata.tgm"), "{path:?}");
        let kept = metadata.extra[UPGRADED_FROM].as_map().unwrap();
        assert_eq!(kept.len(), 2, "{path:?}: {kept:?}");
        messages += 1;
    });
    assert!(messages >= 20 && objects >= 39, "{messages} messages, {objects} objects");
}

#[test]
fn payloads_stay_as_they_are_and_every_frame_gets_its_digest() {
    for_each_message(|path, old, _| {
        let new = upgrade_message(old, &UpgradeOptions::default()).unwrap();
        let message = Message::parse(&new).unwrap();
        for object in message.objects() {
            let payload = object.unwrap().region();
            assert!(payload.is_empty() || old.windows(payload.len()).any(|window| window == payload), "{path:?}");
        }
        let frames = message.verify(message.hash_presence().unwrap());
        assert!(frames.map(|frame| frame.unwrap().verdict).all(|verdict| verdict == Verdict::Good), "{path:?}");
        assert_eq!(tgm_std::scan(&new), [(0, new.len())], "{path:?}");
    });
}

#[test]
fn masks_take_the_place_of_non_finite_values_if_they_are_asked_for() {
    let options = UpgradeOptions { masks: true, ..UpgradeOptions::default() };
    let mut masked = 0;
    for_each_message(|path, old, recorded| {
        let new = upgrade_message(old, &options).unwrap();
        let (_, decoded) = decode(&new, &DecodeOptions { verify_hash: true, ..Default::default() }).unwrap();
        let (_, zeroed) = decode_with_masks(&new, &DecodeOptions::default()).unwrap();
        for (((descriptor, values), zeroed), recorded) in decoded.iter().zip(zeroed).zip(list(&recorded["objects"])) {
            // A complex number with NaN in one part becomes NaN in both.
            if !recorded["dtype"].as_str().unwrap().starts_with("complex") {
                assert_eq!(recorded["sha256"], sha256(values), "{path:?}");
            }
            assert_eq!(descriptor.masks.is_none(), zeroed.masks.is_empty(), "{path:?}");
            masked += usize::from(descriptor.masks.is_some());
        }
    });
    assert_eq!(masked, 5);
}

#[test]
fn a_flipped_bit_of_a_payload_is_found() {
    let old = fs::read(Path::new(DATA).join("v2/0.16.1-f32.tgm")).unwrap();
    let new = upgrade_message(&old, &UpgradeOptions::default()).unwrap();
    let payload = Message::parse(&new).unwrap().object(0).unwrap().payload();
    let at = old.windows(payload.len()).position(|window| window == payload).unwrap();
    for bit in 0..8 {
        let mut flipped = old.clone();
        flipped[at + 3] ^= 1 << bit;
        let error = upgrade_message(&flipped, &UpgradeOptions::default()).unwrap_err();
        assert!(matches!(error, TensogramError::HashMismatch { object_index: Some(0), .. }), "{error}");
        let options = UpgradeOptions { ignore_hash: true, ..UpgradeOptions::default() };
        assert!(upgrade_message(&flipped, &options).is_ok());
    }
}

/// Segments cover every byte, and messages of version 2 are upgraded or refused. An upgraded message can be read.
fn survives(bytes: &[u8]) {
    let mut end = 0;
    for Segment { kind, range } in scan(bytes) {
        assert!(range.start == end && range.end > end, "{range:?} after {end}");
        end = range.end;
        if kind == Kind::V2 {
            upgrades_or_refuses(&bytes[range]);
        }
    }
    assert_eq!(end, bytes.len());
    upgrades_or_refuses(bytes);
}

fn upgrades_or_refuses(bytes: &[u8]) {
    for (masks, ignore_hash) in [(false, false), (false, true), (true, true)] {
        let options = UpgradeOptions { masks, ignore_hash, ..UpgradeOptions::default() };
        if let Ok(new) = upgrade_message(bytes, &options) {
            let (_, descriptors) = tgm_std::decode_descriptors(&new).unwrap();
            assert_eq!(Message::parse(&new).unwrap().objects().count(), descriptors.len());
        }
    }
}

#[test]
fn every_prefix_is_upgraded_or_refused() {
    for (_, bytes, _) in FILES.iter() {
        for end in 0..bytes.len() {
            survives(&bytes[..end]);
        }
    }
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(0x18)]);
    let edits = prop::collection::vec(edit, 1..6);
    (any::<prop::sample::Index>(), edits, any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8).prop_map(
        |(file, edits, cut, other, how)| {
            let mut bytes = file.get(&FILES).1.clone();
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            match how {
                0 => bytes.truncate(cut.index(bytes.len())),
                1 => drop(bytes.remove(cut.index(bytes.len()))),
                2 => {
                    let at = cut.index(bytes.len());
                    bytes.splice(at..at, other.get(&FILES).1.iter().copied());
                }
                _ => {}
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_are_upgraded_or_refused(bytes in mutated()) {
        survives(&bytes);
    }
}
