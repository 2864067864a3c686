//! Metadata that is built value by value, with byte strings, which JSON does not have.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::Mutex;

use tgm_std::deps::ciborium::Value;
use tgm_std::metadata::{segments, set_path};

use crate::args;
use crate::call::{call, run};
use crate::error::{Code, METADATA, Report, Result};
use crate::locks::lock;

/// A `tgm_metadata_builder_t` of C: values by dotted path, in the order in which they were set.
#[derive(Debug, Default)]
pub struct Builder {
    entries: Mutex<Vec<(String, Value)>>,
}

/// The most segments of a path. Readers of CBOR limit how deep maps are nested.
const MAX_SEGMENTS: usize = 100;

type Entries = BTreeMap<String, Value>;

impl Builder {
    fn set(&self, path: &str, value: Value) -> Result<()> {
        if segments(path).count() > MAX_SEGMENTS {
            return Err(Report::new(METADATA, format!("a path of more than {MAX_SEGMENTS} segments")).into());
        }
        // In an empty map, any path with a wrong form fails, and no other.
        set_path(&mut Entries::new(), path, Value::Null)?;
        lock(&self.entries).push((path.to_string(), value));
        Ok(())
    }

    /// The values by path, in the order in which they were set.
    pub(crate) fn entries(&self) -> Vec<(String, Value)> {
        lock(&self.entries).clone()
    }

    /// Sets the values in `entries`.
    pub(crate) fn add_to(&self, entries: &mut Entries) -> Result<()> {
        for (path, value) in &*lock(&self.entries) {
            set_path(entries, path, value.clone())?;
        }
        Ok(())
    }
}

/// Sets a value that `value` makes of an argument.
///
/// # Safety
/// The header's contract.
unsafe fn set(builder: *const Builder, path: *const c_char, value: impl FnOnce() -> Result<Value>) -> Code {
    call(|| {
        // SAFETY: the caller makes the same promise.
        let (builder, path) = unsafe { (args::required(builder)?, args::text(path, "path")?) };
        builder.set(path, value()?)
    })
}

/// Makes a builder without values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_builder_new(out: *mut *mut Builder) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        unsafe { args::place(out)? }.put_handle(Builder::default());
        Ok(())
    })
}

/// Sets a truth value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_builder_set_bool(builder: *mut Builder, path: *const c_char, value: i32) -> Code {
    // SAFETY: the header's contract.
    unsafe { set(builder, path, || Ok(Value::Bool(value != 0))) }
}

/// Sets an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_builder_set_i64(builder: *mut Builder, path: *const c_char, value: i64) -> Code {
    // SAFETY: the header's contract.
    unsafe { set(builder, path, || Ok(value.into())) }
}

/// Sets an integer that is not negative.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_builder_set_u64(builder: *mut Builder, path: *const c_char, value: u64) -> Code {
    // SAFETY: the header's contract.
    unsafe { set(builder, path, || Ok(value.into())) }
}

/// Sets a floating-point number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_builder_set_f64(builder: *mut Builder, path: *const c_char, value: f64) -> Code {
    // SAFETY: the header's contract.
    unsafe { set(builder, path, || Ok(value.into())) }
}

/// Sets a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_builder_set_string(
    builder: *mut Builder,
    path: *const c_char,
    value: *const c_char,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { set(builder, path, || Ok(args::text(value, "value")?.into())) }
}

/// Sets a byte string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_builder_set_bytes(
    builder: *mut Builder,
    path: *const c_char,
    data: *const u8,
    data_len: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { set(builder, path, || Ok(Value::Bytes(args::slice_or_empty(data, data_len)?.to_vec()))) }
}

/// Frees a builder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_builder_free(builder: *mut Builder) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(builder) });
}
