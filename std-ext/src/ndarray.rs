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
