//! Codes of errors, and the last error of each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::ptr;

use tgm_std::{TensogramError, core};

use crate::call::{get, run};

/// A `tgm_error` of C. It is an integer here, because C can pass any number.
pub type Code = i32;

pub(crate) const OK: Code = 0;
const FRAMING: Code = 1;
pub(crate) const METADATA: Code = 2;
pub(crate) const ENCODING: Code = 3;
const COMPRESSION: Code = 4;
pub(crate) const OBJECT: Code = 5;
pub(crate) const IO: Code = 6;
const HASH_MISMATCH: Code = 7;
pub(crate) const INVALID_ARG: Code = 8;
pub(crate) const END_OF_ITER: Code = 9;
const REMOTE: Code = 10;
const MISSING_HASH: Code = 11;
const TIMEOUT: Code = 12;
const CANCELLED: Code = 13;

/// The end of a function that does not succeed.
pub(crate) enum Failure {
    /// An iterator has no more items. This is no error, and the last error stays.
    End,
    /// An error.
    Told(Report),
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

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Self::Told(report)
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
        Self { cause: error.cause(), object, ..Self::new(code, error.to_string()) }
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
struct Last {
    code: Code,
    text: CString,
    kind: Option<CString>,
    offset: Option<u64>,
    object: Option<usize>,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
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

/// What `ask` says of the last error; `absent` without an error.
fn of_last<T: Copy>(absent: T, ask: impl FnOnce(&Last) -> Option<T>) -> T {
    get(absent, || LAST.try_with(|last| last.borrow().as_ref().and_then(ask)).ok().flatten())
}

/// The text of the last error of this thread. NULL before the first one.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_last_error() -> *const c_char {
    of_last(ptr::null(), |last| Some(last.text.as_ptr()))
}

/// The code of the last error of this thread. 0 before the first one.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_last_error_code() -> Code {
    of_last(OK, |last| Some(last.code))
}

/// The kind of defect that the last error of this thread reports. NULL if the bytes of a message are not the cause.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_last_error_kind() -> *const c_char {
    of_last(ptr::null(), |last| Some(last.kind.as_ref()?.as_ptr()))
}

/// The byte at which the last error of this thread is. `UINT64_MAX` if it is at no byte.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_last_error_offset() -> u64 {
    of_last(u64::MAX, |last| last.offset)
}

/// The object that the last error of this thread is about. `SIZE_MAX` if it is about none.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_last_error_object_index() -> usize {
    of_last(usize::MAX, |last| last.object)
}

/// Forgets the last error of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_clear_error() {
    run(|| {
        let _ = LAST.try_with(|last| last.borrow_mut().take());
    });
}

/// The text of a code.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_error_string(err: Code) -> *const c_char {
    let text = match err {
        OK => c"ok",
        FRAMING => c"framing error",
        METADATA => c"metadata error",
        ENCODING => c"encoding error",
        COMPRESSION => c"compression error",
        OBJECT => c"object error",
        IO => c"I/O error",
        HASH_MISMATCH => c"hash mismatch",
        INVALID_ARG => c"invalid argument",
        END_OF_ITER => c"end of iteration",
        REMOTE => c"remote error",
        MISSING_HASH => c"missing hash",
        TIMEOUT => c"async task timed out",
        CANCELLED => c"async task cancelled",
        _ => c"unknown error",
    };
    text.as_ptr()
}
