//! Some values out of many, at random places.

use std::hint::black_box;

use ciborium::Value;
use tgm_codec::kernels::decode_stored_into;
use tgm_codec::kernels::szip::decode_packed_into;
use tgm_codec::zfp::decompress_range;
use tgm_core::descriptor::{ByteOrder, ZfpMode};
use tgm_core::object::DataObject;
use tgm_core::selection::Pick;
use tgm_core::szip::{Formula, Start, decode_packed_with};
use zerocopy::IntoBytes;

use crate::Bench;
use crate::c;
use crate::data::{self, Rng};
use crate::harness::{Bound, Case};
use crate::libraries::{Spec, first, ours, reference};
use crate::szip::parameters;

/// Lengths of ranges, in elements.
const LENGTHS: [usize; 3] = [10, 1_000, 100_000];

pub fn run(bench: &mut Bench) {
    let values = data::field(bench.size(16 << 20, 1 << 18));
    let count = values.len();
    let bytes = values.as_bytes();
    let rate = [("zfp_mode", Value::from("fixed_rate")), ("zfp_rate", Value::from(16.0))];
    let blosc2 = [("blosc2_codec", Value::from("lz4")), ("blosc2_clevel", Value::from(5))];
    let doubles = Spec { dtype: crate::libraries::Dtype::Float64, packed: None, ..Spec::packed(count, 16) };

    let plain = ours::encode_one(&doubles, bytes);
    let packed = ours::encode_one(&Spec::packed(count, 16), bytes);
    let szip = ours::encode_one(&Spec::packed(count, 16).szip(), bytes);
    let zfp = ours::encode_one(&doubles.clone().compressed("zfp", &rate), bytes);
    let zstd = ours::encode_one(&doubles.clone().compressed("zstd", &[]), bytes);
    let blosc2 = ours::encode_one(&doubles.compressed("blosc2", &blosc2), bytes);
    for len in LENGTHS {
        without_compression(bench, "none", &plain, len, None);
        without_compression(bench, "16 bits", &packed, len, Some(600.0));
        of_szip(bench, &szip, len);
        of_zfp(bench, &zfp, len);
        of_blosc2(bench, &blosc2, len);
        of_zstd(bench, &zstd, len);
    }
    boxes(bench);
}

/// A box of 64 by 64 values out of a field of 2,048 by 2,048, beside the decoding of all of it.
fn boxes(bench: &mut Bench) {
    let side = bench.size(2048, 256) as u64;
    let values = data::field(usize::try_from(side * side).expect("fits"));
    let singles: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    let object = || ours::ObjectBuilder::new(&[side, side], &values).expect("as many as the shape says");
    for (name, object) in [
        ("float32", ours::ObjectBuilder::new(&[side, side], &singles).expect("as many as the shape says")),
        ("16 bits", object().simple_packing(16)),
        ("szip, 16 bits", object().simple_packing(16).szip()),
    ] {
        let message = ours::MessageBuilder::new().object(object).encode().expect("encodes");
        let object = first(&message);
        let width = object.descriptor().dtype().byte_width();
        let picks = [Pick::from(side / 2..side / 2 + 64), Pick::from(side / 3..side / 3 + 64)];
        let (mut part, mut whole) = (vec![1; 64 * 64 * width], vec![2; values.len() * width]);
        let (options, mut scratch, mut other) =
            (ours::DecodeOptions::default(), ours::Scratch::default(), ours::Scratch::default());
        ours::read(&object).select(&picks).options(&options).scratch(&mut scratch).bytes_into(&mut part).expect("decodes");
        ours::read(&object).options(&options).scratch(&mut other).bytes_into(&mut whole).expect("decodes");
        let row = usize::try_from(side / 2 * side + side / 3).expect("fits") * width;
        assert!(part[..64 * width] == whole[row..row + 64 * width]);
        let case = Case::new(format!("{name}, a box of 64 x 64 of {side} x {side}"))
            .bytes(64 * 64 * width)
            .row("us", || ours::read(black_box(&object)).select(&picks).options(&options).scratch(&mut scratch).bytes_into(&mut part))
            .row("us, the whole", || ours::read(black_box(&object)).options(&options).scratch(&mut other).bytes_into(&mut whole));
        bench.run(case);
    }
}

/// Random places.
fn places(object: &DataObject<'_>, len: usize) -> impl FnMut() -> usize + use<> {
    let (count, mut rng) = (object.descriptor().element_count() as usize, Rng::new(17));
    move || rng.below(count - len)
}

fn ours_of(object: &DataObject<'_>, start: usize, len: usize) -> Vec<u8> {
    let options = ours::DecodeOptions::default();
    ours::read(object).ranges(&[(start as u64, len as u64)]).options(&options).bytes().expect("decodes").into_owned()
}

fn theirs_of(message: &[u8], start: usize, len: usize) -> Vec<u8> {
    let options = reference::DecodeOptions::default();
    reference::decode_range(message, 0, &[(start as u64, len as u64)], &options).expect("decodes").1.remove(0)
}

/// The rows that all cases have. The answers are compared at some places first.
fn case<'a>(name: &str, message: &'a [u8], object: &'a DataObject<'a>, len: usize, peer: bool) -> Case<'a> {
    let mut place = places(object, len);
    for _ in 0..3 {
        let start = place();
        assert!(!peer || ours_of(object, start, len) == theirs_of(message, start, len));
    }
    let (mut a, mut b, mut c) = (places(object, len), places(object, len), places(object, len));
    let case = Case::new(format!("{name}, {len} elements of {}", object.descriptor().element_count()))
        .bytes(8 * len)
        .row("us", move || ours_of(object, a(), len))
        .row("us, decode_range", move || {
            let options = ours::DecodeOptions::default();
            ours::decode_range(black_box(message), 0, &[(b() as u64, len as u64)], &options).expect("decodes")
        });
    if peer { case.row("reference", move || theirs_of(black_box(message), c(), len)) } else { case }
}

fn without_compression(bench: &mut Bench, name: &str, message: &[u8], len: usize, goal: Option<f64>) {
    let object = first(message);
    let (mut place, mut warm) = (places(&object, len), vec![1; 8 * len]);
    let (mut other, mut fast) = (places(&object, len), vec![1; 8 * len]);
    let mut decode_fast = |start: u64| {
        let stored = black_box(&object).stored().expect("needs no decompression");
        decode_stored_into(&stored, start..start + len as u64, ByteOrder::NATIVE, black_box(&mut fast))
            .expect("decodes");
        fast[0]
    };
    let start = other();
    assert_eq!(decode_fast(start as u64), ours_of(&object, start, len)[0]);
    let case = case(name, message, &object, len, true)
        .row("us, into a warm buffer", || decode_fast(other() as u64))
        .row("us, core, into a warm buffer", || {
            let start = place() as u64;
            object.decode_into(start..start + len as u64, ByteOrder::NATIVE, black_box(&mut warm))
        });
    bench.run(match goal {
        Some(nanos) if len == 1_000 => {
            case.goal("P11", "us, into a warm buffer", Bound::Nanos(nanos)).goal("P11", "us", Bound::Nanos(nanos))
        }
        _ => case,
    });
}

fn of_szip(bench: &mut Bench, message: &[u8], len: usize) {
    let object = first(message);
    let (params, _) = parameters(&object, 16);
    let packing = object.descriptor().packing().expect("packed");
    let formula = Formula { reference: packing.reference_value, scale: packing.scale() };
    let stored = object.descriptor().szip_block_offsets().expect("numbers").expect("they are written");
    let offsets: Vec<u64> = stored.iter().collect();
    let interval = params.samples_per_rsi().get() as usize;
    let mut warm = vec![1.0_f64; len];
    let mut decode = |start: usize| {
        let start = Start { bit_offset: offsets[start / interval], skip: (start % interval) as u64 };
        decode_packed_with(object.payload(), &params, start, formula, &mut warm, |value| value).expect("decodes");
        warm[0]
    };
    let mut fast = vec![1.0_f64; len];
    let mut decode_fast = |start: usize| {
        let start = Start { bit_offset: offsets[start / interval], skip: (start % interval) as u64 };
        decode_packed_into(object.payload(), &params, start, formula, &mut fast).expect("decodes");
        fast[0]
    };
    let (mut place, mut other) = (places(&object, len), places(&object, len));
    let start = place();
    assert_eq!(decode(start).to_ne_bytes(), ours_of(&object, start, len)[..8]);
    assert_eq!(decode_fast(other()).to_ne_bytes(), ours_of(&object, start, len)[..8]);
    let case = case("szip, 16 bits", message, &object, len, true)
        .row("us, offsets at hand", || decode_fast(other()))
        .row("us, core, offsets at hand", || decode(place()));
    bench.run(if len == 1_000 {
        case.goal("P11", "us, offsets at hand", Bound::Nanos(5_000.0)).goal("P11", "us", Bound::Nanos(25_000.0))
    } else {
        case
    });
}

fn of_zfp(bench: &mut Bench, message: &[u8], len: usize) {
    let object = first(message);
    let (count, mode) = (object.descriptor().element_count(), ZfpMode::FixedRate(16.0));
    let (mut place, mut warm) = (places(&object, len), vec![1.0_f64; len]);
    let case = case("zfp, 16 bits a value", message, &object, len, true).row("us, into a warm buffer", || {
        decompress_range(object.payload(), mode, count, place() as u64, black_box(&mut warm))
    });
    bench.run(if len == 1_000 { case.goal("P11", "us", Bound::Nanos(35_000.0)) } else { case });
}

fn of_blosc2(bench: &mut Bench, message: &[u8], len: usize) {
    let object = first(message);
    let frame = c::Blosc2::open(object.payload());
    let (mut place, mut warm) = (places(&object, len), vec![1; 8 * len]);
    let start = place();
    frame.slice(start, 8, &mut warm);
    assert!(warm == ours_of(&object, start, len));
    let case = case("blosc2", message, &object, len, false)
        .row("c-blosc2, into a warm buffer", || frame.slice(place(), 8, black_box(&mut warm)));
    bench.run(if len == 1_000 { case.goal("P11", "us", Bound::Nanos(75_000.0)) } else { case });
}

/// The reference refuses ranges of zstd.
fn of_zstd(bench: &mut Bench, message: &[u8], len: usize) {
    let object = first(message);
    bench.run(case("zstd", message, &object, len, false));
}
