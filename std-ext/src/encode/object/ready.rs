//! Objects that are ready to be written.

use tgm_core::wire::{FRAME_HEADER_SIZE, FrameFlags, FrameType};

use super::described::Described;
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::limits::reserve_more;
use crate::encode::checks;
use crate::encode::frame::{FrameForm, FrameWriter, object_frame_len};
use crate::encode::packing;
use crate::encode::payload_region::{Payload, Region};
use crate::encode::plan::Plan;
use crate::encode::sink::Sink;
use crate::model::metadata::object_descriptor_to_cbor;
use crate::model::types::DataObjectDescriptor;

/// An object that is ready to be written: its descriptor and its payload region.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    /// The descriptor as readers will find it, with all parameters, masks and offsets.
    pub(crate) descriptor: Described<'a>,
    /// The descriptor as CBOR.
    pub(crate) cbor: Vec<u8>,
    region: Region<'a>,
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
        Self::new(Described::Borrowed(descriptor), Region { payload, blobs: Vec::new() }).map(Some)
    }

    /// An object of any descriptor and region. They are not compared with each other.
    ///
    /// # Errors
    /// The errors of [`object_descriptor_to_cbor`] and [`packing::check_dtype`].
    pub(crate) fn unchecked(descriptor: &'a DataObjectDescriptor, region: &'a [u8]) -> Result<Self> {
        Self::new(Described::Borrowed(descriptor), Region::borrowed(region))
    }

    /// An object with the payload region of an object that was read. The region is not checked.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for an inconsistent descriptor; the errors of [`Self::unchecked`].
    pub(crate) fn taken_over(descriptor: &'a DataObjectDescriptor, region: &'a [u8]) -> Result<Self> {
        checks::consistent(descriptor)?;
        Self::unchecked(descriptor, region)
    }

    /// All new objects are made here, so that all are checked.
    pub(super) fn new(descriptor: Described<'a>, region: Region<'a>) -> Result<Self> {
        packing::check_dtype(&descriptor)?;
        let cbor = object_descriptor_to_cbor(&descriptor)?;
        Ok(Self { descriptor, cbor, region })
    }

    /// An existing object, byte for byte. `cbor` is its descriptor.
    pub(crate) fn kept(descriptor: DataObjectDescriptor, cbor: Vec<u8>, region: &'a [u8]) -> Self {
        Self { descriptor: descriptor.into(), cbor, region: Region::borrowed(region) }
    }

    /// Bytes of the frame, without the padding after it.
    pub(crate) fn frame_len(&self) -> u64 {
        object_frame_len(self.region.len(), self.cbor.len() as u64)
    }

    /// The descriptor, and the bytes of the payload region.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if there is no memory.
    pub(crate) fn into_region(self) -> Result<(DataObjectDescriptor, Vec<u8>)> {
        let Region { payload, blobs } = self.region;
        let mut bytes = payload.into_bytes()?.into_owned();
        reserve_more(&mut bytes, blobs.len())?;
        bytes.extend_from_slice(&blobs);
        Ok((self.descriptor.into_owned(), bytes))
    }

    /// Writes the frame, with descriptor and payload in the order that `form` asks for. Returns its digest if it gets one.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn write_to(&self, sink: &mut impl Sink, form: FrameForm) -> Result<Option<u64>> {
        let FrameForm { hashing, descriptor_first } = form;
        let (flags, before) =
            if descriptor_first { (0, 0) } else { (FrameFlags::CBOR_AFTER_PAYLOAD, self.region.len()) };
        let mut frame = FrameWriter::begin(sink, FrameType::NTensorFrame, flags, self.frame_len(), hashing)?;
        if descriptor_first {
            frame.write(&self.cbor)?;
        }
        self.region.write_to(&mut frame)?;
        if !descriptor_first {
            frame.write(&self.cbor)?;
        }
        frame.finish_object(FRAME_HEADER_SIZE as u64 + before)
    }
}
