//! Writing: files that appear whole or not at all, and never destroy an input.

pub(crate) mod destination;
pub(crate) mod endings;
pub(crate) mod interrupt;
#[cfg(any(feature = "netcdf", feature = "parquet", feature = "zarr"))]
pub(crate) mod named;
pub(crate) mod same_file;
pub(crate) mod spill;
pub(crate) mod template;
