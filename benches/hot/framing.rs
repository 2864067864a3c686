//! Messages and their parts, without values.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use tgm_core::Message;
use tgm_core::push::{Link, PushDecoder};

use crate::data;

pub(crate) fn all(criterion: &mut Criterion) {
    objects(criterion);
    scan(criterion);
    digest(criterion);
    push(criterion);
}

fn objects(criterion: &mut Criterion) {
    for count in [1, 1000] {
        let bytes = data::small_objects(count);
        criterion.bench_function(&format!("open, last of {count} objects"), |bench| {
            bench.iter(|| {
                let message = Message::parse(black_box(&bytes)).unwrap();
                let object = message.object(count as usize - 1).unwrap();
                (object.descriptor().element_count(), object.payload())
            });
        });
    }
    let bytes = data::small_objects(10);
    criterion.bench_function("metadata, one key of 10 objects", |bench| {
        bench.iter(|| {
            let message = Message::parse(black_box(&bytes)).unwrap();
            let step = message.metadata().unwrap().get("mars.step").unwrap();
            step.is_some()
        });
    });
}

fn scan(criterion: &mut Criterion) {
    let bytes = data::small_objects(1).repeat(1000);
    let mut group = criterion.benchmark_group("scan");
    group.throughput(Throughput::Elements(1000));
    group.bench_function("1000 messages, core", |bench| {
        bench.iter(|| tgm_core::scan::scan(black_box(&bytes)).count());
    });
    group.bench_function("1000 messages, std", |bench| bench.iter(|| tgm_std::scan(black_box(&bytes)).len()));
    group.finish();
}

fn digest(criterion: &mut Criterion) {
    let bytes = data::message(&data::field(data::LARGE), |object| object);
    let mut group = criterion.benchmark_group("digest");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("of an object, core", |bench| {
        let message = Message::parse(&bytes).unwrap();
        bench.iter(|| black_box(&message).object_frame(0).unwrap().verify_slot());
    });
    group.finish();
}

fn push(criterion: &mut Criterion) {
    let bytes = data::message(&data::field(data::LARGE), |object| object);
    let mut group = criterion.benchmark_group("push");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    for piece in [64, 1500, 65_536] {
        group.bench_function(format!("pieces of {piece} bytes"), |bench| {
            bench.iter(|| {
                let mut decoder = PushDecoder::<4096>::new(Link::Reliable);
                let mut events = 0;
                for mut piece in black_box(&bytes).chunks(piece) {
                    while decoder.next_event(&mut piece).unwrap().is_some() {
                        events += 1;
                    }
                }
                events
            });
        });
    }
    group.finish();
}
