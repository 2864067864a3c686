//! Decoding of a message in memory.

use std::ptr;
use std::sync::Arc;

use tgm_std::{DecodeOptions, data_object_inline_hashes, decode, decode_metadata, decode_object, decode_range};

use crate::args;
use crate::buffers::TgmBytes;
use crate::call::call;
use crate::error::{Code, Result};
use crate::message::Message;
use crate::metadata::Metadata;
use crate::options::{self, DecodeMaskOptions};
use crate::ranges::{self, Places};

/// The message that `bytes` begin with, decoded.
pub(crate) fn whole(bytes: &[u8], options: &DecodeOptions) -> Result<Message> {
    let (metadata, objects) = decode(bytes, options)?;
    Message::new(Arc::new(metadata), objects, &data_object_inline_hashes(bytes)?, options)
}

/// One object of the message that `bytes` begin with.
pub(crate) fn object(bytes: &[u8], index: usize, options: &DecodeOptions) -> Result<Message> {
    let (metadata, descriptor, values) = decode_object(bytes, index, options)?;
    let digest = data_object_inline_hashes(bytes)?.get(index).copied().flatten();
    Message::new(Arc::new(metadata), vec![(descriptor, values)], &[digest], options)
}

/// Decodes a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode(
    buf: *const u8,
    buf_len: usize,
    native_byte_order: i32,
    threads: u32,
    verify_hash: i32,
    out: *mut *mut Message,
) -> Code {
    // SAFETY: the header's contract. The function with options takes NULL as the defaults.
    unsafe { tgm_decode_with_options(buf, buf_len, native_byte_order, threads, verify_hash, ptr::null(), out) }
}

/// Decodes a message. The options say whether NaN and infinities are put back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_with_options(
    buf: *const u8,
    buf_len: usize,
    native_byte_order: i32,
    threads: u32,
    verify_hash: i32,
    mask_options: *const DecodeMaskOptions,
    out: *mut *mut Message,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, masks, out) =
            unsafe { (args::slice(buf, buf_len)?, args::given(mask_options)?, args::place(out)?) };
        out.put_handle(whole(bytes, &options::decoding(native_byte_order, threads, verify_hash, masks))?);
        Ok(())
    })
}

/// Reads the metadata of a message. No object is decoded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_metadata(buf: *const u8, buf_len: usize, out: *mut *mut Metadata) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, out) = unsafe { (args::slice(buf, buf_len)?, args::place(out)?) };
        out.put_handle(Metadata::new(Arc::new(decode_metadata(bytes)?)));
        Ok(())
    })
}

/// Decodes one object of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_object(
    buf: *const u8,
    buf_len: usize,
    index: usize,
    native_byte_order: i32,
    threads: u32,
    verify_hash: i32,
    out: *mut *mut Message,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, out) = unsafe { (args::slice(buf, buf_len)?, args::place(out)?) };
        out.put_handle(object(bytes, index, &options::decoding(native_byte_order, threads, verify_hash, None))?);
        Ok(())
    })
}

/// Decodes ranges of an object's elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_range(
    buf: *const u8,
    buf_len: usize,
    object_index: usize,
    ranges_offsets: *const u64,
    ranges_counts: *const u64,
    num_ranges: usize,
    native_byte_order: i32,
    threads: u32,
    join: i32,
    out: *mut TgmBytes,
    out_count: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, ranges, places) = unsafe {
            (
                args::slice(buf, buf_len)?,
                ranges::read(ranges_offsets, ranges_counts, num_ranges)?,
                Places::new(out, out_count, join)?,
            )
        };
        let options = options::decoding(native_byte_order, threads, 0, None);
        places.put(decode_range(bytes, object_index, &ranges, &options)?.1)
    })
}
