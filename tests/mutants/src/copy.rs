//! A copy of the repository, in which a package has all of its changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::rewrite::{Rewritten, rewrite};
use crate::source::File;
use crate::subject::Subject;

/// What a package needs so that its functions can ask for a change, before its own attributes.
const ATTRIBUTES: &str = "#![feature(const_eval_select, core_intrinsics)]\n\
    #![allow(warnings, internal_features, missing_docs)]\n\
    #![allow(arithmetic_overflow, unconditional_panic, overflowing_literals, unconditional_recursion)]\n";

/// Copies all files that git knows or would add to `to`, without those that are `written` later. Files that are the same are left
/// alone, so that they are not compiled again.
///
/// # Errors
/// A file cannot be read or written.
pub fn copy_repository(root: &Path, to: &Path, written: &[File]) -> Result<()> {
    let listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(listed).current_dir(root).output()?;
    if !output.status.success() {
        return Err("git ls-files failed".into());
    }
    for path in String::from_utf8(output.stdout)?.split_terminator('\0') {
        let from = root.join(path);
        if from.is_file() && !written.iter().any(|file| file.path == path) {
            write_if_new(&to.join(path), &fs::read(&from)?)?;
            fs::set_permissions(to.join(path), fs::metadata(&from)?.permissions())?;
        }
    }
    Ok(())
}

/// Writes the package with its changes into the copy, without those that are `left_out`.
///
/// # Errors
/// A file cannot be written.
pub fn write_changes(
    subject: &Subject,
    files: &[File],
    to: &Path,
    left_out: &dyn Fn(usize) -> bool,
) -> Result<Vec<(PathBuf, Rewritten)>> {
    let (mut function, mut change) = (0, 1);
    let mut all = Vec::new();
    for file in files {
        let mut written = rewrite(file, function, change, left_out);
        if file.path.ends_with("/lib.rs") {
            add_switch(file, &mut written);
        }
        write_if_new(&to.join(&file.path), written.text.as_bytes())?;
        all.push((PathBuf::from(&file.path), written));
        function += file.functions.len();
        change += file.functions.iter().map(|function| function.changes.len()).sum::<usize>();
    }
    let switch = format!("{}\nconst FUNCTIONS: usize = {function};\n", include_str!("../switch.rs"));
    write_if_new(&to.join(subject.source).join("mutant.rs"), switch.as_bytes())?;
    Ok(all)
}

/// Declares the module that knows which change is on. `lib.rs` has no functions before its first item.
fn add_switch(file: &File, written: &mut Rewritten) {
    written.text.insert_str(file.first_item, "mod mutant;\n");
    written.text.insert_str(0, ATTRIBUTES);
    let moved = ATTRIBUTES.len() + "mod mutant;\n".len();
    let places = written.places.iter_mut().map(|(range, _)| range);
    for range in places.chain(written.functions.iter_mut().map(|(range, _)| range)) {
        *range = range.start + moved..range.end + moved;
    }
}

fn write_if_new(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, bytes)?)
}
