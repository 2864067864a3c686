//! What a data object is: its type, shape, pipeline and parameters, read from the descriptor's CBOR map without copying.
//!
//! A descriptor is one flat map (FORMAT §3.5): ten fields, and every other key a parameter beside them. [`Descriptor`] is
//! made in one pass that decodes the fields, checks that every item is well-formed and remembers where the parameters of
//! the format stand; a parameter is decoded when it is asked for.

mod in_order;
mod masks;
mod names;
mod params;
#[cfg(test)]
mod tests;

pub use crate::dtype::{ByteOrder, Dtype};
pub use masks::{MaskDescriptor, MaskKind, Masks};
pub use names::{Compression, Encoding, Filter, Key, MaskMethod, Named, Stage};
pub use params::{Sz3Params, SzipParams, ZfpMode};

use crate::cbor::{Cursor, Map, MapReader, Name, Text, Uints, Value};
use crate::error::{ErrorKind, Result};
use masks::MaskPositions;

/// How many keys of the format stand in a descriptor itself: fields and parameters.
const KEYS: usize = Key::Length as usize;

/// A data object's descriptor, borrowed from the bytes `'a`.
///
/// Good to have one: the fields are there and of their types, `ndim` and `strides` agree with `shape`, the number of
/// elements fits 64 bits, and the CBOR is well-formed throughout. Whether the stages' names are known and their parameters
/// make sense is said by whoever asks for them.
#[derive(Clone, Copy)]
pub struct Descriptor<'a> {
    encoded: Cursor<'a>,
    element_count: u64,
    positions: Positions,
    masks: MaskPositions,
    rank: u32,
    dtype: Dtype,
    byte_order: Option<ByteOrder>,
    encoding: Option<Encoding>,
    filter: Option<Filter>,
    compression: Option<Compression>,
}

impl<'a> Descriptor<'a> {
    /// Reads the descriptor that `bytes` begin with; what follows its CBOR item is ignored. `offset` says where `bytes`
    /// lie in the slice that errors are to count from. O(bytes), no allocation whatever the rank.
    ///
    /// # Errors
    /// Malformed CBOR; a field that is absent ([`ErrorKind::MissingKey`]), repeated ([`ErrorKind::DuplicateKey`]) or of
    /// the wrong type; [`ErrorKind::NonTextKey`]; [`ErrorKind::UnknownDtype`], [`ErrorKind::UnknownByteOrder`];
    /// [`ErrorKind::NdimMismatch`], [`ErrorKind::StridesMismatch`], [`ErrorKind::ShapeOverflow`].
    ///
    /// Format: FORMAT §3.5, §1.10 row 20.
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        let mut descriptor = Self::unread(bytes, offset);
        descriptor.read()?;
        Ok(descriptor)
    }

    /// What [`Self::read`] makes the descriptor of that `bytes`, `offset` bytes into the caller's slice, begin with.
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

    /// [`Self::parse`] where the descriptor lies, so that it need not be moved.
    // Never inlined: on small machines its stack is not to lie below what the caller does next.
    #[inline(never)]
    pub(crate) fn read(&mut self) -> Result<()> {
        let encoded = self.encoded;
        let mut reading = Reading::new(self);
        let mut entries = if let Some(entries) = reading.read_in_order() {
            entries
        } else {
            *reading.descriptor = Self::unread(encoded.rest(), encoded.offset());
            reading = Reading::new(self);
            MapReader::open(encoded, 0)?
        };
        while let Some(name) = entries.next_name()? {
            match name {
                Name::Known(key) => reading.read(key, &mut entries)?,
                Name::Other => entries.skip()?,
            }
        }
        reading.finish(entries.position())
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

    /// The kind of object, "ntensor" by convention.
    pub fn object_type(&self) -> Text<'a> {
        self.text(Key::Type)
    }

    /// The dimensions, slowest first; none for a scalar.
    pub fn shape(&self) -> Uints<'a> {
        Uints::walked(self.at(Key::Shape), self.rank as usize)
    }

    /// As many numbers as dimensions, in units that writers do not agree on: opaque.
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

    /// The order of bytes in a scalar; where the message does not say (it may not, since 0.18), this machine's.
    pub fn byte_order(&self) -> ByteOrder {
        self.byte_order.unwrap_or(ByteOrder::NATIVE)
    }

    /// The order of bytes as the message says it.
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

    /// The value of a parameter, of the format or any other, under its exact name; of several, the last. Fields are not
    /// parameters. Free for the format's own names, a walk over the map for others.
    ///
    /// # Errors
    /// None but those of malformed CBOR, which [`Self::parse`] has ruled out.
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

    /// Where the value of a field stands.
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

    /// Bytes of the decoded values: elements times width, ⌈elements / 8⌉ for bitmasks.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeOverflow`] beyond 64 bits.
    pub fn decoded_len(&self) -> Result<u64> {
        self.dtype.byte_len(self.element_count).ok_or(ErrorKind::ShapeOverflow.at(self.shape().offset()))
    }

    /// The stage that stands between the payload and its values: `None` if the payload is the values.
    ///
    /// The stage that has to be undone first is named first; masks come last.
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

/// Where the values of the format's keys stand: bytes from the descriptor's start.
#[derive(Clone, Copy)]
struct Positions([u32; KEYS]);

impl Positions {
    /// 0, where the map's own head stands, is nowhere.
    fn get(&self, key: Key) -> Option<u32> {
        self.0.get(key as usize).copied().filter(|&position| position != 0)
    }

    fn set(&mut self, key: Key, position: u32) {
        if let Some(slot) = self.0.get_mut(key as usize) {
            *slot = position;
        }
    }
}

/// A descriptor whose fields are yet to come.
struct Reading<'d, 'a> {
    descriptor: &'d mut Descriptor<'a>,
    /// The fields that came, as bits.
    fields: u32,
    ndim: u64,
    shape_len: usize,
    /// `None` beyond 64 bits.
    element_count: Option<u64>,
    strides_len: usize,
}

impl<'d, 'a> Reading<'d, 'a> {
    fn new(descriptor: &'d mut Descriptor<'a>) -> Self {
        Self { descriptor, fields: 0, ndim: 0, shape_len: 0, element_count: None, strides_len: 0 }
    }

    /// Reads the value of one entry of the map, whose key is one of the format.
    fn read(&mut self, key: Key, entries: &mut MapReader<'a>) -> Result<()> {
        let start = *entries.position();
        let fields = &mut *self.descriptor;
        match key {
            Key::Ndim => self.ndim = entries.u64()?,
            Key::Type => entries.skip_text()?,
            Key::Dtype => fields.dtype = entries.name()?.ok_or(ErrorKind::UnknownDtype.at(start.offset()))?,
            Key::Masks => {
                fields.masks = MaskPositions::find(entries.walked()?, &fields.encoded)?;
                fields.masks.check(&fields.encoded)?;
            }
            Key::Shape => (self.shape_len, self.element_count) = entries.dimensions()?,
            Key::Filter => fields.filter = entries.name()?,
            Key::Strides => (self.strides_len, _) = entries.dimensions()?,
            Key::Encoding => fields.encoding = entries.name()?,
            Key::ByteOrder => {
                fields.byte_order = Some(entries.name()?.ok_or(ErrorKind::UnknownByteOrder.at(start.offset()))?);
            }
            Key::Compression => fields.compression = entries.name()?,
            Key::SzipBlockOffsets => entries.skip_uints()?,
            _ => entries.skip()?,
        }
        if key.is_field() {
            if self.fields & key.bit() != 0 {
                return Err(ErrorKind::DuplicateKey(key).at(start.offset()));
            }
            self.fields |= key.bit();
        }
        fields.positions.set(key, position(&start, &fields.encoded)?);
        Ok(())
    }

    /// Checks what can only be said of all fields together. The map ends at `end`.
    #[inline]
    fn finish(&mut self, end: &Cursor<'a>) -> Result<()> {
        self.descriptor.encoded = self.descriptor.encoded.until(end);
        // Cannot fail: an item is a byte at least, and the position of what follows the array fits.
        self.descriptor.rank = u32::try_from(self.shape_len).unwrap_or(u32::MAX);
        self.require(&[Key::Shape, Key::Strides, Key::Ndim])?;
        let fields = &mut *self.descriptor;
        if self.ndim != self.shape_len as u64 {
            return Err(ErrorKind::NdimMismatch.at(fields.shape().offset()));
        }
        if self.strides_len != self.shape_len {
            return Err(ErrorKind::StridesMismatch.at(fields.strides().offset()));
        }
        let Some(element_count) = self.element_count else {
            return Err(ErrorKind::ShapeOverflow.at(fields.shape().offset()));
        };
        fields.element_count = element_count;
        self.require(&[Key::Type, Key::Dtype, Key::Encoding, Key::Filter, Key::Compression])
    }

    #[inline]
    fn require(&self, keys: &[Key]) -> Result<()> {
        match keys.iter().find(|key| self.fields & key.bit() == 0) {
            Some(&key) => Err(ErrorKind::MissingKey(key).at(self.descriptor.offset())),
            None => Ok(()),
        }
    }
}

/// How far `place` lies behind `base`.
#[inline]
fn position(place: &Cursor<'_>, base: &Cursor<'_>) -> Result<u32> {
    u32::try_from(base.len_until(place)).map_err(|_| ErrorKind::TooLarge.at(place.offset()))
}
