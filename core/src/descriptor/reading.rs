//! Reading a descriptor in one pass.

use super::masks::MaskPositions;
use super::view::Descriptor;
use crate::cbor::{Cursor, MapReader, Name};
use crate::error::{ErrorKind, Result};
use crate::names::Key;

impl<'a> Descriptor<'a> {
    /// Reads the descriptor that `bytes` begin with, and ignores the bytes after its CBOR item. Errors count from `offset`
    /// bytes before `bytes`. O(bytes), no allocation, at any rank.
    ///
    /// # Errors
    /// Malformed CBOR; a field that is absent ([`ErrorKind::MissingKey`]), repeated ([`ErrorKind::DuplicateKey`]) or of
    /// the wrong type; [`ErrorKind::NonTextKey`]; [`ErrorKind::UnknownDtype`], [`ErrorKind::UnknownByteOrder`];
    /// [`ErrorKind::NdimMismatch`], [`ErrorKind::StridesMismatch`], [`ErrorKind::ShapeOverflow`].
    ///
    /// Format: FORMAT §3.5, §1.10 row 20.
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        let mut descriptor = Self::unread(bytes, offset);
        descriptor.read()?;
        Ok(descriptor)
    }

    /// [`Self::parse`] into a descriptor that has its place already, so it need not be moved.
    // Never inlined: otherwise a small machine keeps this stack while the caller does its next work.
    #[inline(never)]
    pub(crate) fn read(&mut self) -> Result<()> {
        let encoded = self.encoded;
        let mut reading = Reading::new(self);
        let mut entries = if let Some(entries) = reading.read_in_order() {
            entries
        } else {
            // The quick way may have set some fields. Start again from nothing.
            *reading.descriptor = Self::unread(encoded.rest(), encoded.offset());
            reading = Reading::new(self);
            MapReader::open(encoded, 0)?
        };
        while let Some(name) = entries.next_name()? {
            match name {
                Name::Known(key) => reading.read(key, &mut entries)?,
                Name::Other => entries.skip()?,
            }
        }
        reading.finish(entries.position())
    }
}

/// A descriptor that is being read.
pub(super) struct Reading<'d, 'a> {
    pub(super) descriptor: &'d mut Descriptor<'a>,
    /// The fields that were read, as bits.
    pub(super) fields: u32,
    pub(super) ndim: u64,
    pub(super) shape_len: usize,
    /// The product of the shape, `None` beyond 64 bits.
    pub(super) element_count: Option<u64>,
    pub(super) strides_len: usize,
}

impl<'d, 'a> Reading<'d, 'a> {
    pub(super) fn new(descriptor: &'d mut Descriptor<'a>) -> Self {
        Self { descriptor, fields: 0, ndim: 0, shape_len: 0, element_count: None, strides_len: 0 }
    }

    /// Reads the value of one entry, whose key is known.
    fn read(&mut self, key: Key, entries: &mut MapReader<'a>) -> Result<()> {
        let start = *entries.position();
        let fields = &mut *self.descriptor;
        match key {
            Key::Ndim => self.ndim = entries.u64()?,
            Key::Type => _ = entries.text()?,
            Key::Dtype => fields.dtype = entries.name()?.ok_or(ErrorKind::UnknownDtype.at(start.offset()))?,
            Key::Masks => {
                fields.masks = MaskPositions::find(entries.walked()?, &fields.encoded)?;
                fields.masks.check(&fields.encoded)?;
            }
            Key::Shape => (self.shape_len, self.element_count) = entries.dimensions()?,
            Key::Filter => fields.filter = entries.name()?,
            Key::Strides => (self.strides_len, _) = entries.dimensions()?,
            Key::Encoding => fields.encoding = entries.name()?,
            Key::ByteOrder => {
                fields.byte_order = Some(entries.name()?.ok_or(ErrorKind::UnknownByteOrder.at(start.offset()))?);
            }
            Key::Compression => fields.compression = entries.name()?,
            _ => entries.skip()?,
        }
        if key.is_field() {
            if self.fields & key.bit() != 0 {
                return Err(ErrorKind::DuplicateKey(key).at(start.offset()));
            }
            self.fields |= key.bit();
        }
        fields.positions.set(key, fields.encoded.position_of(&start)?);
        Ok(())
    }

    /// Checks what concerns several fields. The map ends at `end`.
    #[inline]
    fn finish(&mut self, end: &Cursor<'a>) -> Result<()> {
        self.descriptor.encoded = self.descriptor.encoded.until(end);
        // Cannot fail: each dimension takes at least one byte, and the position after the array fits 32 bits.
        self.descriptor.rank = u32::try_from(self.shape_len).unwrap_or(u32::MAX);
        self.require(&[Key::Shape, Key::Strides, Key::Ndim])?;
        let fields = &mut *self.descriptor;
        if self.ndim != self.shape_len as u64 {
            return Err(ErrorKind::NdimMismatch.at(fields.shape().offset()));
        }
        if self.strides_len != self.shape_len {
            return Err(ErrorKind::StridesMismatch.at(fields.strides().offset()));
        }
        let Some(element_count) = self.element_count else {
            return Err(ErrorKind::ShapeOverflow.at(fields.shape().offset()));
        };
        fields.element_count = element_count;
        self.require(&[Key::Type, Key::Dtype, Key::Encoding, Key::Filter, Key::Compression])
    }

    #[inline]
    fn require(&self, keys: &[Key]) -> Result<()> {
        match keys.iter().find(|key| self.fields & key.bit() == 0) {
            Some(&key) => Err(ErrorKind::MissingKey(key).at(self.descriptor.offset())),
            None => Ok(()),
        }
    }
}
