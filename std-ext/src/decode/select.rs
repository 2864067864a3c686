//! Boxes of a tensor: a dense array out of some indices of each dimension.
//!
//! There is one [`Pick`] for each dimension. The result has the dimensions of which a range or all is picked, and lies
//! row-major. [`Picks`](crate::decode::Picks) reads picks from text.
//!
//! | payload | what a call reads and decodes |
//! |---|---|
//! | plain | the bytes of the selected values |
//! | packed, or shuffled | the bits of the selected values |
//! | szip, zfp of fixed rate, blosc2 | the blocks that hold selected values, each once |
//! | zstd | all of it, or what comes before the last selected value, if that is less than half |
//! | everything else | all of it, once |
//!
//! Where reading blocks costs nearly as much as decoding everything, everything is decoded, unless that takes much more
//! memory than the selected values. Values between selected ones are decoded too, where that costs less than going
//! around them. Besides these, a call works in a few kilobytes, however many rows the selection has.

mod filler;
mod pending;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests may panic")]
mod tests;

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use tgm_codec::memory;
use tgm_codec::memory::at_least;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::{ByteOrder, Descriptor};
use tgm_core::selection::{Pick, Selection};
use tgm_core::tensor::Element;
use zerocopy::IntoBytes as _;

use self::filler::with_filler;
pub use self::pending::element_ranges;
use super::bounds::{check_output, values_len};
use super::plan::{Plan, WayToValues, target_order, threads_for};
use super::scratch::Scratch;
use super::trust::Trusted;
use super::typed::{Float, check_real, convert};
use super::{typed, whole};
use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::base::options::DecodeOptions;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::DataObjectDescriptor;

/// Values that are decoded at once to be converted: a multiple of eight, so that bits begin with a byte.
const CONVERTED: usize = 4096;

/// The selected values of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected<'a> {
    /// The dimensions of the result.
    pub shape: Vec<u64>,
    /// The values, row-major. A bitmask's values are packed bits.
    pub bytes: Cow<'a, [u8]>,
}

impl Selected<'_> {
    /// The same with bytes of its own.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if there is no memory.
    pub fn into_owned(self) -> Result<Selected<'static>> {
        Ok(Selected { shape: self.shape, bytes: Cow::Owned(memory::owned(self.bytes)?) })
    }
}

/// The box that `picks` take of an object: its shape, its number of elements, and its rows. Nothing is read.
///
/// # Errors
/// [`TensogramError::Encoding`] if there are more or fewer picks than dimensions, and for a pick beyond its dimension.
pub fn selection<'p>(descriptor: &Descriptor<'p>, picks: &'p [Pick]) -> Result<Selection<'p>> {
    Ok(Selection::new(descriptor.shape().into(), picks)?)
}

/// Checks that a selection has `given` values.
fn check_count(selection: &Selection<'_>, given: usize) -> Result<()> {
    let expected = selection.element_count();
    if given as u64 == expected {
        return Ok(());
    }
    Err(TensogramError::encoding(format!("output has {given} values, the selection has {expected}")))
}

/// The selected values of an object as floats, into all of `out`.
///
/// # Errors
/// [`TensogramError::Encoding`] for complex values, and if `out` is shorter or longer; the errors of [`select_trusted`].
pub(super) fn floats_into<T: Float>(
    trusted: Trusted<'_, '_>,
    selection: &Selection<'_>,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    let descriptor = trusted.descriptor();
    let dtype = descriptor.dtype();
    check_real(descriptor)?;
    check_count(selection, out.len())?;
    if is_whole(selection, descriptor) {
        return typed::floats_into(trusted, options, scratch, out);
    }
    options.limits.check_bytes(u64::MAX, size_of_val(out) as u64)?;
    if out.is_empty() {
        return Ok(());
    }
    let threads = threads_for(trusted, options)?;
    if dtype == <T as Element>::DTYPE {
        let out = T::as_elements_mut(out).as_mut_bytes();
        return write_part(trusted, selection, ByteOrder::NATIVE, options, threads, scratch, out);
    }
    // Out of the scratch for as long as decoding works in the rest of it.
    let mut buffer = mem::take(&mut scratch.values);
    let filled = with_filler(trusted, selection, ByteOrder::NATIVE, options, threads, scratch, |filler| {
        out.chunks_mut(CONVERTED).try_for_each(|out| {
            let count = out.len() as u64;
            let len = options.limits.check_bytes(u64::MAX, values_len(descriptor, count)?)?;
            let bytes = at_least(&mut buffer, len)?;
            filler.fill(count, bytes)?;
            convert(dtype, bytes, out)
        })
    });
    scratch.values = buffer;
    filled
}

/// The selected values of an object as bytes, in the order that the options say. They are borrowed from the message if they
/// lie there side by side, as they are wanted. A bitmask's values begin with the highest bit.
///
/// # Errors
/// The errors of the stages, the masks and the limits.
pub(super) fn select_trusted<'a>(
    trusted: Trusted<'_, 'a>,
    selection: &Selection<'_>,
    options: &DecodeOptions,
    threads: Threads,
) -> Result<Selected<'a>> {
    let descriptor = trusted.descriptor();
    let shape = selection.shape().collect();
    if is_whole(selection, descriptor) {
        return Ok(Selected { shape, bytes: whole::decode_values(trusted, options, threads)? });
    }
    let order = target_order(descriptor, options);
    if let Some(bytes) = borrowed(trusted, &selection.hull(), selection.element_count(), order, options)? {
        return Ok(Selected { shape, bytes: Cow::Borrowed(bytes) });
    }
    // Picks such as `..` select what the message's shape states, and a shape can lie. So the memory for the result is
    // limited by the length of the payload.
    let len = options.limits.check_bytes(trusted.payload().len() as u64, out_len(selection, descriptor)?)?;
    let mut bytes = reserve(len)?;
    write_part(trusted, selection, order, options, threads, &mut Scratch::default(), &mut bytes)?;
    Ok(Selected { shape, bytes: Cow::Owned(bytes) })
}

/// The object's descriptor, owned, with the values that `picks` take.
///
/// # Errors
/// The errors of [`selection`], of [`select_trusted`] and of the limits.
pub(crate) fn of_object(
    object: Trusted<'_, '_>,
    picks: &[Pick],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Selected<'static>)> {
    let selection = selection(object.descriptor(), picks)?;
    let selected = select_trusted(object, &selection, options, threads_for(object, options)?)?;
    let selected = Selected { shape: selected.shape, bytes: Cow::Owned(options.limits.owned(selected.bytes)?) };
    Ok((to_owned::descriptor(object.descriptor(), &MetadataBudget::new(&options.limits))?, selected))
}

/// `count` values from the first of `hull` to the last, if they lie side by side in the message as they are wanted.
///
/// # Errors
/// The errors of [`Plan`].
pub(super) fn borrowed<'a>(
    object: Trusted<'_, 'a>,
    hull: &Range<u64>,
    count: u64,
    order: ByteOrder,
    options: &DecodeOptions,
) -> Result<Option<&'a [u8]>> {
    let dtype = object.descriptor().dtype();
    let plan = Plan::new(object, options, order, Threads::NONE)?;
    // Bits must begin with a byte, and those after the last one must not be of other elements.
    let is_aligned = dtype.byte_width() > 0 || hull.start.is_multiple_of(8) && count.is_multiple_of(8);
    let is_as_wanted = plan.is_plain() && plan.swap_unit().is_none() && !plan.must_restore();
    if hull.end - hull.start != count || !is_aligned || !is_as_wanted {
        return Ok(None);
    }
    let WayToValues::Borrow(values) = plan.all()? else { return Ok(None) };
    let place = |element| usize::try_from(dtype.byte_len(element)?).ok();
    Ok(place(hull.start).zip(place(hull.end)).and_then(|(start, end)| values.get(start..end)))
}

/// The selected values of an object that may be trusted, in `order`, into all of `out`.
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; the errors of [`select_trusted`].
pub(super) fn write_trusted(
    trusted: Trusted<'_, '_>,
    selection: &Selection<'_>,
    order: ByteOrder,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    let descriptor = trusted.descriptor();
    check_output(out_len(selection, descriptor)?, out)?;
    options.limits.check_bytes(u64::MAX, out.len() as u64)?;
    let threads = threads_for(trusted, options)?;
    if is_whole(selection, descriptor) {
        return whole::decode_values_into(trusted, order, options, threads, scratch, out);
    }
    write_part(trusted, selection, order, options, threads, scratch, out)
}

/// The values of a selection that is not everything.
fn write_part(
    object: Trusted<'_, '_>,
    selection: &Selection<'_>,
    order: ByteOrder,
    options: &DecodeOptions,
    threads: Threads,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    let count = selection.element_count();
    if count == 0 {
        return Ok(());
    }
    with_filler(object, selection, order, options, threads, scratch, |filler| filler.fill(count, out))
}

/// Whether all elements are selected.
fn is_whole(selection: &Selection<'_>, descriptor: &Descriptor<'_>) -> bool {
    selection.element_count() == descriptor.element_count()
}

/// Bytes of the selected values.
fn out_len(selection: &Selection<'_>, descriptor: &Descriptor<'_>) -> Result<u64> {
    values_len(descriptor, selection.element_count())
}
