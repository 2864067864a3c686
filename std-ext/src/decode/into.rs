//! Decodes the values of an object into the caller's buffer.
//!
//! | values become | all elements | some elements |
//! |---|---|---|
//! | bytes | [`values_into`] | [`ranges_into`](crate::ranges_into) |
//! | elements of their own type | [`elements_into`] | [`element_ranges_into`](crate::element_ranges_into) |
//! | `f32` or `f64`, from all types but complex ones | [`values_as_into`](crate::values_as_into) | |
//! | `f32` or `f64`, from packed values | [`unpack_into`] | [`unpack_into`] |
//!
//! All functions undo every pipeline, and work in the memory of a [`Scratch`]. Once that memory is large enough,
//! decoding all values of an object allocates nothing on the calling thread, whatever masks the object has. This holds
//! for values that are stored, packed, shuffled, or compressed by szip, zstd, lz4 or blosc2. Decoding some elements
//! allocates a little; [`ranges_into`](crate::ranges_into) says how much.
//!
//! An error about the buffer's length leaves the buffer as it was. After any other error it may hold anything.

use tgm_codec::kernels::packing::Value;
use tgm_core::ErrorKind;
use tgm_core::descriptor::{ByteOrder, Descriptor};
use tgm_core::object::DataObject;
use tgm_core::tensor::Element;
use zerocopy::IntoBytes as _;

use super::plan::{self, threads};
use super::scratch::Scratch;
use super::trust::Trusted;
use super::{unpack, whole};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::model::number::Number;

/// Writes all values of an object to `out`, as bytes.
///
/// The values are row-major, in the byte order that the options ask for. Masked values are restored if the options ask
/// for it. `out` must have exactly [`decoded_len`](tgm_core::descriptor::Descriptor::decoded_len) bytes. The result is
/// the same as from [`values`](crate::values).
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; the errors of [`values`](crate::values).
///
/// Format: FORMAT §5.3.
///
/// ```
/// use tgm_std::{DecodeOptions, Scratch, values, values_into};
///
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm").unwrap();
/// let message = tgm_core::Message::parse(&bytes)?;
/// let object = message.object(0)?;
/// let mut out = vec![0; usize::try_from(object.descriptor().decoded_len()?).unwrap()];
/// let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
/// values_into(&object, &options, &mut scratch, &mut out)?;
/// assert_eq!(out, *values(&object, &options)?);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn values_into(
    object: &DataObject<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    let order = plan::target_order(object.descriptor(), options);
    let trusted = Trusted::new(object, options)?;
    whole::decode_values_into(trusted, order, options, threads(options, object)?, scratch, out)
}

/// Writes all values of an object to `out`, as elements of their own type.
///
/// The values are row-major, in the machine's byte order, whatever `native_byte_order` of the options says. `out` must
/// have as many elements as the object. A bitmask has no Rust type of elements; for one, take [`values_into`].
///
/// # Errors
/// [`TensogramError::Encoding`] with [`ErrorKind::DtypeMismatch`] if the elements are not of type `T`; the errors of
/// [`values_into`].
///
/// Format: FORMAT §5.3.
///
/// ```
/// use tgm_std::{DecodeOptions, Scratch, elements_into};
///
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm").unwrap();
/// let message = tgm_core::Message::parse(&bytes)?;
/// let object = message.object(0)?;
/// let mut out = vec![0.0_f32; usize::try_from(object.descriptor().element_count()).unwrap()];
/// elements_into(&object, &DecodeOptions::default(), &mut Scratch::default(), &mut out)?;
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn elements_into<T: Number>(
    object: &DataObject<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    check_dtype::<T::Element>(object.descriptor())?;
    let threads = threads(options, object)?;
    let object = Trusted::new(object, options)?;
    whole::decode_values_into(
        object,
        ByteOrder::NATIVE,
        options,
        threads,
        scratch,
        T::as_elements_mut(out).as_mut_bytes(),
    )
}

/// Unpacks simple-packed values: fills `out` with elements `start..start + out.len()` of the object.
///
/// The values are row-major, in the unit of the source data, in the machine's byte order. An `f32` is the `f64` value,
/// rounded; it takes half the memory of [`elements_into`], which gives `f64` only. Masked values are restored if the
/// options ask for it.
///
/// If all values are asked for, the codec may decompress on several threads. Unpacking runs on the calling thread.
///
/// # Errors
/// [`TensogramError::Encoding`] with [`ErrorKind::NotPacked`] if the values are not packed;
/// [`TensogramError::Encoding`] if the object has fewer values; the errors of [`values`](crate::values).
///
/// Format: PIPELINE §3.4.
///
/// ```
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, Scratch, unpack_into};
///
/// let temperatures = [271.5, 272.25, 280.0, 290.75];
/// let object = ObjectBuilder::new(&[4], &temperatures)?.simple_packing(16).szip();
/// let bytes = MessageBuilder::new().object(object).encode()?;
/// let message = tgm_core::Message::parse(&bytes)?;
/// let mut out = [0.0_f32; 3];
/// unpack_into(&message.object(0)?, 1, &DecodeOptions::default(), &mut Scratch::default(), &mut out)?;
/// assert!(out.iter().zip(&temperatures[1..]).all(|(found, value)| (f64::from(*found) - value).abs() < 1e-3));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn unpack_into<T: Element + Value>(
    object: &DataObject<'_>,
    start: u64,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    unpack::unpack_into(Trusted::new(object, options)?, start, options, threads(options, object)?, scratch, out)
}

/// Checks that elements are of type `T`.
pub(crate) fn check_dtype<T: Element>(descriptor: &Descriptor<'_>) -> Result<()> {
    if T::DTYPE == descriptor.dtype() {
        return Ok(());
    }
    let mismatch = ErrorKind::DtypeMismatch { expected: T::DTYPE, found: descriptor.dtype() };
    Err(TensogramError::from(mismatch.at(descriptor.offset())))
}
