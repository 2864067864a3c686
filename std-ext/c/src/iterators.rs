//! Messages and objects, one at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tgm_std::core::Message as MessageView;
use tgm_std::hash::checked_metadata;
use tgm_std::{
    DecodeOptions, FileMessageIter, GlobalMetadata, ObjectIter, data_object_inline_hashes, decode_descriptors, objects,
    scan,
};

use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::call::{call, get, run};
use crate::error::{Code, Failure, Result};
use crate::file::File;
use crate::locks::lock;
use crate::message::Message;
use crate::options;

/// A `tgm_buffer_iter_t` of C. It keeps the caller's buffer by its address.
#[derive(Debug)]
pub struct BufferIter {
    buffer: *const u8,
    extents: Vec<(usize, usize)>,
    next: AtomicUsize,
}

/// A `tgm_file_iter_t` of C.
#[derive(Debug)]
pub struct FileIter {
    messages: Mutex<FileMessageIter>,
}

/// A `tgm_object_iter_t` of C.
#[derive(Debug)]
pub struct ObjectsIter {
    metadata: Arc<GlobalMetadata>,
    /// The objects, and the digests that are written in their frames.
    objects: Mutex<(ObjectIter, std::vec::IntoIter<Option<u64>>)>,
    options: DecodeOptions,
}

impl ObjectsIter {
    fn new(bytes: &[u8], options: DecodeOptions) -> Result<Self> {
        if options.verify_hash {
            checked_metadata(&MessageView::parse(bytes)?)?;
        }
        let objects = objects(bytes, options.clone())?;
        let (metadata, _) = decode_descriptors(bytes)?;
        let objects = Mutex::new((objects, data_object_inline_hashes(bytes)?.into_iter()));
        Ok(Self { metadata: Arc::new(metadata), objects, options })
    }
}

/// Finds the messages of a buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_buffer_iter_create(buf: *const u8, buf_len: usize, out: *mut *mut BufferIter) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, out) = unsafe { (args::slice_or_empty(buf, buf_len)?, args::place(out)?) };
        out.put_handle(BufferIter { buffer: buf, extents: scan(bytes), next: AtomicUsize::new(0) });
        Ok(())
    })
}

/// The number of messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_buffer_iter_count(iter: *const BufferIter) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(iter) }.map(|iter| iter.extents.len()))
}

/// The bytes of the next message, where they lie.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_buffer_iter_next(
    iter: *mut BufferIter,
    out_buf: *mut *const u8,
    out_len: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (iter, out_buf, out_len) = unsafe { (args::required(iter)?, args::place(out_buf)?, args::place(out_len)?) };
        // At the end the count stays, however often a caller asks for more.
        let following = |next: usize| (next < iter.extents.len()).then_some(next + 1);
        let next = iter.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, following);
        let &(offset, length) = next.ok().and_then(|next| iter.extents.get(next)).ok_or(Failure::End)?;
        out_buf.put(iter.buffer.wrapping_add(offset));
        out_len.put(length);
        Ok(())
    })
}

/// Frees the iterator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_buffer_iter_free(iter: *mut BufferIter) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(iter) });
}

/// Lists the messages of a file as it is now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_iter_create(file: *mut File, out: *mut *mut FileIter) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (file, out) = unsafe { (args::required(file)?, args::place(out)?) };
        let messages = Mutex::new(file.read().iter()?);
        out.put_handle(FileIter { messages });
        Ok(())
    })
}

/// The bytes of the next message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_iter_next(iter: *mut FileIter, out: *mut TgmBytes) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (iter, out) = unsafe { (args::required(iter)?, args::place(out)?) };
        let message = lock(&iter.messages).next();
        out.put(give(message.ok_or(Failure::End)??)?);
        Ok(())
    })
}

/// Frees the iterator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_file_iter_free(iter: *mut FileIter) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(iter) });
}

/// Opens a message to decode its objects one at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_iter_create(
    buf: *const u8,
    buf_len: usize,
    native_byte_order: i32,
    verify_hash: i32,
    out: *mut *mut ObjectsIter,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, out) = unsafe { (args::slice(buf, buf_len)?, args::place(out)?) };
        out.put_handle(ObjectsIter::new(bytes, options::decoding(native_byte_order, 0, verify_hash, None))?);
        Ok(())
    })
}

/// The next object, as a message with one object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_iter_next(iter: *mut ObjectsIter, out: *mut *mut Message) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (iter, out) = unsafe { (args::required(iter)?, args::place(out)?) };
        let (object, digest) = {
            let (objects, digests) = &mut *lock(&iter.objects);
            (objects.next().ok_or(Failure::End)?, digests.next().flatten())
        };
        out.put_handle(Message::new(Arc::clone(&iter.metadata), vec![object?], &[digest], &iter.options)?);
        Ok(())
    })
}

/// Frees the iterator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_iter_free(iter: *mut ObjectsIter) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(iter) });
}
