//! GRIB edition 1 (WMO Manual on Codes, FM 92 GRIB edition 1): its sections, as the fields that edition 2 has too.
//!
//! ```text
//! section 0   "GRIB", length of the message in 3 octets, edition
//! section 1   length in 3 octets, product                                   28 octets and more
//! section 2   length in 3 octets, grid, vertical coordinates, lengths of rows       if octet 8 of section 1 says so
//! section 3   length in 3 octets, bitmap                                    likewise
//! section 4   length in 3 octets, 8 octets of packing, data
//! section 5   "7777"
//! ```
//!
//! A message is one field. Its object has the sections under the same key of metadata as in edition 2: section 4 without the data, and
//! section 3 without the bits that the mask of NaN has. Zeros after data and bits come back from the lengths that the sections state.

mod grid;
mod keys;
mod representation;
mod sections;
mod way_back;

pub(super) use grid::{has_data, shape};
pub(super) use keys::{GridFacts, LocalPart, entries};
pub(super) use representation::{head_len, parse};
pub(super) use sections::{FLAGS, INDICATOR_LEN, bitmap, count_sections, first, kept, next_number, stated};
pub(super) use way_back::Parts;
