//! Finding messages, in valid files and in hostile bytes.

use std::hint::black_box;

use memchr::memmem::Finder;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, ours, reference};

/// The magic at the start of a message.
const MAGIC: &[u8] = b"TENSOGRM";

pub fn run(bench: &mut Bench) {
    messages(bench);
    junk(bench);
    for (name, bytes) in adversaries(bench) {
        let half = &bytes[..bytes.len() / 2];
        let part = &bytes[..bytes.len() / 64];
        let case = Case::new(format!("{name}, {}", crate::harness::bytes(bytes.len() as f64)))
            .row("us", || tgm_core::scan::scan(black_box(&bytes)).count())
            .row("us, half of it", || tgm_core::scan::scan(black_box(half)).count())
            .row("us, a 64th of it", || tgm_core::scan::scan(black_box(part)).count())
            .row("reference, a 64th of it", || reference::scan(black_box(part)))
            .goal("P16", "us", Bound::Within("us, half of it", 2.5));
        bench.run(case);
    }
}

fn messages(bench: &mut Bench) {
    let count = bench.size(100_000, 5_000);
    let values = data::field_f32(256);
    let message = ours::encode_one(&Spec::new(Dtype::Float32, values.len()), values.as_bytes());
    let row = message.repeat(count);
    let forward = ours::ScanOptions { bidirectional: false, ..Default::default() };
    let both = ours::ScanOptions { bidirectional: true, ..Default::default() };
    let found = ours::scan(&row);
    assert!(found.len() == count && found == reference::scan(&row));
    let case = Case::new(format!("{count} messages of {} bytes", message.len()))
        .bytes(row.len())
        .row("us, core", || tgm_core::scan::scan(black_box(&row)).count())
        .row("us, std", || ours::scan(black_box(&row)))
        .row("us, forward", || ours::scan_with_options(black_box(&row), &forward))
        .row("us, both ways", || ours::scan_with_options(black_box(&row), &both))
        .row("reference", || reference::scan(black_box(&row)))
        .row("limit: a byte of each message", || {
            black_box(&row).iter().step_by(message.len()).fold(0_u8, |x, y| x ^ y)
        });
    bench.run(case);
}

fn junk(bench: &mut Bench) {
    let len = bench.size(256 << 20, 8 << 20);
    for (name, bytes) in [("junk", data::junk(len)), ("junk, all T", vec![b'T'; len])] {
        let finder = Finder::new(MAGIC);
        assert_eq!(ours::scan(&bytes), reference::scan(&bytes));
        let case = Case::new(format!("{name}, {} MiB", len >> 20))
            .bytes(len)
            .row("us, core", || tgm_core::scan::scan(black_box(&bytes)).count())
            .row("us, std", || ours::scan(black_box(&bytes)))
            .row("reference", || reference::scan(black_box(&bytes)))
            .row("memchr::memmem", || finder.find(black_box(&bytes)))
            .row("limit: read every byte", || {
                black_box(&bytes).as_chunks::<8>().0.iter().fold(0, |x, y| x ^ u64::from_le_bytes(*y))
            })
            .goal("P16", "us, std", Bound::Nanos(len as f64 / 5.0));
        bench.run(case);
    }
}

/// Bytes that look like the beginning of a message at every place.
fn adversaries(bench: &Bench) -> Vec<(&'static str, Vec<u8>)> {
    let len = bench.size(4 << 20, 1 << 18);
    let values = data::field_f32(1);
    let whole = ours::encode_one(&Spec::new(Dtype::Float32, 1), values.as_bytes());
    let preamble = |length: u64| {
        let mut bytes = whole[..24].to_vec();
        bytes[16..].copy_from_slice(&length.to_be_bytes());
        bytes
    };
    let repeated = |unit: &[u8]| unit.repeat(len / unit.len());
    let mut headed = preamble(0);
    headed.extend_from_slice(&whole[24..48]);
    vec![
        ("magics alone", repeated(MAGIC)),
        ("preambles of messages that do not end", repeated(&preamble(len as u64 / 2))),
        ("preambles of streamed messages", repeated(&preamble(0))),
        ("streamed messages cut in their first frame", repeated(&headed)),
    ]
}
