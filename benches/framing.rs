//! Opening messages and finding things in them, beside a general CBOR decoder and beside touching the same bytes.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench is a program of its own, on data that is known")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tgm_core::Message;
use tgm_core::descriptor::Descriptor;
use tgm_core::scan::scan;

/// 100 or so objects, with a header index.
const MANY: &[u8] = include_bytes!("../tests/data/many/objects.tgm");
/// Three real-sized fields.
const SURFACE: &[u8] = include_bytes!("../tests/data/realistic/surface-181x360.tgm");

fn message(c: &mut Criterion) {
    let mut group = c.benchmark_group("message");
    let message = Message::parse(MANY).unwrap();
    let last = message.objects().count() - 1;
    group.bench_function("parse", |b| b.iter(|| Message::parse(black_box(MANY)).unwrap().total_length()));
    group.bench_function(BenchmarkId::new("object/index", last), |b| {
        b.iter(|| black_box(&message).object_frame(last).unwrap().offset());
    });
    group.bench_function(BenchmarkId::new("object/walk", last), |b| {
        let objects = || black_box(&message).frames().map(Result::unwrap).filter(|f| f.frame_type().is_data_object());
        b.iter(|| objects().nth(last).unwrap().offset());
    });
    group.bench_function("object/one", |b| {
        b.iter(|| Message::parse(black_box(SURFACE)).unwrap().object(0).unwrap().payload().len());
    });
    group.finish();
}

fn cbor(c: &mut Criterion) {
    let object = Message::parse(SURFACE).unwrap().object(0).unwrap();
    let descriptor = object.descriptor().as_encoded();
    let mut group = c.benchmark_group(format!("descriptor/bytes={}", descriptor.len()));
    group.throughput(Throughput::Bytes(descriptor.len() as u64));
    group.bench_function("view", |b| b.iter(|| Descriptor::parse(black_box(descriptor), 0).unwrap().element_count()));
    group.bench_function("peer: ciborium value", |b| {
        b.iter(|| ciborium::from_reader::<ciborium::Value, _>(black_box(descriptor)).unwrap());
    });
    group.bench_function("limit: read every byte", |b| b.iter(|| black_box(descriptor).iter().fold(0, |x, y| x ^ y)));
    group.finish();

    let metadata = Message::parse(SURFACE).unwrap().first_metadata().unwrap();
    let encoded = metadata.as_encoded();
    let mut group = c.benchmark_group(format!("metadata/bytes={}", encoded.len()));
    group.throughput(Throughput::Bytes(encoded.len() as u64));
    let message = Message::parse(SURFACE).unwrap();
    let merged = message.metadata().unwrap();
    group.bench_function("lookup", |b| b.iter(|| merged.get_at(1, black_box("mars.param")).unwrap().unwrap().kind()));
    group.bench_function("open and lookup", |b| {
        b.iter(|| black_box(&message).metadata().unwrap().get_at(1, "mars.param").unwrap().unwrap().kind());
    });
    group.bench_function("peer: ciborium value", |b| {
        b.iter(|| ciborium::from_reader::<ciborium::Value, _>(black_box(encoded)).unwrap());
    });
    group.finish();
}

fn scanning(c: &mut Criterion) {
    let mut group = c.benchmark_group("scan");
    let row = SURFACE.repeat(64);
    group.bench_function("messages=64", |b| b.iter(|| scan(black_box(&row)).count()));
    let junk = vec![b'T'; 1 << 20];
    group.throughput(Throughput::Bytes(1 << 20));
    group.bench_function("junk=1MiB", |b| b.iter(|| scan(black_box(&junk)).count()));
    group.bench_function("limit: read every byte", |b| b.iter(|| black_box(&junk).iter().fold(0, |x, y| x ^ y)));
    group.finish();
}

criterion_group!(benches, message, cbor, scanning);
criterion_main!(benches);
