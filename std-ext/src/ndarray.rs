//! Objects out of arrays of the crate `ndarray`, and values as arrays.
//!
//! | values as | in a new array | in the caller's array |
//! |---|---|---|
//! | what they are | [`values`], or [`view()`] where they lie | [`values_into`] |
//! | `f32` or `f64` | [`values_as`] | [`values_as_into`] |
//! | some of them, what they are | [`select`] | [`select_into`] |
//! | some of them, `f32` or `f64` | [`select_as`] | [`select_as_into`] |
//!
//! ```
//! use ndarray::array;
//! use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};
//!
//! let field = array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let message = MessageBuilder::new().object(ObjectBuilder::from_array(field.view())).encode()?;
//!
//! let message = tgm_core::Message::parse(&message)?;
//! let object = message.object(0)?;
//! let values = tgm_std::ndarray::values::<f32>(&object, &DecodeOptions::default())?;
//! assert_eq!(values, field.into_dyn());
//! # Ok::<(), tgm_std::TensogramError>(())
//! ```

use std::borrow::Cow;
use std::slice;

use ndarray::{ArrayD, ArrayView, ArrayViewD, ArrayViewMut, Dimension, IxDyn};
use tgm_core::descriptor::ByteOrder;
use tgm_core::object::DataObject;
use tgm_core::selection::Pick;
use tgm_core::tensor::Element;
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::decode::select::selection;
use crate::decode::trust::Trusted;
use crate::decode::{self, Float, Scratch, to_vec};
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

/// The values of an object as an array of its shape, of the type that they are.
///
/// # Errors
/// [`TensogramError::Metadata`] if they are not of the type asked for; the errors of [`to_vec`].
pub fn values<T: Number>(object: &DataObject<'_>, options: &DecodeOptions) -> Result<ArrayD<T>> {
    let dtype = object.descriptor().dtype();
    if dtype != T::Element::DTYPE {
        return Err(metadata(format!("values are {dtype}, not {}", T::Element::DTYPE)));
    }
    with_shape(object, to_vec(object, options)?)
}

/// The values of an object as an array of floats of its shape, whatever type they are: [`decode::values_as`].
///
/// # Errors
/// The errors of [`decode::values_as`].
///
/// ```
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};
///
/// let object = ObjectBuilder::new(&[2, 2], &[1_u8, 2, 3, 4])?;
/// let bytes = MessageBuilder::new().object(object).encode()?;
/// let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
/// let found = tgm_std::ndarray::values_as::<f32>(&object, &DecodeOptions::default())?;
/// assert_eq!(found, ndarray::array![[1.0, 2.0], [3.0, 4.0]].into_dyn());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn values_as<T: Float>(object: &DataObject<'_>, options: &DecodeOptions) -> Result<ArrayD<T>> {
    with_shape(object, decode::values_as(object, options)?)
}

/// The values of an object, of the type that they are, into an array of the caller: [`decode::elements_into`].
///
/// They are decoded to where the array has them if it lies in row-major order. Otherwise they are decoded into a vector
/// first, and copied once.
///
/// # Errors
/// [`TensogramError::Metadata`] if the array has another shape than the object; the errors of
/// [`decode::elements_into`].
///
/// ```
/// use ndarray::{Array3, Axis};
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, Scratch};
///
/// // Fields of a message, one after the other, into one array.
/// let message = MessageBuilder::new()
///     .object(ObjectBuilder::new(&[2, 3], &[1.0_f64; 6])?)
///     .object(ObjectBuilder::new(&[2, 3], &[2.0; 6])?.simple_packing(16));
/// let bytes = message.encode()?;
/// let message = tgm_std::core::Message::parse(&bytes)?;
/// let (mut fields, mut scratch) = (Array3::<f64>::zeros((2, 2, 3)), Scratch::default());
/// for (object, field) in message.objects().zip(fields.axis_iter_mut(Axis(0))) {
///     tgm_std::ndarray::values_into(&object?, &DecodeOptions::default(), &mut scratch, field)?;
/// }
/// assert_eq!(fields.sum(), 18.0);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn values_into<T: Number, D: Dimension>(
    object: &DataObject<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    array: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    into_array(object.descriptor().shape().iter(), array, |out| decode::elements_into(object, options, scratch, out))
}

/// The values of an object as floats, whatever type they are, into an array of the caller: [`decode::values_as_into`].
///
/// Where they are decoded to is as with [`values_into`].
///
/// # Errors
/// [`TensogramError::Metadata`] if the array has another shape than the object; the errors of
/// [`decode::values_as_into`].
///
/// ```
/// use ndarray::Array2;
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, Scratch};
///
/// let object = ObjectBuilder::new(&[2, 2], &[1.0_f64, 2.0, 3.0, 4.0])?.simple_packing(24);
/// let bytes = MessageBuilder::new().object(object).encode()?;
/// let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
/// let (mut array, mut scratch) = (Array2::<f32>::zeros((2, 2)), Scratch::default());
/// tgm_std::ndarray::values_as_into(&object, &DecodeOptions::default(), &mut scratch, array.view_mut())?;
/// assert_eq!(array[[0, 0]], 1.0);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn values_as_into<T: Float, D: Dimension>(
    object: &DataObject<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    array: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    into_array(object.descriptor().shape().iter(), array, |out| decode::values_as_into(object, options, scratch, out))
}

/// The values that `picks` take of an object, of the type that they are, as an array of what is left of its dimensions:
/// [`decode::select_vec`].
///
/// # Errors
/// The errors of [`decode::select_vec`].
///
/// ```
/// use ndarray::array;
/// use tgm_std::core::selection::Pick;
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};
///
/// let field = array![[1_i32, 2, 3], [4, 5, 6]];
/// let bytes = MessageBuilder::new().object(ObjectBuilder::from_array(field.view())).encode()?;
/// let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
/// let picks = [Pick::All, Pick::from(1..3)];
/// let columns = tgm_std::ndarray::select::<i32>(&object, &picks, &DecodeOptions::default())?;
/// assert_eq!(columns, array![[2, 3], [5, 6]].into_dyn());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn select<T: Number>(object: &DataObject<'_>, picks: &[Pick], options: &DecodeOptions) -> Result<ArrayD<T>> {
    with_dims(selection(object.descriptor(), picks)?.shape(), decode::select_vec(object, picks, options)?)
}

/// The values that `picks` take of an object as an array of floats, whatever type they are: [`decode::select_as`].
///
/// # Errors
/// The errors of [`decode::select_as`].
pub fn select_as<T: Float>(object: &DataObject<'_>, picks: &[Pick], options: &DecodeOptions) -> Result<ArrayD<T>> {
    with_dims(selection(object.descriptor(), picks)?.shape(), decode::select_as(object, picks, options)?)
}

/// The values that `picks` take of an object, of the type that they are, into an array of the caller:
/// [`decode::select_elements_into`].
///
/// Where they are decoded to is as with [`values_into`].
///
/// # Errors
/// [`TensogramError::Metadata`] if the array has another shape than the selection; the errors of
/// [`decode::select_elements_into`].
pub fn select_into<T: Number, D: Dimension>(
    object: &DataObject<'_>,
    picks: &[Pick],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    array: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let shape = selection(object.descriptor(), picks)?.shape();
    into_array(shape, array, |out| decode::select_elements_into(object, picks, options, scratch, out))
}

/// The values that `picks` take of an object as floats, whatever type they are, into an array of the caller:
/// [`decode::select_as_into`].
///
/// Where they are decoded to is as with [`values_into`].
///
/// # Errors
/// [`TensogramError::Metadata`] if the array has another shape than the selection; the errors of
/// [`decode::select_as_into`].
///
/// ```
/// use ndarray::{Array2, array};
/// use tgm_std::core::selection::Pick;
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, Scratch};
///
/// let object = ObjectBuilder::new(&[2, 3], &[1_u8, 2, 3, 4, 5, 6])?.shuffle();
/// let bytes = MessageBuilder::new().object(object).encode()?;
/// let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
/// let (picks, mut array) = ([Pick::All, Pick::from(1..3)], Array2::<f32>::zeros((2, 2)));
/// let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
/// tgm_std::ndarray::select_as_into(&object, &picks, &options, &mut scratch, array.view_mut())?;
/// assert_eq!(array, array![[2.0, 3.0], [5.0, 6.0]]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn select_as_into<T: Float, D: Dimension>(
    object: &DataObject<'_>,
    picks: &[Pick],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    array: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let shape = selection(object.descriptor(), picks)?.shape();
    into_array(shape, array, |out| decode::select_as_into(object, picks, options, scratch, out))
}

/// Fills an array, which has this shape, by `decode`, which fills a slice in row-major order.
fn into_array<T: Number, D: Dimension>(
    shape: impl Iterator<Item = u64>,
    mut array: ArrayViewMut<'_, T, D>,
    decode: impl FnOnce(&mut [T]) -> Result<()>,
) -> Result<()> {
    let wanted: Vec<u64> = shape.collect();
    if !wanted.iter().copied().eq(array.shape().iter().map(|dim| *dim as u64)) {
        return Err(metadata(format!("values are of shape {wanted:?}, the array is of shape {:?}", array.shape())));
    }
    if let Some(values) = array.as_slice_mut() {
        return decode(values);
    }
    let mut values = vec![T::default(); array.len()];
    decode(&mut values)?;
    array.iter_mut().zip(values).for_each(|(place, value)| *place = value);
    Ok(())
}

fn with_shape<T>(object: &DataObject<'_>, values: Vec<T>) -> Result<ArrayD<T>> {
    with_dims(object.descriptor().shape().iter(), values)
}

fn with_dims<T>(shape: impl Iterator<Item = u64>, values: Vec<T>) -> Result<ArrayD<T>> {
    ArrayD::from_shape_vec(dims(shape)?, values).map_err(|error| TensogramError::encoding(error.to_string()))
}

/// The values of an object where they lie in the message.
///
/// `None` if the values have another type or byte order, are not aligned, are masked, or have to be decoded. Nothing is
/// copied. No digest is checked: [`view_with_options`] checks it first.
///
/// # Errors
/// [`TensogramError::Metadata`] if the shape exceeds the integers of this machine.
pub fn view<'a, T: Element>(object: &DataObject<'a>) -> Result<Option<ArrayViewD<'a, T>>> {
    view_with_options(object, &DecodeOptions::default())
}

/// [`view()`], after the digest was checked if `verify_hash` of `options` asks for it. That reads the payload once. The
/// other options have no effect, because nothing is decoded.
///
/// # Errors
/// The errors of [`view()`]; with `verify_hash` [`TensogramError::HashMismatch`] and [`TensogramError::MissingHash`],
/// also for an object that cannot be viewed.
pub fn view_with_options<'a, T: Element>(
    object: &DataObject<'a>,
    options: &DecodeOptions,
) -> Result<Option<ArrayViewD<'a, T>>> {
    let payload = Trusted::new(object, options)?.payload();
    let descriptor = object.descriptor();
    let is_native = descriptor.byte_order() == ByteOrder::NATIVE || descriptor.dtype().swap_unit_size() <= 1;
    if descriptor.dtype() != T::DTYPE || !is_native || descriptor.pending_stage().is_some() {
        return Ok(None);
    }
    let Ok(values) = <[T]>::ref_from_bytes(payload) else { return Ok(None) };
    Ok(ArrayViewD::from_shape(dims(descriptor.shape().iter())?, values).ok())
}

fn dims(shape: impl Iterator<Item = u64>) -> Result<IxDyn> {
    let dims = shape.map(usize::try_from).collect::<std::result::Result<Vec<_>, _>>();
    Ok(IxDyn(&dims.map_err(|_| metadata("shape overflows usize"))?))
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use ndarray::{Array2, Array3, s};

    use tgm_core::selection::Pick;

    use super::{select, select_as, select_as_into, select_into, values, values_as, values_as_into, values_into, view};
    use crate::{DecodeOptions, MessageBuilder, ObjectBuilder, Scratch};

    #[test]
    fn selected_arrays_are_slices_of_the_whole() {
        let array = Array3::from_shape_fn((3, 4, 5), |(i, j, k)| f64::from(u8::try_from(i * 60 + j * 10 + k).unwrap()));
        let object = ObjectBuilder::from_array(array.view()).shuffle();
        let message = MessageBuilder::new().object(object).encode().unwrap();
        let object = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
        let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
        let picks = [Pick::Index(1), Pick::from(1..3), Pick::All];
        let expected = array.slice(s![1, 1..3, ..]);
        assert_eq!(select::<f64>(&object, &picks, &options).unwrap(), expected.into_dyn());
        assert_eq!(
            select_as::<f32>(&object, &picks, &options).unwrap(),
            expected.mapv(|value| value as f32).into_dyn()
        );
        let mut columns = Array2::<f64>::zeros((5, 2));
        select_into(&object, &picks, &options, &mut scratch, columns.view_mut().reversed_axes()).unwrap();
        let mut wide = Array2::<f32>::zeros((2, 10));
        select_as_into(&object, &picks, &options, &mut scratch, wide.slice_mut(s![.., ..;2])).unwrap();
        assert_eq!(columns.t(), expected);
        assert_eq!(wide.slice(s![.., ..;2]).mapv(f64::from), expected);
        let mut other = Array2::<f64>::zeros((5, 2));
        let error = select_into(&object, &picks, &options, &mut scratch, other.view_mut()).unwrap_err().to_string();
        assert_eq!(error, "metadata error: values are of shape [2, 5], the array is of shape [5, 2]");
    }

    #[test]
    fn arrays_of_any_layout_come_back_row_by_row() {
        let array = Array3::from_shape_fn((3, 4, 5), |(i, j, k)| f64::from(u8::try_from(i * 60 + j * 10 + k).unwrap()));
        for array in [array.view(), array.slice(s![.., ..;2, 1..]), array.t(), array.slice(s![0..0, .., ..])] {
            let message = MessageBuilder::new().object(ObjectBuilder::from_array(array)).encode().unwrap();
            let object = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
            assert_eq!(values::<f64>(&object, &DecodeOptions::default()).unwrap(), array.into_dyn());
            assert!(values::<f32>(&object, &DecodeOptions::default()).is_err());
        }
    }

    #[test]
    fn arrays_of_the_caller_are_filled_whatever_their_layout() {
        let array = Array2::from_shape_fn((3, 4), |(i, j)| f64::from(u8::try_from(i * 10 + j).unwrap()));
        let packed = ObjectBuilder::from_array(array.view()).simple_packing(32);
        let whole = ObjectBuilder::from_array(array.view());
        let message = MessageBuilder::new().object(whole).object(packed).encode().unwrap();
        let message = tgm_core::Message::parse(&message).unwrap();
        let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
        for object in message.objects() {
            let object = object.unwrap();
            // Row by row; column by column; every second place of a larger array.
            let mut rows = Array2::<f64>::zeros((3, 4));
            values_into(&object, &options, &mut scratch, rows.view_mut()).unwrap();
            let mut columns = Array2::<f64>::zeros((4, 3));
            values_into(&object, &options, &mut scratch, columns.view_mut().reversed_axes()).unwrap();
            let mut wide = Array2::<f32>::zeros((3, 8));
            values_as_into(&object, &options, &mut scratch, wide.slice_mut(s![.., ..;2])).unwrap();
            assert!(rows.iter().zip(&array).all(|(a, b)| (a - b).abs() < 1e-6));
            assert_eq!(columns.t(), rows);
            assert!(wide.slice(s![.., ..;2]).iter().zip(&array).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5));
            assert!(wide.slice(s![.., 1..;2]).iter().all(|value| *value == 0.0));
            assert_eq!(values_as::<f64>(&object, &options).unwrap(), rows.into_dyn());
        }
    }

    #[test]
    fn an_array_of_another_shape_or_type_is_an_error_and_stays_as_it_is() {
        let message = MessageBuilder::new().object(ObjectBuilder::new(&[2, 3], &[1_i32; 6]).unwrap()).encode().unwrap();
        let object = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
        let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
        let mut other = Array2::<i32>::zeros((3, 2));
        let error = values_into(&object, &options, &mut scratch, other.view_mut()).unwrap_err().to_string();
        assert_eq!(error, "metadata error: values are of shape [2, 3], the array is of shape [3, 2]");
        assert!(values_into(&object, &options, &mut scratch, Array2::<f32>::zeros((2, 3)).view_mut()).is_err());
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
            assert_eq!(values::<Complex<f32>>(&object, &DecodeOptions::default()).unwrap(), array.into_dyn());
            assert!(values_as::<f32>(&object, &DecodeOptions::default()).is_err());
        }
    }

    #[test]
    fn a_view_borrows_what_need_not_be_decoded() {
        let array = Array2::from_shape_fn((4, 4), |(i, j)| (4 * i + j) as u64);
        let object = || ObjectBuilder::from_array(array.view());
        let plain = MessageBuilder::new().object(object()).object(object().lz4()).encode().unwrap();
        let message = tgm_core::Message::parse(&plain).unwrap();
        if let Some(view) = view::<u64>(&message.object(0).unwrap()).unwrap() {
            assert_eq!(view, array.view().into_dyn());
        } else {
            // The buffer is not aligned to 8 bytes.
            assert_ne!(plain.as_ptr().align_offset(8), 0);
        }
        assert!(view::<u64>(&message.object(1).unwrap()).unwrap().is_none());
        assert!(view::<i64>(&message.object(0).unwrap()).unwrap().is_none());
    }
}
