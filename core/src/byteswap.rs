//! Changing the byte order of whole buffers: every unit of 1, 2, 4 or 8 bytes is reversed (PIPELINE §1.1).
//!
//! The unit of a dtype is [`Dtype::swap_unit_size`](crate::descriptor::Dtype::swap_unit_size): each part of a complex
//! number is a unit. The loops go over chunks of constant size, at any alignment. Compilers make vector code of them.

use crate::error::{ErrorKind, Result};

/// Expands `$swap` once for each width, with `$integer` the unsigned integer of `$unit` bytes.
macro_rules! with_unit {
    ($unit:expr, $integer:ident => $swap:expr) => {
        match $unit {
            1 => {
                type $integer = u8;
                $swap
            }
            2 => {
                type $integer = u16;
                $swap
            }
            4 => {
                type $integer = u32;
                $swap
            }
            8 => {
                type $integer = u64;
                $swap
            }
            _ => Err(ErrorKind::ElementSize.at(0)),
        }
    };
}

/// Reverses the bytes of each unit of `unit` bytes in place.
///
/// O(`bytes.len()`), vectorised. A unit of 1 changes nothing. After an error the bytes are unchanged.
///
/// # Errors
/// [`ErrorKind::ElementSize`] if `unit` is not 1, 2, 4 or 8; bitmasks have unit 0, so this includes them;
/// [`ErrorKind::PayloadSize`] if the bytes are not whole units.
///
/// ```
/// let mut bytes = [1, 2, 3, 4];
/// tgm_core::byteswap::swap_in_place(&mut bytes, 2)?;
/// assert_eq!(bytes, [2, 1, 4, 3]);
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
#[inline(always)]
#[allow(clippy::inline_always, reason = "compiled again where wider registers may be used")]
pub fn swap_in_place(bytes: &mut [u8], unit: usize) -> Result<()> {
    with_unit!(unit, Unit => {
        let (units, []) = bytes.as_chunks_mut::<{ size_of::<Unit>() }>() else {
            return Err(ErrorKind::PayloadSize.at(0));
        };
        for unit in units {
            *unit = Unit::from_ne_bytes(*unit).swap_bytes().to_ne_bytes();
        }
        Ok(())
    })
}

/// Copies `src` to `out` with the bytes of each unit of `unit` bytes reversed.
///
/// O(`src.len()`), vectorised. A unit of 1 copies. After an error `out` is unchanged.
///
/// # Errors
/// [`ErrorKind::ElementSize`] and [`ErrorKind::PayloadSize`] as in [`swap_in_place`]; [`ErrorKind::OutputLength`] if
/// `out` is not as long as `src`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "compiled again where wider registers may be used")]
pub fn swap_into(src: &[u8], unit: usize, out: &mut [u8]) -> Result<()> {
    with_unit!(unit, Unit => {
        let (units, []) = src.as_chunks::<{ size_of::<Unit>() }>() else {
            return Err(ErrorKind::PayloadSize.at(0));
        };
        if out.len() != src.len() {
            return Err(ErrorKind::OutputLength.at(0));
        }
        for (out, unit) in out.as_chunks_mut().0.iter_mut().zip(units) {
            *out = Unit::from_ne_bytes(*unit).swap_bytes().to_ne_bytes();
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "tests may panic")]

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind as E;

    const UNITS: [usize; 4] = [1, 2, 4, 8];

    /// Unit by unit, byte by byte.
    fn oracle(src: &[u8], unit: usize) -> Vec<u8> {
        src.chunks(unit).flat_map(|chunk| chunk.iter().rev().copied()).collect()
    }

    proptest! {
        #[test]
        fn swaps_equal_the_oracle_at_any_alignment(
            source in proptest::collection::vec(any::<u8>(), 0..700),
            offset in 0_usize..8,
            unit in proptest::sample::select(&UNITS[..]),
        ) {
            let start = offset.min(source.len());
            let src = source.get(start..).unwrap();
            let src = src.get(..src.len() / unit * unit).unwrap();

            let mut into = std::vec![0xA5; src.len()];
            swap_into(src, unit, &mut into).unwrap();
            prop_assert_eq!(&into, &oracle(src, unit));

            let mut buffer = source.clone();
            let place = buffer.get_mut(start..start + src.len()).unwrap();
            swap_in_place(place, unit).unwrap();
            prop_assert_eq!(&*place, &into[..]);
            swap_in_place(place, unit).unwrap();
            prop_assert_eq!(buffer, source);
        }
    }

    #[test]
    fn a_unit_that_no_scalar_has_is_an_error() {
        for unit in (0..40).filter(|unit| !UNITS.contains(unit)).chain([usize::MAX]) {
            assert_eq!(swap_in_place(&mut [0; 16], unit), Err(E::ElementSize.at(0)));
            assert_eq!(swap_into(&[0; 16], unit, &mut [0; 16]), Err(E::ElementSize.at(0)));
        }
    }

    #[test]
    fn a_cut_unit_or_a_buffer_of_another_length_is_an_error_and_changes_nothing() {
        let mut bytes = [1, 2, 3];
        assert_eq!(swap_in_place(&mut bytes, 2), Err(E::PayloadSize.at(0)));
        assert_eq!(bytes, [1, 2, 3]);
        let mut out = [7; 8];
        assert_eq!(swap_into(&[1, 2, 3, 4, 5, 6, 7], 4, &mut out), Err(E::PayloadSize.at(0)));
        assert_eq!(swap_into(&[1, 2, 3, 4], 4, &mut out), Err(E::OutputLength.at(0)));
        assert_eq!(swap_into(&[0; 16], 8, &mut out), Err(E::OutputLength.at(0)));
        assert_eq!(out, [7; 8]);
    }
}
