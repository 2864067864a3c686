//! One data object: payload, masks and descriptor of its frame (FORMAT §1.7).
//!
//! ```text
//! descriptor last:   header │ payload │ masks │ descriptor │ tail
//! descriptor first:  header │ descriptor │ payload │ masks │ tail
//!                                        └─── region ───┘
//! ```

use core::ops::Range;

#[cfg(feature = "masks")]
use crate::descriptor::MaskMethod;
use crate::descriptor::{ByteOrder, Compression, Descriptor, Dtype, MaskDescriptor, MaskKind, Stage};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::Frame;
#[cfg(feature = "masks")]
use crate::mask::{BitmapForm, Mask};
use crate::stored::Stored;
use crate::tensor::{AnyView, BitView, Element, Shape, TensorView};
use crate::wire::{FRAME_HEADER_SIZE, FrameFlags, FrameType};

/// A data object, borrowed from the bytes `'a`.
///
/// Holding a `DataObject` means: the descriptor was read and is valid, and the masks lie inside the region. The payload
/// was not read.
///
/// ```
/// # let bytes: &[u8] = include_bytes!("../samples/float32-little.tgm");
/// let object = tgm_core::Message::parse(bytes)?.object(0)?;
/// println!("{} {:?}", object.descriptor().dtype(), object.descriptor().shape());
/// let sum: f32 = object.view::<f32>()?.iter().sum();
/// # assert!(sum.is_finite());
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DataObject<'a> {
    frame: Frame<'a>,
    descriptor: Descriptor<'a>,
    region: &'a [u8],
    region_offset: u64,
    payload: &'a [u8],
}

impl<'a> DataObject<'a> {
    /// Reads the object that `frame` holds: O(bytes of the descriptor).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownFrameType`] if the frame holds something else; the errors of [`Descriptor::parse`];
    /// [`ErrorKind::MaskBounds`].
    ///
    /// Format: FORMAT §1.7, §1.10 rows 11 and 12.
    pub fn parse(frame: Frame<'a>) -> Result<Self> {
        if frame.frame_type() != FrameType::NTensorFrame {
            return Err(ErrorKind::UnknownFrameType(frame.frame_type().as_u16()).at(frame.offset()));
        }
        // The frame has checked that cbor_offset lies between its header and its tail.
        let cbor_start = frame.cbor_offset().saturating_sub(FRAME_HEADER_SIZE as u64);
        let cbor_offset = frame.offset().saturating_add(frame.cbor_offset());
        let split = usize::try_from(cbor_start).ok().and_then(|start| frame.body().split_at_checked(start));
        let (before, cbor) = split.ok_or(ErrorKind::CborOffset.at(cbor_offset))?;
        let descriptor = Descriptor::unread(cbor, cbor_offset);
        let mut object =
            Self { frame, descriptor, region: before, region_offset: frame.body_offset(), payload: before };
        object.descriptor.read()?;
        if !frame.flags().has(FrameFlags::CBOR_AFTER_PAYLOAD) {
            let cbor_len = object.descriptor.as_encoded().len();
            object.region = cbor.get(cbor_len..).unwrap_or_default();
            object.region_offset = cbor_offset.saturating_add(cbor_len as u64);
        }
        let payload_len = object.descriptor.masks().payload_len(object.region.len() as u64)?;
        let payload = usize::try_from(payload_len).ok().and_then(|len| object.region.get(..len));
        object.payload = payload.unwrap_or(object.region);
        Ok(object)
    }

    /// The frame that holds the object.
    pub const fn frame(&self) -> &Frame<'a> {
        &self.frame
    }

    /// The descriptor.
    pub const fn descriptor(&self) -> &Descriptor<'a> {
        &self.descriptor
    }

    /// The encoded values, without masks.
    ///
    /// This does not check the frame's digest, and no method that reads the payload does. To check it first, call
    /// [`HashPresence::check`](crate::hash::HashPresence::check) on the frame's [`hash_presence`](Frame::hash_presence).
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The same object with a payload that is stored outside of its frame. The frame's digest does not cover that payload.
    #[must_use]
    pub const fn with_payload(self, payload: &'a [u8]) -> Self {
        let frame = self.frame;
        #[cfg(feature = "hash")]
        let frame = frame.without_digest();
        Self { frame, region: payload, region_offset: 0, payload, ..self }
    }

    /// The encoded values and the blobs of the masks.
    pub const fn region(&self) -> &'a [u8] {
        self.region
    }

    /// Where payload and region start, in bytes from the start of the caller's slice.
    pub const fn region_offset(&self) -> u64 {
        self.region_offset
    }

    /// The bytes of a mask's blob.
    ///
    /// # Errors
    /// [`ErrorKind::MaskBounds`] for an entry of another object.
    pub fn mask_blob(&self, mask: &MaskDescriptor<'a>) -> Result<&'a [u8]> {
        mask.blob(self.region)
    }

    /// The values in place, without a copy: O(1). Only for an object without encoding, filter, compression and masks.
    ///
    /// This does not check the digest; see [`Self::payload`].
    ///
    /// # Errors
    /// [`ErrorKind::DtypeMismatch`] if the elements are not of type `T`; [`ErrorKind::NeedsDecoding`] with the stage that
    /// has to be undone first; [`ErrorKind::PayloadSize`] if the payload is not as long as the shape implies.
    pub fn view<T: Element>(&self) -> Result<TensorView<'a, T>> {
        self.check_dtype(T::DTYPE)?;
        self.check_plain()?;
        let shape = Shape::from(self.descriptor.shape());
        TensorView::new(self.payload, self.descriptor.byte_order(), shape).map_err(|e| e.shift(self.region_offset))
    }

    /// The bits of a bitmask in place.
    ///
    /// # Errors
    /// The errors of [`Self::view`].
    pub fn view_bits(&self) -> Result<BitView<'a>> {
        self.check_dtype(Dtype::Bitmask)?;
        self.check_plain()?;
        BitView::new(self.payload, Shape::from(self.descriptor.shape())).map_err(|e| e.shift(self.region_offset))
    }

    /// The values in place, of any type.
    ///
    /// # Errors
    /// The errors of [`Self::view`] except [`ErrorKind::DtypeMismatch`].
    pub fn view_any(&self) -> Result<AnyView<'a>> {
        self.check_plain()?;
        let d = &self.descriptor;
        AnyView::new(d.dtype(), self.payload, d.byte_order(), Shape::from(d.shape()))
            .map_err(|e| e.shift(self.region_offset))
    }

    fn check_dtype(&self, expected: Dtype) -> Result<()> {
        let found = self.descriptor.dtype();
        if found == expected {
            return Ok(());
        }
        Err(ErrorKind::DtypeMismatch { expected, found }.at(self.descriptor.offset()))
    }

    fn check_plain(&self) -> Result<()> {
        match self.descriptor.pending_stage() {
            None => Ok(()),
            Some(stage) => Err(ErrorKind::NeedsDecoding(stage).at(self.descriptor.offset())),
        }
    }

    /// The payload of an object without compression, as bytes to decode.
    ///
    /// # Errors
    /// [`ErrorKind::NeedsDecoding`] if it is compressed; the errors of [`Stored::new`].
    pub fn stored(&self) -> Result<Stored<'a>> {
        match self.descriptor.compression().known() {
            Some(Compression::None) => {
                Stored::new(&self.descriptor, self.payload).map_err(|e| e.shift(self.payload_base(e)))
            }
            other => Err(ErrorKind::NeedsDecoding(Stage::Compression(other)).at(self.descriptor.offset())),
        }
    }

    /// [`Self::stored`] for the payload's uncompressed `bytes`.
    #[cfg(feature = "szip")]
    pub(crate) fn stored_from<'s>(&self, bytes: &'s [u8]) -> Result<Stored<'s>> {
        Stored::new(&self.descriptor, bytes).map_err(|e| e.shift(self.payload_base(e)))
    }

    /// What to add to an error's offset. Errors about the payload count from the payload, the others from the caller's
    /// slice.
    fn payload_base(&self, error: Error) -> u64 {
        match error.kind() {
            ErrorKind::PayloadSize | ErrorKind::ElementSize => self.region_offset,
            _ => 0,
        }
    }

    /// Writes the values of `elements` to `out`, as bytes in `order`, with NaN and infinities restored.
    ///
    /// Filter, encoding and masks are undone here; for compression see [`Self::decode_floats_into`].
    /// O(`out.len()` + bytes of the masks), no allocation. This does not check the digest; see [`Self::payload`].
    ///
    /// ```
    /// use tgm_core::descriptor::ByteOrder;
    ///
    /// # let bytes: &[u8] = include_bytes!("../samples/float32-little.tgm");
    /// let object = tgm_core::Message::parse(bytes)?.object(0)?;
    /// let mut first = [0; 4];
    /// object.decode_into(0..1, ByteOrder::Big, &mut first)?;
    /// assert_eq!(Some(f32::from_be_bytes(first)), object.view::<f32>()?.get(0));
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Self::stored`], [`Stored::decode_into`] and [`Self::restore_into`].
    pub fn decode_into(&self, elements: Range<u64>, order: ByteOrder, out: &mut [u8]) -> Result<()> {
        self.stored()?.decode_into(elements.clone(), order, out).map_err(|e| e.shift(self.region_offset))?;
        self.restore_into(elements.start, order, out)
    }

    /// Writes NaN and infinities where the masks say so. `out` holds decoded values of the object, from element `start` on.
    ///
    /// # Errors
    /// [`ErrorKind::NeedsDecoding`] for a mask whose method needs a decompressor, and for every mask if the feature `masks`
    /// is off; the errors of [`crate::mask::restore_into`].
    pub fn restore_into(&self, start: u64, order: ByteOrder, out: &mut [u8]) -> Result<()> {
        self.restore_as(self.descriptor.dtype(), start, order, out)
    }

    /// [`Self::restore_into`] for values that were converted to `dtype`.
    pub(crate) fn restore_as(&self, dtype: Dtype, start: u64, order: ByteOrder, out: &mut [u8]) -> Result<()> {
        let mut masks = self.descriptor.masks().iter();
        masks.try_for_each(|(kind, mask)| self.restore_kind(kind, &mask, dtype, start, order, out))
    }

    #[cfg(feature = "masks")]
    fn restore_kind(
        &self,
        kind: MaskKind,
        entry: &MaskDescriptor<'a>,
        dtype: Dtype,
        start: u64,
        order: ByteOrder,
        out: &mut [u8],
    ) -> Result<()> {
        let mask = self.mask(entry)?;
        let base = self.region_offset.saturating_add(entry.offset());
        crate::mask::restore_into(&mask, kind, dtype, order, start, out).map_err(|e| e.shift(base))
    }

    #[cfg(not(feature = "masks"))]
    #[allow(clippy::unused_self, reason = "as with the feature")]
    fn restore_kind(
        &self,
        _kind: MaskKind,
        entry: &MaskDescriptor<'a>,
        _dtype: Dtype,
        _start: u64,
        _order: ByteOrder,
        _out: &mut [u8],
    ) -> Result<()> {
        Err(ErrorKind::NeedsDecoding(Stage::Masks(entry.method().known())).at(entry.position()))
    }

    /// The bitmap of a mask entry.
    ///
    /// # Errors
    /// [`ErrorKind::MaskMethod`] for an unknown method, [`ErrorKind::NeedsDecoding`] for one that needs a decompressor.
    #[cfg(feature = "masks")]
    pub fn mask(&self, entry: &MaskDescriptor<'a>) -> Result<Mask<'a>> {
        let form = match entry.method().known() {
            Some(MaskMethod::None) => BitmapForm::Raw,
            Some(MaskMethod::Rle) => BitmapForm::Rle,
            Some(MaskMethod::Roaring) => BitmapForm::Roaring,
            Some(other) => return Err(ErrorKind::NeedsDecoding(Stage::Masks(Some(other))).at(entry.position())),
            None => return Err(ErrorKind::MaskMethod.at(entry.position())),
        };
        Ok(Mask::new(form, self.mask_blob(entry)?, self.descriptor.element_count()))
    }
}
