//! sz3 with loss: the reference's bytes, and what bounds promise.
#![expect(clippy::cast_precision_loss, reason = "the numbers are small")]

use std::fs;
use std::thread;

use proptest::prelude::*;
use tgm_core::Message;
use twox_hash::XxHash3_64;

use crate::codecs::ErrorBound;

use super::{compress, compress_lossless, decompress_values};

/// A series, a bound, and all containers that the reference (0.24.0) makes of it in [`LENS`], one after the other:
/// bytes and their XXH3-64.
const REFERENCE: [(&str, &str, f64, usize, u64); 25] = [
    ("arcs", "abs", 0.01, 6677, 0x0619_a855_e326_a463),
    ("arcs", "abs", 1.0, 6099, 0x0f00_3b9d_4f65_fd53),
    ("arcs", "rel", 1e-3, 5514, 0x4bde_0014_d21c_754b),
    ("arcs", "rel", 1e-7, 4740, 0xc43d_96ae_89e7_943e),
    ("arcs", "psnr", 70.0, 6657, 0x2ff9_268f_b21b_af97),
    ("noisy arcs", "abs", 0.01, 50_701, 0xf7f3_4f9d_9ee6_de86),
    ("noisy arcs", "abs", 1.0, 8081, 0x884f_1622_8fb5_d5e1),
    ("noisy arcs", "rel", 1e-3, 20_650, 0x86f5_a021_ccf6_1ab1),
    ("noisy arcs", "rel", 1e-7, 141_582, 0x14f1_5ec0_9922_81ac),
    ("noisy arcs", "psnr", 70.0, 26_591, 0x2e8d_bd76_3ad6_a8a3),
    ("noise", "abs", 0.01, 173_020, 0x9bea_b6bc_b895_9fc1),
    ("noise", "abs", 1.0, 83_412, 0x85eb_e114_054f_2f83),
    ("noise", "rel", 1e-3, 83_853, 0x2a0b_2c65_7db0_afc3),
    ("noise", "rel", 1e-7, 173_020, 0x34c2_c2fc_19f7_4089),
    ("noise", "psnr", 70.0, 106_276, 0xdcaa_ff3f_fbd4_9bcd),
    ("walk", "abs", 0.01, 38_116, 0x7edb_7f63_0e54_6967),
    ("walk", "abs", 1.0, 4469, 0xf2bc_0987_2584_f693),
    ("walk", "rel", 1e-3, 22_628, 0xcfb5_b79e_46c8_9de6),
    ("walk", "rel", 1e-7, 138_199, 0xc822_4306_4cb2_10e0),
    ("walk", "psnr", 70.0, 28_596, 0x4b0c_b5b2_f1fc_92fd),
    ("steps", "abs", 0.01, 6137, 0xf371_0f06_fbcb_a956),
    ("steps", "abs", 1.0, 5032, 0x0c7c_3b9d_1a6e_19a1),
    ("steps", "rel", 1e-3, 3299, 0x5488_b00f_4424_7206),
    ("steps", "rel", 1e-7, 6311, 0x0ce1_9dfb_f21b_da8c),
    ("steps", "psnr", 70.0, 8958, 0x1651_5ed3_854b_60d3),
];

/// Around the sizes of SZ3's blocks, and where it begins to sample and to store anchors.
const LENS: [usize; 14] = [1, 2, 3, 4, 5, 127, 128, 129, 180, 1000, 4095, 4096, 4097, 20_000];

/// A number in 0 ≤ x < 1, other for each `index`: splitmix64.
fn unit(index: u64) -> f64 {
    let mut z = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 40) as f64 / 16_777_216.0
}

fn arc(index: u64) -> f64 {
    (index % 200 * (200 - index % 200)) as f64 / 64.0
}

fn series(kind: &str, len: usize) -> Vec<f64> {
    let indices = 0..len as u64;
    match kind {
        "arcs" => indices.map(arc).collect(),
        "noisy arcs" => indices.map(|index| arc(index) + unit(index)).collect(),
        "noise" => indices.map(|index| unit(index) * 1000.0).collect(),
        "walk" => indices
            .scan(0.0, |place, index| {
                *place += unit(index) - 0.5;
                Some(*place)
            })
            .collect(),
        "steps" => indices.map(|index| (index / 37) as f64 * 1.5 + f64::from(u8::from(index % 5 == 0))).collect(),
        other => panic!("no series {other}"),
    }
}

fn decoded(payload: &[u8], count: usize) -> Vec<f64> {
    let mut decoded = vec![f64::NAN; count];
    decompress_values(payload, &mut decoded).unwrap();
    decoded
}

fn is_lossless(payload: &[u8]) -> bool {
    payload[payload.len() - 21] == 4
}

fn range(values: &[f64]) -> f64 {
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    greatest - values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// 20·log₁₀(range / root mean square error), computed so that nothing overflows.
fn psnr(values: &[f64], decoded: &[f64]) -> f64 {
    let range = range(values);
    let square = |(value, decoded): (&f64, &f64)| ((value - decoded) / range).powi(2);
    let mean = values.iter().zip(decoded).map(square).sum::<f64>() / values.len() as f64;
    -10.0 * mean.log10()
}

/// What the decoder makes of `values` compressed within `bound`, once that is seen to be kept.
fn assert_kept(values: &[f64], bound: ErrorBound) -> Vec<f64> {
    let decoded = decoded(&compress(values, bound).unwrap(), values.len());
    if decoded.iter().map(|value| value.to_bits()).eq(values.iter().map(|value| value.to_bits())) {
        return decoded;
    }
    let error = values.iter().zip(&decoded).map(|(value, decoded)| (value - decoded).abs()).fold(0.0, f64::max);
    match bound {
        ErrorBound::Absolute(bound) => assert!(error <= bound, "{error:e} > {bound:e}"),
        ErrorBound::Relative(bound) => assert!(error <= bound * range(values), "{error:e} > {bound:e} of the range"),
        ErrorBound::Psnr(bound) => {
            let reached = psnr(values, &decoded);
            assert!(reached >= bound - 1e-9, "{reached} dB < {bound} dB");
        }
    }
    decoded
}

#[test]
fn bytes_are_the_references() {
    for (kind, mode, bound, len, digest) in REFERENCE {
        let bound = ErrorBound::new(mode, bound).unwrap();
        let bytes: Vec<u8> = LENS.iter().flat_map(|&len| compress(&series(kind, len), bound).unwrap()).collect();
        assert_eq!((bytes.len(), XxHash3_64::oneshot(&bytes)), (len, digest), "{kind} {bound:?}");
    }
}

#[test]
fn recorded_payloads_come_out_again() {
    // Those whose values are known: kept as they were, or all the same.
    let path = |name| format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sz3/{}.tgm"), name);
    for (name, original) in [("random-incompressible", None), ("constant", Some([42.5; 100]))] {
        let bytes = fs::read(path(name)).unwrap();
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        let payload = object.payload();
        let count = usize::try_from(object.descriptor().element_count()).unwrap();
        assert_eq!(is_lossless(payload), original.is_none(), "{name}");
        let values = original.map_or_else(|| decoded(payload, count), |values| values.to_vec());
        let params = object.descriptor().sz3().unwrap();
        let bound = ErrorBound::new(params.error_bound_mode, params.error_bound).unwrap();
        assert!(compress(&values, bound).unwrap() == payload, "{name}");
    }
}

#[test]
fn bound_of_zero_keeps_all_values() {
    let values = series("arcs", 300);
    for bound in [ErrorBound::Absolute(0.0), ErrorBound::Absolute(-0.0), ErrorBound::Relative(0.0)] {
        assert_eq!(compress(&values, bound).unwrap(), compress_lossless(&values).unwrap());
    }
    let same = [1.5; 300];
    for bound in [ErrorBound::Relative(0.1), ErrorBound::Psnr(40.0)] {
        assert_eq!(compress(&same, bound).unwrap(), compress_lossless(&same).unwrap());
    }
    assert!(!is_lossless(&compress(&values, ErrorBound::Psnr(0.0)).unwrap()));
}

#[test]
fn value_that_sz3_takes_for_zero_is_kept() {
    // It is 2⁶³ bounds from its prediction, which SZ3 converts to the least integer, and that to nothing: the reference
    // gives 0 back.
    let mut values = series("arcs", 100);
    values[0] = -9_223_372_036_854_775_808.0;
    assert_eq!(assert_kept(&values, ErrorBound::Absolute(1.0))[0].to_bits(), values[0].to_bits());
}

#[test]
fn values_beyond_the_arithmetic_of_sz3_are_kept_as_they_are() {
    let tiny = f64::from_bits(1);
    for (values, bound) in [
        (vec![1e308, -1e308, 3.0], ErrorBound::Relative(1e-3)),
        (vec![1e308, -1e308, 3.0], ErrorBound::Psnr(60.0)),
        (vec![1e308; 200], ErrorBound::Absolute(1e300)),
        (vec![1e300; 200], ErrorBound::Absolute(1.0)),
        (vec![1.0, 2.0, 3.0], ErrorBound::Relative(f64::MAX)),
        (vec![tiny, 0.0, 5.0 * tiny], ErrorBound::Absolute(tiny)),
        (vec![tiny, 0.0, 5.0 * tiny], ErrorBound::Relative(0.3)),
    ] {
        let payload = compress(&values, bound).unwrap();
        assert!(is_lossless(&payload), "{bound:?}");
        assert_eq!(assert_kept(&values, bound), values);
    }
}

#[test]
fn psnr_is_reached_where_errors_are_not_spread_evenly() {
    // All errors are as great as the bound allows: with the bound that SZ3 derives, 4.7 dB are missing.
    let values: Vec<f64> = (0..1000).map(|index| if unit(index) < 0.5 { -1.7 } else { 1.7 }).collect();
    for bound in [5.0, 20.0, 40.0, 60.0, 100.0] {
        assert_kept(&values, ErrorBound::Psnr(bound));
    }
}

#[test]
fn threads_do_not_disturb_each_other() {
    let alone = compress(&series("noisy arcs", 20_000), ErrorBound::Absolute(0.01)).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (kind, len) in [("noise", 3000), ("noisy arcs", 20_000), ("walk", 700), ("noisy arcs", 20_000)] {
                    let payload = compress(&series(kind, len), ErrorBound::Absolute(0.01)).unwrap();
                    assert!(kind != "noisy arcs" || payload == alone);
                }
            });
        }
    });
}

/// Values of one magnitude or of many, smooth or not.
fn values() -> impl Strategy<Value = Vec<f64>> {
    let finite = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
    let scale = (-300..300_i32).prop_map(|exponent| 10.0_f64.powi(exponent));
    prop_oneof![
        prop::collection::vec(finite, 1..300),
        prop::collection::vec((-60..60_i32).prop_map(|exponent| 2.0_f64.powi(exponent)), 1..300),
        prop::collection::vec((-3..3_i32).prop_map(f64::from), 1..2000),
        (prop::collection::vec(-1.0..1.0, 1..2000), scale.clone())
            .prop_map(|(values, scale)| values.into_iter().map(|value| value * scale).collect()),
        (1..6000_usize, prop::sample::select(vec!["arcs", "noisy arcs", "noise", "walk", "steps"]), scale)
            .prop_map(|(len, kind, scale)| series(kind, len).into_iter().map(|value| value * scale).collect()),
    ]
    .prop_filter("finite", |values: &Vec<f64>| values.iter().all(|value| value.is_finite()))
}

proptest! {
    #[test]
    fn absolute_bound_is_kept(values in values(), bound in prop::num::f64::POSITIVE) {
        assert_kept(&values, ErrorBound::Absolute(bound));
    }

    #[test]
    fn absolute_bound_near_the_values_is_kept(values in values(), index: prop::sample::Index, exponent in -64..8_i32) {
        let bound = index.get(&values).abs() * 2.0_f64.powi(exponent);
        prop_assume!(bound.is_finite());
        assert_kept(&values, ErrorBound::Absolute(bound));
    }

    #[test]
    fn relative_bound_is_kept(values in values(), exponent in -14.0..1.0) {
        assert_kept(&values, ErrorBound::Relative(10.0_f64.powf(exponent)));
    }

    #[test]
    fn psnr_is_reached(values in values(), bound in 0.0..200.0) {
        assert_kept(&values, ErrorBound::Psnr(bound));
    }
}
