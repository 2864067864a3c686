//! One module for each target. Its head states a property of any bytes; its `check` panics if the property does not
//! hold.
//!
//! | attacked | targets |
//! |---|---|
//! | the wire | [`frame`], [`message`], [`index`], [`scan`], [`push_cuts`], [`zio`] |
//! | CBOR | [`cbor`], [`descriptor`], [`metadata`], [`metadata_access`] |
//! | values | [`view`], [`grid`], [`unpack`], [`szip`], [`masks`], [`decode`], [`range`], [`scratch`], [`threads`] |
//! | files | [`catalog`], [`tree`], [`file_append`], [`validate`], [`validate_file`], [`upgrade`] |
//! | writing | [`roundtrip`], [`framing`], [`streaming`], [`pre_encoded`], [`bridge`], [`grib`], [`arrays`], [`zarr`] |
//! | everything, by generated messages | [`generated`] |
//! | two ways to one result | [`any_source`], [`parse_equals_push`], [`payload_range`], [`scan_both_ways`] |

pub mod any_source;
pub mod arrays;
pub mod bridge;
pub mod catalog;
pub mod cbor;
pub mod decode;
pub mod descriptor;
pub mod file_append;
pub mod frame;
pub mod framing;
pub mod generated;
pub mod grib;
pub mod grid;
pub mod index;
pub mod masks;
pub mod message;
pub mod metadata;
pub mod metadata_access;
pub mod parse_equals_push;
pub mod payload_range;
pub mod pre_encoded;
pub mod push_cuts;
pub mod range;
pub mod roundtrip;
pub mod scan;
pub mod scan_both_ways;
pub mod scratch;
pub mod streaming;
pub mod szip;
pub mod threads;
pub mod tree;
pub mod unpack;
pub mod upgrade;
pub mod validate;
pub mod validate_file;
pub mod view;
#[cfg(feature = "zarr")]
pub mod zarr;
pub mod zio;
