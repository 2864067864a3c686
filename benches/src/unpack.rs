//! `simple_packing` to floating point, in a buffer that is warm.

use std::hint::black_box;

use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Spec, agreed, decode_into, first, reference};

/// The widths that weather data comes in.
const COMMON: [u32; 9] = [1, 4, 8, 10, 12, 16, 20, 24, 32];
/// Those that the goal names.
const NAMED: [u32; 5] = [8, 12, 16, 24, 32];

pub fn run(bench: &mut Bench) {
    let count = bench.size(4 << 20, 1 << 18);
    let field = data::field(count);
    let mut doubles = vec![0.0_f64; count];
    let mut singles = vec![0.0_f32; count];
    let (mut filled, mut filled_singles) = (doubles.clone(), singles.clone());

    for bits in 1..=32 {
        let (message, values) = agreed(&Spec::packed(count, bits), field.as_bytes());
        let object = first(&message);
        let stored = object.stored().expect("uncompressed");
        decode_into(&object, 1, doubles.as_mut_bytes());
        assert!(doubles.as_bytes() == values);
        stored.unpack_into(0, &mut singles).expect("unpacks");
        assert!(singles.iter().zip(&doubles).all(|(single, double)| *single == *double as f32));

        let case = Case::new(format!("{bits} bits to f64"))
            .bytes(8 * count)
            .row("us", || decode_into(black_box(&object), 1, doubles.as_mut_bytes()));
        let case = if COMMON.contains(&bits) { case.row("reference", || reference::object(&message, 0)) } else { case };
        let case = case.row("limit: fill", || black_box(&mut filled).fill(black_box(1.5)));
        let factor = if NAMED.contains(&bits) { 0.9 } else { 0.5 };
        bench.run(case.goal("P9", "us", Bound::Faster("limit: fill", factor)));

        if COMMON.contains(&bits) {
            let case = Case::new(format!("{bits} bits to f32"))
                .bytes(4 * count)
                .row("us", || stored.unpack_into(0, black_box(&mut singles)))
                .row("us, to f64", || stored.unpack_into(0, black_box(&mut doubles)))
                .row("limit: fill", || black_box(&mut filled_singles).fill(black_box(1.5)));
            let case =
                if NAMED.contains(&bits) { case.goal("P9", "us", Bound::Faster("us, to f64", 1.6)) } else { case };
            bench.run(case);
        }
    }
}
