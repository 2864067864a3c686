//! Many threads on one file: they share the table of messages, which the first one builds, and read what a single
//! thread reads.
//!
//! `tests/sanitizers/run thread` runs this under `ThreadSanitizer`, which also finds races without visible effect.

use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tgm_std::file::GroupAppender;
use tgm_std::read::options::ReadKnob;
use tgm_std::read::{ReadOptions, Reader};
use tgm_std::{AppendOptions, DecodeOptions, MessageBuilder, ObjectBuilder, TensogramFile};

/// The number of threads of each kind.
const READERS: usize = 6;
/// How often the table is built anew, each time by all threads at once.
const ROUNDS: usize = 40;
/// The number of messages in the file.
const MESSAGES: u8 = 9;

/// A message whose values are all `n`.
fn message(n: u8) -> Vec<u8> {
    let values = [u32::from(n); 500];
    let object = ObjectBuilder::new(&[500], &values).unwrap().metadata("n", n);
    let object = if n.is_multiple_of(2) { object.lz4() } else { object };
    MessageBuilder::new().object(object).encode().unwrap()
}

fn options() -> DecodeOptions {
    DecodeOptions { verify_hash: true, ..DecodeOptions::default() }
}

fn assert_message(file: &TensogramFile, index: usize) {
    let (metadata, objects) = file.decode_message(index, &options()).unwrap();
    let n = u8::try_from(index).unwrap();
    assert_eq!(metadata.base[0]["n"].as_integer(), Some(n.into()));
    assert!(objects[0].1.as_chunks().0.iter().all(|value| u32::from_ne_bytes(*value) == u32::from(n)));
}

#[test]
fn readers_that_start_together_share_one_table() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shared.tgm");
    fs::write(&path, (0..MESSAGES).flat_map(message).collect::<Vec<_>>()).unwrap();
    for round in 0..ROUNDS {
        let file = TensogramFile::open(&path).unwrap();
        let mapped = crate::mapped::map(&path).unwrap();
        let start = Barrier::new(2 * READERS);
        thread::scope(|threads| {
            for reader in 0..READERS {
                let (file, mapped, start) = (&file, &mapped, &start);
                threads.spawn(move || {
                    start.wait();
                    for step in 0..usize::from(MESSAGES) {
                        // Each thread reads in another order.
                        assert_message(file, (step * (1 + reader % 2 * 3) + reader + round) % usize::from(MESSAGES));
                    }
                    assert_eq!(file.message_layouts().unwrap(), mapped.message_layouts());
                });
                threads.spawn(move || {
                    start.wait();
                    for index in 0..usize::from(MESSAGES) {
                        let object = mapped.object(index, 0).unwrap();
                        let values = tgm_std::read(&object).options(&options()).bytes().unwrap();
                        assert_eq!(values.len(), 2000);
                        assert!(values.as_chunks().0.iter().all(|v| u32::from_ne_bytes(*v) as usize == index));
                    }
                });
            }
        });
    }
}

/// A positioned read gives the message as it was, or an error.
#[test]
fn readers_of_a_file_that_is_truncated_and_written_again_get_messages_or_errors() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("unstable.tgm");
    let whole: Vec<u8> = (0..MESSAGES).flat_map(message).collect();
    fs::write(&path, &whole).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(file.message_count().unwrap(), usize::from(MESSAGES));
    let is_done = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            for round in 0..ROUNDS {
                let shorter = whole.len() * (round % 7) / 7;
                fs::File::options().write(true).open(&path).unwrap().set_len(shorter as u64).unwrap();
                thread::sleep(Duration::from_micros(200));
                fs::write(&path, &whole).unwrap();
            }
            is_done.store(true, Ordering::Release);
        });
        for reader in 0..READERS {
            let (file, is_done) = (&file, &is_done);
            threads.spawn(move || {
                let mut index = reader;
                while !is_done.load(Ordering::Acquire) {
                    index = (index + 1) % usize::from(MESSAGES);
                    if let Ok((_, objects)) = file.decode_message(index, &options()) {
                        assert!(objects[0].1.as_chunks().0.iter().all(|v| u32::from_ne_bytes(*v) as usize == index));
                    }
                }
            });
        }
    });
    assert_message(&file, usize::from(MESSAGES) - 1);
}

#[test]
fn readers_see_appended_messages_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("growing.tgm");
    let mut writer = TensogramFile::create(&path).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            for n in 0..MESSAGES {
                writer.append_message(&message(n), &AppendOptions::default()).unwrap();
            }
            is_done.store(true, Ordering::Release);
        });
        for _ in 0..READERS {
            let (path, is_done) = (&path, &is_done);
            threads.spawn(move || {
                let mut seen = 0;
                loop {
                    let is_last = is_done.load(Ordering::Acquire);
                    let file = TensogramFile::open(path).unwrap();
                    let count = file.message_count().unwrap();
                    assert!(count >= seen);
                    seen = count;
                    (0..count).for_each(|index| assert_message(&file, index));
                    if is_last {
                        break;
                    }
                }
                assert_eq!(seen, usize::from(MESSAGES));
            });
        }
    });
}

#[test]
fn threads_append_in_groups_and_decode_with_helpers_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("together.tgm");
    TensogramFile::create(&path).unwrap();
    let start = Barrier::new(READERS);
    let appender = GroupAppender::open(&path, &AppendOptions::default()).unwrap();
    thread::scope(|threads| {
        for writer in 0..READERS {
            let (path, start, appender) = (&path, &start, &appender);
            threads.spawn(move || {
                start.wait();
                // Calls that ask for the same number of helpers, and for other numbers.
                let threads = 2 + u32::try_from(writer % 3).unwrap();
                let options = DecodeOptions { threads, parallel_threshold_bytes: Some(0), ..options() };
                for n in 0..MESSAGES {
                    let layout = appender.append_message(&message(n)).unwrap();
                    let mut there = vec![0; message(n).len()];
                    TensogramFile::open(path).unwrap().read_at(layout.offset, &mut there).unwrap();
                    let (_, objects) = tgm_std::decode(&there, &options).unwrap();
                    assert!(objects[0].1.as_chunks().0.iter().all(|v| u32::from_ne_bytes(*v) == u32::from(n)));
                }
            });
        }
    });
    assert_eq!(TensogramFile::open(&path).unwrap().message_count().unwrap(), READERS * usize::from(MESSAGES));
}

#[test]
fn a_reader_is_shared_while_it_is_refreshed() {
    let bytes: Vec<u8> = (0..MESSAGES).flat_map(message).collect();
    // Nothing is read that was not asked for, so that much is kept between calls.
    let reader = Reader::new(bytes, ReadKnob::Initial.set(100, ReadKnob::WholeMessage.set(100, ReadOptions::remote())));
    let start = Barrier::new(READERS);
    thread::scope(|threads| {
        for number in 0..READERS {
            let (reader, start) = (&reader, &start);
            threads.spawn(move || {
                start.wait();
                for round in 0..ROUNDS {
                    let index = (number + round) % usize::from(MESSAGES);
                    let (_, _, values) = reader.decode_object(index, 0, &options()).unwrap();
                    assert!(values.as_chunks().0.iter().all(|v| u32::from_ne_bytes(*v) as usize == index));
                    if round % 5 == number {
                        reader.refresh();
                    }
                    assert_eq!(reader.message_count().unwrap(), usize::from(MESSAGES));
                }
            });
        }
    });
}
