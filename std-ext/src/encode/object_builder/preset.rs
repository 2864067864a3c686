//! Pipelines for those who know what they want to keep, and not which codec keeps it.

use tgm_core::descriptor::{Compression, Dtype};

use super::ObjectBuilder;
use crate::base::error::Result;
use crate::encode::defaults::packed_bits;

/// Packed values of more bits than this are not samples of szip.
const MOST_OF_SZIP: u64 = 32;

/// With more bits, packed values would be finer than floats.
const MOST_OF_FLOATS: u64 = 52;

/// What a compression has to keep. [`ObjectBuilder::compress`] chooses encoding, filter, compression and parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Compress {
    /// Every bit of every value.
    Lossless,
    /// Floats change by no more than this, in their own unit. Other values are kept as they are.
    Within(f64),
    /// Floats are packed into this many bits each, at most 64. Other values are an error.
    Bits(u32),
}

/// The first of these codecs that the build has, of those that take any bytes.
fn usual() -> Option<Compression> {
    if cfg!(feature = "zstd") {
        Some(Compression::Zstd)
    } else if cfg!(feature = "lz4") {
        Some(Compression::Lz4)
    } else {
        None
    }
}

impl ObjectBuilder<'_> {
    /// Chooses the pipeline by what it has to keep.
    ///
    /// | values | [`Lossless`](Compress::Lossless) | [`Within`](Compress::Within), [`Bits`](Compress::Bits) |
    /// |---|---|---|
    /// | floats | shuffle, zstd | simple_packing, szip; of more than 32 bits: simple_packing, shuffle, zstd |
    /// | integers of several bytes, complex | shuffle, zstd | `Within`: as lossless; `Bits`: an error |
    /// | integers of one byte, bits | zstd | as above |
    ///
    /// A build without zstd takes lz4 in its place, and one without both takes szip of shuffled values, or no compression.
    /// Values of `float32` and shorter are packed as `float64`, and readers get them as `f32` all the same. Where 52 bits do not
    /// keep a bound, `Within` is lossless. Values that are not finite are left out of account; the message has to
    /// allow them ([`MessageBuilder::allow_nan`](crate::MessageBuilder::allow_nan)).
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for a bound that is not positive, and for more than 64
    /// bits; [`TensogramError::Metadata`](crate::TensogramError::Metadata) for bits of values that are not floats.
    ///
    /// ```
    /// use tgm_std::{Compress, MessageBuilder, ObjectBuilder, read};
    ///
    /// let temperature: Vec<f32> = (0..1000).map(|i| 280.0 + (i as f32 / 50.0).sin()).collect();
    /// let object = ObjectBuilder::new(&[1000], &temperature)?.compress(Compress::Within(0.01))?;
    /// let bytes = MessageBuilder::new().object(object).encode()?;
    /// let found = read(&tgm_std::core::Message::parse(&bytes)?.object(0)?).values::<f32>()?;
    /// assert!(found.iter().zip(&temperature).all(|(found, value)| (found - value).abs() <= 0.01001));
    /// assert!(bytes.len() < 2000);
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    pub fn compress(self, how: Compress) -> Result<Self> {
        let dtype = self.descriptor.dtype;
        let is_float = matches!(dtype, Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 | Dtype::Float64);
        match how {
            Compress::Bits(bits) => Ok(self.simple_packing_of_finite(bits, 0)?.behind_packing()),
            Compress::Within(error) if error.is_nan() || error <= 0.0 => self.simple_packing_of_finite_within(error),
            Compress::Within(error) if is_float => match self.clone().simple_packing_of_finite_within(error) {
                Ok(packed) if packed_bits(&packed.descriptor) <= Some(MOST_OF_FLOATS) => Ok(packed.behind_packing()),
                _ => Ok(self.lossless()),
            },
            Compress::Lossless | Compress::Within(_) => Ok(self.lossless()),
        }
    }

    fn lossless(self) -> Self {
        let is_shuffled = self.descriptor.dtype.byte_width() > 1;
        match usual() {
            Some(compression) if is_shuffled => self.shuffle().compression(compression),
            Some(compression) => self.compression(compression),
            None if is_shuffled => self.shuffle().szip(),
            None => self,
        }
    }

    /// Compresses packed values.
    fn behind_packing(self) -> Self {
        match packed_bits(&self.descriptor) {
            // All values are one, which the descriptor holds.
            Some(0) | None => self,
            Some(bits) if bits <= MOST_OF_SZIP => self.szip(),
            Some(_) => match usual() {
                Some(compression) => self.shuffle().compression(compression),
                None => self,
            },
        }
    }
}
