//! Unpacking of `simple_packing` into a warm buffer.

use std::hint::black_box;

use tgm_codec::kernels::packing::unpack_into;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Spec, agreed, decode_into, first, reference};

/// The widths that weather data comes in.
const COMMON: [u32; 9] = [1, 4, 8, 10, 12, 16, 20, 24, 32];
/// The widths that the goal names.
const NAMED: [u32; 5] = [8, 12, 16, 24, 32];

pub fn run(bench: &mut Bench) {
    // The first size fits the cache and shows the kernel; the second one goes through memory.
    of_count(bench, 1 << 16, COMMON.into_iter(), false);
    let count = bench.size(4 << 20, 1 << 18);
    of_count(bench, count, 1..=32, true);
}

fn of_count(bench: &mut Bench, count: usize, widths: impl Iterator<Item = u32>, judged: bool) {
    let field = data::field(count);
    let mut doubles = vec![0.0_f64; count];
    let mut singles = vec![0.0_f32; count];
    let (mut filled, mut filled_singles) = (doubles.clone(), singles.clone());
    let size = crate::harness::bytes(8.0 * count as f64);

    for bits in widths {
        let (message, values) = agreed(&Spec::packed(count, bits), field.as_bytes());
        let object = first(&message);
        decode_into(&object, 1, doubles.as_mut_bytes());
        assert!(doubles.as_bytes() == values);
        let packing = object.descriptor().packing().expect("packed");
        unpack_into(object.payload(), &packing, 0, &mut singles).expect("unpacks");
        assert!(singles.iter().zip(&doubles).all(|(single, double)| *single == *double as f32));

        let mut case = Case::new(format!("{bits} bits to {size} of f64"))
            .bytes(8 * count)
            .row("us", || decode_into(black_box(&object), 1, doubles.as_mut_bytes()))
            .row("limit: fill", || black_box(&mut filled).fill(black_box(1.5)));
        if COMMON.contains(&bits) {
            case = case.row("reference", || reference::object(&message, 0));
        }
        if judged {
            let factor = if NAMED.contains(&bits) { 0.9 } else { 0.5 };
            case = case.goal("P9", "us", Bound::Faster("limit: fill", factor));
        }
        bench.run(case);

        if COMMON.contains(&bits) {
            let mut case = Case::new(format!("{bits} bits to {size} of f64, or as many f32"))
                .bytes(4 * count)
                .row("us, to f32", || unpack_into(object.payload(), &packing, 0, black_box(&mut singles)))
                .row("us, to f64", || unpack_into(object.payload(), &packing, 0, black_box(&mut doubles)))
                .row("limit: fill of f32", || black_box(&mut filled_singles).fill(black_box(1.5)));
            if judged && NAMED.contains(&bits) {
                case = case.goal("P9", "us, to f32", Bound::Faster("us, to f64", 1.6));
            }
            bench.run(case);
        }
    }
}
