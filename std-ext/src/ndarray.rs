//! Objects out of arrays of the crate `ndarray`, and values as arrays.
//!
//! A request ([`Read`]) says which values, and how they are decoded. Here it says that they go into an array: a new one
//! ([`array()`]), the caller's ([`array_into`]), or none, where they lie ([`view()`]).
//!
//! ```
//! use ndarray::array;
//! use tgm_std::{MessageBuilder, ObjectBuilder, read};
//!
//! let field = array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let message = MessageBuilder::new().object(ObjectBuilder::from_array(field.view())).encode()?;
//!
//! let message = tgm_core::Message::parse(&message)?;
//! let object = message.object(0)?;
//! let values = tgm_std::ndarray::array::<f32>(read(&object))?;
//! assert_eq!(values, field.into_dyn());
//! # Ok::<(), tgm_std::TensogramError>(())
//! ```

use std::borrow::Cow;
use std::slice;

use ndarray::{ArrayD, ArrayView, ArrayViewD, ArrayViewMut, Dimension, IxDyn};
use tgm_core::descriptor::ByteOrder;
use tgm_core::tensor::Element;
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::base::error::{Result, TensogramError};
use crate::decode::Read;
use crate::encode::ObjectBuilder;
use crate::model::number::Number;
use crate::model::params::metadata;
use crate::model::types::DataObjectDescriptor;

impl<'a> ObjectBuilder<'a> {
    /// A tensor with the shape and the values of an array. Values in row-major order are not copied; others are copied
    /// once.
    #[expect(clippy::needless_pass_by_value, reason = "a view is as good as a reference, and easier to get")]
    pub fn from_array<T: Number, D: Dimension>(array: ArrayView<'a, T, D>) -> Self {
        let shape: Vec<u64> = array.shape().iter().map(|dim| *dim as u64).collect();
        let copied = || {
            let mut bytes = Vec::with_capacity(array.len() * size_of::<T>());
            array.iter().for_each(|value| bytes.extend_from_slice(T::as_elements(slice::from_ref(value)).as_bytes()));
            Cow::Owned(bytes)
        };
        let data = array.to_slice().map_or_else(copied, |values| Cow::Borrowed(T::as_elements(values).as_bytes()));
        Self::from_parts(DataObjectDescriptor::new(T::Element::DTYPE, ByteOrder::NATIVE, &shape), data)
    }
}

/// The values that a request asks for, as an array of their shape: of the object, of the box, or of a list of ranges.
///
/// `T` is as in [`Read::values`].
///
/// # Errors
/// The errors of [`Read::values`]; [`TensogramError::Metadata`] if the shape exceeds the integers of this machine.
///
/// ```
/// use ndarray::array;
/// use tgm_std::core::selection::Pick;
/// use tgm_std::ndarray::array;
/// use tgm_std::{MessageBuilder, ObjectBuilder, read};
///
/// let field = array![[1_i32, 2, 3], [4, 5, 6]];
/// let bytes = MessageBuilder::new().object(ObjectBuilder::from_array(field.view())).encode()?;
/// let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
/// assert_eq!(array::<i32>(read(&object))?, field.into_dyn());
/// let columns = array::<f32>(read(&object).select(&[Pick::All, Pick::from(1..3)]))?;
/// assert_eq!(columns, array![[2.0, 3.0], [5.0, 6.0]].into_dyn());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn array<T: Number>(request: Read<'_, '_>) -> Result<ArrayD<T>> {
    let dims = dims(&request.shape()?)?;
    ArrayD::from_shape_vec(dims, request.values()?).map_err(|error| TensogramError::encoding(error.to_string()))
}

/// The values that a request asks for, into an array of the caller.
///
/// They are decoded to where the array has them if it lies in row-major order. Otherwise they are decoded into a vector
/// first, and copied once.
///
/// # Errors
/// [`TensogramError::Metadata`] if the array has another shape; the errors of [`Read::values_into`].
///
/// ```
/// use ndarray::{Array3, Axis};
/// use tgm_std::ndarray::array_into;
/// use tgm_std::{MessageBuilder, ObjectBuilder, Scratch, read};
///
/// // Fields of a message, one after the other, into one array.
/// let message = MessageBuilder::new()
///     .object(ObjectBuilder::new(&[2, 3], &[1.0_f64; 6])?)
///     .object(ObjectBuilder::new(&[2, 3], &[2.0; 6])?.simple_packing(16));
/// let bytes = message.encode()?;
/// let message = tgm_std::core::Message::parse(&bytes)?;
/// let (mut fields, mut scratch) = (Array3::<f64>::zeros((2, 2, 3)), Scratch::default());
/// for (object, field) in message.objects().zip(fields.axis_iter_mut(Axis(0))) {
///     array_into(read(&object?).scratch(&mut scratch), field)?;
/// }
/// assert_eq!(fields.sum(), 18.0);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn array_into<T: Number, D: Dimension>(request: Read<'_, '_>, mut array: ArrayViewMut<'_, T, D>) -> Result<()> {
    let wanted = request.shape()?;
    if !wanted.iter().copied().eq(array.shape().iter().map(|dim| *dim as u64)) {
        return Err(metadata(format!("values are of shape {wanted:?}, the array is of shape {:?}", array.shape())));
    }
    if let Some(values) = array.as_slice_mut() {
        return request.values_into(values);
    }
    let values = request.values::<T>()?;
    array.iter_mut().zip(values).for_each(|(place, value)| *place = value);
    Ok(())
}

/// The values that a request asks for, where they lie in the message.
///
/// `None` if the object is not in memory, or if the values have another type or byte order, are not aligned, are not side by
/// side, are masked, or have to be decoded. Nothing is copied.
///
/// # Errors
/// [`TensogramError::Metadata`] if the shape exceeds the integers of this machine; [`TensogramError::Encoding`] for ranges
/// and picks that the object does not have. With `verify_hash` [`TensogramError::HashMismatch`] and
/// [`TensogramError::MissingHash`], also for an object that cannot be viewed.
pub fn view<'a, T: Element>(request: Read<'_, 'a>) -> Result<Option<ArrayViewD<'a, T>>> {
    let shape = request.shape()?;
    let Some(bytes) = request.in_place(T::DTYPE)? else { return Ok(None) };
    let Ok(values) = <[T]>::ref_from_bytes(bytes) else { return Ok(None) };
    Ok(ArrayViewD::from_shape(dims(&shape)?, values).ok())
}

fn dims(shape: &[u64]) -> Result<IxDyn> {
    let dims = shape.iter().copied().map(usize::try_from).collect::<std::result::Result<Vec<_>, _>>();
    Ok(IxDyn(&dims.map_err(|_| metadata("shape overflows usize"))?))
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use ndarray::{Array2, Array3, s};

    use tgm_core::selection::Pick;

    use super::{array as array_of, array_into, view};
    use crate::{MessageBuilder, ObjectBuilder, Scratch, read};

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
        assert_eq!(
            array_of::<f32>(read(&object).select(&picks)).unwrap(),
            expected.mapv(|value| value as f32).into_dyn()
        );
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
}
