//! The files of numpy, `.npy` in versions 1 to 3: one array each.
//!
//! | numpy | object |
//! |---|---|
//! | `f2` `f4` `f8` `c8` `c16` `i1` to `i8` `u1` to `u8` | the same type, in the file's byte order |
//! | `b1` | a bitmask, or `uint8` if the caller wants it |
//! | `V2`, `bfloat16` | `bfloat16`, which numpy has no name for |
//! | Fortran order | row-major order: the values are moved |
//! | structures, texts, dates, Python objects, `f16`, `c32` | an error that names the type |
//!
//! A file has no room for metadata, not even for a name:
//! [`metadata_not_kept`](super::arrays::Arrays::metadata_not_kept) lists what is lost.
//!
//! ```
//! use tgm_convert::arrays::{Array, Arrays, Bools};
//! use tgm_convert::npy;
//! use tgm_std::{ByteOrder, DecodeOptions, Dtype, EncodeOptions};
//!
//! let array = Array::new(Dtype::Int16, ByteOrder::Big, &[3], vec![0, 1, 0, 2, 0, 3])?;
//! let mut file = Vec::new();
//! npy::write(&array, &mut file)?;
//! let read = npy::read(&file, Bools::Bitmask)?;
//! assert_eq!(read, array);
//! let message = Arrays { arrays: vec![read], ..Arrays::default() }.encode(&EncodeOptions::default())?;
//! assert_eq!(Arrays::decode(&message, &DecodeOptions::default())?.arrays[0].descriptor.shape, [3]);
//! # Ok::<(), tgm_std::TensogramError>(())
//! ```

mod header;
mod header_text;
mod row_major;

use std::borrow::Cow;
use std::io::Write;

pub use header::{Header, MAGIC};
pub use header_text::header;
use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use super::arrays::{Array, Bools, check_values, pack_bools, refused, unpack_bools};

/// The array of a `.npy` file. Its values are borrowed, unless their order changes or they become bits.
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object) for bytes that are not such a file, for types that tensors do
/// not have, and for a number of values that does not fit the shape.
pub fn read(bytes: &[u8], bools: Bools) -> Result<Array<'_>> {
    let (header, data) = header::parse(bytes).map_err(refused)?;
    array(&header, Cow::Borrowed(data), bools)
}

/// The header of a file, and the values behind it.
#[cfg(feature = "npz")]
pub(super) fn header_of(file: &[u8]) -> Result<(Header, &[u8])> {
    header::parse(file).map_err(refused)
}

/// Checks that a file of `len` bytes holds as many values as its header says. `start` are its first bytes. A header that
/// is longer than `start` passes.
///
/// # Errors
/// The errors of [`read`].
pub fn check_len(start: &[u8], len: u64) -> Result<()> {
    let Ok((Header { dtype, shape, .. }, rest)) = header::parse(start) else { return Ok(()) };
    let header_len = (start.len() - rest.len()) as u64;
    check_values(dtype, &shape, len.saturating_sub(header_len))
}

/// The array of a header and the bytes behind it.
pub(super) fn array<'a>(header: &Header, data: Cow<'a, [u8]>, bools: Bools) -> Result<Array<'a>> {
    let Header { dtype, order, ref shape, is_fortran, is_bool } = *header;
    check_values(dtype, shape, data.len() as u64)?;
    let data = if is_fortran && shape.len() > 1 {
        let moved = row_major::from_fortran(&data, shape, dtype.byte_width());
        Cow::Owned(moved.ok_or_else(|| refused("shape product overflow"))?)
    } else {
        data
    };
    if is_bool && bools == Bools::Bitmask {
        return Array::new(Dtype::Bitmask, order, shape, pack_bools(&data));
    }
    Array::new(dtype, order, shape, data)
}

/// Writes an array as a `.npy` file of version 1. Metadata has no place in it.
///
/// # Errors
/// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) for shapes of thousands of dimensions;
/// [`TensogramError::Io`](tgm_std::TensogramError::Io) from the sink.
pub fn write(array: &Array<'_>, mut sink: impl Write) -> Result<()> {
    let descriptor = &array.descriptor;
    sink.write_all(&header(descriptor.dtype, descriptor.byte_order, &descriptor.shape)?)?;
    if descriptor.dtype == Dtype::Bitmask {
        let count = descriptor.num_elements()? as u64;
        return Ok(unpack_bools(&array.values, count, |bytes| sink.write_all(bytes))?);
    }
    Ok(sink.write_all(&array.values)?)
}
