//! Lists of names that the faces write out are the lists of the format.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::path::Path;

use tgm_core::descriptor::MaskMethod;

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
    let python = text("std-ext/python/python/tgm/_types.py");
    assert_eq!(quoted(&python, "MaskMethod: TypeAlias = (", "\n)"), methods);
    let c = text("std-ext/c/include/tensogram.h");
    assert_eq!(quoted(&c, "The methods are ", ";"), methods);
}
