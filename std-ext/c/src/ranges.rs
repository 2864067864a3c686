//! Ranges of elements: the caller's arrays, and the buffers of the results.

use crate::args;
use crate::buffers::{TgmBytes, give, take_back};
use crate::error::{Report, Result};

/// The ranges of two arrays: first elements and counts.
///
/// # Safety
/// The arrays are NULL or have `count` numbers each.
pub(crate) unsafe fn read(offsets: *const u64, counts: *const u64, count: usize) -> Result<Vec<(u64, u64)>> {
    // SAFETY: the caller makes the same promise.
    let (offsets, counts) = unsafe { (args::slice_or_empty(offsets, count)?, args::slice_or_empty(counts, count)?) };
    Ok(offsets.iter().copied().zip(counts.iter().copied()).collect())
}

/// Where the results go: an array with a buffer for each range, or with one for all of them, and their number.
pub(crate) struct Places<'a> {
    out: *mut TgmBytes,
    count: args::Place<'a, usize>,
    join: bool,
}

impl Places<'_> {
    /// # Safety
    /// The array has room for a buffer for each range, or for one if the ranges are joined.
    pub(crate) unsafe fn new(out: *mut TgmBytes, out_count: *mut usize, join: i32) -> Result<Self> {
        // SAFETY: the caller makes the same promise.
        let (_, count) = unsafe { (args::place(out)?, args::place(out_count)?) };
        Ok(Self { out, count, join: join != 0 })
    }

    pub(crate) fn put(self, parts: Vec<Vec<u8>>) -> Result<()> {
        let parts = if self.join { vec![joined(&parts)?] } else { parts };
        let mut given = Vec::with_capacity(parts.len());
        for part in parts {
            match give(part) {
                Ok(bytes) => given.push(bytes),
                Err(failure) => {
                    given.into_iter().for_each(take_back);
                    return Err(failure);
                }
            }
        }
        self.count.put(given.len());
        for (index, bytes) in given.into_iter().enumerate() {
            // SAFETY: the array has room for as many buffers as there are ranges, or for one if they are joined.
            unsafe { self.out.add(index).write(bytes) };
        }
        Ok(())
    }
}

fn joined(parts: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let len = parts.iter().map(Vec::len).fold(0_usize, usize::saturating_add);
    all.try_reserve_exact(len).map_err(|_| Report::new(crate::error::ENCODING, "out of memory"))?;
    for part in parts {
        all.extend_from_slice(part);
    }
    Ok(all)
}
