//! Other formats become Tensogram, and Tensogram becomes them again: one module for each format.
//!
//! This crate stands beside [`tgm_std`], which reads and writes messages. The tool `tgm convert` is made of it.
//!
//! A conversion keeps metadata, and encoded bits where the format has a stage for them. It names what it cannot keep, or
//! is an error.
//!
//! # Formats
//! | module, feature | reads and writes | what it keeps |
//! |---|---|---|
//! | `grib2`, `grib` | messages of GRIB edition 2 | everything, to the byte |
//! | `npy`, `npy` | one array | type, shape, byte order, values |
//! | `npz`, `npz` | archives of such arrays | the same, and names |
//! | `raw`, `raw` | bare values | values |
//! | `csv`, `csv` | numbers as text, in columns or as a matrix | values, times, names of columns, missing values |
//! | `safetensors`, `safetensors` | tensors with names | type, shape, values, names, texts about the file |
//! | `netcdf`, `netcdf` | files of NetCDF, and reads HDF5 | numbers, packed ones too, dimensions, attributes, groups |
//! | `table`, `arrow` and `parquet` | writes metadata of any number of messages as a table | metadata |
//! | `references`, `parquet` | writes references of kerchunk to the objects of a dataset, as Parquet | places |
//! | `points`, `grib` | reads coordinates of unstructured grids | latitudes, longitudes |
//! | `zarr`, `zarr` | directories of Zarr, versions 2 and 3 in | values, and what describes an array and the groups above it |
//!
//! # Array formats
//! [`arrays::Arrays`] stands between messages and formats that hold arrays. A format has two functions: `read` makes
//! [`Arrays`](arrays::Arrays) of bytes, or one [`Array`](arrays::Array), and `write` does the opposite. What a reader
//! leaves out is listed in [`Arrays::not_kept`](arrays::Arrays::not_kept); a writer returns such a list.
//! [`Arrays::decode`](arrays::Arrays::decode) and [`Arrays::encode`](arrays::Arrays::encode) lead from and to a message.
//! So each format leads to each other one, and a new format needs no more than these two functions:
//!
//! ```text
//! npy   ─ read ─┐            ┌─ encode ─ message      values are borrowed
//! raw   ─ read ─┼─ Arrays ───┤                        where no order changes
//! ...   ─ read ─┘            └─ write ── npy, raw, ...
//! message ─ decode ─ Arrays
//! ```
//!
//! # Errors
//! Conversions fail with the [`TensogramError`](tgm_std::TensogramError) of the library. GRIB has [`grib2::GribError`] beside
//! it, with kind and place. Some texts contain advice, such as the name of a feature: [`Hint`] lists all of it.
//!
//! # Layers
//! A module imports only from rows below its own. Modules of one row do not import each other. `.ci/layers` checks both.
//!
//! | layer | what it knows |
//! |---|---|
//! | `points` | coordinates of unstructured grids in files |
//! | `npz`, `netcdf`, `zarr` | archives and files with several arrays |
//! | `tree` | messages and datasets as arrays with names, for formats that hold a tree of them |
//! | `csv`, `cubes`, `grib2`, `npy`, `raw`, `references`, `safetensors`, `table` | one format each; fields as variables of many dimensions |
//! | `axes` | the labels along the dimensions of a message |
//! | `dimensions`, `given` | names of dimensions, and the groups that have them; a message that is written |
//! | `arrays`, `names`, `note`, `streamed` | arrays between formats; names of variables; what is not kept; how values are compressed |
//! | `pieces` | arrays of several objects |
//! | `called`, `error`, `hint`, `texts` | what metadata calls an object; errors, and the advice in them; arrays of texts, as metadata has them |
//! | `maps` | maps of metadata |
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arrays;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod axes;
mod called;
#[cfg(feature = "csv")]
pub mod csv;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod cubes;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod dimensions;
#[cfg_attr(not(feature = "zarr"), allow(dead_code, reason = "which of these are used depends on the formats"))]
mod error;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
#[cfg_attr(
    not(all(feature = "netcdf", feature = "zarr")),
    allow(dead_code, reason = "which of these are used depends on the formats")
)]
mod given;
#[cfg(feature = "grib")]
pub mod grib2;
mod hint;
#[cfg_attr(
    not(all(feature = "netcdf", feature = "zarr")),
    allow(dead_code, reason = "which of these are used depends on the formats")
)]
mod maps;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod names;
#[cfg(feature = "netcdf")]
pub mod netcdf;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod note;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
mod pieces;
#[cfg(feature = "grib")]
pub mod points;
#[cfg(feature = "raw")]
pub mod raw;
#[cfg(feature = "parquet")]
pub mod references;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod streamed;
#[cfg(feature = "arrow")]
pub mod table;
#[cfg_attr(not(all(feature = "netcdf", feature = "zarr")), allow(dead_code, reason = "some formats have no texts"))]
mod texts;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
#[cfg_attr(
    not(all(feature = "netcdf", feature = "zarr")),
    allow(dead_code, reason = "which of these are used depends on the formats")
)]
mod tree;
#[cfg(feature = "zarr")]
pub mod zarr;

#[cfg(any(feature = "netcdf", feature = "zarr"))]
pub use cubes::is_of_fields;
pub use hint::Hint;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
pub use note::Note;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
pub use pieces::Chunks;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
pub use streamed::{OwnStages, ReadOptions, Split, Subject};
#[cfg(any(feature = "netcdf", feature = "zarr"))]
pub use tree::{ArrayWriter, WriteOptions};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
