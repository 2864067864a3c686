//! What a second thread brings, for each stage that several threads share, by the wall clock.

use std::hint::black_box;

use ciborium::Value;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, decode_into, encode_into, first, ours};

/// How much faster two threads are to be than one.
const GOAL: f64 = 1.8;

pub fn run(bench: &mut Bench) {
    let count = bench.size(4 << 20, 1 << 17);
    let (doubles, singles) = (data::field(count), data::field_f32(2 * count));
    let zfp = [("zfp_mode", Value::from("fixed_rate")), ("zfp_rate", Value::from(16.0))];
    let blosc2 = [("blosc2_codec", Value::from("lz4")), ("blosc2_clevel", Value::from(5))];
    let plain = || Spec::new(Dtype::Float32, 2 * count);
    let wide = || Spec::new(Dtype::Float64, count);
    limit(bench, 8 * count);
    compare_thread_counts(bench, "simple_packing, 16 bits", &Spec::packed(count, 16), doubles.as_bytes());
    compare_thread_counts(bench, "simple_packing, 12 bits", &Spec::packed(count, 12), doubles.as_bytes());
    compare_thread_counts(bench, "szip, 16 bits", &Spec::packed(count, 16).szip(), doubles.as_bytes());
    compare_thread_counts(bench, "shuffle", &Spec { shuffle: Some(4), ..plain() }, singles.as_bytes());
    let swapped: Vec<u8> = singles.iter().flat_map(|value| value.to_be_bytes()).collect();
    compare_thread_counts(bench, "big-endian", &Spec { big: true, ..plain() }, &swapped);
    compare_thread_counts(bench, "zfp", &wide().compressed("zfp", &zfp), doubles.as_bytes());
    compare_thread_counts(bench, "blosc2", &plain().compressed("blosc2", &blosc2), singles.as_bytes());
}

/// What two threads bring where memory alone is the limit: filling a buffer, and copying one.
fn limit(bench: &mut Bench, len: usize) {
    let (mut one, mut two) = (vec![1_u8; len], vec![2_u8; len]);
    let from = vec![3_u8; len];
    let case = Case::new(format!("memcpy, {} MiB", len >> 20))
        .wall()
        .bytes(len)
        .row("1 thread", || black_box(&mut one).copy_from_slice(black_box(&from)))
        .row("2 threads", || {
            let (front, back) = black_box(&mut two).split_at_mut(len / 2);
            let (from_front, from_back) = from.split_at(len / 2);
            std::thread::scope(|scope| {
                scope.spawn(|| back.copy_from_slice(from_back));
                front.copy_from_slice(from_front);
            });
        });
    bench.run(case);
}

/// Decodes and encodes a message of one object.
fn compare_thread_counts(bench: &mut Bench, name: &str, spec: &Spec, data: &[u8]) {
    let message = ours::encode_one(spec, data);
    let object = first(&message);
    let (mut one, mut two) = (vec![1; data.len()], vec![2; data.len()]);
    decode_into(&object, 1, &mut one);
    decode_into(&object, 2, &mut two);
    assert!(one == two, "{name}");
    let case = Case::new(format!("{name}, {} MiB, decoded", data.len() >> 20))
        .wall()
        .bytes(data.len())
        .row("us, 1 thread", || decode_into(black_box(&object), 1, &mut one))
        .row("us, 2 threads", || decode_into(black_box(&object), 2, &mut two))
        .goal("P22", "us, 2 threads", Bound::Faster("us, 1 thread", GOAL));
    bench.run(case);

    let options = |threads| ours::EncodeOptions { hashing: false, threads, ..Default::default() };
    let (of_one, of_two) = (options(1), options(2));
    assert!(ours::encode_with(spec, data, &of_one).len() == ours::encode_with(spec, data, &of_two).len(), "{name}");
    let (mut kept, mut kept_of_two) = (Vec::new(), Vec::new());
    let case = Case::new(format!("{name}, {} MiB, encoded, no digest", data.len() >> 20))
        .wall()
        .bytes(data.len())
        .row("us, 1 thread", || encode_into(spec, black_box(data), &of_one, &mut kept))
        .row("us, 2 threads", || encode_into(spec, black_box(data), &of_two, &mut kept_of_two))
        .goal("P22", "us, 2 threads", Bound::Faster("us, 1 thread", GOAL));
    bench.run(case);
}
