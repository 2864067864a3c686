//! The files of numpy, `.npy` in versions 1 to 3: one array each.
//!
//! | numpy | object |
//! |---|---|
//! | `f2` `f4` `f8` `c8` `c16` `i1` to `i8` `u1` to `u8` | the same type, in the file's byte order |
//! | `b1` | a bitmask, or `uint8` if the caller wants it |
//! | `<V2`, `bfloat16` | `bfloat16`, which numpy has no name for |
//! | `M8`, `m8`: times | `int64`, with unit and multiple under [`TIME`]; `NaT` stays -2⁶³ |
//! | `U`, `S`: texts | [texts](Array::of_texts) in the metadata of an object without elements, up to 1 MiB; `U` back |
//! | `V`: bytes without a meaning | `uint8`, with a further dimension |
//! | Fortran order | row-major order: the values are moved |
//! | structures, Python objects, `f16`, `c32` | an error that names the type |
//!
//! A file may hold several arrays, one after the other: [`read_all`] reads them.
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
mod kinds;
mod row_major;

use std::borrow::Cow;
use std::io::Write;

pub use header::{Header, MAGIC};
pub use header_text::header;
pub use kinds::Kind;
use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use super::arrays::{
    Array, Arrays, Bools, NotKept, TEXT, TIME, byte_len, check_values, pack_bools, refused, unpack_bools,
};
use super::texts::TEXT_SHAPE;

/// The array of a `.npy` file. Its values are borrowed, unless their order changes or they become bits.
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object) for bytes that are not such a file, for types that tensors do
/// not have, and for a number of values that does not fit the shape.
pub fn read(bytes: &[u8], bools: Bools) -> Result<Array<'_>> {
    let (header, data) = header::parse(bytes).map_err(refused)?;
    array(&header, Cow::Borrowed(data), bools)
}

/// All arrays of a `.npy` file: numpy writes several into one file that is open, and reads the first.
///
/// Bytes after the last one are listed in [`Arrays::not_kept`].
///
/// # Errors
/// The errors of [`read`] for any of them, and for a file of texts alone.
pub fn read_all(bytes: &[u8], bools: Bools) -> Result<Arrays<'_>> {
    let (mut arrays, mut rest) = (Arrays::default(), bytes);
    while arrays.arrays.is_empty() || rest.starts_with(MAGIC) {
        let place = bytes.len() - rest.len();
        let next = header::parse(rest).map_err(refused).and_then(|(header, data)| {
            let len = header.values_len()?;
            let (values, behind) = data.split_at_checked(len).unwrap_or((data, &[]));
            Ok((array(&header, Cow::Borrowed(values), bools)?, behind))
        });
        let within = |error: tgm_std::TensogramError| error.within(format_args!("the array at byte {place}"));
        let (array, behind) = next.map_err(|error| if place == 0 { error } else { within(error) })?;
        arrays.arrays.push(array);
        rest = behind;
    }
    if !rest.is_empty() {
        arrays.not_kept.push(NotKept::of_message(format!("{} bytes after the last array", rest.len())));
    }
    let counted = arrays.arrays.len();
    arrays.check_count(counted, "arrays")
}

/// The header of a file, and the values after it.
#[cfg(feature = "npz")]
pub(super) fn header_of(file: &[u8]) -> Result<(Header, &[u8])> {
    header::parse(file).map_err(refused)
}

/// Bytes after the last array that are read in order to say that they are there.
const MAX_BEHIND: u64 = 1 << 20;

/// Checks that a file of `len` bytes holds as many values as its first header says. `start` are its first bytes. A header that
/// is longer than `start` passes. After the values may be further arrays, or up to 1 MiB of something else.
///
/// # Errors
/// The errors of [`read`].
pub fn check_len(start: &[u8], len: u64) -> Result<()> {
    let Ok((header, rest)) = header::parse(start) else { return Ok(()) };
    let values = len.saturating_sub((start.len() - rest.len()) as u64);
    // What follows is another array, or little.
    let may_follow = |wanted: u64| {
        let behind =
            usize::try_from(wanted).ok().and_then(|wanted| rest.get(wanted..)).filter(|behind| !behind.is_empty());
        values - wanted <= MAX_BEHIND || behind.is_none_or(|behind| behind.starts_with(MAGIC))
    };
    match byte_len(header.dtype, &header.parts()) {
        Ok(wanted) if wanted <= values && may_follow(wanted) => Ok(()),
        _ => check_values(header.dtype, &header.parts(), values),
    }
}

impl Header {
    /// The shape of the parts of all elements.
    fn parts(&self) -> Vec<u64> {
        let width = self.kind.width();
        self.shape.iter().copied().chain((width != 1).then_some(width)).collect()
    }

    /// Bytes of all values.
    fn values_len(&self) -> Result<usize> {
        let len = byte_len(self.dtype, &self.parts())?;
        usize::try_from(len).map_err(|_| refused("shape product overflow"))
    }
}

/// The array of a header and the bytes after it.
pub(super) fn array<'a>(header: &Header, data: Cow<'a, [u8]>, bools: Bools) -> Result<Array<'a>> {
    let Header { dtype, order, ref shape, is_fortran, ref kind } = *header;
    check_values(dtype, &header.parts(), data.len() as u64)?;
    let data = if is_fortran && shape.len() > 1 {
        let width = usize::try_from(kind.width()).ok().and_then(|width| width.checked_mul(dtype.byte_width()));
        let moved = width.and_then(|width| row_major::from_fortran(&data, shape, width));
        let what = "texts and bytes in Fortran order are not read, unless an element has 1, 2, 4, 8 or 16 bytes";
        Cow::Owned(moved.ok_or_else(|| refused(what))?)
    } else {
        data
    };
    if *kind == Kind::Bool && bools == Bools::Bitmask {
        return Array::new(Dtype::Bitmask, order, shape, pack_bools(&data));
    }
    kind.array((dtype, order), shape, data)
}

/// The keys of an object's metadata that a `.npy` file keeps: texts, and what makes integers times.
pub const KEPT: [&str; 3] = [TEXT, TEXT_SHAPE, TIME];

/// Writes an array as a `.npy` file of version 1. Metadata has no place in it, but for [`KEPT`].
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object) for texts that take more than 2^26 characters, all of them being
/// as wide as the widest;
/// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) for shapes of thousands of dimensions;
/// [`TensogramError::Io`](tgm_std::TensogramError::Io) from the sink.
pub fn write(array: &Array<'_>, mut sink: impl Write) -> Result<()> {
    let descriptor = &array.descriptor;
    if let Some((texts, shape)) = array.texts().zip(array.text_shape()) {
        let (width, characters) = kinds::padded(&texts)?;
        sink.write_all(&header_text::of_texts(width, &shape)?)?;
        return Ok(sink.write_all(&characters)?);
    }
    let head = match kinds::descr(array) {
        Some(times) => header_text::of_times(&times, descriptor.byte_order, &descriptor.shape)?,
        None => header(descriptor.dtype, descriptor.byte_order, &descriptor.shape)?,
    };
    sink.write_all(&head)?;
    if descriptor.dtype == Dtype::Bitmask {
        let count = descriptor.num_elements()? as u64;
        return Ok(unpack_bools(&array.values, count, |bytes| sink.write_all(bytes))?);
    }
    Ok(sink.write_all(&array.values)?)
}
