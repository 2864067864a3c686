//! The files of a package, and all changes of them, numbered.

use std::fs;
use std::path::{Path, PathBuf};

use syn::Item;
use syn::spanned::Spanned as _;

use crate::Result;
use crate::find::{Function, functions, is_left_out};
use crate::subject::Subject;

/// A file that is not for tests only.
pub struct File {
    /// From the root of the repository.
    pub path: String,
    /// What it holds.
    pub text: String,
    /// Where its first item begins, in bytes.
    pub first_item: usize,
    /// What can be changed.
    pub functions: Vec<Function>,
}

/// A change with its number. Numbers begin at 1.
pub struct Numbered {
    /// The number.
    pub number: usize,
    /// The number of its function, among all functions.
    pub function: usize,
    /// File, function, and what is changed, with a count if a function says the same twice. Lines may move without changing it.
    pub key: String,
    /// The line of the file.
    pub line: usize,
}

/// `lib.rs` of a package and the files that it leads to, without those that are not changed or are for tests only.
///
/// # Errors
/// A file cannot be read, or is not Rust.
pub fn files(root: &Path, subject: &Subject) -> Result<Vec<File>> {
    let mut files = Vec::new();
    let source = PathBuf::from(subject.source);
    let mut waiting = vec![(source.join("lib.rs"), source)];
    while let Some((path, folder)) = waiting.pop() {
        let text = fs::read_to_string(root.join(&path)).map_err(|error| format!("{}: {error}", path.display()))?;
        let file = syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        for item in &file.items {
            if let Item::Mod(module) = item
                && module.content.is_none()
                && !is_left_out(&module.attrs)
            {
                let name = module.ident.to_string();
                waiting.push((folder.join(format!("{name}.rs")), folder.join(name)));
            }
        }
        let first_item = file.items.first().map_or(text.len(), |item| item.span().byte_range().start);
        let path = path.display().to_string();
        let is_changed = subject.changes(&path);
        if is_changed || path.ends_with("/lib.rs") {
            let functions = if is_changed { functions(&text, &file) } else { Vec::new() };
            files.push(File { path, text, first_item, functions });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// All changes of these files, in the order of their numbers.
pub fn numbered(files: &[File]) -> Vec<Numbered> {
    let functions = files.iter().flat_map(|file| file.functions.iter().map(move |function| (file, function)));
    let mut all: Vec<Numbered> = Vec::new();
    let mut seen = std::collections::HashMap::new();
    for (index, (file, function)) in functions.enumerate() {
        for change in &function.changes {
            let key = format!("{} {}: {}", file.path, function.name, change.what);
            let count = seen.entry(key.clone()).and_modify(|count| *count += 1).or_insert(1);
            let key = if *count == 1 { key } else { format!("{key} #{count}") };
            let before = file.text.get(..change.range.start).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            all.push(Numbered { number: all.len() + 1, function: index, key, line });
        }
    }
    all
}
