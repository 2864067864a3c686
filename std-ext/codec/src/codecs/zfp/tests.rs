//! zfp: worked examples, golden files, and a plain implementation beside the fast one.

#![allow(clippy::float_cmp, reason = "values are compared to the bit")]

use proptest::prelude::*;
use tgm_core::Message;
use tgm_core::descriptor::{Descriptor, ZfpMode};

use super::*;
use crate::codecs::{Codec, Workspace};

const EVERY_MODE: [ZfpMode; 6] = [
    ZfpMode::FixedRate(3.0),
    ZfpMode::FixedRate(13.7),
    ZfpMode::FixedPrecision(20),
    ZfpMode::FixedPrecision(64),
    ZfpMode::FixedAccuracy(1e-3),
    ZfpMode::FixedAccuracy(1e-9),
];

fn compressed(values: &[f64], mode: ZfpMode) -> Vec<u8> {
    compress_values(values, mode).unwrap()
}

fn decompressed(payload: &[u8], mode: ZfpMode, count: usize) -> Result<Vec<f64>, CodecError> {
    let mut out = vec![f64::NAN; count];
    decompress_values(payload, mode, &mut out).map(|()| out)
}

fn round_trip(values: &[f64], mode: ZfpMode) -> Vec<f64> {
    decompressed(&compressed(values, mode), mode, values.len()).unwrap()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// 2^exponent; 0 below the least number.
fn power(exponent: i32) -> f64 {
    2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2)
}

/// A wave of parabolas: the sines of some C libraries have instructions that emulators of their machines lack.
fn smooth(count: usize) -> Vec<f64> {
    let phase = |i: usize| f64::from(u32::try_from(i).unwrap()) * 0.05 % 1.0 - 0.5;
    (0..count).map(phase).map(|phase| 280.0 + 480.0 * phase * (0.5 - phase.abs())).collect()
}

#[test]
fn worked_examples() {
    let five = [1.0, 2.0, 3.0, 4.0, 5.0];
    let mut rate_64 = vec![0x03, 0x68, 0xa9, 0x6e, 0x15];
    rate_64.resize(32, 0);
    let examples: [(&[f64], ZfpMode, &[u8]); 5] = [
        (&five, ZfpMode::FixedRate(8.0), &[0x05, 0x88, 0x59, 0x00, 0x05, 0x68, 0x15, 0x00]),
        (
            &five,
            ZfpMode::FixedPrecision(16),
            &[0x05, 0x88, 0x59, 0x00, 0x00, 0x00, 0x80, 0x02, 0xb4, 0x0a, 0, 0, 0, 0, 0, 0],
        ),
        (&five, ZfpMode::FixedAccuracy(0.5), &[0x05, 0x88, 0x59, 0x80, 0x02, 0xb4, 0x0a, 0x00]),
        (&five[..3], ZfpMode::FixedRate(64.0), &rate_64),
        (&[], ZfpMode::FixedAccuracy(0.5), &[]),
    ];
    for (values, mode, payload) in examples {
        assert_eq!(compressed(values, mode), payload, "{mode:?}");
        assert_eq!(round_trip(values, mode).len(), values.len());
    }
    assert_eq!(round_trip(&five[..3], ZfpMode::FixedRate(64.0)), five[..3]);
    assert_eq!(round_trip(&five, ZfpMode::FixedPrecision(64)), five);
}

#[test]
fn precisions_of_0_and_over_64_are_64() {
    let values = smooth(17);
    let all = compressed(&values, ZfpMode::FixedPrecision(64));
    for precision in [0, 65, u32::MAX] {
        assert_eq!(compressed(&values, ZfpMode::FixedPrecision(precision)), all);
    }
}

#[test]
fn zeros_take_a_bit_and_lose_their_sign() {
    for mode in [ZfpMode::FixedPrecision(64), ZfpMode::FixedAccuracy(1.0)] {
        assert_eq!(compressed(&[-0.0; 256], mode), [0; 8]);
        assert_eq!(compressed(&[-0.0; 257], mode), [0; 16]);
        assert_eq!(bits(&round_trip(&[-0.0; 257], mode)), [0; 257]);
    }
}

#[test]
fn parameters_out_of_range_are_errors() {
    let negated = |value: f64| [ZfpMode::FixedRate(value), ZfpMode::FixedAccuracy(value)];
    let bad = [0.0, -1.0, f64::NAN, f64::INFINITY].into_iter().flat_map(negated);
    for mode in bad.chain([ZfpMode::FixedRate(1e10)]) {
        assert!(compress_values(&[1.0], mode).is_err(), "{mode:?}");
        assert!(decompressed(&[0; 8], mode, 1).is_err(), "{mode:?}");
        assert!(decompress_range(&[0; 8], mode, 1, 0, &mut []).is_err(), "{mode:?}");
    }
    assert_eq!(round_trip(&[1.0, 2.0, 3.0, 4.0, 5.0], ZfpMode::FixedRate(5000.0)), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(compressed(&[1.0; 5], ZfpMode::FixedRate(5000.0)).len(), 5000);
}

#[test]
fn values_that_are_not_finite_are_errors() {
    for value in [f64::NAN, f64::INFINITY, -f64::INFINITY] {
        let error = compress_values(&[0.0, 1.0, 2.0, 3.0, 4.0, value], ZfpMode::FixedRate(8.0)).unwrap_err();
        assert_eq!(error.to_string(), "value 5 is not finite");
    }
}

/// Threads as options ask for them: one, if this build has no others.
fn threads(asked: u32) -> Threads {
    Threads::resolve(asked, 1, Some(0)).unwrap()
}

#[test]
fn stored_values_of_either_order_make_one_stream_on_several_threads() {
    // More than two pieces, no whole number of runs, and an incomplete block.
    let values = smooth(2 * PIECE * block::LEN + 3 * RUN + 7);
    let big: Vec<_> = values.iter().map(|value| value.to_be_bytes()).collect();
    let little: Vec<_> = values.iter().map(|value| value.to_le_bytes()).collect();
    for mode in EVERY_MODE {
        let expected = compressed(&values, mode);
        for threads in [1, 2, 3].map(threads) {
            assert!(compress_on(threads, &big, ByteOrder::Big, mode).unwrap() == expected, "{mode:?} {threads:?}");
            assert!(
                compress_on(threads, &little, ByteOrder::Little, mode).unwrap() == expected,
                "{mode:?} {threads:?}"
            );
        }
    }
}

#[test]
fn the_first_value_that_is_not_finite_is_named_by_several_threads() {
    let len = 2 * PIECE * block::LEN + 3;
    let places = [0, 4 * RUN - 1, 4 * RUN, PIECE * block::LEN - 1, PIECE * block::LEN, len - 4, len - 3, len - 1];
    for (number, place) in places.into_iter().enumerate() {
        let mut values = vec![f64::to_le_bytes(1.0); len];
        // The ones after it are as bad.
        places[number..].iter().for_each(|&place| values[place] = f64::to_le_bytes(f64::NAN));
        for threads in [1, 2].map(threads) {
            let error = compress_on(threads, &values, ByteOrder::Little, ZfpMode::FixedRate(8.0)).unwrap_err();
            assert_eq!(error.to_string(), format!("value {place} is not finite"), "{threads:?}");
        }
    }
}

#[test]
fn values_near_infinity_are_noticed_by_several_threads() {
    let len = 2 * PIECE * block::LEN + 3;
    for block in [0, PIECE, len / block::LEN - 1] {
        let mut values = vec![1.0_f64.to_le_bytes(); len];
        for (place, value) in [f64::MAX, f64::MAX, f64::MAX, f64::MIN].into_iter().enumerate() {
            values[block * block::LEN + place] = value.to_le_bytes();
        }
        for threads in [1, 2].map(threads) {
            let error = compress_on(threads, &values, ByteOrder::Little, ZfpMode::FixedPrecision(2)).unwrap_err();
            assert!(error.to_string().contains("so great that it would decode to infinity"), "{error}");
        }
    }
}

#[test]
fn values_that_would_decode_to_infinity_are_errors() {
    let greatest = [f64::MAX, f64::MAX, f64::MAX, f64::MIN];
    assert_eq!(round_trip(&[f64::MAX; 4], ZfpMode::FixedPrecision(64)), [f64::MAX; 4]);
    assert!(compress_values(&greatest, ZfpMode::FixedPrecision(2)).is_err());
    assert!(compress_values(&greatest.map(|value| value / 16.0), ZfpMode::FixedPrecision(2)).is_ok());
}

#[test]
fn the_least_numbers_come_back() {
    for exponent in (-1074..=-955_i32).rev() {
        let unit = power(exponent);
        let values = [unit, -unit, 0.75 * unit, 0.0];
        for mode in [ZfpMode::FixedPrecision(64), ZfpMode::FixedRate(64.0), ZfpMode::FixedAccuracy(5e-324)] {
            let error = |(a, b): (&f64, f64)| (a - b).abs();
            let worst = values.iter().zip(round_trip(&values, mode)).map(error).fold(0.0, f64::max);
            assert!(worst <= (unit * power(-58)).max(5e-324 * 4.0), "2^{exponent} {mode:?}: {worst}");
        }
        let tolerance = 2.0 * unit;
        let decoded = round_trip(&values, ZfpMode::FixedAccuracy(tolerance));
        assert!(values.iter().zip(decoded).all(|(a, b)| (a - b).abs() <= tolerance), "2^{exponent}");
    }
}

#[test]
fn payloads_of_other_lengths_are_errors() {
    for mode in EVERY_MODE {
        for count in [1, 4, 5, 64, 257] {
            let payload = compressed(&smooth(count), mode);
            for len in 0..payload.len() {
                assert!(decompressed(&payload[..len], mode, count).is_err(), "{mode:?}, {count} values, {len} bytes");
            }
            for more in 1..40 {
                let longer = [&payload[..], &[0; 40][..more]].concat();
                assert!(decompressed(&longer, mode, count).is_err(), "{mode:?}, {count} values, {more} bytes more");
            }
            assert!(decompressed(&payload, mode, 0).is_err());
        }
        assert!(decompressed(&[], mode, 0).is_ok());
        assert!(decompress_range(&[0; 8], mode, 0, 0, &mut []).is_err());
    }
}

#[test]
fn counts_that_no_payload_can_have_are_errors_at_once() {
    for mode in EVERY_MODE.into_iter().chain([ZfpMode::FixedRate(1e9)]) {
        for count in [1 << 20, u64::MAX - 1, u64::MAX] {
            for start in [0, 1 << 19, count - 1] {
                assert!(
                    decompress_range(&[0; 64], mode, count, start, &mut [0.0]).is_err(),
                    "{mode:?}, {count} values"
                );
            }
        }
    }
}

#[test]
fn ranges_outside_the_values_are_errors() {
    for mode in EVERY_MODE {
        let payload = compressed(&smooth(10), mode);
        for (start, len) in [(10, 1), (11, 0), (0, 11), (u64::MAX, 2)] {
            assert!(
                decompress_range(&payload, mode, 10, start, &mut vec![0.0; len]).is_err(),
                "{mode:?} {start} {len}"
            );
        }
    }
}

/// A descriptor, with one part of its CBOR replaced.
fn edited(descriptor: &Descriptor<'_>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let encoded = descriptor.as_encoded();
    let at = encoded.windows(from.len()).position(|window| window == from).unwrap();
    [&encoded[..at], to, &encoded[at + from.len()..]].concat()
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/{name}.tgm", concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/zfp"))).unwrap()
}

#[test]
fn the_descriptor_decides() {
    let file = golden("fixed_rate-16.0");
    let object = Message::parse(&file).unwrap().object(0).unwrap();
    let (payload, descriptor) = (object.payload(), object.descriptor());
    let mut little = vec![0; usize::try_from(descriptor.decoded_len().unwrap()).unwrap()];
    Zfp.decompress_into(payload, descriptor, &mut little).unwrap();
    assert_eq!(little[..8], 8.423_828_125_f64.to_le_bytes());

    let big_endian = edited(descriptor, b"\x66little", b"\x63big");
    let big_endian = Descriptor::parse(&big_endian, 0).unwrap();
    let mut big = vec![0; little.len()];
    Zfp.decompress_into(payload, &big_endian, &mut big).unwrap();
    assert!(little.chunks(8).zip(big.chunks(8)).all(|(a, b)| a.iter().eq(b.iter().rev())));

    let total = little.len() as u64;
    for (descriptor, all) in [(descriptor, &little), (&big_endian, &big)] {
        let (mut part, mut work) = ([0; 56], Workspace::default());
        let mut parts = Zfp.open_parts(payload, descriptor, total, total, &mut work).unwrap().unwrap();
        parts.read_into(24, &mut part).unwrap();
        assert_eq!(part, all[24..80]);
        assert!(parts.read_into(20, &mut part).is_err());
        assert!(parts.read_into(24, &mut part[..20]).is_err());
    }

    let others: [(&[u8], &[u8], &str); 5] = [
        (b"float64", b"float32", "only supports dtype=float64, got dtype=float32"),
        (b"hencodingdnone", b"hencodingnsimple_packing", "only supports encoding=none, got encoding=simple_packing"),
        (b"ffilterdnone", b"ffiltergshuffle", "only supports filter=none, got filter=shuffle"),
        (b"jfixed_rate", b"jfixed_what", "zfp_mode"),
        (b"hzfp_rate", b"hzfp_what", "zfp_rate"),
    ];
    for (from, to, message) in others {
        let other = edited(descriptor, from, to);
        let error = Zfp.decompress_into(payload, &Descriptor::parse(&other, 0).unwrap(), &mut little).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

/// Every golden file decodes to the recorded values, and ranges of it to the same.
#[test]
fn golden_files() {
    use sha2::{Digest, Sha256};

    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/zfp");
    let mut files = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let file = std::fs::read(path.with_extension("tgm")).unwrap();
        let object = Message::parse(&file).unwrap().object(0).unwrap();
        let expected = &json["messages"][0]["objects"][0];
        let descriptor = object.descriptor();
        let (payload, mode) = (object.payload(), descriptor.zfp().unwrap());
        assert_eq!(expected["payload_region_length"], payload.len());

        let count = descriptor.element_count();
        let values = decompressed(payload, mode, usize::try_from(count).unwrap()).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let digest = Sha256::digest(&bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        assert_eq!(expected["decoded"]["sha256"], digest, "{}", path.display());
        assert_eq!(bits(&plain::decode(payload, mode, values.len())), bits(&values), "{}", path.display());
        for start in 0..values.len() {
            for len in [1, 2, 5, 9].map(|len: usize| len.min(values.len() - start)) {
                let mut part = vec![0.0; len];
                decompress_range(payload, mode, count, start as u64, &mut part).unwrap();
                assert_eq!(bits(&part), bits(&values[start..][..len]));
            }
        }
        files += 1;
    }
    assert!(files >= 11, "{files} files");
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3,
        2 => -1.0..1.0,
        1 => proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(1.0), Just(f64::MIN_POSITIVE), Just(5e-324)],
    ]
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(value(), 0..40),
        (0..150_usize).prop_map(smooth),
        (value(), 0..80_usize).prop_map(|(value, count)| vec![value; count]),
        prop::collection::vec(prop_oneof![3 => Just(0.0), 1 => value()], 0..80),
    ]
}

fn mode() -> impl Strategy<Value = ZfpMode> {
    prop_oneof![
        (0.1..70.0).prop_map(ZfpMode::FixedRate),
        (0.1..9.0).prop_map(ZfpMode::FixedRate),
        (0..=65_u32).prop_map(ZfpMode::FixedPrecision),
        (-1074..1000_i32).prop_map(|exponent| ZfpMode::FixedAccuracy(power(exponent))),
        (-30..10_i32, 1.0..2.0).prop_map(|(exponent, m)| ZfpMode::FixedAccuracy(m * power(exponent))),
    ]
}

proptest! {
    #[test]
    fn streams_are_those_of_the_plain_codec(values in values(), mode in mode()) {
        let Ok(payload) = compress_values(&values, mode) else { return Ok(()) };
        prop_assert_eq!(bits(&round_trip(&values, mode)), bits(&plain::decode(&payload, mode, values.len())));
        // Below 2^-962 the plain codec, as zfp, scales by infinity.
        if values.chunks(4).all(|block| block.iter().all(|x| *x == 0.0) || block.iter().any(|x| x.abs() >= 3e-290)) {
            prop_assert_eq!(payload, plain::encode(&values, mode));
        }
    }

    #[test]
    fn errors_stay_below_the_tolerance(values in values(), exponent in -1074..1000_i32, m in 1.0..2.0_f64) {
        let tolerance = (m * power(exponent)).max(5e-324);
        let mode = ZfpMode::FixedAccuracy(tolerance);
        let Ok(payload) = compress_values(&values, mode) else { return Ok(()) };
        let decoded = decompressed(&payload, mode, values.len()).unwrap();
        for (block, decoded) in values.chunks(4).zip(decoded.chunks(4)) {
            let greatest = block.iter().fold(0.0_f64, |max, value| max.max(value.abs()));
            let bound = tolerance.max(greatest * power(-58)).max(5e-324 * 8.0);
            prop_assert!(block.iter().zip(decoded).all(|(a, b)| (a - b).abs() <= bound), "{block:?} {decoded:?}");
        }
    }

    #[test]
    fn planes_beyond_the_first_eight_halve_the_error(values in values(), planes in 8..=64_u32, by_rate: bool) {
        // A rate has room for as many planes, and the exponent.
        let rate = ZfpMode::FixedRate(f64::from(planes) + 4.0);
        let mode = if by_rate { rate } else { ZfpMode::FixedPrecision(planes) };
        let Ok(payload) = compress_values(&values, mode) else { return Ok(()) };
        let decoded = decompressed(&payload, mode, values.len()).unwrap();
        for (block, decoded) in values.chunks(4).zip(decoded.chunks(4)) {
            let greatest = block.iter().fold(power(-1012), |max, value| max.max(value.abs()));
            let bound = greatest * power((5 - planes.cast_signed()).max(-58)) + 5e-324 * 8.0;
            prop_assert!(block.iter().zip(decoded).all(|(a, b)| (a - b).abs() <= bound), "{block:?} {decoded:?}");
        }
    }

    #[test]
    fn ranges_are_slices(values in values(), mode in mode(), ends in any::<[prop::sample::Index; 2]>()) {
        let Ok(payload) = compress_values(&values, mode) else { return Ok(()) };
        let all = decompressed(&payload, mode, values.len()).unwrap();
        let mut ends = ends.map(|end| end.index(values.len() + 1));
        ends.sort_unstable();
        let mut part = vec![f64::NAN; ends[1] - ends[0]];
        decompress_range(&payload, mode, values.len() as u64, ends[0] as u64, &mut part).unwrap();
        prop_assert_eq!(bits(&part), bits(&all[ends[0]..ends[1]]));
    }

    #[test]
    fn damage_is_decoded_or_refused(
        values in values(),
        mode in mode(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..6),
    ) {
        let Ok(mut payload) = compress_values(&values, mode) else { return Ok(()) };
        if !payload.is_empty() {
            for (index, flip) in flips {
                let index = index.index(payload.len());
                payload[index] ^= flip;
            }
        }
        if let Ok(decoded) = decompressed(&payload, mode, values.len()) {
            prop_assert_eq!(bits(&decoded), bits(&plain::decode(&payload, mode, values.len())));
        }
        let _ = decompress_range(&payload, mode, values.len() as u64, values.len() as u64 / 2, &mut [0.0]);
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(
        payload in prop::collection::vec(any::<u8>(), 0..400),
        mode in mode(),
        count in 0..99_usize,
    ) {
        let whole = &payload[..payload.len() / 8 * 8];
        for payload in [&payload[..], whole] {
            let _ = decompressed(payload, mode, count);
            let _ = decompress_range(payload, mode, count as u64, count as u64 / 3, &mut [0.0; 7]);
        }
    }
}

/// PIPELINE §5.6 bit by bit.
mod plain {
    use super::{ZfpMode, power};

    fn params(mode: ZfpMode) -> (Option<usize>, i32, i32) {
        match mode {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            ZfpMode::FixedRate(rate) => (Some(((4.0 * rate + 0.5).floor() as usize).max(12)), 64, -1074),
            ZfpMode::FixedPrecision(planes @ 1..=64) => (None, planes.cast_signed(), -1074),
            ZfpMode::FixedPrecision(_) => (None, 64, -1074),
            ZfpMode::FixedAccuracy(tolerance) => {
                (None, 64, (-1074..1024).rev().find(|e| power(*e) <= tolerance).unwrap())
            }
        }
    }

    pub(super) fn encode(values: &[f64], mode: ZfpMode) -> Vec<u8> {
        let (fixed, max_planes, min_exponent) = params(mode);
        let mut stream = Vec::new();
        for block in values.chunks(4) {
            let x = match *block {
                [x] => [x, x, x, x],
                [x, y] => [x, y, y, x],
                [x, y, z] => [x, y, z, x],
                _ => block.try_into().unwrap(),
            };
            let start = stream.len();
            let greatest = x.iter().fold(0.0_f64, |max, value| max.max(value.abs()));
            let exponent = (-1022..=1024).find(|e| greatest / 2.0 < power(e - 1)).unwrap();
            let planes = (exponent - min_exponent + 4).clamp(0, max_planes);
            if greatest == 0.0 || planes == 0 {
                stream.push(false);
            } else {
                let header = 2 * (exponent + 1023) + 1;
                stream.extend((0..12).map(|bit| header >> bit & 1 == 1));
                #[allow(clippy::cast_possible_truncation, reason = "the fraction is to go")]
                let [mut x, mut y, mut z, mut w] = x.map(|value| (value * power(62 - exponent)) as i64);
                x = (x + w) >> 1;
                w -= x;
                z = (z + y) >> 1;
                y -= z;
                x = (x + z) >> 1;
                z -= x;
                w = (w + y) >> 1;
                y -= w;
                w += y >> 1;
                y -= w >> 1;
                let mask = 0xaaaa_aaaa_aaaa_aaaa_u64;
                let integers = [x, y, z, w].map(|integer| integer.cast_unsigned().wrapping_add(mask) ^ mask);
                encode_planes(integers, planes, &mut stream);
            }
            if let Some(bits) = fixed {
                stream.resize(start + bits, false);
            }
        }
        stream.resize(stream.len().next_multiple_of(64), false);
        stream.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect()
    }

    fn encode_planes(integers: [u64; 4], planes: i32, stream: &mut Vec<bool>) {
        let mut n = 0;
        for plane in (64 - planes..64).rev() {
            let bits = integers.map(|integer| integer >> plane & 1 == 1);
            stream.extend(&bits[..n]);
            while n < 4 {
                let any = bits[n..].contains(&true);
                stream.push(any);
                if !any {
                    break;
                }
                while n < 3 {
                    stream.push(bits[n]);
                    if bits[n] {
                        break;
                    }
                    n += 1;
                }
                n += 1;
            }
        }
    }

    pub(super) fn decode(payload: &[u8], mode: ZfpMode, count: usize) -> Vec<f64> {
        let (fixed, max_planes, min_exponent) = params(mode);
        let stream: Vec<bool> = payload.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
        let mut values = Vec::new();
        let mut position = 0;
        while values.len() < count {
            let end = fixed.map_or(usize::MAX, |bits| position + bits);
            let mut block = Bits { stream: &stream, position, end };
            let mut decoded = [0.0; 4];
            if block.next() == Some(true) {
                let exponent = (0..11).fold(0, |e, bit| e | i32::from(block.next() == Some(true)) << bit) - 1023;
                let planes = (exponent - min_exponent + 4).clamp(0, max_planes);
                let mask = 0xaaaa_aaaa_aaaa_aaaa_u64;
                let integers = decode_planes(&mut block, planes);
                let [mut x, mut y, mut z, mut w] =
                    integers.map(|bits| (bits ^ mask).wrapping_sub(mask).cast_signed()).map(std::num::Wrapping);
                y += w >> 1;
                w -= y >> 1;
                y += w;
                w = w + w - y;
                z += x;
                x = x + x - z;
                y += z;
                z = z + z - y;
                w += x;
                x = x + x - w;
                #[allow(clippy::cast_precision_loss, reason = "as zfp rounds")]
                let scaled = [x, y, z, w].map(|integer| integer.0 as f64 * power(exponent - 62));
                decoded = scaled;
            }
            position = if fixed.is_some() { end } else { block.position };
            values.extend(decoded);
        }
        values.truncate(count);
        values
    }

    fn decode_planes(block: &mut Bits<'_>, planes: i32) -> [u64; 4] {
        let mut integers = [0; 4];
        let mut n = 0;
        for plane in (64 - planes..64).rev() {
            for integer in &mut integers[..n] {
                *integer |= u64::from(block.next() == Some(true)) << plane;
            }
            while n < 4 && block.next() == Some(true) {
                while n < 3 && block.next() == Some(false) {
                    n += 1;
                }
                integers[n] |= 1 << plane;
                n += 1;
            }
        }
        integers
    }

    /// Bits up to the block's end; there are zeros after the stream.
    struct Bits<'a> {
        stream: &'a [bool],
        position: usize,
        end: usize,
    }

    impl Bits<'_> {
        fn next(&mut self) -> Option<bool> {
            let bit = (self.position < self.end).then(|| self.stream.get(self.position).copied().unwrap_or(false));
            self.position += usize::from(bit.is_some());
            bit
        }
    }
}
