//! Every level agrees with core.

use proptest::prelude::*;
use tgm_core::descriptor::ByteOrder;
use tgm_core::packing::{self, Packing};

use super::super::simd::Simd;
use super::{Value, unpack_by, unpack_bytes_by};

fn packing(bits_per_value: u32) -> Packing {
    Packing { reference_value: 271.828, binary_scale_factor: -7, decimal_scale_factor: 2, bits_per_value }
}

/// The result, and the buffer after it: values as bits.
fn unpacked<T: Value + Copy + Default + Into<f64>>(
    simd: Option<Simd>,
    packed: &[u8],
    packing: &Packing,
    start: u64,
    count: usize,
) -> (tgm_core::Result<()>, Vec<u64>) {
    let mut out = vec![T::default(); count];
    let result = match simd {
        Some(simd) => unpack_by(simd, packed, packing, start, &mut out),
        None => packing::unpack_into(packed, packing, start, &mut out),
    };
    (result, out.into_iter().map(|value| value.into().to_bits()).collect())
}

fn bytes(
    simd: Option<Simd>,
    packed: &[u8],
    packing: &Packing,
    start: u64,
    order: ByteOrder,
    len: usize,
) -> (tgm_core::Result<()>, Vec<u8>) {
    let mut out = vec![0xaa; len];
    let result = match simd {
        Some(simd) => unpack_bytes_by(simd, packed, packing, start, order, &mut out),
        None => packing::unpack_bytes_into(packed, packing, start, order, &mut out),
    };
    (result, out)
}

/// Checks that every level returns and writes what core does.
fn check(packed: &[u8], packing: &Packing, start: u64, count: usize) {
    for simd in Simd::all() {
        let case = (simd, packing.bits_per_value, start, count);
        let of = |simd| unpacked::<f64>(simd, packed, packing, start, count);
        assert_eq!(of(Some(simd)), of(None), "{case:?}");
        let of = |simd| unpacked::<f32>(simd, packed, packing, start, count);
        assert_eq!(of(Some(simd)), of(None), "{case:?}");
        for order in [ByteOrder::Big, ByteOrder::Little] {
            for len in [8 * count, 8 * count + 3] {
                let of = |simd| bytes(simd, packed, packing, start, order, len);
                assert_eq!(of(Some(simd)), of(None), "{case:?}");
            }
        }
    }
}

#[test]
fn every_width_agrees_with_core_at_every_start() {
    let packed: Vec<u8> = (0_u32..1600).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bits in 0..=65 {
        for start in 0..10 {
            for count in [0, 1, 31, 32, 33, 40, 190] {
                check(&packed, &packing(bits), start, count);
            }
        }
    }
}

/// A level that divides the scale by a power of two must not do so where the quotient is rounded.
#[test]
fn scales_near_the_smallest_numbers_agree_with_core() {
    let packed: Vec<u8> = (0_u32..1600).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bits in 1..=57 {
        for binary_scale_factor in [-1023, -1022, -1019, -1015, -1010] {
            let packing =
                Packing { reference_value: 0.0, binary_scale_factor, decimal_scale_factor: 1, bits_per_value: bits };
            check(&packed, &packing, 0, 190);
        }
    }
}

#[test]
fn what_is_larger_than_caches_is_the_same() {
    let count = (2 << 20) + 77;
    let packed: Vec<u8> = (0..3 * (count + 8)).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for (bits, start) in [(12, 3), (24, 0), (17, 5)] {
        let mut expected = vec![0.0_f64; count as usize];
        packing::unpack_into(&packed, &packing(bits), start, &mut expected).unwrap();
        // The output does not begin with a line of memory.
        let mut out = vec![0.0_f64; count as usize + 1];
        super::unpack_into(&packed, &packing(bits), start, &mut out[1..]).unwrap();
        assert!(out[1..] == expected, "{bits}");
    }
    let mut short = vec![0.0_f64; count as usize];
    let result = super::unpack_into(&packed[..packed.len() / 2], &packing(24), 0, &mut short);
    assert_eq!(result, packing::unpack_into(&packed[..packed.len() / 2], &packing(24), 0, &mut short));
    assert!(result.is_err());
}

proptest! {
    #[test]
    fn any_request_agrees_with_core(
        packed in prop::collection::vec(any::<u8>(), 0..400),
        bits in 0_u32..70,
        start in prop_oneof![0_u64..100, any::<u64>()],
        count in 0_usize..500,
        cut in 0_usize..40,
    ) {
        check(&packed, &packing(bits), start, count);
        // All values that there are, and a few more or less.
        let all = (packed.len() * 8).checked_div(bits as usize).unwrap_or(0);
        let from = usize::try_from(start).unwrap_or(0).min(all);
        check(&packed, &packing(bits), from as u64, (all - from + 20).saturating_sub(cut));
    }
}
