//! `simple_packing`: parameters derived from values, and values packed to bit fields (PIPELINE §3.2, §3.3).
//!
//! ```text
//! R = the least value, E = ⌈log2((greatest − least) · 10^D / (2^B − 1))⌉
//! q = round((value − R) · 10^D · 2^(−E)), kept within 0 and 2^B − 1; fields of B bits, most significant first
//! ```
//!
//! Halves are rounded away from zero. The factor is multiplied once, before the values, so that results are to the bit those of the
//! format's other writers.

use tgm_core::descriptor::ByteOrder;
use tgm_core::packing::Packing;

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::threads::Threads;
use crate::kernels::pack::{self, Extent, Fields, Source};
use crate::kernels::simd::Simd;

/// Widths that a field may have.
const MAX_BITS: u32 = 64;
/// The greatest power of two that is written: fields of values further apart, or closer, mean that something is wrong.
const MAX_BINARY_SCALE: u32 = 256;
/// Values looked at side by side, so that their comparisons do not wait for each other.
const LANES: usize = 8;
/// Fields packed in one go: any eight of them are a whole number of bytes.
pub(crate) const BLOCK: usize = 4096;

/// Values as they lie in the caller's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a> {
    bytes: &'a [[u8; 8]],
    order: ByteOrder,
}

impl<'a> Values<'a> {
    /// The `f64` values that `bytes` are in `order`; what is left over at the end is none.
    pub(crate) fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes: bytes.as_chunks().0, order }
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// `count` values behind the first `start`, which must be there.
    pub(crate) fn part(self, start: usize, count: usize) -> Self {
        let bytes = self.bytes.get(start..).and_then(|bytes| bytes.get(..count));
        Self { bytes: bytes.unwrap_or_default(), order: self.order }
    }

    fn iter(&self) -> impl Iterator<Item = f64> + use<'a> {
        let order = self.order;
        self.bytes.iter().map(move |bytes| load(*bytes, order))
    }

    /// The values in blocks of [`BLOCK`].
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Self> + use<'a> {
        let order = self.order;
        self.bytes.chunks(BLOCK).map(move |bytes| Self { bytes, order })
    }
}

fn load(bytes: [u8; 8], order: ByteOrder) -> f64 {
    match order {
        ByteOrder::Big => f64::from_be_bytes(bytes),
        ByteOrder::Little => f64::from_le_bytes(bytes),
    }
}

/// The bytes of those `f64` values of `data` that are finite.
pub(crate) fn finite_values(data: &[u8], order: ByteOrder) -> Vec<u8> {
    let values: &[[u8; 8]] = data.as_chunks().0;
    values.iter().filter(|bytes| load(**bytes, order).is_finite()).flatten().copied().collect()
}

/// The parameters that hold all `values` in fields of `bits`.
///
/// One pass over the values.
///
/// # Errors
/// [`TensogramError::Encoding`] for more than 64 bits, and for a value that is not finite, which it names.
pub(crate) fn derive(values: Values<'_>, bits: u32, decimal_scale_factor: i32) -> Result<Packing> {
    if bits > MAX_BITS {
        return Err(TensogramError::encoding(format!("bits_per_value {bits} exceeds {MAX_BITS}")));
    }
    let packing = |reference_value, binary_scale_factor| Packing {
        reference_value,
        binary_scale_factor,
        decimal_scale_factor,
        bits_per_value: bits,
    };
    let first = values.iter().next();
    let Some(first) = first.filter(|_| bits > 0) else { return Ok(packing(first.unwrap_or(0.0), 0)) };
    let Extent { least, greatest, finite } = extent(Simd::best(), values);
    if !finite {
        return Err(first_non_finite(values));
    }
    // Of zeros of both signs the first one counts.
    let least = if least == 0.0 { values.iter().find(|value| *value == 0.0).unwrap_or(first) } else { least };
    let range = (greatest - least) * 10_f64.powi(decimal_scale_factor);
    let steps = most(bits);
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is refused when values are packed")]
    let binary_scale_factor = if range == 0.0 || steps == 0.0 { 0 } else { (range / steps).log2().ceil() as i32 };
    Ok(packing(least, binary_scale_factor))
}

/// The greatest field of `bits`, as a number.
#[expect(clippy::cast_precision_loss, reason = "so do the format's other writers")]
const fn most(bits: u32) -> f64 {
    if bits == 0 { 0.0 } else { (u64::MAX >> (MAX_BITS - bits)) as f64 }
}

/// The fewest bits in which each of the `f64` values that `data` holds stays within `error` of itself.
///
/// Fields round to the nearest of values 2^E apart, E being what [`derive`] chooses for so many bits.
///
/// # Errors
/// [`TensogramError::Encoding`] for a value that is not finite, for an error that is not positive, and if 64 bits do not
/// do.
pub(crate) fn bits_within(data: &[u8], order: ByteOrder, error: f64) -> Result<u32> {
    if error.is_nan() || error <= 0.0 {
        return Err(TensogramError::encoding(format!("an error of at most {error} cannot be kept")));
    }
    let values = Values::new(data, order);
    let Extent { least, greatest, finite } = extent(Simd::best(), values);
    if !finite {
        return Err(first_non_finite(values));
    }
    let range = greatest - least;
    if values.len() == 0 || range == 0.0 {
        return Ok(0);
    }
    let fits = |bits: &u32| 2_f64.powf((range / most(*bits)).log2().ceil()) / 2.0 <= error;
    (1..=MAX_BITS).find(fits).ok_or_else(|| {
        TensogramError::encoding(format!("no number of bits keeps a range of {range} within an error of {error}"))
    })
}

/// Where values lie: the bulk by what the processor has, the rest here.
fn extent(simd: Simd, values: Values<'_>) -> Extent {
    let bulk = pack::extent(simd, Source { bytes: values.bytes, order: values.order });
    let (bulk, done) = bulk.unwrap_or((NOWHERE, 0));
    let rest = values.bytes.get(done..).unwrap_or_default();
    let rest = match values.order {
        ByteOrder::Big => extent_of(rest, f64::from_be_bytes),
        ByteOrder::Little => extent_of(rest, f64::from_le_bytes),
    };
    Extent {
        least: bulk.least.min(rest.least),
        greatest: bulk.greatest.max(rest.greatest),
        finite: bulk.finite && rest.finite,
    }
}

/// The extent of no values.
const NOWHERE: Extent = Extent { least: f64::INFINITY, greatest: f64::NEG_INFINITY, finite: true };

fn extent_of(values: &[[u8; 8]], load: impl Fn([u8; 8]) -> f64) -> Extent {
    let (mut least, mut greatest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    // A NaN or an infinity makes this NaN, and nothing brings it back; 0 · finite adds nothing.
    let mut zero = [0.0; LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    let mut look = |lane: usize, value: f64| {
        least[lane] = if value < least[lane] { value } else { least[lane] };
        greatest[lane] = if value > greatest[lane] { value } else { greatest[lane] };
        zero[lane] += value * 0.0;
    };
    for row in rows {
        for (lane, bytes) in row.iter().enumerate() {
            look(lane, load(*bytes));
        }
    }
    for bytes in rest {
        look(0, load(*bytes));
    }
    Extent {
        least: least.into_iter().fold(f64::INFINITY, f64::min),
        greatest: greatest.into_iter().fold(f64::NEG_INFINITY, f64::max),
        finite: zero.into_iter().sum::<f64>() == 0.0,
    }
}

fn first_non_finite(values: Values<'_>) -> TensogramError {
    let found = values.iter().enumerate().find(|(_, value)| !value.is_finite());
    let (index, value) = found.unwrap_or((values.len(), f64::NAN));
    let kind = if value.is_nan() { "NaN" } else { "infinite" };
    TensogramError::encoding(format!("{kind} value encountered at index {index}: {}", Hint::PackFinite))
}

/// How values become fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packer {
    reference: f64,
    factor: f64,
    bits: u32,
}

impl Packer {
    /// Checks parameters and prepares for packing with them.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for parameters out of range.
    pub(crate) fn new(packing: &Packing) -> Result<Self> {
        let Packing { reference_value, binary_scale_factor, decimal_scale_factor, bits_per_value } = *packing;
        if bits_per_value > MAX_BITS {
            return Err(TensogramError::encoding(format!("bits_per_value {bits_per_value} exceeds {MAX_BITS}")));
        }
        if !reference_value.is_finite() {
            return Err(TensogramError::encoding(format!("invalid reference_value: {reference_value} is not finite")));
        }
        if binary_scale_factor.unsigned_abs() > MAX_BINARY_SCALE {
            return Err(TensogramError::encoding(format!(
                "invalid binary_scale_factor: value {binary_scale_factor} outside the reasonable range \
                 ±{MAX_BINARY_SCALE}: values this far apart, or this close, cannot be packed"
            )));
        }
        let factor = 10_f64.powi(decimal_scale_factor) * 2_f64.powi(-binary_scale_factor);
        Ok(Self { reference: reference_value, factor, bits: bits_per_value })
    }

    /// Bytes of `count` fields, which is no more than a slice of values can be long.
    pub(crate) const fn packed_len(self, count: usize) -> usize {
        (count as u128 * self.bits as u128).div_ceil(8) as usize
    }

    /// Packs `values` to the front of `out`, which is as long as their fields are, to the byte.
    pub(crate) fn pack_into(self, values: Values<'_>, out: &mut [u8]) {
        self.pack_by(Simd::best(), values, out);
    }

    fn pack_by(self, simd: Simd, values: Values<'_>, out: &mut [u8]) {
        let fields = Fields { reference: self.reference, factor: self.factor, bits: self.bits };
        let done = pack::pack(simd, Source { bytes: values.bytes, order: values.order }, fields, out);
        let rest = values.bytes.get(done..).unwrap_or_default();
        let out = out.get_mut(self.packed_len(done)..).unwrap_or_default();
        match values.order {
            ByteOrder::Big => self.pack(rest, f64::from_be_bytes, out),
            ByteOrder::Little => self.pack(rest, f64::from_le_bytes, out),
        }
    }

    /// [`Self::pack_into`] on several threads.
    pub(crate) fn pack_on(self, threads: Threads, values: Values<'_>, out: &mut [u8]) {
        let grain = self.packed_len(BLOCK).max(1);
        let packed = threads.pieces(out, grain, |start, piece| {
            let first = start / grain * BLOCK;
            let bytes = values.bytes.get(first..).unwrap_or_default();
            self.pack_into(Values { bytes, order: values.order }, piece);
            Ok::<_, std::convert::Infallible>(())
        });
        match packed {
            Ok(()) => {}
        }
    }

    fn pack(self, values: &[[u8; 8]], load: impl Fn([u8; 8]) -> f64 + Copy, out: &mut [u8]) {
        let narrow = |bytes: &[u8; 8]| self.quantise_narrow(load(*bytes));
        match self.bits {
            0 => {}
            8 => out.iter_mut().zip(values).for_each(|(out, v)| [.., *out] = narrow(v).to_be_bytes()),
            16 => pack_bytes(values, narrow, out, |q| {
                let [.., a, b] = q.to_be_bytes();
                [a, b]
            }),
            24 => pack_bytes(values, narrow, out, |q| {
                let [_, a, b, c] = q.to_be_bytes();
                [a, b, c]
            }),
            1..=31 => pack_fields(values.iter().map(|v| u64::from(narrow(v))), self.bits, out),
            bits => pack_fields(values.iter().map(|v| self.quantise(load(*v))), bits, out),
        }
    }

    /// The field of a value, for fields of fewer bits than an `i32` has: conversions that vectorise.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "kept within 0 and 2^31 - 1")]
    fn quantise_narrow(self, value: f64) -> u32 {
        let most = f64::from(((1_u64 << self.bits) - 1) as u32);
        // NaN, which finite values make of a factor that is none, becomes 0.
        let scaled = ((value - self.reference) * self.factor).max(0.0).min(most);
        let whole = scaled as i32;
        let up = scaled - f64::from(whole) >= 0.5;
        whole as u32 + u32::from(up)
    }

    /// The field of a value.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "saturates as the format says; beyond 2^53 there is no fraction to round"
    )]
    fn quantise(self, value: f64) -> u64 {
        let scaled = (value - self.reference) * self.factor;
        let whole = scaled as u64;
        let up = scaled - whole as f64 >= 0.5;
        whole.saturating_add(u64::from(up)).min(u64::MAX >> (MAX_BITS - self.bits))
    }
}

/// Fields of N whole bytes.
fn pack_bytes<const N: usize>(
    values: &[[u8; 8]],
    quantise: impl Fn(&[u8; 8]) -> u32,
    out: &mut [u8],
    bytes: impl Fn(u32) -> [u8; N],
) {
    for (out, value) in out.as_chunks_mut().0.iter_mut().zip(values) {
        *out = bytes(quantise(value));
    }
}

/// Fields of any width, gathered from the top of a word.
fn pack_fields(fields: impl Iterator<Item = u64>, bits: u32, out: &mut [u8]) {
    let (mut words, mut gathered, mut count) = (out, 0_u128, 0);
    for field in fields {
        gathered = (gathered << bits) | u128::from(field);
        count += bits;
        if count >= 64 {
            count -= 64;
            #[expect(clippy::cast_possible_truncation, reason = "the bits above have been written")]
            let word = (gathered >> count) as u64;
            let Some((out, rest)) = std::mem::take(&mut words).split_first_chunk_mut() else { return };
            *out = word.to_be_bytes();
            words = rest;
        }
    }
    // The last bits, moved up to the top.
    #[expect(clippy::cast_possible_truncation, reason = "the bits above have been written")]
    let last = if count == 0 { 0 } else { (gathered as u64) << (64 - count) };
    words.iter_mut().zip(last.to_be_bytes()).for_each(|(out, byte)| *out = byte);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tgm_core::descriptor::ByteOrder;
    use tgm_core::packing::{Packing, unpack_into};

    use super::{Extent, Packer, Simd, Values, bits_within, derive, extent};
    use crate::base::threads::Threads;

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
        let mut in_pieces = vec![0; out.len()];
        packer.pack_on(
            Threads::resolve(3, 1, Some(0)).unwrap(),
            Values::new(&bytes, ByteOrder::Little),
            &mut in_pieces,
        );
        assert_eq!(out, in_pieces);
        out
    }

    /// PIPELINE §3.3, bit by bit.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating is what is meant")]
    fn naive(values: &[f64], packing: &Packing) -> Vec<u8> {
        let factor = 10_f64.powi(packing.decimal_scale_factor) * 2_f64.powi(-packing.binary_scale_factor);
        let bits = packing.bits_per_value;
        let most = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        let fields = values.iter().map(|value| (((value - packing.reference_value) * factor).round() as u64).min(most));
        let bits: Vec<bool> = fields.flat_map(|q| (0..bits).rev().map(move |bit| q >> bit & 1 == 1)).collect();
        bits.chunks(8)
            .map(|byte| byte.iter().enumerate().fold(0, |b, (i, set)| b | u8::from(*set) << (7 - i)))
            .collect()
    }

    #[test]
    fn worked_examples_of_the_format() {
        let values = [250.0, 251.3, 252.7];
        let derived = |bits| derive(Values::new(&bytes_of(&values), ByteOrder::Little), bits, 0).unwrap();
        assert_eq!(
            (derived(16).reference_value.to_bits(), derived(16).binary_scale_factor),
            (250.0_f64.to_bits(), -14)
        );
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

    /// Halves, a factor that is no number, values far below and above.
    #[test]
    fn odd_values_are_packed_alike_on_every_level() {
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
    fn the_first_of_two_zeros_is_the_reference() {
        let reference = |values: &[f64]| {
            derive(Values::new(&bytes_of(values), ByteOrder::Little), 8, 0).unwrap().reference_value.to_bits()
        };
        assert_eq!(reference(&[1.0, -0.0, 0.0, 2.0]), (-0.0_f64).to_bits());
        assert_eq!(reference(&[1.0, 0.0, -0.0, 2.0]), 0.0_f64.to_bits());
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
            let bits = bits_within(&bytes_of(&values), ByteOrder::Little, error).unwrap();
            let packing = derive(Values::new(&bytes_of(&values), ByteOrder::Little), bits, 0).unwrap();
            let mut back = vec![0.0_f64; values.len()];
            unpack_into(&pack(&values, &packing), &packing, 0, &mut back).unwrap();
            for (value, back) in values.iter().zip(back) {
                prop_assert!((value - back).abs() <= error * (1.0 + 1e-9) + 1e-12, "{} bits: {} became {}", bits, value, back);
            }
        }
    }
}
