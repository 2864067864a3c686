//! Reverses the elements of a tensor along some of its axes.

use crate::wire::Layout;

/// For each axis, slowest first, whether it is stored from its last index to its first.
pub(super) fn descending(layout: &Layout<'_>, ascend: Option<&[bool]>) -> Vec<bool> {
    let ascends = |d: usize| ascend.is_none_or(|ascend| ascend.get(d).copied().unwrap_or(true));
    let mut axes: Vec<bool> = layout.fastest_first().map(|d| !ascends(d)).collect();
    axes.reverse();
    axes
}

/// Reverses the elements along each axis whose flag in `is_reversed` is set. A second call undoes the first.
///
/// `bytes` holds elements of `width` bytes, row-major, in the shape `shape`. If `shape` has more dimensions than there
/// are flags, the last ones belong to the bytes of an element.
///
/// ```text
/// for each axis, from the fastest to the slowest:
///     inner = bytes from one index of this axis to the next;  outer = bytes of all its indices
///     if the axis is reversed: in each block of `outer` bytes, reverse the order of the pieces of `inner` bytes
/// ```
pub(super) fn reverse_axes(bytes: &mut [u8], shape: &[u64], width: usize, is_reversed: &[bool]) {
    if bytes.is_empty() {
        return;
    }
    // There are bytes, so no dimension is 0, and no product below exceeds the number of bytes: nothing saturates.
    let mut inner = width;
    for (dim, is_reversed) in shape.iter().zip(is_reversed).rev() {
        let outer = inner.saturating_mul(usize::try_from(*dim).unwrap_or(usize::MAX));
        if *is_reversed {
            bytes.chunks_exact_mut(outer.max(1)).for_each(|block| reverse_pieces(block, inner));
        }
        inner = outer;
    }
}

/// Reverses the order of the pieces of `len` bytes in a block. Bytes inside a piece keep their order.
fn reverse_pieces(block: &mut [u8], len: usize) {
    // Pieces swap places from both ends: the first with the last, and so on. An odd piece in the middle stays.
    let half = block.len() / len.max(1) / 2 * len;
    let (front, back) = block.split_at_mut(half);
    front.chunks_exact_mut(len).zip(back.rchunks_exact_mut(len)).for_each(|(a, b)| a.swap_with_slice(b));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_axis_is_reversed_and_a_second_call_undoes_it() {
        let original = [0_u8, 1, 2, 3, 4, 5];
        for (flags, expected) in [
            ([true, false], [3, 4, 5, 0, 1, 2]),
            ([false, true], [2, 1, 0, 5, 4, 3]),
            ([true, true], [5, 4, 3, 2, 1, 0]),
            ([false, false], original),
        ] {
            let mut bytes = original;
            reverse_axes(&mut bytes, &[2, 3], 1, &flags);
            assert_eq!(bytes, expected);
            reverse_axes(&mut bytes, &[2, 3], 1, &flags);
            assert_eq!(bytes, original);
        }
        let mut wide = original;
        reverse_axes(&mut wide, &[3], 2, &[true]);
        assert_eq!(wide, [4, 5, 2, 3, 0, 1]);
    }
}
