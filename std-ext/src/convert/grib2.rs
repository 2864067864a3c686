//! GRIB edition 2 (WMO Manual on Codes, FM 92 GRIB): messages become Tensogram messages without decoding, and return
//! to the byte.
//!
//! One GRIB message becomes one Tensogram message. Each field of it is one object. The payload is section 7, as it is,
//! where the format has a stage for it:
//!
//! | data representation (section 5) | object |
//! |---|---|
//! | 5.0 simple packing | `simple_packing` |
//! | 5.42 CCSDS with 8, 16, 24 or 32 bits | `simple_packing` and `szip` |
//! | 5.42 CCSDS with other widths | `simple_packing` of the same integers |
//! | 5.4 IEEE floating point, 32 and 64 bits | values without a stage |
//! | any of these, with a bitmap (section 6) | likewise, dense, and a mask of NaN where the bitmap has a 0 |
//! | all other templates | an error that names them, for the whole message |
//!
//! # Values
//! The manual's formula is Y = (R + X · 2^E) / 10^D. The format's is Y = R' + X · (2^E · 10^-D), with R' = R / 10^D. With
//! D = 0 both are the same, bit for bit. Otherwise their roundings differ, by a few units in the last place of the
//! largest of these numbers: [`Note::DecimalScale`] has the bound. A field of 0 bits has the value R everywhere, without D:
//! so do widely used encoders write it.
//!
//! # Metadata
//! The entry of each object has a map `grib`: the numbers of sections 0, 1, 3 and 4 under the manual's words, and the
//! bytes of all sections but the data (key `sections`). A map `mars` has the date, the time, the step and the level under
//! the names that archives use, where the manual's tables define them.
//!
//! # Back
//! [`from_tensogram`] (or [`from_tensogram_into`], for many messages) joins the sections and the payload again. If nothing was edited, the result is the original
//! message. Metadata of `grib` and `mars` must be as it was, because sections of GRIB are not rewritten. Objects that
//! were compressed by another codec in between return too.
//!
//! ```
//! use tgm_std::convert::grib2::{GribOptions, from_tensogram, to_tensogram};
//! use tgm_std::{DecodeOptions, values_as};
//!
//! # let original = std::fs::read("../tests/data-grib/simple-12.grib2").unwrap();
//! let converted = to_tensogram(&original, &GribOptions::default())?;
//! let object = tgm_std::core::Message::parse(&converted.message)?.object(0)?;
//! let kelvin = values_as::<f32>(&object, &DecodeOptions::default())?;
//! assert_eq!(from_tensogram(&converted.message, &DecodeOptions::default())?.message, original);
//! # Ok::<(), tgm_std::TensogramError>(())
//! ```

mod bitmap;
mod codes;
mod error;
mod fields;
mod find;
mod grid;
mod keys;
mod parameters;
mod product;
mod recipe;
mod representation;
mod sections;
mod stream;
mod to_grib;
mod to_tgm;

pub use bitmap::Bitmap;
pub use error::{GribError, GribErrorKind};
pub use fields::{Field, Fields};
pub use find::{Found, MessageReader};
pub use sections::{Message, Section, Sections};
pub use to_grib::{Restored, from_tensogram, from_tensogram_into};
pub use to_tgm::{Converted, GribOptions, Note, to_tensogram};
