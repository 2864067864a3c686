//! Memory: fallible allocation of buffers, in large pages where that pays, and prefetching of bytes that are read soon.
//!
//! Fresh memory costs more time than writing to it. The system clears it and maps it page by page, and a page has 4 KiB
//! unless the program asks for larger ones. Large pages halve the time that a message of some MiB takes.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use zerocopy::FromZeros;

use crate::error::{CodecError, Result};

/// Reserves room for `len` more bytes, and no more than that.
///
/// # Errors
/// [`CodecError`] if there is no memory.
#[inline]
pub fn reserve(buffer: &mut Vec<u8>, len: usize) -> Result<()> {
    if buffer.capacity() - buffer.len() >= len {
        return Ok(());
    }
    let reserved = buffer.try_reserve_exact(len);
    reserved.map_err(|_| CodecError::no_memory(len))?;
    huge_pages(buffer);
    Ok(())
}

/// Appends `len` zeros. If that takes fresh memory, the zeros of the operating system are used and not written again.
///
/// # Errors
/// [`CodecError`] if there is no memory.
pub fn append_zeros(buffer: &mut Vec<u8>, len: usize) -> Result<()> {
    let (before, after) = (buffer.len(), buffer.len().saturating_add(len));
    if buffer.capacity() < after && before < len / 64 {
        let mut grown = zeros(after)?;
        if let Some(front) = grown.get_mut(..before) {
            front.copy_from_slice(buffer);
        }
        *buffer = grown;
    } else {
        reserve(buffer, len)?;
        buffer.resize(after, 0);
    }
    Ok(())
}

/// `bytes` in memory of their own: themselves if they have it, a copy if they are borrowed.
///
/// `into_owned` would copy into pages of 4 KiB, which takes twice the time or more, and would end the process where
/// there is no memory.
///
/// # Errors
/// [`CodecError`] if there is no memory.
#[inline]
pub fn owned(bytes: Cow<'_, [u8]>) -> Result<Vec<u8>> {
    match bytes {
        Cow::Owned(bytes) => Ok(bytes),
        Cow::Borrowed(bytes) => copy(bytes),
    }
}

/// A copy of `bytes`.
///
/// # Errors
/// [`CodecError`] if there is no memory.
pub fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    reserve(&mut copy, bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// `len` zeros. If there are many, they come from the operating system and take no memory until they are written to.
///
/// # Errors
/// [`CodecError`] if there is no memory.
pub fn untouched_zeros<T: FromZeros>(len: usize) -> Result<Vec<T>> {
    let zeros = T::new_vec_zeroed(len);
    zeros.map_err(|_| CodecError::no_memory(len.saturating_mul(size_of::<T>())))
}

/// `len` zeros, all of which will be written to.
///
/// # Errors
/// [`CodecError`] if there is no memory.
pub fn zeros<T: FromZeros>(len: usize) -> Result<Vec<T>> {
    let mut zeros = untouched_zeros(len)?;
    huge_pages(&mut zeros);
    Ok(zeros)
}

/// The first `len` bytes of `buffer`, with whatever they hold. A shorter buffer is replaced by one of `len` zeros.
///
/// # Errors
/// [`CodecError`] if there is no memory.
#[inline]
pub fn at_least(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        *buffer = Vec::new();
        *buffer = self::buffer(len)?;
    }
    buffer.get_mut(..len).ok_or_else(|| CodecError::new("no scratch memory"))
}

/// A buffer of `len` zeros.
///
/// # Errors
/// [`CodecError`] if there is no memory.
#[inline]
pub fn buffer(len: usize) -> Result<Vec<u8>> {
    if len >= SYSTEM_ZEROS {
        return zeros(len);
    }
    let mut buffer = Vec::new();
    buffer
        .try_reserve_exact(len)
        .map_err(|_| CodecError::new(format!("cannot allocate {len} bytes for decoded values")))?;
    buffer.resize(len, 0);
    Ok(buffer)
}

/// The size from which zeros of the operating system cost less than our own. Allocators serve smaller requests from
/// memory that was used before.
const SYSTEM_ZEROS: usize = 1 << 20;

/// The size of a buffer from which a system call for large pages pays.
#[cfg(target_os = "linux")]
const MANY: usize = 4 << 20;
/// Bytes of a large page on most machines. On others the gain is smaller.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// Advises the system to use large pages for a buffer's memory, except at both ends.
///
/// The advice does not change what the memory holds. Only the time differs if the system follows it. Systems whose
/// pages are large anyway, or never are, ignore it.
#[allow(unsafe_code, reason = "memory of a buffer that holds nothing yet")]
pub fn huge_pages<T>(buffer: &mut Vec<T>) {
    // At most `isize::MAX`, as every allocation.
    let capacity = buffer.capacity().saturating_mul(size_of::<T>());
    // SAFETY: the range is the buffer's allocation, or empty. `buffer` is borrowed mutably, so nothing else uses it.
    huge_pages_in(unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), capacity) });
}

/// [`huge_pages`] for memory of any owner.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a call of the system's C library")]
pub fn huge_pages_in(memory: &mut [MaybeUninit<u8>]) {
    if memory.len() < MANY {
        return;
    }
    let start = memory.as_mut_ptr();
    let skipped = start.align_offset(HUGE_PAGE);
    let len = memory.len().saturating_sub(skipped) / HUGE_PAGE * HUGE_PAGE;
    if len > 0 {
        // SAFETY: the range lies within `memory`, which is borrowed mutably, so nothing else uses it. This advice neither reads
        // nor changes memory, and a failure does no harm.
        unsafe {
            libc::madvise(start.wrapping_add(skipped).cast(), len, libc::MADV_HUGEPAGE);
        }
    }
}

/// Does nothing: only Linux gives huge pages when it is asked.
#[cfg(not(target_os = "linux"))]
pub const fn huge_pages_in(_: &mut [MaybeUninit<u8>]) {}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches the cache lines of `bytes`. Code that reads them soon then waits once for all lines, and not once for
/// each.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for byte in bytes.iter().step_by(LINE).chain(bytes.last()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unsafe_code, reason = "an instruction that takes an address")]
        // SAFETY: every x86-64 processor has SSE, and the address points to a byte of a slice.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>((&raw const *byte).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, LINE);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn what_a_buffer_holds_stays_while_it_grows() {
        for (before, more) in [(0, 0), (3, 10), (100, 9 << 20), (5 << 20, 9 << 20), (9 << 20, 100)] {
            let held: Vec<u8> = (0..=250).cycle().take(before).collect();
            let mut buffer = held.clone();
            reserve(&mut buffer, more).unwrap();
            assert!(buffer == held && buffer.capacity() >= before + more);
        }
    }

    #[test]
    fn zeros_are_appended_to_what_a_buffer_holds() {
        for (before, more) in [(0, 0), (3, 10), (100, 9 << 20), (5 << 20, 9 << 20), (9 << 20, 100)] {
            let held: Vec<u8> = (0..=250).cycle().take(before).collect();
            let mut buffer = held.clone();
            append_zeros(&mut buffer, more).unwrap();
            assert!(buffer.len() == before + more && buffer.starts_with(&held));
            assert!(buffer.iter().skip(before).all(|byte| *byte == 0));
        }
    }

    #[test]
    fn a_buffer_with_room_stays_where_it_is() {
        let mut buffer = Vec::with_capacity(100);
        reserve(&mut buffer, 100).unwrap();
        append_zeros(&mut buffer, 100).unwrap();
        assert_eq!(buffer.capacity(), 100);
    }

    #[test]
    fn zeros_are_a_vector_like_any_other() {
        for len in [0, 1, 100, 5 << 20] {
            let mut buffer: Vec<u8> = untouched_zeros(len).unwrap();
            assert!(buffer.len() == len && buffer.iter().all(|byte| *byte == 0));
            buffer.extend([1, 2, 3]);
            buffer.shrink_to_fit();
            assert_eq!(buffer.get(len..).unwrap(), [1, 2, 3]);
        }
        assert!(untouched_zeros::<u8>(usize::MAX).is_err() && untouched_zeros::<u64>(usize::MAX / 8).is_err());
        // A machine with addresses of 32 bits may well have 2 GiB to give.
        assert!(cfg!(target_pointer_width = "32") || untouched_zeros::<u8>(isize::MAX as usize).is_err());
    }

    #[test]
    fn borrowed_bytes_are_copied_and_others_stay_where_they_are() {
        for len in [0, 1, 9 << 20] {
            let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
            assert!(owned(Cow::Borrowed(&bytes)).unwrap() == bytes);
            let start = bytes.as_ptr();
            let same = owned(Cow::Owned(bytes)).unwrap();
            assert_eq!(same.as_ptr(), start);
        }
    }

    #[test]
    fn want_of_memory_is_an_error() {
        let mut buffer = vec![1];
        assert!(reserve(&mut buffer, usize::MAX).is_err());
        // More than any machine has. With addresses of 32 bits a quarter of them could be had, so all are asked for.
        assert!(append_zeros(&mut buffer, usize::MAX / if cfg!(target_pointer_width = "64") { 4 } else { 1 }).is_err());
        assert_eq!(buffer, [1]);
    }
}
