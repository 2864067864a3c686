//! Indices and slices of sequences.

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice};

/// The text of the error for a message that a file does not have.
pub(crate) fn no_message(index: impl std::fmt::Display, count: usize) -> String {
    format!("message index {index} out of range for file with {count} messages")
}

/// The item of a sequence of `count` items by an index, or the list of items by a slice.
///
/// # Errors
/// `IndexError` with the text of `out_of_range`; `TypeError` for another index.
pub(crate) fn item<'py>(
    index: &Bound<'py, PyAny>,
    count: usize,
    get: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
    out_of_range: impl Fn(&Bound<'py, PyAny>) -> String,
) -> PyResult<Bound<'py, PyAny>> {
    let len = isize::try_from(count).unwrap_or(isize::MAX);
    if let Ok(slice) = index.cast::<PySlice>() {
        let indices = slice.indices(len)?;
        let numbers = (0..indices.slicelength).map(|number| {
            // `indices` has checked that they lie within the sequence.
            indices.start.wrapping_add(isize::try_from(number).unwrap_or(0).wrapping_mul(indices.step)).unsigned_abs()
        });
        let items = numbers.map(get).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyList::new(index.py(), items)?.into_any());
    }
    let number = match index.extract::<isize>() {
        Ok(number) => number,
        Err(error) if is_no_index(&error, index.py()) => {
            let class = index.get_type().name()?;
            return Err(PyTypeError::new_err(format!("indices must be integers or slices (of 64 bits), not {class}")));
        }
        Err(error) => return Err(error),
    };
    let number = if number < 0 { number.checked_add(len) } else { Some(number) };
    let number = number.and_then(|number| usize::try_from(number).ok()).filter(|&number| number < count);
    number.map_or_else(|| Err(PyIndexError::new_err(out_of_range(index))), get)
}

/// Whether an object is no integer, or one that is too large to count with. Programs for `tensogram` expect the same
/// exception for both.
fn is_no_index(error: &PyErr, py: Python<'_>) -> bool {
    error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyOverflowError>(py)
}

/// An iterator over a sequence, which gets each item when it is asked for.
///
/// # Errors
/// Those of the sequence's length.
pub(crate) fn iterate<'py>(sequence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let builtins = sequence.py().import("builtins")?;
    let numbers = builtins.call_method1("range", (sequence.len()?,))?;
    builtins.call_method1("map", (sequence.getattr("__getitem__")?, numbers))
}
