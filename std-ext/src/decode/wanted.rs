//! What is wanted of an object's values, and the way to it out of an object whose bytes are at hand.
//!
//! Every request ends here: for objects in memory, and for objects of which a frame was fetched.
//!
//! ```text
//!            values as bytes                     values of a type
//! all        whole                               typed (floats), whole
//! ranges     range                               range
//! a box      select                              select
//! ```

use std::borrow::Cow;

use tgm_core::descriptor::{ByteOrder, Descriptor};
use tgm_core::selection::Pick;
use zerocopy::IntoBytes as _;

use super::bounds::check_dtype;
use super::plan::{target_order, threads_for};
use super::range::{range_bytes, range_floats, write_ranges};
use super::scratch::Scratch;
use super::select::{select_trusted, selection, write_trusted};
use super::trust::Trusted;
use super::typed::{Float, check_real, zeros};
use super::{bounds, select, typed, whole};
use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::model::number::{Floats, Number};

/// Some values of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Wanted<'r> {
    /// All of them.
    #[default]
    All,
    /// Ranges, each a first element and a count, one after the other.
    Ranges(&'r [(u64, u64)]),
    /// A box: what is picked of each dimension.
    Box(&'r [Pick]),
}

impl Wanted<'_> {
    /// How many values are wanted.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for what the object does not have, and for ranges
    /// beyond the limits.
    pub(crate) fn count(self, descriptor: &Descriptor<'_>, options: &DecodeOptions) -> Result<u64> {
        match self {
            Self::All => Ok(descriptor.element_count()),
            Self::Ranges(ranges) => {
                bounds::check_ranges(descriptor, ranges, options)?;
                bounds::count_of(ranges)
            }
            Self::Box(picks) => Ok(selection(descriptor, picks)?.element_count()),
        }
    }

    /// The dimensions of the values: of a list of ranges, their number.
    ///
    /// # Errors
    /// The errors of [`Self::count`].
    #[cfg(feature = "ndarray")]
    pub(crate) fn shape(self, descriptor: &Descriptor<'_>, options: &DecodeOptions) -> Result<Vec<u64>> {
        match self {
            Self::All => Ok(descriptor.shape().iter().collect()),
            Self::Ranges(_) => Ok(vec![self.count(descriptor, options)?]),
            Self::Box(picks) => Ok(selection(descriptor, picks)?.shape().collect()),
        }
    }
}

/// Checks that an object's values can become values of type `T`.
///
/// # Errors
/// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for values of another type, if `T` is not a float, and
/// for complex values, if it is one.
pub(super) fn check_type<T: Number>(descriptor: &Descriptor<'_>) -> Result<()> {
    match T::floats(&mut []) {
        Some(_) => check_real(descriptor),
        None => check_dtype::<T::Element>(descriptor),
    }
}

/// The values that are wanted, as bytes in the order that the options say. They are borrowed if they lie in the message as
/// they are wanted.
///
/// # Errors
/// The errors of the stages, the masks and the limits; [`TensogramError::Encoding`](crate::TensogramError::Encoding) for
/// what the object does not have.
pub(super) fn bytes<'a>(object: Trusted<'_, 'a>, wanted: Wanted<'_>, options: &DecodeOptions) -> Result<Cow<'a, [u8]>> {
    let descriptor = object.descriptor();
    match wanted {
        Wanted::All => whole::trusted_values(object, options),
        Wanted::Ranges(ranges) => range_bytes(object, ranges, target_order(descriptor, options), options),
        Wanted::Box(picks) => {
            let selection = selection(descriptor, picks)?;
            Ok(select_trusted(object, &selection, options, threads_for(object, options)?)?.bytes)
        }
    }
}

/// The values that are wanted, if they lie in the message as this machine has them. They are not decoded otherwise.
///
/// # Errors
/// The errors of [`Wanted::count`] and of the payload.
#[cfg(feature = "ndarray")]
pub(super) fn in_place<'a>(
    object: Trusted<'_, 'a>,
    wanted: Wanted<'_>,
    options: &DecodeOptions,
) -> Result<Option<&'a [u8]>> {
    let descriptor = object.descriptor();
    let count = wanted.count(descriptor, options)?;
    let hull = match wanted {
        Wanted::All => 0..count,
        Wanted::Ranges([range]) => bounds::range_of(descriptor, *range)?,
        Wanted::Ranges(_) => return Ok(None),
        Wanted::Box(picks) => selection(descriptor, picks)?.hull(),
    };
    select::borrowed(object, &hull, count, ByteOrder::NATIVE, options)
}

/// [`bytes`] in `order`, or in the order that the options say, into all of `out`.
///
/// # Errors
/// The errors of [`bytes`]; [`TensogramError::Encoding`](crate::TensogramError::Encoding) if `out` is shorter or longer.
pub(super) fn bytes_into(
    object: Trusted<'_, '_>,
    wanted: Wanted<'_>,
    order: Option<ByteOrder>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    let order = order.unwrap_or_else(|| target_order(object.descriptor(), options));
    match wanted {
        Wanted::All => {
            let threads = threads_for(object, options)?;
            whole::decode_values_into(object, order, options, threads, scratch, out)
        }
        Wanted::Ranges(ranges) => write_ranges(object, ranges, order, options, scratch, out),
        Wanted::Box(picks) => {
            write_trusted(object, &selection(object.descriptor(), picks)?, order, options, scratch, out)
        }
    }
}

/// The values that are wanted, as type `T` in this machine's byte order, into all of `out`.
///
/// # Errors
/// The errors of [`check_type`] and of [`bytes_into`].
pub(super) fn values_into<T: Number>(
    object: Trusted<'_, '_>,
    wanted: Wanted<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    match T::floats(out) {
        Some(Floats::F32(out)) => return floats_into(object, wanted, options, scratch, out),
        Some(Floats::F64(out)) => return floats_into(object, wanted, options, scratch, out),
        None => check_dtype::<T::Element>(object.descriptor())?,
    }
    let out = T::as_elements_mut(out).as_mut_bytes();
    bytes_into(object, wanted, Some(ByteOrder::NATIVE), options, scratch, out)
}

fn floats_into<T: Float>(
    object: Trusted<'_, '_>,
    wanted: Wanted<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    match wanted {
        Wanted::All => typed::floats_into(object, options, scratch, out),
        Wanted::Ranges(ranges) => range_floats(object, ranges, options, scratch, out),
        Wanted::Box(picks) => {
            select::floats_into(object, &selection(object.descriptor(), picks)?, options, scratch, out)
        }
    }
}

/// The values that are wanted, as a vector of type `T`.
///
/// # Errors
/// The errors of [`values_into`].
pub(super) fn values<T: Number>(
    object: Trusted<'_, '_>,
    wanted: Wanted<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
) -> Result<Vec<T>> {
    check_type::<T>(object.descriptor())?;
    let count = wanted.count(object.descriptor(), options)?;
    let mut out = zeros(count, object.payload().len() as u64, options)?;
    values_into(object, wanted, options, scratch, &mut out)?;
    Ok(out)
}
