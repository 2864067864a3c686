//! sz3: golden files, one sample of each kind of container, and all sorts of damage.

use std::fs;

use proptest::prelude::*;
use tgm_core::Message;
use twox_hash::XxHash3_64;

use super::samples::{SAMPLES, Sample};
use super::*;
use crate::codecs::sz3::Sz3;
use crate::codecs::{Codec as _, ErrorBound};

/// Files of `tests/data` with the digest (XXH3-64, little-endian bytes) of what the reference decodes them to; the
/// sidecars' SHA-256 say the same.
const GOLDEN: [(&str, u64); 18] = [
    ("malformed-bases/sz3", 0x6313_d881_1ca9_ef6d),
    ("masks/with-sz3", 0x0f0e_2984_1c5f_61c5),
    ("quirks/sz3-big-endian", 0x9fc9_8fec_970d_2fc3),
    ("ranges/unsupported-sz3", 0xb42a_6305_6611_436a),
    ("sz3/abs-0.01-1", 0xe0c3_c2be_f392_f8ef),
    ("sz3/abs-1e-05-2", 0x2f32_eb9c_0302_c286),
    ("sz3/constant", 0x7f68_85a0_bace_42d1),
    ("sz3/psnr-60.0-4", 0x6b2d_e015_eb48_5ea4),
    ("sz3/random-incompressible", 0xa1ed_1464_602c_063e),
    ("sz3/rel-0.001-3", 0x8dec_acd6_a3f7_9608),
    ("sz3/shape-2d", 0xbef4_8cdc_9303_4004),
    ("sz3/shape-3d", 0xf8f8_edde_2a54_228a),
    ("versions/0.19.0/sz3", 0x6389_9391_941a_eb7d),
    ("versions/0.20.0/sz3", 0x63da_e3e5_4961_b029),
    ("versions/0.21.0/sz3", 0x07ae_10f8_5b49_4e2f),
    ("versions/0.22.0/sz3", 0x4ac9_ca7f_6c3f_d9d5),
    ("versions/0.23.0/sz3", 0x8e09_dfcd_3b87_f987),
    ("versions/0.24.0/sz3", 0x0852_4ad8_6d9a_639e),
];

/// Bytes before the frame: magic, version, body length, raw length.
const HEAD: usize = 4 + 4 + 8 + 8;
/// Bytes of the trailer after the number of values: algorithm, kind of bound, bound, flags, type, bins, block size and
/// dimension of prediction.
const TAIL: usize = 1 + 1 + 8 + 1 + 1 + 4 + 4 + 1;

fn payload(sample: &Sample) -> Vec<u8> {
    let digits: Vec<u8> = sample.hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.as_chunks().0.iter().map(byte).collect()
}

fn sample(kind: &str) -> (Vec<u8>, usize) {
    let sample = SAMPLES.iter().find(|sample| sample.kind.starts_with(kind)).unwrap();
    (payload(sample), sample.count)
}

fn file(name: &str) -> Vec<u8> {
    fs::read(format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/{}.tgm"), name)).unwrap()
}

/// The bits of the values.
fn decompressed(payload: &[u8], count: usize) -> Result<Vec<u64>, CodecError> {
    let mut out = vec![f64::NAN; count];
    decompress_values(payload, &mut out)?;
    Ok(out.into_iter().map(f64::to_bits).collect())
}

fn digest(values: &[u64]) -> u64 {
    XxHash3_64::oneshot(values.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<_>>().as_slice())
}

/// What the error says.
fn refusal(payload: &[u8], count: usize) -> String {
    decompressed(payload, count).unwrap_err().to_string()
}

/// Where the trailer starts.
fn trailer_offset(payload: &[u8]) -> usize {
    16 + usize::try_from(u64::from_le_bytes(payload[8..16].try_into().unwrap())).unwrap()
}

/// The raw body.
fn raw_body(payload: &[u8], count: usize) -> Vec<u8> {
    let container = Container::parse(payload, count as u64).unwrap();
    let mut raw = vec![0; container.raw_len];
    crate::codecs::zstd::decompress(container.frame, &mut raw).unwrap();
    raw
}

/// The container with another raw body.
fn with_raw_body(payload: &[u8], raw: &[u8]) -> Vec<u8> {
    let frame = zstd::bulk::compress(raw, LEVEL).unwrap();
    let lens = [(8 + frame.len() as u64).to_le_bytes(), (raw.len() as u64).to_le_bytes()].concat();
    [&payload[..8], &lens, &frame, &payload[trailer_offset(payload)..]].concat()
}

/// Calls `f` with every object of `name`: its descriptor and its payload.
fn for_object<T>(name: &str, f: impl FnOnce(&Descriptor<'_>, &[u8]) -> T) -> T {
    let bytes = file(name);
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    f(object.descriptor(), object.payload())
}

fn count_of(descriptor: &Descriptor<'_>) -> usize {
    usize::try_from(descriptor.element_count()).unwrap()
}

#[test]
fn golden_files_decode_to_the_bit() {
    for (name, expected) in GOLDEN {
        for_object(name, |descriptor, payload| {
            let values = decompressed(payload, count_of(descriptor)).unwrap();
            assert_eq!(digest(&values), expected, "{name}");
            let mut bytes = vec![0; values.len() * 8];
            Sz3.decompress_into(payload, descriptor, &mut bytes).unwrap();
            let in_order = match descriptor.byte_order() {
                ByteOrder::Little => values.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<_>>(),
                ByteOrder::Big => values.iter().flat_map(|bits| bits.to_be_bytes()).collect(),
            };
            assert!(bytes == in_order, "{name}");
        });
    }
}

#[test]
fn every_kind_of_container_decodes_to_the_bit() {
    for sample in &SAMPLES {
        let values = decompressed(&payload(sample), sample.count).unwrap();
        assert_eq!(digest(&values), sample.digest, "{}", sample.kind);
    }
}

#[test]
fn what_the_reference_corrupts_is_refused() {
    for (name, reason) in [("sz3-float32", "float32"), ("sz3-shuffle", "shuffle"), ("sz3-simple-packing", "packing")] {
        for_object(&format!("quirks/{name}"), |descriptor, payload| {
            let mut out = vec![0; count_of(descriptor) * 8];
            let error = Sz3.decompress_into(payload, descriptor, &mut out).unwrap_err();
            assert!(error.to_string().contains(reason), "{name}: {error}");
        });
    }
}

#[test]
fn malformed_files_are_refused() {
    for name in ["byte000", "byte016", "empty", "garbage", "truncated"] {
        for_object(&format!("malformed/codec/sz3-{name}"), |descriptor, payload| {
            let mut out = vec![0; count_of(descriptor) * 8];
            assert!(Sz3.decompress_into(payload, descriptor, &mut out).is_err(), "{name}");
        });
    }
    for name in ["mode-unknown", "shape-larger"] {
        for_object(&format!("malformed/descriptor/sz3-{name}"), |descriptor, payload| {
            let mut out = vec![0; count_of(descriptor) * 8];
            assert!(Sz3.decompress_into(payload, descriptor, &mut out).is_err(), "{name}");
        });
    }
}

#[test]
fn lossless_form_is_the_references_own() {
    // What it makes of [1, 2] with an absolute bound of 0.5, and of this with one of 0.
    let bytes = [
        &[0x10, 0xf3, 0x42, 0xf3, 0, 2, 3, 3][..],
        &[33, 0, 0, 0, 0, 0, 0, 0],
        &[16, 0, 0, 0, 0, 0, 0, 0],
        &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x10, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40],
        &[33, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe0, 1, 0, 0, 1, 0, 128, 0, 0, 0, 1],
    ]
    .concat();
    assert_eq!(compress_lossless(&[1.0, 2.0]).unwrap(), bytes);
    let mut with_bound = bytes;
    let bound = with_bound.len() - TAIL + 2;
    with_bound[bound..bound + 8].copy_from_slice(&0.5_f64.to_le_bytes());
    assert_eq!(decompressed(&with_bound, 2).unwrap(), [1.0_f64, 2.0].map(f64::to_bits));
}

#[test]
fn what_no_bound_holds_for_is_refused() {
    let refusal = |values: &[f64], mode, bound| {
        let bound = ErrorBound::new(mode, bound);
        bound.and_then(|bound| compress(values, bound)).unwrap_err().to_string()
    };
    for mode in ["abs", "rel", "psnr"] {
        assert!(refusal(&[], mode, 0.5).contains("no values"));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(refusal(&[1.0, value], mode, 0.0).contains(&format!("value 1 is {value}")));
        }
        for bound in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(refusal(&[1.0], mode, bound).contains("error bound cannot be"));
        }
    }
    assert!(refusal(&[1.0], "ABS", 0.5).contains("unknown sz3_error_bound_mode \"ABS\""));
}

#[cfg(not(feature = "sz3"))]
#[test]
fn loss_needs_a_feature() {
    assert!(compress(&[1.0; 9], ErrorBound::Relative(0.5)).unwrap_err().to_string().contains("enable feature `sz3`"));
    let kept = compress_lossless(&[1.0; 9]).unwrap();
    assert_eq!(compress(&[1.0; 9], ErrorBound::Absolute(0.0)).unwrap(), kept);
}

#[test]
fn no_values_make_no_container() {
    assert!(compress_lossless(&[]).is_err());
    assert!(decompressed(&[], 0).is_ok());
    assert_eq!(refusal(&[0x10], 0), "no values, but a payload");
}

#[test]
fn another_number_of_values_is_refused() {
    for sample in &SAMPLES {
        for count in [sample.count - 1, sample.count + 1, 2 * sample.count] {
            assert!(decompressed(&payload(sample), count).is_err(), "{}", sample.kind);
        }
    }
}

#[test]
fn what_is_not_supported_is_named() {
    let (payload, count) = sample("Lorenzo, both");
    let tail = payload.len() - TAIL;
    let trailer = trailer_offset(&payload);
    for (offset, value, expected) in [
        (5, 1, "data version"),
        (trailer, 0, "trailer size"),
        (trailer + 1, 2, "number of dimensions 2 is not supported"),
        (trailer + 2, 8, "bits of a dimension"),
        (trailer + 3, 0, "dimension cannot be"),
        (tail, 1, "algorithm 1 is not supported"),
        (tail, 3, "algorithm 3 is not supported"),
        (tail + 1, 1, "kind of error bound 1 is not supported"),
        (tail + 9, 0xbf, "error bound cannot be -"),
        (tail + 9, 0x7f, "error bound cannot be"),
        (tail + 10, 0xe0, "prediction by regression: set of booleans 224 is not supported"),
        (tail + 10, 0x80, "prediction other than by both Lorenzo predictors: set of booleans 128 is not supported"),
        (tail + 10, 0xc8, "OpenMP layout: set of booleans 200 is not supported"),
        (tail + 10, 0xc1, "set of booleans cannot be 193"),
        (tail + 11, 0, "type of values 0 is not supported"),
        (tail + 12, 1, "number of bins cannot be 65537"),
        (tail + 14, 2, "number of bins cannot be 131072"),
        (tail + 16, 0, "block size cannot be 0"),
        (tail + 19, 0x80, "block size cannot be"),
        (tail + 20, 2, "dimension of prediction 2 is not supported"),
    ] {
        let mut payload = payload.clone();
        payload[offset] = value;
        let error = refusal(&payload, count);
        assert!(error.contains(expected), "{offset}: {error}");
    }
}

#[test]
fn raw_length_is_bounded_by_the_values() {
    let (payload, count) = sample("linear, no anchors");
    let raw = raw_body(&payload, count);
    for (raw_len, frame) in [(u64::MAX, 4), (1 << 40, 4), (100_000, 4), (100_000, 400)] {
        let body_len = 8 + frame as u64;
        let lens = [body_len.to_le_bytes(), u64::to_le_bytes(raw_len)].concat();
        let bomb = [&payload[..8], &lens, &vec![0; frame], &payload[trailer_offset(&payload)..]].concat();
        assert_eq!(refusal(&bomb, count), format!("raw length cannot be {raw_len}"));
    }
    let surplus = with_raw_body(&payload, &[&raw[..], &[0]].concat());
    assert_eq!(refusal(&surplus, count), "1 bytes too many in raw body");
}

/// A sample of three nodes or more and where its tree starts in the raw body.
fn tree() -> (Vec<u8>, usize, Vec<u8>, usize) {
    let (payload, count) = sample("linear, no anchors");
    let raw = raw_body(&payload, count);
    let stored = usize::try_from(u64::from_le_bytes(raw[57..65].try_into().unwrap())).unwrap();
    (payload, count, raw, 65 + 8 * stored)
}

#[test]
fn damaged_trees_are_refused() {
    let (payload, count, raw, tree) = tree();
    let nodes = usize::try_from(u32::from_be_bytes(raw[tree + 4..tree + 8].try_into().unwrap())).unwrap();
    assert!((3..0x100).contains(&nodes));
    let (zeros, ones) = (tree + 13, tree + 13 + nodes);
    let (symbols, leaves) = (ones + nodes, ones + 5 * nodes);
    let last = nodes - 1;
    for (offset, value, expected) in [
        (tree + 3, 0x7f, "node"),
        (tree + 7, 0, "number of nodes"),
        (tree + 7, 4, "number of nodes"),
        (tree + 4, 0x7f, "number of nodes"),
        (tree + 11, raw[tree + 11] + 1, "half of the alphabet"),
        (tree + 12, 1, "Huffman tree of kind 1 is not supported"),
        (zeros, 0, "node 0 of a Huffman tree is damaged"),
        (zeros, 0xff, "node 0 of a Huffman tree is damaged"),
        (ones, raw[zeros], "node 0 of a Huffman tree is damaged"),
        (symbols, 1, "node 0 of a Huffman tree is damaged"),
        (symbols + 4 * last + 3, 0x80, "of a Huffman tree is damaged"),
        (leaves, 1, "node 0 of a Huffman tree is damaged"),
        (leaves, 2, "node 0 of a Huffman tree is damaged"),
        (leaves + last, 0, "of a Huffman tree is damaged"),
    ] {
        let mut raw = raw.clone();
        raw[offset] = value;
        let error = refusal(&with_raw_body(&payload, &raw), count);
        assert!(error.contains(expected), "{}: {error}", offset - tree);
    }
}

#[test]
fn every_bit_and_stored_value_is_accounted_for() {
    let (payload, count, raw, tree) = tree();
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut raw = raw.clone();
        change(&mut raw);
        refusal(&with_raw_body(&payload, &raw), count)
    };
    let more_bits = changed(&|raw| {
        let nodes = usize::from(raw[tree + 7]);
        raw[tree + 13 + 7 * nodes + 8] += 1;
        raw.push(0);
    });
    assert_eq!(more_bits, "1 bytes too many in symbols");
    let fewer_bits = changed(&|raw| {
        let nodes = usize::from(raw[tree + 7]);
        raw[tree + 13 + 7 * nodes + 8] -= 1;
        raw.pop();
    });
    assert_eq!(fewer_bits, "symbols end within a code word");
    let padding = changed(&|raw| *raw.last_mut().unwrap() |= 1);
    assert!(padding.contains("padding of symbols"), "{padding}");
    let stored = changed(&|raw| {
        raw[57] += 1;
        raw.splice(65..65, [0; 8]);
    });
    assert_eq!(stored, "8 bytes too many in unpredictable values");
    let bound = changed(&|raw| raw[45] ^= 1);
    assert!(bound.contains("quantizer's error bound"), "{bound}");
    let radius = changed(&|raw| raw[53] ^= 1);
    assert!(radius.contains("quantizer's radius"), "{radius}");
}

#[test]
fn cut_containers_are_refused() {
    for sample in &SAMPLES {
        let payload = payload(sample);
        for len in 0..payload.len() {
            assert!(decompressed(&payload[..len], sample.count).is_err(), "{}: {len}", sample.kind);
        }
        assert!(decompressed(&[&payload[..], &[0]].concat(), sample.count).is_err());
    }
}

#[test]
fn damage_outside_the_frame_is_refused_or_harmless() {
    for sample in &SAMPLES {
        let payload = payload(sample);
        for offset in (0..HEAD).chain(trailer_offset(&payload)..payload.len()) {
            for bit in 0..8 {
                let mut payload = payload.clone();
                payload[offset] ^= 1 << bit;
                if let Ok(values) = decompressed(&payload, sample.count) {
                    assert_eq!(digest(&values), sample.digest, "{}: {offset}", sample.kind);
                }
            }
        }
    }
}

#[test]
fn damage_anywhere_does_not_panic() {
    for sample in &SAMPLES {
        let payload = payload(sample);
        let raw = raw_body(&payload, sample.count);
        for flip in [0x01, 0x80, 0xff] {
            for offset in 0..payload.len() {
                let mut payload = payload.clone();
                payload[offset] ^= flip;
                let _ = decompressed(&payload, sample.count);
            }
            for offset in 0..raw.len() {
                let mut raw = raw.clone();
                raw[offset] ^= flip;
                let _ = decompressed(&with_raw_body(&payload, &raw), sample.count);
            }
        }
        for len in 0..raw.len() {
            assert!(decompressed(&with_raw_body(&payload, &raw[..len]), sample.count).is_err(), "{}", sample.kind);
        }
    }
}

proptest! {
    #[test]
    fn lossless_round_trip(values in prop::collection::vec(any::<u64>(), 1..200)) {
        let numbers: Vec<f64> = values.iter().map(|bits| f64::from_bits(*bits)).collect();
        prop_assert_eq!(decompressed(&compress_lossless(&numbers).unwrap(), values.len()).unwrap(), values);
    }

    #[test]
    fn random_damage_does_not_panic(
        index in 0..SAMPLES.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let sample = &SAMPLES[index];
        let payload = payload(sample);
        let mut raw = raw_body(&payload, sample.count);
        for (offset, value) in damage {
            *offset.get_mut(&mut raw) = value;
        }
        let _ = decompressed(&with_raw_body(&payload, &raw), sample.count);
    }
}
