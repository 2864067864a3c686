//! Compiles the copy, and finds the changes that do not compile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::rewrite::Rewritten;
use crate::subject::Subject;

/// A program of tests.
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// The folder of its package, where it must be run.
    pub folder: PathBuf,
}

/// The copy, and where its compiler writes.
pub struct Copy {
    /// The package that is changed.
    pub subject: &'static Subject,
    /// The copy.
    pub folder: PathBuf,
    /// The compiler's folder.
    pub target: PathBuf,
}

impl Copy {
    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.args(arguments).args(["--locked", "--quiet", "--message-format", "json"]).current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "0");
        command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_TEST_DEBUG", "0");
        // `const` functions ask for a change at run time only. The compiler has an intrinsic for that, which is not stable.
        command.env("RUSTC_BOOTSTRAP", self.subject.library).stderr(Stdio::inherit());
        command
    }

    /// The changes whose code the compiler refuses.
    ///
    /// # Errors
    /// The compiler refuses something else.
    pub fn refused(&self, written: &[(PathBuf, Rewritten)]) -> Result<BTreeSet<usize>> {
        let output = self.cargo(&[&["check", "-p", self.subject.package], self.subject.check].concat()).output()?;
        let mut refused = BTreeSet::new();
        for message in messages(&output.stdout) {
            let message = &message["message"];
            if message["level"] != "error" {
                continue;
            }
            let numbers: BTreeSet<usize> = spans(message).flat_map(|span| numbers_of(span, written)).collect();
            let is_summary = message["spans"].as_array().is_none_or(Vec::is_empty);
            if numbers.is_empty() && !is_summary {
                return Err(format!("not of a change: {}", message["rendered"].as_str().unwrap_or_default()).into());
            }
            refused.extend(numbers);
        }
        if refused.is_empty() && !output.status.success() {
            return Err("the package does not compile".into());
        }
        Ok(refused)
    }

    /// Builds all tests, or only the package's own.
    ///
    /// # Errors
    /// They do not compile.
    pub fn build(&self, only_own: bool) -> Result<Vec<Program>> {
        let subject = self.subject;
        let mut arguments = vec!["test", "--no-run", "-p", subject.package, "--lib"];
        arguments.extend(subject.features);
        arguments.extend(subject.own_tests.iter().flat_map(|name| ["--test", name]));
        if !only_own && !subject.shared_tests.is_empty() {
            arguments.extend(["-p", "tgm-tests"]);
            arguments.extend(subject.shared_tests.iter().flat_map(|name| ["--test", name]));
        }
        let output = self.cargo(&arguments).output()?;
        if !output.status.success() {
            for message in messages(&output.stdout).filter(|message| message["message"]["level"] == "error") {
                eprintln!("{}", message["message"]["rendered"].as_str().unwrap_or_default());
            }
            return Err("the tests do not compile".into());
        }
        let programs = messages(&output.stdout).filter_map(|message| {
            let path = PathBuf::from(message["executable"].as_str()?);
            let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
            Some(Program { path, folder })
        });
        let mut programs: Vec<_> = programs.collect();
        programs.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(programs)
    }
}

/// Cargo's messages, one a line.
fn messages(output: &[u8]) -> impl Iterator<Item = Value> {
    output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// The places of a message, the main ones if any of them is in a change.
fn spans(message: &Value) -> impl Iterator<Item = &Value> {
    let all = message["spans"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().filter(|span| span["is_primary"] == true)
}

/// The change in which a place is. Elsewhere in a function, those that replace its body: a value that only they do not use may be
/// dropped where the compiler does not allow it.
fn numbers_of(span: &Value, written: &[(PathBuf, Rewritten)]) -> Vec<usize> {
    numbers_at(span, written)
        // A macro's text is elsewhere; what called it is in the change.
        .or_else(|| span["expansion"].get("span").map(|span| numbers_of(span, written)))
        .unwrap_or_default()
}

fn numbers_at(span: &Value, written: &[(PathBuf, Rewritten)]) -> Option<Vec<usize>> {
    let path = Path::new(span["file_name"].as_str()?);
    let start = usize::try_from(span["byte_start"].as_u64()?).ok()?;
    let (_, text) = written.iter().find(|(file, _)| path.ends_with(file))?;
    match text.places.iter().find(|(range, _)| range.contains(&start)) {
        Some((_, number)) => Some(vec![*number]),
        None => text.functions.iter().find(|(range, _)| range.contains(&start)).map(|(_, numbers)| numbers.clone()),
    }
}
