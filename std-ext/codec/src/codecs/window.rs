//! A window on bytes that are decoded from front to back: the part that a buffer holds.

use std::ops::Range;

use crate::error::CodecError;
use crate::memory::at_least;

/// The part of a longer sequence of bytes that a buffer holds.
///
/// If parts are asked for in ascending order, each byte is made once. The buffer holds one part at a time, up to the
/// end that the maker chose.
#[derive(Debug, Default)]
pub struct Window {
    start: u64,
    len: usize,
}

impl Window {
    /// The end of the part at hand.
    fn end(&self) -> u64 {
        self.start.saturating_add(self.len as u64)
    }

    /// The bytes of `wanted`, if they are at hand.
    #[inline]
    pub fn get<'b>(&self, buffer: &'b [u8], wanted: &Range<u64>) -> Option<&'b [u8]> {
        if wanted.end > self.end() {
            return None;
        }
        let at = |byte: u64| usize::try_from(byte.checked_sub(self.start)?).ok();
        buffer.get(at(wanted.start)?..at(wanted.end)?)
    }

    /// Makes the bytes from `wanted` to `until` be at hand, and drops those before `wanted`.
    ///
    /// `until` must not be before `wanted`. `make` gets the first missing byte and the place for all missing bytes.
    ///
    /// # Errors
    /// [`CodecError`] if there is no memory; the errors of `make`.
    #[inline]
    pub fn extend(
        &mut self,
        buffer: &mut Vec<u8>,
        wanted: u64,
        until: u64,
        make: impl FnOnce(u64, &mut [u8]) -> Result<(), CodecError>,
    ) -> Result<(), CodecError> {
        let no_memory = || CodecError::new("cannot allocate memory for a part");
        let len = until.checked_sub(wanted).and_then(|len| usize::try_from(len).ok()).ok_or_else(no_memory)?;
        let skip = wanted.checked_sub(self.start).and_then(|skip| usize::try_from(skip).ok());
        let kept = match skip.and_then(|skip| self.len.checked_sub(skip).map(|kept| (skip, kept))) {
            Some((skip, kept)) if skip + kept <= buffer.len() => {
                buffer.copy_within(skip..skip + kept, 0);
                kept
            }
            _ => 0,
        };
        *self = Self { start: wanted, len: kept };
        if kept >= len {
            return Ok(());
        }
        if kept == 0 {
            at_least(buffer, len).map_err(|_| no_memory())?;
        } else if let Some(missing) = len.checked_sub(buffer.len()) {
            buffer.try_reserve_exact(missing).map_err(|_| no_memory())?;
            buffer.resize(len, 0);
        }
        make(wanted.saturating_add(kept as u64), buffer.get_mut(kept..len).ok_or_else(no_memory)?)?;
        self.len = len;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may panic")]
mod tests {
    use super::Window;

    #[test]
    fn bytes_asked_for_in_ascending_order_are_made_once() {
        let (mut window, mut buffer, mut made) = (Window::default(), Vec::new(), Vec::new());
        for (start, end, until) in [(3, 9, 9), (5, 9, 9), (5, 20, 24), (21, 24, 24), (22, 40, 40), (90, 99, 99)] {
            if window.get(&buffer, &(start..end)).is_none() {
                let count = |from: u64, out: &mut [u8]| {
                    made.push((from, from + out.len() as u64));
                    out.iter_mut().zip(from..).for_each(|(byte, at)| *byte = at as u8);
                    Ok(())
                };
                window.extend(&mut buffer, start, until, count).unwrap();
            }
            let bytes: Vec<u8> = (start as u8..end as u8).collect();
            assert_eq!(window.get(&buffer, &(start..end)).unwrap(), bytes);
        }
        assert_eq!(made, [(3, 9), (9, 24), (24, 40), (90, 99)]);
    }

    #[test]
    fn what_could_not_be_made_is_not_at_hand() {
        let (mut window, mut buffer) = (Window::default(), Vec::new());
        window.extend(&mut buffer, 0, 4, |_, _| Ok(())).unwrap();
        window.extend(&mut buffer, 2, 9, |_, _| Err(super::CodecError::new("no"))).unwrap_err();
        assert!(window.get(&buffer, &(2..4)).is_some());
        assert!(window.get(&buffer, &(2..5)).is_none());
        assert!(window.get(&buffer, &(0..1)).is_none());
    }
}
