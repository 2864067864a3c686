//! Writing NaN and infinities back into decoded values.

use core::num::NonZeroUsize;

use super::Mask;
use crate::descriptor::{ByteOrder, Dtype, MaskKind};
use crate::error::{ErrorKind, Result};

/// The canonical bits of `kind` in a `dtype`, of each part in a complex one; `None` if the dtype has no such value.
///
/// The bits stand in the lower [`Dtype::swap_unit_size`] bytes.
///
/// ```
/// use tgm_core::descriptor::Dtype;
/// use tgm_core::mask::{MaskKind, pattern};
///
/// assert_eq!(pattern(MaskKind::NegInf, Dtype::Float32), Some(f32::NEG_INFINITY.to_bits().into()));
/// assert_eq!(pattern(MaskKind::Nan, Dtype::Int8), None);
/// ```
pub const fn pattern(kind: MaskKind, dtype: Dtype) -> Option<u64> {
    let [nan, pos_inf, neg_inf] = match dtype {
        Dtype::Float16 => [0x7e00, 0x7c00, 0xfc00],
        Dtype::Bfloat16 => [0x7fc0, 0x7f80, 0xff80],
        Dtype::Float32 | Dtype::Complex64 => [0x7fc0_0000, 0x7f80_0000, 0xff80_0000],
        Dtype::Float64 | Dtype::Complex128 => [0x7ff8_0000_0000_0000, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000],
        _ => return None,
    };
    Some(match kind {
        MaskKind::Nan => nan,
        MaskKind::PosInf => pos_inf,
        MaskKind::NegInf => neg_inf,
    })
}

/// Writes the canonical value of `kind` to the set elements of `mask`, in both parts of complex ones.
///
/// `out` holds elements of the tensor from element `start` on, in `order`; the whole mask is read whatever the window, so
/// that a defect is always reported. Integers have nothing to restore: their masks are read and `out` stays as it is.
/// O(bytes of the mask + `out.len()`).
///
/// ```
/// use tgm_core::descriptor::{ByteOrder, Dtype};
/// use tgm_core::mask::{BitmapForm, Mask, MaskKind, restore_into};
///
/// let mask = Mask::new(BitmapForm::Raw, &[0b0100_0000], 2);
/// let mut values = [0; 4];
/// restore_into(&mask, MaskKind::Nan, Dtype::Float16, ByteOrder::Big, 0, &mut values)?;
/// assert_eq!(values, [0, 0, 0x7e, 0]);
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::MaskDtype`] for [`Dtype::Bitmask`]; [`ErrorKind::OutputLength`] if `out` is not a whole number of elements
/// long; [`ErrorKind::RangeOutOfBounds`] if the window reaches beyond the mask; a defect of the blob, as listed at
/// [`Mask::runs`], with `out` partly restored.
pub fn restore_into(
    mask: &Mask<'_>,
    kind: MaskKind,
    dtype: Dtype,
    order: ByteOrder,
    start: u64,
    out: &mut [u8],
) -> Result<()> {
    let Some(bits) = pattern(kind, dtype) else { return pass_over(mask, dtype, start, out.len()) };
    let bits = u128::from(bits);
    match dtype {
        Dtype::Float16 | Dtype::Bfloat16 => fill::<2>(mask, bits, order, start, out),
        Dtype::Float32 => fill::<4>(mask, bits, order, start, out),
        // Both parts are equal, so that reversing the whole reverses each.
        Dtype::Complex64 => fill::<8>(mask, bits << 32 | bits, order, start, out),
        Dtype::Complex128 => fill::<16>(mask, bits << 64 | bits, order, start, out),
        _ => fill::<8>(mask, bits, order, start, out),
    }
}

/// Writes the lower `WIDTH` bytes of `bits` to the set elements.
fn fill<const WIDTH: usize>(mask: &Mask<'_>, bits: u128, order: ByteOrder, start: u64, out: &mut [u8]) -> Result<()> {
    let (elements, []) = out.as_chunks_mut() else { return Err(ErrorKind::OutputLength.at(0)) };
    let bytes = match order {
        ByteOrder::Big => bits.to_be_bytes().last_chunk().copied(),
        ByteOrder::Little => bits.to_le_bytes().first_chunk().copied(),
    };
    let element: [u8; WIDTH] = bytes.unwrap_or([0; WIDTH]);
    mask.for_each_within(start, elements.len() as u64, |run| {
        let range = usize::try_from(run.start).ok().zip(usize::try_from(run.end).ok());
        let slots = range.and_then(|(start, end)| elements.get_mut(start..end));
        slots.unwrap_or_default().fill(element);
    })
}

/// Reads the mask of a dtype that has nothing to restore.
fn pass_over(mask: &Mask<'_>, dtype: Dtype, start: u64, out_len: usize) -> Result<()> {
    let width = NonZeroUsize::new(dtype.byte_width()).ok_or(ErrorKind::MaskDtype(dtype).at(0))?;
    if out_len % width != 0 {
        return Err(ErrorKind::OutputLength.at(0));
    }
    mask.for_each_within(start, (out_len / width) as u64, |_| ())
}
