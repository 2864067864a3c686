//! The projections of planes as one type.

use super::albers::Albers;
use super::azimuthal::Azimuthal;
use super::cone::Cone;
use super::mercator::Mercator;
use super::plane::Projection;
use super::transverse::Transverse;

/// A projection of any kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Any {
    Albers(Albers),
    Azimuthal(Azimuthal),
    Cone(Cone),
    Mercator(Mercator),
    Transverse(Transverse),
}

impl Any {
    /// The projection itself.
    pub(crate) const fn get(&self) -> &dyn Projection {
        match self {
            Self::Albers(it) => it,
            Self::Azimuthal(it) => it,
            Self::Cone(it) => it,
            Self::Mercator(it) => it,
            Self::Transverse(it) => it,
        }
    }
}
