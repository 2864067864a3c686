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
        let mut stored = bytes.into_owned();
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
