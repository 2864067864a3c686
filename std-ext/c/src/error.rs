//! Codes of errors, and the last error of each thread.

use std::cell::RefCell;
use std::ffi::CString;

use tgm_std::{TensogramError, core};

/// A `tgm_error` of C. It is an integer here, because C can pass any number.
pub type Code = i32;

pub(crate) const OK: Code = 0;
pub(crate) const FRAMING: Code = 1;
pub(crate) const METADATA: Code = 2;
pub(crate) const ENCODING: Code = 3;
pub(crate) const COMPRESSION: Code = 4;
pub(crate) const OBJECT: Code = 5;
pub(crate) const IO: Code = 6;
pub(crate) const HASH_MISMATCH: Code = 7;
pub(crate) const INVALID_ARG: Code = 8;
pub(crate) const END_OF_ITER: Code = 9;
pub(crate) const REMOTE: Code = 10;
pub(crate) const MISSING_HASH: Code = 11;
pub(crate) const TIMEOUT: Code = 12;
pub(crate) const CANCELLED: Code = 13;

/// The end of a function that does not succeed.
pub(crate) enum Failure {
    /// An iterator has no more items. This is not an error, and the last error stays.
    End,
    /// An error.
    Reported(Report),
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// An error as the caller learns of it.
pub(crate) struct Report {
    code: Code,
    text: String,
    cause: Option<core::Error>,
    /// The byte of the input, if no error of `core` says it.
    offset: Option<u64>,
    object: Option<usize>,
}

impl Report {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), cause: None, offset: None, object: None }
    }

    /// The report of a panic.
    pub(crate) fn internal() -> Self {
        Self::new(ENCODING, "internal error")
    }

    /// This report with the byte and the object of a damage.
    pub(crate) fn at(self, offset: u64, object: Option<usize>) -> Self {
        Self { offset: Some(offset), object, ..self }
    }
}

impl Failure {
    /// This failure with the object that it is about, in its text too if it is not there.
    pub(crate) fn in_object(self, index: usize) -> Self {
        let Self::Reported(report) = self else { return self };
        let name = format!("object {index}: ");
        let text = if report.text.contains(&name) { report.text } else { format!("{name}{}", report.text) };
        Self::Reported(Report { text, object: Some(index), ..report })
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Self::Reported(report)
    }
}

/// The failure of a wrong argument.
pub(crate) fn invalid(text: impl Into<String>) -> Failure {
    Report::new(INVALID_ARG, text).into()
}

/// The failure with which an iterator, a file or a system call ends.
pub(crate) fn io(error: &std::io::Error) -> Failure {
    Report::new(IO, error.to_string()).into()
}

impl From<&TensogramError> for Report {
    fn from(error: &TensogramError) -> Self {
        let code = match error {
            TensogramError::Framing(_) => FRAMING,
            TensogramError::Metadata(_) => METADATA,
            TensogramError::Compression(_) => COMPRESSION,
            TensogramError::Object(_) => OBJECT,
            TensogramError::Io(_) => IO,
            TensogramError::HashMismatch { .. } => HASH_MISMATCH,
            TensogramError::Remote(_) => REMOTE,
            TensogramError::MissingHash { .. } => MISSING_HASH,
            // `Encoding`, and kinds that the interface has no code for.
            _ => ENCODING,
        };
        let object = match error {
            TensogramError::HashMismatch { object_index, .. } => *object_index,
            TensogramError::MissingHash { object_index } => Some(*object_index),
            _ => None,
        };
        Self { cause: error.cause(), offset: error.offset(), object, ..Self::new(code, error.to_string()) }
    }
}

impl From<TensogramError> for Failure {
    fn from(error: TensogramError) -> Self {
        Report::from(&error).into()
    }
}

impl From<core::Error> for Failure {
    fn from(error: core::Error) -> Self {
        TensogramError::from(error).into()
    }
}

/// The failure of object `index`. Functions that get an open object do not know its number, but errors of digests name
/// it.
pub(crate) fn of_object(error: TensogramError, index: usize) -> Failure {
    match error {
        TensogramError::HashMismatch { object_index: _, expected, actual } => {
            TensogramError::HashMismatch { object_index: Some(index), expected, actual }.into()
        }
        TensogramError::MissingHash { .. } => TensogramError::MissingHash { object_index: index }.into(),
        other => other.into(),
    }
}

/// The last error of a thread.
pub(crate) struct Last {
    pub(crate) code: Code,
    pub(crate) text: CString,
    pub(crate) kind: Option<CString>,
    pub(crate) offset: Option<u64>,
    pub(crate) object: Option<usize>,
}

thread_local! {
    /// The last error of this thread.
    pub(crate) static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// Keeps an error as the last one of this thread. Returns its code.
pub(crate) fn keep(report: Report) -> Code {
    let Report { code, text, cause, offset, object } = report;
    let last = Last {
        code,
        text: c_string(text),
        kind: cause.map(|cause| c_string(kind_name(cause))),
        offset: offset.or_else(|| cause.map(|cause| cause.offset())),
        object,
    };
    // A thread that ends has no place for errors any more.
    let _ = LAST.try_with(|place| *place.borrow_mut() = Some(last));
    code
}

/// The name of the kind of an error of `core`, without its values.
fn kind_name(cause: core::Error) -> String {
    let mut name = format!("{:?}", cause.kind());
    name.truncate(name.find([' ', '(', '{']).unwrap_or(name.len()));
    name
}

/// A text for C. It ends at the first NUL there, so NUL bytes in it become U+FFFD.
pub(crate) fn c_string(text: impl Into<String>) -> CString {
    CString::new(text.into()).unwrap_or_else(|error| {
        let bytes = error.into_vec();
        CString::new(String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}")).unwrap_or_default()
    })
}
