//! The page of the model names only what the faces have.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

use std::fs;
use std::path::Path;

/// The sources of a face, in one text.
fn texts(root: &str, endings: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(root);
    let mut found = String::new();
    let mut left = vec![root];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
            found.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    found
}

/// The rows of the tables of spellings: verb, and a cell for each face.
fn rows() -> Vec<Vec<String>> {
    let page = texts("std-ext/doc/MODEL.md", &[".md"]);
    let tables: Vec<_> = page.split("| verb | Rust |").skip(1).collect();
    assert_eq!(tables.len(), 2, "of archives, and of datasets");
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    tables.iter().flat_map(|table| table.split("\n\n").next().unwrap().lines().skip(2).map(cells)).collect()
}

/// The code of a cell.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The names that code calls, or the types that it names: what stands before a bracket, and a bare name.
fn names(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for (at, _) in code.match_indices(['(', '<']) {
        let before = code[..at].trim_end_matches("::");
        names.extend(before.rsplit(|c: char| !is_word(c)).next().map(str::to_owned));
    }
    if code.chars().all(is_word) {
        names.push(code.to_owned());
    }
    names.retain(|name| !name.is_empty());
    names
}

fn missing(face: usize, has: impl Fn(&str) -> bool) -> Vec<String> {
    let mut missing = Vec::new();
    for row in rows() {
        assert_eq!(row.len(), 6, "{row:?}");
        for name in code(&row[face]).flat_map(names).filter(|name| !has(name)) {
            missing.push(format!("{}: {name}", row[0]));
        }
    }
    missing
}

fn has_any(text: &str, forms: &[String]) -> bool {
    forms.iter().any(|form| text.contains(form))
}

#[test]
fn rust_has_what_the_page_names() {
    let text = texts("std-ext/src", &[".rs"]) + &texts("std-ext/dataset/src", &[".rs"]);
    let forms = |name: &str| {
        [format!("fn {name}("), format!("fn {name}<"), format!("pub struct {name}"), format!("pub enum {name}")]
    };
    // Conversions are of the trait, and variants of enums stand by themselves.
    let has = |name: &str| {
        has_any(&text, &forms(name))
            || name == "from" && text.contains("impl From<MappedFile> for Archive")
            || text.contains(&format!("    {name}(f64)"))
    };
    assert_eq!(missing(1, has), [""; 0]);
}

#[test]
fn python_has_what_the_page_names() {
    let text = texts("std-ext/python/python/tgmio", &[".pyi", ".py"]);
    // These are Python's own, and numpy's.
    let has = |name: &str| {
        ["len", "bytes", "asarray", "BytesIO"].contains(&name)
            || has_any(&text, &[format!("def {name}("), format!("class {name}"), format!("{name} =")])
    };
    assert_eq!(missing(2, has), [""; 0]);
}

#[test]
fn c_and_cpp_have_what_the_page_names() {
    let c = texts("std-ext/c/include", &[".h"]);
    let in_c = |name: &str| [format!("{name}("), format!(" {name};"), format!("*{name};")];
    assert_eq!(missing(3, |name| has_any(&c, &in_c(name))), [""; 0]);
    let cpp = texts("std-ext/c/include", &[".hpp"]);
    let in_cpp =
        |name: &str| [format!(" {name}("), format!("class {name} "), format!("struct {name} "), format!(" {name};")];
    assert_eq!(missing(4, |name| has_any(&cpp, &in_cpp(name))), [""; 0]);
    // They have all of the model.
    let lacking: Vec<_> = rows().into_iter().filter(|row| row[3] == "—" || row[4] == "—").collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn the_tool_has_the_commands_and_options_that_the_page_names() {
    let text = texts("std-ext/tool/src", &[".rs"]);
    for row in rows() {
        for code in code(&row[5]) {
            let mut words = code.split_whitespace();
            let command = words.next().filter(|word| *word == "tgm").and_then(|_| words.next());
            let options = code.split_whitespace().filter_map(|word| word.strip_prefix("--"));
            assert!(command.is_none_or(|name| text.contains(&format!("\"{name}\""))), "{}: {code}", row[0]);
            for option in options.filter(|option| !option.is_empty()) {
                let field = option.replace('-', "_");
                let is_there =
                    has_any(&text, &[format!("\"{option}\""), format!(" --{option}\""), format!(" {field}:")]);
                assert!(is_there, "{}: {option}", row[0]);
            }
        }
    }
}
