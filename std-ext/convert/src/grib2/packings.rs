//! Packings that are not simple packing of other integers: spectral coefficients, logarithms, runs of levels, and ECMWF's second
//! order.
//!
//! | module | what it knows |
//! |---|---|
//! | `curved` | values that no line leads to: the one type that other modules see |
//! | `spectral`, `bi_fourier`, `logarithm` | coefficients divided by a power of their wavenumber, of two kinds; exponentials |
//! | `run_length`, `second_order` | integers in runs, and in groups |
//! | `scale`; `floats`, `ibm` | R, E, D and the bits of an integer; coefficients that are not packed, and floats of edition 1 |
//!
//! Each decodes octets of a section into numbers, and encodes these again. What encoding does not give back to the byte is kept whole, so
//! encoders that round or fill in another way cost space, and no bytes.

mod bi_fourier;
mod curved;
mod floats;
mod ibm;
mod logarithm;
mod run_length;
mod scale;
mod second_order;
mod spectral;

pub(super) use bi_fourier::BiFourier;
pub(super) use curved::Curved;
pub(super) use ibm::value as ibm;
pub(super) use logarithm::Logarithm;
pub(super) use run_length::RunLength;
pub(super) use scale::Scale;
pub(super) use second_order::{Places, SecondOrder};
pub(super) use spectral::{Spectral, triangle, values_of};
