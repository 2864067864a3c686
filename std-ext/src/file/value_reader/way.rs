//! The ways from the bytes of a payload to values while the payload comes.

use tgm_core::byteswap::swap_in_place;
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter};
use tgm_core::push::{SzipUnpacker, Unpacker};
use tgm_core::tensor::Element;
use zerocopy::IntoBytes;

use crate::base::error::Result;
use crate::base::options::DecodeOptions;

/// Values that are decoded at once. A few bytes can hold many values.
const AT_ONCE: usize = 8192;
/// Samples of the largest block of szip that writers choose.
const SZIP_BLOCK: usize = 64;

/// Decodes a payload piece by piece.
#[derive(Debug)]
pub(super) struct Decoding {
    way: Way,
    /// The order of the bytes that `way` makes, and the order that is asked for.
    made: ByteOrder,
    wanted: ByteOrder,
    dtype: Dtype,
    /// The first bytes of an element that is not complete. For plain elements only.
    partial: Vec<u8>,
}

#[derive(Debug)]
enum Way {
    /// The bytes are elements.
    Plain,
    /// Packed values.
    Packed(Unpacker),
    /// Packed values, compressed by szip.
    SzipOfPacked(Box<SzipUnpacker<SZIP_BLOCK>>),
    /// Plain elements, compressed by szip.
    Szip(Box<SzipUnpacker<SZIP_BLOCK>>),
}

impl Decoding {
    /// How the payload of this object is decoded as it comes. `None` if only the whole frame can be decoded: other stages,
    /// masks that are to be restored, a digest that is to be checked before, and what would be an error.
    pub(super) fn of(descriptor: &Descriptor<'_>, payload_len: u64, options: &DecodeOptions) -> Option<Self> {
        let is_masked = options.restore_non_finite && descriptor.masks().iter().next().is_some();
        if options.verify_hash || is_masked || descriptor.filter().known() != Some(Filter::None) {
            return None;
        }
        let is_packed = match descriptor.encoding().known()? {
            Encoding::None => false,
            Encoding::SimplePacking => true,
            #[allow(unreachable_patterns, reason = "core may learn of more encodings")]
            _ => return None,
        };
        // Values of 0 bits take no bytes, so their number has to be checked first.
        let has_bits = !is_packed || descriptor.packing().ok()?.bits_per_value > 0;
        let way = match (descriptor.compression().known()?, is_packed) {
            (Compression::None, false) => (descriptor.decoded_len().ok()? == payload_len).then_some(Way::Plain)?,
            (Compression::None, true) if has_bits => Way::Packed(Unpacker::new(descriptor).ok()?),
            (Compression::Szip, true) if has_bits => Way::SzipOfPacked(Box::new(SzipUnpacker::new(descriptor).ok()?)),
            (Compression::Szip, false) if has_szip_elements(descriptor.dtype()) => {
                Way::Szip(Box::new(SzipUnpacker::new(descriptor).ok()?))
            }
            _ => return None,
        };
        let made = if matches!(way, Way::Plain) { descriptor.byte_order() } else { ByteOrder::NATIVE };
        let wanted = if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order() };
        Some(Self { way, made, wanted, dtype: descriptor.dtype(), partial: Vec::new() })
    }

    /// Replaces `values` by the next values, and takes their bytes from the front of `bytes`. No values: more bytes are
    /// needed.
    ///
    /// # Errors
    /// The errors of the unpackers.
    pub(super) fn next_values(&mut self, bytes: &mut &[u8], values: &mut Vec<u8>) -> Result<()> {
        values.clear();
        match &mut self.way {
            Way::Plain => {
                values.append(&mut self.partial);
                values.extend_from_slice(bytes);
                *bytes = &[];
                // A bitmask has no elements of whole bytes.
                let width = self.dtype.byte_width().max(1);
                self.partial = values.split_off(values.len() - values.len() % width);
            }
            Way::Packed(unpacker) => fill(values, |out| unpacker.unpack_into::<f64>(bytes, out))?,
            Way::SzipOfPacked(unpacker) => fill(values, |out| unpacker.unpack_into::<f64>(bytes, out))?,
            Way::Szip(unpacker) => match self.dtype {
                Dtype::Int8 => fill(values, |out| unpacker.elements_into::<i8>(bytes, out))?,
                Dtype::Uint8 => fill(values, |out| unpacker.elements_into::<u8>(bytes, out))?,
                Dtype::Int16 => fill(values, |out| unpacker.elements_into::<i16>(bytes, out))?,
                Dtype::Uint16 => fill(values, |out| unpacker.elements_into::<u16>(bytes, out))?,
                Dtype::Int32 => fill(values, |out| unpacker.elements_into::<i32>(bytes, out))?,
                Dtype::Uint32 => fill(values, |out| unpacker.elements_into::<u32>(bytes, out))?,
                _ => fill(values, |out| unpacker.elements_into::<f32>(bytes, out))?,
            },
        }
        let unit = self.dtype.swap_unit_size();
        if self.made != self.wanted && unit > 1 {
            swap_in_place(values, unit)?;
        }
        Ok(())
    }

    /// Whether all values have come.
    pub(super) fn is_complete(&self) -> bool {
        match &self.way {
            Way::Plain => self.partial.is_empty(),
            Way::Packed(unpacker) => unpacker.remaining() == 0,
            Way::Szip(unpacker) | Way::SzipOfPacked(unpacker) => unpacker.remaining() == 0 && unpacker.finish().is_ok(),
        }
    }
}

const fn has_szip_elements(dtype: Dtype) -> bool {
    matches!(
        dtype,
        Dtype::Int8 | Dtype::Uint8 | Dtype::Int16 | Dtype::Uint16 | Dtype::Int32 | Dtype::Uint32 | Dtype::Float32
    )
}

/// Fills `values` with the elements that `decode` writes into a buffer.
fn fill<T: Element + Default + IntoBytes + zerocopy::Immutable>(
    values: &mut Vec<u8>,
    decode: impl FnOnce(&mut [T]) -> tgm_core::Result<usize>,
) -> Result<()> {
    let mut out = [T::default(); AT_ONCE];
    let count = decode(&mut out)?;
    values.extend_from_slice(out.get(..count).unwrap_or_default().as_bytes());
    Ok(())
}
