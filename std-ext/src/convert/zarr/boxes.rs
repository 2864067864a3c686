//! Boxes of row-major tensors: copied between tensors, counted, and with their dimensions in another order.

use super::Result;

/// The product of the dimensions.
pub(super) fn count(shape: &[u64]) -> Result<u64> {
    let product = shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim));
    product.ok_or_else(|| format!("shape {shape:?} has more elements than there are numbers"))
}

/// A tensor's shape, and the first index of a box in it.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) shape: &'a [u64],
    pub(super) origin: &'a [u64],
}

/// Copies a box of `shape`, of elements of `size` bytes. All slices have one entry for each dimension.
///
/// # Errors
/// A box that is not within both tensors.
pub(super) fn copy(
    shape: &[u64],
    size: usize,
    (from, source): (Place<'_>, &[u8]),
    (to, target): (Place<'_>, &mut [u8]),
) -> Result<()> {
    if count(shape)? == 0 {
        return Ok(());
    }
    let outside = || format!("a box of {shape:?} is not within its tensors");
    let is_within = |place: Place<'_>| {
        let ends = place.origin.iter().zip(shape).map(|(origin, len)| origin.checked_add(*len));
        ends.zip(place.shape).all(|(end, dim)| end.is_some_and(|end| end <= *dim))
    };
    if !is_within(from) || !is_within(to) {
        return Err(outside());
    }
    let (outer, run) = shape.split_at(shape.len().saturating_sub(1));
    let run = usize::try_from(run.first().copied().unwrap_or(1)).ok().and_then(|run| run.checked_mul(size));
    let run = run.ok_or_else(outside)?;
    let mut index = vec![0; outer.len()];
    loop {
        let (start, end) = (offset(from, &index, size), offset(to, &index, size));
        let row = start.and_then(|at| source.get(at..at.checked_add(run)?)).ok_or_else(outside)?;
        let room = end.and_then(|at| target.get_mut(at..at.checked_add(run)?)).ok_or_else(outside)?;
        room.copy_from_slice(row);
        if !advance(&mut index, outer) {
            return Ok(());
        }
    }
}

/// The byte of the first element of a row of the box.
fn offset(place: Place<'_>, index: &[u64], size: usize) -> Option<usize> {
    let indices = index.iter().copied().chain([0]);
    let element =
        place.shape.iter().zip(place.origin).zip(indices).try_fold(0_u64, |at, ((dim, origin), index)| {
            at.checked_mul(*dim)?.checked_add(origin.checked_add(index)?)
        });
    usize::try_from(element?).ok()?.checked_mul(size)
}

/// Moves to the next index below `shape`, the last dimension fastest. False behind the last one.
pub(super) fn advance(index: &mut [u64], shape: &[u64]) -> bool {
    for (index, dim) in index.iter_mut().zip(shape).rev() {
        *index += 1;
        if *index < *dim {
            return true;
        }
        *index = 0;
    }
    false
}

/// The elements of a tensor of `shape` with dimension `i` of the result being dimension `order[i]`.
pub(super) fn transpose(bytes: &[u8], shape: &[u64], order: &[usize], size: usize) -> Result<Vec<u8>> {
    let mut strides = vec![1_u64; shape.len()];
    let mut stride = 1_u64;
    for (slot, dim) in strides.iter_mut().zip(shape).rev() {
        *slot = stride;
        stride = stride.saturating_mul(*dim);
    }
    let pick = |list: &[u64]| order.iter().map(|&dim| list.get(dim).copied()).collect::<Option<Vec<_>>>();
    let wrong = || format!("order {order:?} is none of the {} dimensions", shape.len());
    let (result, strides) = (pick(shape).ok_or_else(wrong)?, pick(&strides).ok_or_else(wrong)?);
    let mut out = Vec::new();
    out.try_reserve_exact(bytes.len()).map_err(|_| format!("cannot allocate {} bytes", bytes.len()))?;
    if count(&result)? == 0 {
        return Ok(out);
    }
    let mut index = vec![0; result.len()];
    loop {
        let element: u64 = index.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
        let at = usize::try_from(element).ok().and_then(|element| element.checked_mul(size));
        let element = at.and_then(|at| bytes.get(at..at.checked_add(size)?));
        out.extend_from_slice(element.ok_or("a transposed tensor is cut short")?);
        if !advance(&mut index, &result) {
            return Ok(out);
        }
    }
}

/// The order that undoes `order`.
pub(super) fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (to, from) in order.iter().enumerate() {
        if let Some(slot) = inverse.get_mut(*from) {
            *slot = to;
        }
    }
    inverse
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_box_lands_at_its_place() {
        let source: Vec<u8> = (0..12).collect();
        let mut target = vec![0xff; 6];
        let (from, to) = (Place { shape: &[3, 4], origin: &[1, 1] }, Place { shape: &[2, 3], origin: &[0, 1] });
        copy(&[2, 2], 1, (from, &source), (to, &mut target)).unwrap();
        assert_eq!(target, [0xff, 5, 6, 0xff, 9, 10]);
        assert!(copy(&[2, 3], 1, (from, &source), (to, &mut target)).is_err());
        let mut scalar = [0];
        let place = Place { shape: &[], origin: &[] };
        copy(&[], 1, (place, &[7]), (place, &mut scalar)).unwrap();
        assert_eq!(scalar, [7]);
    }

    #[test]
    fn transposing_twice_gives_the_tensor() {
        let source: Vec<u8> = (0..48).collect();
        let turned = transpose(&source, &[2, 3, 4], &[2, 0, 1], 2).unwrap();
        assert_eq!(turned[..4], [0, 1, 8, 9]);
        assert_eq!(transpose(&turned, &[4, 2, 3], &inverse(&[2, 0, 1]), 2).unwrap(), source);
    }
}
