//! Tensors from files: `.npy`, and raw element bytes whose type and shape the user states.

use std::borrow::Cow;
use std::io::{self, Read as _};
use std::path::Path;

use tgm_convert::arrays::{Array, Bools};
use tgm_convert::npy;
use tgm_convert::raw::{self, Form};
use tgm_std::{DataObjectDescriptor, TensogramError};

use crate::read::pipes;

/// A tensor: its descriptor, and its elements in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) descriptor: DataObjectDescriptor,
    pub(crate) data: Vec<u8>,
}

/// All bytes of a file; "-" is standard input.
///
/// # Errors
/// The errors of reading.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if pipes::is_once(path) {
        pipes::open(path)?.read_to_end(&mut bytes)?;
    } else {
        // The file knows its length, for which memory is taken once.
        pipes::file(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Whether the bytes are a `.npy` file.
pub(crate) fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(npy::MAGIC)
}

impl Tensor {
    /// The tensor of a `.npy` file.
    ///
    /// # Errors
    /// For tensors that the format cannot hold, and for a number of values that does not fit the shape.
    pub(crate) fn from_npy(mut bytes: Vec<u8>, bools: Bools) -> Result<Self, TensogramError> {
        let Array { descriptor, values, .. } = npy::read(&bytes, bools)?;
        let data = match values {
            Cow::Owned(changed) => changed,
            Cow::Borrowed(values) => {
                // The values stand at the end. They move to the front, so that there is no second copy of them.
                let start = bytes.len() - values.len();
                bytes.drain(..start);
                bytes
            }
        };
        Ok(Self { descriptor, data })
    }

    /// The tensor of raw bytes.
    ///
    /// # Errors
    /// For a number of bytes that does not fit the shape.
    pub(crate) fn from_raw(bytes: Vec<u8>, form: &Form, bools: Bools) -> Result<Self, TensogramError> {
        let Array { descriptor, values, .. } = raw::read(&bytes, form, bools)?;
        let packed = if let Cow::Owned(packed) = values { Some(packed) } else { None };
        Ok(Self { descriptor, data: packed.unwrap_or(bytes) })
    }
}
