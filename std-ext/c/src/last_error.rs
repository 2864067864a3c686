//! Functions of C about the last error of a thread, and about codes.

use std::ffi::c_char;
use std::ptr;

use crate::call::{get, run};
use crate::error::{
    CANCELLED, COMPRESSION, Code, ENCODING, END_OF_ITER, FRAMING, HASH_MISMATCH, INVALID_ARG, IO, LAST, Last, METADATA,
    MISSING_HASH, OBJECT, OK, REMOTE, TIMEOUT,
};

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
