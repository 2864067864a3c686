//! A message that passed the checks which decoding asks of it, before any value is decoded.

use tgm_codec::threads::Threads;
use tgm_core::Message;
use tgm_core::frame::Frame;
use tgm_core::index::{HashList, Index};
use tgm_core::message::Outline;
use tgm_core::metadata::MessageMetadata;
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;

use super::trust::{Proof, Trust, Trusted};
use crate::base::error::{CborOf, Result, TensogramError};
use crate::base::interrupt;
use crate::base::options::DecodeOptions;
use crate::model::hash::{check_metadata, metadata_of};
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned::gathered;

/// A message whose structure and metadata passed every check of the format (FORMAT §1.10).
#[derive(Debug)]
pub struct CheckedMessage<'a> {
    /// Its frames and objects.
    pub message: Message<'a>,
    /// The metadata that counts: of its last metadata frame, overridden by preceders.
    pub metadata: MessageMetadata<'a>,
    pub(crate) outline: Outline<'a>,
    /// The memory that owned metadata and descriptors may take.
    pub budget: MetadataBudget,
}

impl<'a> CheckedMessage<'a> {
    /// Opens a message for what its objects are. No digest is checked, so no value can be read.
    ///
    /// # Errors
    /// The errors of the format's checks and of the limits.
    pub(crate) fn open(bytes: &'a [u8], options: &DecodeOptions) -> Result<Self> {
        Ok(Self::open_with(bytes, options, |_| Ok(()))?.0)
    }

    /// Opens a message for its metadata, whose digests are checked if `verify` says so.
    ///
    /// # Errors
    /// The errors of [`Self::open`]; [`TensogramError::HashMismatch`] without an object.
    pub(crate) fn open_metadata(bytes: &'a [u8], verify: bool) -> Result<Self> {
        let check = |message: &Message<'a>| if verify { check_metadata(message, &message.outline()?) } else { Ok(()) };
        Ok(Self::open_with(bytes, &DecodeOptions::default(), check)?.0)
    }

    /// Opens a message for the values of all its objects, or of object `only`.
    ///
    /// If the options ask for it, the objects' digests are checked before any CBOR is read, so that a damaged
    /// descriptor is reported as damage.
    ///
    /// # Errors
    /// The errors of [`Self::open`] and of [`Trust::check_message`].
    pub fn for_values(bytes: &'a [u8], options: &DecodeOptions, only: Option<usize>) -> Result<(Self, Proof)> {
        Self::open_with(bytes, options, |message| Trust::of_message(message, options)?.check_message(message, only))
    }

    /// Reads object `index` of the message that `bytes` begin with. Its digest is checked before, if the options ask for it.
    ///
    /// # Errors
    /// The errors of [`Self::for_values`], of [`Self::object`] and of `read`.
    pub(crate) fn read_object<R>(
        bytes: &'a [u8],
        index: usize,
        options: &DecodeOptions,
        read: impl FnOnce(Trusted<'_, 'a>) -> Result<R>,
    ) -> Result<R> {
        let (checked, proof) = Self::for_values(bytes, options, Some(index))?;
        read(Trusted::proven(&checked.object(index)?, proof))
    }

    fn open_with<T>(
        bytes: &'a [u8],
        options: &DecodeOptions,
        check: impl FnOnce(&Message<'a>) -> Result<T>,
    ) -> Result<(Self, T)> {
        let message = message(bytes)?;
        let outline = message.outline()?;
        options.limits.check_objects(outline.object_count)?;
        let checked = check(&message)?;
        if options.verify_hash {
            check_metadata(&message, &outline)?;
        }
        // Well-formed is enough: the walk finds the objects, whatever the index says.
        let read = |frame: Frame<'a>, what, error| TensogramError::cbor_in(&frame, what, error);
        outline.index.map(|frame| Index::parse(&frame).map_err(|e| read(frame, CborOf::Index, e))).transpose()?;
        outline.hashes.map(|frame| HashList::parse(&frame).map_err(|e| read(frame, CborOf::Hashes, e))).transpose()?;
        let metadata = metadata_of(&message, &outline)?;
        Ok((Self { message, metadata, outline, budget: MetadataBudget::new(&options.limits) }, checked))
    }

    /// Calls `f` for each object, with the threads that it may use: several objects at a time on one thread each, or
    /// one object after the other on all threads.
    ///
    /// # Errors
    /// The errors of `f`, and of the objects' frames.
    pub(super) fn map_objects<R: Send>(
        &self,
        proof: Proof,
        options: &DecodeOptions,
        f: impl Fn(Trusted<'_, 'a>, Threads) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let bytes = self.message.as_bytes().len() as u64;
        let threads = Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes)?;
        if threads.is_one() || self.outline.object_count < 2 {
            let each = |object: tgm_core::Result<DataObject<'a>>| {
                interrupt::check()?;
                f(Trusted::proven(&object.map_err(TensogramError::of_object)?, proof), threads)
            };
            return gathered(self.outline.object_count, self.message.objects().map(each));
        }
        let objects =
            self.message.objects().collect::<tgm_core::Result<Vec<_>>>().map_err(TensogramError::of_object)?;
        threads.map(&objects, |object| f(Trusted::proven(object, proof), threads.alone()))
    }

    /// Data object `index`, found by the walk.
    ///
    /// # Errors
    /// [`TensogramError::Object`] if there is no such object; the errors of its frame.
    pub(crate) fn object(&self, index: usize) -> Result<DataObject<'a>> {
        // Errors stay in, so that a walk that fails does not look like a message of fewer objects.
        let mut frames =
            self.message.frames().filter(|f| !matches!(f, Ok(f) if f.frame_type() != FrameType::NTensorFrame));
        let count = self.outline.object_count;
        let frame = frames.nth(index).ok_or_else(|| {
            TensogramError::Object(format!("object index {index} out of range (num_objects={count})").into())
        })?;
        DataObject::parse(frame?).map_err(TensogramError::of_object)
    }
}

/// The message that `bytes` begin with.
///
/// # Errors
/// The errors of preamble and postamble.
pub(super) fn message(bytes: &[u8]) -> Result<Message<'_>> {
    Message::parse(bytes).map_err(|error| TensogramError::opening(error, bytes))
}

#[cfg(all(test, feature = "parallel"))]
mod tests {
    use super::*;
    use crate::encode::{MessageBuilder, ObjectBuilder};

    fn message_of(objects: usize) -> Vec<u8> {
        let object = || ObjectBuilder::new(&[1], &[1_u8]).unwrap();
        (0..objects).fold(MessageBuilder::new(), |message, _| message.object(object())).encode().unwrap()
    }

    #[test]
    fn threads_take_an_object_each_or_work_together_on_one() {
        let threads_of = |objects, threads| {
            let bytes = message_of(objects);
            let options = DecodeOptions { threads, parallel_threshold_bytes: Some(0), ..DecodeOptions::default() };
            let (message, proof) = CheckedMessage::for_values(&bytes, &options, None).unwrap();
            message.map_objects(proof, &options, |_, threads| Ok(threads.count())).unwrap()
        };
        assert_eq!(threads_of(1, 3), [3]);
        assert_eq!(threads_of(2, 3), [1, 1]);
        assert_eq!(threads_of(2, 1), [1, 1]);
    }
}
