//! NaN and infinity masks: which elements to restore, in three forms, and the restoration.
//!
//! An encoder that may not store NaN or infinities writes zeros in their place. For each of the three kinds it adds a
//! bitmap of the elements concerned. [`Mask`] is such a bitmap as it lies in the payload region. A bitmap of any form is
//! read in ascending pieces, each a run of set elements or a word of 64 bits (`piece.rs`). [`Mask::runs`] makes runs of all
//! of them. The cost of reading is bounded by the bitmap's bytes, never by the number of elements that it claims to cover.
//! Everything else here uses that one iterator.
//!
//! | form | bytes | read by |
//! |---|---|---|
//! | [`BitmapForm::Raw`] | one bit for each element, most significant first | `raw.rs` |
//! | [`BitmapForm::Rle`] | value of the first run, then run lengths as LEB128 | `rle.rs` |
//! | [`BitmapForm::Roaring`] | roaring's portable format | `roaring.rs` |
//!
//! Format: PIPELINE §5.8 (blobs, without their count prefix), §6.3 (masks) and §6.4 (restoration).

mod bitmap;
mod piece;
mod raw;
mod restore;
mod rle;
mod roaring;
#[cfg(test)]
mod tests;

pub use crate::descriptor::MaskKind;
pub use bitmap::{BitmapForm, Mask, Runs};
pub use restore::{fill_runs, pattern, restore_into};
