//! The descriptor as a view: its fields, and where its parameters are.

use super::masks::{MaskPositions, Masks};
use super::named::Named;
use crate::cbor::{Cursor, Map, Text, Uints, Value};
use crate::error::{ErrorKind, Result};
use crate::names::{ByteOrder, Compression, Dtype, Encoding, Filter, Key, Stage};

/// The number of keys that a descriptor itself can have, fields and parameters. The keys of mask entries come after them.
const KEYS: usize = Key::Length as usize;

/// A data object's descriptor, borrowed from the bytes `'a`.
///
/// Holding a `Descriptor` means: the required fields are present and have their types, `ndim` and `strides` agree with
/// `shape`, the number of elements fits 64 bits, and all of the CBOR is well-formed. The stages may still have unknown
/// names, and parameters may be out of range: the methods that read them report that.
///
/// ```
/// use tgm_core::descriptor::{Compression, Dtype};
///
/// # let bytes: &[u8] = include_bytes!("../../samples/b16-none-szip.tgm");
/// let object = tgm_core::Message::parse(bytes)?.object(0)?;
/// let descriptor = object.descriptor();
/// assert_eq!(descriptor.dtype(), Dtype::Float64);
/// assert_eq!(descriptor.shape().into_iter().product::<u64>(), descriptor.element_count());
/// assert_eq!(descriptor.compression().known(), Some(Compression::Szip));
/// assert_eq!(descriptor.szip()?.block_size, 8);
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Descriptor<'a> {
    pub(super) encoded: Cursor<'a>,
    pub(super) element_count: u64,
    pub(super) positions: Positions,
    pub(super) masks: MaskPositions,
    pub(super) rank: u32,
    pub(super) dtype: Dtype,
    pub(super) byte_order: Option<ByteOrder>,
    pub(super) encoding: Option<Encoding>,
    pub(super) filter: Option<Filter>,
    pub(super) compression: Option<Compression>,
}

impl<'a> Descriptor<'a> {
    /// A descriptor to be read from `bytes`, which lie `offset` bytes into the caller's slice. Only `read` may follow.
    #[inline]
    pub(crate) const fn unread(bytes: &'a [u8], offset: u64) -> Self {
        Self {
            encoded: Cursor::new(bytes, offset),
            element_count: 0,
            positions: Positions([0; KEYS]),
            masks: MaskPositions::NONE,
            rank: 0,
            dtype: Dtype::Float16,
            byte_order: None,
            encoding: None,
            filter: None,
            compression: None,
        }
    }

    /// The descriptor's CBOR item, byte for byte.
    pub const fn as_encoded(&self) -> &'a [u8] {
        self.encoded.rest()
    }

    /// Where the CBOR item starts, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.encoded.offset()
    }

    /// Fields and parameters as one map.
    pub fn as_map(&self) -> Map<'a> {
        Map::walked(self.encoded)
    }

    /// The kind of object, by convention "ntensor".
    pub fn object_type(&self) -> Text<'a> {
        self.text(Key::Type)
    }

    /// The dimensions, slowest first. A scalar has none.
    pub fn shape(&self) -> Uints<'a> {
        Uints::walked(self.at(Key::Shape), self.rank as usize)
    }

    /// The stored strides, one for each dimension. Writers do not agree on their unit, so nothing interprets them.
    pub fn strides(&self) -> Uints<'a> {
        Uints::walked(self.at(Key::Strides), self.rank as usize)
    }

    /// The product of the dimensions.
    pub const fn element_count(&self) -> u64 {
        self.element_count
    }

    /// The type of the elements.
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The order of bytes in a scalar. Messages since 0.18 may leave it out; it is then this machine's.
    pub fn byte_order(&self) -> ByteOrder {
        self.byte_order.unwrap_or(ByteOrder::NATIVE)
    }

    /// The order of bytes in a scalar, if the message states it.
    pub const fn declared_byte_order(&self) -> Option<ByteOrder> {
        self.byte_order
    }

    /// The first stage.
    pub fn encoding(&self) -> Named<'a, Encoding> {
        self.named(self.encoding, Key::Encoding)
    }

    /// The second stage.
    pub fn filter(&self) -> Named<'a, Filter> {
        self.named(self.filter, Key::Filter)
    }

    /// The third stage.
    pub fn compression(&self) -> Named<'a, Compression> {
        self.named(self.compression, Key::Compression)
    }

    /// The masks of non-finite values.
    pub const fn masks(&self) -> Masks<'a> {
        Masks::new(self.encoded, self.masks)
    }

    /// The descriptor of a part of the object: of `element_count` neighbouring elements that are stored as an object of
    /// their own.
    ///
    /// It has no masks and no `szip_block_offsets`, because both count in the whole payload. Only the number of elements
    /// and lengths are of the part. Map, shape and strides stay as they are in the whole object.
    #[doc(hidden)]
    #[must_use]
    pub fn of_part(mut self, element_count: u64) -> Self {
        self.element_count = element_count;
        self.masks = MaskPositions::NONE;
        // 0 stands for an absent key.
        self.positions.set(Key::SzipBlockOffsets, 0);
        self
    }

    /// The value of the parameter `name`. The last of repeated keys counts. Fields are not parameters.
    ///
    /// Names of the format are found at once; any other name takes a walk over the map.
    ///
    /// # Errors
    /// Only errors of malformed CBOR, which [`Self::parse`] has ruled out.
    pub fn parameter(&self, name: &str) -> Result<Option<Value<'a>>> {
        match Key::from_name(name) {
            Some(key) if key.is_field() => Ok(None),
            Some(key) if key.is_parameter() => self.known_parameter(key),
            _ => self.as_map().get(name),
        }
    }

    /// The value of a parameter that the format defines: O(bytes of the value).
    pub(crate) fn known_parameter(&self, key: Key) -> Result<Option<Value<'a>>> {
        self.positions.get(key).map(|position| Value::walked(&mut self.encoded.ahead(position))).transpose()
    }

    /// The position of a field's value.
    fn at(&self, key: Key) -> Cursor<'a> {
        self.encoded.ahead(self.positions.get(key).unwrap_or_default())
    }

    fn text(&self, key: Key) -> Text<'a> {
        // Cannot fail: the same bytes were read before.
        Value::walked(&mut self.at(key)).and_then(|value| value.as_text()).unwrap_or(Text::Whole(""))
    }

    fn named<K: Copy>(&self, known: Option<K>, key: Key) -> Named<'a, K> {
        known.map_or_else(|| Named::Unknown(self.text(key)), Named::Known)
    }

    /// Bytes of the decoded values: elements times width, or ⌈elements / 8⌉ for bitmasks.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeOverflow`] beyond 64 bits.
    pub fn decoded_len(&self) -> Result<u64> {
        self.dtype.byte_len(self.element_count).ok_or(ErrorKind::ShapeOverflow.at(self.shape().offset()))
    }

    /// The stage that has to be undone next, to get from the payload to the values. `None` if the payload is the values.
    ///
    /// Stages are undone in the order compression, filter, encoding, masks.
    pub fn pending_stage(&self) -> Option<Stage> {
        if self.compression != Some(Compression::None) {
            Some(Stage::Compression(self.compression))
        } else if self.filter != Some(Filter::None) {
            Some(Stage::Filter(self.filter))
        } else if self.encoding != Some(Encoding::None) {
            Some(Stage::Encoding(self.encoding))
        } else {
            self.masks().iter().next().map(|(_, mask)| Stage::Masks(mask.method().known()))
        }
    }
}

impl core::fmt::Debug for Descriptor<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Descriptor")
            .field("offset", &self.offset())
            .field("dtype", &self.dtype)
            .field("shape", &self.shape())
            .field("encoding", &format_args!("{}", self.encoding()))
            .field("filter", &format_args!("{}", self.filter()))
            .field("compression", &format_args!("{}", self.compression()))
            .finish_non_exhaustive()
    }
}

/// Where the values of the format's keys are, in bytes from the descriptor's start.
///
/// 0 stands for an absent key. No value is there, because the map's own head is.
#[derive(Clone, Copy)]
pub(super) struct Positions([u32; KEYS]);

impl Positions {
    pub(super) fn get(&self, key: Key) -> Option<u32> {
        self.0.get(key as usize).copied().filter(|&position| position != 0)
    }

    pub(super) fn set(&mut self, key: Key, position: u32) {
        if let Some(slot) = self.0.get_mut(key as usize) {
            *slot = position;
        }
    }
}
