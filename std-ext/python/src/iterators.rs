//! The messages of a buffer, one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use tgm_std::decode::deferred::decode_deferred;

use crate::convert::arguments::decoding;
use crate::convert::array_out::Bits;
use crate::convert::buffers::Bytes;
use crate::errors::{Place, exception};
use crate::functions::scan::places;
use crate::message;

/// Iterates over the messages of a buffer. `len` is the number of messages to come.
///
/// Several threads may take messages from one iterator: each message is given once. A message that does not decode
/// raises; the next call goes on with the message after it.
#[pyclass(frozen, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct MessageIter {
    bytes: Bytes,
    places: Vec<(usize, usize)>,
    next: AtomicUsize,
    verify_hash: bool,
}

impl MessageIter {
    fn position(&self) -> usize {
        self.next.load(Ordering::Relaxed).min(self.places.len())
    }
}

#[pymethods]
impl MessageIter {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let take = |next: usize| (next < self.places.len()).then(|| next.saturating_add(1));
        let Ok(index) = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) else {
            return Ok(None);
        };
        let Some(&(offset, len)) = self.places.get(index) else {
            return Ok(None);
        };
        let options = decoding(true, 0, true, self.verify_hash);
        let range = offset..offset.saturating_add(len);
        let decoded = self.bytes.run_in(py, range, |bytes| decode_deferred(bytes, &options))?;
        let decoded = decoded.map_err(|error| exception(py, &error, Place::message(index)))?;
        message::deferred(py, decoded, Bits::Truths).map(Some)
    }

    fn __len__(&self) -> usize {
        self.places.len().saturating_sub(self.position())
    }

    fn __repr__(&self) -> String {
        format!("MessageIter(position={}, remaining={})", self.position(), self.__len__())
    }
}

/// Iterates over the messages of a buffer, which may have other bytes between them.
///
/// `buf` is `bytes` or any other buffer of bytes, which is not copied and stays in use until the iterator is gone. Each
/// item is what `decode` gives. With `verify_hash=True` digests are checked first.
///
/// >>> import tgmio as tgm
/// >>> messages = tgm.iter_messages(tgm.encode({"n": 1}, []) + tgm.encode({"n": 2}, []))
/// >>> len(messages), [message.metadata["n"] for message in messages]
/// (2, [1, 2])
#[pyfunction]
#[pyo3(signature = (buf, *, verify_hash=false))]
pub(crate) fn iter_messages(py: Python<'_>, buf: &Bound<'_, PyAny>, verify_hash: bool) -> PyResult<MessageIter> {
    let bytes = Bytes::borrow(buf, "buf")?;
    let places = places(py, buf)?;
    Ok(MessageIter { bytes, places, next: AtomicUsize::new(0), verify_hash })
}
