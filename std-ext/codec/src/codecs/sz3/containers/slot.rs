//! Places for values: numbers, or bytes that need not be aligned.

use super::zeroed;
use crate::error::CodecError;

/// A place for one value.
pub(super) trait Slot: Copy {
    /// The value in the place.
    fn get(self) -> f64;

    /// The place with `value` in it.
    fn new(value: f64) -> Self;

    /// Fills the places with the little-endian values that `write` writes.
    fn fill(slots: &mut [Self], write: impl FnOnce(&mut [u8]) -> Result<(), CodecError>) -> Result<(), CodecError>;
}

impl Slot for f64 {
    #[inline]
    fn get(self) -> f64 {
        self
    }

    #[inline]
    fn new(value: f64) -> Self {
        value
    }

    fn fill(slots: &mut [Self], write: impl FnOnce(&mut [u8]) -> Result<(), CodecError>) -> Result<(), CodecError> {
        let mut bytes = zeroed(size_of_val(slots))?;
        write(&mut bytes)?;
        for (slot, bytes) in slots.iter_mut().zip(bytes.as_chunks().0) {
            *slot = Self::from_le_bytes(*bytes);
        }
        Ok(())
    }
}

/// In this machine's byte order.
impl Slot for [u8; 8] {
    #[inline]
    fn get(self) -> f64 {
        f64::from_ne_bytes(self)
    }

    #[inline]
    fn new(value: f64) -> Self {
        value.to_ne_bytes()
    }

    fn fill(slots: &mut [Self], write: impl FnOnce(&mut [u8]) -> Result<(), CodecError>) -> Result<(), CodecError> {
        write(slots.as_flattened_mut())?;
        for slot in slots {
            *slot = u64::from_le_bytes(*slot).to_ne_bytes();
        }
        Ok(())
    }
}
