//! Packings whose values do not rise in equal steps with their integers. An object has the values as they are, and the integers come back
//! from them.

use tgm_std::{DecodeLimits, Result};

use super::bi_fourier::BiFourier;
use super::logarithm::Logarithm;
use super::spectral::Spectral;

/// A packing whose values do not rise in equal steps with its integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Curved {
    /// Spectral coefficients.
    Spectral(Spectral),
    /// Template 5.53.
    BiFourier(BiFourier),
    /// Template 5.61.
    Logarithm(Logarithm),
}

impl Curved {
    /// The `count` values of a section's data.
    ///
    /// # Errors
    /// [`Framing`](tgm_std::TensogramError::Framing) for data that contradict their section; an error beyond the limits.
    pub(in super::super) fn decode(&self, data: &[u8], count: u64, limits: &DecodeLimits) -> Result<Vec<f64>> {
        match self {
            Self::Spectral(spectral) => spectral.decode(data, count, limits),
            Self::BiFourier(coefficients) => coefficients.decode(data, count, limits),
            Self::Logarithm(logarithm) => logarithm.decode(data, count, limits),
        }
    }

    /// The data of values that were decoded, also on a machine whose powers differ in the last place. `None` if no integers give them, or
    /// several do.
    ///
    /// # Errors
    /// An error if memory runs out.
    pub(in super::super) fn encode(&self, values: &[f64], limits: &DecodeLimits) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Spectral(spectral) => spectral.encode(values, limits),
            Self::BiFourier(coefficients) => coefficients.encode(values),
            Self::Logarithm(logarithm) => logarithm.encode(values),
        }
    }
}
