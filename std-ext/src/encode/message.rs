//! A message as it is written: preamble, frames, postamble (FORMAT §1.2, §1.9, §3.3 to §3.6, §4.3, §4.4).

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::wire::{
    END_MAGIC, FrameType, MAGIC, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble, WIRE_VERSION,
};
use zerocopy::IntoBytes;
use zerocopy::big_endian::{U16, U32, U64};

use crate::encode::frame::{frame_len, pad, padded, write_frame};
use crate::encode::object::Object;
use crate::encode::sink::Sink;
use crate::error::{Result, TensogramError};
use crate::framing::HashFramePolicy;
use crate::metadata::{global_metadata_to_cbor, hash_frame_to_cbor, index_to_cbor};
use crate::options::{AggregateHashPolicy, EncodeOptions, Provenance};
use crate::types::{DataObjectDescriptor, GlobalMetadata, HashFrame, IndexFrame};
use crate::{HASH_ALGORITHM_NAME, RESERVED_KEY};

/// Writes a whole message into memory of its size.
///
/// # Errors
/// [`TensogramError::Metadata`] for metadata that is no CBOR, [`TensogramError::Encoding`] for want of memory.
pub(crate) fn write_message(
    global: &GlobalMetadata,
    objects: &[Object<'_>],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let tensors = objects.iter().map(|object| tensor(&object.descriptor));
    let metadata = global_metadata_to_cbor(&completed(global, tensors, options)?)?;
    let lists =
        HashFramePolicy { header: options.aggregate_hash.in_header(), footer: options.aggregate_hash.in_footer() };
    write_frames(&metadata, objects, options.hashing, lists)
}

/// Writes a whole message around `metadata`, the CBOR of its metadata, which is all it will say of itself.
///
/// # Errors
/// As [`write_message`].
pub(crate) fn write_frames(
    metadata: &[u8],
    objects: &[Object<'_>],
    hashing: bool,
    lists: HashFramePolicy,
) -> Result<Vec<u8>> {
    let lens: Vec<u64> = objects.iter().map(Object::frame_len).collect();
    let listed = hashing && !objects.is_empty();
    let header_hashes = listed && lists.header;
    let footer_hashes = listed && lists.footer;
    // Digests are of one length, so that the list can be laid out before they are known.
    let mut hashes = if listed { hash_list(&vec![0; objects.len()])? } else { Vec::new() };
    let hashes_len = frame_len(hashes.len());

    let before_index = PREAMBLE_SIZE as u64 + padded(frame_len(metadata.len()));
    let behind_index = if header_hashes { padded(hashes_len) } else { 0 };
    let index = if objects.is_empty() { None } else { Some(index(&lens, before_index + behind_index)?) };
    let index_len = index.as_ref().map_or(0, |index| padded(frame_len(index.len())));
    let footer = before_index + index_len + behind_index + lens.iter().map(|len| padded(*len)).sum::<u64>();
    let postamble = footer + if footer_hashes { padded(hashes_len) } else { 0 };
    let total = postamble + POSTAMBLE_SIZE as u64;

    let mut flags = MessageFlags::HEADER_METADATA;
    for (is_set, flag) in [
        (index.is_some(), MessageFlags::HEADER_INDEX),
        (header_hashes, MessageFlags::HEADER_HASHES),
        (footer_hashes, MessageFlags::FOOTER_HASHES),
        (hashing, MessageFlags::HASHES_PRESENT),
    ] {
        flags |= if is_set { flag } else { 0 };
    }

    let mut out = Vec::new();
    let capacity = usize::try_from(total).map_err(|_| TensogramError::encoding("message overflows usize"))?;
    out.try_reserve_exact(capacity)
        .map_err(|_| TensogramError::encoding(format!("cannot allocate {total} bytes for the message")))?;
    write_preamble(&mut out, flags, total)?;
    write_frame(&mut out, FrameType::HeaderMetadata, metadata, hashing)?;
    if let Some(index) = &index {
        write_frame(&mut out, FrameType::HeaderIndex, index, hashing)?;
    }
    let header_hashes_at = out.len();
    if header_hashes {
        write_frame(&mut out, FrameType::HeaderHash, &hashes, hashing)?;
    }
    let mut digests = Vec::with_capacity(objects.len());
    for (object, len) in objects.iter().zip(lens) {
        digests.extend(object.write_to(&mut out, hashing)?);
        pad(&mut out, len)?;
    }
    if listed {
        hashes = hash_list(&digests)?;
    }
    if header_hashes {
        let mut frame = Vec::new();
        write_frame(&mut frame, FrameType::HeaderHash, &hashes, hashing)?;
        out.iter_mut().skip(header_hashes_at).zip(frame).for_each(|(out, byte)| *out = byte);
    }
    if footer_hashes {
        write_frame(&mut out, FrameType::FooterHash, &hashes, hashing)?;
    }
    write_postamble(&mut out, if footer_hashes { footer } else { postamble }, total)?;
    Ok(out)
}

impl AggregateHashPolicy {
    /// Whether a buffered message has the list in its header.
    const fn in_header(self) -> bool {
        matches!(self, Self::Auto | Self::Header | Self::Both)
    }

    /// Whether a buffered message has the list in its footer.
    const fn in_footer(self) -> bool {
        matches!(self, Self::Footer | Self::Both)
    }
}

/// Writes a preamble; a `total_length` of 0 is one that is not known.
///
/// # Errors
/// Those of the sink.
pub(crate) fn write_preamble(sink: &mut impl Sink, flags: u16, total_length: u64) -> Result<()> {
    let preamble = Preamble {
        magic: *MAGIC,
        version: U16::new(WIRE_VERSION),
        flags: U16::new(flags),
        reserved: U32::ZERO,
        total_length: U64::new(total_length),
    };
    sink.write(preamble.as_bytes())
}

/// Writes a postamble; a `total_length` of 0 is one that is not known.
///
/// # Errors
/// Those of the sink.
pub(crate) fn write_postamble(sink: &mut impl Sink, first_footer_offset: u64, total_length: u64) -> Result<()> {
    let postamble = Postamble {
        first_footer_offset: U64::new(first_footer_offset),
        total_length: U64::new(total_length),
        magic: *END_MAGIC,
    };
    sink.write(postamble.as_bytes())
}

/// The caller's metadata with what the library adds: an entry for each object, what it is, and who made the message.
///
/// `tensors` are what [`tensor`] makes of each object.
///
/// # Errors
/// Those of finding out who made it and when, where the options do not say.
pub(crate) fn completed(
    global: &GlobalMetadata,
    tensors: impl Iterator<Item = Value>,
    options: &EncodeOptions,
) -> Result<GlobalMetadata> {
    let mut completed = GlobalMetadata { base: Vec::new(), ..global.clone() };
    let mut entries = global.base.iter();
    for tensor in tensors {
        let mut entry = entries.next().cloned().unwrap_or_default();
        entry.insert(RESERVED_KEY.to_string(), map([("tensor", tensor)]));
        completed.base.push(entry);
    }
    completed.reserved.extend(provenance(options)?);
    Ok(completed)
}

/// What the metadata repeats of a descriptor (FORMAT §3.4).
pub(crate) fn tensor(descriptor: &DataObjectDescriptor) -> Value {
    let uints = |values: &[u64]| Value::Array(values.iter().map(|value| Value::from(*value)).collect());
    map([
        ("ndim", Value::from(descriptor.ndim)),
        ("dtype", Value::from(descriptor.dtype.name())),
        ("shape", uints(&descriptor.shape)),
        ("strides", uints(&descriptor.strides)),
    ])
}

/// Who made the message, and when (FORMAT §3.4).
fn provenance(options: &EncodeOptions) -> Result<BTreeMap<String, Value>> {
    let given = options.provenance.clone().map_or_else(Provenance::default_of_machine, Ok)?;
    let Provenance { time, uuid, encoder_name, encoder_version } = given;
    let encoder = map([("name", Value::from(encoder_name)), ("version", Value::from(encoder_version))]);
    let entries = [("time", Value::from(time)), ("uuid", Value::from(uuid)), ("encoder", encoder)];
    Ok(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

/// The index of objects whose frames are `lens` long and begin `start` bytes, and the index's own frame, into the message.
///
/// Offsets move the objects they point to by being longer, so it takes rounds until nothing moves; lengths only grow.
fn index(lens: &[u64], start: u64) -> Result<Vec<u8>> {
    let mut frame = 0;
    loop {
        let cbor = index_to_cbor(&IndexFrame { offsets: offsets(lens, start + frame), lengths: lens.to_vec() })?;
        let len = padded(frame_len(cbor.len()));
        if len <= frame {
            return Ok(cbor);
        }
        frame = len;
    }
}

/// Where frames of `lens` bytes begin, the first of them at `start`.
pub(crate) fn offsets(lens: &[u64], start: u64) -> Vec<u64> {
    let begin = |next: &mut u64, len: &u64| {
        let offset = *next;
        *next += padded(*len);
        Some(offset)
    };
    lens.iter().scan(start, begin).collect()
}

/// The list of objects' digests.
pub(crate) fn hash_list(digests: &[u64]) -> Result<Vec<u8>> {
    let hashes = digests.iter().map(|digest| format!("{digest:016x}")).collect();
    hash_frame_to_cbor(&HashFrame { algorithm: HASH_ALGORITHM_NAME.to_string(), hashes })
}
