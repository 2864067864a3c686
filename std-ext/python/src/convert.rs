//! Single values from Python and to Python.

pub(crate) mod arguments;
pub(crate) mod array_in;
pub(crate) mod array_out;
pub(crate) mod buffers;
pub(crate) mod bytes_out;
pub(crate) mod cbor_in;
pub(crate) mod cbor_out;
pub(crate) mod copy;
pub(crate) mod descriptor_in;
pub(crate) mod index;
pub(crate) mod metadata_in;
pub(crate) mod query;
