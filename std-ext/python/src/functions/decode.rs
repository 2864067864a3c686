//! Arrays from messages.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use tgm_core::frame::{Frame, Frames};
use tgm_core::wire::{FrameType, PREAMBLE_SIZE, Preamble};
use tgm_core::zerocopy::FromBytes as _;
use tgm_std::decode::deferred::decode_deferred;
use tgm_std::{DecodeOptions, GlobalMetadata};

use crate::convert::arguments::{self, decoding, ranging};
use crate::convert::array_out::Bits;
use crate::convert::buffers::{Bytes, Reads};
use crate::errors::{Place, raise, raise_at};
use crate::message;
use crate::metadata::Metadata;

/// Decodes a message into `(metadata, objects)`, a namedtuple. Objects are pairs of descriptor and array.
///
/// `buf` is `bytes` or any other buffer of bytes that begins with a message; what follows the message is ignored.
/// Arrays are writable and belong to the caller. Their shape is the descriptor's, their dtype too: packed values are
/// float64, a bitmask is an array of bool.
///
/// With `native_byte_order=False` the bytes of an array are in the stored order. With `restore_non_finite=False` masked
/// values are 0. With `verify_hash=True` the digest of each object is checked first.
///
/// Raises ValueError for bytes that are not a message, or whose payloads do not decode; HashMismatchError and
/// MissingHashError with `verify_hash`.
///
/// >>> import numpy, tgmio as tgm
/// >>> message = tgm.encode({"run": 7}, [(None, numpy.arange(3, dtype="int16"))])
/// >>> meta, [(descriptor, array)] = tgm.decode(message)
/// >>> meta["run"], descriptor.dtype, array
/// (7, 'int16', array([0, 1, 2], dtype=int16))
#[pyfunction]
#[pyo3(signature = (buf, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false))]
#[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python function")]
pub(crate) fn decode<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    native_byte_order: bool,
    threads: u32,
    restore_non_finite: bool,
    verify_hash: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = decoding(native_byte_order, threads, restore_non_finite, verify_hash);
    whole(py, buf, &options, Bits::Truths)
}

/// A message, with bitmasks as `bits` says.
pub(super) fn whole<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    options: &DecodeOptions,
    bits: Bits,
) -> PyResult<Bound<'py, PyAny>> {
    let decoded = Bytes::borrow(buf, "buf")?.run(py, Reads::All, |bytes| decode_deferred(bytes, options))?;
    message::deferred(py, decoded.map_err(raise(py))?, bits)
}

/// Decodes a message as `decode` does, with 0 for masked values, and the masks beside them.
///
/// Objects are triples of descriptor, array and masks. Masks are a dict with any of "nan", "inf+" and "inf-": each is a
/// flat array of bool with one value for each element.
///
/// >>> import numpy, tgmio as tgm
/// >>> message = tgm.encode({}, [(None, numpy.array([1.0, numpy.nan]))], allow_nan=True)
/// >>> tgm.decode_with_masks(message).objects[0][1:]
/// (array([1., 0.]), {'nan': array([False,  True])})
#[pyfunction]
#[pyo3(signature = (buf, native_byte_order=true, threads=0))]
pub(crate) fn decode_with_masks<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    native_byte_order: bool,
    threads: u32,
) -> PyResult<Bound<'py, PyAny>> {
    with_masks(py, buf, &decoding(native_byte_order, threads, false, false), Bits::Truths)
}

/// A message with masks, with bitmasks as `bits` says.
pub(super) fn with_masks<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    options: &DecodeOptions,
    bits: Bits,
) -> PyResult<Bound<'py, PyAny>> {
    let run = |bytes: &[u8]| tgm_std::decode::decode_with_masks(bytes, options);
    message::decoded_with_masks(py, Bytes::borrow(buf, "buf")?.run(py, Reads::All, run)?.map_err(raise(py))?, bits)
}

/// The metadata of a message. Nothing after its first metadata frame is read, so the message may lack its end.
///
/// Raises ValueError for bytes that are not a message.
///
/// >>> import tgmio as tgm
/// >>> tgm.decode_metadata(tgm.encode({"run": 7}, []))
/// Metadata(version=3, base_len=0, extra_keys=["run"])
#[pyfunction]
pub(crate) fn decode_metadata(py: Python<'_>, buf: &Bound<'_, PyAny>) -> PyResult<Metadata> {
    let read =
        |bytes: &[u8]| tgm_std::decode::decode_metadata(bytes).or_else(|error| metadata_of_a_part(bytes).ok_or(error));
    let metadata = Bytes::borrow(buf, "buf")?.run(py, Reads::Parts, read)?;
    metadata.map(Metadata::new).map_err(raise(py))
}

/// The first metadata of a message whose end is missing or wrong. `None` if there is none, or if the bytes do not
/// begin with a message.
fn metadata_of_a_part(bytes: &[u8]) -> Option<GlobalMetadata> {
    let (preamble, frames) = Preamble::ref_from_prefix(bytes).ok()?;
    tgm_core::message::check_preamble(preamble, u64::MAX).ok()?;
    let mut frames = Frames::open_ended(frames, PREAMBLE_SIZE as u64).map_while(Result::ok);
    let is_metadata =
        |frame: &Frame<'_>| matches!(frame.frame_type(), FrameType::HeaderMetadata | FrameType::FooterMetadata);
    tgm_std::metadata::cbor_to_global_metadata(frames.find(is_metadata)?.body()).ok()
}

/// The metadata of a message, and the list of the descriptors of its objects. No payload is read.
///
/// Raises ValueError for bytes that are not a message.
///
/// >>> import numpy, tgmio as tgm
/// >>> _, descriptors = tgm.decode_descriptors(tgm.encode({}, [(None, numpy.zeros((2, 3)))]))
/// >>> descriptors
/// [DataObjectDescriptor(type='ntensor', shape=[2, 3], dtype='float64', encoding='none', compression='none')]
#[pyfunction]
pub(crate) fn decode_descriptors<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
) -> PyResult<(Metadata, Bound<'py, PyList>)> {
    let decoded = Bytes::borrow(buf, "buf")?.run(py, Reads::Parts, tgm_std::decode::decode_descriptors)?;
    message::descriptors(py, decoded.map_err(raise(py))?)
}

/// Decodes object `index` of a message into `(metadata, descriptor, array)`. No other payload is read.
///
/// The other arguments are as for `decode`. Raises ValueError if there is no such object, and what `decode` raises.
///
/// >>> import numpy, tgmio as tgm
/// >>> message = tgm.encode({}, [(None, numpy.zeros(2)), (None, numpy.ones(2))])
/// >>> tgm.decode_object(message, 1)[2]
/// array([1., 1.])
#[pyfunction]
#[pyo3(signature = (buf, index, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false))]
#[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python function")]
pub(crate) fn decode_object<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    index: usize,
    native_byte_order: bool,
    threads: u32,
    restore_non_finite: bool,
    verify_hash: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    one(py, buf, index, &decoding(native_byte_order, threads, restore_non_finite, verify_hash), Bits::Truths)
}

/// An object, with a bitmask as `bits` says.
pub(super) fn one<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    index: usize,
    options: &DecodeOptions,
    bits: Bits,
) -> PyResult<Bound<'py, PyTuple>> {
    let run = |bytes: &[u8]| tgm_std::decode_object(bytes, index, options);
    let decoded = Bytes::borrow(buf, "buf")?.run(py, Reads::Parts, run)?;
    message::object(py, decoded.map_err(raise_at(py, Place::object(index)))?, bits)
}

/// Decodes ranges of the flat values of an object.
///
/// `ranges` is a sequence of tuples `(start, count)`, in any order, which may overlap. The result is a list of flat
/// arrays, or with `join` one flat array of all. Where payloads are not compressed, or in blocks, only
/// the parts are decoded that hold the ranges.
///
/// Raises ValueError for a range beyond the end, for bitmasks, and for payloads that have no parts: after a filter, or
/// compressed by zstd or lz4.
///
/// >>> import numpy, tgmio as tgm
/// >>> message = tgm.encode({}, [(None, numpy.arange(10))])
/// >>> tgm.decode_range(message, 0, [(7, 2), (0, 1)], join=True)
/// array([7, 8, 0])
#[pyfunction]
#[pyo3(signature = (buf, object_index, ranges, join=false, native_byte_order=true, threads=0, restore_non_finite=true))]
#[allow(clippy::too_many_arguments, reason = "the face of the Python function")]
#[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python function")]
pub(crate) fn decode_range<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    object_index: usize,
    ranges: &Bound<'py, PyAny>,
    join: bool,
    native_byte_order: bool,
    threads: u32,
    restore_non_finite: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = ranging(native_byte_order, threads, restore_non_finite);
    let ranges = arguments::ranges(ranges)?;
    let run = |bytes: &[u8]| tgm_std::decode_range(bytes, object_index, &ranges, &options);
    let decoded = Bytes::borrow(buf, "buf")?.run(py, Reads::Parts, run)?;
    message::ranges(py, decoded.map_err(raise_at(py, Place::object(object_index)))?, join)
}
