//! Buffers of Python as sources of an archive of the library.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use tgm_std::Archive;
use tgm_std::read::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, ReadOptions, Tag, Want};

use crate::convert::buffers::Bytes;
use crate::convert::copy::copied;
use crate::work::detached;

/// An archive of the messages in a buffer. Immutable bytes are borrowed. From a buffer that can change, such
/// as a `bytearray`, the bytes that are needed are copied, because other threads run meanwhile and may write to it.
///
/// # Errors
/// `TypeError` for an object without a buffer of bytes; `BufferError` for a buffer with gaps.
pub(crate) fn archive(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Archive<'static>> {
    let py = object.py();
    // It looks at what the object is.
    let is_fixed = Bytes::borrow(object, name)?.is_fixed();
    let buffer = PyBuffer::<u8>::get(object)?;
    if is_fixed {
        return detached(py, || Archive::from_bytes(Fixed(buffer)));
    }
    Ok(Archive::from_fetch(Changing(buffer), ReadOptions::local()))
}

/// Immutable bytes.
struct Fixed(PyBuffer<u8>);

impl AsRef<[u8]> for Fixed {
    #[allow(unsafe_code, reason = "the buffer protocol gives a pointer")]
    fn as_ref(&self) -> &[u8] {
        match self.0.as_slice_ptr() {
            // SAFETY: the exporter keeps the memory in place as long as the buffer is held, and `self` holds it. `archive` has
            // checked that the memory is immutable.
            Some(slice) => unsafe { slice.as_ref() },
            // An empty buffer may have no address.
            None => &[],
        }
    }
}

/// Bytes that other threads may write to. What is read may be old or new, and is looked at as what a file gives.
struct Changing(PyBuffer<u8>);

impl RangeFetch for Changing {
    #[allow(unsafe_code, reason = "the buffer protocol gives a pointer")]
    fn fetch(&self, want: &Want, _unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        let size = self.0.len_bytes() as u64;
        let range = want.within(size);
        let places = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let found = self.0.as_slice_ptr().zip(places).and_then(|(slice, (start, end))| {
            let len = end.checked_sub(start).filter(|_| end <= slice.len())?;
            // SAFETY: the buffer is held, which keeps its `slice.len()` bytes in place, and `end` is not beyond them.
            Some(unsafe { copied(slice.cast::<u8>().as_ptr().add(start), len) })
        });
        let none = || FetchError::new(FetchErrorKind::TooLarge, format!("a buffer has no bytes {range:?}"));
        let bytes = if size == 0 { Vec::new() } else { found.ok_or_else(none)? };
        Ok(Fetched { offset: range.start, bytes, size: Some(size), tag: None })
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { size: Some(self.0.len_bytes() as u64), ..FetchTraits::default() }
    }

    fn name(&self) -> String {
        "a buffer".into()
    }
}
