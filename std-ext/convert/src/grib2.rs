//! GRIB editions 1 and 2 (WMO Manual on Codes, FM 92 GRIB): messages become Tensogram messages, without decoding where that is
//! possible, and return to the byte.
//!
//! One GRIB message becomes one Tensogram message. Each field of it is one object. The payload is section 7, as it is,
//! where the format has a stage for it. Otherwise it has the same integers, as a stream of szip where that is shorter: szip takes
//! 8, 16, 24 and 32 bits, so 12 bits become 16.
//!
//! | data representation (section 5) | object | section 7 comes back from |
//! |---|---|---|
//! | 5.0 simple packing | `simple_packing`; also `szip` where that is shorter, unless [`GribOptions::keep_stages`] | the payload |
//! | 5.42 CCSDS with 8, 16, 24 or 32 bits | `simple_packing` and `szip` | the payload |
//! | 5.42 CCSDS with other widths | `simple_packing` of the same integers, and `szip` | the payload |
//! | 5.4 IEEE floating point, 32 and 64 bits | values without a stage; with a bitmap shuffled, and `szip` | the payload |
//! | 5.2 complex packing, 5.3 with spatial differences | `simple_packing` of the same integers, and `szip`; missing values are a mask of NaN | the payload, and the lengths of the groups in metadata |
//! | 5.41 PNG (feature `grib-png`), 5.40 JPEG 2000 (feature `grib-jpeg2000`) | `simple_packing` of the same integers, and `szip` | its own bytes in metadata |
//! | 5.3 whose differences make some integers negative | values without a stage | its own bytes in metadata |
//! | any of these, with a bitmap (section 6) | the same integers at all points, the ones without a value as the one before, and `szip`; a mask of NaN where the bitmap has a 0 | likewise |
//! | 5.50, 5.51 spectral coefficients, 5.53 bi-Fourier ones, 5.61 logarithms | `float64` values, shuffled, and `szip` where that is shorter | the values |
//! | 5.200 runs of levels | `simple_packing` of the levels' integers, and `szip`; level 0 is a mask of NaN | the integers |
//! | 5.50001, 5.50002 second order | `simple_packing` of the same integers, and `szip` | the payload, and lengths or heads of the groups in metadata |
//! | 5.1 a matrix of one value at each point | as 5.0 | the payload |
//! | all other templates | no value: a mask of NaN has all points, and [`Note::Unread`] says why | its own bytes in metadata |
//! | edition 1: simple packing, IEEE numbers as ecCodes writes them | as 5.0 and 5.4 | the payload |
//! | edition 1: spectral coefficients, second order of all forms | as 5.51 and 5.50002 | likewise |
//! | edition 1: a matrix at each point | as other templates | likewise |
//!
//! # What is kept beside the values
//! References, widths and lengths of groups determine the bits of 5.2 and 5.3. Where references and widths are the least ones
//! that the integers need, the lengths are kept alone, and all three otherwise. The conversion encodes the values again, and
//! keeps all of section 7 if the result is not the same. That happens with two kinds of missing values, which are one kind of
//! gap in an object. Pictures cannot be written again to the byte, so metadata hold them whole. Without
//! [`GribOptions::keep_original`] they do not: such fields return in simple packing, with the same values, and
//! [`Note::Repacked`] names them.
//!
//! Values of 5.50, 5.51, 5.53 and 5.61 are what ecCodes has, to the bit, on a machine with the same powers and exponentials: libraries differ in
//! the last place of these. The way back takes the integer whose value is nearest within four units in the last place, so it does
//! not hang on the machine. Where several integers are so near, section 7 is kept whole. A field of coefficients in 16 bits takes about 3.5 times
//! its GRIB message: its values have no common step, so no stage of the format makes them shorter.
//!
//! # Edition 1
//! Section 4 is the packing and the data in one, and section 3 the bitmap. Its references are IBM numbers, each of which is exact as a
//! `float64`. Lengths may be in units of 120 octets, as ECMWF writes long messages. Zeros that fill sections up come back from
//! the lengths that these state. The number of values is the one of the grid and the bitmap, because section 4 may be longer.
//! A file may hold messages of both editions.
//!
//! # Where points are
//! [`coordinates`] has latitude and longitude of each point, for grids of latitude and longitude, Gaussian, rotated and
//! reduced grids, and Mercator, polar stereographic and Lambert conformal ones.
//!
//! # Values
//! The manual's formula is Y = (R + X · 2^E) / 10^D. The format's is Y = R' + X · (2^E · 10^-D), with R' = R / 10^D. With
//! D = 0 both are the same, bit for bit. Otherwise their roundings differ, by a few units in the last place of the
//! largest of these numbers: [`Note::DecimalScale`] has the bound. A field of 0 bits has the value R everywhere, without D:
//! so do widely used encoders write it.
//!
//! # Metadata
//! The entry of each object has a map `grib`: the numbers of sections 0, 1 and 3 under the manual's words, those numbers of section 4 that
//! tell fields apart, and the bytes of all sections but the data (key `sections`). With [`GribKeys::Few`] it has the numbers alone that tell fields apart. A map `mars` has the parameter, the kind of data, the date, the
//! time, the step and the level under the names that archives use, and what section 2 of ECMWF says; which keys there are
//! hangs on the stream and the type. The values are the ones of ecCodes' namespace `mars`, with few differences: `param` is the short name, `grib.paramId` has the number, levels
//! are exact numbers, and a step of 0 is 0 in all units. Names of parameters and levels are from the definitions of ecCodes
//! (Apache License 2.0), for ECMWF, the WMO and other centres, in a table of 410 KB.
//!
//! Edition 1 has the same keys where they mean the same: `date`, `time`, `paramId`, `typeOfLevel`, `level`, `stepRange`,
//! `typeOfStatisticalProcessing`, `perturbationNumber` and others. Beside them stand `table2Version`, `indicatorOfParameter`,
//! `indicatorOfTypeOfLevel`, `timeRangeIndicator`, `P1`, `P2` and, for layers, `bottomLevel`. The local part of section 1 gives
//! `mars` its class, type, stream and version: of ECMWF, also as a sub-centre, of Japan, Spain and Sweden. A parameter that no table
//! has is called by its number and its table: `255.200`.
//!
//! # Back
//! [`from_tensogram`] (or [`from_tensogram_into`], for many messages) joins the sections and the payload again. If nothing was edited, the result is the original
//! message. Metadata of `grib` and `mars` must be as it was, because sections of GRIB are not rewritten. Objects that
//! were encoded anew in between return too, if no value changed: by other codecs, in more bits, or without packing. Then each
//! value must be one that an integer of section 5 gives, to the bit or as said above. Keys that were added to the two maps, or deleted from them, are in
//! [`Restored::not_kept`].
//!
//! ```
//! use tgm_convert::grib2::{GribOptions, from_tensogram, to_tensogram};
//! use tgm_std::{DecodeOptions, read};
//!
//! # let original = std::fs::read("../../tests/data-grib/simple-12.grib2").unwrap();
//! let converted = to_tensogram(&original, &GribOptions::default())?;
//! let object = tgm_std::core::Message::parse(&converted.message)?.object(0)?;
//! let kelvin = read(&object).values::<f32>()?;
//! assert_eq!(from_tensogram(&converted.message, &DecodeOptions::default())?.message, original);
//! # Ok::<(), tgm_std::TensogramError>(())
//! ```

mod archive;
mod bitmap;
mod codes;
mod complex;
mod coordinates;
mod data_sets;
mod dates;
mod edition1;
mod entries;
mod error;
mod fields;
mod find;
mod keys;
mod labels;
mod levels;
mod names;
mod note;
mod packings;
mod parameters;
mod payload;
mod picture;
mod product;
mod recipe;
mod representation;
mod sections;
mod steps;
mod stream;
mod tables;
mod to_grib;
mod to_tgm;
mod way_back;

pub use bitmap::Bitmap;
#[cfg(feature = "netcdf")]
pub(crate) use coordinates::places;
pub use coordinates::{Coordinates, coordinates};
pub use error::{GribError, GribErrorKind};
pub use fields::{Field, Fields};
pub use find::{Found, MessageReader};
pub use keys::GribKeys;
pub use note::Note;
pub use sections::{Message, Section, Sections};
pub use to_grib::{Restored, from_tensogram, from_tensogram_into};
pub use to_tgm::{Converted, GribOptions, to_tensogram};
