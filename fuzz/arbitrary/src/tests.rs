use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};

use tgm_core::descriptor::Compression;
use tgm_std::validate::{ValidateOptions, ValidationLevel, validate_message};
use tgm_std::{DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, decode, decode_descriptors, encode};

use super::*;
use crate::pipeline::encodes;

/// What as many inputs make. None is refused.
fn made<T: for<'a> Arbitrary<'a>>(count: u64) -> impl Iterator<Item = T> {
    (0..count).map(|seed| T::arbitrary(&mut Unstructured::new(&input(seed))).unwrap())
}

/// Bytes that look random.
fn input(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..400).map(|_| next()).collect()
}

#[test]
fn nothing_that_is_chosen_is_refused() {
    let mut refused = BTreeSet::new();
    for seed in 0..1500 {
        let message = Message::choose(&mut Unstructured::new(&input(seed))).unwrap();
        refused.extend(message.encode().err().map(|error| error.to_string()));
    }
    assert_eq!(refused, BTreeSet::new());
}

#[test]
fn messages_are_valid_and_hold_what_was_put_in() {
    for message in made::<Message>(400) {
        assert_eq!(message.encode().unwrap(), message.bytes);
        let options = ValidateOptions { max_level: ValidationLevel::Fidelity, ..ValidateOptions::default() };
        let report = validate_message(&message.bytes, &options);
        assert!(report.is_ok(), "{report:?}");
        let as_stored = DecodeOptions {
            native_byte_order: false,
            verify_hash: message.options.hashing,
            ..DecodeOptions::default()
        };
        let (metadata, objects) = decode(&message.bytes, &as_stored).unwrap();
        assert_eq!(objects.len(), message.objects.len());
        for (object, (descriptor, values)) in message.objects.iter().zip(&objects) {
            assert!(object.is_kept(descriptor, values), "{object:?}\n{descriptor:?}\n{values:?}");
        }
        assert_eq!(metadata.extra, message.metadata.extra);
        for (object, base) in message.objects.iter().zip(&metadata.base) {
            assert!(object.metadata.iter().all(|(key, value)| base.get(key) == Some(value)), "{object:?}: {base:?}");
        }
    }
}

#[test]
fn every_choice_of_this_build_is_made() {
    let mut seen = BTreeSet::new();
    for message in made::<Message>(1500) {
        seen.insert(format!("form {:?}", message.form));
        seen.insert(format!("{} objects", message.objects.len()));
        let (_, descriptors) = decode_descriptors(&message.bytes).unwrap();
        for descriptor in descriptors {
            seen.insert(format!("dtype {}", descriptor.dtype));
            seen.insert(format!("encoding {}", descriptor.encoding));
            seen.insert(format!("filter {}", descriptor.filter));
            seen.insert(format!("compression {}", descriptor.compression));
            seen.insert(format!("{} dimensions", descriptor.ndim));
            let masks = descriptor.masks.into_iter().flat_map(|masks| [masks.nan, masks.pos_inf, masks.neg_inf]);
            seen.extend(masks.flatten().map(|mask| format!("mask {}", mask.method)));
        }
    }
    let mut expected: Vec<String> = ["Buffered", "Streamed", "Backfilled"].map(|form| format!("form {form}")).to_vec();
    expected.extend(tgm_core::descriptor::Dtype::ALL.map(|dtype| format!("dtype {dtype}")));
    expected.extend((0..=4).flat_map(|n| [format!("{n} objects"), format!("{n} dimensions")]));
    for text in ["encoding none", "encoding simple_packing", "filter none", "filter shuffle", "mask none", "mask rle"] {
        expected.push(text.into());
    }
    let compiled = [
        ("none szip zfp rle", true),
        ("zstd", encodes(Compression::Zstd)),
        ("lz4", encodes(Compression::Lz4)),
        ("blosc2", encodes(Compression::Blosc2)),
        ("sz3", encodes(Compression::Sz3)),
        ("roaring", encodes(Compression::Roaring)),
    ];
    for name in compiled.iter().filter(|(_, is_in)| *is_in).flat_map(|(names, _)| names.split(' ')) {
        expected.push(format!("compression {name}"));
        if ["zstd", "lz4", "blosc2", "roaring"].contains(&name) {
            expected.push(format!("mask {name}"));
        }
    }
    assert_eq!(seen, expected.into_iter().collect());
}

#[test]
fn damage_is_found_by_each_kind_of_check() {
    let mut found = BTreeSet::new();
    let mut valid = 0;
    for damaged in made::<NearlyValid>(600) {
        let options = ValidateOptions { max_level: ValidationLevel::Fidelity, ..ValidateOptions::default() };
        let report = validate_message(&damaged.bytes, &options);
        valid += usize::from(report.is_ok());
        found.extend(report.issues.iter().map(|issue| issue.level.to_string()));
        if damaged.damage.is_empty() {
            assert!(report.is_ok(), "{damaged:?}: {report:?}");
        }
    }
    assert!((30..300).contains(&valid), "{valid} of 600 are still valid");
    let levels =
        [ValidationLevel::Structure, ValidationLevel::Metadata, ValidationLevel::Integrity, ValidationLevel::Fidelity];
    assert_eq!(found, levels.map(|level| level.to_string()).into());
}

#[test]
fn descriptors_and_metadata_can_be_encoded() {
    for (Any(descriptor), Any(metadata)) in made::<(Any<DataObjectDescriptor>, Any<GlobalMetadata>)>(300) {
        let len = descriptor.dtype.byte_len(descriptor.num_elements().unwrap() as u64).unwrap();
        let zeros = vec![0; usize::try_from(len).unwrap()];
        encode(&metadata, &[(&descriptor, &zeros)], &EncodeOptions::default()).unwrap();
    }
}

#[test]
fn no_bytes_make_an_empty_message() {
    let message = Message::arbitrary(&mut Unstructured::new(&[])).unwrap();
    assert!(message.objects.is_empty());
}
