//! Cursors: pointers to values of metadata.
//!
//! A cursor takes no memory. It is the address of a value, or the address of a section of metadata with its lowest bit
//! set. Both lie in metadata that does not change, at addresses that are even. So the same value always has the same
//! cursor, and threads may share them.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::ptr;

use tgm_std::deps::ciborium::Value;

use crate::args;
use crate::call::get;

/// A `tgm_value_t` of C, which has no content of its own.
#[repr(C)]
#[derive(Debug)]
pub struct TgmValue {
    opaque: [u8; 0],
}

/// A section of metadata: the entries of an object or of the message.
type Section = BTreeMap<String, Value>;

/// The bit of a cursor that is set for sections.
const SECTION: usize = 1;
const _: () = assert!(align_of::<Value>() > SECTION && align_of::<Section>() > SECTION);

const NULL: i32 = 0;
const BOOL: i32 = 1;
const INT: i32 = 2;
const FLOAT: i32 = 3;
const STRING: i32 = 4;
const BYTES: i32 = 5;
const ARRAY: i32 = 6;
const MAP: i32 = 7;

/// What a cursor leads to.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a> {
    Value(&'a Value),
    Section(&'a Section),
}

impl<'a> Node<'a> {
    /// The cursor of this node.
    pub(crate) fn as_ptr(self) -> *const TgmValue {
        match self {
            Self::Value(value) => ptr::from_ref(value).cast(),
            Self::Section(section) => ptr::from_ref(section).cast::<TgmValue>().map_addr(|address| address | SECTION),
        }
    }

    /// What a cursor leads to; `None` for NULL.
    ///
    /// # Safety
    /// The cursor is NULL or comes from [`Self::as_ptr`], and its metadata lives.
    unsafe fn from_ptr(cursor: *const TgmValue) -> Option<Self> {
        if cursor.is_null() {
            return None;
        }
        if cursor.addr() & SECTION == 0 {
            // SAFETY: this cursor is the address of a value that lives, as the caller promises.
            return unsafe { args::optional(cursor.cast()) }.map(Self::Value);
        }
        let section = cursor.map_addr(|address| address & !SECTION).cast();
        // SAFETY: without its lowest bit, this cursor is the address of a section that lives.
        unsafe { args::optional(section) }.map(Self::Section)
    }

    fn value(self) -> Option<&'a Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Section(_) => None,
        }
    }

    fn kind(self) -> i32 {
        match self {
            Self::Section(_) | Self::Value(Value::Map(_)) => MAP,
            Self::Value(Value::Bool(_)) => BOOL,
            Self::Value(Value::Integer(_)) => INT,
            Self::Value(Value::Float(_)) => FLOAT,
            Self::Value(Value::Text(_)) => STRING,
            Self::Value(Value::Bytes(_)) => BYTES,
            Self::Value(Value::Array(_)) => ARRAY,
            Self::Value(_) => NULL,
        }
    }

    fn map_len(self) -> usize {
        match self {
            Self::Section(section) => section.len(),
            Self::Value(value) => value.as_map().map_or(0, Vec::len),
        }
    }

    fn key_at(self, index: usize) -> Option<&'a str> {
        match self {
            Self::Section(section) => section.keys().nth(index).map(String::as_str),
            Self::Value(value) => value.as_map()?.get(index)?.0.as_text(),
        }
    }

    fn value_at(self, index: usize) -> Option<&'a Value> {
        match self {
            Self::Section(section) => section.values().nth(index),
            Self::Value(value) => value.as_map()?.get(index).map(|(_, value)| value),
        }
    }

    /// The value of a key. The last of repeated keys counts.
    fn value_of(self, key: &str) -> Option<&'a Value> {
        match self {
            Self::Section(section) => section.get(key),
            Self::Value(value) => {
                value.as_map()?.iter().rfind(|(other, _)| other.as_text() == Some(key)).map(|(_, value)| value)
            }
        }
    }
}

/// Writes what `ask` finds in a value. Returns whether it found anything.
///
/// # Safety
/// The header's contract.
unsafe fn put<T>(v: *const TgmValue, out: *mut T, ask: impl FnOnce(&Value) -> Option<T>) -> bool {
    get(false, || {
        // SAFETY: the caller makes the same promise.
        let (node, out) = unsafe { (Node::from_ptr(v)?, args::place(out).ok()?) };
        out.put(ask(node.value()?)?);
        Some(true)
    })
}

/// The pointer to bytes that `ask` finds; writes their number. Bytes of length 0 have a pointer too.
///
/// # Safety
/// The header's contract.
unsafe fn counted<T>(v: *const TgmValue, len_out: *mut usize, ask: impl FnOnce(Node<'_>) -> Option<&[u8]>) -> *const T {
    get(ptr::null(), || {
        // SAFETY: the caller makes the same promise.
        let (node, len_out) = unsafe { (Node::from_ptr(v)?, args::place(len_out).ok()?) };
        let bytes = ask(node)?;
        len_out.put(bytes.len());
        Some(bytes.as_ptr().cast())
    })
}

/// The cursor of a value that `ask` finds.
///
/// # Safety
/// The header's contract.
unsafe fn child(v: *const TgmValue, ask: impl FnOnce(Node<'_>) -> Option<&Value>) -> *const TgmValue {
    // SAFETY: the caller makes the same promise.
    get(ptr::null(), || ask(unsafe { Node::from_ptr(v) }?).map(|value| Node::Value(value).as_ptr()))
}

/// The type of a value: a `tgm_value_type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_get_type(v: *const TgmValue) -> i32 {
    // SAFETY: the header's contract.
    get(NULL, || unsafe { Node::from_ptr(v) }.map(Node::kind))
}

/// The truth value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_as_bool(v: *const TgmValue, out: *mut bool) -> bool {
    // SAFETY: the header's contract.
    unsafe { put(v, out, Value::as_bool) }
}

/// The integer, if it fits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_as_i64(v: *const TgmValue, out: *mut i64) -> bool {
    // SAFETY: the header's contract.
    unsafe { put(v, out, |value| value.as_integer()?.try_into().ok()) }
}

/// The integer, if it is not negative and fits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_as_u64(v: *const TgmValue, out: *mut u64) -> bool {
    // SAFETY: the header's contract.
    unsafe { put(v, out, |value| value.as_integer()?.try_into().ok()) }
}

/// The float, or the float nearest to the integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_as_f64(v: *const TgmValue, out: *mut f64) -> bool {
    // SAFETY: the header's contract.
    unsafe { put(v, out, to_f64) }
}

/// The float, or the float nearest to the integer.
pub(crate) fn to_f64(value: &Value) -> Option<f64> {
    match value {
        Value::Float(float) => Some(*float),
        #[expect(clippy::cast_precision_loss, reason = "rounding is what the caller asked for")]
        Value::Integer(integer) => Some(i128::from(*integer) as f64),
        _ => None,
    }
}

/// The text, which does not end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_as_string(v: *const TgmValue, len_out: *mut usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { counted(v, len_out, |node| node.value()?.as_text().map(str::as_bytes)) }
}

/// The byte string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_as_bytes(v: *const TgmValue, len_out: *mut usize) -> *const u8 {
    // SAFETY: the header's contract.
    unsafe { counted(v, len_out, |node| node.value()?.as_bytes().map(Vec::as_slice)) }
}

/// The number of items of an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_array_len(v: *const TgmValue) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { Node::from_ptr(v) }?.value()?.as_array().map(Vec::len))
}

/// An item of an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_array_get(v: *const TgmValue, index: usize) -> *const TgmValue {
    // SAFETY: the header's contract.
    unsafe { child(v, |node| node.value()?.as_array()?.get(index)) }
}

/// The number of entries of a map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_map_len(v: *const TgmValue) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { Node::from_ptr(v) }.map(Node::map_len))
}

/// The key of an entry of a map, which does not end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_map_key_at(v: *const TgmValue, index: usize, len_out: *mut usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { counted(v, len_out, |node| node.key_at(index).map(str::as_bytes)) }
}

/// The value of an entry of a map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_map_value_at(v: *const TgmValue, index: usize) -> *const TgmValue {
    // SAFETY: the header's contract.
    unsafe { child(v, |node| node.value_at(index)) }
}

/// The value of a key of a map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_value_map_get(v: *const TgmValue, key: *const c_char) -> *const TgmValue {
    // SAFETY: the header's contract.
    unsafe { child(v, |node| node.value_of(args::text(key, "key").ok()?)) }
}
