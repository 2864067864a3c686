//! Every way to read values compared with one plain decoder, and every request out of range.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "tests may panic"
)]

use std::format;
use std::vec;
use std::vec::Vec;

use half::{bf16, f16};
use proptest::prelude::*;
use proptest::{collection, sample};
use zerocopy::IntoBytes;

use super::*;
use crate::descriptor::ByteOrder::{self, Big, Little};
use crate::descriptor::Dtype;
use crate::error::ErrorKind as E;

const OTHER: ByteOrder = if matches!(ByteOrder::NATIVE, Big) { Little } else { Big };

/// A slow and plain decoder: the bytes of the elements in memory, scalar by scalar.
///
/// Results are compared as bytes, because NaN is not equal to itself and its bits must be kept too.
fn native_bytes(bytes: &[u8], unit: usize, order: ByteOrder) -> Vec<u8> {
    let native = |scalar: &[u8]| match (unit, order) {
        (1, _) => scalar.to_vec(),
        (2, Big) => u16::from_be_bytes(scalar.try_into().unwrap()).to_ne_bytes().to_vec(),
        (2, Little) => u16::from_le_bytes(scalar.try_into().unwrap()).to_ne_bytes().to_vec(),
        (4, Big) => u32::from_be_bytes(scalar.try_into().unwrap()).to_ne_bytes().to_vec(),
        (4, Little) => u32::from_le_bytes(scalar.try_into().unwrap()).to_ne_bytes().to_vec(),
        (8, Big) => u64::from_be_bytes(scalar.try_into().unwrap()).to_ne_bytes().to_vec(),
        (8, Little) => u64::from_le_bytes(scalar.try_into().unwrap()).to_ne_bytes().to_vec(),
        (other, _) => panic!("no unit of {other}"),
    };
    bytes.chunks(unit).flat_map(native).collect()
}

fn collected<T: Element>(values: impl Iterator<Item = T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A loop, as `flat_map` of each kind of iterator and element would be much to compile.
    for value in values {
        bytes.extend_from_slice(value.as_bytes());
    }
    bytes
}

/// Coordinates of every element in flat order, by counting up.
fn all_coordinates(dims: &[u64]) -> Vec<Vec<u64>> {
    let count = dims.iter().product();
    (0..count)
        .map(|mut flat: u64| {
            let mut at = vec![0; dims.len()];
            for (at, dim) in at.iter_mut().zip(dims).rev() {
                *at = flat % dim;
                flat /= dim;
            }
            at
        })
        .collect()
}

/// Checks every way to read every run of a tensor whose payload starts `offset` bytes into an 8-aligned buffer.
fn check_tensor<T: Element + Default>(
    dims: &[u64],
    order: ByteOrder,
    offset: usize,
    random: &[u8],
    cut: (usize, usize),
) {
    let shape = Shape::from(dims);
    let count = usize::try_from(dims.iter().product::<u64>()).unwrap();
    let (width, unit) = (T::DTYPE.byte_width(), T::DTYPE.swap_unit_size());
    assert_eq!((size_of::<T>(), size_of::<T::Bytes>()), (width, width));

    let mut aligned = vec![0_u64; 2 + count * width / 8 + 1];
    let len = count * width;
    let buffer = &mut aligned.as_mut_bytes()[offset..offset + len];
    buffer.iter_mut().zip(random.iter().cycle()).for_each(|(byte, random)| *byte = *random);
    let payload = &*buffer;
    let expected = native_bytes(payload, unit, order);

    let tensor = TensorView::<T>::new(payload, order, shape).unwrap();
    assert_eq!((tensor.len(), tensor.is_empty(), tensor.byte_order()), (count, count == 0, order));
    assert_eq!((tensor.shape(), tensor.as_bytes()), (shape, payload));
    check_elements(&tensor, payload, &expected);

    let (start, end) = (cut.0.min(cut.1) % (count + 1), cut.0.max(cut.1) % (count + 1));
    let run = tensor.elements(start..end);
    if start <= end {
        check_elements(&run.unwrap(), &payload[start * width..end * width], &expected[start * width..end * width]);
    } else {
        assert_eq!(run.unwrap_err(), E::RangeOutOfBounds.at(0));
    }
    assert_eq!(tensor.elements(start..count + 1).unwrap_err(), E::RangeOutOfBounds.at(0));

    let by_coordinates = all_coordinates(dims).into_iter().map(|at| tensor.get_at(&at).unwrap());
    assert_eq!(collected(by_coordinates), expected);

    check_rows(&tensor, dims, &expected);

    let any = AnyView::new(T::DTYPE, payload, order, shape).unwrap();
    assert_eq!((any.dtype(), any.shape(), any.as_bytes()), (T::DTYPE, shape, payload));
    assert_eq!((any.len(), any.is_empty()), (count, count == 0));
}

fn check_elements<T: Element + Default>(run: &Elements<'_, T>, stored: &[u8], expected: &[u8]) {
    let width = T::DTYPE.byte_width();
    let count = stored.len() / width;
    assert_eq!((run.as_bytes(), run.as_bytes().as_ptr()), (stored, stored.as_ptr()));

    // One by one, and one beyond the end.
    assert_eq!(collected((0..count).map(|i| run.get(i).unwrap())), expected);
    assert_eq!((run.get(count), run.get(usize::MAX)), (None, None));

    // The ways of the iterator: `for_each` folds, `by_ref` takes one at a time.
    let mut folded = Vec::new();
    run.iter().for_each(|value| folded.extend_from_slice(value.as_bytes()));
    assert_eq!(folded, expected);
    let mut iter = run.iter();
    assert_eq!(collected(iter.by_ref()), expected);
    assert!(iter.next().is_none() && iter.next_back().is_none() && iter.len() == 0);
    let mut reversed: Vec<T> = run.iter().rev().collect();
    reversed.reverse();
    assert_eq!(collected(reversed.into_iter()), expected);
    assert_eq!(collected(run.iter().last().into_iter()), expected[expected.len().saturating_sub(width)..]);
    for n in 0..count {
        let mut iter = run.iter();
        assert_eq!(iter.nth(n).unwrap().as_bytes(), &expected[n * width..][..width]);
        assert_eq!((iter.len(), iter.size_hint()), (count - n - 1, (count - n - 1, Some(count - n - 1))));
        assert_eq!(iter.as_elements().as_bytes(), &stored[(n + 1) * width..]);
        assert_eq!(run.iter().nth_back(n).unwrap().as_bytes(), &expected[(count - n - 1) * width..][..width]);
    }
    assert!(run.iter().nth(count).is_none() && run.iter().nth_back(count).is_none());
    assert_eq!(collected(run.into_iter()), expected);

    // The whole, copied.
    let mut out = vec![T::default(); count];
    run.copy_into(&mut out).unwrap();
    assert_eq!(out.as_bytes(), expected);
    out.push(T::default());
    assert_eq!(run.copy_into(&mut out), Err(E::OutputLength.at(0)));
    assert_eq!(&out.as_bytes()[..expected.len()], expected);

    // The whole, borrowed. This must succeed exactly if the bytes are values already.
    let in_order = run.byte_order() == ByteOrder::NATIVE || T::DTYPE.swap_unit_size() == 1;
    let aligned = stored.as_ptr().addr().is_multiple_of(align_of::<T>());
    assert_eq!(run.as_slice().is_some(), in_order && aligned);
    match run.try_as_slice() {
        Ok(slice) => {
            assert!(in_order && aligned && slice.as_ptr().addr() == stored.as_ptr().addr());
            assert_eq!((slice.len(), slice.as_bytes()), (count, expected));
        }
        Err(e) if in_order => assert_eq!(e, E::Misaligned.at(0)),
        Err(e) => assert_eq!(e, E::SwappedBytes.at(0)),
    }
}

fn check_rows<T: Element>(tensor: &TensorView<'_, T>, dims: &[u64], expected: &[u8]) {
    let Some((&count, rest)) = dims.split_first() else {
        assert_eq!(tensor.row(0).unwrap_err(), E::RangeOutOfBounds.at(0));
        assert_eq!(tensor.rows().len(), 0);
        return;
    };
    for beyond in [count, count + 1, u64::MAX] {
        assert_eq!(tensor.row(beyond).unwrap_err(), E::RangeOutOfBounds.at(0));
    }
    let rows: Vec<_> = (0..count).map(|i| tensor.row(i).unwrap()).collect();
    for row in &rows {
        assert_eq!(row.shape(), Shape::from(rest));
        assert_eq!(row.len(), usize::try_from(rest.iter().product::<u64>()).unwrap());
    }
    assert_eq!(collected(rows.iter().flat_map(|row| row.iter())), expected);

    let count = if tensor.is_empty() { 0 } else { rows.len() };
    assert_eq!((tensor.rows().len(), tensor.rows().size_hint()), (count, (count, Some(count))));
    let same = |a: &TensorView<'_, T>, b: &TensorView<'_, T>| {
        a.shape() == b.shape() && a.as_bytes() == b.as_bytes() && a.byte_order() == b.byte_order()
    };
    assert!(tensor.rows().zip(&rows).all(|(a, b)| same(&a, b)));
    assert_eq!(tensor.rows().rev().count(), count);
    assert!(tensor.rows().rev().zip(rows[..count].iter().rev()).all(|(a, b)| same(&a, b)));
    assert!(tensor.rows().rev().zip(rows.iter().rev()).all(|(a, b)| same(&a, b)));
    for (i, row) in rows.iter().enumerate().take(count) {
        assert!(same(&tensor.rows().nth(i).unwrap(), row));
    }
    assert!(tensor.rows().nth(count).is_none());
}

fn check_dtype(dtype: Dtype, dims: &[u64], order: ByteOrder, offset: usize, random: &[u8], cut: (usize, usize)) {
    let check = match dtype {
        Dtype::Float16 => check_tensor::<f16>,
        Dtype::Bfloat16 => check_tensor::<bf16>,
        Dtype::Float32 => check_tensor::<f32>,
        Dtype::Float64 => check_tensor::<f64>,
        Dtype::Complex64 => check_tensor::<Complex<f32>>,
        Dtype::Complex128 => check_tensor::<Complex<f64>>,
        Dtype::Int8 => check_tensor::<i8>,
        Dtype::Int16 => check_tensor::<i16>,
        Dtype::Int32 => check_tensor::<i32>,
        Dtype::Int64 => check_tensor::<i64>,
        Dtype::Uint8 => check_tensor::<u8>,
        Dtype::Uint16 => check_tensor::<u16>,
        Dtype::Uint32 => check_tensor::<u32>,
        Dtype::Uint64 => check_tensor::<u64>,
        Dtype::Bitmask => return,
    };
    check(dims, order, offset, random, cut);
}

proptest! {
    #[test]
    fn every_access_path_equals_the_plain_decoder(
        dtype in sample::select(&Dtype::ALL[..]),
        dims in collection::vec(0_u64..5, 0..4),
        order in sample::select(&[Big, Little][..]),
        offset in 0_usize..8,
        random in collection::vec(any::<u8>(), 1..200),
        cut in any::<(usize, usize)>(),
    ) {
        check_dtype(dtype, &dims, order, offset, &random, cut);
    }

    #[test]
    fn a_coordinate_out_of_range_is_none(
        dims in collection::vec(0_u64..5, 1..4),
        axis in any::<sample::Index>(),
        beyond in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
    ) {
        let bytes = vec![0; usize::try_from(dims.iter().product::<u64>()).unwrap()];
        let bits = vec![0; bytes.len().div_ceil(8)];
        let tensor = TensorView::<u8>::new(&bytes, Big, Shape::from(dims.as_slice())).unwrap();
        let mask = BitView::new(&bits, Shape::from(dims.as_slice())).unwrap();
        let mut at = vec![0; dims.len()];
        let axis = axis.index(dims.len());
        at[axis] = dims[axis].saturating_add(beyond);
        prop_assert_eq!((tensor.shape().flat_index(&at), tensor.get_at(&at), mask.get_at(&at)), (None, None, None));
        at[axis] = 0;
        at.push(0);
        prop_assert_eq!((tensor.get_at(&at), mask.get_at(&at)), (None, None));
        prop_assert_eq!((tensor.get_at(&at[..at.len() - 2]), mask.get_at(&at[..at.len() - 2])), (None, None));
    }

    #[test]
    fn counts_and_places_of_any_dimensions_are_exact_or_none(
        dims in collection::vec(prop_oneof![0_u64..4, any::<u64>(), Just(u64::MAX), Just(1 << 32)], 0..6),
        coordinates in collection::vec(prop_oneof![0_u64..4, any::<u64>()], 0..6),
    ) {
        let shape = Shape::from(dims.as_slice());
        let wide = dims.iter().try_fold(1_u128, |n, dim| n.checked_mul(u128::from(*dim)));
        let count = if dims.contains(&0) { Some(0) } else { wide.and_then(|n| u64::try_from(n).ok()) };
        prop_assert_eq!(shape.element_count(), count);
        for dtype in Dtype::ALL {
            let counted = count.filter(|n| usize::try_from(*n).is_ok());
            let bytes = counted.and_then(|n| usize::try_from(dtype.byte_len(n)?).ok());
            prop_assert_eq!(shape.byte_len(dtype), bytes.ok_or(E::ShapeOverflow.at(0)));
        }
        let inside = coordinates.len() == dims.len() && coordinates.iter().zip(&dims).all(|(at, dim)| at < dim);
        match shape.flat_index(&coordinates) {
            Some(flat) => prop_assert!(inside && count.is_none_or(|n| flat < n)),
            None => prop_assert!(!inside || count.is_none()),
        }
    }
}

#[test]
fn every_dtype_order_and_offset_is_checked_at_least_once() {
    let random: Vec<u8> = (0..=255).map(|i: u8| i.wrapping_mul(151).wrapping_add(i >> 3)).collect();
    for dtype in Dtype::ALL {
        for order in [Big, Little] {
            for offset in 0..8 {
                for dims in [&[][..], &[0], &[1], &[3, 0, 2], &[0, 7], &[2, 3, 4], &[17]] {
                    check_dtype(dtype, dims, order, offset, &random, (1, 11));
                }
            }
        }
    }
}

#[test]
fn a_tensor_of_rank_0_is_one_element() {
    let tensor = TensorView::<f32>::new(&[0x3F, 0x80, 0, 0], Big, Shape::from(&[])).unwrap();
    assert_eq!((tensor.shape().rank(), tensor.len()), (0, 1));
    assert_eq!((tensor.get_at(&[]), tensor.get_at(&[0]), tensor.get(0)), (Some(1.0), None, Some(1.0)));
}

#[test]
fn a_tensor_of_rank_70_is_reached_at_both_ends() {
    let mut dims = [1_u64; 70];
    (dims[0], dims[35], dims[69]) = (2, 3, 4);
    let payload: Vec<u8> = (0..24).collect();
    let tensor = TensorView::<u8>::new(&payload, Little, Shape::from(&dims)).unwrap();
    let mut at = [0; 70];
    (at[0], at[35], at[69]) = (1, 2, 3);
    assert_eq!((tensor.get_at(&[0; 70]), tensor.get_at(&at)), (Some(0), Some(23)));
    at[1] = 1;
    assert_eq!(tensor.get_at(&at), None);

    let mut row = tensor.row(1).unwrap();
    for _ in 0..34 {
        row = row.row(0).unwrap();
    }
    assert_eq!((row.shape().rank(), row.len()), (35, 12));
    assert_eq!(row.row(2).unwrap().as_bytes(), [20, 21, 22, 23]);
}

#[test]
fn complex_parts_are_swapped_each_by_itself() {
    let payload = [
        0x3F, 0x80, 0, 0, // 1.0
        0xC0, 0, 0, 0, // -2.0
    ];
    let tensor = TensorView::<Complex<f32>>::new(&payload, Big, Shape::from(&[1])).unwrap();
    assert_eq!(tensor.get(0), Some(Complex { re: 1.0, im: -2.0 }));
}

#[test]
fn a_payload_of_another_length_is_an_error() {
    let payload = [0; 64];
    for dtype in Dtype::ALL {
        let shape = Shape::from(&[3]);
        let exact = shape.byte_len(dtype).unwrap();
        for len in (0..64).filter(|len| *len != exact) {
            let view = AnyView::new(dtype, &payload[..len], Big, shape);
            assert_eq!(view.unwrap_err(), E::PayloadSize.at(0), "{dtype}, {len} bytes");
        }
        assert!(AnyView::new(dtype, &payload[..exact], Big, shape).is_ok());
    }
    assert_eq!(Elements::<u32>::new(&payload[..7], Big).unwrap_err(), E::PayloadSize.at(0));
    assert_eq!(Elements::<u32>::new(&payload[..8], Big).unwrap().len(), 2);
}

#[test]
fn a_shape_beyond_the_machine_is_an_error() {
    for dtype in Dtype::ALL {
        let too_many = Shape::from(&[1 << 32, 1 << 32]);
        assert_eq!(AnyView::new(dtype, &[], Big, too_many).unwrap_err(), E::ShapeOverflow.at(0));
        let too_wide = Shape::from(&[u64::MAX]);
        let fits = usize::BITS == 64 && matches!(dtype.byte_width(), 0 | 1);
        let error = if fits { E::PayloadSize } else { E::ShapeOverflow };
        assert_eq!(AnyView::new(dtype, &[], Big, too_wide).unwrap_err(), error.at(0), "{dtype}");
        let none = Shape::from(&[1 << 32, 1 << 32, 0]);
        assert_eq!(AnyView::new(dtype, &[], Big, none).unwrap().len(), 0);
    }
}

#[test]
fn rows_of_nothing_do_not_count_up_to_what_a_shape_claims() {
    let tensor = TensorView::<u16>::new(&[], Big, Shape::from(&[u64::MAX, 0])).unwrap();
    assert!(tensor.rows().next().is_none());
    assert_eq!(tensor.row(u64::MAX - 1).unwrap().shape(), Shape::from(&[0]));
    assert_eq!(tensor.row(u64::MAX).unwrap_err(), E::RangeOutOfBounds.at(0));
}

#[test]
fn row_major_strides_are_products_of_later_dimensions() {
    let strides = |dims: &[u64], len: usize| {
        let mut out = vec![9; len];
        Shape::from(dims).row_major_strides_into(&mut out).map(|()| out)
    };
    assert_eq!(strides(&[], 0), Ok(vec![]));
    assert_eq!(strides(&[7], 1), Ok(vec![1]));
    assert_eq!(strides(&[2, 3, 4], 3), Ok(vec![12, 4, 1]));
    assert_eq!(strides(&[2, 0, 4], 3), Ok(vec![0, 4, 1]));
    assert_eq!(strides(&[u64::MAX, u64::MAX], 2), Ok(vec![u64::MAX, 1]));
    assert_eq!(strides(&[0, 1 << 32, 1 << 32], 3), Err(E::ShapeOverflow.at(0)));
    assert_eq!(strides(&[2, 3], 3), Err(E::OutputLength.at(0)));
}

#[test]
fn shapes_are_equal_by_dimensions_and_print_as_lists() {
    let whole = Shape::from(&[5, 2, 3]);
    let (first, rest) = whole.split_first().unwrap();
    assert_eq!((first, rest), (5, Shape::from(&[2, 3])));
    assert_ne!(rest, Shape::from(&[2]));
    assert_ne!(rest, Shape::from(&[2, 4]));
    assert_eq!((rest.rank(), rest.dims().len(), rest.dims().nth(1)), (2, 2, Some(3)));
    assert_eq!(format!("{rest:?}"), "[2, 3]");
    assert_eq!(Shape::from(&[]).split_first(), None);
    let tensor = TensorView::<i16>::new(&[0xAB; 4], Big, Shape::from(&[2])).unwrap();
    assert_eq!(format!("{tensor:?}"), "TensorView { dtype: Int16, byte_order: Big, shape: [2] }");
    assert_eq!(format!("{:?}", tensor.rows()), "Rows { range: 0..2, shape: [] }");
    let shape = Shape::from(&[3_u64, 5]);
    assert_eq!((shape.dims().size_hint(), shape.dims().len()), ((2, Some(2)), 2));
    let bits = BitView::new(&[0, 0], shape).unwrap();
    assert_eq!(format!("{bits:?}"), "BitView { shape: [3, 5] }");
    assert!(format!("{:?}", bits.bits(1..4).unwrap()).starts_with("Bits"));
    assert_eq!(format!("{:?}", tensor.iter()), "TensorIter(Elements { dtype: Int16, byte_order: Big, len: 2 })");
}

#[test]
fn single_bytes_have_no_order_to_be_wrong() {
    let tensor = TensorView::<i8>::new(&[0xFF, 1], OTHER, Shape::from(&[2])).unwrap();
    assert_eq!(tensor.as_slice(), Some(&[-1, 1][..]));
    let tensor = TensorView::<u16>::new(&[0xFF, 1], OTHER, Shape::from(&[1])).unwrap();
    assert_eq!(tensor.try_as_slice(), Err(E::SwappedBytes.at(0)));
}

#[test]
fn what_is_borrowed_outlives_the_view() {
    fn slice<'a>(payload: &'a [u8], dims: &'a [u64]) -> (&'a [u8], Shape<'a>, TensorIter<'a, u8>, Elements<'a, u8>) {
        let tensor = TensorView::<u8>::new(payload, Big, Shape::from(dims)).unwrap();
        let row = tensor.rows().next().unwrap();
        (tensor.as_slice().unwrap(), row.shape(), row.iter(), *row)
    }
    let (slice, shape, iter, row) = slice(&[1, 2, 3, 4], &[2, 2]);
    assert_eq!((slice.len(), shape, iter.len(), row.len()), (4, Shape::from(&[2]), 2, 2));
}

/// Bits as the format defines them: element i is in byte ⌊i/8⌋, bit 7−(i mod 8).
fn plain_bits(bytes: &[u8], len: usize) -> Vec<bool> {
    (0..len).map(|i| bytes[i / 8] & (1 << (7 - i % 8)) != 0).collect()
}

fn ones(bits: &[bool]) -> usize {
    bits.iter().filter(|bit| **bit).count()
}

#[test]
fn bits_equal_the_plain_decoder_at_lengths_0_to_70_and_in_every_range() {
    let payload: Vec<u8> = (0..9_u8).map(|i| i.wrapping_mul(89).wrapping_add(0xA5)).collect();
    for len in 0..=70_usize {
        for pad in [0x00, 0xFF] {
            let mut bytes = payload[..len.div_ceil(8)].to_vec();
            if len % 8 != 0 {
                let mask = 0xFF_u8 >> (len % 8);
                let last = bytes.last_mut().unwrap();
                *last = *last & !mask | pad & mask;
            }
            check_bits(&bytes, len);
        }
    }
}

fn check_bits(bytes: &[u8], len: usize) {
    let expected = plain_bits(bytes, len);
    let dims = [len as u64];
    let view = BitView::new(bytes, Shape::from(&dims)).unwrap();
    assert_eq!((view.len(), view.is_empty(), view.as_bytes()), (len, len == 0, bytes));
    assert_eq!((0..len).map(|i| view.get(i).unwrap()).collect::<Vec<_>>(), expected);
    assert_eq!((0..dims[0]).map(|i| view.get_at(&[i]).unwrap()).collect::<Vec<_>>(), expected);
    assert_eq!((view.get(len), view.get(usize::MAX)), (None, None));
    assert_eq!(view.count_ones(), ones(&expected));
    assert!(view.into_iter().eq(expected.iter().copied()));
    for start in 0..=len {
        for end in start..=len {
            let (bits, expected) = (view.bits(start..end).unwrap(), &expected[start..end]);
            assert_eq!((bits.len(), bits.size_hint()), (end - start, (end - start, Some(end - start))));
            assert_eq!(bits.count_ones(), ones(expected));
            let mut folded = Vec::new();
            bits.clone().for_each(|bit| folded.push(bit));
            assert_eq!(folded, expected);
            assert!(bits.clone().eq(expected.iter().copied()));
            assert!(bits.clone().rev().eq(expected.iter().rev().copied()));
            assert_eq!(bits.clone().last(), expected.last().copied());
            let n = (end - start) / 2;
            assert_eq!(bits.clone().nth(n), expected.get(n).copied());
            assert_eq!(bits.clone().nth_back(n), expected.iter().rev().nth(n).copied());
        }
        assert_eq!(view.bits(start..len + 1).unwrap_err(), E::RangeOutOfBounds.at(0));
        assert_eq!(view.bits(start + 1..start).unwrap_err(), E::RangeOutOfBounds.at(0));
    }
    assert_eq!(view.bits(0..usize::MAX).unwrap_err(), E::RangeOutOfBounds.at(0));
    let any = AnyView::new(Dtype::Bitmask, bytes, OTHER, Shape::from(&dims)).unwrap();
    assert_eq!((any.dtype(), any.shape(), any.as_bytes(), any.len()), (Dtype::Bitmask, view.shape(), bytes, len));
}

proptest! {
    #[test]
    fn bits_with_a_shape_equal_the_plain_decoder(
        dims in collection::vec(0_u64..6, 0..4),
        random in collection::vec(any::<u8>(), 27),
    ) {
        let len = usize::try_from(dims.iter().product::<u64>()).unwrap();
        let bytes = &random[..len.div_ceil(8)];
        let view = BitView::new(bytes, Shape::from(dims.as_slice())).unwrap();
        let got: Vec<bool> = all_coordinates(&dims).iter().map(|at| view.get_at(at).unwrap()).collect();
        prop_assert_eq!(&got, &plain_bits(bytes, len));
        prop_assert_eq!(view.count_ones(), ones(&got));
    }
}
