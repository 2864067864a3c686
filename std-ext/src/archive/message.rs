//! One message of an archive.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::object::Object;
use super::source::Source;
use crate::base::error::Result;
use crate::model::types::GlobalMetadata;
use crate::validate::check_message;

/// One message of an archive. Its metadata is read once, when it is asked for.
///
/// ```
/// use tgm_std::Archive;
///
/// let archive = Archive::open("../tests/data/realistic/surface-181x360.tgm")?;
/// let message = archive.message(0)?;
/// assert_eq!(message.metadata()?.get_at(0, "mars.param").and_then(|param| param.as_str()), Some("2t"));
/// message.verify()?;
/// for object in message.objects()? {
///     println!("{:?}", object?.shape());
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
pub struct Message<'s> {
    source: &'s Source<'s>,
    index: usize,
    metadata: OnceLock<GlobalMetadata>,
    /// The number of objects, if it was asked for before the metadata.
    count: OnceLock<usize>,
}

impl<'s> Message<'s> {
    pub(super) const fn new(source: &'s Source<'s>, index: usize) -> Self {
        Self { source, index, metadata: OnceLock::new(), count: OnceLock::new() }
    }

    /// The number of the message in its archive.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// What the message says of itself and of its objects: the last metadata frame, with the preceders of objects. `base` has
    /// an entry for each object. No payload is read. The digests of these frames are checked, unless
    /// [`Archive::verify_metadata`](crate::Archive::verify_metadata) turned that off.
    ///
    /// # Errors
    /// [`TensogramError::Framing`](crate::TensogramError::Framing) if there is no such message;
    /// [`TensogramError::HashMismatch`](crate::TensogramError::HashMismatch) without an object; the errors of the source, of
    /// the format's checks and of the default limits.
    pub fn metadata(&self) -> Result<&GlobalMetadata> {
        if let Some(metadata) = self.metadata.get() {
            return Ok(metadata);
        }
        let metadata = self.source.metadata(self.index)?;
        // Threads that come here at the same time each read it. One of the answers stays.
        Ok(self.metadata.get_or_init(|| metadata))
    }

    /// The number of objects. No digest is checked.
    ///
    /// # Errors
    /// The errors of [`Self::metadata`], digests excepted.
    #[expect(clippy::len_without_is_empty, reason = "it can fail")]
    pub fn len(&self) -> Result<usize> {
        if let Some(count) = self.metadata.get().map(|metadata| metadata.base.len()).or(self.count.get().copied()) {
            return Ok(count);
        }
        let count = self.source.count_objects(self.index)?;
        Ok(*self.count.get_or_init(|| count))
    }

    /// Object `index`. Its descriptor is read, and no payload.
    ///
    /// # Errors
    /// [`TensogramError::Object`](crate::TensogramError::Object) if there is no such object; the errors of the source and of
    /// the frame.
    pub fn object(&self, index: usize) -> Result<Object<'s>> {
        Object::open(self.source, self.index, index)
    }

    /// All objects in order.
    ///
    /// # Errors
    /// The errors of [`Self::len`].
    pub fn objects(&self) -> Result<impl DoubleEndedIterator<Item = Result<Object<'s>>> + ExactSizeIterator + use<'s>> {
        let (source, message) = (self.source, self.index);
        Ok((0..self.len()?).map(move |index| Object::open(source, message, index)))
    }

    /// All bytes of the message, borrowed where they are at hand.
    ///
    /// # Errors
    /// [`TensogramError::Framing`](crate::TensogramError::Framing) if there is no such message; the errors of the source.
    pub fn bytes(&self) -> Result<Cow<'s, [u8]>> {
        match self.source.message_bytes(self.index)? {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => Ok(Cow::Owned(self.source.read_message(self.index)?)),
        }
    }

    /// The bytes of the message, with zeros in the place of payloads and masks if it is long: metadata and descriptors are
    /// there. Borrowed where they are at hand, with payloads. Digests of objects cannot be checked on an outline.
    ///
    /// # Errors
    /// The errors of [`Self::bytes`].
    pub fn outline(&self) -> Result<Cow<'s, [u8]>> {
        match self.source.message_bytes(self.index)? {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => Ok(Cow::Owned(self.source.outline(self.index)?)),
        }
    }

    /// Checks that the message is intact: all its digests and its structure ([`check_message`]). Reads all of it.
    ///
    /// # Errors
    /// The first thing that is wrong; the errors of the source.
    pub fn verify(&self) -> Result<()> {
        Ok(check_message(&self.bytes()?)?)
    }
}
