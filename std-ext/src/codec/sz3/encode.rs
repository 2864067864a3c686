//! Compression within an error bound: what SZ3 gets to see, and what is done with what it returns.
//!
//! SZ3 converts quotients `difference / bound` to integers without looking whether they fit, and so may take one value for
//! another; and it meets a PSNR only where errors are spread evenly. So values for which its arithmetic is not defined are
//! kept as they are, and what it makes of others is decoded and compared before anybody gets it.

use super::super::{CodecError, ErrorBound};
use super::compress_lossless;
#[cfg(feature = "sz3")]
use super::{decompress_values, keep, shim, zeroed};

/// Compresses `values` within `bound`: the bytes are the reference's, except as below.
///
/// What comes out has been decoded and compared with `values`. It keeps them as they are ([`compress_lossless`]) where the
/// bound is 0, where SZ3 finds that smaller, and where SZ3's arithmetic would overflow: values of 2¹⁰¹⁸ and more, or of
/// 2⁵⁹ absolute bounds and more. Where the reference misses the PSNR asked for, it is met here, by a smaller absolute bound.
///
/// Takes some 50 bytes of memory for each value, on one thread.
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
    Err(CodecError::new(format!(
        "encoding with loss is not compiled in: {}, or take an error bound of 0",
        crate::base::hint::Hint::Sz3
    )))
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

/// `None` if SZ3 can't do it.
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

/// An error bound, resolved for some values.
#[cfg(feature = "sz3")]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tolerance {
    /// What each value may differ by.
    absolute: f64,
    /// The relative bound, or 0: SZ3's choice of quantisation bins depends on it.
    relative: f64,
    /// What the mean of squared differences may be, over the square of `absolute`.
    mean_square: f64,
}

#[cfg(feature = "sz3")]
impl Tolerance {
    /// What SZ3 takes the mean square of errors to be, over the square of their bound: 1/3 if they are spread evenly, and
    /// a little more. It resolves PSNR by this.
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

    /// The bound for each value that suffices for the one on their mean square, if there is one on that.
    fn tightened(self) -> Option<Self> {
        let factor = self.mean_square.sqrt();
        (factor < 1.0).then_some(Self { absolute: self.absolute * factor, relative: 0.0, mean_square: 1.0 })
    }

    /// Whether all that SZ3 computes of `values` is finite, and what it converts to integers fits.
    ///
    /// Its predictions are sums of neighbours: not greater than 3.5 times the greatest (cubic, at the end), and no more
    /// than 28 times that on the way. So differences stay below 4.5 times the greatest value, and in multiples of a third
    /// of the bound, which is the least it uses, below 13.5 · 2⁵⁹ < 2⁶³.
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
