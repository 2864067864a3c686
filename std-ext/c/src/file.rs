//! Files of messages.

use std::ffi::{CString, c_char};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::ptr;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tgm_std::file::SourceName;
use tgm_std::{DecodeOptions, MappedFile, TensogramFile};

use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::call::{call, get, run};
use crate::decode;
use crate::encode::Input;
use crate::error::{Code, IO, Report, Result, c_string, invalid, io};
use crate::locks;
use crate::message::Message;
use crate::metadata::Metadata;
use crate::options::{self, DecodeOptionsStruct, EncodeMaskOptions, EncodeOptionsStruct};
use crate::ranges::{self, Places};

/// A `tgm_file_t` of C. Threads may share it: reading goes on at the same time, and appending waits.
pub struct File {
    shared: Arc<RwLock<TensogramFile>>,
    path: CString,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("path", &self.path.to_str().map(SourceName::of)).finish_non_exhaustive()
    }
}

impl File {
    fn new(path: &str, file: TensogramFile) -> Self {
        Self { shared: Arc::new(RwLock::new(file)), path: c_string(path) }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, TensogramFile> {
        locks::read(&self.shared)
    }

    fn write(&self) -> RwLockWriteGuard<'_, TensogramFile> {
        locks::write(&self.shared)
    }

    /// The file for something that outlives this handle.
    pub(crate) fn share(&self) -> Arc<RwLock<TensogramFile>> {
        Arc::clone(&self.shared)
    }

    /// Calls `with` with the bytes of a message, which are copied only if the file is not mapped.
    fn with_message<T>(&self, index: usize, with: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let file = self.read();
        match file.mapped() {
            Some(mapped) => with(mapped.message_bytes(index)?),
            None => with(&file.read_message(index)?),
        }
    }
}

/// The map of a file that is mapped.
pub(crate) fn mapped(file: &TensogramFile) -> Result<&MappedFile> {
    file.mapped().ok_or_else(|| invalid("the file is not mapped: open it with tgm_file_open_mmap"))
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

/// Maps a file into memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_open_mmap(path: *const c_char, out: *mut *mut File) -> Code {
    let open = |path: &str| refuse_directory(path).and_then(|()| Ok(TensogramFile::open_mmap(path)?));
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
        out.put_handle(file.with_message(index, |bytes| decode::whole(bytes, &options))?);
        Ok(())
    })
}

/// Decodes a message with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_decode_message_opts(
    file: *mut File,
    index: usize,
    options: *const DecodeOptionsStruct,
    out: *mut *mut Message,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, options, out) =
            unsafe { (args::required(file)?, options::decoding_struct(options)?, args::place(out)?) };
        out.put_handle(file.with_message(index, |bytes| decode::whole(bytes, &options))?);
        Ok(())
    })
}

/// Decodes one object of a message. Of a long message, only what belongs to the object is read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_decode_object(
    file: *mut File,
    index: usize,
    object_index: usize,
    options: *const DecodeOptionsStruct,
    out: *mut *mut Message,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, options, out) =
            unsafe { (args::required(file)?, options::decoding_struct(options)?, args::place(out)?) };
        out.put_handle(decode_object(&file.read(), index, object_index, &options)?);
        Ok(())
    })
}

fn decode_object(file: &TensogramFile, index: usize, object: usize, options: &DecodeOptions) -> Result<Message> {
    match file.mapped() {
        Some(mapped) => decode::object(mapped.message_bytes(index)?, object, options),
        None => decode::object(&file.read_message_object(index, object)?, object, options),
    }
}

/// Decodes ranges of an object's elements. If the object is long, only the parts that hold them are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_decode_range(
    file: *mut File,
    index: usize,
    object_index: usize,
    ranges_offsets: *const u64,
    ranges_counts: *const u64,
    num_ranges: usize,
    options: *const DecodeOptionsStruct,
    join: i32,
    out: *mut TgmBytes,
    out_count: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, ranges, options, places) = unsafe {
            (
                args::required(file)?,
                ranges::read(ranges_offsets, ranges_counts, num_ranges)?,
                options::decoding_struct(options)?,
                Places::new(out, out_count, join)?,
            )
        };
        let parts = file.read().decode_range(index, object_index, &ranges, &options)?.1;
        places.put(parts)
    })
}

/// Reads the metadata of a message. No payload is read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_decode_metadata(file: *mut File, index: usize, out: *mut *mut Metadata) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, out) = unsafe { (args::required(file)?, args::place(out)?) };
        let (metadata, _) = file.read().decode_descriptors(index)?;
        out.put_handle(Metadata::new(Arc::new(metadata)));
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

/// The bytes of a message of a mapped file, where they lie.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_message_view(
    file: *const File,
    index: usize,
    out: *mut *const u8,
    out_len: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, out, out_len) = unsafe { (args::required(file)?, args::place(out)?, args::place(out_len)?) };
        let file = file.read();
        let bytes = mapped(&file)?.message_bytes(index)?;
        out.put(bytes.as_ptr());
        out_len.put(bytes.len());
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

/// Encodes a message with a struct of options, and appends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_append_opts(
    file: *mut File,
    metadata_json: *const c_char,
    data_ptrs: *const *const u8,
    data_lens: *const usize,
    num_objects: usize,
    options: *const EncodeOptionsStruct,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, (options, added), mut input) = unsafe {
            (
                args::required(file)?,
                options::encoding_struct(options)?,
                Input::new(metadata_json, data_ptrs, data_lens, num_objects)?,
            )
        };
        input.add(&added)?;
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
        if file.mapped().is_some() {
            return Err(Report::new(IO, "a mapped file cannot be appended to").into());
        }
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
