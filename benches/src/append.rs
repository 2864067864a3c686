//! Appending messages to a file.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use tgm_std::file::{AppendOptions, GroupAppender};
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, ours, reference};

/// Threads that share writes and waits.
const THREADS: usize = 8;

pub fn run(bench: &mut Bench) {
    let directory = tempfile::tempdir().expect("a directory for files");
    unsynced(bench, directory.path());
    synced(bench, directory.path());
}

/// Messages of 1 KiB, which the system writes when it likes.
fn unsynced(bench: &mut Bench, directory: &Path) {
    let count = bench.size(100_000, 2_000);
    let values = data::field_f32(256);
    let (spec, bytes) = (Spec::new(Dtype::Float32, values.len()), values.as_bytes());
    let (descriptor, how) = (ours::descriptor(&spec), AppendOptions::default());
    let (metadata, options) = (ours::GlobalMetadata::default(), ours::EncodeOptions::default());
    let places = ["ours", "each", "theirs"].map(|name| directory.join(name));
    let [path, of_each, of_reference] = &places;

    let many = || {
        let mut file = ours::TensogramFile::create(path).expect("creates");
        let mut appender = file.appender(&how).expect("locks");
        for _ in 0..count {
            appender.append(&metadata, &[(&descriptor, black_box(bytes))], &options).expect("appends");
        }
        appender.flush().expect("writes");
    };
    let each = || {
        let mut file = ours::TensogramFile::create(of_each).expect("creates");
        for _ in 0..count {
            file.append(&metadata, &[(&descriptor, black_box(bytes))], &options).expect("appends");
        }
    };
    many();
    each();
    for path in [path, of_each] {
        let file = ours::TensogramFile::open(path).expect("opens");
        assert_eq!(file.message_count().expect("a list"), count);
        assert!(ours::object(&file.read_message(count - 1).expect("the last message"), 0) == bytes);
    }

    let mut kept = Vec::new();
    let case = Case::new(format!("{count} messages of 1 KiB, not synced"))
        .rows_of("limit: encoding", count as u64, || {
            for _ in 0..count {
                ours::encode_into(&metadata, &[(&descriptor, black_box(bytes))], &options, &mut kept).expect("encodes");
            }
        })
        .rows_of("limit: encoding, and plain writes of 256 KiB", count as u64, || {
            let file = fs::File::create(directory.join("plain")).expect("creates");
            let mut buffered = std::io::BufWriter::with_capacity(256 << 10, file);
            let mut message = Vec::new();
            for _ in 0..count {
                ours::encode_into(&metadata, &[(&descriptor, black_box(bytes))], &options, &mut message)
                    .expect("encodes");
                std::io::Write::write_all(&mut buffered, &message).expect("writes");
            }
        })
        .rows_of("us, Appender", count as u64, many)
        .rows_of("us, append of each", count as u64, each)
        .rows_of("reference", count as u64, || {
            let mut file = reference::TensogramFile::create(of_reference).expect("creates");
            let (metadata, options) = (reference::GlobalMetadata::default(), reference::EncodeOptions::default());
            let descriptor = reference::descriptor(&spec);
            for _ in 0..count {
                file.append(&metadata, &[(&descriptor, black_box(bytes))], &options).expect("appends");
            }
        })
        .goal("P19", "us, Appender", Bound::Within("limit: encoding", 1.5));
    bench.run(case);
}

/// Messages of 1 KiB that wait for the disk: one at a time, from several threads, and all together.
fn synced(bench: &mut Bench, directory: &Path) {
    let count = bench.size(400, 80);
    let values = data::field_f32(256);
    let message = ours::encode_one(&Spec::new(Dtype::Float32, values.len()), values.as_bytes());
    let how = AppendOptions { sync: true, ..AppendOptions::default() };
    let created = |name: &str| -> PathBuf {
        let path = directory.join(name);
        ours::TensogramFile::create(&path).expect("creates");
        path
    };
    let case = Case::new(format!("{count} messages of 1 KiB, synced"))
        .wall()
        .rows_of("limit: a write and a wait for each", count as u64, || {
            let file = fs::File::create(directory.join("plain")).expect("creates");
            for _ in 0..count {
                std::io::Write::write_all(&mut &file, &message).expect("writes");
                file.sync_data().expect("waits");
            }
        })
        .rows_of("us, append of each", count as u64, || {
            let mut file = ours::TensogramFile::open(created("each")).expect("opens");
            for _ in 0..count {
                file.append_message(&message, &how).expect("appends");
            }
        })
        .rows_of("us, GroupAppender, 8 threads", count as u64, || {
            let appender = GroupAppender::open(created("group"), &how).expect("opens");
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        for _ in 0..count / THREADS {
                            appender.append_message(&message).expect("appends");
                        }
                    });
                }
            });
        })
        .rows_of("us, append_all", count as u64, || {
            let mut file = ours::TensogramFile::open(created("all")).expect("opens");
            file.append_all(std::iter::repeat_n(&message, count), &how).expect("appends");
        })
        .goal("P19", "us, GroupAppender, 8 threads", Bound::Within("limit: a write and a wait for each", 1.0));
    bench.run(case);
}
