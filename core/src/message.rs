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
/// Good to have one: the preamble is of version 3 and, where it states the length, the whole message is there and ends
/// with a postamble that agrees. Nothing between the two was looked at; each method says what it walks.
///
/// ```
/// use tgm_core::message::Message;
///
/// # fn main() -> tgm_core::Result<()> {
/// # let bytes: &[u8] = include_bytes!("../../tests/data/dtypes/float32-little.tgm");
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
    /// If the preamble states the length, bytes behind it are ignored. If it does not (a streamed message), the message
    /// ends at the first postamble that the walk over its frames meets, which is found when that walk is made; give the
    /// slice that [`crate::scan`] found, or anything that begins with the message.
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

    /// A message that does not state its length. If the bytes end with a postamble, it is likely to be the message's.
    fn open_ended(bytes: &'a [u8], preamble: &'a Preamble) -> Result<Self> {
        if bytes.len() < MIN_MESSAGE_SIZE {
            return Err(ErrorKind::Truncated.at_index(bytes.len()));
        }
        let last = Postamble::ref_from_suffix(bytes).ok().map(|(_, postamble)| postamble);
        Ok(Self { bytes, preamble, postamble: last.filter(|postamble| postamble.magic == *END_MAGIC) })
    }

    /// The message's bytes; for a message that does not state its length, all the bytes that were given.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The preamble as it lies in the bytes.
    pub const fn preamble(&self) -> &'a Preamble {
        self.preamble
    }

    /// The postamble as it lies in the bytes. For a message that does not state its length, the last 24 bytes that were
    /// given, if they look like one.
    pub const fn postamble(&self) -> Option<&'a Postamble> {
        self.postamble
    }

    /// What the writer meant to put into the message: advisory.
    pub const fn flags(&self) -> MessageFlags {
        self.preamble.flags()
    }

    /// Bytes of the message as the preamble states them; `None` in a streamed message.
    pub const fn total_length(&self) -> Option<u64> {
        match self.preamble.total_length.get() {
            0 => None,
            length => Some(length),
        }
    }

    /// The frames in order: each is checked when it comes.
    pub fn frames(&self) -> Frames<'a> {
        self.frames_from(PREAMBLE_SIZE as u64)
    }

    /// The frames that begin at byte `start` of the message.
    fn frames_from(&self, start: u64) -> Frames<'a> {
        let frames = Frames::new(self.frame_bytes(start), start, self.total_length().is_none());
        #[cfg(feature = "hash")]
        let frames = frames.of_message(self.flags());
        frames
    }

    /// The bytes from `start` to where frames end; none if that lies outside.
    fn frame_bytes(&self, start: u64) -> &'a [u8] {
        let end = match self.total_length() {
            Some(_) => self.bytes.len().saturating_sub(POSTAMBLE_SIZE),
            None => self.bytes.len(),
        };
        let start = usize::try_from(start).ok().filter(|&start| start >= PREAMBLE_SIZE);
        start.and_then(|start| self.bytes.get(start..end)).unwrap_or_default()
    }

    /// The data objects in order, each with the descriptor read.
    pub fn objects(&self) -> Objects<'a> {
        Objects { frames: self.frames() }
    }

    /// The data object `index`, found by the index.
    ///
    /// Through the index frame where the message has one: the header's frames, the index up to the entry and the object
    /// are all that is touched. Without one, and for the first object, a walk over the frames before the object.
    ///
    /// # An index that lies
    /// The index is believed as far as it can be without a walk: its entries ascend, and the one that is followed leads to
    /// a frame that is a data object of the stated length. An index can pass this and still lead to a frame that stands
    /// inside another object's payload, where its author put it, or leave objects out, so that later ones take their
    /// numbers. Then this method gives another object than [`Self::objects`], which walks, and than whole decoding.
    /// Whoever does not trust the writer calls [`Self::verify_index`] once before, or uses [`Self::object_by_walk`].
    ///
    /// # Errors
    /// [`ErrorKind::ObjectOutOfRange`]; those of the walk and of [`DataObject::parse`]; [`ErrorKind::IndexEntry`] if the
    /// index does not lead to a data object of the length that it states, is out of order, or lists fewer objects than
    /// there are.
    pub fn object(&self, index: usize) -> Result<DataObject<'a>> {
        DataObject::parse(self.object_frame(index)?)
    }

    /// The frame of data object `index`, found as [`Self::object`] finds it: what an index that lies can do is said there.
    ///
    /// # Errors
    /// Those of [`Self::object`], the descriptor's excepted.
    pub fn object_frame(&self, index: usize) -> Result<Frame<'a>> {
        // Nothing but header frames stands before the first object: an index would only have to be read.
        if index == 0 {
            return self.walk_to_object(0);
        }
        let Some(list) = self.find_index()? else { return self.walk_to_object(index) };
        match list.get(index) {
            // Entries in another order than the frames would lead to other objects.
            Some(entry) if !list.is_ascending() => Err(ErrorKind::IndexEntry.at(entry.offset)),
            Some(entry) => self.frame_of_entry(entry),
            // An index that leaves an object out is wrong as well: it is not followed, and not believed either.
            None => self.walk_to_object(index).and_then(|frame| Err(ErrorKind::IndexEntry.at(frame.offset()))),
        }
    }

    /// The data object that an index entry leads to, of this message's index or of a table that was made of it: O(1).
    ///
    /// The entry is believed: one that leads to a data object's frame inside another object's payload gives that one. An
    /// entry that a walk made, or of an index that [`Self::verify_index`] has compared with one, leads to an object of the
    /// message.
    ///
    /// # Errors
    /// [`ErrorKind::IndexEntry`] if it does not lead to a data object of the length that it states; those of
    /// [`DataObject::parse`].
    pub fn object_at(&self, entry: IndexEntry) -> Result<DataObject<'a>> {
        DataObject::parse(self.frame_of_entry(entry)?)
    }

    /// The data object `index`, found by a walk over the frames before it, whatever an index says: O(frames before it).
    /// The same object as the one that [`Self::objects`] and whole decoding give.
    ///
    /// # Errors
    /// [`ErrorKind::ObjectOutOfRange`] where the frames end; those of the walk and of [`DataObject::parse`].
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

    /// The frame where an index entry points, if it is what the entry says.
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

    /// The index of the message's objects: the header's, or else the footer's; O(1) frames but for the header's own.
    ///
    /// The footer is reached through the postamble. Where that does not lead to footer frames nothing is said (the
    /// reference ignores it); there is no index then.
    ///
    /// # Errors
    /// Those of the walk over the header's frames and of [`Index::parse`].
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

    /// The frames that begin where the postamble says that the footer does.
    fn footer_frames(&self) -> Option<Frames<'a>> {
        let start = self.postamble?.first_footer_offset.get();
        (start >= PREAMBLE_SIZE as u64).then(|| self.frames_from(start))
    }

    /// What frames the message has: one walk over all of them.
    ///
    /// # Errors
    /// Those of the walk.
    pub fn outline(&self) -> Result<Outline<'a>> {
        Outline::of(self.frames())
    }

    /// The metadata that counts, joined with the preceders: one walk over all frames.
    ///
    /// # Errors
    /// Those of the walk; [`ErrorKind::NoMetadata`]; those of [`Metadata::parse`] for the last metadata frame and every
    /// preceder; [`ErrorKind::BaseTooLong`].
    ///
    /// Format: FORMAT §5.4, §1.10 rows 16 to 18.
    pub fn metadata(&self) -> Result<MessageMetadata<'a>> {
        self.outline()?.metadata(self)
    }

    /// The content of the first metadata frame, without the objects' preceders: what a reader gets that does not want to
    /// walk. In a streamed message it is what the writer knew at the beginning.
    ///
    /// # Errors
    /// Those of the walk up to it and of [`Metadata::parse`]; [`ErrorKind::NoMetadata`].
    pub fn first_metadata(&self) -> Result<Metadata<'a>> {
        for frame in self.frames() {
            let frame = frame?;
            if matches!(frame.frame_type(), FrameType::HeaderMetadata | FrameType::FooterMetadata) {
                return Metadata::of_frame(&frame);
            }
        }
        Err(ErrorKind::NoMetadata.at(PREAMBLE_SIZE as u64))
    }

    /// Which frames hold a digest, by Rule H of FORMAT §2: one walk over the frames, up to the first that is flagged.
    ///
    /// # Errors
    /// Those of the walk.
    #[cfg(feature = "hash")]
    pub fn hash_presence(&self) -> Result<HashPresence> {
        HashPresence::find(self.flags(), self.frames())
    }

    /// Checks every frame's digest: reads every byte of the frames. [`HashPresence::Flagged`] is the strict reading;
    /// [`Self::hash_presence`] finds the one that serves messages of every release.
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

/// Checks a preamble with `available` bytes from its start on; the message's length, if it states one.
///
/// # Errors
/// [`ErrorKind::StartMagic`], [`ErrorKind::Version`], [`ErrorKind::MessageTooSmall`],
/// [`ErrorKind::MessageExceedsBuffer`].
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

/// Checks the postamble of a message that states `total_length`, with offsets from the message's start.
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

/// Whether this error of a frame says that what stands there is no frame at all.
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

/// The last frame of type `wanted` among the leading frames that keep the walk in `phase`.
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

/// The data objects of a message, in order; ends after an error.
#[derive(Clone, Debug)]
pub struct Objects<'a> {
    frames: Frames<'a>,
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

/// What one walk over a message's frames found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outline<'a> {
    /// The last metadata frame of the header or footer: the one that counts.
    pub metadata: Option<Frame<'a>>,
    /// The last index frame.
    pub index: Option<Frame<'a>>,
    /// The last hash frame.
    pub hashes: Option<Frame<'a>>,
    /// How many data objects there are.
    pub object_count: usize,
    /// How many of them have a preceder.
    pub preceder_count: usize,
    /// Where the frames end, in bytes from the message's start: behind the last one, or, in a message that does not
    /// state its length, where its postamble was met.
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

    /// The metadata that counts, joined with the preceders of `message`, whose outline this is.
    ///
    /// # Errors
    /// Those of [`Message::metadata`] but for the walk's.
    pub fn metadata(&self, message: &Message<'a>) -> Result<MessageMetadata<'a>> {
        let frame = self.metadata.ok_or(ErrorKind::NoMetadata.at(PREAMBLE_SIZE as u64))?;
        let metadata = Metadata::of_frame(&frame)?;
        MessageMetadata::new(metadata, message.frames(), self.object_count, self.preceder_count > 0)
    }
}
