//! Parts of objects in each codec: many ranges at once, and boxes of three dimensions, beside their share of decoding the whole.
//!
//! A part's share of the whole is counted in blocks that the codec decodes together: one value, four values of zfp, a block
//! of blosc2, an interval of szip, or all values.

use std::hint::black_box;
use std::ops::Range;

use tgm_core::descriptor::ZfpMode;
use tgm_core::selection::Pick;

use crate::Bench;
use crate::c;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{decode_into, first, ours};
use tgm_std::options::Blosc2Codec;

/// Ranges of the first case, and values in each.
const RANGES: usize = 640;
const VALUES: usize = 64;
/// What a part may take of its share of the whole.
const OF_RANGES: f64 = 1.2;
const OF_A_BOX: f64 = 1.3;

/// A message in one codec, and how many values the codec decodes together.
struct Stored {
    name: &'static str,
    block: usize,
    message: Vec<u8>,
}

pub fn run(bench: &mut Bench) {
    ranges(bench);
    boxes(bench);
}

/// 640 ranges of 64 values each, evenly over an object of 2 Mi values.
fn ranges(bench: &mut Bench) {
    let count = bench.size(2 << 20, 1 << 17);
    let step = count / RANGES;
    let wanted: Vec<(u64, u64)> =
        (0..RANGES).map(|range| ((range * step + range % (step - VALUES)) as u64, VALUES as u64)).collect();
    for stored in messages(&[count as u64]) {
        let touched = blocks(&stored, wanted.iter().map(|&(start, len)| start as usize..(start + len) as usize));
        let object = first(&stored.message);
        let options = ours::DecodeOptions::default();
        let (mut part, mut whole) = (vec![1; 8 * RANGES * VALUES], vec![2; 8 * count]);
        let mut scratch = ours::Scratch::default();
        ours::read(&object).ranges(&wanted).options(&options).scratch(&mut scratch).bytes_into(&mut part).expect("decodes");
        decode_into(&object, 1, &mut whole);
        for (&(start, _), part) in wanted.iter().zip(part.chunks(8 * VALUES)) {
            assert!(part == &whole[8 * start as usize..][..part.len()]);
        }
        let share = touched as f64 / count as f64;
        let case =
            Case::new(format!("{RANGES} x {VALUES} of {count}, {}: {:.0} % in blocks", stored.name, 100.0 * share))
                .bytes(part.len())
                .row("us", || ours::read(black_box(&object)).ranges(&wanted).options(&options).scratch(&mut scratch).bytes_into(&mut part))
                .row("us, the whole", || decode_into(black_box(&object), 1, &mut whole))
                .goal("P17", "us", Bound::Within("us, the whole", OF_RANGES * share));
        bench.run(case);
    }
}

/// A tenth of an object of 64 x 256 x 256 values, along each dimension.
fn boxes(bench: &mut Bench) {
    let shape = [64, 256, 256].map(|size| bench.size(size, size / 4));
    let count: usize = shape.iter().product();
    for stored in messages(&shape.map(|size| size as u64)) {
        for (dimension, direction) in ["first", "second", "third"].into_iter().enumerate() {
            let mut picked = shape.map(|size| 0..size);
            picked[dimension] = shape[dimension] / 3..shape[dimension] / 3 + shape[dimension].div_ceil(10);
            let runs = || {
                let [planes, rows, columns] = picked.clone();
                planes.flat_map(move |plane| {
                    let columns = columns.clone();
                    rows.clone().map(move |row| {
                        let start = (plane * shape[1] + row) * shape[2];
                        start + columns.start..start + columns.end
                    })
                })
            };
            let touched = blocks(&stored, runs());
            let picks = picked.clone().map(|range| Pick::from(range.start as u64..range.end as u64));
            let object = first(&stored.message);
            let options = ours::DecodeOptions::default();
            let (mut part, mut whole) = (vec![1; 8 * runs().map(|run| run.len()).sum::<usize>()], vec![2; 8 * count]);
            let mut scratch = ours::Scratch::default();
            ours::read(&object).select(&picks).options(&options).scratch(&mut scratch).bytes_into(&mut part).expect("decodes");
            decode_into(&object, 1, &mut whole);
            for (run, part) in runs().zip(part.chunks(8 * picked[2].len())) {
                assert!(part == &whole[8 * run.start..8 * run.end]);
            }
            let fraction = touched as f64 / count as f64;
            let name =
                format!("a tenth of the {direction} of three, {}: {:.0} % in blocks", stored.name, 100.0 * fraction);
            let case = Case::new(name)
                .bytes(part.len())
                .row("us", || ours::read(black_box(&object)).select(&picks).options(&options).scratch(&mut scratch).bytes_into(&mut part))
                .row("us, the whole", || decode_into(black_box(&object), 1, &mut whole))
                .goal("P18", "us", Bound::Within("us, the whole", OF_A_BOX * fraction));
            bench.run(case);
        }
    }
}

/// How many values the codec decodes for these runs of values, which are in order.
fn blocks(stored: &Stored, runs: impl Iterator<Item = Range<usize>>) -> usize {
    let (mut touched, mut end) = (0, 0);
    for run in runs {
        let from = run.start / stored.block;
        let to = run.end.div_ceil(stored.block);
        touched += to - end.clamp(from, to);
        end = to;
    }
    touched * stored.block
}

/// An object of `shape` in each codec.
fn messages(shape: &[u64]) -> Vec<Stored> {
    let count = shape.iter().product::<u64>() as usize;
    let values = data::field(count);
    let plain = || ours::ObjectBuilder::new(shape, &values).expect("as many as the shape says");
    let stored = |name, block, object| {
        let message = ours::MessageBuilder::new().object(object).encode().expect("encodes");
        Stored { name, block, message }
    };
    let mut blosc2 = stored("blosc2", count, plain().blosc2(Blosc2Codec::Lz4, 5));
    blosc2.block = c::Blosc2::open(first(&blosc2.message).payload()).block(8);
    vec![
        stored("none", 1, plain()),
        stored("12 bits", 1, plain().simple_packing(12)),
        stored("16 bits", 1, plain().simple_packing(16)),
        stored("szip, 16 bits", 32 * 128, plain().simple_packing(16).szip()),
        stored("zfp, 16 bits a value", 4, plain().zfp(ZfpMode::FixedRate(16.0))),
        blosc2,
        stored("zstd", count, plain().zstd(3)),
        stored("shuffle, lz4", count, plain().shuffle().lz4()),
    ]
}
