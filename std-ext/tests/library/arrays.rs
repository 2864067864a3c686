//! Arrays of the crate `ndarray` out of objects, and into them.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use ndarray::{Array2, Array3, s};

use tgm_core::selection::Pick;

use tgm_std::ndarray::{array as array_of, array_into, view};
use tgm_std::{MessageBuilder, ObjectBuilder, Scratch, read};

#[test]
fn selected_arrays_are_slices_of_the_whole() {
    let array = Array3::from_shape_fn((3, 4, 5), |(i, j, k)| f64::from(u8::try_from(i * 60 + j * 10 + k).unwrap()));
    let object = ObjectBuilder::from_array(array.view()).shuffle();
    let message = MessageBuilder::new().object(object).encode().unwrap();
    let object = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
    let mut scratch = Scratch::default();
    let picks = [Pick::Index(1), Pick::from(1..3), Pick::All];
    let expected = array.slice(s![1, 1..3, ..]);
    assert_eq!(array_of::<f64>(read(&object).select(&picks)).unwrap(), expected.into_dyn());
    assert_eq!(array_of::<f32>(read(&object).select(&picks)).unwrap(), expected.mapv(|value| value as f32).into_dyn());
    let mut columns = Array2::<f64>::zeros((5, 2));
    array_into(read(&object).select(&picks).scratch(&mut scratch), columns.view_mut().reversed_axes()).unwrap();
    let mut wide = Array2::<f32>::zeros((2, 10));
    array_into(read(&object).select(&picks).scratch(&mut scratch), wide.slice_mut(s![.., ..;2])).unwrap();
    assert_eq!(columns.t(), expected);
    assert_eq!(wide.slice(s![.., ..;2]).mapv(f64::from), expected);
    let mut other = Array2::<f64>::zeros((5, 2));
    let error =
        array_into(read(&object).select(&picks).scratch(&mut scratch), other.view_mut()).unwrap_err().to_string();
    assert_eq!(error, "metadata error: values are of shape [2, 5], the array is of shape [5, 2]");
}

#[test]
fn arrays_of_any_layout_come_back_row_by_row() {
    let array = Array3::from_shape_fn((3, 4, 5), |(i, j, k)| f64::from(u8::try_from(i * 60 + j * 10 + k).unwrap()));
    for array in [array.view(), array.slice(s![.., ..;2, 1..]), array.t(), array.slice(s![0..0, .., ..])] {
        let message = MessageBuilder::new().object(ObjectBuilder::from_array(array)).encode().unwrap();
        let object = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
        assert_eq!(array_of::<f64>(read(&object)).unwrap(), array.into_dyn());
        assert_eq!(array_of::<f32>(read(&object)).unwrap(), array.mapv(|value| value as f32).into_dyn());
        assert!(array_of::<i64>(read(&object)).is_err());
    }
}

#[test]
fn arrays_of_the_caller_are_filled_whatever_their_layout() {
    let array = Array2::from_shape_fn((3, 4), |(i, j)| f64::from(u8::try_from(i * 10 + j).unwrap()));
    let packed = ObjectBuilder::from_array(array.view()).simple_packing(32);
    let whole = ObjectBuilder::from_array(array.view());
    let message = MessageBuilder::new().object(whole).object(packed).encode().unwrap();
    let message = tgm_core::Message::parse(&message).unwrap();
    let mut scratch = Scratch::default();
    for object in message.objects() {
        let object = object.unwrap();
        // Row by row; column by column; every second place of a larger array.
        let mut rows = Array2::<f64>::zeros((3, 4));
        array_into(read(&object).scratch(&mut scratch), rows.view_mut()).unwrap();
        let mut columns = Array2::<f64>::zeros((4, 3));
        array_into(read(&object).scratch(&mut scratch), columns.view_mut().reversed_axes()).unwrap();
        let mut wide = Array2::<f32>::zeros((3, 8));
        array_into(read(&object).scratch(&mut scratch), wide.slice_mut(s![.., ..;2])).unwrap();
        assert!(rows.iter().zip(&array).all(|(a, b)| (a - b).abs() < 1e-6));
        assert_eq!(columns.t(), rows);
        assert!(wide.slice(s![.., ..;2]).iter().zip(&array).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5));
        assert!(wide.slice(s![.., 1..;2]).iter().all(|value| *value == 0.0));
        assert_eq!(array_of::<f64>(read(&object)).unwrap(), rows.into_dyn());
    }
}

#[test]
fn an_array_of_another_shape_or_type_is_an_error_and_stays_as_it_is() {
    let message = MessageBuilder::new().object(ObjectBuilder::new(&[2, 3], &[1_i32; 6]).unwrap()).encode().unwrap();
    let object = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
    let mut scratch = Scratch::default();
    let mut other = Array2::<i32>::zeros((3, 2));
    let error = array_into(read(&object).scratch(&mut scratch), other.view_mut()).unwrap_err().to_string();
    assert_eq!(error, "metadata error: values are of shape [2, 3], the array is of shape [3, 2]");
    assert!(array_into(read(&object).scratch(&mut scratch), Array2::<u32>::zeros((2, 3)).view_mut()).is_err());
    assert_eq!(other, Array2::<i32>::zeros((3, 2)));
}

#[cfg(feature = "num-complex")]
#[test]
fn complex_arrays_come_back_as_they_were() {
    use num_complex::Complex;
    let array = Array2::from_shape_fn((3, 2), |(i, j)| {
        Complex::new(f32::from(u8::try_from(i).unwrap()), if j == 0 { 0.5 } else { -1.0 })
    });
    for array in [array.view(), array.t()] {
        let message = MessageBuilder::new().object(ObjectBuilder::from_array(array)).encode().unwrap();
        let object = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
        assert_eq!(array_of::<Complex<f32>>(read(&object)).unwrap(), array.into_dyn());
        assert!(array_of::<f32>(read(&object)).is_err());
    }
}

#[test]
fn a_view_borrows_what_need_not_be_decoded() {
    let array = Array2::from_shape_fn((4, 4), |(i, j)| (4 * i + j) as u64);
    let object = || ObjectBuilder::from_array(array.view());
    let plain = MessageBuilder::new().object(object()).object(object().lz4()).encode().unwrap();
    let message = tgm_core::Message::parse(&plain).unwrap();
    if let Some(view) = view::<u64>(read(&message.object(0).unwrap())).unwrap() {
        assert_eq!(view, array.view().into_dyn());
    } else {
        // The buffer is not aligned to 8 bytes.
        assert_ne!(plain.as_ptr().align_offset(8), 0);
    }
    assert!(view::<u64>(read(&message.object(1).unwrap())).unwrap().is_none());
    assert!(view::<i64>(read(&message.object(0).unwrap())).unwrap().is_none());
    let (rows, column) = ([Pick::from(1..3), Pick::All], [Pick::All, Pick::Index(1)]);
    let object = message.object(0).unwrap();
    if let Some(seen) = view::<u64>(read(&object).select(&rows)).unwrap() {
        assert_eq!(seen, array.slice(s![1..3, ..]).into_dyn());
    }
    assert!(view::<u64>(read(&object).select(&column)).unwrap().is_none());
}
