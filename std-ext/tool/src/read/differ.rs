//! Differences between values of two objects, and between trees of metadata.

use std::cmp::Ordering;

use serde_json::Value as Json;

use tgm_std::metadata::query::compare::Number;

use crate::read::elements::{Elements, exact, parts};

/// How far numbers may be apart: `|a - b| <= absolute + relative * |b|`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tolerance {
    /// The absolute part.
    pub(crate) absolute: f64,
    /// The relative part.
    pub(crate) relative: f64,
}

impl Tolerance {
    /// Whether the two numbers count as equal. NaN is within no tolerance, infinities only of their own sign.
    pub(crate) fn holds(self, a: f64, b: f64) -> bool {
        // Infinities of the same sign are equal, though their difference is NaN.
        let is_near = || (a - b).abs() <= self.absolute + self.relative * b.abs();
        a.partial_cmp(&b).is_some_and(Ordering::is_eq) || (a.is_finite() && b.is_finite() && is_near())
    }

    /// Whether two numbers of metadata count as equal. Integers are not rounded.
    pub(crate) fn holds_for(self, a: &Json, b: &Json) -> bool {
        let integer = |json: &Json| json.as_u64().map(i128::from).or_else(|| json.as_i64().map(i128::from));
        let number = |json: &Json| integer(json).map(Number::Integer).or_else(|| json.as_f64().map(Number::Float));
        number(a).zip(number(b)).is_some_and(|(a, b)| compared(a, b, self, false).1)
    }
}

/// How many values differ, and where they do most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Differences {
    /// Values that differ by more than the tolerance.
    pub(crate) count: u64,
    /// The one that differs most. A value that is finite on one side only differs infinitely.
    pub(crate) greatest: Option<Greatest>,
}

/// The greatest difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Greatest {
    /// Element of the flattened tensor.
    pub(crate) element: usize,
    /// |a - b|.
    pub(crate) difference: f64,
    /// The value of the first object.
    pub(crate) a: Number,
    /// The value of the second.
    pub(crate) b: Number,
}

/// Compares values in pairs. Both objects have as many.
pub(crate) fn differences(a: &Elements<'_>, b: &Elements<'_>, tolerance: Tolerance, nan_differs: bool) -> Differences {
    let mut found = Differences::default();
    let is_same = a.dtype == b.dtype && a.order == b.order && a.bytes == b.bytes;
    if is_same && !nan_differs {
        return found;
    }
    let mut before = Vec::new();
    a.for_each(|value| before.push(value));
    let width = parts(a.dtype);
    let (mut at, mut counted) = (0, None);
    b.for_each(|b_value| {
        let Some(&a_value) = before.get(at) else { return };
        let (a_value, b_value) = (exact(a, at, a_value), exact(b, at, b_value));
        let (difference, is_equal) = compared(a_value, b_value, tolerance, nan_differs);
        if !is_equal {
            // Both parts of a complex number are one value.
            found.count += u64::from(counted.replace(at / width) != Some(at / width));
            if found.greatest.is_none_or(|greatest| difference > greatest.difference) {
                found.greatest = Some(Greatest { element: at / width, difference, a: a_value, b: b_value });
            }
        }
        at += 1;
    });
    found
}

/// The difference of two values, and whether they count as equal. Integers, and floats that are whole, are not rounded.
fn compared(a: Number, b: Number, tolerance: Tolerance, nan_differs: bool) -> (f64, bool) {
    if let (Some(a_exact), Some(b_exact)) = (whole(a), whole(b)) {
        #[expect(clippy::cast_precision_loss, reason = "a difference is small, or its first digits are enough")]
        let difference = a_exact.abs_diff(b_exact) as f64;
        return (difference, difference <= tolerance.absolute + tolerance.relative * float(b).abs());
    }
    let (a, b) = (float(a), float(b));
    if a.is_nan() && b.is_nan() {
        return (0.0, !nan_differs);
    }
    let difference = (a - b).abs();
    (if difference.is_nan() { f64::INFINITY } else { difference }, tolerance.holds(a, b))
}

/// The integer that a number is. `None` for fractions, and for floats that no integer of 64 bits is near.
fn whole(number: Number) -> Option<i128> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    match number {
        Number::Integer(integer) => Some(integer),
        #[expect(clippy::cast_possible_truncation, reason = "it is a whole number of up to 65 bits")]
        Number::Float(float) => (float.abs() <= LIMIT && float.fract() == 0.0).then_some(float as i128),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
const fn float(number: Number) -> f64 {
    match number {
        Number::Integer(integer) => integer as f64,
        Number::Float(float) => float,
    }
}

/// The indices of element number `element` of a tensor.
pub(crate) fn indices(element: usize, shape: &[u64]) -> Vec<u64> {
    let mut rest = element as u64;
    let mut found: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&len| {
            // A tensor with an element has no dimension of length 0.
            let len = len.max(1);
            let index = rest % len;
            rest /= len;
            index
        })
        .collect();
    found.reverse();
    found
}

/// The leaves of a tree of maps, each with its dotted path. An empty map is a leaf.
pub(crate) fn leaves(tree: &Json) -> Vec<(String, &Json)> {
    let mut found = Vec::new();
    collect(tree, "", &mut found);
    found
}

/// Depth is bounded by the nesting that `tgm_core` lets pass.
fn collect<'j>(tree: &'j Json, path: &str, found: &mut Vec<(String, &'j Json)>) {
    match tree {
        Json::Object(map) if !map.is_empty() || path.is_empty() => {
            for (key, value) in map {
                let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(value, &inner, found);
            }
        }
        leaf => found.push((path.to_string(), leaf)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tgm_core::descriptor::{ByteOrder, Dtype};

    use super::*;

    fn of(dtype: Dtype, bytes: &[u8]) -> Elements<'_> {
        Elements { dtype, order: ByteOrder::Little, count: 0, bytes }
    }

    #[test]
    fn the_greatest_difference_is_found() {
        let bytes = |values: [f32; 4]| values.map(f32::to_le_bytes).concat();
        let (a, b) = (bytes([1.0, 2.0, f32::NAN, 4.0]), bytes([1.5, 2.0, f32::NAN, 1.0]));
        let (a, b) = (of(Dtype::Float32, &a), of(Dtype::Float32, &b));
        let found = differences(&a, &b, Tolerance::default(), false);
        let greatest = found.greatest.unwrap();
        assert_eq!((found.count, greatest.element), (2, 3));
        assert_eq!((greatest.a, greatest.b), (Number::Float(4.0), Number::Float(1.0)));
        let half = Tolerance { absolute: 0.5, relative: 0.0 };
        assert_eq!(differences(&a, &b, half, false).count, 1);
        assert_eq!(differences(&a, &b, Tolerance { relative: 3.0, ..half }, false).count, 0);
        assert_eq!(differences(&a, &a, half, true).count, 1);
    }

    #[test]
    fn integers_beyond_floats_differ_and_infinities_differ_infinitely() {
        let bytes = |value: i64| value.to_le_bytes();
        let (a, b) = (bytes(1 << 60), bytes((1 << 60) + 1));
        let found = differences(&of(Dtype::Int64, &a), &of(Dtype::Int64, &b), Tolerance::default(), false);
        assert_eq!((found.count, found.greatest.map(|greatest| greatest.difference)), (1, Some(1.0)));
        let greatest = found.greatest.unwrap();
        assert_eq!((greatest.a, greatest.b), (Number::Integer(1 << 60), Number::Integer((1 << 60) + 1)));
        // A float beside the integer that it would round.
        let c = 1_152_921_504_606_846_976.0_f64.to_le_bytes();
        let found = differences(&of(Dtype::Int64, &b), &of(Dtype::Float64, &c), Tolerance::default(), false);
        assert_eq!((found.count, found.greatest.map(|greatest| greatest.difference)), (1, Some(1.0)));
        let compared = |a, b, tolerance| compared(Number::Float(a), Number::Float(b), tolerance, false);
        let tolerance = Tolerance { absolute: 1e300, relative: 0.0 };
        for (a, b) in [(f64::INFINITY, 1.0), (f64::NAN, 1.0), (f64::INFINITY, f64::NEG_INFINITY)] {
            assert_eq!(compared(a, b, tolerance), (f64::INFINITY, false));
        }
        assert!(compared(f64::INFINITY, f64::INFINITY, tolerance).1);
        let relative = Tolerance { absolute: 0.0, relative: 0.5 };
        assert!(!compared(1.0, f64::INFINITY, relative).1);
        assert!(!compared(f64::NEG_INFINITY, f64::INFINITY, relative).1);
        let one = Tolerance { absolute: 0.5, relative: 0.0 };
        assert!(!one.holds_for(&json!(9_007_199_254_740_992_u64), &json!(9_007_199_254_740_993_u64)));
        assert!(one.holds_for(&json!(1), &json!(1.25)) && !one.holds_for(&json!(1), &json!("1")));
    }

    #[test]
    fn a_complex_number_is_one_value() {
        let bytes = |values: [f32; 6]| values.map(f32::to_le_bytes).concat();
        let (a, b) = (bytes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), bytes([2.0, 4.0, 3.0, 4.0, 5.0, 5.0]));
        let found = differences(&of(Dtype::Complex64, &a), &of(Dtype::Complex64, &b), Tolerance::default(), false);
        assert_eq!((found.count, found.greatest.unwrap().element, found.greatest.unwrap().difference), (2, 0, 2.0));
    }

    #[test]
    fn places_and_paths() {
        assert_eq!(indices(7, &[2, 4]), [1, 3]);
        assert_eq!(indices(0, &[]), [0_u64; 0]);
        let tree = json!({"a": {"b": 1, "c": {}}, "d": [1, 2]});
        let paths: Vec<_> = leaves(&tree).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["a.b", "a.c", "d"]);
    }
}
