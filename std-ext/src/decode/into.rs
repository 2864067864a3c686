//! Values of an object into a buffer that the caller keeps.
//!
//! | values as | of all elements | of some |
//! |---|---|---|
//! | bytes | [`values_into`] | [`ranges_into`](crate::ranges_into) |
//! | a Rust type | [`elements_into`] | [`element_ranges_into`](crate::element_ranges_into) |
//! | `f32` or `f64`, of any | [`values_as_into`](crate::values_as_into) | |
//! | `f32` or `f64`, of packed ones | [`unpack_into`] | [`unpack_into`] |
//!
//! They undo every pipeline, and take what memory they need from a [`Scratch`]: once it is large enough, nothing is
//! allocated on the calling thread for all values of an object that are stored, packed, shuffled, or compressed by szip,
//! zstd, lz4 or blosc2, whatever masks they have. Parts are opened first: [`ranges_into`](crate::ranges_into) says what
//! that takes. After an error that is not about the buffer's length, nothing can be said of what is in it.

use tgm_core::ErrorKind;
use tgm_core::descriptor::{ByteOrder, Descriptor};
use tgm_core::object::DataObject;
use tgm_core::tensor::Element;
use zerocopy::IntoBytes as _;

use super::trust::Trusted;
use super::{Scratch, pipeline, threads};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::kernels::packing::Value;
use crate::model::number::Number;

/// All values of an object as bytes, row-major, in the order of bytes that the options say; masked ones restored if
/// they say so. What [`values`](crate::values) gives, in `out`, which is as long as
/// [`decoded_len`](tgm_core::descriptor::Descriptor::decoded_len) says.
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; those of [`values`](crate::values).
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
    let order = pipeline::target_order(object.descriptor(), options);
    let trusted = Trusted::new(object, options)?;
    pipeline::decode_values_into(trusted, order, options, threads(options, object)?, scratch, out)
}

/// All values of an object as what they are, row-major. `native_byte_order` of the options has no say here.
///
/// # Errors
/// [`TensogramError::Encoding`] with [`ErrorKind::DtypeMismatch`] if the elements are not of type `T`; those of
/// [`values_into`].
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
    pipeline::decode_values_into(
        object,
        ByteOrder::NATIVE,
        options,
        threads,
        scratch,
        T::as_elements_mut(out).as_mut_bytes(),
    )
}

/// As many simple-packed values as `out` has, from element `start` on: as `f64`, or as `f32`, which is the `f64`
/// rounded once more. Half the memory of [`elements_into`] where 32 bits are enough.
///
/// Decompressing may be done on several threads, unpacking is not.
///
/// # Errors
/// [`TensogramError::Encoding`], with [`ErrorKind::DtypeMismatch`] if the values are not packed, and if there are fewer
/// of them; those of [`values`](crate::values).
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
    pipeline::unpack_into(Trusted::new(object, options)?, start, options, threads(options, object)?, scratch, out)
}

/// Checks that elements are of type `T`.
pub(crate) fn check_dtype<T: Element>(descriptor: &Descriptor<'_>) -> Result<()> {
    if T::DTYPE == descriptor.dtype() {
        return Ok(());
    }
    let mismatch = ErrorKind::DtypeMismatch { expected: T::DTYPE, found: descriptor.dtype() };
    Err(TensogramError::from(mismatch.at(descriptor.offset())))
}
