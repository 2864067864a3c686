//! Values in the caller's byte order.

use std::borrow::Cow;

use tgm_codec::kernels::finite::all_finite;
use tgm_core::descriptor::{ByteOrder, Dtype};

/// Values that are packed at a time. Eight fields of any width are a whole number of bytes, so a block is as well.
pub(crate) const BLOCK: usize = 4096;

/// `f64` values in the caller's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a> {
    pub(super) bytes: &'a [[u8; 8]],
    pub(super) order: ByteOrder,
}

impl<'a> Values<'a> {
    /// The values of `bytes` in `order`. Up to 7 bytes that are left over at the end are ignored.
    pub(crate) fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes: bytes.as_chunks().0, order }
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// `count` values from value `start` on. They must exist.
    pub(crate) fn part(self, start: usize, count: usize) -> Self {
        let bytes = self.bytes.get(start..).and_then(|bytes| bytes.get(..count));
        Self { bytes: bytes.unwrap_or(&[]), order: self.order }
    }

    /// All values from value `start` on.
    pub(super) fn from(self, start: usize) -> Self {
        Self { bytes: self.bytes.get(start..).unwrap_or(&[]), order: self.order }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = f64> + use<'a> {
        let order = self.order;
        self.bytes.iter().map(move |bytes| load(*bytes, order))
    }

    /// The values in blocks of [`BLOCK`].
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Self> + use<'a> {
        self.parts(BLOCK)
    }

    /// The values in parts of `count`; the last one may be shorter.
    pub(super) fn parts(&self, count: usize) -> impl Iterator<Item = Self> + use<'a> {
        let order = self.order;
        self.bytes.chunks(count).map(move |bytes| Self { bytes, order })
    }
}

fn load(bytes: [u8; 8], order: ByteOrder) -> f64 {
    match order {
        ByteOrder::Big => f64::from_be_bytes(bytes),
        ByteOrder::Little => f64::from_le_bytes(bytes),
    }
}

/// The bytes of all finite `f64` values in `data`. They are copied if there are others.
pub(crate) fn finite_values(data: &[u8], order: ByteOrder) -> Cow<'_, [u8]> {
    let values: &[[u8; 8]] = data.as_chunks().0;
    let finite = || values.iter().filter(|bytes| load(**bytes, order).is_finite()).flatten().copied().collect();
    if all_finite(data, Dtype::Float64, order) { data.into() } else { finite() }
}
