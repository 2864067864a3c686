//! How much memory owned metadata may take: counted before it is made.
//!
//! A byte of CBOR can become some 230 bytes of memory: an entry of `base` that is a map of one entry has three bytes, and a node
//! of a tree has room for eleven entries. So what the CBOR of a message will take is added up first, item by item, and held
//! against [`DecodeLimits::max_metadata_bytes`]. Everything that makes owned metadata asks for a [`Room`], of which each
//! message has one.
//!
//! The sum is never less than what is taken, and mostly more: every map is counted as if it were a tree, every list as if it
//! grew by doubling.

use std::sync::atomic::{AtomicUsize, Ordering};

use tgm_core::cbor::{Cursor, Map, Step};

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::limits::DecodeLimits;

/// An item: a value in a list that doubles, so that the old and the new one are there together.
const ITEM: u64 = 96;
/// A map that is not empty: a node of a tree, and what the allocator adds.
const MAP: u64 = 656;
/// What a byte of CBOR can count at most: two of them are a map of unknown length.
const MOST_PER_BYTE: u64 = ITEM + MAP;
/// Of the limit, this part is given away by the number of bytes alone; only then items are counted, which takes a walk.
const UNCOUNTED_PART: u64 = 4;

/// What is left for the owned metadata of a message. Threads share it.
#[derive(Debug)]
pub(crate) struct Room {
    limit: u64,
    /// By the number of bytes.
    uncounted: AtomicUsize,
    /// By items.
    counted: AtomicUsize,
}

impl Room {
    /// As much as the limits say.
    pub(crate) const fn new(limits: &DecodeLimits) -> Self {
        Self { limit: limits.max_metadata_bytes, uncounted: AtomicUsize::new(0), counted: AtomicUsize::new(0) }
    }

    /// What callers without options have.
    pub(crate) fn by_default() -> Self {
        Self::new(&DecodeLimits::default())
    }

    /// Takes room for what the items in `cbor` become, which were walked before.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] naming the limit.
    pub(crate) fn take(&self, cbor: &[u8]) -> Result<()> {
        let most = (cbor.len() as u64).saturating_mul(MOST_PER_BYTE);
        if add(&self.uncounted, most, self.limit / UNCOUNTED_PART) {
            return Ok(());
        }
        self.take_counted(cost(cbor)?)
    }

    /// Takes room for a map that is no item of its own.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(crate) fn take_map(&self, map: &Map<'_>) -> Result<()> {
        let mut total = ITEM + MAP;
        for entry in map.iter() {
            let (key, value) = entry?;
            total = total.saturating_add(cost(key.as_encoded())?).saturating_add(cost(value.as_encoded())?);
        }
        self.take_counted(total)
    }

    fn take_counted(&self, cost: u64) -> Result<()> {
        if add(&self.counted, cost, self.limit - self.limit / UNCOUNTED_PART) {
            return Ok(());
        }
        let limit = self.limit;
        let text = format!("metadata would take more memory than {} of {limit}", Hint::MaxMetadataBytes);
        Err(TensogramError::Metadata(text.into()))
    }
}

/// Adds `amount`, if the sum is at most `limit`. No machine has room for more than it has addresses for: so the sum is a
/// `usize`, which all machines can share between threads.
fn add(sum: &AtomicUsize, amount: u64, limit: u64) -> bool {
    let Ok(amount) = usize::try_from(amount) else { return false };
    let added = |sum: usize| sum.checked_add(amount).filter(|sum| *sum as u64 <= limit);
    sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, added).is_ok()
}

/// What the items become, at most.
fn cost(cbor: &[u8]) -> Result<u64> {
    let mut cursor = Cursor::new(cbor, 0);
    let mut total = 0_u64;
    while !cursor.is_empty() {
        total = total.saturating_add(match cursor.step()? {
            Step::Item(item) => ITEM + item.as_encoded().len() as u64,
            Step::Map(count) if count != Some(0) => ITEM + MAP,
            Step::Array(_) | Step::Map(_) | Step::Tag(_) => ITEM,
            Step::Break => 0,
        });
    }
    Ok(total)
}
