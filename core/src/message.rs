//! One message: opened in O(1), walked as far as asked.
//!
//! ```text
//! preamble │ header frames │ { [preceder] object } … │ footer frames │ postamble
//! ```

use core::fmt;
use core::iter::FusedIterator;

use zerocopy::FromBytes;

use crate::error::{Error, ErrorKind, Result};
use crate::frame::{Frame, Frames};
#[cfg(feature = "hash")]
use crate::hash::{HashPresence, Verify};
use crate::index::{Index, IndexEntry};
use crate::metadata::{MessageMetadata, Metadata};
use crate::object::DataObject;
use crate::phase::DecodePhase;
use crate::target::IS_SMALL;
use crate::wire::{
    END_MAGIC, FrameType, MAGIC, MIN_MESSAGE_SIZE, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble,
    WIRE_VERSION,
};

/// A message, borrowed from the bytes `'a`.
///
/// Holding a `Message` means: the preamble says version 3. If it also states the length, all bytes of the message are
/// present, and a postamble that agrees ends them. Nothing between the two was read. Each method says what it reads.
///
/// ```
/// use tgm_core::message::Message;
///
/// # fn main() -> tgm_core::Result<()> {
/// # let bytes: &[u8] = include_bytes!("../samples/float32-little.tgm");
/// let message = Message::parse(bytes)?;
/// for object in message.objects() {
///     let object = object?;
///     let descriptor = object.descriptor();
///     println!("{} {:?}: {} bytes", descriptor.dtype(), descriptor.shape(), object.payload().len());
/// }
/// let values = message.object(0)?.view::<f32>()?;
/// assert_eq!(values.iter().count() as u64, message.object(0)?.descriptor().element_count());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Message<'a> {
    bytes: &'a [u8],
    preamble: &'a Preamble,
    postamble: Option<&'a Postamble>,
}

impl<'a> Message<'a> {
    /// Opens the message that `bytes` begin with. O(1): reads the preamble and the postamble.
    ///
    /// If the preamble states the length, further bytes are ignored. A streamed message does not state its length: it ends
    /// at the first postamble between its frames, and only a walk over the frames finds that. `bytes` may then be the slice
    /// that [`crate::scan`] found, or any slice that begins with the message.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`], [`ErrorKind::StartMagic`], [`ErrorKind::Version`], [`ErrorKind::TooLarge`],
    /// [`ErrorKind::MessageTooSmall`], [`ErrorKind::MessageExceedsBuffer`], [`ErrorKind::EndMagic`],
    /// [`ErrorKind::TotalLengthMismatch`].
    ///
    /// Format: FORMAT §1.9, §1.10 rows 1 to 6.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (preamble, _) = Preamble::ref_from_prefix(bytes).map_err(|_| ErrorKind::Truncated.at_index(bytes.len()))?;
        let total_length = check_preamble(preamble, bytes.len() as u64)?;
        let Some(total_length) = total_length else {
            return Self::open_ended(bytes, preamble);
        };
        let at = Preamble::TOTAL_LENGTH_OFFSET;
        let len = usize::try_from(total_length).map_err(|_| ErrorKind::TooLarge.at_index(at))?;
        let bytes = bytes.get(..len).ok_or(ErrorKind::MessageExceedsBuffer.at_index(at))?;
        let (_, postamble) = Postamble::ref_from_suffix(bytes).map_err(|_| ErrorKind::MessageTooSmall.at_index(len))?;
        check_postamble(postamble, total_length)?;
        Ok(Self { bytes, preamble, postamble: Some(postamble) })
    }

    /// Opens a message that does not state its length. If the bytes end with a postamble, it is probably the message's.
    fn open_ended(bytes: &'a [u8], preamble: &'a Preamble) -> Result<Self> {
        if bytes.len() < MIN_MESSAGE_SIZE {
            return Err(ErrorKind::Truncated.at_index(bytes.len()));
        }
        let last = Postamble::ref_from_suffix(bytes).ok().map(|(_, postamble)| postamble);
        Ok(Self { bytes, preamble, postamble: last.filter(|postamble| postamble.magic == *END_MAGIC) })
    }

    /// The message's bytes. If the message does not state its length: all bytes that were given.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The preamble, borrowed from the bytes.
    pub const fn preamble(&self) -> &'a Preamble {
        self.preamble
    }

    /// The postamble, borrowed from the bytes. If the message does not state its length: the last 24 bytes that were given,
    /// if they look like a postamble.
    pub const fn postamble(&self) -> Option<&'a Postamble> {
        self.postamble
    }

    /// The flags: what the writer intended to put into the message. They are advisory.
    pub const fn flags(&self) -> MessageFlags {
        self.preamble.flags()
    }

    /// Bytes of the message as the preamble states them; `None` for a streamed message.
    pub const fn total_length(&self) -> Option<u64> {
        match self.preamble.total_length.get() {
            0 => None,
            length => Some(length),
        }
    }

    /// The frames in order. Each frame is checked when the iterator reaches it.
    pub fn frames(&self) -> Frames<'a> {
        self.frames_from(PREAMBLE_SIZE as u64)
    }

    /// The frames from byte `position` on, for a walk that was left there in `phase`. O(1).
    ///
    /// [`Frames::position`] and [`Frames::phase`] tell both, so a walk can be kept without its borrow. The numbers are not
    /// trusted: at a place that no walk came to, the frames are errors, or what happens to be there. The new walk
    /// knows of the digests what the preamble says, and the frames from here on.
    ///
    /// ```
    /// # let bytes: &[u8] = include_bytes!("../samples/float32-little.tgm");
    /// let message = tgm_core::Message::parse(bytes)?;
    /// let (mut position, mut phase, mut count) = (message.frames().position(), message.frames().phase(), 0);
    /// loop {
    ///     let mut frames = message.frames_at(position, phase);
    ///     let Some(frame) = frames.next().transpose()? else { break };
    ///     assert_eq!(Some(frame.offset()), message.frames().nth(count).transpose()?.map(|frame| frame.offset()));
    ///     (position, phase, count) = (frames.position(), frames.phase(), count + 1);
    /// }
    /// assert_eq!(message.frames().count(), count);
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    pub fn frames_at(&self, position: u64, phase: DecodePhase) -> Frames<'a> {
        self.frames_from(position).in_phase(phase)
    }

    /// The frames that begin at byte `start` of the message.
    fn frames_from(&self, start: u64) -> Frames<'a> {
        let frames = Frames::new(self.frame_bytes(start), start, self.total_length().is_none());
        #[cfg(feature = "hash")]
        let frames = frames.of_message(self.flags());
        frames
    }

    /// The bytes from `start` to where frames end. Empty if `start` is not between preamble and end.
    fn frame_bytes(&self, start: u64) -> &'a [u8] {
        let end = match self.total_length() {
            Some(_) => self.bytes.len().saturating_sub(POSTAMBLE_SIZE),
            None => self.bytes.len(),
        };
        let start = usize::try_from(start).ok().filter(|&start| start >= PREAMBLE_SIZE);
        start.and_then(|start| self.bytes.get(start..end)).unwrap_or_default()
    }

    /// The data objects in order. Each descriptor is read when the iterator reaches it.
    pub fn objects(&self) -> Objects<'a> {
        Objects { frames: self.frames() }
    }

    /// The data object with this index.
    ///
    /// If the message has an index frame, this reads the header's frames, the index up to the entry, and the object.
    /// Without an index frame, and for the first object, it walks over the frames before the object.
    ///
    /// # An index that lies
    /// Some checks need no walk, and are made: the index's offsets ascend, and the entry leads to a data object of the
    /// stated length. An index can pass these checks and still lie. It can lead to a frame that its author placed inside
    /// another object's payload. It can also leave an object out, so that each later object takes the number of the one
    /// before. This method then gives another object than [`Self::objects`], which walks. If the writer cannot be trusted,
    /// call [`Self::verify_index`] once before, or use [`Self::object_by_walk`].
    ///
    /// # Errors
    /// [`ErrorKind::ObjectOutOfRange`]; the errors of the walk and of [`DataObject::parse`]; [`ErrorKind::IndexEntry`] if the
    /// index does not lead to a data object of the length that it states, is out of order, or lists fewer objects than
    /// there are.
    pub fn object(&self, index: usize) -> Result<DataObject<'a>> {
        DataObject::parse(self.object_frame(index)?)
    }

    /// The frame of the data object with this index, found as [`Self::object`] finds it, with the same caution.
    ///
    /// # Errors
    /// The errors of [`Self::object`] without the errors of the descriptor.
    pub fn object_frame(&self, index: usize) -> Result<Frame<'a>> {
        // Only header frames come before the first object, and reading the index means walking over those anyway.
        if index == 0 {
            return self.walk_to_object(0);
        }
        let Some(list) = self.find_index()? else { return self.walk_to_object(index) };
        match list.get(index) {
            // Entries that do not follow the order of frames would lead to other objects.
            Some(entry) if !list.is_ascending() => Err(ErrorKind::IndexEntry.at(entry.offset)),
            Some(entry) => self.frame_of_entry(entry),
            // The index has too few entries. If a walk finds the object, the index is wrong.
            None => self.walk_to_object(index).and_then(|frame| Err(ErrorKind::IndexEntry.at(frame.offset()))),
        }
    }

    /// The data object that an index entry leads to: O(1). The entry may be kept from an earlier read of the index.
    ///
    /// The entry is trusted. If it leads to a data object's frame inside another object's payload, that frame is returned.
    /// Entries are safe if they come from a walk, or from an index that passed [`Self::verify_index`].
    ///
    /// # Errors
    /// [`ErrorKind::IndexEntry`] if it does not lead to a data object of the length that it states; the errors of
    /// [`DataObject::parse`].
    pub fn object_at(&self, entry: IndexEntry) -> Result<DataObject<'a>> {
        DataObject::parse(self.frame_of_entry(entry)?)
    }

    /// The data object with this index, found by a walk over the frames before it: O(frames before it).
    ///
    /// No index is read, so this is always the object that [`Self::objects`] gives.
    ///
    /// # Errors
    /// [`ErrorKind::ObjectOutOfRange`] where the frames end; the errors of the walk and of [`DataObject::parse`].
    pub fn object_by_walk(&self, index: usize) -> Result<DataObject<'a>> {
        DataObject::parse(self.walk_to_object(index)?)
    }

    fn walk_to_object(&self, index: usize) -> Result<Frame<'a>> {
        let mut frames = self.frames();
        let mut left = index;
        // `step` is inlined, which saves time here and costs code.
        while let Some(frame) = if IS_SMALL { frames.next().transpose()? } else { frames.step()? } {
            if frame.frame_type().is_data_object() {
                if left == 0 {
                    return Ok(frame);
                }
                left = left.wrapping_sub(1);
            }
        }
        Err(ErrorKind::ObjectOutOfRange.at(self.bytes.len() as u64))
    }

    /// The frame that an index entry leads to, if it is what the entry says.
    fn frame_of_entry(&self, entry: IndexEntry) -> Result<Frame<'a>> {
        let liar = ErrorKind::IndexEntry.at(entry.offset);
        let frame = match Frame::parse_at(self.frame_bytes(entry.offset), entry.offset) {
            Ok((frame, _)) => frame,
            Err(error) if is_no_frame(error) => return Err(liar),
            Err(error) => return Err(error),
        };
        if !frame.frame_type().is_data_object() || frame.total_length() != entry.length {
            return Err(liar);
        }
        #[cfg(feature = "hash")]
        let frame = frame.settled_by_first(self.frames());
        Ok(frame)
    }

    /// The index of the message's objects: the header's, otherwise the footer's. Reads the frames of the header and, if
    /// needed, the frames of the footer.
    ///
    /// The postamble leads to the footer. If it leads elsewhere, the message counts as one without an index, and there is
    /// no error; the reference does the same.
    ///
    /// # Errors
    /// The errors of the walk over the header's frames and of [`Index::parse`].
    pub fn find_index(&self) -> Result<Option<Index<'a>>> {
        let header = self.frames();
        let found = match last_of(FrameType::HeaderIndex, header, DecodePhase::Header)? {
            None => self.footer_frames().map_or(Ok(None), |frames| {
                last_of(FrameType::FooterIndex, frames, DecodePhase::Footer).or(Ok::<_, Error>(None))
            })?,
            header => header,
        };
        found.map(|frame| Index::parse(&frame)).transpose()
    }

    /// The frames from where, according to the postamble, the footer begins.
    fn footer_frames(&self) -> Option<Frames<'a>> {
        let start = self.postamble?.first_footer_offset.get();
        (start >= PREAMBLE_SIZE as u64).then(|| self.frames_from(start))
    }

    /// A summary of the message's frames: one walk over all of them.
    ///
    /// # Errors
    /// The errors of the walk.
    pub fn outline(&self) -> Result<Outline<'a>> {
        Outline::of(self.frames())
    }

    /// The metadata of the whole message: its last metadata frame, joined with the preceders. A walk over all frames, and a
    /// second one if there are preceders.
    ///
    /// # Errors
    /// The errors of the walk; [`ErrorKind::NoMetadata`]; the errors of [`Metadata::parse`] for the last metadata frame and every
    /// preceder; [`ErrorKind::BaseTooLong`].
    ///
    /// Format: FORMAT §5.4, §1.10 rows 16 to 18.
    pub fn metadata(&self) -> Result<MessageMetadata<'a>> {
        self.outline()?.metadata(self)
    }

    /// The content of the first metadata frame, without the preceders: a walk up to that frame.
    ///
    /// In a streamed message this is what the writer knew at the beginning; [`Self::metadata`] gives what holds at the end.
    ///
    /// # Errors
    /// The errors of the walk up to it and of [`Metadata::parse`]; [`ErrorKind::NoMetadata`].
    pub fn first_metadata(&self) -> Result<Metadata<'a>> {
        for frame in self.frames() {
            let frame = frame?;
            if matches!(frame.frame_type(), FrameType::HeaderMetadata | FrameType::FooterMetadata) {
                return Metadata::of_frame(&frame);
            }
        }
        Err(ErrorKind::NoMetadata.at(PREAMBLE_SIZE as u64))
    }

    /// Which frames hold a digest, by Rule H of FORMAT §2: a walk up to the first flagged frame.
    ///
    /// # Errors
    /// The errors of the walk.
    #[cfg(feature = "hash")]
    pub fn hash_presence(&self) -> Result<HashPresence> {
        HashPresence::find(self.flags(), self.frames())
    }

    /// Checks the digest of each frame, as an iterator: reads every byte of the frames.
    ///
    /// With [`HashPresence::Flagged`] only flagged frames have a digest. [`Self::hash_presence`] gives the `presence` that
    /// is right for messages of every release. [`Self::verify_all`] checks everything in one call.
    #[cfg(feature = "hash")]
    pub fn verify(&self, presence: HashPresence) -> Verify<'a> {
        Verify::new(self.frames(), presence)
    }
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("flags", &self.flags())
            .field("total_length", &self.total_length())
            .field("given", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// Checks a preamble and returns the message's length, if the preamble states it. `available` is the number of bytes from
/// the preamble's start on.
///
/// # Errors
/// [`ErrorKind::StartMagic`], [`ErrorKind::Version`], [`ErrorKind::MessageTooSmall`],
/// [`ErrorKind::MessageExceedsBuffer`].
#[inline]
pub fn check_preamble(preamble: &Preamble, available: u64) -> Result<Option<u64>> {
    if preamble.magic != *MAGIC {
        return Err(ErrorKind::StartMagic.at(0));
    }
    let at = Preamble::TOTAL_LENGTH_OFFSET;
    match (preamble.version.get(), preamble.total_length.get()) {
        (version, _) if version != WIRE_VERSION => Err(ErrorKind::Version(version).at_index(Preamble::VERSION_OFFSET)),
        (_, 0) => Ok(None),
        (_, length) if length < MIN_MESSAGE_SIZE as u64 => Err(ErrorKind::MessageTooSmall.at_index(at)),
        (_, length) if length > available => Err(ErrorKind::MessageExceedsBuffer.at_index(at)),
        (_, length) => Ok(Some(length)),
    }
}

/// Checks the postamble of a message that states `total_length`. Errors count from the message's start.
///
/// # Errors
/// [`ErrorKind::EndMagic`]; [`ErrorKind::TotalLengthMismatch`] if its copy is neither 0 nor the same.
pub fn check_postamble(postamble: &Postamble, total_length: u64) -> Result<()> {
    let start = total_length.saturating_sub(POSTAMBLE_SIZE as u64);
    if postamble.magic != *END_MAGIC {
        return Err(ErrorKind::EndMagic.at_index(Postamble::MAGIC_OFFSET).shift(start));
    }
    match postamble.total_length.get() {
        0 => Ok(()),
        copy if copy == total_length => Ok(()),
        _ => Err(ErrorKind::TotalLengthMismatch.at_index(Postamble::TOTAL_LENGTH_OFFSET).shift(start)),
    }
}

/// Whether this error means that no frame is there at all, as opposed to a damaged one.
const fn is_no_frame(error: Error) -> bool {
    use ErrorKind as K;
    matches!(
        error.kind(),
        K::Truncated
            | K::FrameMagic
            | K::UnknownFrameType(_)
            | K::ReservedFrameType
            | K::FrameTooSmall
            | K::FrameExceedsMessage
    )
}

/// The last frame of type `wanted` among the first frames, up to the frame that ends `phase`.
fn last_of(wanted: FrameType, frames: Frames<'_>, phase: DecodePhase) -> Result<Option<Frame<'_>>> {
    let mut found = None;
    for frame in frames {
        let frame = frame?;
        match phase.after(frame.frame_type()) {
            Ok(next) if next == phase => {}
            _ => break,
        }
        if frame.frame_type() == wanted {
            found = Some(frame);
        }
    }
    Ok(found)
}

/// The data objects of a message, in order. It ends after an error.
#[derive(Clone, Debug)]
pub struct Objects<'a> {
    frames: Frames<'a>,
}

impl<'a> Objects<'a> {
    /// The data objects among `frames`.
    pub(crate) const fn among(frames: Frames<'a>) -> Self {
        Self { frames }
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Result<DataObject<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.frames.next()? {
                Ok(frame) if !frame.frame_type().is_data_object() => {}
                frame => return Some(frame.and_then(DataObject::parse)),
            }
        }
    }
}

impl FusedIterator for Objects<'_> {}

/// A summary of a message's frames, made in one walk.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Outline<'a> {
    /// The last metadata frame of the header or footer. Readers use this one.
    pub metadata: Option<Frame<'a>>,
    /// The last index frame.
    pub index: Option<Frame<'a>>,
    /// The last hash frame.
    pub hashes: Option<Frame<'a>>,
    /// The number of data objects.
    pub object_count: usize,
    /// The number of preceders.
    pub preceder_count: usize,
    /// Where the frames end, in bytes from the message's start: after the last frame. In a message that does not state its
    /// length: where its postamble starts.
    pub end: u64,
}

impl<'a> Outline<'a> {
    fn of(mut frames: Frames<'a>) -> Result<Self> {
        let mut outline = Self::default();
        while let Some(frame) = frames.step()? {
            outline.count(frame);
        }
        outline.end = frames.position();
        Ok(outline)
    }

    fn count(&mut self, frame: Frame<'a>) {
        match frame.frame_type() {
            FrameType::HeaderMetadata | FrameType::FooterMetadata => self.metadata = Some(frame),
            FrameType::HeaderIndex | FrameType::FooterIndex => self.index = Some(frame),
            FrameType::HeaderHash | FrameType::FooterHash => self.hashes = Some(frame),
            FrameType::NTensorFrame => self.object_count = self.object_count.saturating_add(1),
            FrameType::PrecederMetadata => self.preceder_count = self.preceder_count.saturating_add(1),
        }
    }

    /// The metadata of the whole `message`, whose outline this is: its last metadata frame, joined with the preceders.
    ///
    /// # Errors
    /// The errors of [`Message::metadata`] without the errors of the walk.
    pub fn metadata(&self, message: &Message<'a>) -> Result<MessageMetadata<'a>> {
        let frame = self.metadata.ok_or(ErrorKind::NoMetadata.at(PREAMBLE_SIZE as u64))?;
        let metadata = Metadata::of_frame(&frame)?;
        MessageMetadata::new(metadata, message.frames(), self.object_count, self.preceder_count > 0)
    }
}

#[cfg(test)]
mod tests;
