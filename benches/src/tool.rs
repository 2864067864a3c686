//! The tool from its start to its end.
//!
//! `benches/run tool` builds it and says in `TGM` where it is. Without `TGM` the group is left out.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::Bench;
use crate::filter;
use crate::harness::{Bound, Case};

/// The time that `tgm ls` may take for 100,000 messages, in nanoseconds.
const LISTED: f64 = 0.25e9;

pub fn run(bench: &mut Bench) {
    let Some(program) = env::var_os("TGM").map(PathBuf::from) else {
        println!("\ntool: left out, because TGM does not say where the tool is");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, count) = (folder.path().join("fields.tgm"), bench.size(100_000, 2_000));
    filter::write(&path, count);
    assert!(start(&program, &["ls"], &path) && start(&program, &["get", "-p", "mars.param"], &path));
    let case = Case::new(format!("{count} messages"))
        .wall()
        .row("tgm ls", || start(&program, &["ls"], &path))
        .row("tgm ls --json", || start(&program, &["ls", "--json"], &path))
        .row("tgm ls -p, two keys", || start(&program, &["ls", "-p", "mars.param,mars.step"], &path))
        .row("tgm ls -w, two keys", || start(&program, &["ls", "-w", "mars.param=2t and mars.step=24"], &path))
        .row("tgm scan", || start(&program, &["scan"], &path))
        .row("tgm --version", || start(&program, &["--version"], Path::new("")))
        .row("limit: read the file", || fs::read(&path).map(|bytes| bytes.len()))
        .goal("P21", "tgm ls", Bound::Nanos(LISTED * count as f64 / 1e5));
    bench.run(case);
}

/// Whether the tool succeeds, with its output thrown away.
fn start(program: &Path, words: &[&str], path: &Path) -> bool {
    let path = Some(path).filter(|path| !path.as_os_str().is_empty());
    let status = Command::new(program).args(words).args(path).stdout(Stdio::null()).status();
    status.expect("starts").success()
}
