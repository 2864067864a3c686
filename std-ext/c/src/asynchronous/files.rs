//! Files that are read without blocking.

use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::Arc;

use tgm_std::TensogramFile;
use tgm_std::file::SourceName;

use super::launch::{AsyncTask, Launch, blocking};
use super::token::Token;
use crate::args::{self, Flag};
use crate::call::{call, get, run};
use crate::decode;
use crate::error::{Code, Failure, Result, c_string};
use crate::file::refuse_directory;
use crate::metadata::Metadata;
use crate::options::{self, DecodeOptionsStruct};

/// A `tgm_async_file_t` of C. Tasks share what it reads from, so they do not need the handle.
pub struct AsyncFile {
    file: Arc<TensogramFile>,
    path: CString,
}

impl std::fmt::Debug for AsyncFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncFile").field("path", &self.path.to_str().map(SourceName::of)).finish_non_exhaustive()
    }
}

impl AsyncFile {
    pub(super) fn new(path: String, file: TensogramFile) -> Self {
        Self { file: Arc::new(file), path: c_string(path) }
    }
}

/// What a call about a file begins with: what it reads from, and its launch.
///
/// # Safety
/// The header's contract.
unsafe fn begin<'a>(
    file: *mut AsyncFile,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Result<(Arc<TensogramFile>, Launch<'a>)> {
    // SAFETY: the caller makes the same promise.
    let (file, launch) = unsafe { (args::required(file)?, Launch::new(cancel, timeout_ms, out_task)?) };
    Ok((Arc::clone(&file.file), launch))
}

/// Opens a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_open(
    path: *const c_char,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (launch, path) = unsafe { (Launch::new(cancel, timeout_ms, out_task)?, args::text(path, "path")?) };
        let path = path.to_string();
        launch.start(blocking(move || {
            refuse_directory(&path)?;
            let file = TensogramFile::open(&path)?;
            Ok(AsyncFile::new(path, file))
        }))
    })
}

/// The path or address of the file, as it was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_path(file: *const AsyncFile) -> *const c_char {
    // SAFETY: the header's contract.
    get(ptr::null(), || unsafe { args::optional(file) }.map(|file| file.path.as_ptr()))
}

/// Closes a file. Tasks that read from it go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_close(file: *mut AsyncFile) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(file) });
}

/// The number of messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_message_count(
    file: *mut AsyncFile,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, launch) = unsafe { begin(file, cancel, timeout_ms, out_task)? };
        launch.start(async move { Ok(file.message_count_async().await? as u64) })
    })
}

/// Reads the bytes of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_read_message(
    file: *mut AsyncFile,
    index: usize,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, launch) = unsafe { begin(file, cancel, timeout_ms, out_task)? };
        launch.start(async move { file.read_message_async(index).await.map_err(Failure::from) })
    })
}

/// Reads the metadata of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_decode_metadata(
    file: *mut AsyncFile,
    index: usize,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, launch) = unsafe { begin(file, cancel, timeout_ms, out_task)? };
        launch.start(async move { Ok(Metadata::new(Arc::new(file.decode_metadata_async(index).await?))) })
    })
}

/// Decodes a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_decode_message(
    file: *mut AsyncFile,
    index: usize,
    native_byte_order: Flag,
    threads: u32,
    restore_non_finite: Flag,
    verify_hash: Flag,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    let options = DecodeOptionsStruct::new(
        native_byte_order.is_set(),
        threads,
        restore_non_finite.is_set(),
        verify_hash.is_set(),
    );
    // SAFETY: the header's contract.
    unsafe { tgm_async_file_decode_message_opts(file, index, &raw const options, cancel, timeout_ms, out_task) }
}

/// Decodes a message with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_decode_message_opts(
    file: *mut AsyncFile,
    index: usize,
    options: *const DecodeOptionsStruct,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let ((file, launch), options) =
            unsafe { (begin(file, cancel, timeout_ms, out_task)?, options::decoding_struct(options)?) };
        launch.start(async move {
            let bytes = file.read_message_async(index).await?;
            blocking(move || decode::whole(&bytes, &options)).await
        })
    })
}

/// Decodes one object of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_decode_object(
    file: *mut AsyncFile,
    msg_index: usize,
    obj_index: usize,
    native_byte_order: Flag,
    threads: u32,
    restore_non_finite: Flag,
    verify_hash: Flag,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    let options = DecodeOptionsStruct::new(
        native_byte_order.is_set(),
        threads,
        restore_non_finite.is_set(),
        verify_hash.is_set(),
    );
    let options = &raw const options;
    // SAFETY: the header's contract.
    unsafe { tgm_async_file_decode_object_opts(file, msg_index, obj_index, options, cancel, timeout_ms, out_task) }
}

/// Decodes one object of a message with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_decode_object_opts(
    file: *mut AsyncFile,
    msg_index: usize,
    obj_index: usize,
    options: *const DecodeOptionsStruct,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let ((file, launch), options) =
            unsafe { (begin(file, cancel, timeout_ms, out_task)?, options::decoding_struct(options)?) };
        launch.start(async move {
            let bytes = file.read_message_object_async(msg_index, obj_index).await?;
            blocking(move || decode::object(&bytes, obj_index, &options)).await
        })
    })
}

/// Decodes ranges of an object's elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_decode_range(
    file: *mut AsyncFile,
    msg_index: usize,
    obj_index: usize,
    offsets: *const u64,
    counts: *const u64,
    n_ranges: usize,
    native_byte_order: Flag,
    threads: u32,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    let options = DecodeOptionsStruct::new(native_byte_order.is_set(), threads, true, false);
    // SAFETY: the header's contract.
    unsafe {
        tgm_async_file_decode_range_opts(
            file,
            msg_index,
            obj_index,
            offsets,
            counts,
            n_ranges,
            &raw const options,
            cancel,
            timeout_ms,
            out_task,
        )
    }
}

/// Decodes ranges of an object's elements with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_decode_range_opts(
    file: *mut AsyncFile,
    msg_index: usize,
    obj_index: usize,
    offsets: *const u64,
    counts: *const u64,
    n_ranges: usize,
    options: *const DecodeOptionsStruct,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let ((file, launch), options, offsets, counts) = unsafe {
            (
                begin(file, cancel, timeout_ms, out_task)?,
                options::decoding_struct(options)?,
                args::slice(offsets, n_ranges)?,
                args::slice(counts, n_ranges)?,
            )
        };
        let ranges: Vec<(u64, u64)> = offsets.iter().copied().zip(counts.iter().copied()).collect();
        launch.start(async move { Ok(file.decode_range_async(msg_index, obj_index, &ranges, &options).await?.1) })
    })
}
