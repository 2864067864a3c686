//! The fields and parameters of the format, on every level of vector instructions.

use proptest::prelude::*;
use tgm_codec::fresh;
use tgm_codec::kernels::pack::Extent;
use tgm_codec::kernels::simd::Simd;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::ByteOrder;
use tgm_core::packing::{Packing, unpack_into};

use super::derive::{derive_on, extent};
use super::{Packer, Values, derive, derive_within};

fn bytes_of(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn pack(values: &[f64], packing: &Packing) -> Vec<u8> {
    let (packer, bytes) = (Packer::new(packing).unwrap(), bytes_of(values));
    let mut out = vec![0; packer.packed_len(values.len())];
    packer.pack_into(Values::new(&bytes, ByteOrder::Little), &mut out);
    let reversed: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    for simd in Simd::all() {
        for (bytes, order) in [(&bytes, ByteOrder::Little), (&reversed, ByteOrder::Big)] {
            let mut again = vec![0; out.len()];
            packer.pack_by(simd, Values::new(bytes, order), &mut again);
            assert_eq!(again, out, "{simd:?}");
        }
    }
    let (mut in_pieces, threads) = (Vec::new(), Threads::resolve(3, 1, Some(0)).unwrap());
    let values = Values::new(&bytes, ByteOrder::Little);
    fresh::append(&mut in_pieces, out.len(), &mut |memory| packer.pack_on(threads, values, memory)).unwrap();
    assert_eq!(out, in_pieces);
    out
}

/// The formula of PIPELINE §3.3, one bit at a time.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion has to saturate")]
fn naive(values: &[f64], packing: &Packing) -> Vec<u8> {
    let factor = packing.factor();
    let bits = packing.bits_per_value;
    let most = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
    let fields = values.iter().map(|value| (((value - packing.reference_value) * factor).round() as u64).min(most));
    let bits: Vec<bool> = fields.flat_map(|q| (0..bits).rev().map(move |bit| q >> bit & 1 == 1)).collect();
    bits.chunks(8).map(|byte| byte.iter().enumerate().fold(0, |b, (i, set)| b | u8::from(*set) << (7 - i))).collect()
}

fn within(bytes: &[u8], error: f64) -> crate::Result<u32> {
    derive_within(Values::new(bytes, ByteOrder::Little), error).map(|packing| packing.bits_per_value)
}

#[test]
fn worked_examples_of_the_format() {
    let values = [250.0, 251.3, 252.7];
    let derived = |bits| derive(Values::new(&bytes_of(&values), ByteOrder::Little), bits, 0).unwrap();
    assert_eq!((derived(16).reference_value.to_bits(), derived(16).binary_scale_factor), (250.0_f64.to_bits(), -14));
    assert_eq!(pack(&values, &derived(16)), [0, 0, 0x53, 0x33, 0xac, 0xcd]);
    assert_eq!((derived(12).binary_scale_factor, pack(&values, &derived(12))), (-10, vec![0, 5, 0x33, 0xac, 0xd0]));
    let plain = |bits_per_value| Packing {
        reference_value: 0.0,
        binary_scale_factor: 0,
        decimal_scale_factor: 0,
        bits_per_value,
    };
    assert_eq!(pack(&[-5.0, 0.0, 1.0, 300.0], &plain(8)), [0, 0, 1, 0xff]);
    assert_eq!(pack(&[0.5, 1.5, 2.5, 0.499_999_999_999_999_94], &plain(8)), [1, 2, 3, 0]);
    assert_eq!(pack(&[0.0, 1.0, 2.0, 3.0], &plain(10)), [0, 0, 0x10, 8, 3]);
}

/// Halves, a factor that is infinite, and values far out of range.
#[test]
fn every_level_packs_odd_values_alike() {
    let mut values: Vec<f64> = (0..200).map(|i| f64::from(i) / 2.0).collect();
    values[70] = -1e300;
    values[80] = 1e300;
    values[90] = 0.499_999_999_999_999_94;
    for decimal_scale_factor in [0, 1, 400, -400] {
        for bits_per_value in 0..=64 {
            let packing =
                Packing { reference_value: 3.0, binary_scale_factor: 0, decimal_scale_factor, bits_per_value };
            assert_eq!(pack(&values, &packing), naive(&values, &packing), "{packing:?}");
        }
    }
}

#[test]
fn every_level_finds_the_same_extent() {
    let values: Vec<f64> = (0..300).map(|i| f64::from((i * 7919) % 1009) - 500.0).collect();
    for at in [0, 1, 7, 100, 298, 299] {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0] {
            let mut values = values.clone();
            values[at] = odd;
            let finite = values.iter().all(|value| value.is_finite());
            for simd in Simd::all() {
                let found = extent(simd, Values::new(&bytes_of(&values), ByteOrder::Little));
                assert_eq!(found.finite, finite, "{simd:?} {at} {odd}");
                if finite {
                    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    assert_eq!(found, Extent { least, greatest, finite });
                }
            }
        }
    }
}

#[test]
fn the_least_bits_that_keep_an_error_are_found() {
    let bits = |values: &[f64], error| within(&bytes_of(values), error);
    // In a range of three, fields of two bits are one apart, and no value is farther than half of that from one of them.
    assert_eq!(bits(&[0.0, 3.0], 0.5).unwrap(), 2);
    assert_eq!(bits(&[0.0, 3.0], 0.49).unwrap(), 3);
    assert_eq!(bits(&[7.0; 5], 0.5).unwrap(), 0, "the reference is enough");
    assert_eq!(bits(&[], 0.5).unwrap(), 0);
    for error in [0.0, -1.0, f64::NAN] {
        for values in [&[7.0; 5][..], &[0.0, 3.0]] {
            assert!(bits(values, error).unwrap_err().to_string().contains("cannot be kept"), "{error}");
        }
    }
}

#[test]
fn a_decimal_scale_is_a_factor_of_the_range_and_without_bits_the_first_value_is_kept() {
    let derived =
        |values: &[f64], bits, decimal| derive(Values::new(&bytes_of(values), ByteOrder::Little), bits, decimal);
    // 10 / 255 is between 2^-5 and 2^-4.
    assert_eq!(derived(&[0.0, 1.0], 8, 1).unwrap().binary_scale_factor, -4);
    assert_eq!(derived(&[0.0, 1.0], 8, -1).unwrap().binary_scale_factor, -11);
    assert_eq!(derived(&[3.0, 1.0, 2.0], 0, 0).unwrap().reference_value.to_bits(), 3.0_f64.to_bits());
    assert!(derived(&[3.0, f64::NAN], 0, 0).is_ok(), "fields of no bits hold anything");
}

#[test]
fn a_reference_that_is_not_finite_packs_nothing() {
    for reference_value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let packing = Packing { reference_value, binary_scale_factor: 0, decimal_scale_factor: 0, bits_per_value: 8 };
        let error = Packer::new(&packing).unwrap_err().to_string();
        assert!(error.contains("sp_reference_value must be finite"), "{error}");
    }
}

#[test]
fn the_first_of_two_zeros_is_the_reference() {
    let reference = |values: &[f64]| {
        derive(Values::new(&bytes_of(values), ByteOrder::Little), 8, 0).unwrap().reference_value.to_bits()
    };
    assert_eq!(reference(&[1.0, -0.0, 0.0, 2.0]), (-0.0_f64).to_bits());
    assert_eq!(reference(&[1.0, 0.0, -0.0, 2.0]), 0.0_f64.to_bits());
}

/// The last part of the values decides.
#[test]
fn several_threads_derive_what_one_derives() {
    let threads = Threads::resolve(2, u64::MAX, None).unwrap();
    let values: Vec<f64> = (0..300_000).map(f64::from).collect();
    for last in [7.5, 1e9, -1e9, -0.0, f64::NAN, f64::INFINITY] {
        let bytes = bytes_of(&[&values[..], &[last]].concat());
        let derive = |threads| derive_on(threads, Values::new(&bytes, ByteOrder::Little), 16, 0);
        match (derive(threads), derive(Threads::NONE)) {
            (Ok(several), Ok(one)) => {
                assert_eq!(several.reference_value.to_bits(), one.reference_value.to_bits(), "{last}");
                assert_eq!(several, one, "{last}");
            }
            (Err(several), Err(one)) => assert_eq!(several.to_string(), one.to_string()),
            (several, one) => panic!("{last}: {several:?}, {one:?}"),
        }
        assert_eq!(derive(threads).is_ok(), last.is_finite());
    }
}

#[test]
fn values_too_far_apart_or_not_finite_are_errors() {
    let derived = |values: &[f64]| derive(Values::new(&bytes_of(values), ByteOrder::Little), 16, 0);
    for (values, text) in [
        (&[0.0, f64::NAN][..], "NaN value encountered at index 1"),
        (&[f64::NEG_INFINITY, f64::NAN], "infinite value encountered at index 0"),
    ] {
        assert!(derived(values).unwrap_err().to_string().contains(text));
    }
    for values in [[-1e308, 1e308], [0.0, 1e-300]] {
        let error = Packer::new(&derived(&values).unwrap()).unwrap_err().to_string();
        assert!(error.contains("outside the reasonable range ±256"), "{error}");
    }
}

#[test]
fn threads_begin_at_the_values_of_their_blocks() {
    let values: Vec<f64> = (0..20_000).map(f64::from).collect();
    let packing = derive(Values::new(&bytes_of(&values), ByteOrder::Little), 12, 0).unwrap();
    assert_eq!(pack(&values, &packing), naive(&values, &packing));
}

proptest! {
    #[test]
    fn fields_are_those_of_the_formula(
        values in prop::collection::vec(-1e6..1e6_f64, 0..200),
        bits in 0..=64_u32,
        decimal in -3..4,
    ) {
        let derived = derive(Values::new(&bytes_of(&values), ByteOrder::Little), bits, decimal).unwrap();
        prop_assert_eq!(pack(&values, &derived), naive(&values, &derived));
    }

    #[test]
    fn fields_of_any_parameters_are_those_of_the_formula(
        values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 0..50),
        (reference, scale, decimal, bits) in (prop::num::f64::NORMAL, -256..=256, -400..400, 1..=64_u32),
    ) {
        let packing = Packing {
            reference_value: reference,
            binary_scale_factor: scale,
            decimal_scale_factor: decimal,
            bits_per_value: bits,
        };
        prop_assert_eq!(pack(&values, &packing), naive(&values, &packing));
    }

    #[test]
    fn the_error_asked_for_is_kept(values in prop::collection::vec(-1e3..1e3_f64, 1..100), exponent in -9..3) {
        let error = 10_f64.powi(exponent);
        let bits = within(&bytes_of(&values), error).unwrap();
        let packing = derive(Values::new(&bytes_of(&values), ByteOrder::Little), bits, 0).unwrap();
        let mut back = vec![0.0_f64; values.len()];
        unpack_into(&pack(&values, &packing), &packing, 0, &mut back).unwrap();
        for (value, back) in values.iter().zip(back) {
            let is_kept = (value - back).abs() <= error * (1.0 + 1e-9) + 1e-12;
            prop_assert!(is_kept, "{} bits: {} became {}", bits, value, back);
        }
    }
}

/// A step that is finer than writers write becomes coarser, and values with a coarser one cannot be kept.
#[test]
fn steps_within_an_error_are_those_that_can_be_written() {
    let tiny = bytes_of(&[0.0, 1e-90]);
    let packing = derive_within(Values::new(&tiny, ByteOrder::Little), 1.0).unwrap();
    assert_eq!((packing.bits_per_value, packing.binary_scale_factor), (1, -256));
    Packer::new(&packing).unwrap();
    assert!(within(&bytes_of(&[0.0, 1e300]), 1e299).is_err());
    assert!(within(&bytes_of(&[-1.7e308, 1.7e308]), 1e300).is_err());
}
