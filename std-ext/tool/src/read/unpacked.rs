//! Decoded values as people know them: integers that stay packed in their object get the scale and the offset beside them.

use std::borrow::Cow;

use tgm_core::byteswap::swap_in_place;
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype};
use tgm_core::metadata::ObjectMetadata;
use tgm_dataset::reading::Reading;
use tgm_std::TensogramError;

use crate::read::elements::Elements;

/// Values of an object, or of a part of it.
pub(crate) struct Unpacked<'v> {
    /// The type of the values.
    pub(crate) dtype: Dtype,
    /// Their byte order.
    pub(crate) order: ByteOrder,
    /// The values.
    pub(crate) bytes: Cow<'v, [u8]>,
}

impl<'v> Unpacked<'v> {
    /// The values of an object with this descriptor and these metadata, which `bytes` are decoded of, in the stored byte order.
    ///
    /// # Errors
    /// Packed integers that have no value.
    pub(crate) fn of(
        descriptor: &Descriptor<'_>,
        about: &ObjectMetadata<'_>,
        bytes: Cow<'v, [u8]>,
    ) -> Result<Self, TensogramError> {
        let (dtype, order) = (descriptor.dtype(), descriptor.byte_order());
        let Some(reading) = Reading::of_metadata(dtype, about)? else { return Ok(Self { dtype, order, bytes }) };
        Self::read(&reading, (dtype, order), bytes.into_owned())
    }

    /// The same as amounts: integers that stand for missing cells are NaN, where there are some. Integers that no `float64` is
    /// equal to stay as they are, with those.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub(crate) fn amounts(
        descriptor: &Descriptor<'_>,
        about: &ObjectMetadata<'_>,
        bytes: Cow<'v, [u8]>,
    ) -> Result<Self, TensogramError> {
        let (dtype, order) = (descriptor.dtype(), descriptor.byte_order());
        if Reading::of_metadata(dtype, about)?.is_some() {
            return Self::of(descriptor, about, bytes);
        }
        let Some(reading) = Reading::of_amounts_of(dtype, about)? else { return Ok(Self { dtype, order, bytes }) };
        let mut native = bytes.to_vec();
        if order != ByteOrder::NATIVE {
            swap_in_place(&mut native, dtype.swap_unit_size())?;
        }
        Ok(match reading.masked(&native) {
            Some(bytes) => Self { dtype: reading.dtype(), order: ByteOrder::NATIVE, bytes: bytes.into() },
            None => Self { dtype, order, bytes },
        })
    }

    fn read(
        reading: &Reading,
        (dtype, order): (Dtype, ByteOrder),
        mut stored: Vec<u8>,
    ) -> Result<Self, TensogramError> {
        if order != ByteOrder::NATIVE {
            swap_in_place(&mut stored, dtype.swap_unit_size())?;
        }
        let bytes = Cow::Owned(reading.cells(stored)?.bytes);
        Ok(Self { dtype: reading.dtype(), order: ByteOrder::NATIVE, bytes })
    }

    /// The `count` elements.
    pub(crate) fn elements(&self, count: u64) -> Elements<'_> {
        Elements { dtype: self.dtype, order: self.order, count, bytes: &self.bytes }
    }
}
