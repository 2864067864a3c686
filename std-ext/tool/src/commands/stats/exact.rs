//! Extremes and quantiles of integers that floats round.

use tgm_std::metadata::query::compare::Number;

use crate::read::elements::Elements;
use crate::read::quantiles;
use crate::read::statistics::Moments;

/// Least and greatest value. Integers of 64 bits, which floats round, are compared as they are.
pub(super) fn exact_range(elements: &Elements<'_>, moments: &Moments) -> Option<(Number, Number)> {
    if elements.integer(0).is_none() {
        return moments.range().map(|(min, max)| (Number::Float(min), Number::Float(max)));
    }
    let integers = (0..).map_while(|index| elements.integer(index));
    let range = integers.fold(None, |range: Option<(i128, i128)>, value| {
        Some(range.map_or((value, value), |(min, max)| (min.min(value), max.max(value))))
    });
    range.map(|(min, max)| (Number::Integer(min), Number::Integer(max)))
}

/// The quantiles of integers of 64 bits, if one of them is rounded as a float. Between two integers a quantile is a float.
pub(super) fn exact_quantiles(elements: &Elements<'_>, shares: &[f64]) -> Option<Vec<Number>> {
    const EXACT: i128 = 1 << 53;
    elements.integer(0)?;
    let mut integers: Vec<i128> = (0..).map_while(|index| elements.integer(index)).collect();
    let is_rounded = integers.iter().any(|integer| !(-EXACT..=EXACT).contains(integer));
    if !is_rounded {
        return None;
    }
    let last = integers.len().checked_sub(1)?;
    integers.sort_unstable();
    let found = shares.iter().filter_map(|share| {
        let (below, part) = quantiles::split(last as u64, *share);
        let below = usize::try_from(below).ok()?;
        let (low, high) = (*integers.get(below)?, *integers.get(below + 1).unwrap_or(integers.get(below)?));
        #[expect(clippy::cast_precision_loss, reason = "it lies between two integers")]
        let between = || low as f64 + (high - low) as f64 * part;
        Some(if part > 0.0 && low != high { Number::Float(between()) } else { Number::Integer(low) })
    });
    Some(found.collect())
}
