//! Functions of C that tell about the objects of a decoded message.

use std::ffi::c_char;
use std::ptr;

use crate::args;
use crate::call::get;
use crate::message::Message;
use crate::object::{Object, dtype_name, order_name};

/// What `ask` says of an object; `absent` if there is no such object.
///
/// # Safety
/// The header's contract.
unsafe fn of_object<T>(msg: *const Message, index: usize, absent: T, ask: impl FnOnce(&Object) -> T) -> T {
    // SAFETY: the caller makes the same promise.
    get(absent, || unsafe { args::optional(msg) }?.object(index).map(ask))
}

/// The number of dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_ndim(msg: *const Message, index: usize) -> u64 {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, 0, |object| object.descriptor.ndim) }
}

/// The dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_shape(msg: *const Message, index: usize) -> *const u64 {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| object.descriptor.shape.as_ptr()) }
}

/// The strides, as they are stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_strides(msg: *const Message, index: usize) -> *const u64 {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| object.descriptor.strides.as_ptr()) }
}

/// The kind of the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_type(msg: *const Message, index: usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| object.texts().obj_type.as_ptr()) }
}

/// The name of the type of the elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_dtype(msg: *const Message, index: usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| dtype_name(object.descriptor.dtype).as_ptr()) }
}

/// The byte order that the descriptor declares.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_byte_order(msg: *const Message, index: usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| order_name(object.descriptor.byte_order).as_ptr()) }
}

/// The byte order that the values of `tgm_object_data` have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_data_byte_order(msg: *const Message, index: usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| order_name(object.order).as_ptr()) }
}

/// The first stage of the pipeline.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_payload_encoding(msg: *const Message, index: usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| object.texts().encoding.as_ptr()) }
}

/// The second stage of the pipeline.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_filter(msg: *const Message, index: usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| object.texts().filter.as_ptr()) }
}

/// The third stage of the pipeline.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_compression(msg: *const Message, index: usize) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), |object| object.texts().compression.as_ptr()) }
}

/// The decoded values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_data(msg: *const Message, decoded_index: usize, out_len: *mut usize) -> *const u8 {
    let data = |object: &Object| (object.data.as_bytes().as_ptr(), object.data.as_bytes().len());
    // SAFETY: the header's contract.
    let (data, len) = unsafe { of_object(msg, decoded_index, (ptr::null(), 0), data) };
    // SAFETY: the header's contract.
    if let Ok(out_len) = unsafe { args::place(out_len) } {
        out_len.put(len);
    }
    data
}

/// Whether the object has a digest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_payload_has_hash(msg: *const Message, index: usize) -> i32 {
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, 0, |object| i32::from(object.digest.is_some())) }
}

/// The algorithm of the digest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_hash_type(msg: *const Message, index: usize) -> *const c_char {
    let name = |object: &Object| object.digest.map_or(ptr::null(), |_| c"xxh3".as_ptr());
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), name) }
}

/// The digest: 16 hexadecimal digits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_object_hash_value(msg: *const Message, index: usize) -> *const c_char {
    let digest = |object: &Object| object.texts().digest.as_ref().map_or(ptr::null(), |digest| digest.as_ptr());
    // SAFETY: the header's contract.
    unsafe { of_object(msg, index, ptr::null(), digest) }
}
