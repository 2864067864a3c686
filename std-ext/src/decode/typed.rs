//! Values of an object as floats, whatever type they are.

use std::mem;

use tgm_codec::kernels::packing::Value;
use tgm_codec::memory::at_least;
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype, Encoding};
use tgm_core::tensor::{AnyView, Element, Shape};
use zerocopy::IntoBytes as _;

use super::plan::threads_for;
use super::scratch::Scratch;
use super::trust::Trusted;
use super::{unpack, whole};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::model::number::Number;

/// Checks that an object has `given` values that are real.
pub(super) fn check_floats(descriptor: &Descriptor<'_>, given: usize) -> Result<()> {
    check_real(descriptor)?;
    let expected = descriptor.element_count();
    if given as u64 == expected {
        return Ok(());
    }
    Err(TensogramError::encoding(format!("output has {given} values, the object has {expected}")))
}

/// All values of an object as floats, row-major, into all of `out`.
///
/// Values are converted where they are copied. They take memory of the scratch only if they have to be decoded first and
/// are not decoded as `T`.
///
/// # Errors
/// [`TensogramError::Encoding`] for complex values, and if `out` is shorter or longer; the errors of
/// [`whole::decode_values_into`].
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
    /// Copies all elements of a view to `out`, each as the nearest float. It copies nothing of complex elements.
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

/// `count` zeros, if the limits allow `encoded` bytes to take their memory.
pub(super) fn zeros<T: Number>(count: u64, encoded: u64, options: &DecodeOptions) -> Result<Vec<T>> {
    // More than 64 bits are more than any limit, and than this machine can address.
    let bytes = count.saturating_mul(size_of::<T>() as u64);
    let len = options.limits.check_bytes(encoded, bytes)? / size_of::<T>();
    T::zeros(len)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests may panic")]
mod tests;
