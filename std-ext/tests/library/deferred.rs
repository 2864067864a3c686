//! Metadata and descriptors that become owned when they are looked at are the ones that are made at once.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;

use tgm_std::decode::deferred::decode_deferred;
use tgm_std::{DecodeLimits, DecodeOptions, decode};

#[test]
fn what_is_deferred_is_what_is_made_at_once() {
    let mut seen = (0, 0);
    for folder in ["metadata", "dtypes", "masks", "preceder", "multi", "streaming", "simple_packing"] {
        for entry in fs::read_dir(format!("../tests/data/{folder}")).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            let now = decode(&bytes, &DecodeOptions::default());
            let later = decode_deferred(&bytes, &DecodeOptions::default());
            let Ok((metadata, objects)) = now else {
                assert!(later.is_err());
                continue;
            };
            let (later, later_objects) = later.unwrap();
            // As texts, because NaN is not equal to itself.
            assert_eq!(format!("{:?}", later.get().unwrap()), format!("{metadata:?}"));
            assert_eq!(later_objects.len(), objects.len());
            for (later, (descriptor, values)) in later_objects.iter().zip(&objects) {
                assert_eq!(format!("{:?}", later.descriptor.get().unwrap()), format!("{descriptor:?}"));
                assert_eq!((&later.shape, &later.values), (&descriptor.shape, values));
            }
            seen = (seen.0 + 1, seen.1 + objects.len());
        }
    }
    assert!(seen.0 > 10 && seen.1 > 10, "{seen:?}");
}

#[test]
fn the_memory_of_metadata_is_limited_before_they_are_looked_at() {
    let bytes = fs::read("../tests/data/metadata/mars.tgm").unwrap();
    let limits = DecodeLimits { max_metadata_bytes: 100, ..DecodeLimits::default() };
    assert!(decode_deferred(&bytes, &DecodeOptions { limits, ..DecodeOptions::default() }).is_err());
}
