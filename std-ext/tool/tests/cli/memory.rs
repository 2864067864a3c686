//! Memory of commands: the largest message, and a constant. It is not that of the whole file. Commands that work on several
//! threads hold a message and a result for each.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::npy::npy;
use crate::tool::command;

const MIB: u64 = 1 << 20;
/// Messages of a file, and the mebibytes of each.
const MESSAGES: u64 = 10;
const MESSAGE: u64 = 16;
/// What a command may need beside its largest message, in mebibytes.
const CONSTANT: u64 = 40;

/// The greatest memory of a run that succeeds, in mebibytes, without what the system maps of the program itself: how much that
/// is depends on the system. The allocator gives back large blocks at once. By default it raises that limit as it goes, and
/// keeps what other threads freed: how much changes from run to run.
fn peak(args: &[&str]) -> u64 {
    let mut child = command(args).env("MALLOC_MMAP_THRESHOLD_", "131072").stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (mut peak, mut program) = (0, 0);
    // The greatest value so far is there until the end.
    let end = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let number = |key: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(key))?;
            line.trim().strip_suffix(" kB")?.parse().ok()
        };
        peak = number("VmHWM:").unwrap_or(peak);
        program = number("RssFile:").unwrap_or_default().max(program);
        if let Some(end) = child.try_wait().unwrap() {
            break end;
        }
        sleep(Duration::from_millis(1));
    };
    assert!(end.success(), "{args:?}");
    assert!(peak > 0, "{args:?} was too fast");
    peak.saturating_sub(program) * 1024 / MIB
}

fn assert_peak(args: &[&str], largest_message: u64) {
    let peak = peak(args);
    assert!(peak <= largest_message + CONSTANT, "tgm {args:?}: {peak} MiB, the largest message has {largest_message}");
}

/// A file of many messages, all alike.
fn file(folder: &Folder) -> String {
    let numbers = (0..u16::MAX).cycle().map(f32::from);
    let values: Vec<f32> = numbers.take(usize::try_from(MESSAGE * MIB / 4).unwrap()).collect();
    let object = ObjectBuilder::new(&[MESSAGE * MIB / 4], &values).unwrap();
    let message = MessageBuilder::new().object(object).options(EncodeOptions::default()).encode().unwrap();
    let path = folder.path("in.tgm");
    let mut file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
    (0..MESSAGES).for_each(|_| file.write_all(&message).unwrap());
    path
}

#[test]
fn commands_that_rewrite_a_file_need_memory_for_few_messages() {
    let folder = Folder::in_memory();
    let (path, out) = (file(&folder), folder.path("out.tgm"));
    for line in [
        "set -s step=1 IN OUT",
        "copy IN OUT",
        "repack --filter shuffle IN -O OUT",
        "repack --verify --compression lz4 IN -O OUT",
    ] {
        let words: Vec<_> = line
            .split(' ')
            .map(|word| {
                if word == "IN" {
                    &*path
                } else if word == "OUT" {
                    &*out
                } else {
                    word
                }
            })
            .collect();
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
        // A thread has a message, its values and the result. One more result is being written.
        assert_peak(&words, MESSAGE * (3 * threads + 1));
    }
    assert_peak(&["merge", &path, "-O", &out], MESSAGES * MESSAGE);
}

#[test]
fn commands_that_read_a_file_need_memory_for_one_message() {
    let folder = Folder::in_memory();
    let path = file(&folder);
    for words in [&["verify"][..], &["validate", "--full"], &["digest"]] {
        assert_peak(&[words, &[&*path]].concat(), MESSAGE);
    }
}

/// Values on both sides of zero may lie in any of 500,000 bins.
#[test]
fn statistics_of_small_messages_need_no_more_memory_than_of_large_ones() {
    let folder = Folder::in_memory();
    let values: Vec<f64> = (-20..20).map(f64::from).collect();
    let object = ObjectBuilder::new(&[40], &values).unwrap();
    let message = MessageBuilder::new().object(object).options(EncodeOptions::default()).encode().unwrap();
    let path = folder.file("in.tgm", &message.repeat(10_000));
    assert_peak(&["stats", &path], 0);
    assert_peak(&["stats", "--json", &path], 0);
}

#[test]
fn a_new_message_takes_its_objects_one_by_one() {
    let folder = Folder::in_memory();
    let values = vec![7; usize::try_from(MESSAGE * MIB).unwrap()];
    let input = folder.file("in.npy", &npy(1, "'<f4'", false, &format!("({},)", MESSAGE * MIB / 4), &values));
    let (raw, out) = (folder.file("in.raw", &values), folder.path("out.tgm"));
    let inputs: Vec<&str> = (0..MESSAGES).map(|_| &*input).collect();
    let create = |inputs: &[&str], more: &[&str], message| {
        assert_peak(&[&["create", "-O", &out][..], more, inputs].concat(), message);
    };
    create(&inputs, &[], MESSAGES * MESSAGE);
    create(&inputs, &["--each"], MESSAGE);
    create(&inputs, &["--each", "--append"], MESSAGE);
    create(&inputs, &["--each", "--filter", "shuffle", "--compression", "lz4"], MESSAGE);
    let form = format!("f32,{}", MESSAGE * MIB / 4);
    create(&vec![&*raw; inputs.len()], &["--raw", &form], MESSAGES * MESSAGE);
}

#[cfg(feature = "grib")]
#[test]
fn conversion_needs_memory_for_one_message() {
    let folder = Folder::in_memory();
    let grib = fs::read(crate::corpus::data("../data-grib/ieee-64.grib2")).unwrap();
    let count = 100 * usize::try_from(MIB).unwrap() / grib.len();
    let (path, out, back) =
        (folder.file("in.grib2", &grib.repeat(count)), folder.path("out.tgm"), folder.path("back.grib2"));
    assert_peak(&["convert", &path, "-o", &out], 0);
    assert_peak(&["convert", &out, "-o", &back], 0);
    assert!(fs::read(&back).unwrap() == fs::read(&path).unwrap());
}
