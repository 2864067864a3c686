//! Objects whose frames were read apart from the rest of their message, all of each.
//!
//! Errors count from the start of the message, as they do if all of it is at hand.

use tgm_core::frame::Frame;
use tgm_core::hash::HashPresence;
use tgm_core::object::DataObject;

use super::plan::threads_for;
use super::trust::{Proof, Trust, Trusted};
use super::whole::decoded_object;
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::types::DecodedObject;

/// The frame of an object, and what is known of its message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoneFrame<'a> {
    /// All bytes of the frame.
    pub(crate) bytes: &'a [u8],
    /// Where the frame begins in its message.
    pub(crate) offset: u64,
    /// The number of the object in its message.
    pub(crate) index: usize,
    /// How to know whether the frame has a digest.
    pub(crate) presence: HashPresence,
}

impl<'a> LoneFrame<'a> {
    /// The object, whose digest was checked if the options ask for it.
    ///
    /// # Errors
    /// The errors of the frame, of the digest and of the object.
    fn open(&self, options: &DecodeOptions) -> Result<(DataObject<'a>, Proof)> {
        let (frame, _) = Frame::parse_at(self.bytes, self.offset)?;
        let trust = match (options.verify_hash, options.strict_hash_presence) {
            (false, _) => Trust::Unasked,
            (true, true) => Trust::By(HashPresence::Flagged),
            // A frame that is flagged itself needs no other frame to say that it has a digest.
            (true, false) if frame.has_hash_flag() => Trust::By(HashPresence::Flagged),
            (true, false) => Trust::By(self.presence),
        };
        let proof = trust.check(&frame, Some(self.index))?;
        Ok((DataObject::parse(frame).map_err(TensogramError::of_object)?, proof))
    }

    /// Reads the object, whose digest is checked before if the options ask for it.
    ///
    /// # Errors
    /// The errors of [`Self::open`] and of `read`.
    pub(crate) fn read<R>(
        &self,
        options: &DecodeOptions,
        read: impl FnOnce(Trusted<'_, 'a>) -> Result<R>,
    ) -> Result<R> {
        let (object, proof) = self.open(options)?;
        read(Trusted::proven(&object, proof))
    }

    /// The descriptor and the values.
    ///
    /// # Errors
    /// The errors of [`Self::open`] and of [`Read::bytes`](crate::Read::bytes).
    pub(crate) fn decode(&self, options: &DecodeOptions, budget: &MetadataBudget) -> Result<DecodedObject> {
        self.read(options, |object| decoded_object(object, options, threads_for(object, options)?, budget))
    }
}

#[cfg(test)]
mod tests {
    use tgm_core::descriptor::{ByteOrder, Dtype};

    use super::*;
    use crate::encode::encode_data_object_frame;
    use crate::model::types::DataObjectDescriptor;

    /// What opening a frame gives that has a digest, or has none, in a message of which a reader knows `presence`.
    fn opened(has_digest: bool, presence: HashPresence, strict_hash_presence: bool) -> Result<()> {
        let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[3]);
        let bytes = encode_data_object_frame(&descriptor, &[1, 2, 3], false, has_digest).unwrap();
        let options = DecodeOptions { verify_hash: true, strict_hash_presence, ..DecodeOptions::default() };
        LoneFrame { bytes: &bytes, offset: 0, index: 4, presence }.open(&options).map(drop)
    }

    #[test]
    fn a_flagged_frame_has_a_digest_whatever_its_message_says_and_another_one_if_the_message_says_so() {
        use HashPresence::{Absent, All, Flagged};
        for presence in [Absent, All, Flagged] {
            for strict in [false, true] {
                assert!(opened(true, presence, strict).is_ok(), "{presence:?}, strict: {strict}");
            }
        }
        for (presence, strict) in [(Absent, false), (Flagged, false), (Absent, true), (All, true)] {
            let error = opened(false, presence, strict).unwrap_err();
            assert!(matches!(error, TensogramError::MissingHash { object_index: 4 }), "{presence:?}: {error}");
        }
        // In a message all of whose frames have digests, the place of this one holds zeros.
        assert!(matches!(opened(false, All, false).unwrap_err(), TensogramError::HashMismatch { .. }));
    }
}
