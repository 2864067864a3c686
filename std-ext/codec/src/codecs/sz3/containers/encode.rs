//! Compression within an error bound: which values SZ3 gets, and how its result is checked.
//!
//! SZ3 converts quotients `difference / bound` to integers without a check that they fit, and so may return another
//! value. It meets a PSNR only if errors are spread evenly. So values for which its arithmetic is not defined are kept
//! as they are, and every other result is decoded and compared with the values before it is returned.

use super::compress_lossless;
#[cfg(feature = "sz3")]
use super::{decompress_values, keep, shim, zeroed};
use crate::codecs::ErrorBound;
use crate::error::CodecError;

/// Compresses `values` within `bound`. The bytes equal the reference's, except as below.
///
/// The result has been decoded and compared with `values`. Values are kept as they are ([`compress_lossless`]) if the
/// bound is 0, if SZ3 finds that smaller, and if SZ3's arithmetic would overflow: for values of 2¹⁰¹⁸ and more, or of
/// 2⁵⁹ absolute bounds and more. If the reference misses the PSNR asked for, it is met here, by a smaller absolute
/// bound.
///
/// Takes about 50 bytes of memory a value, on one thread.
///
/// # Errors
/// [`CodecError`] for no values at all, for one that is not finite, for a bound that is negative or not finite, and for
/// want of memory; without feature `sz3` for any bound but 0.
///
/// Format: sz3 (PIPELINE §5.7).
pub fn compress(values: &[f64], bound: ErrorBound) -> Result<Vec<u8>, CodecError> {
    bound.check()?;
    if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        return Err(CodecError::new(format!("value {index} is {value}, which no error bound holds for")));
    }
    if bound.is_zero() || values.is_empty() {
        return compress_lossless(values);
    }
    compress_lossy(values, bound)
}

#[cfg(not(feature = "sz3"))]
fn compress_lossy(_: &[f64], _: ErrorBound) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::part_not_compiled_in("encoding with loss", "sz3", "take an error bound of 0"))
}

#[cfg(feature = "sz3")]
fn compress_lossy(values: &[f64], bound: ErrorBound) -> Result<Vec<u8>, CodecError> {
    let tolerance = Tolerance::of(values, bound);
    if let Some(payload) = compress_within(values, &tolerance)? {
        return Ok(payload);
    }
    if let Some(payload) = tolerance.tightened().map(|tighter| compress_within(values, &tighter)).transpose()?.flatten()
    {
        return Ok(payload);
    }
    keep(values, tolerance.absolute)
}

/// Compresses by SZ3. `None` if its arithmetic is not defined for the values, or if the result misses the tolerance.
#[cfg(feature = "sz3")]
fn compress_within(values: &[f64], tolerance: &Tolerance) -> Result<Option<Vec<u8>>, CodecError> {
    if !tolerance.is_computable(values) {
        return Ok(None);
    }
    let payload = shim::compress(values, tolerance.absolute, tolerance.relative)?;
    let mut decoded = zeroed(values.len())?;
    let is_kept = decompress_values(&payload, &mut decoded).is_ok() && tolerance.is_kept(values, &decoded);
    Ok(is_kept.then_some(payload))
}

/// An error bound, resolved to numbers for some values.
#[cfg(feature = "sz3")]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tolerance {
    /// The most that each value may change.
    absolute: f64,
    /// The relative bound, or 0: SZ3's choice of quantisation bins depends on it.
    relative: f64,
    /// The most that the mean of squared changes may be, over the square of `absolute`.
    mean_square: f64,
}

#[cfg(feature = "sz3")]
impl Tolerance {
    /// The mean square of errors that SZ3 assumes, over the square of their bound. It is a little more than 1/3, the
    /// mean square of errors that are spread evenly. SZ3 resolves PSNR by it.
    const EVENLY_SPREAD: f64 = 1.0 - 2.0 / 3.0 * 0.99;

    fn of(values: &[f64], bound: ErrorBound) -> Self {
        match bound {
            ErrorBound::Absolute(absolute) => Self { absolute, relative: 0.0, mean_square: 1.0 },
            ErrorBound::Relative(relative) => Self { absolute: relative * range(values), relative, mean_square: 1.0 },
            ErrorBound::Psnr(psnr) => {
                let exponent = (psnr + 10.0 * Self::EVENLY_SPREAD.log10()) / -20.0;
                let absolute = range(values) * 10.0_f64.powf(exponent);
                Self { absolute, relative: 0.0, mean_square: Self::EVENLY_SPREAD }
            }
        }
    }

    /// The tolerance with a bound for each value that is small enough to keep the one on the mean square. `None` without a
    /// tolerance on the mean square.
    fn tightened(self) -> Option<Self> {
        let factor = self.mean_square.sqrt();
        (factor < 1.0).then_some(Self { absolute: self.absolute * factor, relative: 0.0, mean_square: 1.0 })
    }

    /// Whether all numbers that SZ3 computes of `values` are finite, and all that it converts to integers fit.
    ///
    /// Its predictions are sums of neighbours. They are at most 3.5 times the greatest value (cubic, at the end), and
    /// sums on the way at most 28 times. So differences stay below 4.5 times the greatest value. SZ3 divides them by a
    /// third of the bound at least, so quotients stay below 13.5 · 2⁵⁹ < 2⁶³.
    fn is_computable(self, values: &[f64]) -> bool {
        const LEAST_BOUND: f64 = f64::MIN_POSITIVE * 4.0;
        const GREATEST_VALUE: f64 = f64::MAX / 64.0;
        const MOST_BOUNDS: f64 = 576_460_752_303_423_488.0; // 2⁵⁹
        let greatest = values.iter().fold(0.0, |greatest: f64, value| greatest.max(value.abs()));
        (LEAST_BOUND..f64::INFINITY).contains(&self.absolute)
            && greatest < GREATEST_VALUE
            && greatest < self.absolute * MOST_BOUNDS
    }

    fn is_kept(self, values: &[f64], decoded: &[f64]) -> bool {
        let errors = || values.iter().zip(decoded).map(|(value, decoded)| (value - decoded).abs());
        let square_sum: f64 = errors().map(|error| (error / self.absolute).powi(2)).sum();
        #[expect(clippy::cast_precision_loss, reason = "no memory holds 2⁵³ values")]
        let count = values.len() as f64;
        errors().all(|error| error <= self.absolute) && square_sum <= self.mean_square * count
    }
}

/// The difference between the greatest and the least value.
#[cfg(feature = "sz3")]
fn range(values: &[f64]) -> f64 {
    let (least, greatest) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), &value| (value.min(least), value.max(greatest)));
    greatest - least
}
