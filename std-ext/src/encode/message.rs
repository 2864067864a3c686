//! A whole message as it is written: preamble, frames, postamble (FORMAT §1.2, §1.9, §4.3, §4.4).
//!
//! The objects are written first, after an estimated room for the frames before them. Those frames list the lengths of
//! the objects, which are only known after compression. If the frames take more or less room than estimated, the
//! objects are moved once. Objects that are not compressed have known lengths. They can go to their places in a file right away.

mod completed;
mod ends;
mod fitting;
mod layout;

pub(crate) use completed::{Tensor, write_completed};
pub(crate) use ends::{preamble, write_postamble};
pub(crate) use fitting::fitting;

use std::io;

use tgm_codec::memory;
use tgm_core::wire::{FrameType, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE};
use zerocopy::IntoBytes;

use self::layout::{index_frame_len, offsets};
use crate::base::error::{Result, TensogramError};
use crate::base::interrupt;
use crate::base::options::EncodeOptions;
use crate::base::span::tail;
use crate::encode::checks;
use crate::encode::frame::{FrameForm, WrittenFrame, append_cbor_frame, frame_len, padded};
use crate::encode::object::Object;
use crate::encode::part_error::PartError;
use crate::encode::sink::{Output as _, Placed, Sink as _, Stream};
use crate::model::cbor::Writer;
use crate::model::metadata::{hash_list_len, write_global_metadata, write_hash_list, write_index};
use crate::model::types::GlobalMetadata;

/// A capacity that is mostly enough for everything before the objects, in bytes.
const USUAL_FRONT_LEN: usize = 1024;

/// The places where a message lists its objects' digests. A message without digests or without objects has no list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashFramePolicy {
    /// Before the objects.
    pub header: bool,
    /// After the objects.
    pub footer: bool,
}

/// A message that is ready to be written: its metadata, and its objects, of which some may have to be compressed.
#[derive(Debug)]
pub struct Prepared<'a> {
    front: Front,
    objects: Vec<Object<'a>>,
    form: FrameForm,
    lists: Lists,
}

impl<'a> Prepared<'a> {
    /// # Errors
    /// The errors of [`checks::message`]; [`TensogramError::Metadata`] for metadata that cannot be CBOR.
    pub(crate) fn new(
        global: &GlobalMetadata,
        objects: Vec<Object<'a>>,
        options: &EncodeOptions,
    ) -> Result<Self, PartError> {
        checks::message(global, objects.len()).map_err(PartError::of_all)?;
        let tensors = objects.iter().map(|object| (Tensor::of(&object.descriptor), None));
        let front = Front::new(options.hashing, |writer| write_completed(global, tensors, options, writer))?;
        let lists = Lists::of(options, objects.len());
        Ok(Self { front, objects, form: FrameForm::of(options), lists })
    }

    /// A message with the metadata as it is given, unchecked.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for metadata that cannot be CBOR.
    pub(crate) fn around(
        metadata: &GlobalMetadata,
        objects: Vec<Object<'a>>,
        hashing: bool,
        policy: HashFramePolicy,
    ) -> Result<Self, PartError> {
        let front = Front::new(hashing, |writer| write_global_metadata(metadata, writer))?;
        let lists = Lists::new(objects.len(), hashing, policy);
        Ok(Self { front, objects, form: FrameForm { hashing, descriptor_first: false }, lists })
    }

    /// The length of the message. `None` if it hangs on a compressor.
    pub(crate) fn len(&self) -> Option<u64> {
        let Self { front, objects, lists, .. } = self;
        let frames = objects.iter().map(|object| object.frame_len().map(padded)).sum::<Option<u64>>()?;
        Some(lists.front_len(front.len(), &objects.iter().map(Object::expected_len)) + frames + lists.back_len())
    }

    /// The message.
    ///
    /// # Errors
    /// As [`Self::write_to`].
    pub(crate) fn into_bytes(self) -> Result<Vec<u8>, PartError> {
        let mut message = Vec::new();
        self.write_to(&mut message)?;
        Ok(fitting(message))
    }

    /// Writes the message to `out` and replaces what it held.
    ///
    /// # Errors
    /// The errors of compressors, with the number of the object; [`TensogramError::Encoding`] if there is no memory.
    pub(crate) fn write_to(self, out: &mut Vec<u8>) -> Result<(), PartError> {
        let Self { front, objects, form, lists } = self;
        let expected = lists.front_len(front.len(), &objects.iter().map(Object::expected_len));
        let room = objects.iter().filter_map(Object::frame_len).map(padded).sum::<u64>();
        out.clear();
        reserve(out, expected + room + lists.back_len())?;
        out.resize(to_usize(expected)?, 0);
        let frames = write_objects(objects, form, out)?;
        complete(front, &lists, &frames, to_usize(expected)?, out)
    }

    /// Writes the message but for what lies before the objects, which it returns. `write_at` writes bytes at a place of the
    /// message. No object is copied.
    ///
    /// # Errors
    /// The errors of `write_at`; as [`Self::write_to`].
    pub(crate) fn write_behind_front(
        self,
        write_at: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> Result<Vec<u8>, PartError> {
        let Self { mut front, objects, form, lists } = self;
        let start = lists.front_len(front.len(), &objects.iter().map(Object::expected_len));
        let mut sink = Stream::new(Placed { write_at, at: start });
        let write = |(index, object): (usize, Object<'_>)| {
            interrupt::check().map_err(PartError::of_all)?;
            object.write_to(&mut sink, form).map_err(PartError::of(index))
        };
        let frames = objects.into_iter().enumerate().map(write).collect::<Result<Vec<_>, _>>()?;
        let mut back = Vec::new();
        let total = write_back(&lists, &frames, start + sink.written(), &mut back)?;
        sink.write(&back).and_then(|()| sink.send()).map_err(PartError::of_all)?;
        front.complete(&lists, &frames, start)?;
        let mut out = vec![0; to_usize(start)?];
        front.put_in_place(start, lists.flags(), total, &mut out)?;
        Ok(out)
    }
}

/// A message whose objects are written before it is known which ones follow.
#[derive(Debug)]
pub(crate) struct Growth {
    /// Room for the frames before the objects, then the objects.
    out: Vec<u8>,
    form: FrameForm,
    frames: Vec<WrittenFrame>,
    tensors: Vec<Tensor<'static>>,
}

impl Growth {
    pub(crate) fn new(options: &EncodeOptions) -> Self {
        let form = FrameForm::of(options);
        Self { out: vec![0; USUAL_FRONT_LEN], form, frames: Vec::new(), tensors: Vec::new() }
    }

    pub(crate) const fn object_count(&self) -> usize {
        self.frames.len()
    }

    /// Appends objects.
    ///
    /// # Errors
    /// As [`Prepared::write_to`].
    pub(crate) fn add(&mut self, objects: Vec<Object<'_>>) -> Result<(), PartError> {
        self.tensors.extend(objects.iter().map(|object| Tensor::of(&object.descriptor).into_owned()));
        // More than is needed, so that many small objects do not move the message each time. Memory that is never
        // written to takes no room.
        let needed = to_usize(objects.iter().map(|object| padded(object.expected_len())).sum())?;
        let reserved = self.out.try_reserve(needed);
        reserved.map_err(|_| PartError::of_all(TensogramError::encoding(format!("cannot allocate {needed} bytes"))))?;
        self.frames.extend(write_objects(objects, self.form, &mut self.out)?);
        Ok(())
    }

    /// Writes everything before and after the objects.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub(crate) fn finish(self, global: &GlobalMetadata, options: &EncodeOptions) -> Result<Vec<u8>, PartError> {
        let Self { mut out, frames, tensors, .. } = self;
        checks::message(global, frames.len()).map_err(PartError::of_all)?;
        let tensors = tensors.into_iter().map(|tensor| (tensor, None));
        let front = Front::new(options.hashing, |writer| write_completed(global, tensors, options, writer))?;
        complete(front, &Lists::of(options, frames.len()), &frames, USUAL_FRONT_LEN, &mut out)?;
        Ok(fitting(out))
    }
}

/// Moves the objects, which begin at byte `room`, to where they belong, and writes the frames around them.
fn complete(
    mut front: Front,
    lists: &Lists,
    frames: &[WrittenFrame],
    room: usize,
    out: &mut Vec<u8>,
) -> Result<(), PartError> {
    let lens = frames.iter().map(|frame| frame.len);
    let start = lists.front_len(front.len(), &lens);
    move_objects(out, room, to_usize(start)?)?;
    front.complete(lists, frames, start)?;
    let total = write_back(lists, frames, 0, out)?;
    front.put_in_place(start, lists.flags(), total, out)
}

/// The index and the lists of digests that a message has, and their lengths.
#[derive(Clone, Copy, Debug)]
struct Lists {
    /// The number of objects.
    count: usize,
    hashing: bool,
    header_hashes: bool,
    footer_hashes: bool,
}

impl Lists {
    /// The lists that the options ask for.
    const fn of(options: &EncodeOptions, count: usize) -> Self {
        let EncodeOptions { hashing, aggregate_hash, .. } = options;
        let policy = HashFramePolicy { header: aggregate_hash.in_header(), footer: aggregate_hash.in_footer() };
        Self::new(count, *hashing, policy)
    }

    const fn new(count: usize, hashing: bool, policy: HashFramePolicy) -> Self {
        let listed = hashing && count > 0;
        Self { count, hashing, header_hashes: listed && policy.header, footer_hashes: listed && policy.footer }
    }

    /// Bytes of a hash frame and its padding.
    const fn hashes_len(&self) -> u64 {
        padded(frame_len(FrameType::HeaderHash, hash_list_len(self.count)))
    }

    /// Bytes before the objects, whose frames are `lens` long. The metadata ends at byte `metadata_end`.
    fn front_len(&self, metadata_end: u64, lens: &(impl ExactSizeIterator<Item = u64> + Clone)) -> u64 {
        let without_index = metadata_end + if self.header_hashes { self.hashes_len() } else { 0 };
        without_index + index_frame_len(lens, without_index)
    }

    /// Bytes after the objects.
    const fn back_len(&self) -> u64 {
        POSTAMBLE_SIZE as u64 + if self.footer_hashes { self.hashes_len() } else { 0 }
    }

    /// The flags of the preamble.
    const fn flags(&self) -> u16 {
        let mut flags = MessageFlags::new(MessageFlags::HEADER_METADATA);
        if self.count > 0 {
            flags.set(MessageFlags::HEADER_INDEX);
        }
        if self.header_hashes {
            flags.set(MessageFlags::HEADER_HASHES);
        }
        if self.footer_hashes {
            flags.set(MessageFlags::FOOTER_HASHES);
        }
        if self.hashing {
            flags.set(MessageFlags::HASHES_PRESENT);
        }
        flags.bits()
    }
}

/// The part of the message before the objects: room for the preamble, then frames.
#[derive(Debug)]
struct Front {
    bytes: Vec<u8>,
}

impl Front {
    /// The part with the metadata that `write` writes.
    fn new(hashing: bool, write: impl FnOnce(&mut Writer<'_>) -> Result<()>) -> Result<Self, PartError> {
        let mut bytes = Vec::with_capacity(USUAL_FRONT_LEN);
        bytes.resize(PREAMBLE_SIZE, 0);
        let mut front = Self { bytes };
        front.frame(FrameType::HeaderMetadata, hashing, write)?;
        Ok(front)
    }

    const fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Adds a frame, whose body `write` writes.
    fn frame(
        &mut self,
        frame_type: FrameType,
        hashing: bool,
        write: impl FnOnce(&mut Writer<'_>) -> Result<()>,
    ) -> Result<(), PartError> {
        append_cbor_frame(&mut self.bytes, frame_type, hashing, write).map_err(PartError::of_all)
    }

    /// Adds index and digests of the objects' frames, which begin at byte `start`.
    fn complete(&mut self, lists: &Lists, frames: &[WrittenFrame], start: u64) -> Result<(), PartError> {
        if lists.count > 0 {
            let lens = frames.iter().map(|frame| frame.len);
            let offsets = offsets(lens.clone(), start);
            self.frame(FrameType::HeaderIndex, lists.hashing, |writer| write_index(offsets, lens, writer))?;
        }
        if lists.header_hashes {
            self.frame(FrameType::HeaderHash, lists.hashing, |writer| write_digests(frames, writer))?;
        }
        Ok(())
    }

    /// Copies everything to the beginning of `out`, where there are `room` bytes for it.
    fn put_in_place(&self, room: u64, flags: u16, total: u64, out: &mut [u8]) -> Result<(), PartError> {
        let frames = tail(&self.bytes, PREAMBLE_SIZE as u64);
        match out.get_mut(..self.bytes.len()).and_then(|out| out.split_at_mut_checked(PREAMBLE_SIZE)) {
            Some((before, after)) if self.len() == room => {
                before.copy_from_slice(preamble(flags, total).as_bytes());
                after.copy_from_slice(frames);
                Ok(())
            }
            _ => {
                let text = format!("the frames before the objects have {} bytes, {room} were computed", self.len());
                Err(PartError::of_all(TensogramError::encoding(text)))
            }
        }
    }
}

/// Appends the frames of all objects.
fn write_objects(objects: Vec<Object<'_>>, form: FrameForm, out: &mut Vec<u8>) -> Result<Vec<WrittenFrame>, PartError> {
    let mut frames = Vec::with_capacity(objects.len());
    for (index, object) in objects.into_iter().enumerate() {
        interrupt::check().map_err(PartError::of_all)?;
        let written = object.append_to(out, form);
        frames.push(written.map_err(PartError::of(index))?);
    }
    Ok(frames)
}

/// Appends what follows the objects. `out` begins at byte `at` of the message. Returns the length of the message.
fn write_back(lists: &Lists, frames: &[WrittenFrame], at: u64, out: &mut Vec<u8>) -> Result<u64, PartError> {
    let footer = at + out.len() as u64;
    reserve(out, lists.back_len())?;
    if lists.footer_hashes {
        append_cbor_frame(out, FrameType::FooterHash, lists.hashing, |writer| write_digests(frames, writer))
            .map_err(PartError::of_all)?;
    }
    let total = at + out.len() as u64 + POSTAMBLE_SIZE as u64;
    write_postamble(out, footer, total).map_err(PartError::of_all)?;
    Ok(total)
}

fn write_digests(frames: &[WrittenFrame], writer: &mut Writer<'_>) -> Result<()> {
    write_hash_list(frames.iter().map(|frame| frame.digest), writer)
}

/// Reserves room for `len` more bytes.
fn reserve(out: &mut Vec<u8>, len: u64) -> Result<(), PartError> {
    memory::reserve(out, to_usize(len)?).map_err(|error| PartError::of_all(error.into()))
}

fn to_usize(len: u64) -> Result<usize, PartError> {
    usize::try_from(len).map_err(|_| PartError::of_all(TensogramError::encoding("message overflows usize")))
}

/// Moves everything from byte `from` on so that it begins at byte `to`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_moved_with_no_more_memory_than_they_need() {
        let held: Vec<u8> = (0..100).collect();
        for (to, len) in [(40, 100), (70, 130), (10, 70)] {
            let mut out = Vec::with_capacity(held.len());
            out.extend_from_slice(&held);
            move_objects(&mut out, 40, to).unwrap();
            assert!(out.len() == len && out.ends_with(&held[40..]), "{to}");
            assert_eq!(out.capacity(), len.max(100), "{to}");
        }
    }

    #[test]
    fn frames_that_do_not_fit_their_room_are_an_error() {
        let (front, mut out) = (Front { bytes: vec![0; PREAMBLE_SIZE] }, vec![0; 100]);
        front.put_in_place(front.len(), 0, 100, &mut out).unwrap();
        for wrong in [front.len() - 1, front.len() + 8] {
            let error = front.put_in_place(wrong, 0, 100, &mut out).unwrap_err();
            assert!(error.error.to_string().contains("were computed"), "{}", error.error);
        }
    }
}
