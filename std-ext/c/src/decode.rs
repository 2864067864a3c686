//! Decoding of a message in memory.

use std::ptr;
use std::sync::Arc;

use tgm_std::core::Message as View;
use tgm_std::core::object::DataObject;
use tgm_std::{
    DecodeOptions, Scratch, data_object_inline_hashes, decode, decode_metadata, decode_object, decode_range, read,
};

use crate::args::{self, OutputMemory};
use crate::buffers::TgmBytes;
use crate::call::call;
use crate::error::{Code, ENCODING, OBJECT, Report, Result, of_object};
use crate::message::Message;
use crate::metadata::Metadata;
use crate::options::{self, DecodeMaskOptions, DecodeOptionsStruct};
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

/// Opens an object where it lies. Functions that read its values check its digest, if the options say so.
fn open(bytes: &[u8], index: usize) -> Result<DataObject<'_>> {
    let message = View::parse(bytes)?;
    match message.objects().nth(index) {
        Some(object) => Ok(object?),
        None => Err(Report::new(OBJECT, format!("object error: object index {index} out of range")).into()),
    }
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

/// Decodes a message with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_opts(
    buf: *const u8,
    buf_len: usize,
    options: *const DecodeOptionsStruct,
    out: *mut *mut Message,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, options, out) =
            unsafe { (args::slice(buf, buf_len)?, options::decoding_struct(options)?, args::place(out)?) };
        out.put_handle(whole(bytes, &options)?);
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

/// Decodes one object of a message with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_object_opts(
    buf: *const u8,
    buf_len: usize,
    index: usize,
    options: *const DecodeOptionsStruct,
    out: *mut *mut Message,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, options, out) =
            unsafe { (args::slice(buf, buf_len)?, options::decoding_struct(options)?, args::place(out)?) };
        out.put_handle(object(bytes, index, &options)?);
        Ok(())
    })
}

/// Decodes ranges of an object's elements with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_range_opts(
    buf: *const u8,
    buf_len: usize,
    index: usize,
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
        let (bytes, ranges, options, places) = unsafe {
            (
                args::slice(buf, buf_len)?,
                ranges::read(ranges_offsets, ranges_counts, num_ranges)?,
                options::decoding_struct(options)?,
                Places::new(out, out_count, join)?,
            )
        };
        places.put(decode_range(bytes, index, &ranges, &options)?.1)
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

/// The number of bytes that an object's values take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decoded_size(buf: *const u8, buf_len: usize, index: usize, out: *mut usize) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, out) = unsafe { (args::slice(buf, buf_len)?, args::place(out)?) };
        out.put(decoded_size(&open(bytes, index)?)?);
        Ok(())
    })
}

/// The number of bytes of an object's values, which a machine with addresses of 32 bits may not have.
pub(crate) fn decoded_size(object: &DataObject<'_>) -> Result<usize> {
    let len = object.descriptor().decoded_len()?;
    usize::try_from(len).map_err(|_| Report::new(ENCODING, format!("{len} bytes exceed the address space")).into())
}

/// Opens object `index` of the message that `bytes` begin with, and calls `decode` with it and with memory to work in.
fn decode_into(
    bytes: &[u8],
    index: usize,
    out: OutputMemory<'_, u8>,
    decode: impl FnOnce(&DataObject<'_>, &mut Scratch, &mut [u8]) -> tgm_std::Result<()>,
) -> Result<()> {
    let out = out.apart_from(bytes)?;
    decode(&open(bytes, index)?, &mut Scratch::default(), out).map_err(|error| of_object(error, index))
}

/// Decodes one object into memory of the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_object_into(
    buf: *const u8,
    buf_len: usize,
    index: usize,
    options: *const DecodeOptionsStruct,
    out: *mut u8,
    out_len: usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, options, out) = unsafe {
            (args::slice(buf, buf_len)?, options::decoding_struct(options)?, args::output_memory(out, out_len)?)
        };
        decode_into(bytes, index, out, |object, scratch, out| {
            read(object).options(&options).scratch(scratch).bytes_into(out)
        })
    })
}

/// Decodes ranges of an object's elements into memory of the caller, one range behind the other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_decode_range_into(
    buf: *const u8,
    buf_len: usize,
    index: usize,
    ranges_offsets: *const u64,
    ranges_counts: *const u64,
    num_ranges: usize,
    options: *const DecodeOptionsStruct,
    out: *mut u8,
    out_len: usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, ranges, options, out) = unsafe {
            (
                args::slice(buf, buf_len)?,
                ranges::read(ranges_offsets, ranges_counts, num_ranges)?,
                options::decoding_struct(options)?,
                args::output_memory(out, out_len)?,
            )
        };
        decode_into(bytes, index, out, |object, scratch, out| {
            read(object).ranges(&ranges).options(&options).scratch(scratch).bytes_into(out)
        })
    })
}
