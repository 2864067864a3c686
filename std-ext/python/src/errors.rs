//! Errors of the library as exceptions.
//!
//! The exception classes are Python's (`tgmio/_errors.py`), because each has two bases: the package's own
//! `TensogramError`, and the builtin that programs catch. An exception carries `kind`, `offset`, `message_index` and
//! `object_index`.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use tgm_std::file::SourceName;
use tgm_std::{Hint, TensogramError};

/// The module of Python with the exception classes.
const MODULE: &str = "tgmio._errors";

/// Where an error happened, as far as the caller knows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// The number of the message in its file.
    pub(crate) message: Option<usize>,
    /// The number of the object in its message.
    pub(crate) object: Option<usize>,
}

impl Place {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Self = Self { message: None, object: None };

    /// An object of a message that is not part of a file.
    pub(crate) const fn object(object: usize) -> Self {
        Self { message: None, object: Some(object) }
    }

    /// A message of a file.
    pub(crate) const fn message(message: usize) -> Self {
        Self { message: Some(message), object: None }
    }

    /// An object of a message of a file.
    pub(crate) const fn both(message: usize, object: usize) -> Self {
        Self { message: Some(message), object: Some(object) }
    }
}

/// The exception for an error of the library.
pub(crate) fn exception(py: Python<'_>, error: &TensogramError, place: Place) -> PyErr {
    build(py, error, place).unwrap_or_else(|failure| failure)
}

/// A closure for `map_err` of results whose place is not known.
pub(crate) fn raise(py: Python<'_>) -> impl Fn(TensogramError) -> PyErr + '_ {
    move |error| exception(py, &error, Place::UNKNOWN)
}

/// A closure for `map_err` of results whose place is known.
pub(crate) fn raise_at(py: Python<'_>, place: Place) -> impl Fn(TensogramError) -> PyErr + '_ {
    move |error| exception(py, &error, place)
}

/// The exception about object `index`, which its text names. What is neither about a value nor about a type, such as
/// `KeyboardInterrupt`, stays as it is.
pub(crate) fn of_object(py: Python<'_>, error: PyErr, index: usize) -> PyErr {
    if !error.is_instance_of::<PyValueError>(py) && !error.is_instance_of::<PyTypeError>(py) {
        return error;
    }
    let value = error.value(py);
    let name = format!("object {index}: ");
    let Ok((text,)) = value.getattr("args").and_then(|args| args.extract::<(String,)>()) else { return error };
    if text.contains(&name) {
        return error;
    }
    // The kind of an error of the library stays in front.
    let kind = text.split_once(": ").filter(|(kind, _)| kind.ends_with("Error") && !kind.contains(' '));
    let text = kind.map_or_else(|| format!("{name}{text}"), |(kind, rest)| format!("{kind}: {name}{rest}"));
    let named = value.setattr("args", (text,)).and_then(|()| value.setattr("object_index", index));
    named.err().unwrap_or(error)
}

fn build(py: Python<'_>, error: &TensogramError, place: Place) -> PyResult<PyErr> {
    let (class, text) = match error {
        TensogramError::Framing(reason) => ("FramingError", format!("FramingError: {reason}")),
        TensogramError::Metadata(reason) => ("MetadataError", format!("MetadataError: {reason}")),
        TensogramError::Encoding(reason) => ("EncodingError", format!("EncodingError: {reason}")),
        TensogramError::Compression(reason) => ("CompressionError", format!("CompressionError: {reason}")),
        TensogramError::Object(reason) => ("ObjectError", format!("ObjectError: {reason}")),
        TensogramError::Remote(reason) => ("RemoteError", format!("RemoteError: {reason}")),
        TensogramError::Io(error) => return Ok(of_io(error)),
        TensogramError::HashMismatch { object_index, expected, actual } => {
            let place = Place { object: object_index.or(place.object), ..place };
            let index = place.object.map_or_else(|| "None".to_owned(), |index| index.to_string());
            let text = format!("HashMismatch: object_index={index}, expected={expected}, actual={actual}");
            let error = new(py, "HashMismatchError", &text, error, place)?;
            let value = error.value(py);
            value.setattr("expected", expected)?;
            value.setattr("actual", actual)?;
            return Ok(error);
        }
        TensogramError::MissingHash { object_index } => {
            let text = format!("MissingHash: object_index={object_index}; the object has no digest to verify");
            let place = Place { object: Some(*object_index), ..place };
            return new(py, "MissingHashError", &text, error, place);
        }
        other => ("OtherError", format!("TensogramError: {other}")),
    };
    new(py, class, &text, error, place)
}

/// The exception for an error of the library, with a text that does not begin with its kind.
pub(crate) fn without_prefix(py: Python<'_>, error: &TensogramError) -> PyErr {
    let error = exception(py, error, Place::UNKNOWN);
    let value = error.value(py);
    let text = value.to_string();
    let bare = text.split_once(": ").map_or(&*text, |(_, bare)| bare);
    match value.setattr("args", (bare,)) {
        Ok(()) => error,
        Err(failure) => failure,
    }
}

/// An exception of that class with the attributes that all have.
fn new(py: Python<'_>, class: &str, text: &str, error: &TensogramError, place: Place) -> PyResult<PyErr> {
    let value = class_named(py, class)?.call1((in_python(text),))?;
    value.setattr("kind", error.kind_name())?;
    value.setattr("offset", error.offset())?;
    value.setattr("message_index", place.message)?;
    value.setattr("object_index", place.object)?;
    Ok(PyErr::from_value(value))
}

/// A text of the library in which advice names arguments of Python's functions. The library's own names its options.
pub(crate) fn in_python(text: &str) -> Cow<'_, str> {
    Hint::ALL.iter().fold(Cow::Borrowed(text), |text, hint| {
        if text.contains(hint.text()) { Cow::Owned(text.replace(hint.text(), advice(*hint))) } else { text }
    })
}

/// The advice of this package for one of the library.
const fn advice(hint: Hint) -> &'static str {
    /// What the default build leaves out.
    const FULL: &str = "install with --config-settings=build-args=\"--features full\"";
    match hint {
        Hint::AllowNan => "pass allow_nan=True to substitute with 0.0 and record positions in a mask",
        Hint::AllowInf => "pass allow_inf=True to substitute with 0.0 and record positions in a mask",
        Hint::PackFinite => "pack the finite values",
        Hint::StreamedHashes => "take 'footer', 'auto' or 'none'",
        Hint::SetProvenance => "the package sets it",
        Hint::MaxDecodedBytes => "the limit for the values of an object",
        Hint::MaxMessageBytes => "the limit for a message (max_message_bytes)",
        Hint::MaxFileBytes => "the limit for a file",
        Hint::MaxExpansion => "the limit for what a byte may become",
        Hint::MaxMetadataBytes => "the limit for the memory of metadata",
        Hint::MaxObjects => "the limit for one message",
        Hint::ValueOrder => "data must be in the byte order that the descriptor declares",
        Hint::Blosc2 | Hint::Sz3 => FULL,
        Hint::Blosc2Decode | Hint::Lz4 | Hint::Roaring | Hint::Sz3Decode | Hint::Zstd => "this build leaves it out",
        // A test finds advice that has no words here.
        _ => hint.text(),
    }
}

/// All advice, each as a pair: the library's words and this package's words. For tests.
#[pyfunction]
pub(crate) fn _advice() -> Vec<(&'static str, &'static str)> {
    Hint::ALL.iter().map(|hint| (hint.text(), advice(*hint))).collect()
}

/// An exception class of the package by its name.
fn class_named<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let classes = CLASSES.get_or_try_init(py, || {
        py.import(MODULE)?.getattr("CLASSES")?.cast_into::<PyDict>().map(Bound::unbind).map_err(PyErr::from)
    })?;
    let class = classes.bind(py).as_any().get_item(name)?;
    Ok(class.cast_into::<PyType>()?)
}

/// The exception for a failed file: the subclass of `OSError` that its kind has, so `FileNotFoundError` and its like.
pub(crate) fn of_io(error: &io::Error) -> PyErr {
    if error.kind() == io::ErrorKind::OutOfMemory {
        return PyMemoryError::new_err(error.to_string());
    }
    match number_of(error) {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// [`of_io`] for a file that the exception names. `what` is what failed, such as "cannot create".
pub(crate) fn of_file(py: Python<'_>, error: &TensogramError, what: &str, path: &Path) -> PyErr {
    let TensogramError::Io(io) = error else {
        return exception(py, error, Place::UNKNOWN);
    };
    let Some(number) = number_of(io) else {
        return of_io(io);
    };
    let reason = py.import("os").and_then(|os| os.call_method1("strerror", (number,))?.extract::<String>());
    match reason {
        Ok(reason) => {
            let name = SourceName::of(path);
            // A path may have bytes that are not text, which the name's text would lose.
            let name = if name.is_address() { name.to_string().into() } else { path.as_os_str().to_owned() };
            PyOSError::new_err((number, format!("{what}: {reason}"), name))
        }
        Err(failure) => failure,
    }
}

/// The number that the operating system gives to this failure. The library keeps the kind of an error and not always
/// its number.
fn number_of(error: &io::Error) -> Option<i32> {
    use io::ErrorKind as K;
    error.raw_os_error().or(match error.kind() {
        K::NotFound => Some(2),
        K::PermissionDenied => Some(13),
        K::AlreadyExists => Some(17),
        K::NotADirectory => Some(20),
        K::IsADirectory => Some(21),
        K::InvalidInput => Some(22),
        K::StorageFull => Some(28),
        K::ReadOnlyFilesystem => Some(30),
        _ => None,
    })
}
