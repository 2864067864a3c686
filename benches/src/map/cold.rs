//! A file that is not in the system's memory, read by map, by map with advice, and by positioned reads.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;

use zerocopy::IntoBytes as _;

use crate::Bench;
use crate::data::{self, Rng};
use crate::harness::Case;
use crate::libraries::{Dtype, Spec, open_map, ours};

/// Bytes of an object.
const LEN: usize = 256 << 10;

/// A file of `count` messages of one object each.
struct Cold {
    count: usize,
    file: fs::File,
    mapped: ours::MappedFile,
    positioned: ours::TensogramFile,
}

impl Cold {
    fn new(path: &Path, count: usize) -> Self {
        let field = data::field_f32(LEN / 4 + count);
        let spec = Spec::new(Dtype::Float32, LEN / 4);
        let mut file = BufWriter::new(fs::File::create(path).expect("creates"));
        for i in 0..count {
            file.write_all(&ours::encode_one(&spec, field[i..i + LEN / 4].as_bytes())).expect("writes");
        }
        let file = file.into_inner().expect("writes");
        // Pages that are not on the medium yet would stay in memory.
        file.sync_all().expect("writes");
        let mapped = open_map(path);
        let positioned = ours::TensogramFile::open(path).expect("opens");
        assert_eq!(positioned.message_count().expect("scans"), count);
        Self { count, file, mapped, positioned }
    }

    /// Drops the file from memory, and keeps the tables of messages. The map is then read as `advice` says.
    fn forget(&self, advice: ours::Advice) {
        self.mapped.advise_all(ours::Advice::Done).expect("advises");
        // SAFETY: the file is open.
        unsafe { libc::posix_fadvise(self.file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        self.mapped.advise_all(advice).expect("advises");
    }

    fn mib(&self) -> usize {
        (self.count * LEN) >> 20
    }

    fn payload(&self, i: usize) -> &[u8] {
        self.mapped.object(i, 0).expect("an object").payload()
    }

    fn read(&self, i: usize) -> Vec<u8> {
        self.positioned.decode_object(i, 0, &ours::DecodeOptions::default()).expect("reads").2
    }
}

/// The sum of one byte of each cache line.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().step_by(64).map(|byte| u64::from(*byte)).sum()
}

pub fn run(bench: &mut Bench, folder: &Path) {
    let cold = Cold::new(&folder.join("cold.tgm"), bench.size(1024, 64));
    in_order(bench, &cold);
    let mut rng = Rng::new(7);
    let some: Vec<usize> = (0..cold.count / 8).map(|_| rng.below(cold.count)).collect();
    for i in &some {
        assert_eq!(cold.payload(*i), cold.read(*i));
    }
    random(bench, &cold, &some, "a value", |payload| u64::from(payload[LEN / 2]));
    random(bench, &cold, &some, "all", sum);
}

fn in_order(bench: &mut Bench, cold: &Cold) {
    let all = || 0..cold.count;
    let mapped = |advice| {
        cold.forget(advice);
        all().map(|i| sum(cold.payload(i))).sum::<u64>()
    };
    let case = Case::new(format!("{} MiB not in memory, every object in order", cold.mib()))
        .wall()
        .bytes(cold.count * LEN)
        .row("map", || mapped(ours::Advice::Normal))
        .row("map, sequential", || mapped(ours::Advice::Sequential))
        .row("map, next will be needed, done", || {
            cold.forget(ours::Advice::Normal);
            let one = |i: usize| {
                cold.mapped.advise_message((i + 4).min(cold.count - 1), ours::Advice::WillNeed).expect("advises");
                let sum = sum(cold.payload(i));
                cold.mapped.advise_message(i, ours::Advice::Done).expect("advises");
                sum
            };
            all().map(one).sum::<u64>()
        })
        .row("positioned reads", || {
            cold.forget(ours::Advice::Normal);
            all().map(|i| sum(&cold.read(i))).sum::<u64>()
        });
    bench.run(case);
}

/// Applies `of` to each of `some` objects.
fn random(bench: &mut Bench, cold: &Cold, some: &[usize], name: &str, of: impl Fn(&[u8]) -> u64) {
    let mapped = |advice| {
        cold.forget(advice);
        some.iter().map(|i| of(cold.payload(*i))).sum::<u64>()
    };
    let reads = some.len() as u64;
    let case = Case::new(format!("{} MiB not in memory, {name} of each of {reads} random objects", cold.mib()))
        .wall()
        .rows_of("map", reads, || mapped(ours::Advice::Normal))
        .rows_of("map, random", reads, || mapped(ours::Advice::Random))
        .rows_of("map, will be needed", reads, || {
            cold.forget(ours::Advice::Normal);
            let one = |i: &usize| {
                cold.mapped.advise_message(*i, ours::Advice::WillNeed).expect("advises");
                of(cold.payload(*i))
            };
            some.iter().map(one).sum::<u64>()
        })
        .rows_of("positioned reads of all of it", reads, || {
            cold.forget(ours::Advice::Normal);
            some.iter().map(|i| of(&cold.read(*i))).sum::<u64>()
        });
    bench.run(case);
}
