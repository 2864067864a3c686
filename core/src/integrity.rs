//! Whether a message is intact, in one call.

use crate::error::{ErrorKind, Result};
#[cfg(feature = "hash")]
use crate::hash::Verdict;
use crate::message::Message;
use crate::object::DataObject;

/// What [`Message::verify_all`] found in a message without faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Integrity {
    /// The number of frames.
    pub frames: usize,
    /// The number of frames that hold a digest, all of which are right. 0 without feature `hash`.
    pub hashed_frames: usize,
    /// The number of data objects.
    pub objects: usize,
}

impl Integrity {
    /// Whether every frame holds a digest. If so, every byte of the bodies is the one that was written.
    pub const fn is_hashed(&self) -> bool {
        self.hashed_frames == self.frames
    }
}

impl Message<'_> {
    /// Checks everything that can be checked without a decompressor: reads every byte of the frames, no allocation.
    ///
    /// In this order:
    ///
    /// 1. frames: headers, tails and order, and every digest that was written;
    /// 2. metadata and preceders;
    /// 3. objects: descriptors, masks, and the sizes of payloads that are not compressed;
    /// 4. the postamble's way to the footer, and indexes and hash lists against the objects.
    ///
    /// The result says whether there were digests at all. Without them, damage inside of values is not found.
    ///
    /// ```
    /// # let bytes: &[u8] = include_bytes!("../samples/float32-little.tgm");
    /// let found = tgm_core::Message::parse(bytes)?.verify_all()?;
    /// println!("{} frames are intact, {} of them by their digests", found.frames, found.hashed_frames);
    /// # assert_eq!(found.objects, 1);
    /// # #[cfg(feature = "hash")]
    /// # assert!(found.is_hashed());
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first fault: [`ErrorKind::DigestMismatch`] at the frame; [`ErrorKind::FooterOffset`] at the postamble; the errors of [`Self::frames`], [`Self::metadata`],
    /// [`Self::objects`], [`DataObject::stored`], [`Self::verify_index`] and `verify_hash_lists`; the errors of masks.
    pub fn verify_all(&self) -> Result<Integrity> {
        let found = self.verify_frames()?;
        Ok(Integrity { objects: self.verify_contents()?, ..found })
    }

    /// What [`Self::verify_all`] checks after the digests: metadata, objects, postamble, indexes and hash lists. Reads the CBOR and the
    /// masks, no payload. Returns the number of data objects.
    ///
    /// # Errors
    /// As [`Self::verify_all`], without digests of frames.
    pub fn verify_contents(&self) -> Result<usize> {
        let mut objects = 0_usize;
        self.metadata()?;
        for object in self.objects() {
            object?.verify_contents()?;
            objects = objects.saturating_add(1);
        }
        self.verify_footer_offset()?;
        self.verify_index()?;
        #[cfg(feature = "hash")]
        self.verify_hash_lists(self.hash_presence()?)?;
        Ok(objects)
    }

    #[cfg(feature = "hash")]
    fn verify_frames(&self) -> Result<Integrity> {
        let mut found = Integrity::default();
        for verified in self.verify(self.hash_presence()?) {
            let verified = verified?;
            found.frames = found.frames.saturating_add(1);
            match verified.verdict {
                Verdict::Good => found.hashed_frames = found.hashed_frames.saturating_add(1),
                Verdict::Missing => {}
                Verdict::Mismatch(_) => return Err(ErrorKind::DigestMismatch.at(verified.frame.offset())),
            }
        }
        Ok(found)
    }

    #[cfg(not(feature = "hash"))]
    fn verify_frames(&self) -> Result<Integrity> {
        let frames = self.frames().try_fold(0_usize, |count, frame| frame.map(|_| count.saturating_add(1)))?;
        Ok(Integrity { frames, ..Integrity::default() })
    }
}

impl DataObject<'_> {
    /// Checks what an object shows without a decompressor: the size of a payload that is not compressed, and the masks. Reads no
    /// payload. A stage that needs a decompressor is not a fault.
    ///
    /// # Errors
    /// The errors of [`DataObject::stored`] and of masks.
    pub fn verify_contents(&self) -> Result<()> {
        unless_undecodable(self.stored().map(|_| ()))?;
        #[cfg(feature = "masks")]
        for (_, entry) in self.descriptor().masks().iter() {
            let base = self.region_offset().saturating_add(entry.offset());
            unless_undecodable(self.mask(&entry).and_then(|mask| mask.verify().map_err(|e| e.shift(base))))?;
        }
        Ok(())
    }
}

/// The result, but `Ok` if it only says that a decompressor is needed.
fn unless_undecodable(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::NeedsDecoding(_)) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const MESSAGE: &[u8] = include_bytes!("../samples/cbor-before-payload-mask-rle.tgm");

    #[test]
    fn an_undamaged_message_is_intact() {
        let found = Message::parse(MESSAGE).unwrap().verify_all().unwrap();
        assert_eq!((found.objects, found.hashed_frames), (1, found.frames));
        assert!(found.frames > 1 && found.is_hashed());
    }

    #[test]
    fn every_damaged_byte_of_a_frame_is_found() {
        let intact = Message::parse(MESSAGE).unwrap().verify_all().unwrap();
        let frames: Vec<_> = Message::parse(MESSAGE).unwrap().frames().map(|frame| frame.unwrap()).collect();
        for frame in frames {
            let start = usize::try_from(frame.body_offset()).unwrap();
            for at in start..start + frame.body().len() {
                let mut bytes = MESSAGE.to_vec();
                bytes[at] ^= 0x10;
                let error = Message::parse(&bytes).unwrap().verify_all().unwrap_err();
                assert_eq!(error, ErrorKind::DigestMismatch.at(frame.offset()), "byte {at}");
            }
        }
        assert!(intact.is_hashed());
    }
}
