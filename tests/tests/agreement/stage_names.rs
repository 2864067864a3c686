//! Lists of names that the faces write out are the lists of the format.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::path::Path;

use tgm_core::descriptor::{Compression, Encoding, Filter, Key, MaskMethod};
use tgm_std::codec;

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// The quoted words between `start` and the next `end`.
fn quoted(text: &str, start: &str, end: &str) -> Vec<String> {
    let list = text.split(start).nth(1).unwrap_or_else(|| panic!("{start} is not there"));
    let list = list.split(end).next().unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn mask_methods_are_listed_in_every_face() {
    let methods: Vec<&str> = MaskMethod::ALL.iter().map(|method| method.name()).collect();
    let python = text("std-ext/python/python/tgmio/_types.py");
    assert_eq!(quoted(&python, "MaskMethod: TypeAlias = (", "\n)"), methods);
    let c = text("std-ext/c/include/tensogram.h");
    assert_eq!(quoted(&c, "The methods are ", ";"), methods);
}

/// What a document of C and C++ says of a stage: its row in the table.
#[test]
fn the_document_of_c_lists_every_stage_with_its_parameters() {
    let readme = text("std-ext/c/README.md");
    let table = readme.split("\n## Stages\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let row = |name: &str| {
        let named = format!("`{name}`");
        let stage = |line: &&str| line.split('|').nth(2).is_some_and(|cell| cell.contains(&named));
        table.lines().find(stage).unwrap_or_else(|| panic!("{name} is not there"))
    };
    let has = |name: &str, keys: &[Key]| {
        for key in keys {
            assert!(row(name).contains(&format!("`{}`", key.name())), "{name}: {key:?}");
        }
    };
    for compression in Compression::ALL.iter().filter(|compression| **compression != Compression::None) {
        let about = codec::find(*compression).unwrap().about();
        has(about.name(), about.keys);
        if let Some(level) = about.level {
            let [bounds, usual] = [format!("{} to {}", level.least, level.most), format!("{} |", level.usual)];
            assert!(row(about.name()).contains(&bounds) && row(about.name()).ends_with(&usual), "{}", about.name());
        }
    }
    let packing = [Key::SpBitsPerValue, Key::SpReferenceValue, Key::SpBinaryScaleFactor, Key::SpDecimalScaleFactor];
    has(Encoding::SimplePacking.name(), &packing);
    has(Filter::Shuffle.name(), &[Key::ShuffleElementSize]);
}
