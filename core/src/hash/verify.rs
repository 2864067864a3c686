//! Checking the digests of frames.

use core::iter::FusedIterator;

use super::digest::{HashMismatch, Verdict, digest};
use super::presence::HashPresence;
use crate::error::Result;
use crate::frame::{Frame, Frames};
use crate::wire::{FrameFlags, MessageFlags};

impl Frame<'_> {
    /// Compares the body's digest with the slot, whether or not the slot holds a digest. Reads every byte of the body.
    ///
    /// # Errors
    /// [`HashMismatch`] if they differ.
    pub fn verify_slot(&self) -> Result<(), HashMismatch> {
        let (expected, computed) = (self.hash_slot(), digest(self.body()));
        if expected == computed { Ok(()) } else { Err(HashMismatch { expected, computed }) }
    }

    /// Whether the frame's own flag says that its slot holds a digest.
    ///
    /// For a frame without its message this is all that can be known.
    pub const fn has_hash_flag(&self) -> bool {
        self.flags().has(FrameFlags::HASH_PRESENT)
    }

    /// Which frames hold a digest, as far as it was known when this frame was found. Free: nothing is read.
    ///
    /// | result | when |
    /// |---|---|
    /// | [`HashPresence::All`] | the preamble says that hashing was on, and neither this frame nor one before it is flagged |
    /// | [`HashPresence::Absent`] | the object's payload was replaced by [`DataObject::with_payload`] |
    /// | [`HashPresence::Flagged`] | otherwise, and for a frame without its message |
    ///
    /// If an index led to the frame, only the message's first frame stands for those before it. Writers flag all frames or
    /// none. So the result differs from [`crate::Message::hash_presence`] only if someone cleared the first flags; the slot
    /// is then compared.
    ///
    /// [`DataObject::with_payload`]: crate::object::DataObject::with_payload
    ///
    /// ```
    /// use tgm_core::hash::Verdict;
    ///
    /// # let bytes: &[u8] = include_bytes!("../../samples/float32-little.tgm");
    /// let object = tgm_core::Message::parse(bytes)?.object(0)?;
    /// let frame = object.frame();
    /// assert_eq!(frame.hash_presence().check(frame), Verdict::Good);
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    pub const fn hash_presence(&self) -> HashPresence {
        self.presence
    }

    /// The frame of an object whose payload was replaced: the slot's digest is not that payload's.
    pub(crate) const fn without_digest(mut self) -> Self {
        self.presence = HashPresence::Absent;
        self
    }

    /// The frame as a walk finds it. `presence` is what the walk knows from the frames before, and is updated.
    pub(crate) const fn settled_by(mut self, presence: &mut HashPresence) -> Self {
        if self.has_hash_flag() {
            *presence = HashPresence::Flagged;
        }
        self.presence = *presence;
        self
    }

    /// The frame as an index leads to it. The first of the message's `frames` stands for all frames before this one.
    pub(crate) fn settled_by_first(mut self, mut frames: Frames<'_>) -> Self {
        if frames.presence != HashPresence::Flagged
            && !self.has_hash_flag()
            && let Some(Ok(first)) = frames.next()
        {
            self.presence = first.presence;
        }
        self
    }
}

impl HashPresence {
    /// Rule H: if any frame is flagged, the flags decide; otherwise the preamble does. O(frames).
    ///
    /// # Errors
    /// The errors of the walk over frames.
    pub(crate) fn find(flags: MessageFlags, mut frames: Frames<'_>) -> Result<Self> {
        while let Some(frame) = frames.next().transpose()? {
            if frame.has_hash_flag() {
                return Ok(Self::Flagged);
            }
        }
        Ok(if flags.has(MessageFlags::HASHES_PRESENT) { Self::All } else { Self::Absent })
    }

    /// Whether `frame` holds a digest.
    pub const fn covers(self, frame: &Frame<'_>) -> bool {
        match self {
            Self::Flagged => frame.has_hash_flag(),
            Self::All => true,
            Self::Absent => false,
        }
    }

    /// Checks the digest of one frame.
    pub fn check(self, frame: &Frame<'_>) -> Verdict {
        self.check_with(frame, digest)
    }

    /// [`Self::check`] with the caller's XXH3-64, which may use instructions that not every processor has.
    pub fn check_with(self, frame: &Frame<'_>, digest: impl FnOnce(&[u8]) -> u64) -> Verdict {
        if !self.covers(frame) {
            return Verdict::Missing;
        }
        let (expected, computed) = (frame.hash_slot(), digest(frame.body()));
        if expected == computed { Verdict::Good } else { Verdict::Mismatch(HashMismatch { expected, computed }) }
    }
}

/// Checks the digest of every frame of a message, in order. It ends after an error of the walk.
#[derive(Clone, Debug)]
pub struct Verify<'a> {
    frames: Frames<'a>,
    presence: HashPresence,
    objects: usize,
}

impl<'a> Verify<'a> {
    pub(crate) const fn new(frames: Frames<'a>, presence: HashPresence) -> Self {
        Self { frames, presence, objects: 0 }
    }
}

/// One frame, and the result of checking its digest.
#[derive(Clone, Copy, Debug)]
pub struct Verified<'a> {
    /// The frame.
    pub frame: Frame<'a>,
    /// Which data object the frame holds, if it holds one.
    pub object_index: Option<usize>,
    /// The result.
    pub verdict: Verdict,
}

impl<'a> Iterator for Verify<'a> {
    type Item = Result<Verified<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = match self.frames.next()? {
            Ok(frame) => frame,
            Err(error) => return Some(Err(error)),
        };
        let object_index = frame.frame_type().is_data_object().then_some(self.objects);
        self.objects = self.objects.saturating_add(usize::from(object_index.is_some()));
        Some(Ok(Verified { frame, object_index, verdict: self.presence.check(&frame) }))
    }
}

impl FusedIterator for Verify<'_> {}
