//! Valid messages.

use std::io::Cursor;

use arbitrary::{Arbitrary, Error, Result, Unstructured};

use tgm_std::options::{AggregateHashPolicy, EncodeOptions};
use tgm_std::{GlobalMetadata, StreamingEncoder, encode};

use crate::{MOST_OBJECTS, Object, any};

/// A valid message, and what was put into it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Message {
    /// The bytes of the message.
    pub bytes: Vec<u8>,
    /// The objects, before they were encoded.
    pub objects: Vec<Object>,
    /// The annotations of the message. Metadata of an object is in [`Object::metadata`].
    pub metadata: GlobalMetadata,
    /// How it was encoded.
    pub options: EncodeOptions,
    /// How its frames are laid out.
    pub form: Form,
}

/// How the frames of a message are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Metadata, index and digests come before the objects.
    Buffered,
    /// They come after the objects, and metadata of an object before it. The message does not state its length.
    Streamed,
    /// As [`Self::Streamed`], but the message states its length.
    Backfilled,
}

impl<'a> Arbitrary<'a> for Form {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        u.choose(&[Self::Buffered, Self::Streamed, Self::Backfilled]).copied()
    }
}

impl<'a> Arbitrary<'a> for Message {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut message = Self::choose(u)?;
        message.bytes = message.encode().map_err(|_| Error::IncorrectFormat)?;
        Ok(message)
    }
}

impl Message {
    /// What the message will be, before it is encoded.
    pub(super) fn choose(u: &mut Unstructured<'_>) -> Result<Self> {
        let (form, mut options): (Form, EncodeOptions) = (u.arbitrary()?, any(u)?);
        if form != Form::Buffered
            && matches!(options.aggregate_hash, AggregateHashPolicy::Header | AggregateHashPolicy::Both)
        {
            // A stream has no digests yet when it writes its header.
            options.aggregate_hash = AggregateHashPolicy::Footer;
        }
        let metadata = any(u)?;
        let objects = (0..u.int_in_range(0..=MOST_OBJECTS)?).map(|_| u.arbitrary()).collect::<Result<_>>()?;
        Ok(Self { bytes: Vec::new(), objects, metadata, options, form })
    }

    /// Encodes the objects again. The result is [`Self::bytes`], unless the encoder depends on more than its arguments.
    ///
    /// # Errors
    /// None as long as no field was changed.
    pub fn encode(&self) -> tgm_std::Result<Vec<u8>> {
        if self.form == Form::Buffered {
            let base = self.objects.iter().map(|object| object.metadata.clone()).collect();
            let objects: Vec<_> = self.objects.iter().map(|object| (&object.descriptor, &object.data[..])).collect();
            return encode(&GlobalMetadata { base, ..self.metadata.clone() }, &objects, &self.options);
        }
        let mut encoder = StreamingEncoder::new(Cursor::new(Vec::new()), &self.metadata, &self.options)?;
        for object in &self.objects {
            if !object.metadata.is_empty() {
                encoder.write_preceder(object.metadata.clone())?;
            }
            encoder.write_object(&object.descriptor, &object.data)?;
        }
        let sink = if self.form == Form::Streamed { encoder.finish() } else { encoder.finish_with_backfill() };
        Ok(sink?.into_inner())
    }
}
