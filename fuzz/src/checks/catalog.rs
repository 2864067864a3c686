//! A hostile catalogue gives errors, or places inside of what it covers; a catalogue that was built finds what a walk
//! finds.

use tgm_catalog::{Catalog, CatalogLimits};
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, file};

/// Opens `bytes` as a catalogue, and catalogues them as data.
pub fn check(bytes: &[u8]) {
    opened(bytes);
    built(bytes);
}

fn opened(bytes: &[u8]) {
    let limits = CatalogLimits { max_messages: 1 << 12, max_objects: 1 << 12, ..CatalogLimits::default() };
    let Ok(catalog) = Catalog::from_bytes_with(bytes, &limits, &DecodeOptions::default()) else { return };
    let covered = catalog.covered();
    for message in 0..catalog.message_count().min(64) {
        if let Ok(range) = catalog.message_range(message) {
            assert!(range.start <= range.end && range.end <= covered);
        }
        for object in 0..catalog.objects_of(message).unwrap_or(0).min(8) {
            if let Ok(range) = catalog.object_range(message, object) {
                assert!(range.start <= range.end && range.end <= covered);
            }
        }
    }
    let keys: Vec<String> = catalog.keys().map(str::to_string).collect();
    for key in &keys {
        let _ = (catalog.distinct(key), catalog.group_by(&[key]));
        if let Some(query) = present(key) {
            for (message, object) in catalog.select(&query).unwrap_or_default() {
                assert!(message < catalog.message_count() && object < catalog.object_count());
            }
            let _ = catalog.select_messages(&query);
        }
    }
    let _ = (catalog.check(bytes), catalog.compact());
}

fn built(bytes: &[u8]) {
    let options = DecodeOptions::default();
    let Ok(mut keys) = Catalog::varying_keys(bytes, &options) else { return };
    keys.push("dtype".to_string());
    let Ok(catalog) = Catalog::build(bytes, &keys) else { return };
    let again = catalog.to_bytes();
    let read = (catalog.message_count() > 0).then(|| Catalog::from_bytes(&again).expect("it was just written"));
    let catalog = read.unwrap_or(catalog);
    for query in keys.iter().take(8).filter_map(|key| present(key)) {
        let walked = file::query(bytes, &query, &options).expect("all messages were read");
        assert_eq!(catalog.select(&query).expect("the keys are there"), walked);
    }
}

/// The query whether an object has a key. Keys that need quotes get none here.
pub(super) fn present(key: &str) -> Option<Query> {
    format!("{key}?").parse().ok().filter(|query: &Query| query.keys().eq([key]))
}
