//! One data object on its way into a frame (FORMAT §1.7, §4.2; PIPELINE §2).
//!
//! Values go through all stages but the compressor when an [`Object`] is made of them. They are compressed where they are
//! written, or by [`Object::compressed`].

mod described;
mod values;

use ciborium::Value;
use tgm_codec::memory;
use tgm_core::descriptor::Key;
use tgm_core::wire::{FRAME_HEADER_SIZE, FrameFlags, FrameType};

use self::described::Described;
use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve_more;
use crate::encode::checks;
use crate::encode::compress::LastStage;
use crate::encode::frame::{FrameForm, FrameWriter, WrittenFrame, append_frame, frame_len, padded};
use crate::encode::packing;
use crate::encode::payload::Payload;
use crate::encode::plan::Plan;
use crate::encode::sink::Sink;
use crate::model::cbor::Writer;
use crate::model::metadata::{object_descriptor_to_cbor, write_object_descriptor};
use crate::model::types::{DataObjectDescriptor, MasksMetadata};

/// An object of a message that is to be written: its descriptor and its payload region.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    /// The descriptor as readers will find it. Before compression it lacks szip's offsets, and the offsets of masks count from
    /// the end of the payload.
    pub(crate) descriptor: Described<'a>,
    /// The descriptor as CBOR. Empty before compression.
    pub(crate) cbor: Vec<u8>,
    payload: Payload<'a>,
    /// The blobs of masks, which follow the payload.
    blobs: Vec<u8>,
    /// The compressor that the payload still has to go through.
    last_stage: Option<LastStage>,
}

impl<'a> Object<'a> {
    /// An object whose `region` went through the pipeline elsewhere: the payload, and masks if the descriptor has some.
    ///
    /// # Errors
    /// The errors of FORMAT §4.7.
    pub(crate) fn pre_encoded(descriptor: &'a DataObjectDescriptor, region: &'a [u8]) -> Result<Self> {
        checks::descriptor(descriptor, region.len(), true)?;
        Plan::new(descriptor)?;
        checks::block_offsets(descriptor, region.len())?;
        Self::unchecked(descriptor, region)
    }

    /// An object of values that are stored as they are. They are looked at when they are written, and refused then if one is not
    /// finite. `None` if they go through a stage.
    ///
    /// # Errors
    /// The errors of FORMAT §4.2 that do not come from values.
    pub(crate) fn stored(descriptor: &'a DataObjectDescriptor, data: &'a [u8]) -> Result<Option<Self>> {
        let DataObjectDescriptor { encoding, filter, compression, masks, .. } = descriptor;
        if masks.is_some() || [encoding, filter, compression].iter().any(|stage| *stage != "none") {
            return Ok(None);
        }
        checks::descriptor(descriptor, data.len(), false)?;
        let payload = Payload::Stored { bytes: data, dtype: descriptor.dtype, order: descriptor.byte_order };
        Self::ready(Described::Borrowed(descriptor), payload, Vec::new()).map(Some)
    }

    /// An object of any descriptor and region. They are not compared with each other.
    ///
    /// # Errors
    /// The errors of [`object_descriptor_to_cbor`] and [`packing::check_dtype`].
    pub(crate) fn unchecked(descriptor: &'a DataObjectDescriptor, region: &'a [u8]) -> Result<Self> {
        Self::ready(Described::Borrowed(descriptor), Payload::Bytes(region.into()), Vec::new())
    }

    /// An object with the payload region of an object that was read. The region is not checked.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for an inconsistent descriptor; the errors of [`Self::unchecked`].
    pub(crate) fn taken_over(descriptor: &'a DataObjectDescriptor, region: &'a [u8]) -> Result<Self> {
        checks::consistent(descriptor)?;
        Self::unchecked(descriptor, region)
    }

    /// An existing object, byte for byte. `cbor` is its descriptor.
    pub(crate) fn kept(descriptor: DataObjectDescriptor, cbor: Vec<u8>, region: &'a [u8]) -> Self {
        let payload = Payload::Bytes(region.into());
        Self { descriptor: descriptor.into(), cbor, payload, blobs: Vec::new(), last_stage: None }
    }

    /// An object that needs no compressor any more. All new objects that are not compressed in their final place are made here, so
    /// that all are checked.
    fn ready(descriptor: Described<'a>, payload: Payload<'a>, blobs: Vec<u8>) -> Result<Self> {
        packing::check_dtype(&descriptor)?;
        let cbor = object_descriptor_to_cbor(&descriptor)?;
        Ok(Self { descriptor, cbor, payload, blobs, last_stage: None })
    }

    /// The object with its payload compressed into a buffer of its own, if that is still to be done.
    ///
    /// # Errors
    /// The errors of the compressor, and of the descriptor's CBOR.
    pub(crate) fn compressed(self) -> Result<Self> {
        let Self { mut descriptor, payload, blobs, last_stage: Some(stage), .. } = self else { return Ok(self) };
        let mut compressed = Vec::new();
        let offsets = stage.append(&descriptor.compression, payload, &mut compressed)?;
        complete(&mut descriptor, offsets, compressed.len());
        compressed.shrink_to_fit();
        Self::ready(descriptor, Payload::Bytes(compressed.into()), blobs)
    }

    /// Bytes of the payload region.
    fn region_len(&self) -> u64 {
        self.payload.len() as u64 + self.blobs.len() as u64
    }

    /// Bytes of the frame, without the padding after it. `None` before compression.
    pub(crate) fn frame_len(&self) -> Option<u64> {
        let body_len = self.region_len() + self.cbor.len() as u64;
        self.last_stage.is_none().then(|| frame_len(FrameType::NTensorFrame, body_len))
    }

    /// The length of the frame, or an estimate that is mostly too high before compression.
    pub(crate) fn expected_len(&self) -> u64 {
        self.frame_len().unwrap_or(self.payload.len() as u64)
    }

    /// The descriptor, and the bytes of the payload region.
    ///
    /// # Errors
    /// The errors of [`Self::compressed`]; [`TensogramError::Encoding`] if there is no memory.
    pub(crate) fn into_region(self) -> Result<(DataObjectDescriptor, Vec<u8>)> {
        let Self { descriptor, payload, blobs, .. } = self.compressed()?;
        let mut bytes = payload.into_bytes()?.into_owned();
        reserve_more(&mut bytes, blobs.len())?;
        bytes.extend_from_slice(&blobs);
        Ok((descriptor.into_owned(), bytes))
    }

    /// Writes the frame and its padding.
    ///
    /// # Errors
    /// The errors of the sink; [`TensogramError::Encoding`] before compression.
    pub(crate) fn write_to(&self, sink: &mut impl Sink, form: FrameForm) -> Result<WrittenFrame> {
        if self.last_stage.is_some() {
            return Err(TensogramError::encoding("the frame of an object that is still to be compressed"));
        }
        let (region_len, cbor_len) = (self.region_len(), self.cbor.len() as u64);
        let (flags, before) = if form.descriptor_first { (0, 0) } else { (FrameFlags::CBOR_AFTER_PAYLOAD, region_len) };
        let mut frame = FrameWriter::begin(sink, FrameType::NTensorFrame, flags, region_len + cbor_len, form.hashing)?;
        if form.descriptor_first {
            frame.write(&self.cbor)?;
        }
        self.payload.write_to(&mut frame)?;
        frame.write(&self.blobs)?;
        if !form.descriptor_first {
            frame.write(&self.cbor)?;
        }
        frame.finish(Some(FRAME_HEADER_SIZE as u64 + before))
    }

    /// Appends the frame and its padding. If the payload is still to be compressed, it is compressed in its final place. All
    /// buffered messages are written here, and streamed ones by [`Self::write_to`].
    ///
    /// # Errors
    /// The errors of the compressor; [`TensogramError::Encoding`] if there is no memory.
    pub(crate) fn append_to(mut self, out: &mut Vec<u8>, form: FrameForm) -> Result<WrittenFrame> {
        if form.descriptor_first {
            // A descriptor that comes first is known when the payload has been compressed.
            self = self.compressed()?;
        }
        let Some(stage) = self.last_stage else {
            let room = usize::try_from(padded(self.expected_len()));
            memory::reserve(out, room.map_err(|_| TensogramError::encoding("frame overflows usize"))?)?;
            return self.write_to(out, form);
        };
        let Self { mut descriptor, payload, blobs, .. } = self;
        append_frame(out, FrameType::NTensorFrame, FrameFlags::CBOR_AFTER_PAYLOAD, form.hashing, |out| {
            let start = out.len();
            let offsets = stage.append(&descriptor.compression, payload, out)?;
            complete(&mut descriptor, offsets, out.len() - start);
            out.extend_from_slice(&blobs);
            let cbor_start = out.len();
            write_object_descriptor(&descriptor, &mut Writer::new(out))?;
            Ok(Some(cbor_start))
        })
    }
}

/// Completes a descriptor when the payload has its length: records where szip's intervals start, and moves the offsets of masks,
/// which counted from the end of the payload.
fn complete(descriptor: &mut Described<'_>, offsets: Option<Vec<u64>>, payload_len: usize) {
    if let Some(offsets) = offsets {
        let offsets: Vec<_> = offsets.into_iter().map(Value::from).collect();
        descriptor.to_mut().set_param(Key::SzipBlockOffsets, offsets);
    }
    // A borrowed descriptor without masks stays borrowed.
    if descriptor.masks.is_none() {
        return;
    }
    if let Some(MasksMetadata { nan, pos_inf, neg_inf }) = &mut descriptor.to_mut().masks {
        [nan, pos_inf, neg_inf].into_iter().flatten().for_each(|mask| mask.offset += payload_len as u64);
    }
}

#[cfg(test)]
mod tests {
    use tgm_codec::threads::Threads;

    use super::*;
    use crate::base::options::CompressionBackend;
    use crate::encode::compress::CodecResources;
    use crate::{EncodeOptions, ObjectBuilder};

    /// By these lengths memory is reserved, and objects are put where they mostly stay.
    #[test]
    fn the_length_of_a_frame_is_known_unless_it_is_still_to_be_compressed() {
        let (data, options) = ([7_u8; 1000], EncodeOptions::default());
        let resources = CodecResources { backend: CompressionBackend::Auto, threads: Threads::NONE };
        let (plain, szip) = [ObjectBuilder::new(&[1000], &data), ObjectBuilder::new(&[1000], &data)].into();
        let (plain, szip) = (plain.unwrap(), szip.unwrap().szip());
        let object = Object::of_values(plain.descriptor(), &data, &options, resources).unwrap();
        let lens = (object.expected_len(), object.frame_len());
        let written = object.append_to(&mut Vec::new(), FrameForm::of(&options)).unwrap();
        assert_eq!(lens, (written.len, Some(written.len)));
        let object = Object::of_values(szip.descriptor(), &data, &options, resources).unwrap();
        assert_eq!((object.expected_len(), object.frame_len()), (1000, None));
    }
}
