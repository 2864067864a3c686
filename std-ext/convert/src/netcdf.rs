//! NetCDF 4 and HDF5, and the older forms of NetCDF: files become messages, and messages become files of NetCDF 4.
//!
//! A file becomes one message, and each variable one object; with [`Split::Record`] each record of the unlimited
//! dimension becomes a message of its own, after one with the variables that have no records. Back, those records become
//! one variable again, and each object of any other message becomes a variable.
//!
//! | NetCDF | Tensogram | back |
//! |---|---|---|
//! | integers of 8 to 64 bits, `float`, `double` | the same, bit by bit, but for NaN | kept |
//! | NaN, and floats equal to `_FillValue` or `missing_value` | the mask of NaN | the first of these that there is, otherwise NaN |
//! | integers with `scale_factor` or `add_offset` | `float64` by `simple_packing`, if that keeps each value; otherwise `float64` | the same integers, if each has its value again; otherwise `double` |
//! | of these, integers equal to `_FillValue` or `missing_value` | the mask of NaN | the first of these that there is |
//! | other integers | integers; those equal to `_FillValue` stay as they are | kept |
//! | name, with the groups above it: `group/name` | `name` of the object | kept |
//! | names of dimensions, also of coordinate variables | `dimensions` of the object | kept |
//! | attributes of variables | `attributes` of the object | kept |
//! | attributes of the file and of groups | `extra.attributes`, `extra.groups.NAME` | kept |
//! | types of attributes other than `int`, `double` and text | `netcdf.types` of the object, `extra.netcdf` | kept |
//! | unlimited dimensions | `extra.unlimited` | kept |
//! | text, enumerations, opaque, compound and ragged types | not kept, and listed | |
//! | chunks and filters | not kept: they are how values are stored | |
//! | groups without variables | `extra.groups`, if they have attributes | kept |
//!
//! Objects that NetCDF has no type for: `float16` and `bfloat16` become `float`, bits become `ubyte`, complex values are
//! not kept. Metadata becomes attributes. Annotations of the message have `extra.` in front: `mars.param`, `extra.run`. Bytes,
//! null and lists of maps are not kept. Dimensions without names get one by their length, such as `dim_360`. Fields from GRIB
//! have `units`, `long_name` and their grid: `latitude` and `longitude` as dimensions with values, or as two variables with
//! a value for each point, which the attribute `coordinates` names. Fields on one grid share them.
//!
//! Numbers of attributes become integers or floats of 64 bits. A packed value is `integer × scale_factor + add_offset`, by
//! arithmetic of 64 bits. The formula of `simple_packing` is `R + X·2^E`, so a scale factor that is a power of two keeps
//! the integers. With any other one, such as 0.01, the two formulas round differently: then the values are stored, and a
//! note says so.
//!
//! Memory: one variable, or one record of it, as `float64` where it is packed. A variable larger than the limits is
//! reported and left out. Back, one message, one decoded object and a copy of it.
//!
//! # Trust
//! The C libraries netCDF-C and HDF5 read the file. A damaged file can make them do anything, a crash included; this
//! crate checks only the sizes that they report. Do not feed them files that you do not trust.

mod attributes;
mod dimensions;
#[cfg(feature = "grib")]
mod grids;
mod names;
mod packed;
mod to_netcdf;
mod to_tgm;
mod types;
mod values;

#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tgm_std::file::SourceName;
use tgm_std::{Result, TensogramError};
pub use to_netcdf::{NetcdfWriter, ToNetcdfOptions};
pub use to_tgm::{NetcdfOptions, Split, to_tensogram};

use crate::error::encoding;

/// The key of `_extra_` and of `base` for what no other key has.
const NETCDF: &str = "netcdf";
/// Below it: the type of the variable, if the object has another one.
const TYPE: &str = "type";
/// Below it: the types of attributes by name.
const TYPES: &str = "types";
/// Below it: the dimension of records, of which the object is one. In `_extra_`: the number of the record.
const RECORD: &str = "record";

fn failed(place: impl Display, error: impl Display) -> TensogramError {
    encoding(format!("{place}: {error}"))
}

/// Runs `work`. The crate `netcdf` panics where the libraries report what it does not expect: that is an error here.
fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(failed(SourceName::of(path), "what the library reports is not expected")))
}
