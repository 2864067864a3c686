//! What decoding has to do for one object, found out before any byte is decompressed (PIPELINE §2 to §5).
//!
//! A [`Plan`] finds the codec of an object. The caller then asks once for the way to what it wants. The way says which
//! steps are left, and how many bytes they write; sizes were held against the limits.
//!
//! ```text
//!                                      ┌─ all()     all values                   super::whole
//! object, options, order ──── Plan ────┼─ stored()  all stored bytes             super::unpack, super::range_bytes
//!                                      └─ parts()   parts of the stored bytes    super::range_bytes
//! ```
//!
//! The module `encode` has the plan for the way back. Nothing is allocated here.

use std::fmt::Display;

use tgm_codec::Codec;
use tgm_codec::threads::Threads;
use tgm_core::ErrorKind;
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Encoding, Filter};
use tgm_core::stored::{Stored, stored_len, window_of};

use super::trust::Trusted;
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;

/// One object, what its stages are, and how the caller wants its values.
pub(super) struct Plan<'o, 'a> {
    pub(super) object: Trusted<'o, 'a>,
    pub(super) options: &'o DecodeOptions,
    /// The byte order that values are wanted in.
    pub(super) order: ByteOrder,
    /// The threads that may decode.
    pub(super) threads: Threads,
    /// What undoes the compression; `None` if the payload is not compressed.
    codec: Option<&'static dyn Codec>,
}

/// The way to all values.
pub(super) enum WayToValues<'a> {
    /// They lie in the message as they are wanted.
    Borrow(&'a [u8]),
    /// A codec writes them, `len` bytes: it decompresses and, if it `unpacks`, unpacks in the same pass.
    ByCodec { codec: &'static dyn Codec, unpacks: bool, len: usize },
    /// Stored bytes are swapped, unshuffled and unpacked into `len` bytes.
    FromStored { stored: WayToStored<'a>, len: usize },
}

/// The way to all stored bytes.
#[derive(Clone, Copy)]
pub(super) enum WayToStored<'a> {
    /// They lie in the message.
    InMessage(Stored<'a>),
    /// A codec writes them, `len` bytes.
    ByCodec { codec: &'static dyn Codec, len: usize },
}

/// The way to parts of the stored bytes: a codec may decompress them.
pub(super) struct WayToParts {
    pub(super) codec: &'static dyn Codec,
    /// Stored bytes of the whole object.
    pub(super) total: u64,
    /// The stored byte after the last one that is wanted.
    pub(super) end: u64,
}

impl<'o, 'a> Plan<'o, 'a> {
    /// Finds out which codec an object needs. O(1).
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for a compression that is unknown or not compiled in.
    pub(super) fn new(
        object: Trusted<'o, 'a>,
        options: &'o DecodeOptions,
        order: ByteOrder,
        threads: Threads,
    ) -> Result<Self> {
        let compression = object.descriptor().compression();
        let codec = match compression.known() {
            None => return Err(unknown("compression", compression)),
            Some(Compression::None) => None,
            Some(known) => Some(tgm_codec::codec(known, options.compression_backend)?),
        };
        Ok(Self { object, options, order, threads, codec })
    }

    /// The way to all values.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for values or stored bytes beyond the limits; the errors of [`join`] if the payload
    /// is not compressed. After a compression the names and parameters of the other stages are checked when they are
    /// undone.
    pub(super) fn all(&self) -> Result<WayToValues<'a>> {
        let descriptor = self.object.descriptor();
        let Some(codec) = self.codec else {
            let stored = join(self.object, self.object.payload())?;
            // Borrowed values take no memory, so the limits do not count them.
            if let Some(values) = stored.as_values().filter(|_| self.swap_unit().is_none()) {
                return Ok(WayToValues::Borrow(values));
            }
            return Ok(WayToValues::FromStored { stored: WayToStored::InMessage(stored), len: self.decoded_len()? });
        };
        let len = self.decoded_len()?;
        let unpacks = codec.unpacks(descriptor);
        if unpacks || is_given_values(descriptor) {
            return Ok(WayToValues::ByCodec { codec, unpacks, len });
        }
        Ok(WayToValues::FromStored { stored: self.decompressed(codec, stored_len(descriptor)?)?, len })
    }

    /// The way to all stored bytes.
    ///
    /// # Errors
    /// As [`Self::all`].
    #[inline]
    pub(super) fn stored(&self) -> Result<WayToStored<'a>> {
        let Some(codec) = self.codec else {
            return Ok(WayToStored::InMessage(join(self.object, self.object.payload())?));
        };
        self.decoded_len()?;
        self.decompressed(codec, stored_len(self.object.descriptor())?)
    }

    /// The way to parts of the stored bytes, for ranges that end with element `end` at the latest. `None` if the
    /// payload is not compressed, or if a part takes all stored bytes.
    ///
    /// # Errors
    /// As [`Self::all`]; [`ErrorKind::RangeOutOfBounds`] if the object has fewer elements.
    pub(super) fn parts(&self, end: u64) -> Result<Option<WayToParts>> {
        let descriptor = self.object.descriptor();
        // Names first: a filter leaves no element in any part of the bytes, and an unknown encoding has no elements.
        let has_parts = descriptor.filter().known() == Some(Filter::None) && descriptor.encoding().known().is_some();
        let Some(codec) = self.codec.filter(|_| has_parts) else { return Ok(None) };
        let total = stored_len(descriptor)?;
        self.decoded_len()?;
        let end = window_of(descriptor, &(0..end))?.end;
        Ok(Some(WayToParts { codec, total, end }))
    }

    /// Stored bytes that `codec` writes, if the limits allow `len` of them. The length comes from the descriptor, so
    /// nothing in the payload is believed.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] beyond the limits.
    pub(super) fn decompressed(&self, codec: &'static dyn Codec, len: u64) -> Result<WayToStored<'a>> {
        let len = self.options.limits.check_bytes(self.object.payload().len() as u64, len)?;
        Ok(WayToStored::ByCodec { codec, len })
    }

    /// Bytes of all values, if the limits allow them.
    fn decoded_len(&self) -> Result<usize> {
        let len = self.object.descriptor().decoded_len()?;
        self.options.limits.check_bytes(self.object.payload().len() as u64, len)
    }

    /// The bytes of each scalar that have to be reversed; `None` if the values already have the order that is wanted.
    pub(super) fn swap_unit(&self) -> Option<usize> {
        let descriptor = self.object.descriptor();
        let unit = descriptor.dtype().swap_unit_size();
        (unit > 1 && descriptor.byte_order() != self.order).then_some(unit)
    }

    /// Whether the payload holds the values themselves, in whatever byte order.
    pub(super) fn is_plain(&self) -> bool {
        self.codec.is_none() && is_given_values(self.object.descriptor())
    }

    /// Whether masks have to be restored.
    pub(super) fn must_restore(&self) -> bool {
        self.options.restore_non_finite && !self.object.descriptor().masks().is_empty()
    }
}

/// The byte order that values are wanted in.
pub(super) fn target_order(descriptor: &Descriptor<'_>, options: &DecodeOptions) -> ByteOrder {
    if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order() }
}

/// Checks that an object has an encoding, which may be an unknown one: plain values cannot be unpacked.
pub(super) fn check_encoded(descriptor: &Descriptor<'_>) -> Result<()> {
    if descriptor.encoding().known() == Some(Encoding::None) {
        return Err(ErrorKind::NotPacked.at(descriptor.offset()).into());
    }
    Ok(())
}

/// Whether the compressor was given the values themselves.
fn is_given_values(descriptor: &Descriptor<'_>) -> bool {
    descriptor.encoding().known() == Some(Encoding::None) && descriptor.filter().known() == Some(Filter::None)
}

/// The threads that one object's payload is worth.
///
/// # Errors
/// [`TensogramError::Encoding`] if the variable that names a number of threads does not hold one.
pub(super) fn threads_for(object: Trusted<'_, '_>, options: &DecodeOptions) -> Result<Threads> {
    Ok(Threads::resolve(options.threads, object.payload().len() as u64, options.parallel_threshold_bytes)?)
}

/// Joins stored bytes with what the object's descriptor says about them.
///
/// # Errors
/// [`TensogramError::Encoding`] for an encoding or filter of an unknown name, and for more or fewer bytes than they
/// imply; the errors of their parameters.
pub(super) fn join<'a>(object: Trusted<'_, '_>, bytes: &'a [u8]) -> Result<Stored<'a>> {
    let descriptor = object.descriptor();
    // Names first: core says of an unknown one only that it cannot undo it.
    if descriptor.encoding().known().is_none() {
        return Err(unknown("encoding", descriptor.encoding()));
    }
    if descriptor.filter().known().is_none() {
        return Err(unknown("filter", descriptor.filter()));
    }
    Stored::new(descriptor, bytes).map_err(|error| match error.kind() {
        ErrorKind::PayloadSize => {
            // More than 64 bits: all that the text has room for.
            let claimed = stored_len(descriptor).unwrap_or(u64::MAX);
            TensogramError::encoding(format!(
                "descriptor claims {claimed} decoded byte(s) but frame payload is {} byte(s) (encoding {}, dtype width {})",
                bytes.len(),
                descriptor.encoding(),
                descriptor.dtype().byte_width(),
            ))
        }
        _ => error.into(),
    })
}

/// The error for a stage whose name is not one of the format.
fn unknown(stage: &str, name: impl Display) -> TensogramError {
    TensogramError::encoding(format!("unknown {stage}: {name}"))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use tgm_core::Message;
    use tgm_core::descriptor::Dtype;

    use super::*;
    use crate::encode::{MessageBuilder, ObjectBuilder};
    use crate::model::types::DataObjectDescriptor;
    use crate::read;

    #[test]
    fn values_without_an_order_of_bytes_are_borrowed_whatever_order_the_descriptor_names() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let is_borrowed = |dtype| {
                let descriptor = DataObjectDescriptor::new(dtype, order, &[8]);
                let data = vec![0; usize::try_from(dtype.byte_len(8).unwrap()).unwrap()];
                let message =
                    MessageBuilder::new().object(ObjectBuilder::from_parts(descriptor, data)).encode().unwrap();
                let object = Message::parse(&message).unwrap().object(0).unwrap();
                matches!(read(&object).bytes().unwrap(), Cow::Borrowed(_))
            };
            assert!(is_borrowed(Dtype::Uint8) && is_borrowed(Dtype::Bitmask));
            assert_eq!(is_borrowed(Dtype::Uint16), order == ByteOrder::NATIVE);
        }
    }
}
