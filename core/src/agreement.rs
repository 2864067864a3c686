//! Whether a message's lists of objects agree with its frames.
//!
//! An index lists where the objects are, and a hash list what their digests are. Both repeat what the frames say, so a
//! faulty or hostile writer can make them say something else. An index may lead to a frame inside another object's payload,
//! or leave an object out. The checks here compare both lists with the frames. Nothing else in the crate calls these
//! checks, so a program that does not use them does not contain their code.
//!
//! Time is linear in the message: the first list of a kind is compared with a walk, and further lists with the first.

use crate::error::{ErrorKind, Result};
use crate::frame::{Frame, Frames};
#[cfg(feature = "hash")]
use crate::hash::{HashPresence, digest};
#[cfg(feature = "hash")]
use crate::index::HashList;
use crate::index::{Index, IndexEntry};
use crate::message::Message;
use crate::wire::{FrameType, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble};
use zerocopy::FromBytes;

impl Message<'_> {
    /// Compares every index of the message with a walk over its frames: the number of objects, their order, their offsets
    /// and their lengths. The postamble may lead [`Self::object`] to another index, and that is compared too.
    ///
    /// After this has returned `Ok`, [`Self::object`] gives the same objects as [`Self::objects`], and so does a table of
    /// the index's entries. A message without an index passes. Reads frame headers, tails and indexes, but no payload:
    /// O(frames + bytes of indexes).
    ///
    /// # Errors
    /// [`ErrorKind::IndexEntry`] at the object that an entry should lead to, or at an index that differs from the first
    /// one; [`ErrorKind::IndexCount`] at the first object that is not listed, or where the frames end; the errors of the walk
    /// and of [`Index::parse`].
    pub fn verify_index(&self) -> Result<()> {
        let mut first = None;
        for frame in self.frames() {
            let frame = frame?;
            if matches!(frame.frame_type(), FrameType::HeaderIndex | FrameType::FooterIndex) {
                self.compare_index(&mut first, Index::parse(&frame)?, frame.offset())?;
            }
        }
        let followed = self.find_index()?;
        followed.map_or(Ok(()), |index| self.compare_index(&mut first, index, index.offsets().offset()))
    }

    /// Checks that the postamble leads to a place between the preamble and itself, as readers from the end rely on. If another
    /// frame than the footer's first one is there, such readers find no footer, and walk.
    ///
    /// # Errors
    /// [`ErrorKind::FooterOffset`] at the postamble; the errors of the walk.
    pub(crate) fn verify_footer_offset(&self) -> Result<()> {
        let end = for_each_object(self.frames(), |_| Ok(()))?;
        let end = self.total_length().map_or(end, |length| length.saturating_sub(POSTAMBLE_SIZE as u64));
        let postamble = usize::try_from(end).ok().and_then(|end| self.as_bytes().get(end..));
        let postamble = postamble.and_then(|bytes| Postamble::ref_from_prefix(bytes).ok());
        let (postamble, _) = postamble.ok_or(ErrorKind::Truncated.at(end))?;
        let is_inside = (PREAMBLE_SIZE as u64..=end).contains(&postamble.first_footer_offset.get());
        if is_inside { Ok(()) } else { Err(ErrorKind::FooterOffset.at(end)) }
    }

    /// Compares an index with a walk or, if there was a `first` index before, with that. `at` is the index's place.
    fn compare_index<'i>(&self, first: &mut Option<Index<'i>>, index: Index<'i>, at: u64) -> Result<()> {
        match first {
            None => {
                verify_entries(&index, self.frames())?;
                *first = Some(index);
                Ok(())
            }
            Some(first) if first.len() != index.len() => Err(ErrorKind::IndexCount.at(at)),
            Some(first) if first.iter().ne(index.iter()) => Err(ErrorKind::IndexEntry.at(at)),
            Some(_) => Ok(()),
        }
    }

    /// Compares every hash list of the message with the objects' own digests.
    ///
    /// An object's digest is the one in its frame. If `presence` says that the frame holds none, it is computed from the
    /// frame's body. Whether the digests in the frames are right is checked by [`Self::verify`]. Only this method finds
    /// objects that were exchanged together with their digests.
    ///
    /// Lists of another algorithm than xxh3 cannot be compared, and only their entries are counted; see [`HashList::is_xxh3`]. A message
    /// without lists passes. O(frames + bytes of lists) if the frames hold digests.
    ///
    /// # Errors
    /// [`ErrorKind::HashListEntry`] at the object concerned, or at a list that differs from the first one;
    /// [`ErrorKind::HashListCount`] at the first object that is not listed, or where the frames end; the errors of the walk and
    /// of [`HashList::parse`].
    #[cfg(feature = "hash")]
    pub fn verify_hash_lists(&self, presence: HashPresence) -> Result<()> {
        let mut first: Option<HashList<'_>> = None;
        for frame in self.frames() {
            let frame = frame?;
            if !matches!(frame.frame_type(), FrameType::HeaderHash | FrameType::FooterHash) {
                continue;
            }
            let list = HashList::parse(&frame)?;
            match &first {
                // Digests of another algorithm cannot be compared, but counted.
                _ if list.is_xxh3() != Some(true) => verify_count(&list, self.frames())?,
                None => {
                    verify_digests(&list, presence, self.frames())?;
                    first = Some(list);
                }
                Some(first) if first.len() != list.len() => return Err(ErrorKind::HashListCount.at(frame.offset())),
                Some(first) => {
                    for (one, other) in first.texts().zip(list.texts()) {
                        if !one?.chunks().flat_map(str::bytes).eq(other?.chunks().flat_map(str::bytes)) {
                            return Err(ErrorKind::HashListEntry.at(frame.offset()));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Compares the entries of an index with the data objects among `frames`.
fn verify_entries(index: &Index<'_>, frames: Frames<'_>) -> Result<()> {
    let mut entries = index.iter();
    let end = for_each_object(frames, |frame| match entries.next() {
        Some(IndexEntry { offset, length }) if offset == frame.offset() && length == frame.total_length() => Ok(()),
        Some(_) => Err(ErrorKind::IndexEntry.at(frame.offset())),
        None => Err(ErrorKind::IndexCount.at(frame.offset())),
    })?;
    if entries.next().is_none() { Ok(()) } else { Err(ErrorKind::IndexCount.at(end)) }
}

/// Compares the entries of a hash list with the digests of the data objects among `frames`.
#[cfg(feature = "hash")]
fn verify_digests(list: &HashList<'_>, presence: HashPresence, frames: Frames<'_>) -> Result<()> {
    let mut texts = list.texts();
    let end = for_each_object(frames, |frame| {
        let listed = texts.next().ok_or(ErrorKind::HashListCount.at(frame.offset()))??;
        let own = if presence.covers(frame) { frame.hash_slot() } else { digest(frame.body()) };
        let is_own = listed.chunks().flat_map(str::bytes).eq(hex_digits(own));
        if is_own { Ok(()) } else { Err(ErrorKind::HashListEntry.at(frame.offset())) }
    })?;
    if texts.next().is_none() { Ok(()) } else { Err(ErrorKind::HashListCount.at(end)) }
}

/// Compares the number of entries of a hash list with the number of data objects among `frames`.
#[cfg(feature = "hash")]
fn verify_count(list: &HashList<'_>, frames: Frames<'_>) -> Result<()> {
    let mut left = list.len();
    let end = for_each_object(frames, |frame| {
        left = left.checked_sub(1).ok_or(ErrorKind::HashListCount.at(frame.offset()))?;
        Ok(())
    })?;
    if left == 0 { Ok(()) } else { Err(ErrorKind::HashListCount.at(end)) }
}

/// Calls `check` with the frame of each data object, in order. Returns where the frames end.
fn for_each_object(mut frames: Frames<'_>, mut check: impl FnMut(&Frame<'_>) -> Result<()>) -> Result<u64> {
    for frame in frames.by_ref() {
        let frame = frame?;
        if frame.frame_type().is_data_object() {
            check(&frame)?;
        }
    }
    Ok(frames.position())
}

/// A digest as text: 16 lowercase hexadecimal digits.
#[cfg(feature = "hash")]
fn hex_digits(digest: u64) -> impl Iterator<Item = u8> {
    digest.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| match digit {
        0..=9 => digit.wrapping_add(b'0'),
        _ => digit.wrapping_add(b'a' - 10),
    })
}
