//! The one way from an object to its bytes: its digest is checked first, if the options ask for it.
//!
//! ```text
//! a message ──┐                    ┌─ Proof ─┐
//! a frame  ───┴─ Trust ── check ───┘         ├─ Trusted ── payload, masks
//! an object ───────────────────────── new ───┘
//! ```
//!
//! What decodes takes a [`Trusted`] object and nothing else, so that no route can forget `verify_hash`. A digest covers the
//! whole frame: to check it reads all of the payload, whatever part of the values is wanted. It is checked once for each
//! call. Where nobody asks for it, all of this is one branch.

use tgm_core::Message;
use tgm_core::descriptor::{Descriptor, MaskDescriptor};
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::object::DataObject;

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::model::hash;

/// How the digests of objects are checked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trust {
    /// Not at all: nobody asked for it.
    Unasked,
    /// Where this says that there is one; elsewhere it is missing.
    By(HashPresence),
}

/// Says that an object's digest is right, or that nobody asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof(());

impl Trust {
    /// For the objects of `message`: Rule H of FORMAT §2, unless the options ask for the strict reading. One walk over the
    /// frames, if they ask for anything.
    ///
    /// # Errors
    /// Those of the walk.
    pub(crate) fn of_message(message: &Message<'_>, options: &DecodeOptions) -> Result<Self> {
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

    /// Checks the digest of `frame`; `object_index` says which object errors speak of.
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

    /// Checks the objects of `message`, all of them or object `only`, before any descriptor is read.
    ///
    /// # Errors
    /// Those of the walk and of [`Self::check`], for the first object that has any.
    pub(crate) fn check_message(self, message: &Message<'_>, only: Option<usize>) -> Result<Proof> {
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

/// An object whose values may be read.
#[derive(Clone, Copy)]
pub(crate) struct Trusted<'o, 'a>(&'o DataObject<'a>);

impl<'o, 'a> Trusted<'o, 'a> {
    /// Checks the digest of `object`, if the options ask for it.
    ///
    /// # Errors
    /// Those of [`Trust::check`].
    pub(crate) fn new(object: &'o DataObject<'a>, options: &DecodeOptions) -> Result<Self> {
        let proof = Trust::of_frame(object.frame(), options).check(object.frame(), None)?;
        Ok(Self::proven(object, proof))
    }

    /// `object`, for which its frame or its message was checked.
    pub(crate) const fn proven(object: &'o DataObject<'a>, _proof: Proof) -> Self {
        Self(object)
    }

    pub(crate) const fn descriptor(&self) -> &'o Descriptor<'a> {
        self.0.descriptor()
    }

    pub(crate) const fn payload(&self) -> &'a [u8] {
        self.0.payload()
    }

    pub(crate) const fn region_offset(&self) -> u64 {
        self.0.region_offset()
    }

    /// The bytes of a mask's blob.
    ///
    /// # Errors
    /// Those of [`DataObject::mask_blob`].
    pub(crate) fn mask_blob(&self, mask: &MaskDescriptor<'a>) -> Result<&'a [u8]> {
        Ok(self.0.mask_blob(mask)?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests;
