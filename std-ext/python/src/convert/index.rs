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
        Ok(number) => Some(number),
        Err(error) if error.is_instance_of::<PyOverflowError>(index.py()) => None,
        Err(error) if error.is_instance_of::<PyTypeError>(index.py()) => return Err(no_index(index)),
        Err(error) => return Err(error),
    };
    let number = number.and_then(|number| if number < 0 { number.checked_add(len) } else { Some(number) });
    let number = number.and_then(|number| usize::try_from(number).ok()).filter(|&number| number < count);
    number.map_or_else(|| Err(PyIndexError::new_err(out_of_range(index))), get)
}

/// Refuses an integer that does not fit 64 bits with a `TypeError`, as if it was not an integer. Programs for
/// `tensogram` expect that of files.
///
/// # Errors
/// `TypeError`.
pub(crate) fn refuse_wide(index: &Bound<'_, PyAny>) -> PyResult<()> {
    match index.extract::<isize>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(index.py()) => Err(no_index(index)),
        _ => Ok(()),
    }
}

fn no_index(index: &Bound<'_, PyAny>) -> PyErr {
    let class = index.get_type();
    PyTypeError::new_err(format!("indices must be integers or slices (of 64 bits), not {class}"))
}

/// An iterator over a sequence, which gets each item when it is asked for.
///
/// # Errors
/// The errors of the sequence's length.
pub(crate) fn iterate<'py>(sequence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let builtins = sequence.py().import("builtins")?;
    let numbers = builtins.call_method1("range", (sequence.len()?,))?;
    builtins.call_method1("map", (sequence.getattr("__getitem__")?, numbers))
}
