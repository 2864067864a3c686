//! Metadata: values by dotted path, sections, and JSON.

use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock};

use tgm_std::GlobalMetadata;
use tgm_std::deps::ciborium::Value;

use crate::args;
use crate::call::{get, run};
use crate::json_out;
use crate::locks::lock;
use crate::value::{Node, TgmValue, to_f64};

/// A `tgm_metadata_t` of C. The metadata does not change; texts that were asked for are kept behind locks. So threads
/// may share it.
pub struct Metadata {
    content: Arc<GlobalMetadata>,
    /// Values as text, by the address of the value.
    texts: Mutex<HashMap<usize, CString>>,
    /// Objects as JSON, by their number.
    objects: Mutex<HashMap<usize, CString>>,
    json: OnceLock<CString>,
}

/// The path of the version of the format, which hides a stored value of that name.
const VERSION: &str = "version";

impl Metadata {
    pub(crate) fn new(content: Arc<GlobalMetadata>) -> Self {
        Self { content, texts: Mutex::default(), objects: Mutex::default(), json: OnceLock::new() }
    }

    /// The value as text that lives as long as this.
    fn text_of(&self, value: &Value) -> Option<*const c_char> {
        let mut texts = lock(&self.texts);
        let address = ptr::from_ref(value).addr();
        if let Some(text) = texts.get(&address) {
            return Some(text.as_ptr());
        }
        let text = CString::new(text(value)?).ok()?;
        Some(texts.entry(address).or_insert(text).as_ptr())
    }
}

impl std::fmt::Debug for Metadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metadata").finish_non_exhaustive()
    }
}

/// A value as text. Null, bytes and containers have none.
fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Text(text) => text.clone(),
        Value::Integer(integer) => i128::from(*integer).to_string(),
        Value::Float(float) => float.to_string(),
        Value::Bool(value) => value.to_string(),
        _ => return None,
    })
}

fn integer(value: &Value) -> Option<i64> {
    value.as_integer()?.try_into().ok()
}

/// What a function of paths looks at: the metadata, its value at the path, and whether the path is the one of the
/// version.
struct AtPath<'a> {
    metadata: &'a Metadata,
    value: Option<&'a Value>,
    is_version: bool,
}

/// Looks up a path in the whole message.
///
/// # Safety
/// The header's contract.
unsafe fn find<'a>(meta: *const Metadata, path: *const c_char) -> Option<AtPath<'a>> {
    // SAFETY: the caller makes the same promise.
    let (metadata, path) = unsafe { (args::optional(meta)?, args::text(path, "path").ok()?) };
    Some(AtPath { metadata, value: metadata.content.get_value(path), is_version: path == VERSION })
}

/// Looks up a path in the metadata of one object.
///
/// # Safety
/// The header's contract.
unsafe fn find_at<'a>(meta: *const Metadata, index: usize, path: *const c_char) -> Option<AtPath<'a>> {
    // SAFETY: the caller makes the same promise.
    let (metadata, path) = unsafe { (args::optional(meta)?, args::text(path, "path").ok()?) };
    Some(AtPath { metadata, value: metadata.content.get_value_at(index, path), is_version: false })
}

/// The version of the format: 3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_version(meta: *const Metadata) -> u64 {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(meta) }.map(|_| u64::from(tgm_std::WIRE_VERSION)))
}

/// The number of objects with metadata.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_num_objects(meta: *const Metadata) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(meta) }.map(|meta| meta.content.base.len()))
}

/// A value as text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_get_string(meta: *const Metadata, key: *const c_char) -> *const c_char {
    get(ptr::null(), || {
        // SAFETY: the header's contract.
        let found = unsafe { find(meta, key)? };
        if found.is_version { Some(c"3".as_ptr()) } else { found.metadata.text_of(found.value?) }
    })
}

/// An integer, or the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_get_int(meta: *const Metadata, key: *const c_char, default_val: i64) -> i64 {
    get(default_val, || {
        // SAFETY: the header's contract.
        let found = unsafe { find(meta, key)? };
        if found.is_version { Some(tgm_std::WIRE_VERSION.into()) } else { integer(found.value?) }
    })
}

/// A number as float, or the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_get_float(meta: *const Metadata, key: *const c_char, default_val: f64) -> f64 {
    get(default_val, || {
        // SAFETY: the header's contract.
        let found = unsafe { find(meta, key)? };
        if found.is_version { Some(tgm_std::WIRE_VERSION.into()) } else { to_f64(found.value?) }
    })
}

/// A value of one object as text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_get_string_at(
    meta: *const Metadata,
    obj_index: usize,
    key: *const c_char,
) -> *const c_char {
    get(ptr::null(), || {
        // SAFETY: the header's contract.
        let found = unsafe { find_at(meta, obj_index, key)? };
        found.metadata.text_of(found.value?)
    })
}

/// An integer of one object, or the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_get_int_at(
    meta: *const Metadata,
    obj_index: usize,
    key: *const c_char,
    default_val: i64,
) -> i64 {
    // SAFETY: the header's contract.
    get(default_val, || unsafe { find_at(meta, obj_index, key) }?.value.and_then(integer))
}

/// A number of one object as float, or the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_get_float_at(
    meta: *const Metadata,
    obj_index: usize,
    key: *const c_char,
    default_val: f64,
) -> f64 {
    // SAFETY: the header's contract.
    get(default_val, || unsafe { find_at(meta, obj_index, key) }?.value.and_then(to_f64))
}

/// The metadata of one object as JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_object_to_json(meta: *const Metadata, obj_index: usize) -> *const c_char {
    get(ptr::null(), || {
        // SAFETY: the header's contract.
        let metadata = unsafe { args::optional(meta) }?;
        let entries = metadata.content.base.get(obj_index)?;
        let mut objects = lock(&metadata.objects);
        Some(objects.entry(obj_index).or_insert_with(|| json_out::entries(entries)).as_ptr())
    })
}

/// All metadata as JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_to_json(meta: *const Metadata) -> *const c_char {
    get(ptr::null(), || {
        // SAFETY: the header's contract.
        let metadata = unsafe { args::optional(meta) }?;
        Some(metadata.json.get_or_init(|| json_out::metadata(&metadata.content)).as_ptr())
    })
}

/// The value at a path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_get(meta: *const Metadata, path: *const c_char) -> *const TgmValue {
    // SAFETY: the header's contract.
    get(ptr::null(), || Some(Node::Value(unsafe { find(meta, path) }?.value?).as_ptr()))
}

/// The value at a path in one object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_get_at(
    meta: *const Metadata,
    obj_index: usize,
    path: *const c_char,
) -> *const TgmValue {
    // SAFETY: the header's contract.
    get(ptr::null(), || Some(Node::Value(unsafe { find_at(meta, obj_index, path) }?.value?).as_ptr()))
}

/// Whether there is a value at a path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_has(meta: *const Metadata, path: *const c_char) -> bool {
    // SAFETY: the header's contract.
    !unsafe { tgm_metadata_get(meta, path) }.is_null()
}

/// Whether there is a value at a path in one object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_has_at(meta: *const Metadata, obj_index: usize, path: *const c_char) -> bool {
    // SAFETY: the header's contract.
    !unsafe { tgm_metadata_get_at(meta, obj_index, path) }.is_null()
}

/// The metadata of one object as a map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_object(meta: *const Metadata, obj_index: usize) -> *const TgmValue {
    // SAFETY: the header's contract.
    get(ptr::null(), || unsafe { args::optional(meta) }?.content.base.get(obj_index).map(|s| Node::Section(s).as_ptr()))
}

/// The message's annotations as a map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_extra(meta: *const Metadata) -> *const TgmValue {
    // SAFETY: the header's contract.
    get(ptr::null(), || unsafe { args::optional(meta) }.map(|meta| Node::Section(&meta.content.extra).as_ptr()))
}

/// What the library wrote about the message, as a map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_reserved(meta: *const Metadata) -> *const TgmValue {
    // SAFETY: the header's contract.
    get(ptr::null(), || unsafe { args::optional(meta) }.map(|meta| Node::Section(&meta.content.reserved).as_ptr()))
}

/// Frees metadata.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_metadata_free(meta: *mut Metadata) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(meta) });
}
