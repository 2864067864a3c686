//! From Tensogram back to GRIB: sections as they were, data from the payload.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use tgm_codec::codec;
use tgm_core::Message as Tensogram;
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter};
use tgm_core::object::DataObject;
use tgm_core::packing::Packing;
use tgm_std::internal::{Trusted, mask_set, reserve, reserve_more};
use tgm_std::{
    CompressionBackend, DecodeOptions, GlobalMetadata, RESERVED_KEY, Result, TensogramError, check_message,
    decode_metadata,
};

use super::bitmap::{BITMAP_HEAD_LEN, EARLIER, count_ones, inverted, predefined};
use super::codes::{compact, packed_len, taken};
use super::complex::Complex;
use super::recipe::{GRIB, MARS, Recipe, refused};
use super::representation::{Ccsds, Representation};
use super::sections::{END, HEAD_LEN, INDICATOR_LEN, Message, Section};
use super::stream;
use super::to_tgm::{GribOptions, Outline, objects};

/// The octet of section 0, counted from 0, where the length of the message stands.
const LENGTH_AT: usize = 8;
/// Code table 6.0: the bitmap of an earlier field, and no bitmap.
const NO_BITMAP: u8 = 255;

/// A GRIB message that was made from a Tensogram message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The GRIB message.
    pub message: Vec<u8>,
    /// Metadata that GRIB has no place for: the paths of entries that were added after the conversion from GRIB.
    pub not_kept: Vec<String>,
}

/// Converts a Tensogram message that was made from GRIB back to its GRIB message.
///
/// An unchanged message gives the original bytes. Objects that were compressed by another codec in between give the same
/// values, and the same bytes if the original stream was one that libaec or this library writes.
///
/// With `verify_hash` the digests of all frames are checked first, because sections come from metadata.
///
/// # Errors
/// The errors of [`check_message`] with `verify_hash`;
/// [`TensogramError::Metadata`] for objects that were not made from GRIB; [`TensogramError::Encoding`] for messages that
/// were edited, naming what: values that are packed in another way, metadata, shape, order or number of objects; the errors
/// of decoding.
pub fn from_tensogram(message: &[u8], options: &DecodeOptions) -> Result<Restored> {
    let mut made = Vec::new();
    let not_kept = from_tensogram_into(message, options, &mut made)?;
    Ok(Restored { message: made, not_kept })
}

/// [`from_tensogram`] into a buffer that the caller keeps. The GRIB message replaces what the buffer held. Returns
/// [`Restored::not_kept`].
///
/// A buffer that has held a message of this size needs no new memory. After an error its content is useless.
///
/// # Errors
/// The errors of [`from_tensogram`].
pub fn from_tensogram_into(message: &[u8], options: &DecodeOptions, made: &mut Vec<u8>) -> Result<Vec<String>> {
    if options.verify_hash {
        check_message(message)?;
    }
    let global = decode_metadata(message)?;
    let view = Tensogram::parse(message)?;
    let originals = view.objects().collect::<std::result::Result<Vec<_>, _>>()?;
    made.clear();
    // Unless it was compressed better, the message has room for its payloads and their sections.
    reserve_more(made, message.len())?;
    let (mut earlier, mut is_literal) = (None, false);
    for (index, object) in originals.iter().enumerate() {
        let recipe = Recipe::of(global.base.get(index).and_then(|entry| entry.get(GRIB)), index)?;
        if (recipe.field, recipe.fields) != (index as u64, originals.len() as u64) {
            let Recipe { field, fields, .. } = recipe;
            let found = originals.len();
            return Err(refused(
                index,
                format_args!("it is field {field} of a GRIB message of {fields}, and this message has {found} objects"),
            ));
        }
        is_literal |= recipe.data.is_some();
        let trusted = Trusted::new(object, options)?;
        WayBack { index, trusted, recipe: &recipe, options }.append(&mut earlier, made)?;
    }
    if originals.is_empty() {
        return Err(TensogramError::Metadata("the message has no object: it was not made from GRIB".into()));
    }
    made.extend_from_slice(END);
    let length = (made.len() as u64).to_be_bytes();
    if let Some(place) = made.get_mut(LENGTH_AT..).and_then(|bytes| bytes.first_chunk_mut()) {
        *place = length;
    }
    check(made, &global, &originals, is_literal.then_some(options))?;
    Ok(not_kept(&global))
}

/// One object on its way back.
struct WayBack<'f, 'a> {
    index: usize,
    trusted: Trusted<'f, 'a>,
    recipe: &'f Recipe<'f>,
    options: &'f DecodeOptions,
}

impl WayBack<'_, '_> {
    /// Appends the sections that the field does not share with the one before it. `earlier` is the last bitmap that was
    /// written.
    fn append(&self, earlier: &mut Option<Vec<u8>>, made: &mut Vec<u8>) -> Result<()> {
        let mut sections = self.recipe.sections.as_slice();
        if let (0, [indicator, rest @ ..]) = (self.index, sections) {
            if indicator.len() != INDICATOR_LEN {
                return Err(self.refused("GRIB section 0 was edited"));
            }
            made.extend_from_slice(indicator);
            sections = rest;
        }
        let points = self.trusted.descriptor().element_count();
        let (mut representation, mut bitmap) = (None, None);
        for section in sections {
            made.extend_from_slice(section);
            match section.get(HEAD_LEN - 1) {
                Some(5) => representation = Some(Representation::parse(Section::parse(section, 0)?)?),
                Some(6) => {
                    // Data with missing values of their own have more gaps than the bitmap.
                    let is_apart = representation.as_ref().is_some_and(Representation::has_missing);
                    bitmap = if is_apart {
                        self.literal(section, points, earlier.as_deref())?
                    } else {
                        self.bitmap(section, points, earlier.as_deref())?
                    };
                    if section.len() == BITMAP_HEAD_LEN && section.last() == Some(&0) {
                        made.extend_from_slice(bitmap.as_deref().unwrap_or_default());
                    }
                    // A later field may have more points than this one, and take bits that were spare here.
                    let literal = section.get(BITMAP_HEAD_LEN..).filter(|bits| !bits.is_empty());
                    match (literal, section.get(BITMAP_HEAD_LEN - 1)) {
                        (Some(bits), Some(0)) => *earlier = Some(bits.to_vec()),
                        (None, Some(0)) => earlier.clone_from(&bitmap),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let representation = representation.ok_or_else(|| self.refused("GRIB section 5 was edited"))?;
        let content = match (self.recipe.data, &representation) {
            (data, Representation::Complex(packing, complex)) => {
                self.complex(packing, complex, data, bitmap.as_deref(), points)?
            }
            (Some(data), _) => data.into(),
            (None, _) => self.data(&representation, bitmap.as_deref(), points)?,
        };
        let length = u32::try_from(content.len() + HEAD_LEN).map_err(|_| self.refused("its data exceed a section"))?;
        reserve_more(made, HEAD_LEN + content.len() + END.len())?;
        made.extend_from_slice(&length.to_be_bytes());
        made.push(7);
        made.extend_from_slice(&content);
        Ok(())
    }

    fn refused(&self, text: &str) -> TensogramError {
        refused(self.index, text)
    }

    /// Which points have a value, by section 6 and the object's mask, which must agree.
    fn bitmap(&self, section: &[u8], points: u64, earlier: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let has_masks = !self.trusted.descriptor().masks().is_empty();
        if section.get(BITMAP_HEAD_LEN - 1).is_some_and(|code| has_no_bits(*code)) && !has_masks {
            return Ok(None);
        }
        // The bits that section 6 states, before any memory is reserved for the mask.
        let room = match section.get(BITMAP_HEAD_LEN - 1) {
            Some(0) => section.first_chunk().map_or(0, |length| u32::from_be_bytes(*length).into()),
            _ => earlier.map_or(0, <[u8]>::len) as u64,
        };
        if points.div_ceil(8) > room {
            return Err(self.refused("it has more points than the bitmap of GRIB section 6 has bits"));
        }
        self.options.limits.check_bytes(self.trusted.payload().len() as u64, points.div_ceil(8))?;
        let present = inverted(&self.gaps(points)?, points);
        let stated = section.get(BITMAP_HEAD_LEN..).unwrap_or_default();
        let stated = match section.get(BITMAP_HEAD_LEN - 1) {
            Some(0) if stated.is_empty() => return Ok(Some(present)),
            Some(0) => stated.get(..present.len()),
            Some(&EARLIER) => earlier.and_then(|bits| bits.get(..present.len())),
            _ => None,
        };
        // Bits that belong to no point are not compared.
        let is_same = stated.is_some_and(|stated| inverted(stated, points) == inverted(&present, points));
        if is_same { Ok(Some(present)) } else { Err(self.refused("its mask is not the bitmap of GRIB section 6")) }
    }

    /// The bitmap that section 6 has or names.
    fn literal(&self, section: &[u8], points: u64, earlier: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let bits = match section.get(BITMAP_HEAD_LEN - 1) {
            Some(code) if has_no_bits(*code) => return Ok(None),
            Some(0) => section.get(BITMAP_HEAD_LEN..),
            Some(&EARLIER) => earlier,
            _ => None,
        };
        let len = usize::try_from(points.div_ceil(8)).ok();
        let bits = bits.zip(len).and_then(|(bits, len)| bits.get(..len));
        bits.map(|bits| Some(bits.to_vec())).ok_or_else(|| self.refused("GRIB section 6 was edited"))
    }

    /// Section 7 from octet 6 on, of integers in groups. `data` are the bytes, if the groups do not give them.
    fn complex(
        &self,
        packing: &Packing,
        complex: &Complex,
        data: Option<&[u8]>,
        bitmap: Option<&[u8]>,
        points: u64,
    ) -> Result<Cow<'_, [u8]>> {
        let descriptor = self.trusted.descriptor();
        let stored = descriptor.packing().ok().filter(|stored| {
            let same = Packing { bits_per_value: stored.bits_per_value, ..*packing };
            is_stored_as(descriptor, &Representation::Simple(same)) && stored.bits_per_value <= i64::BITS
        });
        let Some(Packing { bits_per_value, .. }) = stored else {
            return Err(self.refused("its values are not stored as GRIB section 5 says: they were encoded again"));
        };
        let stored = self.stored(points, bits_per_value)?;
        let room = points.saturating_mul(size_of::<i64>() as u64);
        self.options.limits.check_bytes(self.trusted.payload().len() as u64, room)?;
        let integers = taken(&stored, bits_per_value, bitmap, &self.gaps(points)?, points);
        let integers = integers.ok_or_else(|| self.refused("its mask is not the bitmap of GRIB section 6"))?;
        let made = match (data, self.recipe.groups) {
            (Some(data), _) => {
                let decoded = complex.decode(data, integers.len() as u64, &self.options.limits)?;
                (decoded.integers == integers).then(|| data.to_vec())
            }
            (None, Some(groups)) => complex.encode(&integers, groups)?,
            (None, None) => None,
        };
        made.map(Cow::Owned)
            .ok_or_else(|| self.refused("its values were edited, and its GRIB groups have no place for them"))
    }

    /// The bits of the mask of NaN: all 0 if there is none.
    fn gaps(&self, points: u64) -> Result<Vec<u8>> {
        let masks = mask_set(self.trusted, self.options)?;
        if masks.pos_inf.is_some() || masks.neg_inf.is_some() {
            return Err(self.refused("GRIB has no infinities"));
        }
        let mut bits = reserve(packed_len(points, 1)?)?;
        for (byte, eight) in bits.iter_mut().zip(masks.nan.as_deref().unwrap_or_default().chunks(8)) {
            *byte = eight.iter().enumerate().fold(0, |byte, (i, is_set)| byte | (u8::from(*is_set) << (7 - i)));
        }
        Ok(bits)
    }

    /// Section 7 from octet 6 on.
    fn data(&self, representation: &Representation, bitmap: Option<&[u8]>, points: u64) -> Result<Cow<'_, [u8]>> {
        let descriptor = self.trusted.descriptor();
        if !is_stored_as(descriptor, representation) {
            return Err(self.refused("its values are not stored as GRIB section 5 says: they were encoded again"));
        }
        if let (Representation::Ccsds(_, ccsds), None) = (representation, bitmap)
            && is_stream(descriptor, *ccsds)
        {
            ccsds.params(representation.bits())?;
            return Ok(self.trusted.payload().into());
        }
        let bits = representation.bits();
        let stored = self.stored(points, bits)?;
        if bits == 0 {
            return Ok(stored);
        }
        let Some(bitmap) = bitmap else { return stream::data(representation, stored, points) };
        let dense = compact(&stored, bits, bitmap, points)?;
        stream::data(representation, dense.into(), count_ones(bitmap, points))
    }

    /// The payload without its compression.
    fn stored(&self, points: u64, bits: u32) -> Result<Cow<'_, [u8]>> {
        let (descriptor, payload) = (self.trusted.descriptor(), self.trusted.payload());
        let len = packed_len(points, bits)?;
        match descriptor.compression().known() {
            Some(Compression::None) => {
                let stored = payload.get(..len).filter(|_| payload.len() == len);
                stored.map(Cow::Borrowed).ok_or_else(|| self.refused("its payload has not the length of its values"))
            }
            Some(compression) => {
                self.options.limits.check_bytes(payload.len() as u64, len as u64)?;
                let mut stored = reserve(len)?;
                let codec = codec(compression, CompressionBackend::Auto)?;
                let decompressed = codec.decompress_into(payload, descriptor, &mut stored);
                decompressed.map_err(|error| {
                    let error = error.in_codec(codec.name()).shift(self.trusted.region_offset());
                    TensogramError::from(error).within(format_args!("object {}", self.index))
                })?;
                Ok(stored.into())
            }
            None => Err(self.refused("its compression is unknown")),
        }
    }
}

/// Whether section 6 with this code stands for values at all points.
fn has_no_bits(code: u8) -> bool {
    code == NO_BITMAP || predefined(code).is_some()
}

/// Whether an object without compression holds what section 7 does.
fn is_stored_as(descriptor: &Descriptor<'_>, representation: &Representation) -> bool {
    let is_packed = |packing: &Packing| {
        descriptor.encoding().known() == Some(Encoding::SimplePacking) && descriptor.packing() == Ok(*packing)
    };
    let is_encoded = match representation {
        Representation::Simple(packing)
        | Representation::Ccsds(packing, _)
        | Representation::Complex(packing, _)
        | Representation::Picture(packing, _) => is_packed(packing),
        Representation::Ieee(bits) => {
            descriptor.encoding().known() == Some(Encoding::None)
                && descriptor.dtype() == if *bits == 32 { Dtype::Float32 } else { Dtype::Float64 }
                && descriptor.byte_order() == ByteOrder::Big
        }
    };
    is_encoded && descriptor.filter().known() == Some(Filter::None)
}

/// Whether the payload is a stream with these parameters.
fn is_stream(descriptor: &Descriptor<'_>, ccsds: Ccsds) -> bool {
    descriptor.compression().known() == Some(Compression::Szip)
        && descriptor
            .szip()
            .is_ok_and(|szip| (szip.flags, szip.block_size, szip.rsi) == (ccsds.flags, ccsds.block_size, ccsds.rsi))
}

/// Checks that the message says what the metadata say, and that its fields are as large as the objects. With
/// `literal`, some data are not from the payloads: then the payloads must be what the message gives.
fn check(
    made: &[u8],
    global: &GlobalMetadata,
    originals: &[DataObject<'_>],
    literal: Option<&DecodeOptions>,
) -> Result<()> {
    let (message, _) = Message::parse(made)?;
    let mut fields = message.fields();
    for (index, (original, entry)) in originals.iter().zip(&global.base).enumerate() {
        let field = fields.next().ok_or_else(|| refused(index, "its GRIB sections were edited"))??;
        let outline = Outline::new(message, &field, index, originals.len())?;
        if !original.descriptor().shape().iter().eq(outline.shape.iter().copied()) {
            return Err(refused(index, "its shape is not that of its GRIB grid"));
        }
        if let Some(key) = first_difference(entry, &outline.entry()?) {
            return Err(refused(index, format_args!("{key} was edited, and GRIB sections cannot be")));
        }
    }
    if fields.next().is_some() {
        return Err(refused(originals.len(), "the GRIB sections were edited"));
    }
    let Some(options) = literal else { return Ok(()) };
    let options = GribOptions { limits: options.limits, ..GribOptions::default() };
    for (index, object) in objects(message, &options)?.iter().enumerate() {
        let original = originals.get(index);
        if original.is_none_or(|original| original.payload() != object.payload()) {
            return Err(refused(index, "its values were edited or encoded again, and its GRIB data cannot be"));
        }
    }
    Ok(())
}

/// The path of the first key that differs between the metadata and those that GRIB sections give.
fn first_difference(entry: &BTreeMap<String, Value>, made: &BTreeMap<String, Value>) -> Option<String> {
    [GRIB, MARS].into_iter().find_map(|name| {
        let map =
            |entry: &BTreeMap<String, Value>| entry.get(name).and_then(Value::as_map).cloned().unwrap_or_default();
        let (found, made) = (map(entry), map(made));
        // A key that is not there says nothing else than the sections: files of earlier versions have fewer keys.
        let differs = |(key, value): &&(Value, Value)| found.iter().any(|(name, old)| name == key && old != value);
        let changed = made.iter().find(differs).map(|(key, _)| key);
        let changed = changed.and_then(Value::as_text).map(|key| format!("{name}.{key}"));
        changed.or_else(|| (!made.is_empty() && !entry.contains_key(name)).then(|| name.to_string()))
    })
}

/// The paths of entries that GRIB has no place for. Who encoded the message, and when, is not among them.
fn not_kept(global: &GlobalMetadata) -> Vec<String> {
    let extra = global.extra.keys().map(|key| format!("extra.{key}"));
    let base = global.base.iter().enumerate().flat_map(|(index, entry)| {
        let known = [GRIB, MARS, RESERVED_KEY];
        let others = entry.keys().filter(move |key| !known.contains(&key.as_str()));
        others.map(move |key| format!("base.{index}.{key}"))
    });
    extra.chain(base).collect()
}
