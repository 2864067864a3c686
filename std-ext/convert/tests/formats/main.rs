//! Converters, from outside. One program for all of them, as each links everything.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic, and say where")]

#[cfg(all(feature = "csv", feature = "npz", feature = "raw", feature = "safetensors"))]
mod arrays;
#[cfg(all(feature = "netcdf", feature = "zarr"))]
mod cubes;
#[cfg(feature = "grib")]
mod grib;
#[cfg(feature = "grib")]
#[path = "../../../../tests/src/scale.rs"]
mod scale;
#[cfg(all(feature = "netcdf", feature = "zarr"))]
mod several;
#[cfg(all(feature = "csv", feature = "npz", feature = "raw", feature = "safetensors"))]
mod tables;
