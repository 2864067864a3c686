//! Values of an object as a vector of a Rust type: of the type that they are, or as floats whatever they are.
//!
//! | values as | in a new vector | in the caller's buffer |
//! |---|---|---|
//! | what they are | [`to_vec`] | [`elements_into`] |
//! | `f32` or `f64` | [`values_as`] | [`values_as_into`] |

use std::mem;

use tgm_codec::kernels::packing::Value;
use tgm_codec::memory::at_least;
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype, Encoding};
use tgm_core::object::DataObject;
use tgm_core::tensor::{AnyView, Element, Shape};
use zerocopy::IntoBytes as _;

use super::into::{check_dtype, elements_into};
use super::plan::threads_for;
use super::scratch::Scratch;
use super::trust::Trusted;
use super::{unpack, whole};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::model::number::Number;

/// All values of an object as a vector of the type that they are, row-major, in this machine's byte order.
///
/// One allocation for the values, within the limits of the options. `native_byte_order` of the options has no effect.
///
/// # Errors
/// [`TensogramError::Encoding`] if the object holds values of another type than `T`: the error names it. The errors of
/// [`values`](crate::values).
///
/// ```
/// use tgm_std::{DecodeOptions, to_vec};
///
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-big.tgm").unwrap();
/// let message = tgm_std::core::Message::parse(&bytes)?;
/// let object = message.object(0)?;
/// let values: Vec<f32> = to_vec(&object, &DecodeOptions::default())?;
/// assert_eq!(values.len() as u64, object.descriptor().element_count());
/// assert!(to_vec::<f64>(&object, &DecodeOptions::default()).is_err());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn to_vec<T: Number>(object: &DataObject<'_>, options: &DecodeOptions) -> Result<Vec<T>> {
    check_dtype::<T::Element>(object.descriptor())?;
    let mut values = zeros_of(object, options)?;
    elements_into(object, options, &mut Scratch::default(), &mut values)?;
    Ok(values)
}

/// All values of an object as floats, row-major, whatever their type and pipeline are.
///
/// | values | as `f64` | as `f32` |
/// |---|---|---|
/// | `float16`, `bfloat16`, integers of 8 and 16 bits | exact | exact |
/// | `float32` | exact | exact |
/// | integers of 32 bits | exact | rounded beyond 2^24 |
/// | integers of 64 bits | rounded beyond 2^53 | rounded beyond 2^24 |
/// | `float64`, packed values included | exact | rounded; beyond the range of `f32` they are infinite |
/// | `bitmask` | 0 or 1 | 0 or 1 |
/// | `complex64`, `complex128` | an error | an error |
///
/// Rounding is to the nearest float, ties to even. Masked values are NaN and infinities if `restore_non_finite` of the
/// options asks for it, and zeros otherwise.
///
/// # Errors
/// [`TensogramError::Encoding`] for complex values: the error names their type, and [`to_vec`] gives them. The errors
/// of [`values`](crate::values).
///
/// ```
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, values_as};
///
/// let bytes = MessageBuilder::new()
///     .object(ObjectBuilder::new(&[3], &[-1_i16, 0, 300])?)
///     .object(ObjectBuilder::bitmask(&[3], &[0b1010_0000]))
///     .encode()?;
/// let message = tgm_std::core::Message::parse(&bytes)?;
/// let options = DecodeOptions::default();
/// assert_eq!(values_as::<f64>(&message.object(0)?, &options)?, [-1.0, 0.0, 300.0]);
/// assert_eq!(values_as::<f32>(&message.object(1)?, &options)?, [1.0, 0.0, 1.0]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn values_as<T: Float>(object: &DataObject<'_>, options: &DecodeOptions) -> Result<Vec<T>> {
    check_real(object.descriptor())?;
    let mut values = zeros_of(object, options)?;
    values_as_into(object, options, &mut Scratch::default(), &mut values)?;
    Ok(values)
}

/// [`values_as`] into all of `out`, which has as many values as the object.
///
/// Values are converted where they are copied. They take memory of the scratch only if they have to be decoded first and
/// are not decoded as `T`.
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; the errors of [`values_as`].
///
/// ```
/// use tgm_std::{DecodeOptions, Scratch, values_as_into};
///
/// # let bytes = std::fs::read("../tests/data/realistic/surface-181x360.tgm").unwrap();
/// let message = tgm_std::core::Message::parse(&bytes)?;
/// let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
/// let mut values = Vec::new();
/// for object in message.objects() {
///     let object = object?;
///     values.resize(object.descriptor().element_count() as usize, 0.0_f32);
///     values_as_into(&object, &options, &mut scratch, &mut values)?;
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn values_as_into<T: Float>(
    object: &DataObject<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    check_floats(object.descriptor(), out.len())?;
    floats_into(Trusted::new(object, options)?, options, scratch, out)
}

/// Checks that an object has `given` values that are real.
pub(super) fn check_floats(descriptor: &Descriptor<'_>, given: usize) -> Result<()> {
    check_real(descriptor)?;
    let expected = descriptor.element_count();
    if given as u64 == expected {
        return Ok(());
    }
    Err(TensogramError::encoding(format!("output has {given} values, the object has {expected}")))
}

/// [`values_as_into`] of an object that may be trusted.
///
/// # Errors
/// The errors of [`values_as_into`], digests excepted.
pub(super) fn floats_into<T: Float>(
    object: Trusted<'_, '_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    let descriptor = object.descriptor();
    let dtype = descriptor.dtype();
    check_floats(descriptor, out.len())?;
    let threads = threads_for(object, options)?;
    if dtype == <T as Element>::DTYPE {
        let out = T::as_elements_mut(out).as_mut_bytes();
        return whole::decode_values_into(object, ByteOrder::NATIVE, options, threads, scratch, out);
    }
    if descriptor.encoding().known() == Some(Encoding::SimplePacking) {
        return unpack::unpack_into(object, 0, options, threads, scratch, out);
    }
    let len = options.limits.check_bytes(object.payload().len() as u64, descriptor.decoded_len()?)?;
    if descriptor.pending_stage().is_none() {
        let view = AnyView::new(dtype, object.payload(), descriptor.byte_order(), descriptor.shape().into());
        T::copy_from(&view.map_err(|error| error.shift(object.region_offset()))?, out);
        return Ok(());
    }
    // Out of the scratch for as long as decoding works in the rest of it.
    let mut buffer = mem::take(&mut scratch.values);
    let converted = at_least(&mut buffer, len).map_err(TensogramError::from).and_then(|bytes| {
        whole::decode_values_into(object, ByteOrder::NATIVE, options, threads, scratch, bytes)?;
        convert(dtype, bytes, out)
    });
    scratch.values = buffer;
    converted
}

/// Converts values of `dtype`, in this machine's byte order, into all of `out`.
///
/// # Errors
/// [`TensogramError::Encoding`] if the bytes are not as many as the values of `out` have.
pub(super) fn convert<T: Float>(dtype: Dtype, bytes: &[u8], out: &mut [T]) -> Result<()> {
    let shape = [out.len() as u64];
    T::copy_from(&AnyView::new(dtype, bytes, ByteOrder::NATIVE, Shape::from(&shape))?, out);
    Ok(())
}

/// A float that values of any real type can be read as: `f32` or `f64`. The trait is sealed.
pub trait Float: Number<Element = Self> + Element + Value {
    /// Copies all elements of a view to `out`, each as the nearest float. Of complex elements it copies nothing.
    #[doc(hidden)]
    fn copy_from(view: &AnyView<'_>, out: &mut [Self]);
}

macro_rules! floats {
    ($($float:ident),*) => {$(
        impl Float for $float {
            #[allow(
                clippy::cast_lossless,
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "rounding to the nearest float is what the caller asked for"
            )]
            fn copy_from(view: &AnyView<'_>, out: &mut [Self]) {
                match view {
                    AnyView::Float16(view) => fill(out, view.iter().map($float::from)),
                    AnyView::Bfloat16(view) => fill(out, view.iter().map($float::from)),
                    AnyView::Float32(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Float64(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Int8(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Int16(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Int32(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Int64(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Uint8(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Uint16(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Uint32(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Uint64(view) => fill(out, view.iter().map(|value| value as $float)),
                    AnyView::Bitmask(view) => fill(out, view.iter().map(|bit| $float::from(u8::from(bit)))),
                    AnyView::Complex64(_) | AnyView::Complex128(_) => {}
                }
            }
        }
    )*};
}

floats!(f32, f64);

/// Writes one value to each place.
fn fill<T>(out: &mut [T], values: impl Iterator<Item = T>) {
    out.iter_mut().zip(values).for_each(|(place, value)| *place = value);
}

/// Checks that each value is one number.
pub(super) fn check_real(descriptor: &Descriptor<'_>) -> Result<()> {
    match descriptor.dtype() {
        dtype @ (Dtype::Complex64 | Dtype::Complex128) => {
            Err(TensogramError::encoding(format!("values of dtype {dtype} are complex: no float holds one")))
        }
        _ => Ok(()),
    }
}

/// As many zeros as the object has values, if the limits allow their memory.
fn zeros_of<T: Number>(object: &DataObject<'_>, options: &DecodeOptions) -> Result<Vec<T>> {
    zeros(object.descriptor().element_count(), object.payload().len() as u64, options)
}

/// `count` zeros, if the limits allow `encoded` bytes to take their memory.
pub(super) fn zeros<T: Number>(count: u64, encoded: u64, options: &DecodeOptions) -> Result<Vec<T>> {
    let bytes = count.saturating_mul(size_of::<T>() as u64);
    let len = options.limits.check_bytes(encoded, bytes)? / size_of::<T>();
    T::zeros(len)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests may panic")]
mod tests;
