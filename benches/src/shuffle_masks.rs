//! Shuffle and its inverse, and masks of values that are not finite.

use std::hint::black_box;

use tgm_codec::kernels;
use tgm_core::shuffle::unshuffle_into;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::c;
use crate::data::{self, Rng};
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, decode_into, first, ours, reference};

pub fn run(bench: &mut Bench) {
    // In cache, where kernels differ, and through memory, where they wait.
    for len in [1 << 20, bench.size(64 << 20, 4 << 20)] {
        for size in [2, 4, 8] {
            shuffle(bench, len, size);
        }
    }
    // Values are missing in stretches, as in real fields, or one by one.
    for (percent, longest) in [(1, 200), (30, 200), (1, 1), (30, 1)] {
        masks(bench, percent, longest);
    }
}

fn shuffle(bench: &mut Bench, len: usize, size: i32) {
    let data = data::junk(len);
    let dtype = match size {
        2 => Dtype::Uint16,
        4 => Dtype::Float32,
        _ => Dtype::Float64,
    };
    let name = format!("{} MiB, elements of {size}", len >> 20);
    let [mut shuffled, mut ours_out, mut of_kernels, mut theirs, mut copied] =
        [1, 2, 3, 4, 5].map(|byte| vec![byte; len]);
    c::shuffle(&data, size, &mut shuffled);
    unshuffle_into(&shuffled, size as u64, &mut ours_out).expect("unshuffles");
    c::unshuffle(&shuffled, size, &mut theirs);
    kernels::shuffle::unshuffle_into(&shuffled, size as u64, &mut of_kernels).expect("unshuffles");
    assert!(ours_out == data && of_kernels == data && theirs == data);

    // Two bits are cleared in every second byte, so that all values are finite.
    let finite: Vec<u8> = data.chunks(2).flat_map(|pair| [pair[0], pair[1] & 0x3f]).collect();
    let spec = Spec { shuffle: Some(size as u64), ..Spec::new(dtype, len / size as usize) };
    let message = ours::encode_one(&spec, &finite);
    assert!(reference::object(&message, 0) == finite);
    let case = Case::new(format!("unshuffle, {name}"))
        .bytes(len)
        .row("us", || kernels::shuffle::unshuffle_into(black_box(&shuffled), size as u64, &mut of_kernels))
        .row("us, core", || unshuffle_into(black_box(&shuffled), size as u64, &mut ours_out))
        .row("c-blosc2", || c::unshuffle(black_box(&shuffled), size, &mut theirs))
        .row("reference, whole object", || reference::object(black_box(&message), 0))
        .row("limit: memcpy", || copied.copy_from_slice(black_box(&shuffled)))
        .goal("P15", "us", Bound::Faster("c-blosc2", 1.0));
    bench.run(case);

    let options = ours::EncodeOptions { hashing: false, ..Default::default() };
    let of_reference = reference::EncodeOptions { hashing: false, ..Default::default() };
    let plain = Spec { shuffle: None, ..spec.clone() };
    let case = Case::new(format!("shuffle, {name}, whole message, no digest"))
        .bytes(len)
        .row("us", || ours::encode_with(&spec, black_box(&finite), &options))
        .row("us, not shuffled", || ours::encode_with(&plain, black_box(&finite), &options))
        .row("reference", || reference::encode_with(&spec, black_box(&finite), &of_reference))
        .row("c-blosc2, fresh", || {
            let mut out = vec![0; len];
            c::shuffle(black_box(&finite), size, &mut out);
            out
        })
        .goal("P15", "us", Bound::Faster("c-blosc2, fresh", 1.0));
    bench.run(case);
}

/// `longest` is the greatest number of values in a row that are missing or are there.
fn masks(bench: &mut Bench, percent: usize, longest: usize) {
    let mut values = data::field_f32(bench.size(16 << 20, 1 << 18));
    let plain = values.clone();
    let mut rng = Rng::new(5);
    let mut at = 0;
    while at < values.len() {
        let run = 1 + rng.below(longest);
        if rng.below(100) < percent {
            let end = (at + run).min(values.len());
            values[at..end].fill(f32::NAN);
        }
        at += run;
    }
    let name = format!(
        "float32, {} MiB, {percent} % NaN{}",
        (4 * values.len()) >> 20,
        if longest > 1 { "" } else { " one by one" }
    );
    let spec = Spec::new(Dtype::Float32, values.len());
    let masked = ours::EncodeOptions { allow_nan: true, ..Default::default() };
    let message = ours::encode_with(&spec, values.as_bytes(), &masked);
    let without = ours::encode_one(&spec, plain.as_bytes());
    let (mut a, mut b) = (vec![1; 4 * values.len()], vec![2; 4 * values.len()]);
    decode_into(&first(&message), 1, &mut a);
    assert!(a == reference::object(&message, 0));

    let mut case = Case::new(format!("{name}, decoded"))
        .bytes(a.len())
        .row("us, into a warm buffer", || decode_into(&first(black_box(&message)), 1, &mut a))
        .row("us, no mask", || decode_into(&first(black_box(&without)), 1, &mut b))
        .row("us, decode_object", || ours::object(black_box(&message), 0))
        .row("reference", || reference::object(black_box(&message), 0));
    if percent == 1 && longest > 1 {
        case = case.goal("P15", "us, into a warm buffer", Bound::Within("us, no mask", 1.05));
    }
    bench.run(case);

    let of_reference = reference::EncodeOptions { allow_nan: true, ..Default::default() };
    let mut case = Case::new(format!("{name}, encoded"))
        .bytes(4 * values.len())
        .row("us", || ours::encode_with(&spec, black_box(values.as_bytes()), &masked))
        .row("us, no mask", || ours::encode_with(&spec, black_box(plain.as_bytes()), &masked))
        .row("reference", || reference::encode_with(&spec, black_box(values.as_bytes()), &of_reference));
    if percent == 1 && longest > 1 {
        case = case.goal("P15", "us", Bound::Within("us, no mask", 1.05));
    }
    bench.run(case);
}
