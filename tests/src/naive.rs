//! A plain, slow decoder straight from FORMAT.md: indexing, copies, `ciborium`, and no code of `tgm_core`.
//!
//! It is the oracle that views are compared with, so it is written to be read: no laziness, no limits. It takes exactly
//! one message. It knows the encodings `none` and `simple_packing`, the filter `shuffle`, the compressions `lz4`,
//! `zstd`,
//! `rle` and `roaring`, and every mask method but `blosc2`. Anything else is an error, which is a text.
#![allow(clippy::cast_possible_truncation, reason = "lengths were compared with lengths of slices")]
#![allow(clippy::cast_precision_loss, reason = "rounding is what the format's formula does")]

use std::collections::BTreeMap;

use ciborium::Value;

/// A map with text keys.
pub type Entries = BTreeMap<String, Value>;
/// A result whose error is a text.
pub type Result<T> = std::result::Result<T, String>;

/// A message, decoded.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its frames, in order.
    pub frames: Vec<Frame>,
    /// `base`, with the preceders laid over it.
    pub base: Vec<Entries>,
    /// `_extra_`, with the unknown top-level keys.
    pub extra: Entries,
    /// `_reserved_`.
    pub reserved: Entries,
    /// Its objects, in order.
    pub objects: Vec<Object>,
}

/// A frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The type's number.
    pub frame_type: u16,
    /// Bytes from the message's start.
    pub offset: u64,
    /// Bytes from the header to `ENDF`, both included.
    pub length: u64,
    /// The header's flags.
    pub flags: u16,
    /// The hash slot.
    pub hash: u64,
    /// The body: the bytes that the digest covers.
    pub body: Vec<u8>,
    /// Bytes from the frame's start to the descriptor; 0 in frames other than type 9.
    pub cbor_offset: u64,
}

/// A data object.
#[derive(Clone, Debug)]
pub struct Object {
    /// The whole descriptor.
    pub descriptor: Entries,
    /// Product of the shape.
    pub count: usize,
    /// Little-endian values in C order, with NaN and infinities restored; or the error.
    pub values: Result<Vec<u8>>,
}

/// Decodes `bytes`, which must be exactly one message.
///
/// # Errors
/// A text, for input that FORMAT §1.10 refuses.
pub fn decode(bytes: &[u8]) -> Result<Message> {
    let frames = frames(bytes)?;
    let metadata = frames.iter().rfind(|frame| matches!(frame.frame_type, 1 | 7)).ok_or("no metadata frame")?;
    let mut top = text_map(parse(&metadata.body)?.0)?;
    let mut base: Vec<Entries> = match top.remove("base") {
        None => Vec::new(),
        Some(Value::Array(entries)) => entries.into_iter().map(text_map).collect::<Result<_>>()?,
        Some(_) => return Err("base is not an array".into()),
    };
    let mut section = |name: &str| top.remove(name).map_or(Ok(Entries::new()), text_map);
    let (mut extra, reserved) = (section("_extra_")?, section("_reserved_")?);
    for (key, value) in top {
        let is_legacy = key == "version" && value.is_integer();
        match extra.contains_key(&key) {
            false => drop(extra.insert(key, value)),
            true if is_legacy => {}
            true => return Err(format!("{key} is ambiguous")),
        }
    }
    let mut objects = Vec::new();
    let mut preceder = None;
    let count = frames.iter().filter(|frame| frame.frame_type == 9).count();
    if base.len() > count {
        return Err("base has more entries than there are objects".into());
    }
    base.resize(count, Entries::new());
    for frame in &frames {
        match frame.frame_type {
            8 => preceder = Some(preceder_entry(&frame.body)?),
            9 => {
                base[objects.len()].extend(preceder.take().unwrap_or_default());
                objects.push(object(frame)?);
            }
            _ => {}
        }
    }
    Ok(Message { frames, base, extra, reserved, objects })
}

fn preceder_entry(body: &[u8]) -> Result<Entries> {
    let mut top = text_map(parse(body)?.0)?;
    match top.remove("base") {
        Some(Value::Array(mut entries)) if entries.len() == 1 => {
            let mut entry = text_map(entries.remove(0))?;
            entry.remove("_reserved_");
            Ok(entry)
        }
        _ => Err("a preceder has one base entry".into()),
    }
}

/// The frames, with every check of FORMAT §1.10 that concerns them.
fn frames(bytes: &[u8]) -> Result<Vec<Frame>> {
    if bytes.len() < 48 || &bytes[..8] != b"TENSOGRM" || u16_at(bytes, 8) != 3 {
        return Err("no message of version 3".into());
    }
    if &bytes[bytes.len() - 8..] != b"39277777" {
        return Err("no end magic".into());
    }
    let (length, copy) = (u64_at(bytes, 16), u64_at(bytes, bytes.len() - 16));
    if length != 0 && (length != bytes.len() as u64 || (copy != 0 && copy != length)) {
        return Err("lengths disagree".into());
    }
    let end = bytes.len() - 24;
    let mut frames = Vec::new();
    let mut position = 24;
    let (mut phase, mut pending) = (0, false);
    while let Some(gap) = bytes[position..end].windows(2).position(|pair| pair == b"FR") {
        position += gap;
        let frame = frame(&bytes[position..end], position as u64)?;
        position += frame.length as usize;
        let frame_phase = match frame.frame_type {
            1..=3 => 0,
            8 | 9 => 1,
            _ => 2,
        };
        if frame_phase < phase || (pending && frame.frame_type != 9) {
            return Err("frames out of order".into());
        }
        (phase, pending) = (frame_phase, frame.frame_type == 8);
        frames.push(frame);
    }
    if pending { Err("dangling preceder".into()) } else { Ok(frames) }
}

fn frame(bytes: &[u8], offset: u64) -> Result<Frame> {
    if bytes.len() < 16 {
        return Err("frame header cut short".into());
    }
    let (frame_type, flags, length) = (u16_at(bytes, 2), u16_at(bytes, 6), u64_at(bytes, 8));
    let tail = match frame_type {
        9 => 20,
        1..=3 | 5..=8 => 12,
        _ => return Err(format!("frame type {frame_type}")),
    };
    if length < 16 + tail || length > bytes.len() as u64 {
        return Err("frame length".into());
    }
    let frame = &bytes[..length as usize];
    let body_end = frame.len() - tail as usize;
    if &frame[frame.len() - 4..] != b"ENDF" {
        return Err("no ENDF".into());
    }
    let cbor_offset = if frame_type == 9 { u64_at(frame, body_end) } else { 0 };
    if frame_type == 9 && !(16..=body_end as u64).contains(&cbor_offset) {
        return Err("cbor_offset".into());
    }
    let (hash, body) = (u64_at(frame, frame.len() - 12), frame[16..body_end].to_vec());
    Ok(Frame { frame_type, offset, length, flags, hash, body, cbor_offset })
}

fn object(frame: &Frame) -> Result<Object> {
    let (before, from_cbor) = frame.body.split_at(frame.cbor_offset as usize - 16);
    let (descriptor, after) = parse(from_cbor)?;
    let region = if frame.flags & 1 == 1 { before } else { after };
    let descriptor = text_map(descriptor)?;
    let shape = descriptor.get("shape").and_then(Value::as_array).ok_or("shape")?;
    let shape: Vec<usize> = shape.iter().map(uint).collect::<Result<_>>()?;
    let count = shape.iter().product();
    let values = values(&descriptor, region, count);
    Ok(Object { descriptor, count, values })
}

/// Runs the pipeline backwards (FORMAT §5.3, PIPELINE §2).
fn values(descriptor: &Entries, region: &[u8], count: usize) -> Result<Vec<u8>> {
    let masks = masks(descriptor, region, count)?;
    let first_mask = masks.iter().map(|mask| mask.0).min().unwrap_or(region.len());
    let dtype = text(descriptor, "dtype")?;
    let (width, unit) = dtype_sizes(dtype)?;
    let bits = descriptor.get("sp_bits_per_value").or_else(|| descriptor.get("bits_per_value"));
    let stored_len = match text(descriptor, "encoding")? {
        "simple_packing" => (count * uint(bits.ok_or("no bits")?)?).div_ceil(8),
        _ if dtype == "bitmask" => count.div_ceil(8),
        _ => count * width,
    };
    let stored = decompress(text(descriptor, "compression")?, &region[..first_mask], stored_len)?;
    let stored = match text(descriptor, "filter")? {
        "none" => stored,
        "shuffle" => unshuffle(&stored, uint(descriptor.get("shuffle_element_size").ok_or("no element size")?)?)?,
        other => return Err(format!("filter {other}")),
    };
    if stored.len() != stored_len {
        return Err(format!("{} bytes stored, {stored_len} expected", stored.len()));
    }
    let mut values = match text(descriptor, "encoding")? {
        "none" if descriptor.get("byte_order").and_then(Value::as_text) == Some("big") && unit > 1 => {
            stored.chunks(unit).flat_map(|scalar| scalar.iter().rev().copied()).collect()
        }
        "none" => stored,
        "simple_packing" => unpack(descriptor, &stored, count)?,
        other => return Err(format!("encoding {other}")),
    };
    for (_, kind, bits) in masks {
        let element = restored(dtype, kind)?;
        for (index, _) in bits.iter().enumerate().filter(|(_, set)| **set) {
            values[index * width..][..width].copy_from_slice(&element);
        }
    }
    Ok(values)
}

/// Bytes of an element, and of the scalar whose bytes are swapped.
fn dtype_sizes(dtype: &str) -> Result<(usize, usize)> {
    Ok(match dtype {
        "bitmask" => (0, 0),
        "int8" | "uint8" => (1, 1),
        "float16" | "bfloat16" | "int16" | "uint16" => (2, 2),
        "float32" | "int32" | "uint32" => (4, 4),
        "float64" | "int64" | "uint64" => (8, 8),
        "complex64" => (8, 4),
        "complex128" => (16, 8),
        other => return Err(format!("dtype {other}")),
    })
}

fn decompress(codec: &str, payload: &[u8], len: usize) -> Result<Vec<u8>> {
    match codec {
        "none" => Ok(payload.to_vec()),
        "lz4" => {
            let claimed = payload.first_chunk().map(|prefix| u32::from_le_bytes(*prefix) as usize);
            if claimed != Some(len) {
                return Err("lz4 length".into());
            }
            lz4_flex::decompress(&payload[4..], len).map_err(|error| error.to_string())
        }
        "zstd" => zstd::decode_all(payload).map_err(|error| error.to_string()),
        "rle" | "roaring" => {
            let count = payload.first_chunk().map(|prefix| u32::from_be_bytes(*prefix) as usize);
            if count != Some(len * 8) {
                return Err(format!("{codec} bit count"));
            }
            Ok(crate::builder::pack_bits(&bitmap(codec, &payload[4..], len * 8)?))
        }
        other => Err(format!("compression {other}")),
    }
}

/// Offset, kind and bits of each mask.
fn masks(descriptor: &Entries, region: &[u8], count: usize) -> Result<Vec<(usize, &'static str, Vec<bool>)>> {
    let Some(Value::Map(entries)) = descriptor.get("masks") else { return Ok(Vec::new()) };
    let mut masks = Vec::new();
    for kind in ["nan", "inf+", "inf-"] {
        let Some((_, entry)) = entries.iter().rfind(|(key, _)| key.as_text() == Some(kind)) else { continue };
        let entry = text_map(entry.clone())?;
        let number = |key: &str| uint(entry.get(key).ok_or("mask entry")?);
        let (offset, length) = (number("offset")?, number("length")?);
        let blob = region.get(offset..offset + length).ok_or("mask beyond the region")?;
        masks.push((offset, kind, bitmap(text(&entry, "method")?, blob, count)?));
    }
    Ok(masks)
}

fn bitmap(method: &str, blob: &[u8], count: usize) -> Result<Vec<bool>> {
    let bits: Vec<bool> = match method {
        "none" | "lz4" | "zstd" => {
            let bytes = decompress(method, blob, count.div_ceil(8))?;
            if bytes.len() != count.div_ceil(8) {
                return Err("mask length".into());
            }
            (0..count).map(|at| bytes[at / 8] >> (7 - at % 8) & 1 == 1).collect()
        }
        "rle" => runs(blob)?,
        "roaring" => {
            let set = roaring::RoaringBitmap::deserialize_from(blob).map_err(|error| error.to_string())?;
            if set.max().is_some_and(|max| max as usize >= count) {
                return Err("roaring beyond the elements".into());
            }
            (0_u32..).take(count).map(|at| set.contains(at)).collect()
        }
        other => return Err(format!("mask method {other}")),
    };
    if bits.len() == count { Ok(bits) } else { Err("mask length".into()) }
}

fn runs(blob: &[u8]) -> Result<Vec<bool>> {
    let Some((&first, mut rest)) = blob.split_first() else { return Ok(Vec::new()) };
    let mut bit = match first {
        0 => false,
        1 => true,
        _ => return Err("rle start".into()),
    };
    let mut bits = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| byte & 0x80 == 0).ok_or("rle run does not end")?;
        let length = rest[..=end].iter().rev().fold(0_usize, |length, byte| length << 7 | usize::from(byte & 0x7f));
        if length == 0 {
            return Err("rle run is empty".into());
        }
        bits.resize(bits.len() + length, bit);
        bit = !bit;
        rest = &rest[end + 1..];
    }
    Ok(bits)
}

fn unshuffle(bytes: &[u8], element_size: usize) -> Result<Vec<u8>> {
    if element_size == 0 || !bytes.len().is_multiple_of(element_size) {
        return Err("element size".into());
    }
    let count = bytes.len() / element_size;
    Ok((0..bytes.len()).map(|at| bytes[at % element_size * count + at / element_size]).collect())
}

/// `R + (2^E · 10^-D) · q`, bit by bit.
fn unpack(descriptor: &Entries, packed: &[u8], count: usize) -> Result<Vec<u8>> {
    let get = |key: &str| descriptor.get(&format!("sp_{key}")).or_else(|| descriptor.get(key)).ok_or(key.to_owned());
    let int = |key: &str| get(key)?.as_integer().and_then(|n| i32::try_from(n).ok()).ok_or(key.to_owned());
    let reference = match get("reference_value")? {
        Value::Float(value) => *value,
        other => i128::from(other.as_integer().ok_or("reference_value")?) as f64,
    };
    let scale = 2_f64.powi(int("binary_scale_factor")?) * 10_f64.powi(-int("decimal_scale_factor")?);
    let width = uint(get("bits_per_value")?)?;
    let bit = |at: usize| u64::from(packed[at / 8] >> (7 - at % 8) & 1);
    let value = |i: usize| reference + scale * ((i * width..(i + 1) * width).fold(0, |q, at| q << 1 | bit(at)) as f64);
    Ok((0..count).flat_map(|i| value(i).to_le_bytes()).collect())
}

/// The element that stands for NaN or an infinity, little-endian (FORMAT §5.3).
fn restored(dtype: &str, kind: &str) -> Result<Vec<u8>> {
    let patterns = |nan: u64, inf: u64, negative: u64| match kind {
        "nan" => nan,
        "inf+" => inf,
        _ => negative,
    };
    let (bits, width, parts) = match dtype {
        "float16" => (patterns(0x7e00, 0x7c00, 0xfc00), 2, 1),
        "bfloat16" => (patterns(0x7fc0, 0x7f80, 0xff80), 2, 1),
        "float32" => (patterns(0x7fc0_0000, 0x7f80_0000, 0xff80_0000), 4, 1),
        "complex64" => (patterns(0x7fc0_0000, 0x7f80_0000, 0xff80_0000), 4, 2),
        "float64" => (patterns(0x7ff8 << 48, 0x7ff0 << 48, 0xfff0 << 48), 8, 1),
        "complex128" => (patterns(0x7ff8 << 48, 0x7ff0 << 48, 0xfff0 << 48), 8, 2),
        other => return Err(format!("masks on {other}")),
    };
    Ok(bits.to_le_bytes()[..width].repeat(parts))
}

/// The value at a dotted path in one map (FORMAT §7.4).
pub fn descend<'v>(entries: &'v Entries, path: &str) -> Option<&'v Value> {
    let mut segments = path.split('.');
    let mut value = entries.get(segments.next()?)?;
    for segment in segments {
        value = &value.as_map()?.iter().rfind(|(key, _)| key.as_text() == Some(segment))?.1;
    }
    Some(value)
}

impl Message {
    /// The value at a dotted path at message level (FORMAT §7.4).
    pub fn get(&self, path: &str) -> Option<&Value> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        match first {
            "" => None,
            "_reserved_" => descend(&self.extra, path),
            "_extra_" | "extra" => descend(&self.extra, rest?),
            _ => self.base.iter().find_map(|entry| descend(entry, path)).or_else(|| descend(&self.extra, path)),
        }
    }

    /// The value at a dotted path in the metadata of object `index`.
    pub fn get_at(&self, index: usize, path: &str) -> Option<&Value> {
        let first = path.split('.').next()?;
        if matches!(first, "" | "_reserved_") { None } else { descend(self.base.get(index)?, path) }
    }
}

/// A CBOR item, and what follows it.
fn parse(bytes: &[u8]) -> Result<(Value, &[u8])> {
    let mut rest = bytes;
    let value = ciborium::from_reader(&mut rest).map_err(|error| error.to_string())?;
    Ok((value, rest))
}

/// A map with text keys; of entries with the same key the last one counts.
fn text_map(value: Value) -> Result<Entries> {
    let Value::Map(entries) = value else { return Err("no map".into()) };
    let entries = entries.into_iter().map(|(key, value)| Ok((key.into_text().map_err(|_| "key is not text")?, value)));
    entries.collect()
}

fn text<'v>(entries: &'v Entries, key: &str) -> Result<&'v str> {
    entries.get(key).and_then(Value::as_text).ok_or(format!("no {key}"))
}

fn uint(value: &Value) -> Result<usize> {
    value.as_integer().and_then(|n| usize::try_from(n).ok()).ok_or("no unsigned integer".to_owned())
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
