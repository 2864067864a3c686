//! The descriptor's `masks` map (FORMAT §3.5, PIPELINE §6.3).

use super::{Key, MaskMethod, Named};
use crate::cbor::{Value, read_text_map};
use crate::error::{ErrorKind, Result};
/// What the set elements of a mask were before the encoder put zeros in their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskKind {
    /// Not a number.
    Nan,
    /// Positive infinity.
    PosInf,
    /// Negative infinity.
    NegInf,
}

impl MaskKind {
    /// Every kind, in the order of restoration: where masks overlap, the later one counts.
    pub const ALL: [Self; 3] = [Self::Nan, Self::PosInf, Self::NegInf];

    /// The key in a descriptor's `masks`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nan => "nan",
            Self::PosInf => "inf+",
            Self::NegInf => "inf-",
        }
    }
}

/// Where the bits of one mask are, and how they are stored.
#[derive(Clone, Copy, Debug)]
pub struct MaskDescriptor<'a> {
    method: Named<'a, MaskMethod>,
    offset: u64,
    length: u64,
    position: u64,
}

impl<'a> MaskDescriptor<'a> {
    fn parse(value: &Value<'a>) -> Result<Self> {
        let map = read_text_map(&mut value.encoded(), 0)?;
        let required = |key: Key| map.get(key.name())?.ok_or(ErrorKind::MissingKey(key).at(value.offset()));
        Ok(Self {
            method: Named::new(required(Key::Method)?.as_text()?),
            offset: required(Key::Offset)?.as_u64()?,
            length: required(Key::Length)?.as_u64()?,
            position: value.offset(),
        })
    }

    /// How the bits are stored.
    pub const fn method(&self) -> Named<'a, MaskMethod> {
        self.method
    }

    /// Bytes from the start of the payload region to the blob.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes of the blob.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Where this entry stands in the descriptor, in bytes from the start of the caller's slice.
    pub const fn position(&self) -> u64 {
        self.position
    }
}

/// The masks of an object, none or one for each kind of non-finite value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Masks<'a>([Option<MaskDescriptor<'a>>; MaskKind::ALL.len()]);

impl<'a> Masks<'a> {
    /// Reads a `masks` map, or null; unknown keys are ignored.
    pub(super) fn parse(value: &Value<'a>) -> Result<Self> {
        let mut masks = Self::default();
        if value.is_null() {
            return Ok(masks);
        }
        let map = read_text_map(&mut value.encoded(), 0)?;
        for (slot, kind) in masks.0.iter_mut().zip(MaskKind::ALL) {
            *slot = map.get(kind.name())?.filter(|v| !v.is_null()).map(|v| MaskDescriptor::parse(&v)).transpose()?;
        }
        Ok(masks)
    }

    /// Whether there is no mask.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The masks that there are, in the order NaN, +∞, −∞.
    pub fn iter(&self) -> impl Iterator<Item = (MaskKind, MaskDescriptor<'a>)> + use<'a> {
        MaskKind::ALL.into_iter().zip(self.0).filter_map(|(kind, mask)| Some((kind, mask?)))
    }

    /// The mask of one kind.
    pub fn get(&self, kind: MaskKind) -> Option<MaskDescriptor<'a>> {
        self.iter().find(|(k, _)| *k == kind).map(|(_, mask)| mask)
    }

    /// Checks that every mask lies within a payload region of `region_len` bytes, and returns how many bytes of it come
    /// before the first mask: the encoded payload. Gaps and overlaps between masks are not looked at.
    ///
    /// # Errors
    /// [`ErrorKind::MaskBounds`] at the entry.
    pub(crate) fn payload_len(&self, region_len: u64) -> Result<u64> {
        self.iter().try_fold(region_len, |payload_len, (_, mask)| {
            let end = mask.offset.checked_add(mask.length).filter(|&end| end <= region_len);
            end.map(|_| payload_len.min(mask.offset)).ok_or(ErrorKind::MaskBounds.at(mask.position))
        })
    }
}
