//! What we add to the cost of compression libraries, into warm buffers and in whole messages.

use std::hint::black_box;
use std::io::Write as _;

use ciborium::Value;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::c;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, decode_into, encode_into, first, ours, reference};

/// zfp's bits per value.
const RATE: f64 = 16.0;
/// zstd's default level.
const LEVEL: i32 = 3;

pub fn run(bench: &mut Bench) {
    let count = bench.size(4 << 20, 1 << 17);
    let singles = data::field_f32(count);
    let doubles = data::field(count / 2);
    zstd(bench, &singles);
    zstd_of_packed(bench, &doubles);
    lz4(bench, &singles);
    blosc2(bench, &singles);
    zfp(bench, &doubles);
    if cfg!(feature = "sz3") {
        sz3(bench, &doubles);
    }
}

/// A message, and its values as we decode them into a warm buffer, which must be `expected`.
fn message(spec: &Spec, data: &[u8], expected: Option<&[u8]>) -> (Vec<u8>, Vec<u8>) {
    let message = ours::encode_one(spec, data);
    let mut warm = vec![1; data.len()];
    decode_into(&first(&message), 1, &mut warm);
    assert!(expected.is_none_or(|expected| warm == expected), "{spec:?}");
    if spec.compression != "blosc2" {
        assert!(reference::object(&message, 0) == warm, "{spec:?}");
    }
    (message, warm)
}

/// Decodes a message in all ways; `alone` is the library's own work.
fn decode<'a>(bench: &mut Bench, name: &str, message: &'a [u8], alone: (&'static str, impl FnMut() + 'a)) {
    let object = first(message);
    let options = ours::DecodeOptions::default();
    let len = ours::read(&object).options(&options).bytes().expect("decodes").len();
    let mut warm = vec![1; len];
    let mut case = Case::new(format!("{name}, decoded"))
        .bytes(len)
        .row("us, into a warm buffer", || decode_into(black_box(&object), 1, &mut warm))
        .row("us, values", || ours::read(black_box(&object)).options(&options).bytes().expect("decodes").len());
    if name != "blosc2" {
        case = case.row("reference", || reference::object(black_box(message), 0));
    }
    let (library, alone) = alone;
    let case = case
        .row(library, alone)
        .goal("P14", "us, into a warm buffer", Bound::Within(library, 1.03))
        .goal("P14", "us, into a warm buffer", Bound::Allocations(0))
        .goal("P14", "us, values", Bound::Allocations(1));
    bench.run(if name == "zfp" {
        case.goal("P22", "us, into a warm buffer", Bound::Faster(library, 1.5))
    } else {
        case
    });
}

/// Encodes messages without digests; `alone` is the library's own work.
fn encode<'a>(bench: &mut Bench, name: &str, spec: &'a Spec, data: &'a [u8], alone: (&'static str, impl FnMut() + 'a)) {
    let ours_of = ours::EncodeOptions { hashing: false, ..Default::default() };
    let theirs = reference::EncodeOptions { hashing: false, ..Default::default() };
    let mut kept = Vec::new();
    let mut case = Case::new(format!("{name}, encoded, no digest"))
        .bytes(data.len())
        .row("us", || ours::encode_with(spec, black_box(data), &ours_of))
        .row("us, into a warm buffer", || encode_into(spec, black_box(data), &ours_of, &mut kept));
    if name != "blosc2" {
        case = case.row("reference", || reference::encode_with(spec, black_box(data), &theirs));
    }
    let (library, alone) = alone;
    let mut case = case.row(library, alone).goal("P14", "us", Bound::Within(library, 1.03));
    if name == "zfp" {
        case = case.goal("P22", "us", Bound::Faster(library, 1.5));
    }
    bench.run(case);
}

fn zstd(bench: &mut Bench, values: &[f32]) {
    let data = values.as_bytes();
    let spec = Spec::new(Dtype::Float32, values.len()).compressed("zstd", &[("zstd_level", Value::from(LEVEL))]);
    let (message, mut warm) = message(&spec, data, Some(data));
    let payload = first(&message).payload();
    let mut decompressor = zstd::bulk::Decompressor::new().expect("a context");
    decode(
        bench,
        "zstd",
        &message,
        ("libzstd, warm", || {
            decompressor.decompress_to_buffer(black_box(payload), &mut warm).expect("decompresses");
        }),
    );
    encode(
        bench,
        "zstd",
        &spec,
        data,
        ("libzstd", || {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL).expect("a context");
            encoder.write_all(black_box(data)).expect("compresses");
            black_box(encoder.finish().expect("compresses"));
        }),
    );
}

/// Packed values, compressed: what decompressing and unpacking take by themselves, and both together.
fn zstd_of_packed(bench: &mut Bench, values: &[f64]) {
    let level = [("zstd_level", Value::from(LEVEL))];
    let spec = Spec::packed(values.len(), 16).compressed("zstd", &level);
    let (message, mut warm) = message(&spec, values.as_bytes(), None);
    let plain = ours::encode_one(&Spec::packed(values.len(), 16), values.as_bytes());
    let (object, plain) = (first(&message), first(&plain));
    let payload = object.payload();
    let mut packed = vec![1; plain.payload().len()];
    let mut decompressor = zstd::bulk::Decompressor::new().expect("a context");
    decompressor.decompress_to_buffer(payload, &mut packed).expect("decompresses");
    assert!(packed == plain.payload());
    let mut unpacked = warm.clone();
    let mut alone = (zstd::bulk::Decompressor::new().expect("a context"), packed.clone());
    let case = Case::new("zstd of 16 bits, decoded and unpacked")
        .bytes(warm.len())
        .row("us, into a warm buffer", || decode_into(black_box(&object), 1, &mut warm))
        .row("libzstd alone, then us", || {
            decompressor.decompress_to_buffer(black_box(payload), &mut packed).expect("decompresses");
            decode_into(black_box(&plain), 1, &mut unpacked);
        })
        .row("libzstd alone", || alone.0.decompress_to_buffer(black_box(payload), &mut alone.1).expect("decompresses"))
        .row("reference", || reference::object(black_box(&message), 0))
        .goal("P22", "us, into a warm buffer", Bound::Within("libzstd alone, then us", 1.0));
    bench.run(case);
}

fn lz4(bench: &mut Bench, values: &[f32]) {
    let data = values.as_bytes();
    let spec = Spec::new(Dtype::Float32, values.len()).compressed("lz4", &[]);
    let (message, mut warm) = message(&spec, data, Some(data));
    let block = &first(&message).payload()[4..];
    decode(
        bench,
        "lz4",
        &message,
        ("lz4_flex, warm", || {
            lz4_flex::block::decompress_into(black_box(block), &mut warm).expect("decompresses");
        }),
    );
    encode(
        bench,
        "lz4",
        &spec,
        data,
        ("lz4_flex", || {
            black_box(lz4_flex::block::compress_prepend_size(black_box(data)));
        }),
    );
}

fn blosc2(bench: &mut Bench, values: &[f32]) {
    let data = values.as_bytes();
    let parameters = [("blosc2_codec", Value::from("lz4")), ("blosc2_clevel", Value::from(5))];
    let spec = Spec::new(Dtype::Float32, values.len()).compressed("blosc2", &parameters);
    let (message, mut warm) = message(&spec, data, Some(data));
    let frame = c::Blosc2::open(first(&message).payload());
    frame.decompress(&mut warm);
    assert!(warm == data);
    decode(bench, "blosc2", &message, ("c-blosc2, warm", || frame.decompress(&mut warm)));
    let mut chunk = vec![1; data.len() + 32];
    encode(
        bench,
        "blosc2",
        &spec,
        data,
        ("c-blosc2, into a warm buffer", || {
            black_box(c::blosc2_compress(black_box(data), 4, &mut chunk));
        }),
    );
}

fn zfp(bench: &mut Bench, values: &[f64]) {
    let parameters = [("zfp_mode", Value::from("fixed_rate")), ("zfp_rate", Value::from(RATE))];
    let spec = Spec::new(Dtype::Float64, values.len()).compressed("zfp", &parameters);
    let (message, decoded) = message(&spec, values.as_bytes(), None);
    let mut words = vec![0_u64; values.len()];
    let used = c::zfp_compress(values, RATE, &mut words);
    assert!(words.as_bytes()[..used] == *first(&message).payload());
    let mut warm = vec![1.0_f64; values.len()];
    c::zfp_decompress(&mut words, RATE, &mut warm);
    assert!(warm.as_bytes() == decoded);
    decode(bench, "zfp", &message, ("zfp, warm", || c::zfp_decompress(&mut words, RATE, &mut warm)));
    let mut room = vec![0_u64; values.len()];
    encode(
        bench,
        "zfp",
        &spec,
        values.as_bytes(),
        ("zfp, into a warm buffer", || {
            black_box(c::zfp_compress(black_box(values), RATE, &mut room));
        }),
    );
}

/// There is no row for the library alone: no binding but the reference's is free to use.
fn sz3(bench: &mut Bench, values: &[f64]) {
    let parameters = [("sz3_error_bound_mode", Value::from("abs")), ("sz3_error_bound", Value::from(0.01))];
    let spec = Spec::new(Dtype::Float64, values.len()).compressed("sz3", &parameters);
    let (message, _) = message(&spec, values.as_bytes(), None);
    let object = first(&message);
    let mut warm = vec![1; 8 * values.len()];
    let case = Case::new("sz3, decoded")
        .bytes(warm.len())
        .row("us, into a warm buffer", || decode_into(black_box(&object), 1, &mut warm))
        .row("reference", || reference::object(black_box(&message), 0))
        .goal("P22", "us, into a warm buffer", Bound::Faster("reference", 1.5));
    bench.run(case);
    let case = Case::new("sz3, encoded")
        .bytes(8 * values.len())
        .row("us", || ours::encode_one(&spec, black_box(values.as_bytes())))
        .row("reference", || reference::encode_one(&spec, black_box(values.as_bytes())));
    bench.run(case);
}
