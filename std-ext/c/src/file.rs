//! Files of messages.

use std::ffi::{CString, c_char};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::ptr;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use tgm_std::TensogramFile;
use tgm_std::file::SourceName;

use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::call::{call, get, run};
use crate::decode;
use crate::encode::Input;
use crate::error::{Code, IO, Report, Result, c_string, invalid, io};
use crate::locks;
use crate::message::Message;
use crate::options::{self, EncodeMaskOptions};

/// A `tgm_file_t` of C. Threads may share it: reading goes on at the same time, and appending waits.
pub struct File {
    file: RwLock<TensogramFile>,
    path: CString,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("path", &self.path.to_str().map(SourceName::of)).finish_non_exhaustive()
    }
}

impl File {
    fn new(path: &str, file: TensogramFile) -> Self {
        Self { file: RwLock::new(file), path: c_string(path) }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, TensogramFile> {
        locks::read(&self.file)
    }

    fn write(&self) -> RwLockWriteGuard<'_, TensogramFile> {
        locks::write(&self.file)
    }
}

/// Refuses a directory, whose bytes cannot be read.
pub(crate) fn refuse_directory(path: &str) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|about| about.is_dir()) {
        return Err(Report::new(IO, format!("io error: {}: is a directory", SourceName::of(path))).into());
    }
    Ok(())
}

/// Puts a handle of the file that `open` opens or makes.
///
/// # Safety
/// The header's contract.
unsafe fn put_file(
    path: *const c_char,
    out: *mut *mut File,
    open: impl FnOnce(&str) -> Result<TensogramFile>,
) -> Result<()> {
    // SAFETY: the caller makes the same promise.
    let (path, out) = unsafe { (args::text(path, "path")?, args::place(out)?) };
    out.put_handle(File::new(path, open(path)?));
    Ok(())
}

/// Opens a file for reading and appending.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_open(path: *const c_char, out: *mut *mut File) -> Code {
    let open = |path: &str| refuse_directory(path).and_then(|()| Ok(TensogramFile::open(path)?));
    // SAFETY: the header's contract.
    call(|| unsafe { put_file(path, out, open) })
}

/// Creates a file, or empties it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_create(path: *const c_char, out: *mut *mut File) -> Code {
    let create = |path: &str| Ok(TensogramFile::create(path)?);
    // SAFETY: the header's contract.
    call(|| unsafe { put_file(path, out, create) })
}

/// The number of messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_message_count(file: *mut File, out_count: *mut usize) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, out) = unsafe { (args::required(file)?, args::place(out_count)?) };
        out.put(file.read().message_count()?);
        Ok(())
    })
}

/// Decodes a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_decode_message(
    file: *mut File,
    index: usize,
    native_byte_order: i32,
    threads: u32,
    verify_hash: i32,
    out: *mut *mut Message,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, out) = unsafe { (args::required(file)?, args::place(out)?) };
        let options = options::decoding(native_byte_order, threads, verify_hash, None);
        let bytes = file.read().read_message(index)?;
        out.put_handle(decode::whole(&bytes, &options)?);
        Ok(())
    })
}

/// Reads the bytes of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_read_message(file: *mut File, index: usize, out: *mut TgmBytes) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, out) = unsafe { (args::required(file)?, args::place(out)?) };
        let bytes = file.read().read_message(index)?;
        out.put(give(bytes)?);
        Ok(())
    })
}

/// Encodes a message and appends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_append(
    file: *mut File,
    metadata_json: *const c_char,
    data_ptrs: *const *const u8,
    data_lens: *const usize,
    num_objects: usize,
    hash_algo: *const c_char,
    threads: u32,
) -> Code {
    // SAFETY: the header's contract. The function with options takes NULL as the defaults.
    unsafe {
        tgm_file_append_with_options(
            file,
            metadata_json,
            data_ptrs,
            data_lens,
            num_objects,
            hash_algo,
            threads,
            ptr::null(),
        )
    }
}

/// Encodes a message, with masks if the options say so, and appends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_append_with_options(
    file: *mut File,
    metadata_json: *const c_char,
    data_ptrs: *const *const u8,
    data_lens: *const usize,
    num_objects: usize,
    hash_algo: *const c_char,
    threads: u32,
    mask_options: *const EncodeMaskOptions,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, options, input) = unsafe {
            (
                args::required(file)?,
                options::encoding(hash_algo, threads, mask_options)?,
                Input::new(metadata_json, data_ptrs, data_lens, num_objects)?,
            )
        };
        input.refuse_masks()?;
        file.write().append(input.metadata(), &input.objects(), &options)?;
        Ok(())
    })
}

/// Appends bytes as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_append_raw(file: *mut File, buf: *const u8, buf_len: usize) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, bytes) = unsafe { (args::required(file)?, args::slice_or_empty(buf, buf_len)?) };
        let mut file = file.write();
        let Some(path) = file.path() else { return Err(invalid("the file has no path")) };
        let mut sink = OpenOptions::new().append(true).open(path).map_err(|error| io(&error))?;
        sink.write_all(bytes).map_err(|error| io(&error))?;
        file.invalidate_offsets();
        Ok(())
    })
}

/// The path of the file, as it was given. An address has its user, password and query; error texts leave them out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_path(file: *const File) -> *const c_char {
    // SAFETY: the header's contract.
    get(ptr::null(), || unsafe { args::optional(file) }.map(|file| file.path.as_ptr()))
}

/// Closes a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_close(file: *mut File) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(file) });
}
