//! The one builder of messages for tests: fields are written one by one, each with a caption.
//!
//! A built message is valid by default: lengths, offsets, index, digests, flags and padding follow FORMAT §1. A test
//! that needs an invalid message builds a valid one and breaks one field, which it finds by its caption:
//!
//! ```
//! use tgm_tests::builder::{Message, Object};
//!
//! let mut message = Message::buffered([Object::f32(&[2], &[1.0, 2.0])]).build();
//! assert_eq!(message.offset("preamble.version"), 8);
//! message.set("preamble.version", &[0, 2]);
//! message.set("frame 3.hash", &[0; 8]);
//! ```
//!
//! Captions are `preamble.FIELD`, `frame I.FIELD` with frames counted from 0 in the order of the bytes, and
//! `postamble.FIELD`; [`Built::fields`] lists them.

use std::fmt;
use std::ops::Range;

use ciborium::Value;
use twox_hash::XxHash3_64;

/// Flags of the preamble (FORMAT §1.3), as numbers: nothing here comes from the library under test.
mod flag {
    pub(super) const HEADER_METADATA: u16 = 0x01;
    pub(super) const FOOTER_METADATA: u16 = 0x02;
    pub(super) const HEADER_INDEX: u16 = 0x04;
    pub(super) const FOOTER_INDEX: u16 = 0x08;
    pub(super) const HEADER_HASHES: u16 = 0x10;
    pub(super) const FOOTER_HASHES: u16 = 0x20;
    pub(super) const PRECEDER: u16 = 0x40;
    pub(super) const HASHES_PRESENT: u16 = 0x80;
}

/// Frame types (FORMAT §1.5).
pub mod frame_type {
    /// Global metadata before the objects.
    pub const HEADER_METADATA: u16 = 1;
    /// Index before the objects.
    pub const HEADER_INDEX: u16 = 2;
    /// Digests before the objects.
    pub const HEADER_HASH: u16 = 3;
    /// Digests after the objects.
    pub const FOOTER_HASH: u16 = 5;
    /// Index after the objects.
    pub const FOOTER_INDEX: u16 = 6;
    /// Global metadata after the objects.
    pub const FOOTER_METADATA: u16 = 7;
    /// Metadata of the next object.
    pub const PRECEDER: u16 = 8;
    /// A data object.
    pub const OBJECT: u16 = 9;
}

/// A message to be written.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its frames, in the order of the bytes.
    pub frames: Vec<Frame>,
    /// Whether digests are written.
    pub hashing: bool,
    /// Whether both total lengths are written as 0, as in a stream.
    pub streaming: bool,
    /// The preamble's flags; `None` sets the flags that match the frames.
    pub flags: Option<u16>,
}

impl Default for Message {
    fn default() -> Self {
        Self { frames: Vec::new(), hashing: true, streaming: false, flags: None }
    }
}

impl Message {
    /// A message without frames.
    pub fn empty() -> Self {
        Self::default()
    }

    /// A message as a buffered encoder writes it: metadata `{}`, index, digests, objects.
    pub fn buffered(objects: impl IntoIterator<Item = Object>) -> Self {
        Self::buffered_with(&map([]), objects)
    }

    /// [`Self::buffered`] with this metadata.
    pub fn buffered_with(metadata: &Value, objects: impl IntoIterator<Item = Object>) -> Self {
        let objects: Vec<Frame> = objects.into_iter().map(Frame::object).collect();
        let mut message = Self::empty().with(Frame::metadata(frame_type::HEADER_METADATA, metadata));
        if !objects.is_empty() {
            message = message.with(Frame::index(frame_type::HEADER_INDEX)).with(Frame::hashes(frame_type::HEADER_HASH));
        }
        message.frames.extend(objects);
        message
    }

    /// A message as a streaming encoder writes it: metadata `{}`, objects, and in the footer metadata, digests and
    /// index.
    pub fn streamed(objects: impl IntoIterator<Item = Object>) -> Self {
        Self::streamed_with(&map([]), &map([]), objects.into_iter().map(|object| (None, object)))
    }

    /// [`Self::streamed`] with header and footer metadata, and a preceder's entry before some of the objects.
    pub fn streamed_with(
        header: &Value,
        footer: &Value,
        objects: impl IntoIterator<Item = (Option<Value>, Object)>,
    ) -> Self {
        let mut message = Self::empty().with(Frame::metadata(frame_type::HEADER_METADATA, header));
        message.streaming = true;
        for (preceder, object) in objects {
            message.frames.extend(preceder.map(|entry| Frame::preceder(&entry)));
            message.frames.push(Frame::object(object));
        }
        message
            .with(Frame::metadata(frame_type::FOOTER_METADATA, footer))
            .with(Frame::hashes(frame_type::FOOTER_HASH))
            .with(Frame::index(frame_type::FOOTER_INDEX))
    }

    /// Appends a frame.
    #[must_use]
    pub fn with(mut self, frame: Frame) -> Self {
        self.frames.push(frame);
        self
    }

    /// Turns digests off.
    #[must_use]
    pub const fn unhashed(mut self) -> Self {
        self.hashing = false;
        self
    }

    /// Writes the message.
    pub fn build(&self) -> Built {
        // The index lists offsets, and its own size moves them: write again until no offset changes.
        let count = self.frames.iter().filter(|frame| frame.frame_type == frame_type::OBJECT).count();
        let mut objects = vec![Entry { offset: 0, length: 0, digest: 0 }; count];
        loop {
            let (built, found) = self.write(&objects);
            if found == objects {
                return built;
            }
            objects = found;
        }
    }

    /// Writes the message once; index and hash frames list `objects`. Returns the objects at their new places.
    fn write(&self, objects: &[Entry]) -> (Built, Vec<Entry>) {
        let mut out = Built::default();
        out.field("preamble.magic", b"TENSOGRM");
        out.field("preamble.version", &3_u16.to_be_bytes());
        out.field("preamble.flags", &self.flags.unwrap_or_else(|| self.matching_flags()).to_be_bytes());
        out.field("preamble.reserved", &[0; 4]);
        out.field("preamble.total_length", &[0; 8]);
        let mut found = Vec::new();
        let mut first_footer = None;
        for (index, frame) in self.frames.iter().enumerate() {
            let offset = out.bytes.len() as u64;
            let digest = frame.write(index, self.hashing, objects, &mut out);
            if frame.frame_type == frame_type::OBJECT {
                let length = out.bytes.len() as u64 - offset;
                found.push(Entry { offset, length, digest });
            }
            if (frame_type::FOOTER_HASH..=frame_type::FOOTER_METADATA).contains(&frame.frame_type) {
                first_footer.get_or_insert(offset);
            }
            let padding = frame.padding.clone().unwrap_or_else(|| vec![0; out.bytes.len().wrapping_neg() % 8]);
            out.field(&format!("frame {index}.padding"), &padding);
        }
        let postamble = out.bytes.len() as u64;
        let length = if self.streaming { 0 } else { postamble + 24 };
        out.field("postamble.first_footer_offset", &first_footer.unwrap_or(postamble).to_be_bytes());
        out.field("postamble.total_length", &length.to_be_bytes());
        out.field("postamble.magic", b"39277777");
        out.set("preamble.total_length", &length.to_be_bytes());
        (out, found)
    }

    /// The flags that match the frames, with the flag that a streaming encoder always sets.
    fn matching_flags(&self) -> u16 {
        let of_frame = |frame: &Frame| match frame.frame_type {
            frame_type::HEADER_METADATA => flag::HEADER_METADATA,
            frame_type::HEADER_INDEX => flag::HEADER_INDEX,
            frame_type::HEADER_HASH => flag::HEADER_HASHES,
            frame_type::FOOTER_HASH => flag::FOOTER_HASHES,
            frame_type::FOOTER_INDEX => flag::FOOTER_INDEX,
            frame_type::FOOTER_METADATA => flag::FOOTER_METADATA,
            frame_type::PRECEDER => flag::PRECEDER,
            _ => 0,
        };
        let start = if self.hashing { flag::HASHES_PRESENT } else { 0 };
        let start = if self.streaming { start | flag::PRECEDER } else { start };
        self.frames.iter().fold(start, |flags, frame| flags | of_frame(frame))
    }
}

/// Where an object lies, and its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    offset: u64,
    length: u64,
    digest: u64,
}

/// A change of the entries of an index: offset and length of each object.
pub type IndexChange = fn(&mut Vec<(u64, u64)>);

/// A frame to be written.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The type's number.
    pub frame_type: u16,
    /// What it holds.
    pub body: Body,
    /// The bytes after it; `None` for zeros up to the next multiple of 8.
    pub padding: Option<Vec<u8>>,
}

/// What a frame holds.
#[derive(Clone, Debug)]
pub enum Body {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A data object.
    Object(Box<Object>),
    /// An index of the message's objects, whose entries the function may change.
    Index(IndexChange),
    /// The digests of the message's objects.
    Hashes,
}

impl Frame {
    /// A frame of this type with these bytes as body.
    pub fn raw(frame_type: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { frame_type, body: Body::Bytes(body.into()), padding: None }
    }

    /// A frame whose body is a CBOR item.
    pub fn metadata(frame_type: u16, metadata: &Value) -> Self {
        Self::raw(frame_type, cbor(metadata))
    }

    /// A preceder with one `base` entry.
    pub fn preceder(entry: &Value) -> Self {
        Self::metadata(frame_type::PRECEDER, &map([("base", array([entry.clone()]))]))
    }

    /// A frame that lists the objects' offsets and lengths.
    pub const fn index(frame_type: u16) -> Self {
        Self { frame_type, body: Body::Index(|_| ()), padding: None }
    }

    /// A wrong index: `change` edits its entries.
    pub const fn changed_index(frame_type: u16, change: IndexChange) -> Self {
        Self { frame_type, body: Body::Index(change), padding: None }
    }

    /// A frame that lists the objects' digests.
    pub const fn hashes(frame_type: u16) -> Self {
        Self { frame_type, body: Body::Hashes, padding: None }
    }

    /// A data object.
    pub fn object(object: Object) -> Self {
        Self { frame_type: frame_type::OBJECT, body: Body::Object(Box::new(object)), padding: None }
    }

    /// Sets the bytes after the frame.
    #[must_use]
    pub fn padded(mut self, padding: impl Into<Vec<u8>>) -> Self {
        self.padding = Some(padding.into());
        self
    }

    /// Writes the frame without its padding and returns the digest of its body.
    fn write(&self, index: usize, hashing: bool, objects: &[Entry], out: &mut Built) -> u64 {
        let start = out.bytes.len();
        let name = |field: &str| format!("frame {index}.{field}");
        let descriptor_last = match &self.body {
            Body::Object(object) => !object.descriptor_first,
            // A raw body of type 9 is a descriptor and nothing else.
            _ => self.frame_type == frame_type::OBJECT,
        };
        let flags = u16::from(descriptor_last) | u16::from(hashing) << 1;
        out.field(&name("magic"), b"FR");
        out.field(&name("type"), &self.frame_type.to_be_bytes());
        out.field(&name("version"), &1_u16.to_be_bytes());
        out.field(&name("flags"), &flags.to_be_bytes());
        out.field(&name("total_length"), &[0; 8]);
        let body_start = out.bytes.len();
        let cbor_offset = match &self.body {
            Body::Bytes(bytes) => {
                out.field(&name("body"), bytes);
                body_start - start
            }
            Body::Object(object) => object.write(index, start, out),
            Body::Index(change) => {
                let mut entries: Vec<(u64, u64)> = objects.iter().map(|entry| (entry.offset, entry.length)).collect();
                change(&mut entries);
                let offsets = array(entries.iter().map(|entry| Value::from(entry.0)));
                let lengths = array(entries.iter().map(|entry| Value::from(entry.1)));
                out.field(&name("body"), &cbor(&map([("offsets", offsets), ("lengths", lengths)])));
                0
            }
            Body::Hashes => {
                let digests = objects.iter().map(|entry| Value::from(format!("{:016x}", entry.digest)));
                let list = map([("hashes", array(digests)), ("algorithm", Value::from("xxh3"))]);
                out.field(&name("body"), &cbor(&list));
                0
            }
        };
        let digest = XxHash3_64::oneshot(&out.bytes[body_start..]);
        if self.frame_type == frame_type::OBJECT {
            out.field(&name("cbor_offset"), &(cbor_offset as u64).to_be_bytes());
        }
        out.field(&name("hash"), &if hashing { digest } else { 0 }.to_be_bytes());
        out.field(&name("end"), b"ENDF");
        let length = (out.bytes.len() - start) as u64;
        out.set(&name("total_length"), &length.to_be_bytes());
        digest
    }
}

/// A data object to be written. Its fields are written unchecked.
#[derive(Clone, Debug)]
pub struct Object {
    /// The descriptor's entries, in the order of the bytes; `masks` is added when the object is written.
    pub descriptor: Vec<(Value, Value)>,
    /// The encoded payload.
    pub payload: Vec<u8>,
    /// Kind, method and blob of each mask, in the order of the bytes.
    pub masks: Vec<(&'static str, &'static str, Vec<u8>)>,
    /// Whether the descriptor is before the payload.
    pub descriptor_first: bool,
}

impl Object {
    /// An object of this dtype and shape, whose little-endian payload needs no decoding.
    pub fn plain(dtype: &str, shape: &[u64], payload: impl Into<Vec<u8>>) -> Self {
        let dims = || array(shape.iter().map(|&dim| Value::from(dim)));
        let descriptor = map([
            ("ndim", Value::from(shape.len() as u64)),
            ("type", Value::from("ntensor")),
            ("dtype", Value::from(dtype)),
            ("shape", dims()),
            ("filter", Value::from("none")),
            ("strides", dims()),
            ("encoding", Value::from("none")),
            ("byte_order", Value::from("little")),
            ("compression", Value::from("none")),
        ]);
        let Value::Map(descriptor) = descriptor else { unreachable!("`map` makes maps") };
        Self { descriptor, payload: payload.into(), masks: Vec::new(), descriptor_first: false }
    }

    /// Little-endian `float32`.
    pub fn f32(shape: &[u64], values: &[f32]) -> Self {
        Self::plain("float32", shape, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
    }

    /// `uint8`.
    pub fn bytes(payload: &[u8]) -> Self {
        Self::plain("uint8", &[payload.len() as u64], payload)
    }

    /// `simple_packing` with these parameters; `packed` holds the bit fields.
    pub fn packed(shape: &[u64], packed: impl Into<Vec<u8>>, reference: f64, exponents: (i32, i32), bits: u32) -> Self {
        Self::plain("float64", shape, packed)
            .set("encoding", "simple_packing")
            .set("sp_reference_value", reference)
            .set("sp_binary_scale_factor", exponents.0)
            .set("sp_decimal_scale_factor", exponents.1)
            .set("sp_bits_per_value", bits)
    }

    /// Sets an entry of the descriptor; an entry with the same key is replaced.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self = self.without(key);
        self.descriptor.push((Value::from(key), value.into()));
        sort(&mut self.descriptor);
        self
    }

    /// Removes an entry of the descriptor.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.descriptor.retain(|(other, _)| other.as_text() != Some(key));
        self
    }

    /// Marks the object as big-endian; the payload must already be in that order.
    #[must_use]
    pub fn big_endian(self) -> Self {
        self.set("byte_order", "big")
    }

    /// Shuffles the payload in elements of `element_size` bytes.
    #[must_use]
    pub fn shuffled(mut self, element_size: usize) -> Self {
        let count = self.payload.len() / element_size.max(1);
        let planes = (0..element_size).flat_map(|byte| (0..count).map(move |element| element * element_size + byte));
        self.payload = planes.map(|at| self.payload[at]).collect();
        self.set("filter", "shuffle").set("shuffle_element_size", element_size as u64)
    }

    /// Compresses the payload with `lz4`, `zstd`, `rle` or `roaring`.
    #[must_use]
    pub fn compressed(mut self, codec: &'static str) -> Self {
        self.payload = match codec {
            "rle" | "roaring" => {
                let bits: Vec<bool> = bits_of(&self.payload).collect();
                let count = u32::try_from(bits.len()).unwrap_or(u32::MAX);
                [count.to_be_bytes().as_slice(), &bitmap(codec, &bits)].concat()
            }
            _ => compress(codec, &self.payload),
        };
        self.set("compression", codec)
    }

    /// Adds a mask of this kind (`nan`, `inf+`, `inf-`) stored by this method.
    #[must_use]
    pub fn masked(mut self, kind: &'static str, method: &'static str, bits: &[bool]) -> Self {
        self.masks.push((kind, method, bitmap(method, bits)));
        self
    }

    /// Puts the descriptor before the payload.
    #[must_use]
    pub const fn descriptor_first(mut self) -> Self {
        self.descriptor_first = true;
        self
    }

    /// The descriptor's CBOR, with the masks' offsets.
    fn descriptor_cbor(&self) -> Vec<u8> {
        let mut entries = self.descriptor.clone();
        let mut offset = self.payload.len() as u64;
        let masks = self.masks.iter().map(|(kind, method, blob)| {
            let length = blob.len() as u64;
            let entry = [("length", Value::from(length)), ("method", Value::from(*method)), ("offset", offset.into())];
            offset += length;
            (*kind, map(entry))
        });
        let masks: Vec<_> = masks.collect();
        if !masks.is_empty() {
            entries.push((Value::from("masks"), map(masks)));
            sort(&mut entries);
        }
        cbor(&Value::Map(entries))
    }

    /// Writes the body and returns the descriptor's offset from the frame's start.
    fn write(&self, index: usize, start: usize, out: &mut Built) -> usize {
        let name = |field: &str| format!("frame {index}.{field}");
        let descriptor = self.descriptor_cbor();
        if self.descriptor_first {
            out.field(&name("descriptor"), &descriptor);
        }
        out.field(&name("payload"), &self.payload);
        for (kind, _, blob) in &self.masks {
            out.field(&name(kind), blob);
        }
        if self.descriptor_first {
            return 16;
        }
        let offset = out.bytes.len() - start;
        out.field(&name("descriptor"), &descriptor);
        offset
    }
}

/// A built message: its bytes, and where each field lies.
#[derive(Clone, Default)]
pub struct Built {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Caption and place of every field, in order.
    pub fields: Vec<(String, Range<usize>)>,
}

impl Built {
    fn field(&mut self, caption: &str, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.fields.push((caption.to_owned(), start..self.bytes.len()));
    }

    /// Where a field lies.
    ///
    /// # Panics
    /// If no field has that caption.
    pub fn range(&self, caption: &str) -> Range<usize> {
        let field = self.fields.iter().find(|(name, _)| name == caption);
        field.unwrap_or_else(|| panic!("no field {caption:?} in {self:?}")).1.clone()
    }

    /// Where a field begins.
    ///
    /// # Panics
    /// If no field has that caption.
    pub fn offset(&self, caption: &str) -> u64 {
        self.range(caption).start as u64
    }

    /// Overwrites a field from its first byte on.
    ///
    /// # Panics
    /// If no field has that caption, or `bytes` is longer than the field.
    pub fn set(&mut self, caption: &str, bytes: &[u8]) -> &mut Self {
        let range = self.range(caption);
        self.bytes[range][..bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Overwrites the first occurrence of `from` inside a field and returns its offset.
    ///
    /// # Panics
    /// If no field has that caption, the field does not contain `from`, or `to` has another length.
    pub fn replace(&mut self, caption: &str, from: &[u8], to: &[u8]) -> u64 {
        assert_eq!(from.len(), to.len(), "a replacement has the same length");
        let range = self.range(caption);
        let at = self.bytes[range.clone()].windows(from.len()).position(|window| window == from);
        let at = range.start + at.unwrap_or_else(|| panic!("{caption} does not contain {from:02x?}"));
        self.bytes[at..at + to.len()].copy_from_slice(to);
        at as u64
    }
}

/// One field a line: offset, caption, bytes.
impl fmt::Debug for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (caption, range) in &self.fields {
            let bytes = &self.bytes[range.clone()];
            let more = if bytes.len() > 24 { " …" } else { "" };
            writeln!(f, "{:6}  {caption:30} {}{more}", range.start, crate::hex(&bytes[..bytes.len().min(24)]))?;
        }
        Ok(())
    }
}

/// A map with text keys in canonical order.
pub fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    let mut entries: Vec<_> = entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect();
    sort(&mut entries);
    Value::Map(entries)
}

/// An array.
pub fn array(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Array(items.into_iter().collect())
}

/// The encoded item.
///
/// # Panics
/// Never: writing to a vector cannot fail.
pub fn cbor(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap_or_else(|error| panic!("{error}"));
    bytes
}

/// Sorts entries into canonical order: by their encoded keys.
fn sort(entries: &mut [(Value, Value)]) {
    entries.sort_by_cached_key(|(key, _)| cbor(key));
}

/// The bits of bytes, most significant first.
fn bits_of(bytes: &[u8]) -> impl Iterator<Item = bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1 == 1))
}

/// Bits packed into bytes, most significant first.
pub fn pack_bits(bits: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| eight.iter().enumerate().fold(0, |byte, (bit, &set)| byte | u8::from(set) << (7 - bit));
    bits.chunks(8).map(byte).collect()
}

/// The blob of a mask stored by this method.
///
/// # Panics
/// If the method is not one that this builder knows.
pub fn bitmap(method: &str, bits: &[bool]) -> Vec<u8> {
    match method {
        "none" => pack_bits(bits),
        "rle" => run_lengths(bits),
        "roaring" => {
            let set = bits.iter().zip(0_u32..).filter(|(set, _)| **set).map(|(_, at)| at);
            let mut bitmap: roaring::RoaringBitmap = set.collect();
            bitmap.optimize();
            let mut blob = Vec::new();
            bitmap.serialize_into(&mut blob).unwrap_or_else(|error| panic!("{error}"));
            blob
        }
        codec => compress(codec, &pack_bits(bits)),
    }
}

/// First bit, then the runs' lengths as LEB128.
fn run_lengths(bits: &[bool]) -> Vec<u8> {
    let mut blob: Vec<u8> = bits.first().map(|&first| u8::from(first)).into_iter().collect();
    for run in bits.chunk_by(|a, b| a == b) {
        let mut length = run.len();
        while length >= 0x80 {
            blob.push(u8::try_from(length & 0x7f).unwrap_or(0) | 0x80);
            length >>= 7;
        }
        blob.push(u8::try_from(length).unwrap_or(0));
    }
    blob
}

/// The bytes compressed with `lz4` or `zstd`.
fn compress(codec: &str, bytes: &[u8]) -> Vec<u8> {
    match codec {
        "lz4" => lz4_flex::compress_prepend_size(bytes),
        "zstd" => zstd::encode_all(bytes, 3).unwrap_or_else(|error| panic!("{error}")),
        other => panic!("the builder has no codec {other}"),
    }
}
