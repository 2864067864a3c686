//! The memory limit of owned metadata, which is checked before the memory is taken.
//!
//! A byte of CBOR can become about 230 bytes of memory. A map of one entry in `base` can have three bytes, and becomes
//! a tree node with room for eleven entries. So the memory for a message's CBOR is estimated first, item by item, and
//! compared with [`DecodeLimits::max_metadata_bytes`]. All code that makes owned metadata takes its memory from a
//! [`MetadataBudget`]. Each message has one.
//!
//! The estimate is never too low and mostly too high: every map counts as a tree, and every list as if it grew by
//! doubling.

use std::sync::atomic::{AtomicUsize, Ordering};

use tgm_core::cbor::{Cursor, Map, Step};

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::limits::DecodeLimits;

/// Bytes for an item: a value in a list that doubles, so that the old and the new list exist at the same time.
const ITEM: u64 = 96;
/// Further bytes for a map with entries: a tree node, and what the allocator adds.
const MAP: u64 = 656;
/// The most that a byte of CBOR can cost: a map of unknown length has two bytes.
const MOST_PER_BYTE: u64 = ITEM + MAP;
/// A fourth of the limit is given out by the number of CBOR bytes alone. After that items are counted, which takes a
/// walk.
const UNCOUNTED_PART: u64 = 4;

/// The memory that is left for the owned metadata of a message. Threads share it.
#[derive(Debug)]
pub struct MetadataBudget {
    limit: u64,
    /// Bytes that were given out by the number of CBOR bytes.
    uncounted: AtomicUsize,
    /// Bytes that were given out by counted items.
    counted: AtomicUsize,
}

impl MetadataBudget {
    /// A budget as large as the limits say.
    pub const fn new(limits: &DecodeLimits) -> Self {
        Self { limit: limits.max_metadata_bytes, uncounted: AtomicUsize::new(0), counted: AtomicUsize::new(0) }
    }

    /// A budget of the default limit, for functions without options.
    pub fn by_default() -> Self {
        Self::new(&DecodeLimits::default())
    }

    /// Takes memory for the values of the items in `cbor`, which a walk has checked before.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] naming the limit.
    pub fn take(&self, cbor: &[u8]) -> Result<()> {
        let most = cbor.len() as u64 * MOST_PER_BYTE;
        if add(&self.uncounted, most, self.limit / UNCOUNTED_PART) {
            return Ok(());
        }
        self.take_counted(cost(cbor)?)
    }

    /// Takes memory for a map whose bytes are not available as one item.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_map(&self, map: &Map<'_>) -> Result<()> {
        let mut total = ITEM + MAP;
        for entry in map {
            let (key, value) = entry?;
            total += cost(key.as_encoded())? + cost(value.as_encoded())?;
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

/// Adds `amount` if the sum stays within `limit`. A `usize` is enough, because no machine has more memory than
/// addresses, and every machine has atomic integers of that width.
fn add(sum: &AtomicUsize, amount: u64, limit: u64) -> bool {
    let Ok(amount) = usize::try_from(amount) else { return false };
    let added = |sum: usize| sum.checked_add(amount).filter(|sum| *sum as u64 <= limit);
    sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, added).is_ok()
}

/// An upper bound on the memory for the values of the items: at most [`MOST_PER_BYTE`] for each of their bytes, so sums fit.
fn cost(cbor: &[u8]) -> Result<u64> {
    let mut cursor = Cursor::new(cbor, 0);
    let mut total = 0_u64;
    while !cursor.is_empty() {
        total += match cursor.step()? {
            Step::Item(item) => ITEM + item.as_encoded().len() as u64,
            Step::Map(count) if count != Some(0) => ITEM + MAP,
            Step::Array(_) | Step::Map(_) | Step::Tag(_) => ITEM,
            Step::Break => 0,
        };
    }
    Ok(total)
}
