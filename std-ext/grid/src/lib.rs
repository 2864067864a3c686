//! Where the values of a field are: the latitude and the longitude of each point of a grid, in degrees.
//!
//! | want | take |
//! |---|---|
//! | the points of a grid that section 3 of GRIB describes, or section 2 of edition 1 | [`GridSection::coordinates`] |
//! | the section that says the grid of an object that was made from GRIB | [`GridSection::of_object`] |
//! | a grid of rows and columns between bounds, as metadata have them under `area` | [`RegularGrid`], [`Area`] |
//! | the places of an object's values, by all that its metadata say | [`Stated`] |
//! | the value nearest to a place, and the place of a value | [`Places`] |
//! | a grid by its name, `O640` say | [`NamedGrid`] |
//! | x and y of a plane as latitude and longitude, by a grid mapping of CF | [`Mapping`] |
//! | pixels of equal areas, computed one by one | [`Healpix`] |
//! | points of ICON or ORCA, which a file has | [`KnownPoints`] |
//! | why a field has no places | [`no_places`] |
//!
//! The crate neither reads nor writes files. Memory is taken for as many points as the caller allows, and for nothing else.
//! Nothing panics, whatever the bytes are.
//!
//! # Layers
//! A module imports only from rows below its own. Modules of one row do not import each other. `.ci/layers` checks both.
//!
//! | layer | what it knows |
//! |---|---|
//! | `stated` | what metadata say of a grid |
//! | `known`, `named` | points of unstructured grids, from elsewhere; names of grids |
//! | `places` | where values are: on a regular grid, in pixels or at points |
//! | `section`, `mapping` | sections of GRIB that say a grid; projections in the words of CF |
//! | `grids` | kinds of grids, each a file, and the table of which numbers describe which |
//! | `points`, `regular` | points one by one; rows and columns |
//! | `cf` | the words of CF for projections |
//! | `area`, `coordinates`, `octets` | bounds; latitudes and longitudes; numbers of GRIB |
//! | `error` | what is wrong with a grid |

mod area;
mod cf;
mod coordinates;
mod error;
mod grids;
mod known;
mod mapping;
mod named;
mod octets;
mod places;
mod points;
mod regular;
mod section;
mod stated;

pub use area::Area;
pub use cf::{CfMapping, Projected};
pub use coordinates::{Axes, Coordinates};
pub use error::GridError;
pub use grids::healpix::Healpix;
pub use grids::no_places;
pub use known::KnownPoints;
pub use mapping::{Mapping, ProjError};
pub use named::NamedGrid;
pub use octets::Octets;
pub use places::Places;
pub use points::Points;
pub use regular::RegularGrid;
pub use section::GridSection;
pub use stated::Stated;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
