//! The only door to an object's bytes: its digest is checked first, if the options ask for it.
//!
//! ```text
//! a message ─────────────┐
//! a frame  ──────────────┴─ Trust ── check ──┐
//! bytes without a frame ──── of_bare_bytes ──┴─ Proof ── Trusted ── payload, masks
//! an object ──────────────────────── new ────────────────┘
//! ```
//!
//! Everything that decodes takes a [`Trusted`] object and nothing else, so no route can forget `verify_hash`. A digest
//! covers the whole frame: checking it reads all of the payload, however small the part that is wanted. Each call
//! checks it once. Without `verify_hash` all of this costs one branch.

use std::fmt;

use tgm_core::descriptor::{Descriptor, MaskDescriptor};
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::object::DataObject;
use tgm_core::{ErrorKind, Message};

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::model::hash;

/// How the digests of objects are checked.
#[derive(Clone, Copy, Debug)]
pub enum Trust {
    /// They are not: the options do not ask for it.
    Unasked,
    /// This rule says which frames have a digest. A frame without one is an error.
    By(HashPresence),
}

/// Proves that an object's digest is right, or that the options do not ask for it.
#[derive(Clone, Copy, Debug)]
pub struct Proof(());

impl Proof {
    /// For bytes that lie in no frame, and so have no digest.
    ///
    /// # Errors
    /// [`TensogramError::MissingHash`] with index 0 if the options ask for a digest.
    pub(crate) const fn of_bare_bytes(options: &DecodeOptions) -> Result<Self> {
        if options.verify_hash { Err(TensogramError::MissingHash { object_index: 0 }) } else { Ok(Self(())) }
    }
}

impl Trust {
    /// For the objects of `message`: Rule H of FORMAT §2, or the strict rule if the options ask for it. Walks once over
    /// the frames if digests are to be checked.
    ///
    /// # Errors
    /// The errors of the walk.
    pub fn of_message(message: &Message<'_>, options: &DecodeOptions) -> Result<Self> {
        Ok(match (options.verify_hash, options.strict_hash_presence) {
            (false, _) => Self::Unasked,
            (true, true) => Self::By(HashPresence::Flagged),
            (true, false) => Self::By(message.hash_presence()?),
        })
    }

    /// For `frame` alone, by what it knows of its message.
    pub(crate) fn of_frame(frame: &Frame<'_>, options: &DecodeOptions) -> Self {
        match (options.verify_hash, frame.hash_presence()) {
            (false, _) => Self::Unasked,
            (true, HashPresence::All) if options.strict_hash_presence => Self::By(HashPresence::Flagged),
            (true, presence) => Self::By(presence),
        }
    }

    /// Checks the digest of `frame`. `object_index` is the number of the object that errors name.
    ///
    /// # Errors
    /// [`TensogramError::HashMismatch`]; [`TensogramError::MissingHash`], with index 0 if none is given.
    pub(crate) fn check(self, frame: &Frame<'_>, object_index: Option<usize>) -> Result<Proof> {
        let Self::By(presence) = self else { return Ok(Proof(())) };
        #[cfg(test)]
        tests::count(frame);
        match hash::check(presence, frame) {
            Verdict::Good => Ok(Proof(())),
            Verdict::Missing => Err(TensogramError::MissingHash { object_index: object_index.unwrap_or(0) }),
            Verdict::Mismatch(mismatch) => Err(TensogramError::hash_mismatch(object_index, mismatch)),
        }
    }

    /// Checks the objects of `message` before any descriptor is read: all objects, or only the object `only`.
    ///
    /// # Errors
    /// The errors of the walk; the errors of [`Self::check`] for the first object that has any.
    pub fn check_message(self, message: &Message<'_>, only: Option<usize>) -> Result<Proof> {
        let Self::By(_) = self else { return Ok(Proof(())) };
        let mut index = 0;
        for frame in message.frames() {
            let frame = frame?;
            if !frame.frame_type().is_data_object() {
                continue;
            }
            if only.is_none_or(|only| only == index) {
                self.check(&frame, Some(index))?;
            }
            index += 1;
        }
        Ok(Proof(()))
    }
}

/// The data object that `frame` holds. Its digest is checked first if the options ask for it, before any CBOR is read.
///
/// # Errors
/// The errors of the frame, of the digest, and of the object.
pub(super) fn checked_object_of_frame<'a>(frame: &'a [u8], options: &DecodeOptions) -> Result<(DataObject<'a>, Proof)> {
    let (frame, _) = Frame::parse(frame)?;
    let proof = Trust::of_frame(&frame, options).check(&frame, None)?;
    Ok((DataObject::parse(frame).map_err(TensogramError::of_object)?, proof))
}

/// The descriptor and the bytes of an object whose values may be read.
#[derive(Clone, Copy)]
pub struct Trusted<'o, 'a> {
    descriptor: &'o Descriptor<'a>,
    payload: &'a [u8],
    /// The payload, and the masks' blobs after it; or the blobs alone.
    region: &'a [u8],
    /// Bytes of the region that lie before `region`.
    region_start: u64,
    region_offset: u64,
}

impl fmt::Debug for Trusted<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.payload.len();
        f.debug_struct("Trusted")
            .field("descriptor", self.descriptor)
            .field("payload_len", &len)
            .finish_non_exhaustive()
    }
}

impl<'o, 'a> Trusted<'o, 'a> {
    /// Checks the digest of `object`, if the options ask for it.
    ///
    /// # Errors
    /// The errors of [`Trust::check`].
    pub fn new(object: &'o DataObject<'a>, options: &DecodeOptions) -> Result<Self> {
        let proof = Trust::of_frame(object.frame(), options).check(object.frame(), None)?;
        Ok(Self::proven(object, proof))
    }

    /// An object whose frame or message was checked.
    pub const fn proven(object: &'o DataObject<'a>, _proof: Proof) -> Self {
        Self {
            descriptor: object.descriptor(),
            payload: object.payload(),
            region: object.region(),
            region_start: 0,
            region_offset: object.region_offset(),
        }
    }

    /// An object that lies in no frame: its descriptor, and its payload region. Offsets in errors about the region
    /// count from `region_offset` bytes before it.
    ///
    /// # Errors
    /// [`ErrorKind::MaskBounds`] for a mask outside of the region.
    pub(crate) fn without_frame(
        descriptor: &'o Descriptor<'a>,
        region: &'a [u8],
        region_offset: u64,
        _proof: Proof,
    ) -> Result<Self> {
        let payload_len = descriptor.masks().payload_len(region.len() as u64)?;
        let payload = usize::try_from(payload_len).ok().and_then(|len| region.get(..len)).unwrap_or(region);
        Ok(Self { descriptor, payload, region, region_start: 0, region_offset })
    }

    /// The masks of an object whose payload is not at hand, and what the object is. `blobs` are the bytes after the
    /// payload of `payload_len` bytes, and lie at byte `offset` of what errors count from.
    pub(crate) const fn without_payload(
        descriptor: &'o Descriptor<'a>,
        payload_len: u64,
        blobs: &'a [u8],
        offset: u64,
        _proof: Proof,
    ) -> Self {
        // Offsets of masks count from where the payload would begin, also if no message could have it there.
        let region_offset = offset.saturating_sub(payload_len);
        Self { descriptor, payload: &[], region: blobs, region_start: payload_len, region_offset }
    }

    /// What the object is.
    pub const fn descriptor(&self) -> &'o Descriptor<'a> {
        self.descriptor
    }

    /// The encoded values, without masks.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where payload and region start, in bytes from the start of the slice that errors count from.
    pub const fn region_offset(&self) -> u64 {
        self.region_offset
    }

    /// The bytes of a mask's blob.
    ///
    /// # Errors
    /// [`ErrorKind::MaskBounds`] if they do not lie in the region, or not in the part of it that is at hand.
    pub(crate) fn mask_blob(&self, mask: &MaskDescriptor<'a>) -> Result<&'a [u8]> {
        let start = mask.offset().checked_sub(self.region_start).and_then(|start| usize::try_from(start).ok());
        let place = start.zip(usize::try_from(mask.length()).ok());
        let blob = place.and_then(|(start, len)| self.region.get(start..start.checked_add(len)?));
        blob.ok_or_else(|| ErrorKind::MaskBounds.at(mask.position()).into())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests;
