//! Changes a package in small ways, and counts the changes that its tests notice. `run` says how it is called.
//!
//! ```text
//! find ─► rewrite ─► copy ─► compile ─► reach ─► attempt ─► results, explained
//! every change has a number,   all are        a change is tried with    what nobody noticed
//! and a body of its own        compiled once  the tests that reach it   needs a reason
//! ```

mod attempt;
mod compile;
mod copy;
mod explained;
mod find;
mod operators;
mod options;
mod reach;
mod results;
mod rewrite;
mod source;
mod subject;
mod values;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;
use std::{env, fs};

use attempt::Outcome;
use compile::Copy;
use explained::Explained;
use options::Options;
use results::Results;
use source::{File, Numbered};

/// What may fail fails with a text.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does all of it, at the root of the repository. Returns whether no more changes went unnoticed than may.
fn run() -> Result<bool> {
    let options = Options::parse(env::args().skip(1))?;
    let root = env::current_dir()?;
    let subject = options.subject;
    let folder = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("mutants");
    let folder = folder.join(subject.name);
    let text = fs::read_to_string(root.join("tests/mutants/explained").join(subject.name).with_extension("txt"))?;
    let explained = Explained::parse(&text)?;
    let files = source::files(&root, subject)?;
    let all = source::numbered(&files);

    let copy = Copy { subject, folder: folder.join("copy"), target: folder.join("target") };
    let refused = write_what_compiles(&root, &files, &all, &copy)?;
    let changes: Vec<&Numbered> = all.iter().filter(|change| !refused.contains(&change.number)).collect();
    println!("{} changes, of which {} do not compile", all.len(), refused.len());

    let start = Instant::now();
    let programs = copy.build(options.only_own)?;
    eprintln!("tests built in {} s", start.elapsed().as_secs());
    let start = Instant::now();
    let tests = reach::tests(&programs, &folder.join(if options.only_own { "own" } else { "all" }))?;
    eprintln!("{} tests run in {} s", tests.len(), start.elapsed().as_secs());

    let results = Mutex::new(Results::open(&folder.join("results.txt"), options.is_resumed)?);
    let start = Instant::now();
    let is_known = |key: &str| results.lock().is_ok_and(|all| all.get(key).and_then(Outcome::noticed_by).is_some());
    let chosen = changes.iter().copied().filter(|change| options.has(&change.key));
    let tried: Vec<&Numbered> = chosen
        .filter(|change| options.tries_explained || !explained.has(&change.key))
        .filter(|change| !is_known(&change.key))
        .collect();
    attempt::attempt(&tried, &tests, options.slowest, &results)?;
    eprintln!("{} changes tried in {} s", tried.len(), start.elapsed().as_secs());
    let results = results.into_inner().map_err(|_| "a thread panicked")?;
    Ok(report(&changes, &explained, &results, &options))
}

/// Writes the package with all changes that compile into the copy. Returns those that do not.
///
/// They are kept in a file, so that the next run writes the same copy, and the compiler need not compile it again.
fn write_what_compiles(root: &Path, files: &[File], all: &[Numbered], copy: &Copy) -> Result<BTreeSet<usize>> {
    copy::copy_repository(root, &copy.folder, files)?;
    let record = copy.folder.with_file_name("refused.txt");
    let known = fs::read_to_string(&record).unwrap_or_default();
    let known: BTreeSet<&str> = known.lines().collect();
    let is_known = |change: &&Numbered| known.contains(change.key.as_str());
    let mut refused: BTreeSet<usize> = all.iter().filter(is_known).map(|change| change.number).collect();
    loop {
        let written = copy::write_changes(copy.subject, files, &copy.folder, &|number| refused.contains(&number))?;
        let more = copy.refused(&written)?;
        if more.is_empty() {
            let lines =
                all.iter().filter(|change| refused.contains(&change.number)).map(|change| change.key.clone() + "\n");
            fs::write(record, lines.collect::<String>())?;
            return Ok(refused);
        }
        refused.extend(more);
    }
}

/// Prints what nobody noticed, and counts. Returns whether that is no more than may be.
fn report(changes: &[&Numbered], explained: &Explained<'_>, results: &Results, options: &Options) -> bool {
    let (mut noticed, mut slowed, mut unexplained, mut with_reason, mut same) = (0, 0, 0, 0, 0);
    for change in changes.iter().filter(|change| options.has(&change.key)) {
        let is_explained = explained.has(&change.key);
        let outcome = results.get(&change.key);
        match outcome.and_then(Outcome::noticed_by) {
            Some(test) => {
                noticed += 1;
                slowed += usize::from(matches!(outcome, Some(Outcome::Slowed(_))));
                if is_explained {
                    println!("explained, but noticed by {test}: {}", change.key);
                }
            }
            None if is_explained => {
                with_reason += 1;
                same += usize::from(explained.is_same(&change.key));
            }
            None => {
                unexplained += 1;
                let (path, rest) = change.key.split_once(' ').unwrap_or((&change.key, ""));
                let hint = if outcome == Some(&Outcome::Unreached) { " (no test calls it)" } else { "" };
                println!("{path}:{} {rest}{hint}", change.line);
            }
        }
    }
    let tried = noticed + unexplained + with_reason;
    println!("{} changes are noticed, {slowed} of them because a test takes too long", share(noticed, tried));
    println!("{} of those that make a difference", share(noticed, tried - same));
    println!("{with_reason} of the rest are explained, {unexplained} are not; {same} make no difference");
    let keys = changes.iter().map(|change| change.key.as_str()).collect();
    let outdated: Vec<&str> = explained.outdated(&keys).collect();
    for key in &outdated {
        println!("explained, but there is no such change: {key}");
    }
    unexplained <= options.allowed && (outdated.is_empty() || !options.is_everything())
}

/// A part of all, also in percent.
fn share(part: usize, all: usize) -> String {
    let tenths = (part * 1000 + all / 2) / all.max(1);
    format!("{part} of {all} ({}.{} %)", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_to_a_tenth() {
        assert_eq!([share(2, 3), share(1239, 1362)], ["2 of 3 (66.7 %)", "1239 of 1362 (91.0 %)"]);
        assert_eq!([share(0, 0), share(5, 5)], ["0 of 0 (0.0 %)", "5 of 5 (100.0 %)"]);
    }
}
