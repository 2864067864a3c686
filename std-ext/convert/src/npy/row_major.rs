//! Conversion from Fortran order, where the first dimension varies fastest, to row-major order.

/// Elements of `width` bytes each in row-major order. `None` if `data` and `shape` do not fit.
pub(super) fn from_fortran(data: &[u8], shape: &[u64], width: usize) -> Option<Vec<u8>> {
    match width {
        1 => transpose::<1>(data, shape),
        2 => transpose::<2>(data, shape),
        4 => transpose::<4>(data, shape),
        8 => transpose::<8>(data, shape),
        16 => transpose::<16>(data, shape),
        _ => None,
    }
}

fn transpose<const W: usize>(data: &[u8], shape: &[u64]) -> Option<Vec<u8>> {
    let elements: &[[u8; W]] = data.as_chunks().0;
    let dims = shape.iter().map(|dim| usize::try_from(*dim).ok()).collect::<Option<Vec<_>>>()?;
    let count = dims.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim))?;
    if elements.len() != count {
        return None;
    }
    // The innermost dimension is one loop. The others count up like an odometer.
    let Some((&last, outer)) = dims.split_last().filter(|_| count > 0) else { return Some(data.to_vec()) };
    let mut strides = Vec::with_capacity(outer.len());
    let mut stride = 1;
    for dim in outer {
        strides.push(stride);
        stride *= dim;
    }
    let mut out = Vec::with_capacity(data.len());
    let (mut index, mut start) = (vec![0; outer.len()], 0);
    while out.len() < data.len() {
        let row = elements.get(start..).unwrap_or_default().iter().step_by(stride).take(last);
        row.for_each(|element| out.extend_from_slice(element));
        for ((place, stride), dim) in index.iter_mut().zip(&strides).zip(outer).rev() {
            *place += 1;
            start += stride;
            if *place < *dim {
                break;
            }
            start -= *place * stride;
            *place = 0;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::from_fortran;

    #[test]
    fn columns_become_rows() {
        assert_eq!(from_fortran(&[0, 3, 1, 4, 2, 5], &[2, 3], 1), Some(vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(from_fortran(&[1, 2, 3, 4], &[2], 2), Some(vec![1, 2, 3, 4]));
        assert_eq!(from_fortran(&[1, 2, 3, 4], &[], 4), Some(vec![1, 2, 3, 4]));
        assert_eq!(from_fortran(&[], &[3, 0], 8), Some(vec![]));
        assert_eq!(from_fortran(&[1, 2], &[3], 1), None);
    }

    #[test]
    fn every_element_of_four_dimensions_finds_its_place() {
        let shape = [2, 3, 1, 4];
        let fortran = |i: [u8; 4]| i[0] + 2 * (i[1] + 3 * (i[2] + i[3]));
        let mut expected = Vec::new();
        for a in 0..2 {
            for b in 0..3 {
                expected.extend((0..4).map(|d| fortran([a, b, 0, d])));
            }
        }
        let data: Vec<u8> = (0..24).collect();
        assert_eq!(from_fortran(&data, &shape, 1), Some(expected));
    }
}
