//! Reversal of elements along axes.

/// Reverses elements of `width` bytes, stored in rows of `shape`, along each axis that `is_reversed` names. The
/// function is its own inverse.
pub(super) fn reverse_axes(bytes: &mut [u8], shape: &[u64], width: usize, is_reversed: &[bool]) {
    if bytes.is_empty() {
        return;
    }
    // The tensor has elements, so products of dimensions do not exceed the bytes present.
    let mut inner = width;
    for (dim, is_reversed) in shape.iter().zip(is_reversed).rev() {
        let outer = inner.saturating_mul(usize::try_from(*dim).unwrap_or(usize::MAX));
        if *is_reversed {
            bytes.chunks_exact_mut(outer.max(1)).for_each(|block| reverse_blocks(block, inner));
        }
        inner = outer;
    }
}

/// Reverses the order of pieces of `len` bytes.
fn reverse_blocks(block: &mut [u8], len: usize) {
    let half = block.len() / len.max(1) / 2 * len;
    let (front, back) = block.split_at_mut(half);
    front.chunks_exact_mut(len).zip(back.rchunks_exact_mut(len)).for_each(|(a, b)| a.swap_with_slice(b));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_reversed_one_by_one_and_back() {
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
