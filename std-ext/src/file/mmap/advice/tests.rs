//! The system reports which advice it has taken.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;
use crate::{MappedFile, MessageBuilder, ObjectBuilder, TensogramError};

/// Values of an object: 4 MiB of bytes.
const LEN: usize = 4 << 20;

fn field(message: usize) -> Vec<u8> {
    (0..LEN).map(|i| (i.wrapping_mul(31).wrapping_add(message) >> 3).to_le_bytes()[0]).collect()
}

fn map(path: &Path) -> MappedFile {
    // SAFETY: the file lies in a folder of this test's own, which does not write to it while it is mapped.
    unsafe { MappedFile::open(path) }.unwrap()
}

/// A file of three messages of one object each.
fn three() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("three.tgm");
    let mut bytes = Vec::new();
    for message in 0..3 {
        let values = field(message);
        let object = ObjectBuilder::new(&[LEN as u64], &values).unwrap();
        bytes.extend(MessageBuilder::new().object(object).encode().unwrap());
    }
    fs::write(&path, bytes).unwrap();
    // What is not on the medium yet stays in memory.
    File::open(&path).unwrap().sync_all().unwrap();
    (folder, path)
}

/// The KiB in memory and the flags of the part of the map that address `at` is in.
fn part_of_map(at: usize) -> (u64, Vec<String>) {
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut inside, mut resident) = (false, 0);
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        match words.next().unwrap() {
            "Rss:" => resident = words.next().unwrap().parse().unwrap(),
            "VmFlags:" if inside => return (resident, words.map(str::to_owned).collect()),
            first => {
                if let Some((start, end)) = first.split_once('-') {
                    let [start, end] = [start, end].map(|word| usize::from_str_radix(word, 16).unwrap());
                    inside = (start..end).contains(&at);
                }
            }
        }
    }
    panic!("no map at {at:x}");
}

/// The flags where the middle of each message is.
fn flags(file: &MappedFile) -> Vec<[bool; 2]> {
    let of = |index| {
        let message = file.message_bytes(index).unwrap();
        let flags = part_of_map(message.as_ptr() as usize + LEN / 2).1;
        ["rr", "sr"].map(|flag| flags.iter().any(|one| one == flag))
    };
    (0..file.message_count()).map(of).collect()
}

#[test]
fn an_object_is_read_as_was_said_and_its_neighbours_are_not() {
    let (_folder, path) = three();
    let file = map(&path);
    assert_eq!(flags(&file), [[false, false]; 3]);
    file.advise(1, 0, Advice::Random).unwrap();
    assert_eq!(flags(&file), [[false, false], [true, false], [false, false]]);
    file.advise(2, 0, Advice::Sequential).unwrap();
    assert_eq!(flags(&file), [[false, false], [true, false], [false, true]]);
    file.advise(1, 0, Advice::Normal).unwrap();
    assert_eq!(flags(&file), [[false, false], [false, false], [false, true]]);
    file.advise_message(0, Advice::Random).unwrap();
    assert_eq!(flags(&file), [[true, false], [false, false], [false, true]]);
    file.advise_all(Advice::Random).unwrap();
    assert_eq!(flags(&file), [[true, false]; 3]);
}

#[test]
fn what_is_done_is_given_back_and_can_be_read_again() {
    let (_folder, path) = three();
    let file = map(&path);
    let object = file.object(1, 0).unwrap();
    for message in 0..3 {
        assert!(file.object(message, 0).unwrap().payload() == field(message));
    }
    let at = object.payload().as_ptr() as usize;
    let before = part_of_map(at).0;
    assert!(before >= 3 * LEN as u64 / 1024, "{before} KiB");
    file.advise(1, 0, Advice::Done).unwrap();
    let after = part_of_map(at).0;
    assert!(after <= before - LEN as u64 / 1024 + 64, "{after} of {before} KiB");
    // By a slice that was lent out before.
    assert!(object.payload() == field(1));
    assert!(part_of_map(at).0 >= before - 64);
    file.advise_all(Advice::Done).unwrap();
    assert!(part_of_map(at).0 <= 64);
    assert!(file.object(2, 0).unwrap().payload() == field(2));
}

/// Whether the page at `at` is in the system's memory.
fn cached(at: &u8) -> bool {
    let (page, mut state) = (4096, 0);
    let start = std::ptr::from_ref(at).wrapping_sub((std::ptr::from_ref(at) as usize) % page);
    // SAFETY: the page is mapped, as `at` lies in it; one page needs one byte of `state`.
    let result = unsafe { libc::mincore(start.cast_mut().cast(), page, &raw mut state) };
    assert_eq!(result, 0);
    state & 1 == 1
}

#[test]
fn what_will_be_needed_is_read_before_it_is_touched() {
    let (_folder, path) = three();
    let file = map(&path);
    let middle = &file.object(1, 0).unwrap().payload()[LEN / 2];
    let on_disk = File::open(&path).unwrap();
    // SAFETY: a call about an open file, which takes no memory of ours.
    unsafe { libc::posix_fadvise(on_disk.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    if cached(middle) {
        return; // a file system that is memory itself
    }
    file.advise(1, 0, Advice::WillNeed).unwrap();
    let asked = Instant::now();
    while !cached(middle) {
        assert!(asked.elapsed() < Duration::from_mins(1), "nobody reads it");
        std::thread::yield_now();
    }
}

#[test]
fn there_is_advice_about_what_there_is() {
    let (_folder, path) = three();
    let all = [Advice::Normal, Advice::WillNeed, Advice::Sequential, Advice::Random, Advice::Done];
    let file = map(&path);
    for advice in all {
        assert!(matches!(file.advise(3, 0, advice), Err(TensogramError::Framing(_))));
        assert!(matches!(file.advise(0, 1, advice), Err(TensogramError::Object(_))));
        assert!(matches!(file.advise_message(3, advice), Err(TensogramError::Framing(_))));
    }
    // Objects without a byte, and files without one.
    let object = ObjectBuilder::new(&[0], &[0_u8; 0]).unwrap();
    fs::write(&path, MessageBuilder::new().object(object).encode().unwrap()).unwrap();
    let file = map(&path);
    assert!(all.map(|advice| file.advise(0, 0, advice)).iter().all(Result::is_ok));
    assert!(file.object(0, 0).unwrap().region().is_empty());
    fs::write(&path, []).unwrap();
    let file = map(&path);
    assert!(all.map(|advice| file.advise_all(advice)).iter().all(Result::is_ok));
}
