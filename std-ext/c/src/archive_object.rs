//! Objects of archives: what they are, and their metadata.

use std::ffi::{CString, c_char};
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock};

use tgm_std::{Archive, ByteOrder, DataObjectDescriptor, Object, Scratch};

use crate::archive::ArchiveHandle;
use crate::args::{self, OutputMemory};
use crate::call::{call, get, run};
use crate::error::{Code, OBJECT, Report, Result, c_string, invalid, of_object};
use crate::json_out;
use crate::metadata::Metadata;
use crate::object::{dtype_code, dtype_name};
use crate::object_list::ObjectList;
use crate::options::put_sized;
use crate::value::{Node, TgmValue};

/// A `tgm_object_t` of C. Threads may share it.
pub struct ObjectHandle {
    /// Borrows from the archive below, and stands before it, so that it is dropped first.
    object: Object<'static>,
    descriptor: DataObjectDescriptor,
    /// The stages of the pipeline: encoding, filter, compression.
    stages: [CString; 3],
    /// The descriptor as JSON, once it was asked for.
    json: OnceLock<Option<CString>>,
    /// The bytes of the message, if they are in memory.
    message: &'static [u8],
    /// Memory that calls work in. A call that finds it taken works in memory of its own.
    scratch: Mutex<Scratch>,
    archive: Arc<Archive<'static>>,
}

impl fmt::Debug for ObjectHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}

impl ObjectHandle {
    fn open(archive: Arc<Archive<'static>>, message: usize, index: usize) -> Result<Self> {
        // SAFETY: the handle keeps the archive, which does not move, and drops the object before it.
        let lent: &'static Archive<'static> = unsafe { &*Arc::as_ptr(&archive) };
        let object = lent.object(message, index)?;
        let descriptor = object.descriptor()?;
        let stages = [&descriptor.encoding, &descriptor.filter, &descriptor.compression];
        let stages = stages.map(|name| c_string(name.as_str()));
        let message = lent.view(message)?.map_or(&[][..], |view| view.as_bytes());
        Ok(Self { object, descriptor, stages, json: OnceLock::new(), message, scratch: Mutex::default(), archive })
    }

    pub(crate) const fn object(&self) -> &Object<'static> {
        &self.object
    }

    /// The archive for something that outlives this handle.
    pub(crate) fn archive(&self) -> Arc<Archive<'static>> {
        Arc::clone(&self.archive)
    }

    /// Memory of the caller as a slice, which lies apart from the message.
    ///
    /// # Errors
    /// `INVALID_ARG` if it lies on the message.
    pub(crate) fn apart<'a, T>(&self, out: OutputMemory<'a, T>) -> Result<&'a mut [T]> {
        out.apart_from(self.message)
    }

    /// Calls `read` with memory to work in. Errors of digests name the object.
    ///
    /// # Errors
    /// The errors of `read`.
    pub(crate) fn read_with(&self, read: impl FnOnce(&mut Scratch) -> tgm_std::Result<()>) -> Result<()> {
        let (mut shared, mut own) = (self.scratch.try_lock().ok(), Scratch::default());
        self.named(read(shared.as_deref_mut().unwrap_or(&mut own)))
    }

    /// Errors of digests name the object.
    pub(crate) fn named<T>(&self, result: tgm_std::Result<T>) -> Result<T> {
        result.map_err(|error| of_object(error, self.object.place().1))
    }
}

/// A `tgm_object_facts_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    struct_size: usize,
    message: usize,
    object: usize,
    shape: *const u64,
    ndim: usize,
    num_elements: u64,
    size: u64,
    payload_size: u64,
    grain: u64,
    dtype: i32,
    byte_order: i32,
    dtype_name: *const c_char,
    encoding: *const c_char,
    filter: *const c_char,
    compression: *const c_char,
}

/// Opens an object of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_object(
    archive: *const ArchiveHandle,
    message: usize,
    object: usize,
    out: *mut *mut ObjectHandle,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, out) = unsafe { (args::required(archive)?, args::place(out)?) };
        out.put_handle(ObjectHandle::open(handle.share(), message, object)?);
        Ok(())
    })
}

/// Opens an object that a query found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_list_open(
    list: *const ObjectList,
    archive: *const ArchiveHandle,
    index: usize,
    out: *mut *mut ObjectHandle,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (list, handle, out) = unsafe { (args::required(list)?, args::required(archive)?, args::place(out)?) };
        let (message, object) = list.place(index).ok_or_else(|| {
            Report::new(OBJECT, format!("object error: entry {index} of a list of {} objects", list.len()))
        })?;
        out.put_handle(ObjectHandle::open(handle.share(), message, object)?);
        Ok(())
    })
}

/// What an object is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_facts(object: *const ObjectHandle, out: *mut Facts) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let handle = unsafe { args::required(object)? };
        let (object, [encoding, filter, compression]) = (&handle.object, &handle.stages);
        let (message, index) = object.place();
        let facts = |struct_size| Facts {
            struct_size,
            message,
            object: index,
            shape: object.shape().as_ptr(),
            ndim: object.shape().len(),
            num_elements: object.element_count(),
            size: object.byte_len(),
            payload_size: object.payload_len(),
            grain: object.grain().unwrap_or(0),
            dtype: dtype_code(object.dtype()),
            byte_order: i32::from(handle.descriptor.byte_order == ByteOrder::Big),
            dtype_name: dtype_name(object.dtype()).as_ptr(),
            encoding: encoding.as_ptr(),
            filter: filter.as_ptr(),
            compression: compression.as_ptr(),
        };
        // SAFETY: the header's contract.
        unsafe { put_sized(out, facts) }
    })
}

/// A parameter of the object's stages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_parameter(object: *const ObjectHandle, name: *const c_char) -> *const TgmValue {
    get(ptr::null(), || {
        // SAFETY: the header's contract.
        let (handle, name) = unsafe { (args::optional(object)?, args::text(name, "name").ok()?) };
        handle.descriptor.params.get(name).map(|value| Node::Value(value).as_ptr())
    })
}

/// The descriptor as JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_descriptor_json(object: *const ObjectHandle) -> *const c_char {
    get(ptr::null(), || {
        // SAFETY: the header's contract.
        let handle = unsafe { args::optional(object)? };
        let json = handle.json.get_or_init(|| json_out::descriptor(&handle.descriptor));
        json.as_ref().map(|json| json.as_ptr())
    })
}

/// The metadata of the message as the object sees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_metadata(object: *const ObjectHandle, out: *mut *mut Metadata) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, out) = unsafe { (args::required(object)?, args::place(out)?) };
        out.put_handle(Metadata::new(Arc::new(handle.object.metadata()?)));
        Ok(())
    })
}

/// The payload where it lies, as it is stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_payload(
    object: *const ObjectHandle,
    out: *mut *const u8,
    out_len: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, out, out_len) = unsafe { (args::required(object)?, args::place(out)?, args::place(out_len)?) };
        let payload = handle.object.view().ok_or_else(|| invalid("the object is not in memory"))?.payload();
        out.put(payload.as_ptr());
        out_len.put(payload.len());
        Ok(())
    })
}

/// Frees an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_free(object: *mut ObjectHandle) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(object) });
}
