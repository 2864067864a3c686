//! A module for each target; its `check` panics if what it states of the bytes is not so.
//!
//! | attacked | targets |
//! |---|---|
//! | the wire | [`frame`], [`message`], [`scan`], [`push_cuts`], [`zio`] |
//! | CBOR | [`cbor`], [`descriptor`], [`metadata`] |
//! | values | [`view`], [`unpack`], [`szip`], [`masks`], [`decode`], [`range`] |
//! | files | [`file_append`], [`validate`], [`upgrade`] |
//! | two ways to the same | [`roundtrip`], [`parse_equals_push`], [`scan_both_ways`] |

pub mod cbor;
pub mod decode;
pub mod descriptor;
pub mod file_append;
pub mod frame;
pub mod masks;
pub mod message;
pub mod metadata;
pub mod parse_equals_push;
pub mod push_cuts;
pub mod range;
pub mod roundtrip;
pub mod scan;
pub mod scan_both_ways;
pub mod szip;
pub mod unpack;
pub mod upgrade;
pub mod validate;
pub mod view;
pub mod zio;
