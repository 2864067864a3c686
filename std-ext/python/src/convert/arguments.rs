//! Options from the arguments of Python calls.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySequence, PyString, PyTuple};
use tgm_std::encode::{AggregateHashPolicy, MaskMethod, ValueOrder};
use tgm_std::validate::{ValidateOptions, ValidationLevel};
use tgm_std::{DecodeOptions, EncodeOptions};

use crate::errors::raise;

/// Whether frames get digests, by the argument `hash`.
///
/// # Errors
/// `ValueError` for a name that is not known.
pub(crate) fn hashing(hash: Option<&str>) -> PyResult<bool> {
    match hash {
        Some("xxh3") => Ok(true),
        None | Some("none") => Ok(false),
        Some(other) => Err(PyValueError::new_err(format!(
            "metadata error: unknown hash type: {other:?} (expected 'xxh3' or 'none')"
        ))),
    }
}

/// Options of encoding, from the arguments that all functions have. `mask_methods` are for NaN, Inf and -Inf, in this
/// order.
///
/// # Errors
/// `ValueError` for names that are not known.
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python functions")]
pub(crate) fn encoding(
    py: Python<'_>,
    hash: Option<&str>,
    threads: u32,
    (allow_nan, allow_inf): (bool, bool),
    mask_methods: [Option<&str>; 3],
    small_mask_threshold_bytes: Option<usize>,
    aggregate_hash: Option<&str>,
) -> PyResult<EncodeOptions> {
    let defaults = EncodeOptions::default();
    let method = |name: Option<&str>| match name {
        None => Ok(MaskMethod::Roaring),
        // A build without that encoder writes the mask in another form, which every reader knows.
        Some("blosc2") if !cfg!(feature = "full") => MaskMethod::from_name("zstd").map_err(raise(py)),
        Some(name) => MaskMethod::from_name(name).map_err(raise(py)),
    };
    let [nan, pos_inf, neg_inf] = mask_methods;
    Ok(EncodeOptions {
        hashing: hashing(hash)?,
        threads,
        allow_nan,
        allow_inf,
        nan_mask_method: method(nan)?,
        pos_inf_mask_method: method(pos_inf)?,
        neg_inf_mask_method: method(neg_inf)?,
        small_mask_threshold_bytes: small_mask_threshold_bytes.unwrap_or(defaults.small_mask_threshold_bytes),
        aggregate_hash: self::aggregate_hash(aggregate_hash)?,
        // Arrays are in this machine's order, whatever a descriptor declares.
        value_order: ValueOrder::Native,
        ..defaults
    })
}

/// Options of `save` and what is like it: values that are not finite are allowed, and complex ones keep all their bits.
///
/// # Errors
/// As [`encoding`].
pub(crate) fn of_save(py: Python<'_>, threads: u32) -> PyResult<EncodeOptions> {
    let options = encoding(py, Some("xxh3"), threads, (true, true), [None; 3], None, None)?;
    Ok(EncodeOptions { complex_as_they_are: true, ..options })
}

fn aggregate_hash(policy: Option<&str>) -> PyResult<AggregateHashPolicy> {
    Ok(match policy {
        None | Some("auto") => AggregateHashPolicy::Auto,
        Some("none") => AggregateHashPolicy::None,
        Some("header") => AggregateHashPolicy::Header,
        Some("footer") => AggregateHashPolicy::Footer,
        Some("both") => AggregateHashPolicy::Both,
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "unknown aggregate_hash policy: {other:?} (expected 'auto', 'none', 'header', 'footer' or 'both')"
            )));
        }
    })
}

/// Options of decoding.
pub(crate) fn decoding(
    native_byte_order: bool,
    threads: u32,
    restore_non_finite: bool,
    verify_hash: bool,
) -> DecodeOptions {
    DecodeOptions { native_byte_order, threads, restore_non_finite, verify_hash, ..DecodeOptions::default() }
}

/// Options of decoding ranges, which are refused where programs for `tensogram` expect it.
pub(crate) fn ranging(native_byte_order: bool, threads: u32, restore_non_finite: bool) -> DecodeOptions {
    let options = decoding(native_byte_order, threads, restore_non_finite, false);
    DecodeOptions { reference_range_refusals: true, ..options }
}

/// Options of validation by the name of a level.
///
/// # Errors
/// `ValueError` for a name that is not known.
pub(crate) fn validating(level: &str, check_canonical: bool) -> PyResult<ValidateOptions> {
    let (max_level, checksum_only) = match level {
        "quick" => (ValidationLevel::Structure, false),
        "default" => (ValidationLevel::Integrity, false),
        "checksum" => (ValidationLevel::Integrity, true),
        "full" => (ValidationLevel::Fidelity, false),
        other => {
            return Err(PyValueError::new_err(format!(
                "unknown validation level: {other:?} (expected 'quick', 'default', 'checksum' or 'full')"
            )));
        }
    };
    Ok(ValidateOptions { max_level, checksum_only, check_canonical, ..ValidateOptions::default() })
}

/// Ranges of elements: pairs of a start and a count.
///
/// # Errors
/// `TypeError` unless it is a sequence of tuples, `ValueError` for tuples of another length, `OverflowError` for
/// negative numbers.
pub(crate) fn ranges(object: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u64)>> {
    let is_sequence = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    if !is_sequence && (object.is_instance_of::<PyString>() || object.cast::<PySequence>().is_err()) {
        let class = object.get_type().name()?;
        let text = format!("argument 'ranges': '{class}' object is not a sequence of tuples (start, count)");
        return Err(PyTypeError::new_err(text));
    }
    bounded(object, "ranges", |range| range.extract())
}

/// Items that an argument may have. Its length is not believed: a `range`, and a class of a program, can state any.
const MOST_ITEMS: usize = 1 << 20;

/// The items of a sequence, each taken by `take`.
///
/// # Errors
/// `TypeError` for text and for what is not a sequence; `ValueError` for more than 2^20 items; the errors of `take`.
pub(crate) fn items<'py, T>(
    object: &Bound<'py, PyAny>,
    name: &str,
    take: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    // Arrays of numpy are not registered as sequences, and mappings have no order that means anything.
    let is_sequence = object.hasattr("__getitem__")? && !object.hasattr("keys")?;
    if !is_sequence || object.is_instance_of::<PyString>() {
        let class = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("argument '{name}': '{class}' object is not a sequence")));
    }
    bounded(object, name, take)
}

/// Paths and addresses.
pub(crate) fn paths(sources: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    items(sources, "sources", |source| source.extract())
}

fn bounded<'py, T>(
    object: &Bound<'py, PyAny>,
    name: &str,
    take: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let mut all = Vec::new();
    for item in object.try_iter()? {
        if all.len() == MOST_ITEMS {
            return Err(PyValueError::new_err(format!("argument '{name}': more than {MOST_ITEMS} items")));
        }
        all.push(take(&item?)?);
    }
    Ok(all)
}

/// A path: `str`, `bytes`, or an object with `__fspath__` that gives one of them. It need not be UTF-8: Python's text has
/// surrogates then, as `os.fsdecode` makes them.
///
/// # Errors
/// `TypeError` for another object, which is the argument `name`.
pub(crate) fn path(object: &Bound<'_, PyAny>, name: &str) -> PyResult<PathBuf> {
    let py = object.py();
    let path = match object.cast::<PyString>() {
        Ok(text) => Ok(text.clone().into_any()),
        Err(_) => py.import("os")?.call_method1("fsdecode", (object,)),
    };
    let Ok(path) = path else {
        let class = object.get_type().name()?;
        let text = format!("argument '{name}': '{class}' object is not an instance of 'str' or a path");
        return Err(PyTypeError::new_err(text));
    };
    path.extract()
}
