//! NetCDF 4 and HDF5, and the older forms of NetCDF: files become messages.
//!
//! A file becomes one message, and each variable one object; with [`Split::Record`] each record of the unlimited
//! dimension becomes a message of its own, after one with the variables that have no records.
//!
//! | NetCDF | Tensogram |
//! |---|---|
//! | integers of 8 to 64 bits, `float`, `double` | the same, bit by bit, but for NaN |
//! | NaN, and floats equal to `_FillValue` or `missing_value` | the mask of NaN |
//! | integers with `scale_factor` or `add_offset` | `float64` by `simple_packing`, if that keeps each value; otherwise `float64` |
//! | of these, integers equal to `_FillValue` or `missing_value` | the mask of NaN |
//! | other integers | integers; those equal to `_FillValue` stay as they are |
//! | name, with the groups above it: `group/name` | `name` of the object |
//! | names of dimensions, also those of coordinate variables | `dimensions` of the object |
//! | attributes of variables | `attributes` of the object |
//! | attributes of the file and of groups | `extra.attributes`, `extra.groups.NAME` |
//! | unlimited dimensions | `extra.unlimited` |
//! | text, enumerations, opaque, compound and ragged types | not kept, and listed |
//! | chunks and filters | not kept: they are how values are stored |
//! | groups without variables | `extra.groups`, if they have attributes |
//!
//! Numbers of attributes become integers or floats of 64 bits. A packed value is `integer × scale_factor + add_offset`, by
//! arithmetic of 64 bits. The formula of `simple_packing` is `R + X·2^E`, so a scale factor that is a power of two keeps
//! the integers. With another one (0.01 is none) the two formulas round differently: then the values are stored, and a
//! note says so.
//!
//! Memory: one variable, or one record of it, as `float64` where it is packed. A variable larger than the limits is
//! reported and left out.
//!
//! # Trust
//! The C libraries netCDF-C and HDF5 read the file. A damaged file can make them do anything, a crash included; this
//! crate checks only the sizes that they report. Do not feed them files that you do not trust.

mod attributes;
mod packed;
mod to_tgm;

#[cfg(test)]
mod tests;

pub use to_tgm::{NetcdfOptions, Split, to_tensogram};
