//! One data object: through the pipeline, and into its frame (FORMAT §1.7, §4.2; PIPELINE §2).

use std::borrow::Cow;
use std::ops::Deref;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype, Encoding, Key};
use tgm_core::wire::{FRAME_HEADER_SIZE, FrameFlags, FrameType};

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve_more;
use crate::base::memory;
use crate::base::options::EncodeOptions;
use crate::base::threads::Threads;
use crate::encode::compress::{Means, compress_payload};
use crate::encode::finite::{Masks, find, zero_masked};
use crate::encode::frame::{FrameWriter, OpenFrame, object_frame_len, pad, padded};
use crate::encode::packing::{Packer, Values, derive};
use crate::encode::plan::{Compressor, Plan, encoding};
use crate::encode::region::{Payload, Region};
use crate::encode::sink::Sink;
use crate::encode::{checks, masks, value_order};
use crate::model::cbor::Writer;
use crate::model::metadata::{object_descriptor_to_cbor, write_object_descriptor};
use crate::model::params::{Params, metadata};
use crate::model::types::{DataObjectDescriptor, MasksMetadata};

/// An object that is ready to be written: what it is, and the bytes of its payload region or how to make them.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    /// As it will be read: with all parameters, masks and offsets.
    pub(crate) descriptor: Described<'a>,
    /// The descriptor as it is written.
    pub(crate) cbor: Vec<u8>,
    region: Region<'a>,
}

/// A descriptor, the caller's or one of its own. Handed around, it is no larger than a reference.
#[derive(Clone, Debug)]
pub(crate) enum Described<'a> {
    Borrowed(&'a DataObjectDescriptor),
    Owned(Box<DataObjectDescriptor>),
}

impl Described<'_> {
    /// For changes, after the first of which it is one of its own.
    fn to_mut(&mut self) -> &mut DataObjectDescriptor {
        match self {
            Self::Owned(descriptor) => descriptor,
            Self::Borrowed(descriptor) => {
                let owned = Box::new(descriptor.clone());
                *self = Self::Owned(owned);
                self.to_mut()
            }
        }
    }
}

impl Deref for Described<'_> {
    type Target = DataObjectDescriptor;

    fn deref(&self) -> &DataObjectDescriptor {
        match self {
            Self::Borrowed(descriptor) => descriptor,
            Self::Owned(descriptor) => descriptor,
        }
    }
}

impl From<DataObjectDescriptor> for Described<'_> {
    fn from(descriptor: DataObjectDescriptor) -> Self {
        Self::Owned(Box::new(descriptor))
    }
}

/// An object that has been through the pipeline as far as the compressor, which it still has to go through.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    descriptor: Described<'a>,
    payload: Payload<'a>,
    /// Of the values in `payload`, for compressors that code numbers.
    order: ByteOrder,
    compressor: Compressor,
    /// Blobs of masks, whose places in the descriptor are counted from the first of them.
    blobs: Vec<u8>,
    means: Means,
}

/// An object of a message that is to be written.
#[derive(Debug)]
pub(crate) enum Planned<'a> {
    /// Ready to be written.
    Object(Object<'a>),
    /// To be compressed to where it is written to.
    Draft(Box<Draft<'a>>),
}

impl<'a> Draft<'a> {
    /// Puts `data`, elements in the descriptor's byte order, through the pipeline, but for the compressor.
    ///
    /// # Errors
    /// Those of FORMAT §4.2, in its order.
    pub(crate) fn new(
        descriptor: &'a DataObjectDescriptor,
        data: &'a [u8],
        options: &EncodeOptions,
        means: Means,
    ) -> Result<Self> {
        let count = checks::descriptor(descriptor, data.len(), false)?;
        // What masks a decoded descriptor had is about the values it came with.
        let mut descriptor = match descriptor.masks {
            None => Described::Borrowed(descriptor),
            Some(_) => DataObjectDescriptor { masks: None, ..descriptor.clone() }.into(),
        };
        let packs = encoding(&descriptor)? == Encoding::SimplePacking;
        let order = value_order::of(&descriptor, data, options.value_order)?;
        if packs && descriptor.dtype != Dtype::Float64 {
            // A value that is not allowed comes first.
            find(data, descriptor.dtype, order, options)?;
            checks::packed_dtype(&descriptor)?;
        }
        // Deriving parameters looks at every value too: what it finds finite need not be looked at again.
        let derived = packs.then(|| complete_packing(descriptor.to_mut(), data, order)).transpose();
        let masks = match derived {
            Ok(Some(true)) => Masks::new(),
            _ => find(data, descriptor.dtype, order, options)?,
        };
        derived?;
        let (plan, width) = (Plan::new(&descriptor)?, descriptor.dtype.byte_width());
        let goes_as_it_is = plan.goes_as_it_is();
        let data = if masks.is_empty() || goes_as_it_is { Cow::Borrowed(data) } else { zeroed(data, width, &masks)? };
        let payload = transform(data, &plan, order, means.threads)?;
        let mut blobs = Vec::new();
        if !masks.is_empty() {
            let (metadata, stored) = masks::store(&masks, count, options)?;
            descriptor.to_mut().masks = Some(metadata);
            blobs = stored;
        }
        let payload = match payload {
            Payload::Bytes(bytes) if goes_as_it_is && !masks.is_empty() => Payload::Masked { bytes, width, masks },
            made => made,
        };
        Ok(Self { descriptor, payload, order, compressor: plan.compressor, blobs, means })
    }

    /// Compresses the payload into memory of its own, if there is a compressor.
    ///
    /// # Errors
    /// Those of the compressor, and of storing masks.
    fn into_object(mut self) -> Result<Object<'a>> {
        let payload = match self.compressor {
            Compressor::None => self.payload,
            compressor => {
                let mut payload = Vec::new();
                let offsets = compress_payload(&compressor, self.payload, self.order, self.means, &mut payload)?;
                insert_offsets(&mut self.descriptor, offsets);
                payload.shrink_to_fit();
                Payload::Bytes(Cow::Owned(payload))
            }
        };
        place_masks(&mut self.descriptor, payload.len());
        Object::new(self.descriptor, Region { payload, blobs: self.blobs })
    }

    /// Appends the frame, its payload compressed to where it stays.
    ///
    /// # Errors
    /// Those of the compressor, and of storing masks.
    fn append_to(mut self, out: &mut Vec<u8>, hashing: bool) -> Result<(u64, Option<u64>)> {
        let frame = OpenFrame::begin(out);
        let start = out.len();
        let offsets = compress_payload(&self.compressor, self.payload, self.order, self.means, out)?;
        insert_offsets(&mut self.descriptor, offsets);
        place_masks(&mut self.descriptor, out.len().saturating_sub(start));
        out.extend_from_slice(&self.blobs);
        let cbor_start = out.len();
        write_object_descriptor(&self.descriptor, &mut Writer::new(out))?;
        Ok(frame.finish_object(out, cbor_start, hashing))
    }
}

impl<'a> Planned<'a> {
    /// Puts `data`, elements in the descriptor's byte order, through the pipeline, but for the compressor.
    ///
    /// # Errors
    /// Those of FORMAT §4.2, in its order.
    pub(crate) fn new(
        descriptor: &'a DataObjectDescriptor,
        data: &'a [u8],
        options: &EncodeOptions,
        means: Means,
    ) -> Result<Self> {
        let draft = Draft::new(descriptor, data, options, means)?;
        match draft.compressor {
            Compressor::None => draft.into_object().map(Self::Object),
            _ => Ok(Self::Draft(Box::new(draft))),
        }
    }

    /// What it is, parameters and masks apart.
    pub(crate) fn descriptor(&self) -> &DataObjectDescriptor {
        match self {
            Self::Object(object) => &object.descriptor,
            Self::Draft(draft) => &draft.descriptor,
        }
    }

    /// Bytes of the frame, or what they are likely to be no more than.
    pub(crate) fn most(&self) -> u64 {
        match self {
            Self::Object(object) => object.frame_len(),
            Self::Draft(draft) => draft.payload.len() as u64,
        }
    }

    /// Bytes to be had before it is appended, so that no more have to be had then if they are known.
    pub(crate) fn room(&self) -> u64 {
        match self {
            Self::Object(object) => object.frame_len(),
            Self::Draft(_) => 0,
        }
    }

    /// Appends the frame and its padding; returns its length, and its digest if one is written.
    ///
    /// # Errors
    /// Want of memory, and those of the compressor.
    pub(crate) fn append_to(self, out: &mut Vec<u8>, hashing: bool) -> Result<(u64, Option<u64>)> {
        let (len, digest) = match self {
            Self::Draft(draft) => draft.append_to(out, hashing)?,
            Self::Object(object) => {
                let len = object.frame_len();
                let room = usize::try_from(padded(len)).map_err(|_| TensogramError::encoding("frame overflows usize"));
                memory::reserve(out, room?)?;
                (len, object.write_to(out, hashing)?)
            }
        };
        pad(out, len)?;
        Ok((len, digest))
    }
}

impl<'a> From<Object<'a>> for Planned<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

impl<'a> Object<'a> {
    /// Puts `data`, elements in the descriptor's byte order, through the pipeline.
    ///
    /// # Errors
    /// Those of FORMAT §4.2, in its order.
    pub(crate) fn encode(
        descriptor: &'a DataObjectDescriptor,
        data: &'a [u8],
        options: &EncodeOptions,
        means: Means,
    ) -> Result<Self> {
        Draft::new(descriptor, data, options, means)?.into_object()
    }

    /// Takes `region` for what the pipeline would have made: payload, and masks if the descriptor has some.
    ///
    /// # Errors
    /// Those of FORMAT §4.7.
    pub(crate) fn pre_encoded(descriptor: &'a DataObjectDescriptor, region: &'a [u8]) -> Result<Self> {
        checks::descriptor(descriptor, region.len(), true)?;
        Plan::new(descriptor)?;
        checks::block_offsets(descriptor, region.len())?;
        Self::unchecked(descriptor, region)
    }

    /// Takes descriptor and region as they are; they are not compared with each other.
    ///
    /// # Errors
    /// Those of [`object_descriptor_to_cbor`] and [`checks::packed_dtype`].
    pub(crate) fn unchecked(descriptor: &'a DataObjectDescriptor, region: &'a [u8]) -> Result<Self> {
        Self::new(
            Described::Borrowed(descriptor),
            Region { payload: Payload::Bytes(Cow::Borrowed(region)), blobs: Vec::new() },
        )
    }

    /// Takes over the payload region of an object that was read: what is in it is not looked at.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a descriptor that does not fit itself.
    pub(crate) fn taken_over(descriptor: &'a DataObjectDescriptor, region: &'a [u8]) -> Result<Self> {
        checks::consistent(descriptor)?;
        Self::new(
            Described::Borrowed(descriptor),
            Region { payload: Payload::Bytes(Cow::Borrowed(region)), blobs: Vec::new() },
        )
    }

    /// Every object that is made of a descriptor and bytes is made here.
    fn new(descriptor: Described<'a>, region: Region<'a>) -> Result<Self> {
        checks::packed_dtype(&descriptor)?;
        let cbor = object_descriptor_to_cbor(&descriptor)?;
        Ok(Self { descriptor, cbor, region })
    }

    /// An object as some message has it: `cbor` is its descriptor.
    pub(crate) fn kept(descriptor: DataObjectDescriptor, cbor: Vec<u8>, region: Region<'a>) -> Self {
        Self { descriptor: Described::Owned(Box::new(descriptor)), cbor, region }
    }

    /// Bytes of the frame, padding behind it not counted.
    pub(crate) fn frame_len(&self) -> u64 {
        object_frame_len(self.region.len(), self.cbor.len() as u64)
    }

    /// What it is, and the bytes of its payload region.
    ///
    /// # Errors
    /// None but for want of memory.
    pub(crate) fn into_region(self) -> Result<(DataObjectDescriptor, Vec<u8>)> {
        let descriptor = match self.descriptor {
            Described::Borrowed(descriptor) => descriptor.clone(),
            Described::Owned(descriptor) => *descriptor,
        };
        let mut bytes = self.region.payload.into_bytes()?.into_owned();
        reserve_more(&mut bytes, self.region.blobs.len())?;
        bytes.extend_from_slice(&self.region.blobs);
        Ok((descriptor, bytes))
    }

    /// Writes the frame, and returns its digest if one is written.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn write_to(&self, sink: &mut impl Sink, hashing: bool) -> Result<Option<u64>> {
        let flags = FrameFlags::CBOR_AFTER_PAYLOAD;
        let mut frame = FrameWriter::begin(sink, FrameType::NTensorFrame, flags, self.frame_len(), hashing)?;
        self.region.write_to(&mut frame)?;
        frame.write(&self.cbor)?;
        frame.finish_object(FRAME_HEADER_SIZE as u64 + self.region.len())
    }
}

/// Derives what parameters of simple_packing the caller left out, and writes all four down (FORMAT §4.2). Returns whether it
/// looked at the values, and so found them finite.
fn complete_packing(descriptor: &mut DataObjectDescriptor, data: &[u8], order: ByteOrder) -> Result<bool> {
    let params = Params(&descriptor.params);
    let bits = params.u32(Key::SpBitsPerValue)?.ok_or_else(|| metadata("simple_packing requires sp_bits_per_value"))?;
    let decimal = params.i32(Key::SpDecimalScaleFactor)?.unwrap_or(0);
    let given = (params.get(Key::SpReferenceValue).is_some(), params.get(Key::SpBinaryScaleFactor).is_some());
    let derives = match given {
        (true, true) => false,
        (false, false) => true,
        _ => {
            return Err(metadata(
                "simple_packing needs both of sp_reference_value and sp_binary_scale_factor, or none of them to \
                 auto-compute both",
            ));
        }
    };
    if derives {
        let packing = derive(Values::new(data, order), bits, decimal)?;
        insert(descriptor, Key::SpReferenceValue, packing.reference_value);
        insert(descriptor, Key::SpBinaryScaleFactor, packing.binary_scale_factor);
    }
    insert(descriptor, Key::SpDecimalScaleFactor, decimal);
    // Without bits there was nothing to look for.
    Ok(derives && bits > 0)
}

fn insert(descriptor: &mut DataObjectDescriptor, key: Key, value: impl Into<Value>) {
    descriptor.params.insert(key.name().to_string(), value.into());
}

/// Counts the places of masks from the start of the payload, which is `len` bytes.
fn place_masks(descriptor: &mut Described<'_>, len: usize) {
    // Masks that are not ours went before there was a payload.
    if descriptor.masks.is_none() {
        return;
    }
    if let Some(masks) = &mut descriptor.to_mut().masks {
        let MasksMetadata { nan, pos_inf, neg_inf } = masks;
        [nan, pos_inf, neg_inf].into_iter().flatten().for_each(|mask| mask.offset += len as u64);
    }
}

/// Notes where szip's intervals start.
fn insert_offsets(descriptor: &mut Described<'_>, offsets: Option<Vec<u64>>) {
    if let Some(offsets) = offsets {
        let offsets: Vec<_> = offsets.into_iter().map(Value::from).collect();
        insert(descriptor.to_mut(), Key::SzipBlockOffsets, offsets);
    }
}

/// `data` with zeros where `masks` are set.
fn zeroed<'a>(data: &[u8], width: usize, masks: &Masks) -> Result<Cow<'a, [u8]>> {
    let mut copy = Vec::new();
    reserve_more(&mut copy, data.len())?;
    copy.extend_from_slice(data);
    zero_masked(&mut copy, width, masks, 0);
    Ok(Cow::Owned(copy))
}

/// The first two stages. What one of them alone makes is made where it is written to.
fn transform<'a>(data: Cow<'a, [u8]>, plan: &Plan, order: ByteOrder, threads: Threads) -> Result<Payload<'a>> {
    let payload = match &plan.packing {
        None => Payload::Bytes(data),
        Some(packing) => {
            let packer = Packer::new(packing)?;
            let len = packer.packed_len(data.len() / size_of::<f64>());
            Payload::Packed { bytes: data, order, packer, len, threads }
        }
    };
    let Some(size) = plan.shuffle else { return Ok(payload) };
    let (bytes, size) = (payload.into_bytes()?, size.get());
    if !bytes.len().is_multiple_of(size) {
        return Err(TensogramError::encoding(format!(
            "shuffle: data length {} is not divisible by element_size {size}",
            bytes.len()
        )));
    }
    Ok(Payload::Shuffled { bytes, size })
}
