//! Whole messages: encoded, and decoded with all that belongs to them.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use tgm_std::{DecodeOptions, decode};

use crate::data::{self, LARGE, Pipeline};

pub(crate) fn all(criterion: &mut Criterion) {
    let field = data::field(LARGE);
    let options = DecodeOptions::default();
    let pipelines: [(&str, Pipeline); 4] = [
        ("none", |object| object),
        ("packed 16", |object| object.simple_packing(16)),
        ("packed 16 szip", |object| object.simple_packing(16).szip()),
        ("lz4", |object| object.lz4()),
    ];
    for (size, count) in [("2 MiB", LARGE), ("1 KiB", 128)] {
        for (name, make) in pipelines {
            let bytes = data::message(&field[..count], make);
            for (verb, encodes) in [("encode", true), ("decode", false)] {
                let mut group = criterion.benchmark_group(format!("{verb} {size}"));
                group.throughput(Throughput::Bytes(8 * count as u64));
                group.bench_function(name, |bench| {
                    if encodes {
                        bench.iter(|| data::message(black_box(&field[..count]), make).len());
                    } else {
                        bench.iter(|| decode(black_box(&bytes), &options).unwrap().1.len());
                    }
                });
                group.finish();
            }
        }
    }
}
