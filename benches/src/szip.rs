//! szip alone, and with unpacking in one pass, beside libaec on the same stream.

use std::hint::black_box;

use tgm_core::object::DataObject;
use tgm_core::szip::{Formula, Params, Start, decode_into as decode_samples, decode_packed_with, flags};
use zerocopy::IntoBytes;

use crate::Bench;
use crate::c::Aec;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Spec, agreed, decode_into, first, reference};

pub fn run(bench: &mut Bench) {
    let count = bench.size(10_000_000, 200_000);
    for (kind, values) in [("field", data::field(count)), ("noise", data::noise(count))] {
        for bits in [8, 16, 24, 32] {
            let (message, unpacked) = agreed(&Spec::packed(count, bits).szip(), values.as_bytes());
            one(bench, kind, bits, &message, &unpacked);
        }
    }
}

/// The stream's parameters, for core and for libaec.
pub fn parameters(object: &DataObject<'_>, bits: u32) -> (Params, Aec) {
    let szip = object.descriptor().szip().expect("parameters");
    let three = if (17..=24).contains(&bits) { flags::THREE_BYTES } else { 0 };
    let flags = szip.flags | flags::MSB | three;
    let params = Params::new(bits, szip.block_size, szip.rsi, flags).expect("parameters");
    (params, Aec { bits, block_size: szip.block_size, rsi: szip.rsi, flags })
}

fn one(bench: &mut Bench, kind: &str, bits: u32, message: &[u8], unpacked: &[u8]) {
    let object = first(message);
    let count = unpacked.len() / 8;
    let (params, aec) = parameters(&object, bits);
    let packing = object.descriptor().packing().expect("packed");
    let formula = Formula { reference: packing.reference_value, scale: packing.scale() };
    let samples = count * params.container_size();
    let (mut ours, mut theirs) = (vec![1; samples], vec![2; samples]);
    decode_samples(object.payload(), &params, &mut ours).expect("decodes");
    aec.decode(object.payload(), &mut theirs);
    assert!(ours == theirs);

    let case = Case::new(format!("{bits} bits, {kind}, decoded alone"))
        .bytes(samples)
        .row("us, core", || decode_samples(black_box(object.payload()), &params, &mut ours))
        .row("libaec alone", || aec.decode(black_box(object.payload()), &mut theirs));
    bench.run(case);

    let (mut a, mut b) = (vec![1.0_f64; count], vec![1.0_f64; count]);
    let mut singles = vec![1.0_f32; count];
    decode_into(&object, 1, a.as_mut_bytes());
    decode_packed_with(object.payload(), &params, Start::default(), formula, &mut b, |value| value).expect("decodes");
    decode_packed_with(object.payload(), &params, Start::default(), formula, &mut singles, |value| value as f32)
        .expect("decodes");
    assert!(a.as_bytes() == unpacked && b.as_bytes() == unpacked);
    assert!(singles.iter().zip(&a).all(|(single, double)| *single == *double as f32));

    let judged = kind == "field" && matches!(bits, 16 | 24);
    let mut case = Case::new(format!("{bits} bits, {kind}, decoded and unpacked"))
        .bytes(8 * count)
        .row("us", || decode_into(black_box(&object), 1, a.as_mut_bytes()))
        .row("us, core", || {
            decode_packed_with(object.payload(), &params, Start::default(), formula, black_box(&mut b), |value| value)
        })
        .row("us, core, to f32", || {
            let out = black_box(&mut singles);
            decode_packed_with(object.payload(), &params, Start::default(), formula, out, |value| value as f32)
        })
        .row("reference", || reference::object(black_box(message), 0))
        .row("libaec alone", || aec.decode(black_box(object.payload()), &mut theirs));
    if judged {
        let factor = if wide_vectors() { 4.5 } else { 1.8 };
        case = case.goal("P10", "us", Bound::Faster("libaec alone", factor)).goal(
            "P10",
            "us, core",
            Bound::Faster("libaec alone", 1.2),
        );
    }
    bench.run(case);

    if judged {
        let mut c = vec![1.0_f64; count];
        decode_into(&object, 2, c.as_mut_bytes());
        assert!(c.as_bytes() == unpacked);
        let two = reference::DecodeOptions { threads: 2, ..Default::default() };
        let case = Case::new(format!("{bits} bits, {kind}, decoded and unpacked, threads"))
            .wall()
            .bytes(8 * count)
            .row("us, 1 thread", || decode_into(black_box(&object), 1, a.as_mut_bytes()))
            .row("us, 2 threads", || decode_into(black_box(&object), 2, c.as_mut_bytes()))
            .row("reference, 2 threads", || reference::decode_object(black_box(message), 0, &two).expect("decodes").2)
            .goal("P10", "us, 2 threads", Bound::Faster("us, 1 thread", 1.8));
        bench.run(case);
    }
}

/// Whether the goal for AVX-512 applies.
fn wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx512bw");
    #[cfg(not(target_arch = "x86_64"))]
    false
}
