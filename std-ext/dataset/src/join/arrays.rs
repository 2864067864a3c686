//! Arrays one after the other.

use tgm_core::descriptor::Dtype;

use crate::model::{Content, Joined, Pieces, Variable, product};

/// Flat arrays one after the other along a dimension. Each comes with its lengths.
pub(super) fn flat<T: Clone>(parts: &[(&[T], &[u64])], axis: usize) -> Vec<T> {
    let before = parts.first().and_then(|(_, shape)| product(shape.get(..axis)?)).unwrap_or(0);
    let mut found = Vec::with_capacity(parts.iter().map(|(values, _)| values.len()).sum());
    let Ok(before) = usize::try_from(before) else { return found };
    for row in 0..before {
        for (values, _) in parts {
            let len = values.len().checked_div(before).unwrap_or(0);
            found.extend_from_slice(values.get(row * len..).and_then(|rest| rest.get(..len)).unwrap_or(&[]));
        }
    }
    found
}

/// An array that lacks a dimension, `count` times along it: it becomes the first one.
pub(super) fn repeated<T: Clone>(values: &[T], count: u64) -> Vec<T> {
    std::iter::repeat_n(values, usize::try_from(count).unwrap_or(0)).flatten().cloned().collect()
}

/// The content of variables one after the other: the pieces of one array where they are, and otherwise the pieces of each file. Without
/// an axis the variables lack the dimension, which becomes the first one.
pub(super) fn content(parts: Vec<Variable>, axis: Option<usize>, lens: &[u64], dtype: Dtype) -> Content {
    if let Some(pieces) = axis.and_then(|axis| one_array(&parts, axis)) {
        return Content::Pieces(pieces);
    }
    let axis = axis.unwrap_or(0);
    let mut start = 0_u64;
    let parts = parts.into_iter().zip(lens).map(|(part, len)| {
        let at = start;
        start = start.saturating_add(*len);
        (at, part)
    });
    Content::Joined(Joined { axis, dtype, parts: parts.collect() })
}

/// Pieces of several files as the pieces of one array: all have one shape, and no file but the last one ends within a piece.
fn one_array(parts: &[Variable], axis: usize) -> Option<Pieces> {
    let mut all: Vec<(&Pieces, &[u64])> = Vec::with_capacity(parts.len());
    for part in parts {
        let Content::Pieces(pieces) = &part.content else { return None };
        all.push((pieces, &part.shape));
    }
    let ((first, _), (_, last)) = (*all.first()?, *all.last()?);
    let chunk = *first.chunk.get(axis)?;
    let mut count = 0_u64;
    let mut starts = Vec::with_capacity(all.len());
    for (number, (pieces, shape)) in all.iter().enumerate() {
        let len = *shape.get(axis)?;
        let is_last = number + 1 == all.len();
        // One piece at the end is as long as what is left.
        let is_rest = is_last && pieces.chunk.get(axis).is_some_and(|own| *own >= len) && len <= chunk;
        let alike = |(at, (own, of_first)): (usize, (&u64, &u64))| own == of_first || (at == axis && is_rest);
        let is_alike = pieces.dtype == first.dtype
            && pieces.packed == first.packed
            && pieces.leading == first.leading
            && pieces.hole == first.hole
            && pieces.chunk.len() == first.chunk.len()
            && pieces.chunk.iter().zip(&first.chunk).enumerate().all(alike);
        if !is_alike || (!is_last && len.checked_rem(chunk) != Some(0)) {
            return None;
        }
        starts.push(count);
        count = count.checked_add(len.div_ceil(chunk.max(1)))?;
    }
    let mut shape = last.to_vec();
    *shape.get_mut(axis)? =
        parts.iter().map(|part| part.shape.get(axis).copied().unwrap_or(0)).try_fold(0, u64::checked_add)?;
    let counts = first.counts(&shape);
    product(&counts)?;
    product(&shape)?;
    let behind = counts.get(axis + 1..).and_then(product)?.max(1);
    let mut places = Vec::new();
    for ((pieces, shape), start) in all.into_iter().zip(starts) {
        let own = pieces.counts(shape).get(axis).copied().unwrap_or(0).max(1);
        for (place, object) in &pieces.places {
            // The number of a piece: those before it along the axis, along the dimensions outside, and inside.
            let (outer, along, inner) = (place / behind / own, place / behind % own, place % behind);
            places.push(((outer * counts.get(axis)? + start + along) * behind + inner, *object));
        }
    }
    places.sort_unstable();
    Some(Pieces { places, ..first.clone() })
}
