//! Writing NaN and infinities into decoded values.

use core::num::NonZeroUsize;
use core::ops::Range;

use super::bitmap::Mask;
use super::piece::{Piece, Word};
use crate::descriptor::{ByteOrder, Dtype, MaskKind};
use crate::error::{ErrorKind, Result};

/// Bytes of the widest element.
const WIDEST: usize = 16;

/// The canonical bits of `kind` in a `dtype`; `None` if the dtype has no such value. For a complex dtype: the bits of each
/// part.
///
/// The bits are in the lower [`Dtype::swap_unit_size`] bytes.
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

/// Writes the canonical value of `kind` to the set elements of `mask`; for complex elements, to both parts.
///
/// `out` holds elements of the tensor from element `start` on, in `order`. Only the window of a raw mask is read. A mask of
/// another form is read to its end, so every defect is reported; for many windows see [`fill_runs`]. Integers have no
/// such values: their masks are read, and `out` does not change. O(bytes read + `out.len()`).
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
/// [`ErrorKind::MaskDtype`] for [`Dtype::Bitmask`]; [`ErrorKind::OutputLength`] if the length of `out` is not a multiple
/// of the element's; [`ErrorKind::RangeOutOfBounds`] if the window reaches beyond the mask; the blob's defect, as listed at
/// [`Mask::runs`]. `out` is then partly restored.
pub fn restore_into(
    mask: &Mask<'_>,
    kind: MaskKind,
    dtype: Dtype,
    order: ByteOrder,
    start: u64,
    out: &mut [u8],
) -> Result<()> {
    let count = element_count(dtype, out)?;
    fill_all(mask.within(start, count)?, kind, dtype, order, out)
}

/// Writes the canonical value of `kind` to the elements of `runs`; for complex elements, to both parts.
///
/// `out` holds elements of type `dtype` in `order`. Runs count from its first element, and are cut at its end. This is
/// [`restore_into`] for a caller that has the runs: [`Mask::runs`] is then read once for many windows.
/// O(elements in runs). If the type has no such value, no run is read.
///
/// ```
/// use tgm_core::descriptor::{ByteOrder, Dtype};
/// use tgm_core::mask::{MaskKind, fill_runs};
///
/// let mut values = [0; 4];
/// fill_runs([1..9], MaskKind::PosInf, Dtype::Float16, ByteOrder::Big, &mut values)?;
/// assert_eq!(values, [0, 0, 0x7c, 0]);
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::MaskDtype`] for [`Dtype::Bitmask`]; [`ErrorKind::OutputLength`] if the length of `out` is not a multiple
/// of the element's.
pub fn fill_runs(
    runs: impl IntoIterator<Item = Range<u64>>,
    kind: MaskKind,
    dtype: Dtype,
    order: ByteOrder,
    out: &mut [u8],
) -> Result<()> {
    element_count(dtype, out)?;
    if pattern(kind, dtype).is_none() {
        return Ok(());
    }
    fill_all(runs.into_iter().map(|run| Ok(Piece::Run(run))), kind, dtype, order, out)
}

/// The number of elements that `out` holds.
fn element_count(dtype: Dtype, out: &[u8]) -> Result<u64> {
    let width = NonZeroUsize::new(dtype.byte_width()).ok_or(ErrorKind::MaskDtype(dtype).at(0))?;
    if out.len() % width != 0 {
        return Err(ErrorKind::OutputLength.at(0));
    }
    Ok((out.len() / width) as u64)
}

/// Writes the value of `kind` to the elements of `pieces`. If the type has no such value, only reads the pieces.
fn fill_all(
    mut pieces: impl Iterator<Item = Result<Piece>>,
    kind: MaskKind,
    dtype: Dtype,
    order: ByteOrder,
    out: &mut [u8],
) -> Result<()> {
    let Some(bits) = pattern(kind, dtype) else { return pieces.try_for_each(|piece| piece.map(|_| ())) };
    let element = element_bytes(bits, dtype.swap_unit_size(), order);
    // By a pointer, so that firmware has one loop over pieces, and not one for each width.
    let fill = match dtype.byte_width() {
        2 => fill::<2>,
        4 => fill::<4>,
        8 => fill::<8>,
        _ => fill::<16>,
    };
    pieces.try_for_each(|piece| piece.map(|piece| fill(piece, &element, out)))
}

/// An element of any width: the lower `unit` bytes of `bits`, again and again.
fn element_bytes(bits: u64, unit: usize, order: ByteOrder) -> [u8; WIDEST] {
    let mut bits = u128::from(bits);
    for bytes in [2_u8, 4, 8] {
        if usize::from(bytes) >= unit {
            bits |= bits.wrapping_shl(u32::from(bytes).wrapping_mul(8));
        }
    }
    match order {
        ByteOrder::Big => bits.to_be_bytes(),
        ByteOrder::Little => bits.to_le_bytes(),
    }
}

/// Writes the first `WIDTH` bytes of `element` to the elements of `piece` that `out` has.
fn fill<const WIDTH: usize>(piece: Piece, element: &[u8; WIDEST], out: &mut [u8]) {
    let ((elements, _), Some(element)) = (out.as_chunks_mut::<WIDTH>(), element.first_chunk()) else { return };
    let run = match piece {
        Piece::Run(run) => run,
        Piece::Word(word) if word.bits == u64::MAX => word.position..word.position.saturating_add(64),
        Piece::Word(Word { bits, position }) => {
            return fill_word(slots(elements, &(position..u64::MAX)), bits, element);
        }
    };
    slots(elements, &run).fill(*element);
}

/// The elements of `run`, which is cut at the end of `elements`.
fn slots<'e, T>(elements: &'e mut [T], run: &Range<u64>) -> &'e mut [T] {
    let end = run.end.min(elements.len() as u64);
    let range = usize::try_from(run.start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| elements.get_mut(start..end)).unwrap_or_default()
}

/// Writes `element` where `bits` are set. The first slot belongs to the most significant bit.
///
/// One by one, from the last to the first: where elements are set here and there, the ends of runs cannot be predicted.
fn fill_word<T: Copy>(slots: &mut [T], mut bits: u64, element: &T) {
    while bits != 0 {
        let at = u64::BITS.wrapping_sub(1).wrapping_sub(bits.trailing_zeros());
        if let Some(slot) = slots.get_mut(at as usize) {
            *slot = *element;
        }
        bits &= bits.wrapping_sub(1);
    }
}
