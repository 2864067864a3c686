//! NetCDF 4 and HDF5, and the older forms of NetCDF: files become messages, and messages become files of NetCDF 4.
//!
//! A file becomes one message, and each variable one object, or several if it is large; with [`Split::Record`] each record of the
//! unlimited dimension becomes a message of its own, after one with the variables that have no records. Back, those records become
//! one variable again, and each object of any other message becomes a variable.
//!
//! | NetCDF | Tensogram | back |
//! |---|---|---|
//! | integers of 8 to 64 bits, `float`, `double` | the same, bit by bit, but for NaN | kept |
//! | NaN, and floats equal to `_FillValue` or `missing_value` | the mask of NaN | the first of these that there is, otherwise NaN |
//! | numbers with `scale_factor` or `add_offset` | what the convention CF says, by `simple_packing` if that keeps each value | the same integers, if each has its value again; otherwise the values |
//! | of these, integers equal to `_FillValue` or `missing_value` | the mask of NaN | the first of these that there is |
//! | other integers | integers; those equal to `_FillValue` stay as they are | kept |
//! | truth values: of h5py, and bytes with the attribute `dtype` = "bool" of xarray | bits | bytes with that attribute |
//! | complex numbers of h5py and netCDF4, `float16` of HDF5 | the same | pairs as netCDF4 writes them; `float` |
//! | integers with names | integers, and `netcdf.enum` | integers |
//! | texts, and characters joined along their last dimension, up to 1 MiB a variable | `extra.texts` | texts |
//! | numbers of more than 16 MiB, or as [`Chunks`](crate::Chunks) says | objects of about 4 MiB, each with `netcdf.origin`, `netcdf.shape` and `netcdf.chunk_shape` | one variable in such chunks |
//! | name, with the groups above it: `group/name` | `name` of the object | kept |
//! | names of dimensions, also of coordinate variables | `dimensions` of the object, with paths in `netcdf.dimensions` if a group has them | kept |
//! | dimensions without a variable | `extra.dimensions` | kept |
//! | attributes of variables | `attributes` of the object | kept |
//! | attributes that say how numbers are stored | `netcdf.packing` of the object, with the stored type | kept, if the numbers are stored so |
//! | attributes of the file and of groups | `extra.attributes`, `extra.groups.NAME` | kept |
//! | types of attributes other than `int`, `double` and text | `netcdf.types` of the object, `extra.netcdf` | kept |
//! | unlimited dimensions | `extra.unlimited` | kept |
//! | further links to what is in the file | `extra.links` | not kept |
//! | compounds | an object for each field of numbers, called `name.field`, with the name under `netcdf.compound` | a variable for each |
//! | opaque and ragged types, fields that are not numbers, references, `long double` | not kept: errors | |
//! | chunks of smaller variables, filters | not kept: they are how values are stored | |
//!
//! Objects that NetCDF has no type for: `float16` and `bfloat16` become `float`, bits become `byte`. Metadata becomes attributes. Annotations of the message have `extra.` in front: `mars.param`, `extra.run`. Bytes,
//! null and lists of maps are not kept. Dimensions without names get one by their length, such as `dim_360`. Fields from GRIB
//! have `units`, `long_name` and their grid: `latitude` and `longitude` as dimensions with values, or as two variables with
//! a value for each point, which the attribute `coordinates` names. Fields on one grid share them. Arrays from Zarr have
//! the attributes that they had there.
//!
//! Fields of many messages become variables over time, step, level and the like by [`ArrayWriter::write_datasets`](crate::ArrayWriter::write_datasets), which
//! takes datasets of the crate `tgm-dataset`.
//!
//! Numbers of attributes become integers or floats of 64 bits; their types are kept beside them. All that a file of HDF5
//! holds is counted by HDF5: what is neither kept nor told is an error.
//!
//! Memory: one variable of up to 16 MiB, or one record or piece, and its values as `float64` where it is packed; of pieces and small
//! variables some for each thread. A variable larger than the limits is reported and left out. Back, one message, one decoded
//! object and a copy of it.
//!
//! # Trust
//! HDF5 reads its files, NetCDF 4 among them, and netCDF-C the older forms. Links are walked first: nothing is read that
//! lies outside of the file, circles end, and filters are not loaded from elsewhere. Headers of the older forms are checked
//! before netCDF-C reads them. Still these are libraries of C: a damaged file can crash them. Do not feed them files that
//! you do not trust.

mod attributes;
mod classic;
mod complex;
#[cfg(feature = "grib")]
mod grids;
mod hdf5;
#[cfg(feature = "grib")]
pub(crate) mod known;
mod names;
mod to_netcdf;
mod to_tgm;
mod tree;
mod types;
mod values;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod text_tests;

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tgm_std::file::SourceName;
use tgm_std::{Result, TensogramError};
pub use to_netcdf::NetcdfWriter;
pub use to_tgm::to_tensogram;

use crate::error::{encoding, encoding_from};
pub use crate::streamed::{ReadOptions as NetcdfOptions, Split};
pub use crate::tree::WriteOptions as ToNetcdfOptions;

/// The key of an object's dimensions, and of `_extra_` for those that no object has.
const DIMENSIONS: &str = "dimensions";
use crate::texts::TEXTS;
/// The key of `_extra_` and of `base` for what no other key has.
const NETCDF: &str = "netcdf";
/// Below it: the type of the variable, if the object has another one.
const TYPE: &str = "type";
/// Below it: how the numbers were stored: their type, and the attributes that say what they mean.
const PACKING: &str = "packing";
/// Below it: names of integers.
const ENUM: &str = "enum";
/// The key of the variable of which an object is a field.
const COMPOUND: &str = "compound";
/// Below it: the types of attributes by name.
const TYPES: &str = "types";

/// The error of a file that is not what is read.
fn refused(path: &Path, why: &str) -> TensogramError {
    encoding(format!("{}: {why}", SourceName::of(path)))
}

/// What a library reports.
fn failed(place: impl Display, error: impl std::error::Error + Send + Sync + 'static) -> TensogramError {
    encoding_from(place, error)
}

/// Runs `work`. The crate `netcdf` panics where the libraries report what it does not expect: that is an error here.
fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    // HDF5 would print its errors, in each thread that does not say otherwise.
    hdf5_metno::silence_errors(true);
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(refused(path, "what the library reports is not expected")))
}
