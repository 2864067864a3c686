//! Plain values of an object that is not at hand: where they lie, so that they are read to where the caller wants them.

use std::ops::Range;

use tgm_codec::kernels::byteswap;
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype, Stage};

use super::select::selection;
use super::wanted::Wanted;
use crate::base::error::Result;
use crate::base::options::DecodeOptions;

/// Values that lie side by side in the payload, with no stage to undo.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    /// Where they begin, in bytes of the payload.
    pub(crate) start: u64,
    /// Their bytes.
    pub(crate) len: usize,
    pub(crate) dtype: Dtype,
    /// The order that they are stored in.
    order: ByteOrder,
}

impl Plain {
    /// Where the wanted values lie in a payload of `payload_len` bytes. `None` if a stage has to be undone, masks have to be
    /// restored, a digest has to be checked, or if something is wrong.
    pub(crate) fn of(
        descriptor: &Descriptor<'_>,
        payload_len: u64,
        wanted: Wanted<'_>,
        options: &DecodeOptions,
    ) -> Option<Self> {
        let is_masked = options.restore_non_finite && !descriptor.masks().is_empty();
        if options.verify_hash || is_masked || !matches!(descriptor.pending_stage(), None | Some(Stage::Masks(_))) {
            return None;
        }
        if descriptor.decoded_len().ok()? != payload_len {
            return None;
        }
        let (hull, count) = elements(descriptor, wanted, options)?;
        let dtype = descriptor.dtype();
        // Bits have no bytes of their own.
        if hull.end.checked_sub(hull.start)? != count || dtype.byte_width() == 0 {
            return None;
        }
        let len = options.limits.check_bytes(payload_len, dtype.byte_len(count)?).ok()?;
        Some(Self { start: dtype.byte_len(hull.start)?, len, dtype, order: descriptor.byte_order() })
    }

    /// Turns what was read into `order`, or into the order that the options say.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for a part of a value.
    pub(crate) fn swap(&self, order: Option<ByteOrder>, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
        let stored = if options.native_byte_order { ByteOrder::NATIVE } else { self.order };
        let unit = self.dtype.swap_unit_size();
        if unit > 1 && order.unwrap_or(stored) != self.order {
            byteswap::swap_in_place(out, unit)?;
        }
        Ok(())
    }
}

/// The elements from the first wanted one to the last, and how many are wanted.
fn elements(descriptor: &Descriptor<'_>, wanted: Wanted<'_>, options: &DecodeOptions) -> Option<(Range<u64>, u64)> {
    let count = wanted.count(descriptor, options).ok()?;
    let hull = match wanted {
        Wanted::All => 0..count,
        Wanted::Ranges([(start, count)]) => *start..start.checked_add(*count)?,
        Wanted::Ranges(_) => return None,
        Wanted::Box(picks) => selection(descriptor, picks).ok()?.hull(),
    };
    Some((hull, count))
}
