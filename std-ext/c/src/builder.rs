//! Metadata that is built value by value, with byte strings, which JSON does not have.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::Mutex;

use tgm_std::GlobalMetadata;
use tgm_std::deps::ciborium::Value;
use tgm_std::metadata::{segments, set_path};

use crate::args;
use crate::call::{call, run};
use crate::error::{Code, METADATA, Report, Result, invalid};
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

    /// Sets the values in `entries`.
    fn add_to(&self, entries: &mut Entries) -> Result<()> {
        for (path, value) in &*lock(&self.entries) {
            set_path(entries, path, value.clone())?;
        }
        Ok(())
    }
}

/// Metadata that options add to what JSON says.
#[derive(Default)]
pub(crate) struct Added<'a> {
    extra: Option<&'a Builder>,
    base: Vec<Option<&'a Builder>>,
}

impl Added<'_> {
    /// # Safety
    /// The builders are NULL or handles of this library. The array has `count` of them.
    pub(crate) unsafe fn new(extra: *const Builder, base: *const *const Builder, count: usize) -> Result<Self> {
        // SAFETY: the caller makes the same promise.
        unsafe {
            let base = args::slice_or_empty(base, count)?;
            let base = base.iter().map(|builder| args::given(*builder)).collect::<Result<_>>()?;
            Ok(Self { extra: args::given(extra)?, base })
        }
    }

    /// Sets the values in the metadata of a message of `objects` objects.
    pub(crate) fn add_to(&self, metadata: &mut GlobalMetadata, objects: usize) -> Result<()> {
        if self.base.len() > objects {
            return Err(invalid(format!("{} entries of base for {objects} objects", self.base.len())));
        }
        if let Some(extra) = self.extra {
            extra.add_to(&mut metadata.extra)?;
        }
        if metadata.base.len() < self.base.len() {
            metadata.base.resize_with(self.base.len(), Entries::new);
        }
        for (entries, builder) in metadata.base.iter_mut().zip(&self.base) {
            builder.map_or(Ok(()), |builder| builder.add_to(entries))?;
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
