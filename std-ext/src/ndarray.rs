//! Objects out of arrays of the crate `ndarray`, and values as arrays.
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

use ndarray::{ArrayD, ArrayView, ArrayViewD, Dimension, IxDyn};
use tgm_core::descriptor::ByteOrder;
use tgm_core::object::DataObject;
use tgm_core::tensor::Element;
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::decode;
use crate::decode::trust::Trusted;
use crate::encode::builder::ObjectBuilder;
use crate::model::params::metadata;
use crate::model::types::DataObjectDescriptor;

impl<'a> ObjectBuilder<'a> {
    /// A tensor with the shape and the values of an array. They are not copied if they lie in row-major order.
    #[expect(clippy::needless_pass_by_value, reason = "a view is as good as a reference, and easier to get")]
    pub fn from_array<T: Element, D: Dimension>(array: ArrayView<'a, T, D>) -> Self {
        let shape: Vec<u64> = array.shape().iter().map(|dim| *dim as u64).collect();
        let copied = || {
            let mut bytes = Vec::with_capacity(array.len() * size_of::<T>());
            array.iter().for_each(|value| bytes.extend_from_slice(value.as_bytes()));
            Cow::Owned(bytes)
        };
        let data = array.to_slice().map_or_else(copied, |values| Cow::Borrowed(values.as_bytes()));
        Self::from_parts(DataObjectDescriptor::new(T::DTYPE, ByteOrder::NATIVE, &shape), data)
    }
}

/// The values of an object, decoded, as an array of its shape.
///
/// # Errors
/// [`TensogramError::Metadata`] if they are not of the type asked for; else those of [`decode::values`].
pub fn values<T: Element>(object: &DataObject<'_>, options: &DecodeOptions) -> Result<ArrayD<T>> {
    let dtype = object.descriptor().dtype();
    if dtype != T::DTYPE {
        return Err(metadata(format!("values are {dtype}, not {}", T::DTYPE)));
    }
    let native = DecodeOptions { native_byte_order: true, ..options.clone() };
    let bytes = decode::values(object, &native)?;
    let values = bytes.chunks_exact(size_of::<T>()).map(T::read_from_bytes).collect::<std::result::Result<Vec<T>, _>>();
    let values = values.map_err(|_| TensogramError::encoding("values are cut short"))?;
    ArrayD::from_shape_vec(shape(object)?, values).map_err(|error| TensogramError::encoding(error.to_string()))
}

/// The values of an object as they lie in the message; `None` if they are of another type or byte order, not aligned, masked,
/// or have to be decoded. Nothing is copied, and no digest is looked at: [`view_with_options`] checks it first.
///
/// # Errors
/// [`TensogramError::Metadata`] if the shape exceeds the integers of this machine.
pub fn view<'a, T: Element>(object: &DataObject<'a>) -> Result<Option<ArrayViewD<'a, T>>> {
    view_with_options(object, &DecodeOptions::default())
}

/// [`view`], after the digest was checked if `verify_hash` of `options` asks for it, which reads the payload once. The
/// other options are about decoding, and there is none.
///
/// # Errors
/// Those of [`view`]; with `verify_hash` [`TensogramError::HashMismatch`] and [`TensogramError::MissingHash`], also for an
/// object that cannot be viewed.
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
    Ok(ArrayViewD::from_shape(shape(object)?, values).ok())
}

fn shape(object: &DataObject<'_>) -> Result<IxDyn> {
    let dims = object.descriptor().shape().iter().map(usize::try_from).collect::<std::result::Result<Vec<_>, _>>();
    Ok(IxDyn(&dims.map_err(|_| metadata("shape overflows usize"))?))
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Array3, s};

    use super::{values, view};
    use crate::{DecodeOptions, MessageBuilder, ObjectBuilder};

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
