//! Objects of a message that is to be written.

use tgm_codec::memory;

use super::draft::Draft;
use super::ready::Object;
use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::compress::CodecResources;
use crate::encode::frame::{FrameForm, WrittenFrame, pad, padded};
use crate::encode::sink::Sink;
use crate::model::types::DataObjectDescriptor;

/// An object of a message that is to be written.
#[derive(Debug)]
pub(crate) enum Planned<'a> {
    /// Ready to be written.
    Object(Object<'a>),
    /// To be compressed where it is written.
    Draft(Box<Draft<'a>>),
}

impl<'a> Planned<'a> {
    /// Puts `data`, elements in the descriptor's byte order, through all stages but the compressor.
    ///
    /// # Errors
    /// The errors of FORMAT §4.2, in its order.
    pub(crate) fn new(
        descriptor: &'a DataObjectDescriptor,
        data: &'a [u8],
        options: &EncodeOptions,
        resources: CodecResources,
    ) -> Result<Self> {
        let draft = Draft::new(descriptor, data, options, resources)?;
        match draft.compressor {
            None => draft.into_object().map(Self::Object),
            Some(_) => Ok(Self::Draft(Box::new(draft))),
        }
    }

    /// The descriptor. Compression may still add parameters.
    pub(crate) fn descriptor(&self) -> &DataObjectDescriptor {
        match self {
            Self::Object(object) => &object.descriptor,
            Self::Draft(draft) => &draft.descriptor,
        }
    }

    /// The length of the frame, or an estimate that is mostly too high for an object that is still to be compressed.
    pub(crate) fn expected_len(&self) -> u64 {
        match self {
            Self::Object(object) => object.frame_len(),
            Self::Draft(draft) => draft.payload.len() as u64,
        }
    }

    /// The length of the frame if it is known, so that its memory can be reserved. 0 otherwise.
    pub(crate) fn known_len(&self) -> u64 {
        match self {
            Self::Object(object) => object.frame_len(),
            Self::Draft(_) => 0,
        }
    }

    /// Writes the frame and its padding. What is still to be compressed gets memory of its own.
    ///
    /// # Errors
    /// The errors of the compressor and of the sink.
    pub(crate) fn write_to(self, sink: &mut impl Sink, form: FrameForm) -> Result<WrittenFrame> {
        let object = match self {
            Self::Draft(draft) => draft.into_object()?,
            Self::Object(object) => object,
        };
        let len = object.frame_len();
        let digest = object.write_to(sink, form)?;
        pad(sink, len)?;
        Ok(WrittenFrame { len, digest })
    }

    /// Appends the frame and its padding. All buffered messages are written here, and streamed ones by
    /// [`Object::write_to`].
    ///
    /// # Errors
    /// The errors of the compressor; [`TensogramError::Encoding`] if there is no memory.
    pub(crate) fn append_to(self, out: &mut Vec<u8>, form: FrameForm) -> Result<WrittenFrame> {
        match self {
            Self::Draft(draft) if !form.descriptor_first => {
                let frame = draft.append_to(out, form.hashing)?;
                pad(out, frame.len)?;
                Ok(frame)
            }
            // The descriptor is known only when the payload is compressed, and comes before it.
            Self::Draft(draft) => Self::Object(draft.into_object()?).append_to(out, form),
            Self::Object(_) => {
                let room = usize::try_from(padded(self.expected_len()));
                memory::reserve(out, room.map_err(|_| TensogramError::encoding("frame overflows usize"))?)?;
                self.write_to(out, form)
            }
        }
    }
}

impl<'a> From<Object<'a>> for Planned<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use tgm_codec::threads::Threads;

    use super::*;
    use crate::ObjectBuilder;
    use crate::base::options::CompressionBackend;

    /// By these lengths memory is reserved, and objects are put where they mostly stay.
    #[test]
    fn the_length_of_a_frame_is_known_unless_it_is_still_to_be_compressed() {
        let (data, options) = ([7_u8; 1000], EncodeOptions::default());
        let resources = CodecResources { backend: CompressionBackend::Auto, threads: Threads::NONE };
        let (plain, szip) = [ObjectBuilder::new(&[1000], &data), ObjectBuilder::new(&[1000], &data)].into();
        let (plain, szip) = (plain.unwrap(), szip.unwrap().szip());
        let object = Planned::new(plain.descriptor(), &data, &options, resources).unwrap();
        let lens = (object.expected_len(), object.known_len());
        let written = object.append_to(&mut Vec::new(), FrameForm::of(&options)).unwrap();
        assert_eq!(lens, (written.len, written.len));
        let draft = Planned::new(szip.descriptor(), &data, &options, resources).unwrap();
        assert_eq!((draft.expected_len(), draft.known_len()), (1000, 0));
    }
}
