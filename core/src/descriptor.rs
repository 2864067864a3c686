//! What a data object is: its type, shape, pipeline and parameters, read from the descriptor's CBOR map without copying.
//!
//! A descriptor is one flat map (FORMAT §3.5): ten fields, and every other key a parameter beside them. [`Descriptor`] is
//! made in one pass that decodes the fields, checks that every item is well-formed and remembers where the parameters of
//! the format stand; a parameter is decoded when it is asked for.

mod masks;
mod names;
mod params;

pub use crate::dtype::{ByteOrder, Dtype};
pub use masks::{MaskDescriptor, MaskKind, Masks};
pub use names::{Compression, Encoding, Filter, Key, MaskMethod, Named, Stage};
pub use params::{Sz3Params, SzipParams, ZfpMode};

use crate::cbor::{Cursor, Map, MapReader, Text, Uints, Value};
use crate::error::{ErrorKind, Result};
use crate::tensor::Shape;

/// How many keys of the format are parameters of a stage.
const PARAMETERS: usize = Key::Length as usize - Key::Compression as usize - 1;

/// A data object's descriptor, borrowed from the bytes `'a`.
///
/// Good to have one: the fields are there and of their types, `ndim` and `strides` agree with `shape`, the number of
/// elements fits 64 bits, and the CBOR is well-formed throughout. Whether the stages' names are known and their parameters
/// make sense is said by whoever asks for them.
#[derive(Clone, Copy)]
pub struct Descriptor<'a> {
    map: Map<'a>,
    encoded: Cursor<'a>,
    object_type: Text<'a>,
    shape: Uints<'a>,
    strides: Uints<'a>,
    element_count: u64,
    dtype: Dtype,
    byte_order: Option<ByteOrder>,
    encoding: Named<'a, Encoding>,
    filter: Named<'a, Filter>,
    compression: Named<'a, Compression>,
    masks: Masks<'a>,
    parameters: Parameters,
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
        let mut entries = MapReader::open(Cursor::new(bytes, offset), 0)?;
        let mut fields = Fields::default();
        while let Some(name) = entries.next_key()? {
            match Option::from(name) {
                Some(key) => fields.read(key, &mut entries, offset)?,
                None => entries.skip()?,
            }
        }
        let (map, encoded) = entries.finish();
        fields.finish(map, encoded)
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
    pub const fn as_map(&self) -> Map<'a> {
        self.map
    }

    /// The kind of object, "ntensor" by convention.
    pub const fn object_type(&self) -> Text<'a> {
        self.object_type
    }

    /// The dimensions, slowest first; none for a scalar.
    pub const fn shape(&self) -> Uints<'a> {
        self.shape
    }

    /// As many numbers as dimensions, in units that writers do not agree on: opaque.
    pub const fn strides(&self) -> Uints<'a> {
        self.strides
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
    pub const fn encoding(&self) -> Named<'a, Encoding> {
        self.encoding
    }

    /// The second stage.
    pub const fn filter(&self) -> Named<'a, Filter> {
        self.filter
    }

    /// The third stage.
    pub const fn compression(&self) -> Named<'a, Compression> {
        self.compression
    }

    /// The masks of non-finite values.
    pub const fn masks(&self) -> &Masks<'a> {
        &self.masks
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
            _ => self.map.get(name),
        }
    }

    /// The value of a parameter that the format defines: O(bytes of the value).
    pub(crate) fn known_parameter(&self, key: Key) -> Result<Option<Value<'a>>> {
        let Some(position) = self.parameters.get(key) else { return Ok(None) };
        let bytes = self.encoded.rest().get(position as usize..).unwrap_or_default();
        Value::parse(bytes, self.offset().saturating_add(u64::from(position))).map(Some)
    }

    /// Bytes of the decoded values: elements times width, ⌈elements / 8⌉ for bitmasks.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeOverflow`] beyond 64 bits.
    pub fn decoded_len(&self) -> Result<u64> {
        self.dtype.byte_len(self.element_count).ok_or(ErrorKind::ShapeOverflow.at(self.shape.offset()))
    }

    /// The stage that stands between the payload and its values: `None` if the payload is the values.
    ///
    /// The stage that has to be undone first is named first; masks come last.
    pub fn pending_stage(&self) -> Option<Stage> {
        let compression = self.compression.known();
        let filter = self.filter.known();
        let encoding = self.encoding.known();
        if compression != Some(Compression::None) {
            Some(Stage::Compression(compression))
        } else if filter != Some(Filter::None) {
            Some(Stage::Filter(filter))
        } else if encoding != Some(Encoding::None) {
            Some(Stage::Encoding(encoding))
        } else {
            self.masks.iter().next().map(|(_, mask)| Stage::Masks(mask.method().known()))
        }
    }
}

impl core::fmt::Debug for Descriptor<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Descriptor")
            .field("offset", &self.offset())
            .field("dtype", &self.dtype)
            .field("shape", &self.shape)
            .field("encoding", &format_args!("{}", self.encoding))
            .field("filter", &format_args!("{}", self.filter))
            .field("compression", &format_args!("{}", self.compression))
            .finish_non_exhaustive()
    }
}

/// Where the format's parameters stand: bytes from the descriptor's start to each value.
#[derive(Clone, Copy)]
struct Parameters([u32; PARAMETERS]);

impl Parameters {
    const fn slot(key: Key) -> usize {
        const FIRST: usize = Key::Compression as usize + 1;
        (key as usize).wrapping_sub(FIRST)
    }

    /// 0, where the map's own head stands, is nowhere.
    fn get(&self, key: Key) -> Option<u32> {
        self.0.get(Self::slot(key)).copied().filter(|&position| position != 0)
    }

    fn set(&mut self, key: Key, position: u64) -> Result<()> {
        if let Some(slot) = self.0.get_mut(Self::slot(key)) {
            *slot = u32::try_from(position).map_err(|_| ErrorKind::TooLarge.at(position))?;
        }
        Ok(())
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self([0; PARAMETERS])
    }
}

/// The fields found so far.
#[derive(Default)]
struct Fields<'a> {
    ndim: Option<u64>,
    object_type: Option<Text<'a>>,
    dtype: Option<Dtype>,
    masks: Option<Masks<'a>>,
    shape: Option<Uints<'a>>,
    filter: Option<Named<'a, Filter>>,
    strides: Option<Uints<'a>>,
    encoding: Option<Named<'a, Encoding>>,
    byte_order: Option<ByteOrder>,
    compression: Option<Named<'a, Compression>>,
    parameters: Parameters,
}

impl<'a> Fields<'a> {
    /// Reads the value of one entry of the map, whose key is one of the format.
    fn read(&mut self, key: Key, entries: &mut MapReader<'a>, base: u64) -> Result<()> {
        let offset = entries.offset();
        let is_new = match key {
            Key::Ndim => self.ndim.replace(entries.u64()?).is_none(),
            Key::Type => self.object_type.replace(entries.text()?).is_none(),
            Key::Dtype => self.dtype.replace(dtype(entries.text()?, offset)?).is_none(),
            Key::Masks => self.masks.replace(Masks::parse(&entries.value()?)?).is_none(),
            Key::Shape => self.shape.replace(entries.uints()?).is_none(),
            Key::Filter => self.filter.replace(Named::new(entries.text()?)).is_none(),
            Key::Strides => self.strides.replace(entries.uints()?).is_none(),
            Key::Encoding => self.encoding.replace(Named::new(entries.text()?)).is_none(),
            Key::ByteOrder => self.byte_order.replace(byte_order(entries.text()?, offset)?).is_none(),
            Key::Compression => self.compression.replace(Named::new(entries.text()?)).is_none(),
            parameter => {
                self.parameters.set(parameter, offset.saturating_sub(base))?;
                entries.skip()?;
                true
            }
        };
        if is_new { Ok(()) } else { Err(ErrorKind::DuplicateKey(key).at(offset)) }
    }

    fn finish(self, map: Map<'a>, encoded: Cursor<'a>) -> Result<Descriptor<'a>> {
        let missing = |key| ErrorKind::MissingKey(key).at(encoded.offset());
        let shape = self.shape.ok_or(missing(Key::Shape))?;
        let strides = self.strides.ok_or(missing(Key::Strides))?;
        if self.ndim.ok_or(missing(Key::Ndim))? != shape.len() as u64 {
            return Err(ErrorKind::NdimMismatch.at(shape.offset()));
        }
        if strides.len() != shape.len() {
            return Err(ErrorKind::StridesMismatch.at(strides.offset()));
        }
        let element_count = Shape::from(shape).element_count().ok_or(ErrorKind::ShapeOverflow.at(shape.offset()))?;
        Ok(Descriptor {
            map,
            encoded,
            object_type: self.object_type.ok_or(missing(Key::Type))?,
            shape,
            strides,
            element_count,
            dtype: self.dtype.ok_or(missing(Key::Dtype))?,
            byte_order: self.byte_order,
            encoding: self.encoding.ok_or(missing(Key::Encoding))?,
            filter: self.filter.ok_or(missing(Key::Filter))?,
            compression: self.compression.ok_or(missing(Key::Compression))?,
            masks: self.masks.unwrap_or_default(),
            parameters: self.parameters,
        })
    }
}

fn dtype(name: Text<'_>, offset: u64) -> Result<Dtype> {
    Dtype::ALL.into_iter().find(|dtype| name == *dtype.name()).ok_or(ErrorKind::UnknownDtype.at(offset))
}

fn byte_order(name: Text<'_>, offset: u64) -> Result<ByteOrder> {
    let orders = [ByteOrder::Big, ByteOrder::Little];
    orders.into_iter().find(|order| name == *order.name()).ok_or(ErrorKind::UnknownByteOrder.at(offset))
}
