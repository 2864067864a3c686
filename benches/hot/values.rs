//! Values of one object, decoded into a buffer that is kept.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use tgm_core::Message;
use tgm_std::{DecodeOptions, Scratch, read};
use zerocopy::IntoBytes as _;

use crate::data::{self, LARGE, Pipeline};

const PIPELINES: [(&str, Pipeline); 10] = [
    ("none", |object| object),
    ("packed 8", |object| object.simple_packing(8)),
    ("packed 12", |object| object.simple_packing(12)),
    ("packed 16", |object| object.simple_packing(16)),
    ("packed 24", |object| object.simple_packing(24)),
    ("packed 16 szip", |object| object.simple_packing(16).szip()),
    ("packed 24 szip", |object| object.simple_packing(24).szip()),
    ("shuffle", |object| object.shuffle()),
    ("lz4", |object| object.lz4()),
    ("shuffle zstd", |object| object.shuffle().zstd(3)),
];

pub(crate) fn all(criterion: &mut Criterion) {
    let field = data::field(LARGE);
    let mut out = field.clone();
    let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
    for (name, make) in PIPELINES {
        let bytes = data::message(&field, make);
        let object = Message::parse(&bytes).and_then(|message| message.object(0)).unwrap();
        let mut group = criterion.benchmark_group("values");
        group.throughput(Throughput::Bytes(8 * LARGE as u64));
        group.bench_function(name, |bench| {
            bench.iter(|| {
                read(black_box(&object)).options(&options).scratch(&mut scratch).bytes_into(out.as_mut_bytes()).unwrap()
            });
        });
        group.finish();
    }
    for (name, make) in [PIPELINES[3], PIPELINES[5]] {
        let bytes = data::message(&field, make);
        let object = Message::parse(&bytes).and_then(|message| message.object(0)).unwrap();
        let middle = [(LARGE as u64 / 2, 1000)];
        criterion.bench_function(&format!("range of 1000, {name}"), |bench| {
            bench.iter(|| read(black_box(&object)).ranges(&middle).options(&options).bytes().unwrap());
        });
    }
}
