//! Indices of a dimension, and how they lie in pieces.

use std::num::NonZeroU64;

use tgm_std::Result;

use crate::archive::bad;

/// What is picked of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indices {
    /// One index. The result does not have this dimension.
    Index(u64),
    /// `count` indices from `start` on, each `step` after the one before.
    Range {
        /// The first index.
        start: u64,
        /// How many they are.
        count: u64,
        /// The distance from one to the next.
        step: NonZeroU64,
    },
    /// Any indices, in any order.
    List(Vec<u64>),
}

impl Indices {
    /// The number of indices.
    pub fn count(&self) -> u64 {
        match self {
            Self::Index(_) => 1,
            Self::Range { count, .. } => *count,
            Self::List(list) => list.len() as u64,
        }
    }

    /// `count` of these indices, from the one with number `start` on.
    pub(crate) fn part(&self, start: u64, count: u64) -> Self {
        match self {
            Self::Index(index) => Self::Index(*index),
            Self::Range { start: first, step, .. } => {
                Self::Range { start: first.saturating_add(start.saturating_mul(step.get())), count, step: *step }
            }
            Self::List(list) => {
                let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                Self::List(list.iter().skip(at(start)).take(at(count)).copied().collect())
            }
        }
    }

    /// The index with a number. `None` beyond the last one.
    pub fn at(&self, number: u64) -> Option<u64> {
        match self {
            Self::Index(index) => (number == 0).then_some(*index),
            Self::Range { start, count, step } => {
                (number < *count).then(|| start.checked_add(number.checked_mul(step.get())?)).flatten()
            }
            Self::List(list) => usize::try_from(number).ok().and_then(|number| list.get(number)).copied(),
        }
    }
}

/// Indices of one dimension that lie in one piece, evenly spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The number of the piece along the dimension.
    pub(crate) piece: u64,
    /// The first index within the piece.
    pub(crate) start: u64,
    pub(crate) count: u64,
    pub(crate) step: u64,
    /// Where they lie in the result.
    pub(crate) out: u64,
}

/// Cuts the indices of a dimension of length `len` into parts.
///
/// # Errors
/// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) for an index beyond the dimension.
pub(crate) fn parts(indices: &Indices, len: u64, chunk: u64) -> Result<Vec<Part>> {
    let chunk = chunk.max(1);
    let mut parts: Vec<Part> = Vec::new();
    let count = indices.count();
    let mut number = 0;
    while number < count {
        let index = indices.at(number).filter(|index| *index < len);
        let index = index.ok_or_else(|| bad(format!("an index is beyond its dimension, which has {len}")))?;
        let (piece, start) = (index / chunk, index % chunk);
        let mut part = Part { piece, start, count: 1, step: 1, out: number };
        if let Indices::Range { step, .. } = indices {
            // `start` is below the length of a chunk.
            let left = (chunk - start - 1) / step.get();
            part.count = (count - number).min(left + 1);
            part.step = step.get();
        } else {
            while let Some(next) = indices.at(number + part.count) {
                let last = start + (part.count - 1) * part.step;
                let local = next % chunk;
                let Some(step) = local.checked_sub(last).filter(|step| *step > 0 && next / chunk == piece) else {
                    break;
                };
                if part.count > 1 && step != part.step {
                    break;
                }
                part.step = step;
                part.count += 1;
            }
        }
        number += part.count;
        parts.push(part);
    }
    Ok(parts)
}

/// The numbers of the elements that indices pick of an array, row-major.
///
/// # Errors
/// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) for an index beyond its dimension, and for too many elements.
pub(crate) fn flat(lens: &[u64], indices: &[Indices]) -> Result<Vec<usize>> {
    let mut found: Vec<u64> = vec![0];
    for (len, indices) in lens.iter().zip(indices) {
        let count = (found.len() as u64).checked_mul(indices.count()).and_then(|count| usize::try_from(count).ok());
        let mut next = Vec::new();
        next.try_reserve_exact(count.unwrap_or(usize::MAX)).map_err(|_| bad("a coordinate has too many values"))?;
        for before in found {
            for index in (0..indices.count()).filter_map(|number| indices.at(number)) {
                if index >= *len {
                    return Err(bad(format!("an index is beyond its dimension, which has {len}")));
                }
                next.push(before * len + index);
            }
        }
        found = next;
    }
    found.into_iter().map(|at| usize::try_from(at).map_err(|_| bad("a coordinate has too many values"))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    fn found(indices: &Indices, len: u64, chunk: u64) -> Vec<(u64, u64, u64, u64, u64)> {
        let parts = parts(indices, len, chunk).unwrap();
        parts.iter().map(|part| (part.piece, part.start, part.count, part.step, part.out)).collect()
    }

    #[test]
    fn indices_are_cut_at_pieces() {
        let range = |start, count, step| Indices::Range { start, count, step: NonZeroU64::new(step).unwrap() };
        assert_eq!(found(&range(1, 5, 2), 12, 4), [(0, 1, 2, 2, 0), (1, 1, 2, 2, 2), (2, 1, 1, 2, 4)]);
        assert_eq!(found(&range(0, 3, 5), 12, 1), [(0, 0, 1, 5, 0), (5, 0, 1, 5, 1), (10, 0, 1, 5, 2)]);
        assert_eq!(found(&Indices::Index(7), 12, 4), [(1, 3, 1, 1, 0)]);
        assert_eq!(
            found(&Indices::List(vec![0, 2, 3, 9, 8]), 12, 4),
            [(0, 0, 2, 2, 0), (0, 3, 1, 1, 2), (2, 1, 1, 1, 3), (2, 0, 1, 1, 4)]
        );
        assert!(parts(&Indices::List(vec![0, 12]), 12, 4).is_err() && parts(&range(0, 13, 1), 12, 4).is_err());
    }
}
