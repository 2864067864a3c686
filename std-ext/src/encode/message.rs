//! A message as it is written: preamble, frames, postamble (FORMAT §1.2, §1.9, §3.3 to §3.6, §4.3, §4.4).

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::metadata::{BASE_KEY, EXTRA_KEY};
use tgm_core::wire::{
    END_MAGIC, FrameType, MAGIC, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble, WIRE_VERSION,
};
use zerocopy::IntoBytes;
use zerocopy::big_endian::{U16, U32, U64};

use crate::RESERVED_KEY;
use crate::cbor::Writer;
use crate::encode::frame::{frame_len, pad, padded, write_frame};
use crate::encode::object::Object;
use crate::encode::sink::Sink;
use crate::error::{Result, TensogramError};
use crate::framing::HashFramePolicy;
use crate::metadata::{hash_list_body, index_body};
use crate::options::{AggregateHashPolicy, EncodeOptions, Provenance};
use crate::types::{DataObjectDescriptor, Dtype, GlobalMetadata};

/// Writes a whole message into memory of its size.
///
/// # Errors
/// [`TensogramError::Metadata`] for metadata that is no CBOR, [`TensogramError::Encoding`] for want of memory.
pub(crate) fn write_message(
    global: &GlobalMetadata,
    objects: &[Object<'_>],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let tensors = objects.iter().map(|object| (Tensor::of(&object.descriptor), None));
    let metadata = completed(global, tensors, options)?;
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
    let mut hashes = if listed { hash_list_body(objects.iter().map(|_| 0))? } else { Vec::new() };
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
        hashes = hash_list_body(digests.into_iter())?;
    }
    if header_hashes {
        let mut frame = Vec::with_capacity(usize::try_from(padded(hashes_len)).unwrap_or(0));
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

/// What the metadata repeats of a descriptor (FORMAT §3.4).
#[derive(Clone, Debug)]
pub(crate) struct Tensor<'a> {
    ndim: u64,
    dtype: Dtype,
    shape: Cow<'a, [u64]>,
    strides: Cow<'a, [u64]>,
}

impl<'a> Tensor<'a> {
    pub(crate) fn of(descriptor: &'a DataObjectDescriptor) -> Self {
        let DataObjectDescriptor { ndim, dtype, shape, strides, .. } = descriptor;
        Self { ndim: *ndim, dtype: *dtype, shape: shape.into(), strides: strides.into() }
    }

    pub(crate) fn into_owned(self) -> Tensor<'static> {
        let Self { ndim, dtype, shape, strides } = self;
        Tensor { ndim, dtype, shape: shape.into_owned().into(), strides: strides.into_owned().into() }
    }

    fn write_to(&self, writer: &mut Writer) -> Result<()> {
        writer.map(4, |writer| {
            writer.entry("ndim", |writer| {
                writer.uint(self.ndim);
                Ok(())
            })?;
            write_text(writer, "dtype", self.dtype.name())?;
            writer.entry("shape", |writer| writer.uints(&self.shape))?;
            writer.entry("strides", |writer| writer.uints(&self.strides))
        })
    }
}

/// The caller's metadata with what the library adds: an entry for each object, what it is, and who made the message.
///
/// `objects` are what is repeated of each, and what a preceder said about it, which counts more than the caller's entry.
///
/// # Errors
/// Those of finding out who made it and when, where the options do not say, and of [`global_metadata_to_cbor`].
///
/// [`global_metadata_to_cbor`]: crate::metadata::global_metadata_to_cbor
pub(crate) fn completed<'a>(
    global: &GlobalMetadata,
    objects: impl ExactSizeIterator<Item = (Tensor<'a>, Option<&'a BTreeMap<String, Value>>)>,
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let (has_base, has_extra) = (objects.len() > 0, !global.extra.is_empty());
    let mut writer = Writer::new();
    writer.map(1 + usize::from(has_base) + usize::from(has_extra), |writer| {
        if has_base {
            writer.entry(BASE_KEY, |writer| write_base(writer, global, objects))?;
        }
        if has_extra {
            writer.entry(EXTRA_KEY, |writer| writer.entries_of(&global.extra))?;
        }
        writer.entry(RESERVED_KEY, |writer| write_provenance(writer, &global.reserved, options))
    })?;
    Ok(writer.into_bytes())
}

fn write_base<'a>(
    writer: &mut Writer,
    global: &GlobalMetadata,
    objects: impl ExactSizeIterator<Item = (Tensor<'a>, Option<&'a BTreeMap<String, Value>>)>,
) -> Result<()> {
    let none = BTreeMap::new();
    let mut entries = global.base.iter();
    writer.array(objects.len(), |writer| {
        for (tensor, preceder) in objects {
            let (entry, preceder) = (entries.next().unwrap_or(&none), preceder.unwrap_or(&none));
            let of_entry = || entry.iter().filter(|(key, _)| *key != RESERVED_KEY && !preceder.contains_key(*key));
            writer.map(of_entry().count() + preceder.len() + 1, |writer| {
                let mut both = of_entry().chain(preceder);
                both.try_for_each(|(key, value)| writer.entry(key, |writer| writer.value(value)))?;
                writer.entry(RESERVED_KEY, |writer| {
                    writer.map(1, |writer| writer.entry("tensor", |writer| tensor.write_to(writer)))
                })
            })?;
        }
        Ok(())
    })
}

/// Who made the message, and when (FORMAT §3.4), beside what `reserved` has.
fn write_provenance(writer: &mut Writer, reserved: &BTreeMap<String, Value>, options: &EncodeOptions) -> Result<()> {
    let made = options
        .provenance
        .as_ref()
        .map_or_else(|| Provenance::default_of_machine().map(Cow::Owned), |given| Ok(Cow::Borrowed(given)))?;
    let kept = || reserved.iter().filter(|(key, _)| !["time", "uuid", "encoder"].contains(&key.as_str()));
    writer.map(kept().count() + 3, |writer| {
        kept().try_for_each(|(key, value)| writer.entry(key, |writer| writer.value(value)))?;
        write_text(writer, "time", &made.time)?;
        write_text(writer, "uuid", &made.uuid)?;
        writer.entry("encoder", |writer| {
            writer.map(2, |writer| {
                write_text(writer, "name", &made.encoder_name)?;
                write_text(writer, "version", &made.encoder_version)
            })
        })
    })
}

/// Writes an entry that is a text.
fn write_text(writer: &mut Writer, key: &str, text: &str) -> Result<()> {
    writer.entry(key, |writer| {
        writer.text(text);
        Ok(())
    })
}

/// The index of objects whose frames are `lens` long and begin `start` bytes, and the index's own frame, into the message.
///
/// Offsets move the objects they point to by being longer, so it takes rounds until nothing moves; lengths only grow.
fn index(lens: &[u64], start: u64) -> Result<Vec<u8>> {
    let mut frame = 0;
    loop {
        let cbor = index_body(&offsets(lens, start + frame), lens)?;
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
