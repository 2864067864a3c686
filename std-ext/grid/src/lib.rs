//! Where the values of a field are: the latitude and the longitude of each point of a grid, in degrees.
//!
//! | want | take |
//! |---|---|
//! | the points of a grid that section 3 of GRIB edition 2 describes | [`GridSection::coordinates`] |
//! | section 3 of an object that was made from GRIB | [`GridSection::of_object`] |
//! | a grid of rows and columns between bounds, as metadata have them under `area` | [`RegularGrid`], [`Area`] |
//! | the value nearest to a place, and the place of a value, for either | [`Places`] |
//!
//! The crate neither reads nor writes files. Memory is taken for as many points as the caller allows, and for nothing else.
//! Nothing panics, whatever the bytes are.
//!
//! # Layers
//! A module imports only from rows below its own. Modules of one row do not import each other. `.ci/layers` checks both.
//!
//! | layer | what it knows |
//! |---|---|
//! | `places` | where values are, on a regular grid or at points |
//! | `points`, `regular`, `section` | points one by one; rows and columns between bounds; section 3 of GRIB and its templates |
//! | `area`, `coordinates`, `octets` | bounds; latitudes and longitudes; numbers of GRIB |
//! | `error` | what is wrong with a grid |

mod area;
mod coordinates;
mod error;
mod octets;
mod places;
mod points;
mod regular;
mod section;

pub use area::Area;
pub use coordinates::{Axes, Coordinates};
pub use error::GridError;
pub use octets::Octets;
pub use places::Places;
pub use points::Points;
pub use regular::RegularGrid;
pub use section::GridSection;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
