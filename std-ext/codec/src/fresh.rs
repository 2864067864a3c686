//! Fresh memory: bytes that nothing was written to yet.
//!
//! To clear memory before it is written takes a fifth of the time of a cheap encoding, and one thread does it. So who writes all
//! of a buffer gets it as it is, and returns the same memory as bytes. That the bytes are the memory is checked.

#![allow(unsafe_code, reason = "only who wrote to memory can say that it has content")]

use std::mem::MaybeUninit;

use crate::error::{CodecError, Result};

/// Writes all of the memory that it gets, and returns that memory.
pub type Make<'m> = dyn for<'o> FnMut(&'o mut [MaybeUninit<u8>]) -> &'o mut [u8] + 'm;

/// Appends `len` bytes that `make` writes. A buffer without room for them grows as a vector does, so that many short pieces are
/// not copied again and again.
///
/// # Errors
/// [`CodecError`] if there is no memory, or if `make` returns other memory than it got.
#[inline]
pub fn append(buffer: &mut Vec<u8>, len: usize, make: &mut Make<'_>) -> Result<()> {
    let reserved = buffer.try_reserve(len);
    reserved.map_err(|_| CodecError::no_memory(len))?;
    let before = buffer.len();
    let place = buffer.spare_capacity_mut().get_mut(..len).unwrap_or_default();
    let start = place.as_ptr().cast();
    let written = make(place);
    if !std::ptr::eq(written.as_ptr(), start) || written.len() != len {
        return Err(CodecError::new("what was written is not what was asked for"));
    }
    // SAFETY: `place` is `len` bytes long (there is room), or `written` were shorter. A slice of bytes lies at its address and is
    // as long, so all of it has content.
    unsafe { buffer.set_len(before + len) };
    Ok(())
}

/// The memory filled with zeros.
#[inline]
pub fn cleared(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    memory.fill(MaybeUninit::new(0));
    // SAFETY: every byte was just written.
    unsafe { memory.assume_init_mut() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::ptr;
    use std::sync::atomic::AtomicPtr;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn what_is_made_is_appended() {
        for (before, len) in [(0, 0), (3, 0), (0, 5), (100, 9 << 20)] {
            let held = vec![7; before];
            let mut buffer = held.clone();
            append(&mut buffer, len, &mut |memory| {
                let bytes = cleared(memory);
                assert!(bytes.iter().all(|byte| *byte == 0));
                bytes.fill(3);
                bytes
            })
            .unwrap();
            assert!(buffer == [held, vec![3; len]].concat());
        }
    }

    #[test]
    fn other_memory_than_was_given_is_refused() {
        let mut buffer = vec![1];
        let shorter = append(&mut buffer, 2, &mut |memory| cleared(memory.get_mut(..1).unwrap_or_default()));
        let later = append(&mut buffer, 2, &mut |memory| cleared(memory.get_mut(1..).unwrap_or_default()));
        // The closure must give memory of any lifetime. The static keeps it in reach, so that the search for leaks is content.
        static KEPT: AtomicPtr<[u8; 2]> = AtomicPtr::new(ptr::null_mut());
        let other = append(&mut buffer, 2, &mut |_| {
            let memory = Box::leak(Box::new([0; 2]));
            KEPT.store(memory, Relaxed);
            memory
        });
        assert!(shorter.is_err() && later.is_err() && other.is_err());
        assert_eq!(buffer, [1]);
        assert!(append(&mut buffer, usize::MAX, &mut |memory| cleared(memory)).is_err());
    }
}
