//! Advice in error texts: a program with other words replaces it, and has to find it. So it stands in the one file of each
//! package that lists it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The sources of packages whose errors may give advice, in their file `hint.rs`.
const PACKAGES: [&str; 4] = ["catalog/src", "convert/src", "src", "zio/src"];

/// Collects the source files of a package, without tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains("tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file, without comments, attributes and the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("\nmod tests {").next().unwrap();
    let is_code = |line: &&str| {
        let line = line.trim_start();
        !["//", "#[", "reason ="].iter().any(|start| line.starts_with(start))
    };
    text.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

/// The fields of all structures that are named options, limits or budget.
fn option_fields(code: &str) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    let mut inside = false;
    for line in code.lines() {
        if let Some(name) = line.strip_prefix("pub struct ") {
            let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap();
            inside = ["Options", "Limits", "Budget"].iter().any(|end| name.ends_with(end));
        }
        inside &= line != "}";
        let field = line.trim_start().strip_prefix("pub ").and_then(|rest| rest.split_once(':'));
        if let Some((field, _)) = field.filter(|_| inside) {
            fields.insert(field.to_string());
        }
    }
    fields
}

/// The string literals in code: everything between two quotes.
fn texts(code: &str) -> impl Iterator<Item = String> {
    // A quotation mark that is a character, or lies within a text, does not begin one.
    let code = code.replace("'\"'", "").replace("\\\\", "").replace("\\\"", "");
    let texts: Vec<_> = code.split('"').map(str::to_string).collect();
    texts.into_iter().skip(1).step_by(2)
}

#[test]
fn advice_of_errors_stands_in_one_file_of_a_package() {
    let (mut files, std_ext) = (Vec::new(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../std-ext"));
    for package in PACKAGES {
        sources(&std_ext.join(package), &mut files);
    }
    let codes: Vec<_> = files.iter().map(|path| (path, code(path))).collect();
    let fields: BTreeSet<_> = codes.iter().flat_map(|(_, code)| option_fields(code)).collect();
    for known in ["allow_nan", "max_objects", "native_byte_order", "max_issues", "max_file_bytes"] {
        assert!(fields.contains(known), "{known}: {fields:?}");
    }
    // A field name of one word may be part of any sentence, as in "frame header".
    let fields: Vec<_> = fields.iter().filter(|field| field.contains('_')).collect();
    for (path, code) in codes.iter().filter(|(path, _)| !path.ends_with("hint.rs")) {
        for text in texts(code) {
            // A field alone is the name that `Debug` gives it.
            let names = fields.iter().find(|field| text.contains(field.as_str()) && text != ***field);
            assert_eq!(names, None, "{}: make it a hint: {text}", path.display());
            if !text.contains(' ') {
                continue;
            }
            let variant = text.split("::").skip(1).any(|rest| rest.starts_with(char::is_uppercase));
            assert!(!variant, "{}: make it a hint: {text}", path.display());
            for word in ["enable feature", "=true", "Options", "of the options"] {
                assert!(!text.contains(word), "{}: make it a hint: {text}", path.display());
            }
        }
    }
}
