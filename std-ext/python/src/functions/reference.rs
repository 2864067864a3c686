//! Functions with the answers of the module `tensogram` where the answers of `tgm` differ: bitmasks are flat arrays of
//! their bytes, masks of masked arrays are ignored, and descriptors may have keys of any name.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::decode;
use super::encode::{Objects, encoded, pre_encoded};
use super::scan::places;
use crate::convert::arguments::{decoding, encoding};
use crate::convert::array_out::Bits;
use crate::convert::descriptor_in::Keys;
use crate::convert::{bytes_out, metadata_in};

/// Adds them as `_reference` to the module.
///
/// They say that they are of `tensogram`, where a pickle of one finds it.
pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let reference = PyModule::new(module.py(), "tensogram")?;
    reference.add_function(wrap_pyfunction!(decode_packed, &reference)?)?;
    reference.add_function(wrap_pyfunction!(decode_with_masks_packed, &reference)?)?;
    reference.add_function(wrap_pyfunction!(decode_object_packed, &reference)?)?;
    reference.add_function(wrap_pyfunction!(encode_without_masks, &reference)?)?;
    reference.add_function(wrap_pyfunction!(scan_as_tuples, &reference)?)?;
    reference.add_function(wrap_pyfunction!(encode_pre_encoded_of_any_keys, &reference)?)?;
    module.add("_reference", reference)
}

/// `tgm.scan` without a choice: a list of tuples `(offset, length)`.
#[pyfunction]
#[pyo3(name = "scan")]
fn scan_as_tuples(py: Python<'_>, buf: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, usize)>> {
    places(py, buf)
}

/// `tgm.decode` with bitmasks as bytes.
#[pyfunction]
#[pyo3(name = "decode", signature = (buf, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false))]
#[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python function")]
fn decode_packed<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    native_byte_order: bool,
    threads: u32,
    restore_non_finite: bool,
    verify_hash: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = decoding(native_byte_order, threads, restore_non_finite, verify_hash);
    decode::whole(py, buf, &options, Bits::Packed)
}

/// `tgm.decode_with_masks` with bitmasks as bytes.
#[pyfunction]
#[pyo3(name = "decode_with_masks", signature = (buf, native_byte_order=true, threads=0))]
fn decode_with_masks_packed<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    native_byte_order: bool,
    threads: u32,
) -> PyResult<Bound<'py, PyAny>> {
    decode::with_masks(py, buf, &decoding(native_byte_order, threads, false, false), Bits::Packed)
}

/// `tgm.decode_object` with bitmasks as bytes.
#[pyfunction]
#[pyo3(
    name = "decode_object",
    signature = (buf, index, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false)
)]
#[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python function")]
fn decode_object_packed<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    index: usize,
    native_byte_order: bool,
    threads: u32,
    restore_non_finite: bool,
    verify_hash: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let options = decoding(native_byte_order, threads, restore_non_finite, verify_hash);
    decode::one(py, buf, index, &options, Bits::Packed)
}

/// `tgm.encode_pre_encoded` of descriptors with keys of any name.
#[pyfunction]
#[pyo3(
    name = "encode_pre_encoded",
    signature = (global_meta_dict, descriptors_and_data, hash=Some("xxh3"), threads=0),
    text_signature = "(global_meta_dict, descriptors_and_data, hash='xxh3', threads=0)"
)]
fn encode_pre_encoded_of_any_keys<'py>(
    py: Python<'py>,
    global_meta_dict: &Bound<'py, PyAny>,
    descriptors_and_data: &Bound<'py, PyAny>,
    hash: Option<&str>,
    threads: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    pre_encoded(py, global_meta_dict, descriptors_and_data, (hash, threads), Keys::Any)
}

/// `tgm.encode` that ignores the masks of masked arrays, and takes descriptors with keys of any name.
#[pyfunction]
#[pyo3(
    name = "encode",
    signature = (
        global_meta_dict, descriptors_and_data, hash=Some("xxh3"), threads=0, allow_nan=false, allow_inf=false,
        nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None,
        aggregate_hash=None
    ),
    text_signature = "(global_meta_dict, descriptors_and_data, hash='xxh3', threads=0, allow_nan=False, \
                      allow_inf=False, nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, \
                      small_mask_threshold_bytes=None, aggregate_hash=None)"
)]
#[allow(clippy::too_many_arguments, reason = "the face of the Python function")]
#[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python function")]
fn encode_without_masks<'py>(
    py: Python<'py>,
    global_meta_dict: &Bound<'py, PyAny>,
    descriptors_and_data: &Bound<'py, PyAny>,
    hash: Option<&str>,
    threads: u32,
    allow_nan: bool,
    allow_inf: bool,
    nan_mask_method: Option<&str>,
    pos_inf_mask_method: Option<&str>,
    neg_inf_mask_method: Option<&str>,
    small_mask_threshold_bytes: Option<usize>,
    aggregate_hash: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let metadata = metadata_in::metadata(global_meta_dict)?;
    let options = encoding(
        py,
        hash,
        threads,
        (allow_nan, allow_inf),
        [nan_mask_method, pos_inf_mask_method, neg_inf_mask_method],
        small_mask_threshold_bytes,
        aggregate_hash,
    )?;
    let message = encoded(py, &metadata, Objects::without_masks(descriptors_and_data)?, &options)?;
    bytes_out::bytes(py, message)
}
