//! Parameters derived from values.

use std::convert::Infallible;

use tgm_codec::kernels::pack::{self, Extent, ValueBytes};
use tgm_codec::kernels::simd::Simd;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::ByteOrder;
use tgm_core::packing::Packing;

use super::check::{self, MAX_BINARY_SCALE, MAX_BITS, first_non_finite};
use super::values::{BLOCK, Values};
use crate::base::error::{Result, TensogramError};

/// Values that are compared side by side, so that no comparison waits for the one before.
const LANES: usize = 8;
/// Values that a thread looks at before it takes the next ones.
const PART: usize = 32 * BLOCK;

/// The parameters with which all `values` fit fields of `bits`. Reads the values once.
///
/// # Errors
/// [`TensogramError::Encoding`] for more than 64 bits, and for values that are not finite, of which it names the first.
pub(crate) fn derive(values: Values<'_>, bits: u32, decimal_scale_factor: i32) -> Result<Packing> {
    derive_on(Threads::NONE, values, bits, decimal_scale_factor)
}

/// [`derive`] on several threads.
///
/// # Errors
/// The errors of [`derive`].
pub(crate) fn derive_on(threads: Threads, values: Values<'_>, bits: u32, decimal_scale_factor: i32) -> Result<Packing> {
    check::bits(bits)?;
    let packing = |reference_value, binary_scale_factor| Packing {
        reference_value,
        binary_scale_factor,
        decimal_scale_factor,
        bits_per_value: bits,
    };
    let first = values.iter().next();
    let Some(first) = first.filter(|_| bits > 0) else { return Ok(packing(first.unwrap_or(0.0), 0)) };
    let Extent { least, greatest, .. } = finite_extent(threads, values)?;
    // If there are zeros of both signs, the sign of the first one counts.
    let least = if least == 0.0 { values.iter().find(|value| *value == 0.0).unwrap_or(first) } else { least };
    let range = (greatest - least) * packing(0.0, 0).factor();
    let steps = greatest_field(bits);
    #[expect(clippy::cast_possible_truncation, reason = "saturates; packing refuses such a scale")]
    let binary_scale_factor = if range == 0.0 || steps == 0.0 { 0 } else { (range / steps).log2().ceil() as i32 };
    Ok(packing(least, binary_scale_factor))
}

/// The greatest field of `bits`, as a number.
#[expect(clippy::cast_precision_loss, reason = "the format's other writers lose the same bits")]
const fn greatest_field(bits: u32) -> f64 {
    if bits == 0 { 0.0 } else { (u64::MAX >> (MAX_BITS - bits)) as f64 }
}

/// The parameters of the fewest bits with which every value stays within `error` of itself. Every program of this project that
/// packs within an error chooses them here.
///
/// Quantisation rounds to the nearest multiple of 2^E, where E is the scale that [`derive`] chooses for that many bits. One that is
/// finer than writers write becomes coarser.
///
/// # Errors
/// [`TensogramError::Encoding`] for values that are not finite, for an error that is not positive, and if 64 bits are
/// too few.
pub(crate) fn derive_within(values: Values<'_>, error: f64) -> Result<Packing> {
    let finest = -f64::from(MAX_BINARY_SCALE);
    let packing = derive(values, bits_within(values, error, finest)?, 0)?;
    let scale = f64::from(packing.binary_scale_factor).max(finest);
    #[expect(clippy::cast_possible_truncation, reason = "an integer before, or the finest scale")]
    Ok(Packing { binary_scale_factor: scale as i32, ..packing })
}

/// The fewest bits of [`derive_within`].
fn bits_within(values: Values<'_>, error: f64, finest: f64) -> Result<u32> {
    if error.is_nan() || error <= 0.0 {
        return Err(TensogramError::encoding(format!("an error of at most {error} cannot be kept")));
    }
    let Extent { least, greatest, .. } = finite_extent(Threads::NONE, values)?;
    let range = greatest - least;
    if values.len() == 0 || range == 0.0 {
        return Ok(0);
    }
    let fits = |bits: &u32| {
        let scale = (range / greatest_field(*bits)).log2().ceil().max(finest);
        scale <= -finest && 2_f64.powf(scale) / 2.0 <= error
    };
    (1..=MAX_BITS).find(fits).ok_or_else(|| {
        TensogramError::encoding(format!("no number of bits keeps a range of {range} within an error of {error}"))
    })
}

/// The extent of values that are all finite.
fn finite_extent(threads: Threads, values: Values<'_>) -> Result<Extent> {
    let simd = Simd::best();
    let found = if threads.is_one() {
        extent(simd, values)
    } else {
        let parts: Vec<_> = values.parts(PART).collect();
        let Ok::<_, Infallible>(extents) = threads.map(&parts, |part| Ok(extent(simd, *part)));
        extents.into_iter().fold(EMPTY, joined)
    };
    if found.finite {
        return Ok(found);
    }
    // The fast pass only says that there is such a value; this one finds the first.
    first_non_finite(values.iter()).map_or(Ok(found), Err)
}

/// The extent of values: most of them by vector instructions, the rest one by one.
pub(super) fn extent(simd: Simd, values: Values<'_>) -> Extent {
    let bulk = pack::extent(simd, ValueBytes { bytes: values.bytes, order: values.order });
    let (bulk, done) = bulk.unwrap_or((EMPTY, 0));
    let rest = values.from(done);
    let rest = match rest.order {
        ByteOrder::Big => extent_of(rest.bytes, f64::from_be_bytes),
        ByteOrder::Little => extent_of(rest.bytes, f64::from_le_bytes),
    };
    joined(bulk, rest)
}

/// The extent of the values of two extents.
fn joined(a: Extent, b: Extent) -> Extent {
    Extent { least: a.least.min(b.least), greatest: a.greatest.max(b.greatest), finite: a.finite && b.finite }
}

/// The extent of no values.
const EMPTY: Extent = Extent { least: f64::INFINITY, greatest: f64::NEG_INFINITY, finite: true };

fn extent_of(values: &[[u8; 8]], load: impl Fn([u8; 8]) -> f64) -> Extent {
    let (mut least, mut greatest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    // Adding value · 0 changes nothing for a finite value. A NaN or an infinity makes the sum NaN, and it stays NaN.
    // That needs no branch in the loop.
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
