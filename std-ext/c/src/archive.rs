//! Archives: messages of any source.

use std::ffi::{c_char, c_void};
use std::fmt;
use std::sync::Arc;

use tgm_std::file::query;
use tgm_std::{Archive, TensogramFile, check_message};

use crate::archive_source::{ReadFn, Source};
use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::call::{call, run};
use crate::error::{Code, Result, invalid};
use crate::file::refuse_directory;
use crate::metadata::Metadata;
use crate::object_list::{self, ObjectList};
use crate::validate::failure;

/// A `tgm_archive_t` of C. Its objects share it, so it may be closed before them.
pub struct ArchiveHandle {
    archive: Arc<Archive<'static>>,
}

impl fmt::Debug for ArchiveHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.archive.fmt(f)
    }
}

impl ArchiveHandle {
    pub(crate) fn archive(&self) -> &Archive<'static> {
        &self.archive
    }

    /// The archive for something that outlives this handle.
    pub(crate) fn share(&self) -> Arc<Archive<'static>> {
        Arc::clone(&self.archive)
    }
}

/// Puts a handle of the archive that `open` opens.
///
/// # Safety
/// The header's contract.
unsafe fn put(out: *mut *mut ArchiveHandle, open: impl FnOnce() -> Result<Archive<'static>>) -> Code {
    call(|| {
        // SAFETY: the caller makes the same promise.
        let out = unsafe { args::place(out)? };
        out.put_handle(ArchiveHandle { archive: Arc::new(open()?) });
        Ok(())
    })
}

/// Opens a path or an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_open(source: *const c_char, out: *mut *mut ArchiveHandle) -> Code {
    // SAFETY: the header's contract.
    unsafe { put(out, || Ok(Archive::open(args::text(source, "source")?)?)) }
}

/// Maps a file into memory. A file in which no message is found is refused, as `tgm_archive_open` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_open_map(path: *const c_char, out: *mut *mut ArchiveHandle) -> Code {
    let open = |path: &str| {
        refuse_directory(path)?;
        let archive = Archive::from(TensogramFile::open_mmap(path)?);
        archive.check_format()?;
        Ok(archive)
    };
    // SAFETY: the header's contract.
    unsafe { put(out, || open(args::text(path, "path")?)) }
}

/// Opens messages in memory, where they lie.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_open_bytes(buf: *const u8, buf_len: usize, out: *mut *mut ArchiveHandle) -> Code {
    // SAFETY: the header's contract: the buffer lives and does not change until the archive and its objects are freed.
    unsafe { put(out, || Ok(Archive::from_bytes(args::slice_or_empty(buf, buf_len)?))) }
}

/// Opens a source that a function of the caller reads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_open_source(
    read: ReadFn,
    user: *mut c_void,
    size: u64,
    out: *mut *mut ArchiveHandle,
) -> Code {
    // SAFETY: the header's contract: the function may be called until the archive and its objects are freed.
    unsafe { put(out, || Ok(Source::new(read, user, size).ok_or_else(|| invalid("null argument"))?.into_archive())) }
}

/// Answers a question about an archive, and puts the answer.
///
/// # Safety
/// The header's contract.
unsafe fn put_answer<T>(
    archive: *const ArchiveHandle,
    out: *mut T,
    ask: impl FnOnce(&Archive<'static>) -> Result<T>,
) -> Code {
    call(|| {
        // SAFETY: the caller makes the same promise.
        let (handle, out) = unsafe { (args::required(archive)?, args::place(out)?) };
        out.put(ask(&handle.archive)?);
        Ok(())
    })
}

/// The number of messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_len(archive: *const ArchiveHandle, out: *mut usize) -> Code {
    // SAFETY: the header's contract.
    unsafe { put_answer(archive, out, |archive| Ok(archive.len()?)) }
}

/// The number of objects of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_num_objects(
    archive: *const ArchiveHandle,
    message: usize,
    out: *mut usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { put_answer(archive, out, |archive| Ok(archive.message(message)?.len()?)) }
}

/// The metadata of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_metadata(
    archive: *const ArchiveHandle,
    message: usize,
    out: *mut *mut Metadata,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, out) = unsafe { (args::required(archive)?, args::place(out)?) };
        let metadata = handle.archive.message(message)?.metadata()?.clone();
        out.put_handle(Metadata::new(Arc::new(metadata)));
        Ok(())
    })
}

/// Says whether the digests of metadata frames are checked where this archive's metadata is handed out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_verify_metadata(archive: *const ArchiveHandle, on: i32) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        unsafe { args::required(archive)? }.archive.verify_metadata(on != 0);
        Ok(())
    })
}

/// All bytes of a message, in memory of their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_message(
    archive: *const ArchiveHandle,
    message: usize,
    out: *mut TgmBytes,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { put_answer(archive, out, |archive| give(archive.message(message)?.bytes()?.into_owned())) }
}

/// The bytes of a message where they lie.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_view(
    archive: *const ArchiveHandle,
    message: usize,
    out: *mut *const u8,
    out_len: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, out, out_len) = unsafe { (args::required(archive)?, args::place(out)?, args::place(out_len)?) };
        let view = handle.archive.view(message)?;
        let bytes = view.ok_or_else(|| invalid("the messages are not in memory: open bytes, or a map"))?.as_bytes();
        out.put(bytes.as_ptr());
        out_len.put(bytes.len());
        Ok(())
    })
}

/// Checks that a message is intact. The error is the first damage.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_verify(archive: *const ArchiveHandle, message: usize) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let handle = unsafe { args::required(archive)? };
        check_message(&handle.archive.message(message)?.bytes()?).map_err(|damage| failure(&damage))
    })
}

/// Finds the objects for which a query holds. Reads the metadata of all messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_query(
    archive: *const ArchiveHandle,
    query_text: *const c_char,
    threads: u32,
    out: *mut *mut ObjectList,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, text, out) =
            unsafe { (args::required(archive)?, args::text(query_text, "query")?, args::place(out)?) };
        let (archive, asked) = (handle.archive(), object_list::parse(text)?);
        let found = query(archive, &asked, &object_list::with_threads(archive, threads))?;
        let hint =
            if found.is_empty() && archive.len()? > 0 { asked.hint(archive.message(0)?.metadata()?) } else { None };
        out.put_handle(ObjectList::from(found).with_hint(hint));
        Ok(())
    })
}

/// Closes an archive. Its objects stay open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_archive_close(archive: *mut ArchiveHandle) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(archive) });
}
