//! The tool from its start to its end.
//!
//! `benches/run tool` builds it and says in `TGM` where it is. Without `TGM` the group is left out.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use zerocopy::IntoBytes as _;

use crate::Bench;
use crate::data;
use crate::filter;
use crate::harness::{Bound, Case};
use crate::libraries::{first, ours};

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
    writing(bench, &program, folder.path());
}

/// `create` and `repack` to packed values in szip, beside the library in this process, on two threads. All replace a file
/// and wait for the disk.
fn writing(bench: &mut Bench, program: &Path, folder: &Path) {
    let [array, plain, out] = ["field.npy", "fields-plain.tgm", "out.tgm"].map(|name| folder.join(name));
    let count = bench.size(1 << 23, 1 << 16);
    let values = data::field(count);
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}");
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend(118_u16.to_le_bytes());
    npy.extend(format!("{header:<117}\n").into_bytes());
    npy.extend(values.as_bytes());
    fs::write(&array, npy).expect("a file");
    let messages = values.chunks(count / 8).flat_map(|part| builder(part).encode().expect("encodes"));
    fs::write(&plain, messages.collect::<Vec<u8>>()).expect("a file");

    let stages = ["--encoding", "simple_packing", "--bits", "16", "--compression", "szip", "-o"];
    let target = out.to_str().expect("text");
    let words = |command| [&[command][..], &stages, &[target]].concat();
    let (create, repack) = (words("create"), words("repack"));
    let packed = |values: &[f64]| {
        let object = ours::ObjectBuilder::new(&[values.len() as u64], values).expect("an object");
        let options = ours::EncodeOptions { threads: 2, ..Default::default() };
        ours::MessageBuilder::new().object(object.simple_packing(16).szip()).options(options).encode().expect("encodes")
    };
    let replace = |bytes: &[u8]| {
        let mut file = fs::File::create(&out).expect("a file");
        file.write_all(bytes).and_then(|()| file.sync_all()).expect("written");
    };
    let create_here = || replace(&packed(&values_of(&fs::read(&array).expect("reads")[128..])));
    create_here();
    let expected = ours::object(&fs::read(&out).expect("reads"), 0);
    assert!(start(program, &create, &array) && ours::object(&fs::read(&out).expect("reads"), 0) == expected);
    let case = Case::new(format!("an array of {} MiB to 16 bits and szip", (8 * count) >> 20))
        .wall()
        .bytes(8 * count)
        .row("tgm create", || start(program, &create, &array))
        .row("us, in a process", create_here)
        .goal("P21", "tgm create", Bound::Within("us, in a process", 1.0 / 0.8));
    bench.run(case);

    let repack_here = || {
        let bytes = fs::read(&plain).expect("reads");
        let options = ours::DecodeOptions::default();
        let messages = ours::scan(&bytes).into_iter().flat_map(|(at, len)| {
            packed(&values_of(&ours::read(&first(&bytes[at..at + len])).options(&options).bytes().expect("decodes")))
        });
        replace(&messages.collect::<Vec<u8>>());
    };
    assert!(start(program, &repack, &plain));
    let case = Case::new(format!("8 messages of {} MiB to 16 bits and szip", count >> 20))
        .wall()
        .bytes(8 * count)
        .row("tgm repack", || start(program, &repack, &plain))
        .row("us, in a process", repack_here)
        .goal("P21", "tgm repack", Bound::Within("us, in a process", 1.0 / 0.8));
    bench.run(case);
}

fn builder(values: &[f64]) -> ours::MessageBuilder<'_> {
    ours::MessageBuilder::new().object(ours::ObjectBuilder::new(&[values.len() as u64], values).expect("an object"))
}

/// The values of these bytes.
fn values_of(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
}

/// Whether the tool succeeds, with its output thrown away.
fn start(program: &Path, words: &[&str], path: &Path) -> bool {
    let path = Some(path).filter(|path| !path.as_os_str().is_empty());
    let status = Command::new(program).args(words).args(path).stdout(Stdio::null()).status();
    status.expect("starts").success()
}
