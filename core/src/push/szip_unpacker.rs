//! Values from chunks of a payload that is compressed with szip.

use core::fmt;

use zerocopy::FromBytes;

use super::unpacker::wanted;
use crate::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter, Stage};
use crate::error::{ErrorKind, Result};
#[cfg(feature = "packing")]
use crate::packing::{Formula, Unpack};
#[cfg(feature = "packing")]
use crate::stored::not_float64;
use crate::szip::{Params, PieceDecoder};
use crate::tensor::Element;

/// Decodes values from chunks of a payload that is compressed with szip, as they come. For objects without filter, with
/// encoding `none` or `simple_packing`. [`super::Unpacker`] does the same for payloads that are not compressed.
///
/// A value comes out when its block is complete. `B` is the largest block size to expect, in samples: writers choose 8, 16,
/// 32 or 64. The unpacker takes 9 · B + 120 bytes; [`PieceDecoder`] says for what, and which damaged streams it refuses.
///
/// A masked value comes as the encoder's placeholder, because masks come after the payload.
///
/// ```
/// # #[cfg(feature = "packing")] {
/// use tgm_core::Message;
/// use tgm_core::push::SzipUnpacker;
///
/// let bytes = include_bytes!("../../samples/b16-none-szip.tgm");
/// let object = Message::parse(bytes)?.object(0)?;
/// let mut unpacker = SzipUnpacker::<32>::new(object.descriptor())?;
/// let (mut count, mut out) = (0, [0.0_f32; 4]);
/// for mut chunk in object.payload().chunks(3) {
///     while let new @ 1.. = unpacker.unpack_into(&mut chunk, &mut out)? {
///         count += new as u64; // values are out[..new]
///     }
/// }
/// unpacker.finish()?;
/// assert_eq!((count, unpacker.remaining()), (object.descriptor().element_count(), 0));
/// # }
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone)]
pub struct SzipUnpacker<const B: usize> {
    decoder: PieceDecoder<B>,
    /// The order of bytes in a decoded sample.
    sample_order: ByteOrder,
    /// The largest unsigned sample.
    #[cfg(feature = "packing")]
    max: u32,
    dtype: Dtype,
    order: ByteOrder,
    /// Values still to come.
    remaining: u64,
    #[cfg(feature = "packing")]
    formula: Option<Formula>,
}

impl<const B: usize> SzipUnpacker<B> {
    /// An unpacker for the payload of the object that `descriptor` describes, from its first byte on.
    ///
    /// # Errors
    /// [`ErrorKind::NeedsDecoding`] with a stage that cannot be undone chunk by chunk; the errors of the parameters of szip,
    /// which an object without compression does not have, and of the packing; [`ErrorKind::SzipBitsPerSample`] for values that are not
    /// whole samples: packed values of other than 8, 16, 24 and 32 bits, plain values of more than four bytes;
    /// [`ErrorKind::DtypeMismatch`] for simple_packing of another dtype than float64; [`ErrorKind::SzipBlockMemory`] if
    /// blocks have more than `B` samples.
    ///
    /// Format: PIPELINE §5.4.
    pub fn new(descriptor: &Descriptor<'_>) -> Result<Self> {
        let at = descriptor.offset();
        let needs = |stage| Err(ErrorKind::NeedsDecoding(stage).at(at));
        let (compression, filter) = (descriptor.compression().known(), descriptor.filter().known());
        if !matches!(compression, Some(Compression::Szip | Compression::None)) {
            return needs(Stage::Compression(compression));
        }
        if filter != Some(Filter::None) {
            return needs(Stage::Filter(filter));
        }
        #[cfg(feature = "packing")]
        let (bits, formula) = match descriptor.encoding().known() {
            Some(Encoding::None) => (Params::element_bits(descriptor), None),
            Some(Encoding::SimplePacking) if descriptor.dtype() == Dtype::Float64 => {
                let packing = descriptor.packing()?;
                (packing.bits_per_value, Some(packing.formula()))
            }
            Some(Encoding::SimplePacking) => return Err(not_float64(descriptor)),
            other => return needs(Stage::Encoding(other)),
        };
        #[cfg(not(feature = "packing"))]
        let bits = match descriptor.encoding().known() {
            Some(Encoding::None) => Params::element_bits(descriptor),
            other => return needs(Stage::Encoding(other)),
        };
        // Packed samples imply another byte order, but no byte of a sample is looked at: they are unpacked as integers.
        let params = Params::with_bits(descriptor, bits, 0)?;
        Ok(Self {
            decoder: PieceDecoder::new(&params).map_err(|kind| kind.at(at))?,
            sample_order: params.byte_order(),
            #[cfg(feature = "packing")]
            max: params.max(),
            dtype: descriptor.dtype(),
            order: descriptor.byte_order(),
            remaining: descriptor.element_count(),
            #[cfg(feature = "packing")]
            formula,
        })
    }

    /// The number of values still to come.
    pub const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Writes the next elements to the front of `out`, takes their bytes from the front of `chunk`, and returns the number
    /// of elements. 0 means that the chunk is used up, or that all elements have come. O(elements + bytes), no allocation.
    ///
    /// # Errors
    /// [`ErrorKind::DtypeMismatch`] if the elements are not of type `T`, [`ErrorKind::NeedsDecoding`] if they are packed; the errors of
    /// [`PieceDecoder::decode_with`], at bytes of the payload.
    pub fn elements_into<T: Element>(&mut self, chunk: &mut &[u8], out: &mut [T]) -> Result<usize> {
        if T::DTYPE != self.dtype {
            return Err(ErrorKind::DtypeMismatch { expected: T::DTYPE, found: self.dtype }.at(0));
        }
        #[cfg(feature = "packing")]
        if self.formula.is_some() {
            return Err(ErrorKind::NeedsDecoding(Stage::Encoding(Some(Encoding::SimplePacking))).at(0));
        }
        let (sample_order, order) = (self.sample_order, self.order);
        let element = |sample: u32| match sample_order {
            ByteOrder::Big => {
                let bytes = sample.to_be_bytes();
                element::<T>(T::Bytes::read_from_suffix(&bytes).ok().map(|(_, bytes)| bytes), order)
            }
            ByteOrder::Little => {
                let bytes = sample.to_le_bytes();
                element::<T>(T::Bytes::read_from_prefix(&bytes).ok().map(|(bytes, _)| bytes), order)
            }
        };
        let count = self.decoder.decode_with(chunk, wanted(self.remaining, out), element)?;
        Ok(self.count(count))
    }

    /// Unpacks the next values of `simple_packing` to the front of `out`, takes their bytes from the front of `chunk`, and
    /// returns the number of values. 0 means that the chunk is used up, or that all values have come. O(values + bytes), no
    /// allocation.
    ///
    /// # Errors
    /// [`ErrorKind::NotPacked`] if the values are not packed; the errors of [`PieceDecoder::decode_with`], at bytes of the
    /// payload.
    #[cfg(feature = "packing")]
    pub fn unpack_into<T: Unpack>(&mut self, chunk: &mut &[u8], out: &mut [T]) -> Result<usize> {
        let Some(formula) = self.formula else { return Err(ErrorKind::NotPacked.at(0)) };
        let max = self.max;
        let out = wanted(self.remaining, out);
        let count = self.decoder.decode_with(chunk, out, |sample| T::from_f64(formula.value(sample & max)))?;
        Ok(self.count(count))
    }

    /// Checks that the payload may end here.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] at the payload's end if values are missing; the error that was found before.
    pub fn finish(&self) -> Result<()> {
        match self.decoder.failure() {
            _ if self.remaining == 0 => Ok(()),
            Some(error) => Err(error),
            None => Err(ErrorKind::Truncated.at(self.decoder.position())),
        }
    }

    const fn count(&mut self, count: usize) -> usize {
        self.remaining = self.remaining.saturating_sub(count as u64);
        count
    }
}

/// The element that is stored as `bytes`. They are never missing, because `new` refuses elements wider than a sample.
#[inline]
fn element<T: Element>(bytes: Option<T::Bytes>, order: ByteOrder) -> T {
    bytes.map_or_else(T::new_zeroed, |bytes| T::from_bytes(bytes, order))
}

impl<const B: usize> fmt::Debug for SzipUnpacker<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SzipUnpacker")
            .field("dtype", &self.dtype)
            .field("remaining", &self.remaining)
            .field("decoder", &self.decoder)
            .finish_non_exhaustive()
    }
}
