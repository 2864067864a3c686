//! The descriptor's `masks` map (FORMAT §3.5, PIPELINE §6.3).

use super::named::Named;
use crate::cbor::{Cursor, MapReader, Name};
use crate::error::{ErrorKind, Result};
use crate::names::{Key, MaskMethod};

/// The value that the set elements of a mask had before the encoder put zeros in their place.
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
    /// Every kind, in the order of restoration. Where masks overlap, the later one counts.
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

/// One entry of a descriptor's masks: where the mask's bits are, and how they are stored.
#[derive(Clone, Copy, Debug)]
pub struct MaskDescriptor<'a> {
    method: Named<'a, MaskMethod>,
    offset: u64,
    length: u64,
    position: u64,
}

impl<'a> MaskDescriptor<'a> {
    /// Reads the entry at `encoded`.
    fn read(encoded: Cursor<'a>) -> Result<Self> {
        let (mut method, mut offset, mut length) = (None, None, None);
        let mut entries = MapReader::open(encoded, 0)?;
        while let Some(name) = entries.next_name()? {
            match name {
                Name::Known(Key::Method) => method = Some(Named::new(entries.text()?)),
                Name::Known(Key::Offset) => offset = Some(entries.u64()?),
                Name::Known(Key::Length) => length = Some(entries.u64()?),
                _ => entries.skip()?,
            }
        }
        let missing = |key| ErrorKind::MissingKey(key).at(encoded.offset());
        Ok(Self {
            method: method.ok_or(missing(Key::Method))?,
            offset: offset.ok_or(missing(Key::Offset))?,
            length: length.ok_or(missing(Key::Length))?,
            position: encoded.offset(),
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

    /// Where this entry is, in bytes from the start of the caller's slice.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// The bytes of the blob, out of the object's payload region.
    ///
    /// # Errors
    /// [`ErrorKind::MaskBounds`] at the entry if the blob does not lie in `region`.
    pub fn blob<'r>(&self, region: &'r [u8]) -> Result<&'r [u8]> {
        let place = usize::try_from(self.offset).ok().zip(usize::try_from(self.length).ok());
        place
            .and_then(|(start, len)| region.get(start..start.checked_add(len)?))
            .ok_or(ErrorKind::MaskBounds.at(self.position))
    }
}

/// Where the entries of a descriptor's masks are, in bytes from the descriptor's start. 0 stands for an absent entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaskPositions([u32; MaskKind::ALL.len()]);

impl MaskPositions {
    /// No entry.
    pub(super) const NONE: Self = Self([0; MaskKind::ALL.len()]);

    /// Finds the entries of `descriptor`'s masks in the map at `encoded`, which may also be null. Ignores unknown keys.
    // Never inlined: most descriptors have no masks, and should not pay stack for them.
    #[inline(never)]
    pub(super) fn find(encoded: Cursor<'_>, descriptor: &Cursor<'_>) -> Result<Self> {
        let mut positions = Self::NONE;
        if encoded.is_at_null() {
            return Ok(positions);
        }
        let mut entries = MapReader::open(encoded, 0)?;
        while let Some(name) = entries.next_key()? {
            let mut kinds = MaskKind::ALL.into_iter().zip(&mut positions.0);
            if let Some((_, slot)) = kinds.find(|(kind, _)| name == *kind.name()) {
                let is_absent = entries.is_at_null();
                *slot = if is_absent { 0 } else { descriptor.position_of(entries.position())? };
            }
            entries.skip()?;
        }
        Ok(positions)
    }

    /// Reads every entry once, in the order of [`MaskKind::ALL`].
    #[inline(never)]
    pub(super) fn check(&self, descriptor: &Cursor<'_>) -> Result<()> {
        let mut found = self.0.into_iter().filter(|&position| position != 0);
        found.try_for_each(|position| MaskDescriptor::read(descriptor.ahead(position)).map(|_| ()))
    }
}

/// The masks of an object: at most one for each kind of non-finite value.
#[derive(Clone, Copy, Debug)]
pub struct Masks<'a> {
    descriptor: Cursor<'a>,
    positions: MaskPositions,
}

impl<'a> Masks<'a> {
    pub(super) const fn new(descriptor: Cursor<'a>, positions: MaskPositions) -> Self {
        Self { descriptor, positions }
    }

    /// Whether the object has no mask.
    pub fn is_empty(&self) -> bool {
        self.positions.0 == [0; MaskKind::ALL.len()]
    }

    /// The masks in the order NaN, +∞, −∞. Each entry is decoded again when the iterator reaches it.
    pub fn iter(&self) -> impl Iterator<Item = (MaskKind, MaskDescriptor<'a>)> + use<'a> {
        let descriptor = self.descriptor;
        let places = MaskKind::ALL.into_iter().zip(self.positions.0).filter(|&(_, position)| position != 0);
        places.filter_map(move |(kind, position)| {
            // Cannot fail: the same bytes were read before.
            Some((kind, MaskDescriptor::read(descriptor.ahead(position)).ok()?))
        })
    }

    /// The mask of one kind.
    pub fn get(&self, kind: MaskKind) -> Option<MaskDescriptor<'a>> {
        self.iter().find(|(k, _)| *k == kind).map(|(_, mask)| mask)
    }

    /// Checks that every mask lies within a payload region of `region_len` bytes. Returns the length of the encoded
    /// payload: the bytes before the first mask. Does not check for gaps and overlaps between masks.
    ///
    /// # Errors
    /// [`ErrorKind::MaskBounds`] at the entry.
    pub fn payload_len(&self, region_len: u64) -> Result<u64> {
        self.iter().try_fold(region_len, |payload_len, (_, mask)| {
            let end = mask.offset.checked_add(mask.length).filter(|&end| end <= region_len);
            end.map(|_| payload_len.min(mask.offset)).ok_or(ErrorKind::MaskBounds.at(mask.position))
        })
    }
}
