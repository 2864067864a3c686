//! The quick way to read a descriptor that is in the form in which every known writer leaves it: keys in canonical order
//! (FORMAT §3.1), short names, few dimensions.
//!
//! # Plain way
//!
//! ```text
//! for each entry:  read the key; look it up among 36 names; read the value by the key's type
//! ```
//!
//! # Trick: expect the keys
//!
//! Canonical order sorts keys by length and then by their bytes, so the next key is nearly always known. The lane here
//! compares the next bytes with the encoded key that it expects. It reads the value at once, and needs no lookup.
//!
//! ```text
//! expect "ndim", read a number; expect "type", read a text; …; if "byte_order" comes next, read it; …
//! ```
//!
//! # Why this is right
//!
//! The lane ends at the first byte that it does not expect, with `None`. The plain way then reads the descriptor again
//! from its first byte, and decides alone what is an error. So the lane may give up at any place, for example where there
//! are masks or where text is not ASCII. It must only never accept what the plain way refuses: a test reads random
//! descriptors both ways and compares the results.

use super::reading::Reading;
use crate::cbor::MapReader;
use crate::cbor::head::{first, info};
use crate::names::{Dtype, Key, WireName};
use crate::target::IS_SMALL;

/// A short text as CBOR: its head, which is one byte, and its bytes.
macro_rules! encoded {
    ($text:expr) => {
        &const { encoded::<{ $text.len().wrapping_add(1) }>($text) }
    };
}

/// The bytes of [`encoded!`]. `LEN` is one more than the text's, and the text has fewer than 24 bytes.
const fn encoded<const LEN: usize>(text: &str) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    let all: &mut [_] = &mut bytes;
    if let [head, body @ ..] = all {
        #[expect(clippy::cast_possible_truncation, reason = "below 24")]
        let len = text.len() as u8;
        *head = first::TEXT | len;
        let (mut body, mut text) = (body, text.as_bytes());
        while let ([to, rest @ ..], [from, after @ ..]) = (body, text) {
            *to = *from;
            (body, text) = (rest, after);
        }
    }
    bytes
}

/// The kind of object that all known writers write.
const NTENSOR: &[u8] = encoded!("ntensor");

/// Fields that the lane has always read when it ends.
const READ: u32 = Key::Ndim.bit()
    | Key::Type.bit()
    | Key::Dtype.bit()
    | Key::Shape.bit()
    | Key::Filter.bit()
    | Key::Strides.bit()
    | Key::Encoding.bit()
    | Key::Compression.bit();

impl<'a> Reading<'_, 'a> {
    /// Reads all entries up to `compression`, and returns a reader of the entries after it.
    ///
    /// `None` if anything is not as expected. Some fields are then set and others are not.
    #[inline]
    pub(super) fn read_in_order(&mut self) -> Option<MapReader<'a>> {
        if IS_SMALL {
            return None;
        }
        let all = self.descriptor.encoded.rest();
        let len = u32::try_from(all.len()).ok()?;
        let fields = &mut *self.descriptor;
        let mut lane = Lane { rest: all, seen: 0 };
        let entries = lane.short_head(first::MAP)?;

        // Takes a key if it comes next, and notes where its value is.
        macro_rules! take_key {
            ($key:ident) => {
                lane.key(encoded!(Key::$key.name())).then(|| {
                    #[expect(clippy::cast_possible_truncation, reason = "not longer than all bytes, which fit")]
                    fields.positions.set(Key::$key, len.wrapping_sub(lane.rest.len() as u32));
                })
            };
        }

        take_key!(Ndim)?;
        self.ndim = lane.short_head(first::UNSIGNED)?.into();
        take_key!(Type)?;
        if !lane.take(NTENSOR) && !lane.short_text()?.is_ascii() {
            return None;
        }
        take_key!(Dtype)?;
        fields.dtype = Dtype::from_bytes(lane.short_text()?)?;
        take_key!(Shape)?;
        let rank = lane.short_head(first::ARRAY)?;
        let mut element_count = 1_u64;
        for _ in 0..rank {
            // An overflow may be undone by a later 0, so it is left to the plain way.
            element_count = element_count.checked_mul(lane.uint()?)?;
        }
        (self.shape_len, self.element_count) = (rank.into(), Some(element_count));
        take_key!(Filter)?;
        fields.filter = Some(lane.name()?);
        take_key!(Strides)?;
        let strides = lane.short_head(first::ARRAY)?;
        for _ in 0..strides {
            lane.uint()?;
        }
        self.strides_len = strides.into();
        take_key!(Encoding)?;
        fields.encoding = Some(lane.name()?);
        if take_key!(SzipRsi).is_some() {
            lane.uint()?;
        }
        self.fields = READ;
        if take_key!(ByteOrder).is_some() {
            fields.byte_order = Some(lane.name()?);
            self.fields |= Key::ByteOrder.bit();
        }
        if take_key!(SzipFlags).is_some() {
            lane.uint()?;
        }
        if take_key!(ZstdLevel).is_some() {
            lane.uint()?;
        }
        take_key!(Compression)?;
        fields.compression = Some(lane.name()?);
        MapReader::resume(fields.encoded, lane.rest, entries, lane.seen)
    }
}

/// The bytes that are left to read, and the number of keys that were read.
struct Lane<'a> {
    rest: &'a [u8],
    seen: u8,
}

#[expect(clippy::inline_always, reason = "a few instructions each; the state must stay in registers")]
impl<'a> Lane<'a> {
    /// Takes the next bytes if they are `expected`, and returns whether they were.
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

    /// Takes and counts a key if it comes next, and returns whether it did.
    #[inline(always)]
    fn key(&mut self, encoded: &[u8]) -> bool {
        let is_next = self.take(encoded);
        self.seen = self.seen.wrapping_add(is_next.into());
        is_next
    }

    /// Takes a head of one byte, and returns its argument. `first` is the head with argument 0.
    #[inline(always)]
    fn short_head(&mut self, first: u8) -> Option<u8> {
        let (&head, rest) = self.rest.split_first()?;
        let argument = head.wrapping_sub(first);
        if argument >= info::SHORT_END {
            return None;
        }
        self.rest = rest;
        Some(argument)
    }

    /// Takes a text whose head is one byte.
    #[inline(always)]
    fn short_text(&mut self) -> Option<&'a [u8]> {
        let len = self.short_head(first::TEXT)?;
        let (text, rest) = self.rest.split_at_checked(len.into())?;
        self.rest = rest;
        Some(text)
    }

    /// Takes a known name.
    #[inline(always)]
    fn name<K: WireName>(&mut self) -> Option<K> {
        K::from_bytes(self.short_text()?)
    }

    /// Takes an unsigned integer.
    #[inline(always)]
    fn uint(&mut self) -> Option<u64> {
        let (&head, rest) = self.rest.split_first()?;
        if head < first::UNSIGNED_SHORT_END {
            self.rest = rest;
            return Some(head.into());
        }
        let (value, rest) = match head {
            first::UNSIGNED_8 => rest.split_first().map(|(&byte, rest)| (byte.into(), rest))?,
            first::UNSIGNED_16 => rest.split_first_chunk().map(|(b, rest)| (u16::from_be_bytes(*b).into(), rest))?,
            first::UNSIGNED_32 => rest.split_first_chunk().map(|(b, rest)| (u32::from_be_bytes(*b).into(), rest))?,
            first::UNSIGNED_64 => rest.split_first_chunk().map(|(b, rest)| (u64::from_be_bytes(*b), rest))?,
            _ => return None,
        };
        self.rest = rest;
        Some(value)
    }
}
