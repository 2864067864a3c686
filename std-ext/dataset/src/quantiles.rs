//! Quantiles over dimensions.

use tgm_std::{DecodeOptions, Result};

use crate::archive::bad;
use crate::dataset::Dataset;
use crate::indices::Indices;
use crate::read::check_over;

/// The quantiles of what `indices` pick of a variable, as [`Dataset::quantiles`] has them.
#[derive(Clone, Debug)]
pub struct Quantiles {
    /// The dimensions that are left.
    pub dims: Vec<String>,
    /// Their lengths. Row-major.
    pub shape: Vec<u64>,
    /// For each share, the values of all places.
    pub values: Vec<Vec<f64>>,
}

/// Values that are read at once. A place with more of them is read whole.
const WINDOW: u64 = 8 << 20;

impl Dataset {
    /// Quantiles of what `indices` pick of a variable over the dimensions of the names `over`: for each share the value below which it
    /// lies, on a straight line between neighbouring values, as numpy has it. NaN is left out.
    ///
    /// All values of a place are in memory together, and with them the values of other places, up to 128 MiB.
    ///
    /// # Errors
    /// The errors of [`Self::reduce`].
    pub fn quantiles(
        &self,
        variable: &str,
        indices: &[Indices],
        over: &[&str],
        shares: &[f64],
        options: &DecodeOptions,
    ) -> Result<Quantiles> {
        let variable = self.known(variable)?;
        let name = &variable.name;
        check_over(variable, indices, over)?;
        let is_left =
            |(dim, pick): (&String, &Indices)| !over.contains(&dim.as_str()) && !matches!(pick, Indices::Index(_));
        let left: Vec<bool> = variable.dims.iter().zip(indices).map(is_left).collect();
        let lens: Vec<u64> = indices.iter().map(Indices::count).collect();
        let shape: Vec<u64> = lens.iter().zip(&left).filter(|(_, left)| **left).map(|(len, _)| *len).collect();
        let dims = variable.dims.iter().zip(&left).filter(|(_, left)| **left).map(|(dim, _)| dim.clone()).collect();
        // The dimension that is left and comes first is read in parts.
        let all = lens.iter().try_fold(1_u64, |all, len| all.checked_mul(*len));
        let all = all.ok_or_else(|| bad(format!("{name}: too many values")))?;
        let cut = left.iter().position(|left| *left);
        let len = cut.and_then(|cut| lens.get(cut)).copied().unwrap_or(1);
        let step = (WINDOW / (all / len.max(1)).max(1)).clamp(1, len.max(1));
        let mut values = vec![Vec::new(); shares.len()];
        let mut start = 0;
        while start < len {
            let count = step.min(len - start);
            let mut picks = indices.to_vec();
            if let Some(pick) = cut.and_then(|cut| picks.get_mut(cut)) {
                *pick = pick.part(start, count);
            }
            self.quantiles_of(name, (&picks, &left), shares, &mut values, options)?;
            start += count;
        }
        Ok(Quantiles { dims, shape, values })
    }

    /// Adds the quantiles of the places of a window.
    fn quantiles_of(
        &self,
        name: &str,
        (picks, left): (&[Indices], &[bool]),
        shares: &[f64],
        values: &mut [Vec<f64>],
        options: &DecodeOptions,
    ) -> Result<()> {
        let lens: Vec<u64> = picks.iter().map(Indices::count).collect();
        let too_many = || bad(format!("{name}: too many values"));
        let count = |is_left: bool| {
            let mut lens = lens.iter().zip(left).filter(|(_, left)| **left == is_left);
            let count = lens.try_fold(1_u64, |all, (len, _)| all.checked_mul(*len));
            count.and_then(|count| usize::try_from(count).ok()).ok_or_else(too_many)
        };
        let (places, of_place) = (count(true)?, count(false)?);
        let total = places.checked_mul(of_place).ok_or_else(too_many)?;
        let room = |len: usize| -> Result<Vec<f64>> {
            let mut list = Vec::new();
            list.try_reserve_exact(len).map_err(|_| bad(format!("{name}: there is no memory for {len} values")))?;
            list.resize(len, f64::NAN);
            Ok(list)
        };
        let (mut read, mut sorted) = (room(total)?, room(total)?);
        self.read_floats_into::<f64>(name, picks, options, &mut read)?;
        // Values of a place come together.
        let strides = strides(&lens, left, of_place).ok_or_else(too_many)?;
        for (number, value) in read.iter().enumerate() {
            let (mut rest, mut at) = (number as u64, 0_u64);
            for (len, stride) in lens.iter().zip(&strides).rev() {
                // The places of all values were counted: there are as many as `total`.
                at += (rest % (*len).max(1)) * stride;
                rest /= (*len).max(1);
            }
            let place = usize::try_from(at).ok().and_then(|at| sorted.get_mut(at)).ok_or_else(too_many)?;
            *place = *value;
        }
        for place in sorted.chunks_mut(of_place.max(1)) {
            place.sort_unstable_by(f64::total_cmp);
            // NaN of either sign stand at the ends.
            let known = place.split(|value| value.is_nan()).find(|part| !part.is_empty()).unwrap_or_default();
            for (share, values) in shares.iter().zip(values.iter_mut()) {
                values.push(quantile(known, *share));
            }
        }
        Ok(())
    }
}

/// How far values are apart that follow each other along each dimension, where the values of a place come together.
/// `None` if these are more than 64 bits count.
fn strides(lens: &[u64], left: &[bool], of_place: usize) -> Option<Vec<u64>> {
    let (mut within, mut between) = (1_u64, of_place as u64);
    let stride = |(len, left): (&u64, &bool)| {
        let place = if *left { &mut between } else { &mut within };
        let stride = *place;
        *place = place.checked_mul(*len)?;
        Some(stride)
    };
    let mut strides: Vec<u64> = lens.iter().zip(left).rev().map(stride).collect::<Option<_>>()?;
    strides.reverse();
    Some(strides)
}

/// The value below which a share of sorted values lies. NaN for none.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list"
)]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let (low, part) = (at.floor() as usize, at.fract());
    match (sorted.get(low), sorted.get(low + 1)) {
        (Some(low), Some(high)) if part > 0.0 => low + (high - low) * part,
        (Some(low), _) => *low,
        (None, _) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "these numbers have no error of rounding")]
    fn quantiles_lie_between_neighbours() {
        let sorted = [1.0, 2.0, 4.0];
        let shares = [0.0, 0.25, 0.5, 0.75, 1.0];
        assert_eq!(shares.map(|share| quantile(&sorted, share)), [1.0, 1.5, 2.0, 3.0, 4.0]);
        assert_eq!(quantile(&[f64::NEG_INFINITY, 1.0], 0.0), f64::NEG_INFINITY);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn values_of_a_place_come_together() {
        assert_eq!(strides(&[2, 3, 4], &[false, true, true], 2), Some(vec![1, 8, 2]));
        assert_eq!(strides(&[2, 3, 4], &[true, false, true], 3), Some(vec![12, 1, 3]));
        assert_eq!(strides(&[2, 3], &[false, false], 6), Some(vec![3, 1]));
        assert_eq!(strides(&[u64::MAX, 3], &[false, false], 6), None);
    }
}
