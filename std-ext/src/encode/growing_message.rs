//! Buffered messages that take their objects bit by bit, so that not all of them are in memory beside the message.

use std::collections::BTreeMap;

use ciborium::Value;

use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::message::Growth;
use crate::encode::object::Object;
use crate::encode::object_builder::ObjectBuilder;
use crate::encode::part_error::PartError;
use crate::encode::parts::{Part, plan};
use crate::encode::taken_object::TakenObject;
use crate::model::types::GlobalMetadata;

/// A buffered message that takes its objects bit by bit.
///
/// Objects are encoded when they are added, and what they were encoded from is not needed any more. So a program that
/// reads one object at a time has the message and that object in memory, and no more.
/// [`encode_parts`](crate::encode::encode_parts) and [`reframe`](crate::encode::reframe) give the same messages.
///
/// The frames before the objects are written at last, and need the room that they take. The objects are moved once if
/// that is not the room that was left: this costs a copy within the message.
///
/// ```
/// use tgm_std::encode::{GrowingMessage, Part};
/// use tgm_std::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, Dtype, ByteOrder};
///
/// let options = EncodeOptions::default();
/// let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[1000]);
/// let mut message = GrowingMessage::new(&options);
/// for number in 0..5 {
///     message.add(&[Part::Values(&descriptor, &[number; 1000], &options)])?;
/// }
/// let message = message.finish(&GlobalMetadata::default())?;
/// assert_eq!(tgm_core::Message::parse(&message)?.object(3)?.payload(), [3; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GrowingMessage {
    options: EncodeOptions,
    growth: Growth,
    /// Whether an object could not be added. Some of its bytes may be in the message.
    is_broken: bool,
}

impl GrowingMessage {
    /// A message without objects. The options apply to the message: its metadata, digests and threads.
    pub fn new(options: &EncodeOptions) -> Self {
        Self { options: options.clone(), growth: Growth::new(options), is_broken: false }
    }

    /// How many objects were added.
    pub const fn object_count(&self) -> usize {
        self.growth.object_count()
    }

    /// Adds objects. The objects of one call are encoded on several threads, if the options say so.
    ///
    /// # Errors
    /// The errors of [`encode_parts`](crate::encode::encode_parts), with the number of the object in the message. After an
    /// error nothing more can be added, and [`Self::finish`] fails.
    pub fn add(&mut self, parts: &[Part<'_>]) -> Result<(), PartError> {
        let before = self.object_count();
        let planned = plan(parts, |part| *part, &self.options).inspect_err(|_| self.is_broken = true);
        self.grow(planned.map_err(|error| error.behind(before))?)
    }

    /// Adds an object of values. Returns its metadata, which [`Self::finish`] needs in the object's place of `base`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for the first key that could not be set, which leaves the message as it was; the errors of
    /// [`Self::add`].
    pub(crate) fn add_object(
        &mut self,
        object: ObjectBuilder<'_>,
        options: &EncodeOptions,
    ) -> Result<BTreeMap<String, Value>> {
        let (descriptor, data, metadata) = object.into_parts(self.object_count())?;
        self.add(&[Part::Values(&descriptor, &data, options)])?;
        Ok(metadata)
    }

    /// Adds an object of another message as it is.
    ///
    /// # Errors
    /// Without memory. After an error nothing more can be added, and [`Self::finish`] fails.
    pub fn add_taken(&mut self, object: TakenObject<'_>) -> Result<(), PartError> {
        self.grow(vec![object.into_object()])
    }

    fn grow(&mut self, objects: Vec<Object<'_>>) -> Result<(), PartError> {
        self.check()?;
        let before = self.object_count();
        self.growth.add(objects).inspect_err(|_| self.is_broken = true).map_err(|error| error.behind(before))
    }

    /// Fails if an object could not be added.
    fn check(&self) -> Result<(), PartError> {
        if self.is_broken {
            let text = "the message lacks an object that could not be added to it";
            return Err(PartError::of_all(TensogramError::encoding(text)));
        }
        Ok(())
    }

    /// The message.
    ///
    /// # Errors
    /// The errors of [`encode_parts`](crate::encode::encode_parts) about metadata; an earlier error of [`Self::add`].
    pub fn finish(self, metadata: &GlobalMetadata) -> Result<Vec<u8>, PartError> {
        self.check()?;
        self.growth.finish(metadata, &self.options)
    }
}
