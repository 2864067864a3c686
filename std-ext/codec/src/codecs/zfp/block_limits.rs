//! What a mode means for a block: its length, and how many of its bit planes are coded.

use tgm_core::descriptor::ZfpMode;

use super::{double, planes};
use crate::codecs::CodecError;

/// The limits of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockLimits {
    /// The length of every block, if it is fixed; at least [`double::HEADER_BITS`].
    pub(super) block_bits: Option<u32>,
    /// The most bit planes of a block, 1 to 64.
    max_planes: u32,
    /// The exponent of the least bit plane that is coded.
    min_exponent: i32,
}

impl BlockLimits {
    pub(super) fn new(mode: ZfpMode) -> Result<Self, CodecError> {
        let unlimited = Self { block_bits: None, max_planes: u64::BITS, min_exponent: double::LEAST_EXPONENT };
        match mode {
            ZfpMode::FixedRate(rate) => {
                // Rounded to whole bits for the four values of a block.
                let bits = (rate * 4.0 + 0.5).floor();
                if !(rate > 0.0 && bits <= f64::from(u32::MAX)) {
                    return Err(CodecError::new(format!("zfp_rate {rate} is out of range")));
                }
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer, just checked")]
                let bits = bits as u32;
                Ok(Self { block_bits: Some(bits.max(double::HEADER_BITS)), ..unlimited })
            }
            ZfpMode::FixedPrecision(planes @ 1..64) => Ok(Self { max_planes: planes, ..unlimited }),
            ZfpMode::FixedPrecision(_) => Ok(unlimited),
            ZfpMode::FixedAccuracy(tolerance) => {
                if !(tolerance > 0.0 && tolerance.is_finite()) {
                    return Err(CodecError::new(format!("zfp_tolerance {tolerance} is out of range")));
                }
                Ok(Self { min_exponent: floor_log2(tolerance), ..unlimited })
            }
        }
    }

    /// Bit planes of a block whose greatest value is below 2^`exponent`.
    #[inline]
    pub(super) fn planes(&self, exponent: i32) -> u32 {
        // Decorrelation makes errors greater: four planes more than the tolerance says make up for it.
        let wanted = exponent - self.min_exponent + 4;
        self.max_planes.min(wanted.max(0).cast_unsigned())
    }

    /// Bits that a block has for its planes.
    #[inline]
    pub(super) fn plane_bits(&self) -> u32 {
        self.block_bits.map_or(u32::MAX, |bits| bits - double::HEADER_BITS)
    }

    /// The least and the greatest length in bytes of a stream of `blocks` blocks.
    pub(super) fn lens(&self, blocks: u64) -> (u64, u64) {
        let len = |bits: u32| len_of(blocks.saturating_mul(u64::from(bits)));
        match self.block_bits {
            Some(bits) => (len(bits), len(bits)),
            None => (len(1), len(double::HEADER_BITS + planes::longest(self.max_planes))),
        }
    }
}

/// Bytes of the words that hold `bits`.
pub(super) const fn len_of(bits: u64) -> u64 {
    bits.div_ceil(64) * 8
}

/// The power of two at or below a positive number.
const fn floor_log2(number: f64) -> i32 {
    let bits = number.to_bits();
    match (bits >> double::FRACTION_BITS) as i32 {
        // Subnormal numbers count units of 2^-1074.
        0 => bits.ilog2().cast_signed() + double::LEAST_EXPONENT,
        exponent => exponent - double::EXPONENT_BIAS,
    }
}
