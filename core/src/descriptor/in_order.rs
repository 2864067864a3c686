//! Descriptors as every writer of the format leaves them: keys in canonical order (FORMAT §3.1), short names, few dimensions.
//!
//! Where the next key can be foreseen it need not be looked up: it is compared with its encoded form. The lane here ends at
//! whatever it does not foresee, and says nothing about it: the general way then begins anew, and finds what is wrong. Objects
//! with masks take the general way.

use super::{Dtype, Key, Reading};
use crate::cbor::{MapReader, WireName};
use crate::target::IS_SMALL;

/// The keys that are foreseen, in order, as they are encoded; some are left out where an object has no use for them.
const NDIM: &[u8] = b"\x64ndim";
const TYPE: &[u8] = b"\x64type";
const DTYPE: &[u8] = b"\x65dtype";
const SHAPE: &[u8] = b"\x65shape";
const FILTER: &[u8] = b"\x66filter";
const STRIDES: &[u8] = b"\x67strides";
const ENCODING: &[u8] = b"\x68encoding";
const SZIP_RSI: &[u8] = b"\x68szip_rsi";
const BYTE_ORDER: &[u8] = b"\x6abyte_order";
const SZIP_FLAGS: &[u8] = b"\x6aszip_flags";
const ZSTD_LEVEL: &[u8] = b"\x6azstd_level";
const COMPRESSION: &[u8] = b"\x6bcompression";

/// Kind of object that all writers of today write.
const NTENSOR: &[u8] = b"\x67ntensor";

/// Fields that the lane always has read when it ends.
const READ: u32 = Key::Ndim.bit()
    | Key::Type.bit()
    | Key::Dtype.bit()
    | Key::Shape.bit()
    | Key::Filter.bit()
    | Key::Strides.bit()
    | Key::Encoding.bit()
    | Key::Compression.bit();

impl<'a> Reading<'_, 'a> {
    /// Reads everything up to and with `compression`, and returns a reader of the entries that follow; `None`, with fields
    /// half read, where anything is not as foreseen.
    #[inline]
    pub(super) fn read_in_order(&mut self) -> Option<MapReader<'a>> {
        if IS_SMALL {
            return None;
        }
        let all = self.descriptor.encoded.rest();
        let len = u32::try_from(all.len()).ok()?;
        let fields = &mut *self.descriptor;
        let mut lane = Lane { rest: all, seen: 0 };
        let entries = lane.short_head(0xa0)?;
        macro_rules! at {
            ($key:ident) => {
                #[expect(clippy::cast_possible_truncation, reason = "not longer than all of it")]
                fields.positions.set(Key::$key, len.wrapping_sub(lane.rest.len() as u32))
            };
        }

        lane.key(NDIM)?;
        at!(Ndim);
        self.ndim = lane.short_head(0)?.into();
        lane.key(TYPE)?;
        at!(Type);
        if !lane.take(NTENSOR) && !lane.short_text()?.is_ascii() {
            return None;
        }
        lane.key(DTYPE)?;
        at!(Dtype);
        fields.dtype = Dtype::from_bytes(lane.short_text()?)?;
        lane.key(SHAPE)?;
        at!(Shape);
        let rank = lane.short_head(0x80)?;
        let mut element_count = 1_u64;
        for _ in 0..rank {
            element_count = element_count.checked_mul(lane.uint()?)?;
        }
        (self.shape_len, self.element_count) = (rank.into(), Some(element_count));
        lane.key(FILTER)?;
        at!(Filter);
        fields.filter = Some(lane.name()?);
        lane.key(STRIDES)?;
        at!(Strides);
        let strides = lane.short_head(0x80)?;
        for _ in 0..strides {
            lane.uint()?;
        }
        self.strides_len = strides.into();
        lane.key(ENCODING)?;
        at!(Encoding);
        fields.encoding = Some(lane.name()?);
        if lane.key(SZIP_RSI).is_some() {
            at!(SzipRsi);
            lane.uint()?;
        }
        self.fields = READ;
        if lane.key(BYTE_ORDER).is_some() {
            at!(ByteOrder);
            fields.byte_order = Some(lane.name()?);
            self.fields |= Key::ByteOrder.bit();
        }
        if lane.key(SZIP_FLAGS).is_some() {
            at!(SzipFlags);
            lane.uint()?;
        }
        if lane.key(ZSTD_LEVEL).is_some() {
            at!(ZstdLevel);
            lane.uint()?;
        }
        lane.key(COMPRESSION)?;
        at!(Compression);
        fields.compression = Some(lane.name()?);
        MapReader::resume(fields.encoded, lane.rest, entries, lane.seen)
    }
}

/// The bytes that have yet to be read, and how many keys were.
struct Lane<'a> {
    rest: &'a [u8],
    seen: u8,
}

#[expect(clippy::inline_always, reason = "a few instructions each, whose state is to stay in registers")]
impl<'a> Lane<'a> {
    /// Takes the next bytes if they are `expected`.
    #[inline(always)]
    fn take(&mut self, expected: &[u8]) -> bool {
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    #[inline(always)]
    fn key(&mut self, encoded: &[u8]) -> Option<()> {
        if !self.take(encoded) {
            return None;
        }
        self.seen = self.seen.wrapping_add(1);
        Some(())
    }

    /// Takes a head whose first byte holds its argument, below 24; `major` is what that byte has besides.
    #[inline(always)]
    fn short_head(&mut self, major: u8) -> Option<u8> {
        let (&head, rest) = self.rest.split_first()?;
        let argument = head.wrapping_sub(major);
        if argument >= 24 {
            return None;
        }
        self.rest = rest;
        Some(argument)
    }

    #[inline(always)]
    fn short_text(&mut self) -> Option<&'a [u8]> {
        let len = self.short_head(0x60)?;
        let (text, rest) = self.rest.split_at_checked(len.into())?;
        self.rest = rest;
        Some(text)
    }

    #[inline(always)]
    fn name<K: WireName>(&mut self) -> Option<K> {
        K::from_bytes(self.short_text()?)
    }

    #[inline(always)]
    fn uint(&mut self) -> Option<u64> {
        let (&head, rest) = self.rest.split_first()?;
        if head < 24 {
            self.rest = rest;
            return Some(head.into());
        }
        let (value, rest) = match head {
            0x18 => rest.split_first().map(|(&byte, rest)| (byte.into(), rest))?,
            0x19 => rest.split_first_chunk().map(|(bytes, rest)| (u16::from_be_bytes(*bytes).into(), rest))?,
            0x1a => rest.split_first_chunk().map(|(bytes, rest)| (u32::from_be_bytes(*bytes).into(), rest))?,
            0x1b => rest.split_first_chunk().map(|(bytes, rest)| (u64::from_be_bytes(*bytes), rest))?,
            _ => return None,
        };
        self.rest = rest;
        Some(value)
    }
}
