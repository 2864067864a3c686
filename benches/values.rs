//! From payload to values, beside filling the same output.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench is a program of its own, on data that is known")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tgm_core::byteswap::swap_into;
use tgm_core::descriptor::ByteOrder;
use tgm_core::hash::digest;
use tgm_core::packing::{Packing, unpack_into};
use tgm_core::shuffle::unshuffle_into;
use tgm_core::tensor::{Shape, TensorView};

/// Values of one field.
const COUNT: usize = 1 << 20;

/// Eight bytes a value, without long repetitions.
fn pattern(modulus: u8) -> Vec<u8> {
    (0..modulus).map(|i| i.wrapping_mul(31) % modulus).cycle().take(8 * COUNT).collect()
}

fn unpack(c: &mut Criterion) {
    let mut group = c.benchmark_group("unpack/out=f64/n=1Mi");
    group.throughput(Throughput::Bytes(8 * COUNT as u64));
    let packed: Vec<u8> = pattern(251);
    let mut out = vec![0.0_f64; COUNT];
    for bits_per_value in [8, 12, 16, 24, 32] {
        let packing =
            Packing { reference_value: 273.15, binary_scale_factor: -9, decimal_scale_factor: 0, bits_per_value };
        group.bench_function(BenchmarkId::from_parameter(format!("bits={bits_per_value}")), |b| {
            b.iter(|| unpack_into(black_box(&packed), &packing, 0, black_box(&mut out)).unwrap());
        });
    }
    group.bench_function("limit: fill", |b| b.iter(|| black_box(&mut out).fill(black_box(1.5))));
    group.finish();
}

fn bytes(c: &mut Criterion) {
    let source: Vec<u8> = pattern(251);
    let mut out = vec![0_u8; source.len()];
    let mut group = c.benchmark_group("bytes/8MiB");
    group.throughput(Throughput::Bytes(source.len() as u64));
    for unit in [2, 4, 8] {
        group.bench_function(BenchmarkId::new("swap", unit), |b| {
            b.iter(|| swap_into(black_box(&source), unit, &mut out).unwrap());
        });
        group.bench_function(BenchmarkId::new("unshuffle", unit), |b| {
            b.iter(|| unshuffle_into(black_box(&source), unit as u64, &mut out).unwrap());
        });
    }
    group.bench_function("digest", |b| b.iter(|| digest(black_box(&source))));
    group.bench_function("limit: memcpy", |b| b.iter(|| out.copy_from_slice(black_box(&source))));
    group.finish();
}

fn view(c: &mut Criterion) {
    let dims = [COUNT as u64];
    let bytes: Vec<u8> = pattern(127);
    let mut group = c.benchmark_group("sum/f64/n=1Mi");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let view = TensorView::<f64>::new(&bytes, order, Shape::from(&dims[..])).unwrap();
        group.bench_function(BenchmarkId::new("view", order), |b| b.iter(|| black_box(view).iter().sum::<f64>()));
    }
    let plain = vec![1.5_f64; COUNT];
    group.bench_function("limit: slice", |b| b.iter(|| black_box(&plain).iter().sum::<f64>()));
    group.finish();
}

criterion_group!(benches, unpack, bytes, view);
criterion_main!(benches);
