//! The objects that a query finds.

use std::ffi::{CString, c_char};
use std::ptr;

use tgm_std::metadata::Query;
use tgm_std::{Archive, DecodeOptions};

use crate::args;
use crate::call::{get, run};
use crate::error::{METADATA, Report, Result, c_string};

/// A `tgm_object_ref_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObjectRef {
    message: usize,
    object: usize,
}

/// A `tgm_object_list_t` of C.
#[derive(Debug)]
pub struct ObjectList {
    objects: Vec<ObjectRef>,
    hint: Option<CString>,
}

impl ObjectList {
    pub(crate) const fn len(&self) -> usize {
        self.objects.len()
    }

    /// This list with why it is empty.
    pub(crate) fn with_hint(self, hint: Option<String>) -> Self {
        Self { hint: hint.map(c_string), ..self }
    }

    /// The message of entry `index`, and its number there.
    pub(crate) fn place(&self, index: usize) -> Option<(usize, usize)> {
        self.objects.get(index).map(|place| (place.message, place.object))
    }
}

impl From<Vec<(usize, usize)>> for ObjectList {
    fn from(found: Vec<(usize, usize)>) -> Self {
        let objects = found.into_iter().map(|(message, object)| ObjectRef { message, object }).collect();
        Self { objects, hint: None }
    }
}

pub(crate) fn parse(query: &str) -> Result<Query> {
    query.parse().map_err(|error| Report::new(METADATA, format!("query: {error}")).into())
}

/// Options of reading many messages of an archive on several threads.
pub(crate) fn with_threads(archive: &Archive<'_>, threads: u32) -> DecodeOptions {
    DecodeOptions { threads, ..archive.metadata_options() }
}

/// The number of objects in a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_list_count(list: *const ObjectList) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(list) }.map(ObjectList::len))
}

/// The objects of a list, in order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_list_data(list: *const ObjectList) -> *const ObjectRef {
    // SAFETY: the header's contract.
    get(ptr::null(), || unsafe { args::optional(list) }.map(|list| list.objects.as_ptr()))
}

/// Why a list is empty, if the keys of the query look like slips. NULL otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_list_hint(list: *const ObjectList) -> *const c_char {
    // SAFETY: the header's contract.
    get(ptr::null(), || unsafe { args::optional(list) }.and_then(|list| Some(list.hint.as_ref()?.as_ptr())))
}

/// Frees a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_list_free(list: *mut ObjectList) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(list) });
}
