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

use crate::base::error::{Result, TensogramError};
use crate::base::provenance;
use crate::encode::frame::{append_frame, frame_len, padded, write_frame};
use crate::encode::object::Planned;
use crate::encode::parts::PartError;
use crate::encode::sink::Sink;
use crate::model::cbor::{Writer, head_len};
use crate::model::metadata::RESERVED_KEY;

use crate::base::memory;
use crate::base::options::{AggregateHashPolicy, EncodeOptions};
use crate::model::metadata::{hash_list_len, write_hash_list, write_index};
use crate::model::types::{DataObjectDescriptor, Dtype, GlobalMetadata};

/// Bytes that are mostly enough for what comes before the objects.
const USUAL_FRONT_LEN: usize = 1024;

/// Where a message has a list of its objects' digests. None is written without hashing, nor without objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashFramePolicy {
    /// Before the objects.
    pub header: bool,
    /// After them.
    pub footer: bool,
}

/// Writes a whole message to `out`, in place of what it held.
///
/// # Errors
/// [`TensogramError::Metadata`] for metadata that is no CBOR, [`TensogramError::Encoding`] for want of memory; those of
/// compressors, with the object they concern.
pub(crate) fn write_message(
    global: &GlobalMetadata,
    objects: Vec<Planned<'_>>,
    options: &EncodeOptions,
    out: &mut Vec<u8>,
) -> Result<(), PartError> {
    let lists =
        HashFramePolicy { header: options.aggregate_hash.in_header(), footer: options.aggregate_hash.in_footer() };
    let mut front = Front::new();
    let tensors = objects.iter().map(|object| (Tensor::of(object.descriptor()), None));
    front.frame(FrameType::HeaderMetadata, options.hashing, |writer| {
        write_completed(global, tensors, options, writer)
    })?;
    write_frames(front, objects, options.hashing, lists, out)
}

/// Writes a whole message to `out`, in place of what it held, around `metadata`, the CBOR of its metadata, which is all
/// it will say of itself.
///
/// # Errors
/// As [`write_message`].
pub(crate) fn write_message_around(
    metadata: &[u8],
    objects: Vec<Planned<'_>>,
    hashing: bool,
    lists: HashFramePolicy,
    out: &mut Vec<u8>,
) -> Result<(), PartError> {
    let mut front = Front::new();
    write_frame(&mut front.bytes, FrameType::HeaderMetadata, metadata, hashing).map_err(PartError::of_all)?;
    write_frames(front, objects, hashing, lists, out)
}

/// What comes before the objects, in the making: room for the preamble, then frames.
struct Front {
    bytes: Vec<u8>,
}

impl Front {
    fn new() -> Self {
        let mut bytes = Vec::with_capacity(USUAL_FRONT_LEN);
        bytes.resize(PREAMBLE_SIZE, 0);
        Self { bytes }
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Adds a frame, whose body `write` writes.
    fn frame(
        &mut self,
        frame_type: FrameType,
        hashing: bool,
        write: impl FnOnce(&mut Writer<'_>) -> Result<()>,
    ) -> Result<(), PartError> {
        append_frame(&mut self.bytes, frame_type, hashing, write).map_err(PartError::of_all)
    }
}

/// Writes objects, behind room for the frames before them, and then these frames.
///
/// What is before the objects lists their lengths, and those of some are known only when they are written. They are
/// moved in the end if that took more or less room than thought, which happens where a length's own length differs.
fn write_frames(
    mut front: Front,
    objects: Vec<Planned<'_>>,
    hashing: bool,
    lists: HashFramePolicy,
    out: &mut Vec<u8>,
) -> Result<(), PartError> {
    let count = objects.len();
    let listed = hashing && count > 0;
    let (header_hashes, footer_hashes) = (listed && lists.header, listed && lists.footer);
    let hashes_len = padded(frame_len(hash_list_len(count)));
    let behind_index = if header_hashes { hashes_len } else { 0 };
    let thought =
        front.len() + index_len(&objects.iter().map(Planned::most), front.len() + behind_index) + behind_index;

    let behind = POSTAMBLE_SIZE as u64 + if footer_hashes { hashes_len } else { 0 };
    let room = objects.iter().map(|object| padded(object.room())).sum::<u64>();
    out.clear();
    reserve(out, thought + room + behind)?;
    out.resize(to_usize(thought)?, 0);
    let mut frames: Vec<(u64, Option<u64>)> = Vec::with_capacity(count);
    for (index, object) in objects.into_iter().enumerate() {
        let written = object.append_to(out, hashing);
        frames.push(written.map_err(|error| PartError { object_index: Some(index), error })?);
    }

    let lens = frames.iter().map(|(len, _)| *len);
    let start = front.len() + index_len(&lens, front.len() + behind_index) + behind_index;
    move_objects(out, to_usize(thought)?, to_usize(start)?)?;
    if count > 0 {
        let offsets = offsets(lens.clone(), start);
        front.frame(FrameType::HeaderIndex, hashing, |writer| write_index(offsets, lens, writer))?;
    }
    let write_hashes =
        |writer: &mut Writer<'_>| write_hash_list(frames.iter().map(|(_, digest)| digest.unwrap_or(0)), writer);
    if header_hashes {
        front.frame(FrameType::HeaderHash, hashing, write_hashes)?;
    }
    let footer = out.len() as u64;
    reserve(out, behind)?;
    if footer_hashes {
        append_frame(out, FrameType::FooterHash, hashing, write_hashes).map_err(PartError::of_all)?;
    }
    let total = out.len() as u64 + POSTAMBLE_SIZE as u64;
    write_postamble(out, footer, total).map_err(PartError::of_all)?;

    let mut flags = MessageFlags::HEADER_METADATA;
    for (is_set, flag) in [
        (count > 0, MessageFlags::HEADER_INDEX),
        (header_hashes, MessageFlags::HEADER_HASHES),
        (footer_hashes, MessageFlags::FOOTER_HASHES),
        (hashing, MessageFlags::HASHES_PRESENT),
    ] {
        flags |= if is_set { flag } else { 0 };
    }
    let frames = front.bytes.get(PREAMBLE_SIZE..).unwrap_or_default();
    match out.get_mut(..front.bytes.len()).and_then(|out| out.split_at_mut_checked(PREAMBLE_SIZE)) {
        Some((before, out)) if front.len() == start => {
            before.copy_from_slice(preamble(flags, total).as_bytes());
            out.copy_from_slice(frames);
            Ok(())
        }
        _ => Err(PartError::of_all(TensogramError::encoding("frames are not as long as they were thought to be"))),
    }
}

/// Makes room for `len` more bytes.
fn reserve(out: &mut Vec<u8>, len: u64) -> Result<(), PartError> {
    memory::reserve(out, to_usize(len)?).map_err(PartError::of_all)
}

fn to_usize(len: u64) -> Result<usize, PartError> {
    usize::try_from(len).map_err(|_| PartError::of_all(TensogramError::encoding("message overflows usize")))
}

/// Moves what begins at `from` so that it begins at `to`.
fn move_objects(out: &mut Vec<u8>, from: usize, to: usize) -> Result<(), PartError> {
    let len = out.len();
    if to > from {
        reserve(out, (to - from) as u64)?;
        out.resize(len + (to - from), 0);
    }
    if to != from {
        out.copy_within(from..len, to);
        out.truncate(len - from + to);
    }
    Ok(())
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

/// A preamble; a `total_length` of 0 is one that is not known.
pub(crate) fn preamble(flags: u16, total_length: u64) -> Preamble {
    Preamble {
        magic: *MAGIC,
        version: U16::new(WIRE_VERSION),
        flags: U16::new(flags),
        reserved: U32::ZERO,
        total_length: U64::new(total_length),
    }
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

    fn write_to(&self, writer: &mut Writer<'_>) -> Result<()> {
        writer.map(4, |writer| {
            writer.uint_entry("ndim", self.ndim);
            writer.text_entry("dtype", self.dtype.name());
            writer.entry("shape", |writer| writer.uints(self.shape.iter().copied()))?;
            writer.entry("strides", |writer| writer.uints(self.strides.iter().copied()))
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
/// [`global_metadata_to_cbor`]: crate::model::metadata::global_metadata_to_cbor
pub(crate) fn write_completed<'a>(
    global: &GlobalMetadata,
    objects: impl ExactSizeIterator<Item = (Tensor<'a>, Option<&'a BTreeMap<String, Value>>)>,
    options: &EncodeOptions,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let (has_base, has_extra) = (objects.len() > 0, !global.extra.is_empty());
    writer.map(1 + usize::from(has_base) + usize::from(has_extra), |writer| {
        if has_base {
            writer.entry(BASE_KEY, |writer| write_base(writer, global, objects))?;
        }
        if has_extra {
            writer.entry(EXTRA_KEY, |writer| writer.entries_of(&global.extra))?;
        }
        writer.entry(RESERVED_KEY, |writer| write_provenance(writer, &global.reserved, options))
    })
}

fn write_base<'a>(
    writer: &mut Writer<'_>,
    global: &GlobalMetadata,
    objects: impl ExactSizeIterator<Item = (Tensor<'a>, Option<&'a BTreeMap<String, Value>>)>,
) -> Result<()> {
    let none = BTreeMap::new();
    let mut entries = global.base.iter();
    writer.array(objects.len(), |writer| {
        for (tensor, preceder) in objects {
            let (entry, preceder) = (entries.next().unwrap_or(&none), preceder.unwrap_or(&none));
            let of_entry = || entry.iter().filter(|(key, _)| *key != RESERVED_KEY && !preceder.contains_key(*key));
            let others = of_entry().count() + preceder.len();
            writer.map_of(others + 1, others > 0, |writer| {
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
fn write_provenance(
    writer: &mut Writer<'_>,
    reserved: &BTreeMap<String, Value>,
    options: &EncodeOptions,
) -> Result<()> {
    let (version, name) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_NAME"));
    match &options.provenance {
        Some(given) => {
            write_made(writer, reserved, [&given.time, &given.uuid, &given.encoder_name, &given.encoder_version])
        }
        None => provenance::with_new(|time, uuid| write_made(writer, reserved, [time, uuid, name, version]))?,
    }
}

fn write_made(
    writer: &mut Writer<'_>,
    reserved: &BTreeMap<String, Value>,
    [time, uuid, name, version]: [&str; 4],
) -> Result<()> {
    let kept = || reserved.iter().filter(|(key, _)| !["time", "uuid", "encoder"].contains(&key.as_str()));
    let others = kept().count();
    writer.map_of(others + 3, others > 0, |writer| {
        kept().try_for_each(|(key, value)| writer.entry(key, |writer| writer.value(value)))?;
        writer.text_entry("time", time);
        writer.text_entry("uuid", uuid);
        writer.entry("encoder", |writer| {
            writer.map(2, |writer| {
                writer.text_entry("name", name);
                writer.text_entry("version", version);
                Ok(())
            })
        })
    })
}

/// Bytes of the index's frame and its padding, if there are objects: their frames are `lens` long, and begin `start` bytes
/// into the message, and the index's own frame.
///
/// Offsets move the objects they point to by being longer, so it takes rounds until nothing moves; lengths only grow.
fn index_len(lens: &(impl ExactSizeIterator<Item = u64> + Clone), start: u64) -> u64 {
    if lens.len() == 0 {
        return 0;
    }
    // A map of two entries; a name is of seven letters, and an array has a head.
    let names = 1 + 2 * (8 + head_len(lens.len() as u64));
    let mut frame = 0;
    loop {
        let heads = lens.clone().scan(start + frame, |next, len| {
            let offset = *next;
            *next += padded(len);
            Some(head_len(len) + head_len(offset))
        });
        let len = padded(frame_len(names + heads.sum::<u64>()));
        if len <= frame {
            return frame;
        }
        frame = len;
    }
}

/// Where frames of `lens` bytes begin, the first of them at `start`.
pub(crate) fn offsets(lens: impl ExactSizeIterator<Item = u64>, start: u64) -> impl ExactSizeIterator<Item = u64> {
    let mut next = start;
    lens.map(move |len| {
        let offset = next;
        next += padded(len);
        offset
    })
}
