//! Buffered messages that take their objects bit by bit, so that not all of them are in memory beside the message.

use std::collections::BTreeMap;

use ciborium::Value;

use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::checks;
use crate::encode::message::Growth;
use crate::encode::message::fitting;
use crate::encode::mixed_objects::{Part, plan_parts};
use crate::encode::object::Planned;
use crate::encode::object_builder::ObjectBuilder;
use crate::encode::part_error::PartError;
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
        let planned = plan_parts(parts, &self.options).inspect_err(|_| self.is_broken = true);
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
        self.grow(vec![object.into_object().into()])
    }

    fn grow(&mut self, objects: Vec<Planned<'_>>) -> Result<(), PartError> {
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
        checks::message(metadata, self.object_count()).map_err(PartError::of_all)?;
        self.growth.finish(metadata, &self.options).map(fitting)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use super::*;
    use crate::base::options::{AggregateHashPolicy, Provenance};
    use crate::encode::{encode_parts, reframe};
    use crate::{ByteOrder, DataObjectDescriptor, Dtype};

    /// Few objects and many, without digests and with lists of them on both sides; too little room and too much.
    #[test]
    fn a_growing_message_is_the_message_that_is_encoded_at_once() {
        for (count, aggregate_hash) in [
            (0, AggregateHashPolicy::Auto),
            (1, AggregateHashPolicy::None),
            (3, AggregateHashPolicy::Both),
            (900, AggregateHashPolicy::Auto),
        ] {
            for (hashing, descriptor_first) in [(true, false), (false, false), (true, true)] {
                let provenance = Some(Provenance {
                    time: "2024-01-01T00:00:00Z".into(),
                    uuid: "01234567-89ab-4cde-8f01-23456789abcd".into(),
                    encoder_name: "test".into(),
                    encoder_version: "1".into(),
                });
                let options =
                    EncodeOptions { hashing, aggregate_hash, descriptor_first, provenance, ..EncodeOptions::default() };
                let values: Vec<Vec<u8>> =
                    (0..count).map(|index| vec![u8::try_from(index % 200).unwrap(); 8 * (index % 40)]).collect();
                let descriptors: Vec<_> = values
                    .iter()
                    .map(|values| {
                        let mut descriptor =
                            DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[values.len() as u64]);
                        let is_compressed = cfg!(feature = "lz4") && values.len() > 80;
                        descriptor.compression = if is_compressed { "lz4" } else { "none" }.to_string();
                        descriptor
                    })
                    .collect();
                let parts: Vec<_> = descriptors
                    .iter()
                    .zip(&values)
                    .map(|(descriptor, values)| Part::Values(descriptor, values, &options))
                    .collect();
                let metadata = GlobalMetadata::default();
                let expected = encode_parts(&metadata, &parts, &options).unwrap();
                let mut growing = GrowingMessage::new(&options);
                parts.chunks(7).for_each(|some| growing.add(some).unwrap());
                assert_eq!(growing.object_count(), count);
                assert!(growing.finish(&metadata).unwrap() == expected, "{count} {hashing} {descriptor_first}");

                let message = tgm_core::Message::parse(&expected).unwrap();
                let taken = || message.objects().map(|object| TakenObject::new(&object.unwrap()).unwrap());
                let mut growing = GrowingMessage::new(&options);
                taken().for_each(|object| growing.add_taken(object).unwrap());
                let expected = reframe(&metadata, taken().collect(), &options).unwrap();
                assert!(growing.finish(&metadata).unwrap() == expected, "{count} {hashing} {descriptor_first}");
            }
        }
    }

    #[test]
    fn errors_have_the_number_of_the_object_in_the_message() {
        let options = EncodeOptions::default();
        let good = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[1]);
        let mut growing = GrowingMessage::new(&options);
        growing.add(&[Part::Values(&good, &[1], &options); 2]).unwrap();
        let error =
            growing.add(&[Part::Values(&good, &[1], &options), Part::Values(&good, &[], &options)]).unwrap_err();
        assert_eq!(error.object_index, Some(3), "{error}");
    }

    #[test]
    fn a_message_that_lacks_an_object_is_not_finished() {
        let options = EncodeOptions::default();
        let good = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Little, &[1]);
        let bytes = |value: f64| value.to_le_bytes();
        let mut packed = good.clone();
        packed.encoding = "simple_packing".into();
        for (name, descriptor, data) in [
            ("NaN", &good, &bytes(f64::NAN)[..]),
            ("a wrong length", &good, &[]),
            ("no parameters", &packed, &bytes(f64::INFINITY)),
        ] {
            let mut growing = GrowingMessage::new(&options);
            growing.add(&[Part::Values(&good, &bytes(1.0), &options)]).unwrap();
            growing.add(&[Part::Values(descriptor, data, &options)]).unwrap_err();
            let again = growing.add(&[Part::Values(&good, &bytes(1.0), &options)]).unwrap_err();
            assert!(again.to_string().contains("lacks an object"), "{name}: {again}");
            assert!(growing.finish(&GlobalMetadata::default()).is_err(), "{name}");
        }
    }
}
