//! Boxes of variables as floats, whatever the type of their elements is.

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::tensor::{AnyView, Shape};
use tgm_std::decode::Float;
use tgm_std::{DecodeOptions, Result};
use zerocopy::IntoBytes as _;

use crate::archive::bad;
use crate::dataset::Dataset;
use crate::indices::Indices;
use crate::model::{Variable, product};
use crate::read::{can_be_single, read_singles_into, width};
use crate::reading::Reading;

/// Bytes of a box that are decoded beside the result at a time, if an object has fewer.
const BESIDE: u64 = 32 << 20;

impl Dataset {
    /// Writes what `indices` pick of a variable to all of `out`, as [`Self::read_into`] does, each value as the nearest float.
    /// Truth values become 0 and 1, and numbers that stand for missing cells become NaN.
    ///
    /// Floats of 64 bits are decoded straight into `f32`. Other elements that are not of the type `F` are decoded beside the result,
    /// 32 MiB or one object at a time.
    ///
    /// # Errors
    /// As [`Self::read_into`]; [`tgm_std::TensogramError::Metadata`] for complex numbers.
    pub fn read_floats_into<F: Float>(
        &self,
        variable: &str,
        indices: &[Indices],
        options: &DecodeOptions,
        out: &mut [F],
    ) -> Result<()> {
        let found = self.variable(variable).and_then(|found| Some((found, found.dtype()?)));
        let Some((found, dtype)) = found else {
            return Err(bad(format!("the dataset has no variable {variable} of numbers")));
        };
        if matches!(dtype, Dtype::Complex64 | Dtype::Complex128) {
            return Err(bad(format!("{variable}: complex numbers do not become floats")));
        }
        let amounts = self.amounts(found).map(Reading::rounded);
        if dtype == F::DTYPE && amounts.is_none() {
            return self.read_into(variable, indices, options, F::as_elements_mut(out).as_mut_bytes());
        }
        if F::DTYPE == Dtype::Float32 && amounts.is_none() && can_be_single(found) {
            let out = F::as_elements_mut(out).as_mut_bytes();
            return read_singles_into(&self.archive, found, indices, options, out);
        }
        let counts: Vec<u64> = indices.iter().map(Indices::count).collect();
        if product(&counts) != Some(out.len() as u64) {
            return Err(bad(format!("{variable}: {} floats for {counts:?} values", out.len())));
        }
        // A truth value takes a byte.
        let decoded = if dtype == Dtype::Bitmask { Dtype::Uint8 } else { dtype };
        let of_values = amounts.as_ref().map_or(decoded, Reading::dtype);
        let (mut bytes, mut rest) = (Vec::new(), out);
        for window in Windows::new(found, &counts, width(dtype) as u64) {
            let part = window.part_of(indices);
            // No window has more values than the box, which has as many as `out`.
            let len = product(&part.iter().map(Indices::count).collect::<Vec<_>>());
            let len = len.and_then(|len| usize::try_from(len).ok()).filter(|len| *len <= rest.len());
            let len = len.ok_or_else(|| bad("a part is larger than its box"))?;
            let (head, tail) = rest.split_at_mut(len);
            bytes.clear();
            tgm_std::internal::reserve_more(&mut bytes, len.saturating_mul(width(dtype)))?;
            bytes.resize(len.saturating_mul(width(dtype)), 0);
            self.read_into(variable, &part, options, &mut bytes)?;
            if let Some(amounts) = &amounts {
                bytes = amounts.cells(bytes)?.bytes;
            }
            let shape = [head.len() as u64];
            F::copy_from(&AnyView::new(of_values, &bytes, ByteOrder::NATIVE, Shape::from(&shape))?, head);
            rest = tail;
        }
        Ok(())
    }
}

/// The windows of a box: some indices of one dimension, one index of each dimension before it, all of those after. They are runs
/// of the result, in order.
struct Windows {
    /// The dimension that is cut, and how many of its indices a window has. `None` if one window has all.
    cut: Option<(usize, u64)>,
    counts: Vec<u64>,
    number: u64,
    total: u64,
}

impl Windows {
    fn new(variable: &Variable, counts: &[u64], width: u64) -> Self {
        let piece = variable.piece_shape();
        let dims = counts.iter().zip(variable.shape.iter().zip(piece.iter())).enumerate();
        let (mut behind, mut cut) = (width.max(1), None);
        for (dim, (count, (len, chunk))) in dims.rev() {
            let all = behind.saturating_mul((*count).max(1));
            // A dimension within objects is not cut: each window would decode them again.
            if all > BESIDE && chunk < len {
                let chunk = (*chunk).max(1);
                let fitting = BESIDE / behind;
                cut = Some((dim, (fitting - fitting % chunk).max(chunk)));
                break;
            }
            behind = all;
        }
        let of_cut = |(dim, rows): (usize, u64)| {
            let (before, from) = counts.split_at_checked(dim)?;
            Some(product(before)?.saturating_mul(from.first()?.div_ceil(rows)))
        };
        let total = if counts.contains(&0) { 1 } else { cut.map_or(Some(1), of_cut).unwrap_or(0) };
        let cut = cut.filter(|_| !counts.contains(&0));
        Self { cut, counts: counts.to_vec(), number: 0, total }
    }
}

impl Iterator for Windows {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        if self.number >= self.total {
            return None;
        }
        let mut left = self.number;
        self.number += 1;
        let Some((dim, rows)) = self.cut else { return Some(Window(Vec::new())) };
        let (before, from) = self.counts.split_at_checked(dim)?;
        let count = *from.first()?;
        let parts = count.div_ceil(rows).max(1);
        let start = (left % parts).saturating_mul(rows);
        left /= parts;
        let mut ranges = vec![(start, rows.min(count.saturating_sub(start)))];
        for count in before.iter().rev() {
            ranges.push((left % (*count).max(1), 1));
            left /= (*count).max(1);
        }
        ranges.reverse();
        Some(Window(ranges))
    }
}

/// Ranges of the first dimensions of a box: the first index, and how many.
struct Window(Vec<(u64, u64)>);

impl Window {
    fn part_of(&self, indices: &[Indices]) -> Vec<Indices> {
        let mut ranges = self.0.iter();
        let part = |of_dim: &Indices| match ranges.next() {
            Some((start, count)) => of_dim.part(*start, *count),
            None => of_dim.clone(),
        };
        indices.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, Hole, Pieces};

    fn variable(shape: &[u64], chunk: &[u64]) -> Variable {
        let pieces = Pieces {
            dtype: Dtype::Int16,
            packed: None,
            chunk: chunk.to_vec(),
            places: Vec::new(),
            leading: 0,
            hole: Hole::Refused,
        };
        let dims = shape.iter().map(u64::to_string).collect();
        let (name, attributes) = ("v".into(), Vec::new());
        Variable { name, dims, shape: shape.to_vec(), attributes, content: Content::Pieces(pieces) }
    }

    #[test]
    fn windows_are_runs_that_cover_the_box_and_cut_no_object() {
        /// The shape of a variable, of its objects and of a box, and how many windows that has.
        type Case<'c> = (&'c [u64], &'c [u64], &'c [u64], u64);
        let mib = 1 << 20;
        let cases: [Case<'_>; 6] = [
            (&[3, 2, 40], &[1, 1, 40], &[3, 2, 40], 1),
            (&[7, 8 * mib], &[1, 8 * mib], &[7, 8 * mib], 4),
            (&[7, 100 * mib], &[1, 100 * mib], &[3, 100 * mib], 3),
            (&[2, 50, 4 * mib], &[1, 1, 4 * mib], &[2, 50, 4 * mib], 2 * 13),
            (&[100 * mib], &[3 * mib], &[100 * mib], 7),
            (&[7, 8 * mib], &[1, 8 * mib], &[0, 8 * mib], 1),
        ];
        for (shape, chunk, counts, expected) in cases {
            let variable = variable(shape, chunk);
            let all: Vec<Indices> = counts.iter().map(|count| Indices::all(*count)).collect();
            let (mut windows, mut next) = (0, 0);
            for window in Windows::new(&variable, counts, 2) {
                let part = window.part_of(&all);
                // The first element of a window in the whole box: after the one before.
                let first = part.iter().zip(counts).fold(0, |place, (it, count)| place * count + it.at(0).unwrap_or(0));
                assert_eq!(first, next, "{shape:?} {counts:?}");
                next += part.iter().map(Indices::count).product::<u64>();
                windows += 1;
            }
            assert_eq!((windows, next), (expected, counts.iter().product()), "{shape:?} {counts:?}");
        }
    }
}
