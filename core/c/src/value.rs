//! CBOR values: metadata and parameters of descriptors.

use tgm_core::ErrorKind;
use tgm_core::cbor::{Kind, Value as CborValue};

use crate::abi::{Fault, Slice, Status};
use crate::kinds::{self, AT_END, kind_number};
use crate::pointers::{Outcome, answer, bytes, check_aligned, copy, write_if};
use crate::words::Words;

/// `tgmc_value_t`: the bytes of the CBOR item, and where they lie in the caller's data.
pub type Value = Words<0x5641_4c01, 4>;

impl Value {
    /// The struct of a value.
    pub(crate) fn of(value: &CborValue<'_>) -> Self {
        Self::new(value.as_encoded(), &[value.offset()])
    }

    /// The struct of a value that a search found; `END` if it found none.
    pub(crate) fn found(value: Option<CborValue<'_>>) -> Outcome<Self> {
        Ok(Self::of(&value.ok_or(AT_END)?))
    }
}

/// The value of an opaque struct: O(bytes of the value).
///
/// # Safety
/// As for [`Words::bytes`]; `value` is NULL or can be read.
unsafe fn value_of<'a>(value: *const Value) -> Outcome<CborValue<'a>> {
    // SAFETY: the caller's promise.
    let (value, encoded) = unsafe {
        let value = copy(value)?;
        (value, value.bytes()?)
    };
    let [offset, ..] = value.numbers()? else { return Err(kinds::HANDLE.fault()) };
    Ok(CborValue::parse(encoded, *offset)?)
}

/// A value of any CBOR item.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_value_open"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_value_open(value: *mut Value, cbor: *const u8, len: usize, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe { answer(value, error, || Ok(Value::of(&CborValue::parse(bytes(cbor, len)?, 0)?))) }
}

/// The type of a value.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_value_kind"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_value_kind(value: *const Value) -> u8 {
    // SAFETY: the header asks the caller for what this function needs.
    unsafe { value_of(value) }.map_or(0, |value| kind_number(value.kind()))
}

macro_rules! getters {
    ($($name:ident = $symbol:literal, $type:ty, $doc:literal, |$value:ident| $get:expr;)+) => {
        $(
            #[doc = $doc]
            ///
            /// # Safety
            /// As `tgm_core.h` says.
            #[cfg_attr(any(not(chosen), only = $symbol), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(value: *const Value, out: *mut $type, error: *mut Fault) -> Status {
                // SAFETY: the header asks the caller for what these functions need.
                unsafe {
                    answer(out, error, || {
                        let $value = value_of(value)?;
                        $get
                    })
                }
            }
        )+
    };
}

getters! {
    tgmc_value_bool = "tgmc_value_bool", u8, "A truth value.", |value| Ok(u8::from(value.as_bool()?));
    tgmc_value_u64 = "tgmc_value_u64", u64, "An unsigned integer.", |value| Ok(value.as_u64()?);
    tgmc_value_i64 = "tgmc_value_i64", i64, "An integer.", |value| Ok(value.as_i64()?);
    tgmc_value_f64 = "tgmc_value_f64", f64, "A number.", |value| Ok(value.as_f64()?);
    tgmc_value_text = "tgmc_value_text", Slice, "A text in one piece.", |value| {
        let text = value.as_text()?;
        text.as_str().map(|text| text.as_bytes().into()).ok_or(in_pieces(&value))
    };
    tgmc_value_bytes = "tgmc_value_bytes", Slice, "A byte string in one piece.", |value| {
        let bytes = value.as_bytes()?;
        bytes.as_slice().map(Slice::from).ok_or(in_pieces(&value))
    };
    tgmc_value_len = "tgmc_value_len", usize, "The number of items or entries.", |value| match value.kind() {
        Kind::Map => Ok(value.as_map()?.len()),
        _ => Ok(value.as_array()?.len()),
    };
}

fn in_pieces(value: &CborValue<'_>) -> Fault {
    Fault { offset: value.offset(), ..kinds::INDEFINITE.fault() }
}

/// One item of an array, or one entry of a map.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_value_at"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_value_at(
    value: *const Value,
    index: usize,
    key: *mut Value,
    item: *mut Value,
    error: *mut Fault,
) -> Status {
    let mut found_key = Value::default();
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        let status = answer(item, error, || {
            check_aligned(key)?;
            let value = value_of(value)?;
            let found = match value.kind() {
                Kind::Map => {
                    let (key, item) = value.as_map()?.iter().nth(index).ok_or(AT_END)??;
                    found_key = Value::of(&key);
                    item
                }
                Kind::Array => value.as_array()?.get(index)?.ok_or(AT_END)?,
                found => return Err(ErrorKind::WrongType { expected: Kind::Array, found }.at(value.offset()).into()),
            };
            Ok(Value::of(&found))
        });
        write_if(key, found_key);
        status
    }
}
