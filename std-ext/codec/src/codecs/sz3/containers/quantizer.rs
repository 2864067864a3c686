//! Values from symbols and predictions.

use std::slice;

use super::container::Container;
use super::defect::Defect;
use super::huffman::{Code, Symbols};
use super::reader::Reader;

/// The number of the linear quantizer, the only one.
const LINEAR: u8 = 2;

/// The values as they are stored: each as the distance from its prediction in steps of twice the error bound, or as it
/// is.
pub(super) struct Values<'a> {
    symbols: Symbols<'a>,
    radius: i32,
    unpredictable: slice::Iter<'a, [u8; 8]>,
}

impl<'a> Values<'a> {
    /// Reads the quantizer, the code and where the symbols are.
    pub(super) fn parse(reader: &mut Reader<'a>, container: &Container<'_>) -> Result<Self, Defect> {
        const PART: &str = "quantizer";
        let kind = reader.u8(PART)?;
        if kind != LINEAR {
            return Err(Defect::Unsupported("quantizer", kind.into()));
        }
        let bound = reader.f64(PART)?;
        if bound.to_bits() != container.bound.to_bits() {
            return Err(Defect::Number("quantizer's error bound", bound));
        }
        let radius = reader.u32(PART)?;
        if radius != container.radius {
            return Err(Defect::Field("quantizer's radius", radius.into()));
        }
        let unpredictable_count = reader.u64(PART)?;
        if unpredictable_count > container.count {
            return Err(Defect::Field("number of unpredictable values", unpredictable_count));
        }
        let unpredictable = reader.chunks(unpredictable_count, "unpredictable values")?.iter();
        let code = Code::parse(reader, container.count, container.bins())?;
        let symbol_count = reader.u64("symbols")?;
        if symbol_count != container.count {
            return Err(Defect::Field("number of symbols", symbol_count));
        }
        Ok(Self { symbols: Symbols::parse(reader, code)?, radius: radius.cast_signed(), unpredictable })
    }

    /// The next value, by its prediction and its error bound.
    ///
    /// The product is rounded, then the sum: a fused multiply-add would differ from SZ3 in the last bit.
    #[inline]
    pub(super) fn next(&mut self, prediction: f64, bound: f64) -> Result<f64, Defect> {
        match self.symbols.next()? {
            0 => self.next_unpredictable(),
            // Symbols are below twice the radius, which is 2¹⁵ at most.
            symbol => Ok(prediction + f64::from(2 * (symbol.cast_signed() - self.radius)) * bound),
        }
    }

    /// The next value, which must be one that is stored as it is.
    pub(super) fn next_stored(&mut self) -> Result<f64, Defect> {
        match self.symbols.next()? {
            0 => self.next_unpredictable(),
            symbol => Err(Defect::Field("symbol of a value to be stored", symbol.into())),
        }
    }

    #[inline]
    fn next_unpredictable(&mut self) -> Result<f64, Defect> {
        self.unpredictable.next().map(|bytes| f64::from_le_bytes(*bytes)).ok_or(Defect::Unpredictable)
    }

    /// Checks that everything stored has been used.
    pub(super) fn finish(&mut self) -> Result<(), Defect> {
        let left = self.unpredictable.len() as u64;
        if left != 0 {
            return Err(Defect::Surplus("unpredictable values", left * 8));
        }
        self.symbols.finish()
    }
}
