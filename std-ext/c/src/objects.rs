//! Messages from structs, with JSON only where the caller has any.

use std::collections::BTreeMap;
use std::ffi::c_char;

use tgm_std::deps::ciborium::Value;
use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, GlobalMetadata, encode};

use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::call::call;
use crate::error::{Code, Result, invalid};
use crate::json_in;
use crate::options::{self, EncodeOptionsStruct};

/// A `tgm_object_input_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObjectInput {
    struct_size: usize,
    dtype: i32,
    byte_order: i32,
    ndim: usize,
    shape: *const u64,
    data: *const u8,
    size: usize,
    encoding: *const c_char,
    filter: *const c_char,
    compression: *const c_char,
    params_json: *const c_char,
    metadata_json: *const c_char,
}

/// An object as the library takes it.
struct Object<'a> {
    descriptor: DataObjectDescriptor,
    data: &'a [u8],
    metadata: BTreeMap<String, Value>,
}

impl Object<'_> {
    /// # Safety
    /// The header's contract.
    unsafe fn read(input: &ObjectInput) -> Result<Self> {
        let dtype = usize::try_from(input.dtype).ok().and_then(|code| Dtype::ALL.get(code)).copied();
        let dtype = dtype.ok_or_else(|| invalid(format!("unknown dtype: {}", input.dtype)))?;
        let order = match input.byte_order {
            0 => ByteOrder::NATIVE,
            1 => ByteOrder::Little,
            2 => ByteOrder::Big,
            other => return Err(invalid(format!("unknown byte order: {other}"))),
        };
        // SAFETY: the header's contract.
        let (shape, data, params, metadata) = unsafe {
            (
                args::slice_or_empty(input.shape, input.ndim)?,
                args::slice_or_empty(input.data, input.size)?,
                args::optional_text(input.params_json, "params_json")?,
                args::optional_text(input.metadata_json, "metadata_json")?,
            )
        };
        let mut descriptor = DataObjectDescriptor::new(dtype, order, shape);
        // SAFETY: the header's contract.
        unsafe {
            stage(input.encoding, &mut descriptor.encoding)?;
            stage(input.filter, &mut descriptor.filter)?;
            stage(input.compression, &mut descriptor.compression)?;
        }
        descriptor.params = params.map(json_in::exact_entries).transpose()?.unwrap_or_default();
        let metadata = metadata.map(json_in::exact_entries).transpose()?.unwrap_or_default();
        Ok(Self { descriptor, data, metadata })
    }
}

/// Sets the name of a stage, if there is one.
///
/// # Safety
/// The name is NULL or ends with NUL.
unsafe fn stage(name: *const c_char, place: &mut String) -> Result<()> {
    // SAFETY: the caller makes the same promise.
    if let Some(name) = unsafe { args::optional_text(name, "name of a stage")? } {
        *place = name.to_string();
    }
    Ok(())
}

/// The structs of an array. They have the size that the first one says.
///
/// # Safety
/// The header's contract.
unsafe fn inputs<'a>(objects: *const ObjectInput, count: usize) -> Result<Vec<&'a ObjectInput>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the struct begins with its size.
    let size = *unsafe { args::required(objects.cast::<usize>())? };
    if size < size_of::<ObjectInput>() || !size.is_multiple_of(align_of::<ObjectInput>()) {
        return Err(invalid(format!("struct_size {size} is not a size of tgm_object_input_t")));
    }
    let bytes = count.checked_mul(size).and_then(|bytes| isize::try_from(bytes).ok());
    if bytes.is_none() {
        return Err(invalid(format!("{count} objects of {size} bytes exceed the address space")));
    }
    // SAFETY: the header's contract: the array has `count` structs of that size.
    let at = |index: usize| unsafe { args::required(objects.byte_add(index.wrapping_mul(size))) };
    (0..count).map(at).collect()
}

/// Encodes a message of objects that structs describe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_encode_objects(
    objects: *const ObjectInput,
    num_objects: usize,
    extra_json: *const c_char,
    options: *const EncodeOptionsStruct,
    out: *mut TgmBytes,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (out, (options, added), extra, inputs) = unsafe {
            (
                args::place(out)?,
                options::encoding_struct(options)?,
                args::optional_text(extra_json, "extra_json")?,
                inputs(objects, num_objects)?,
            )
        };
        let extra = extra.map(json_in::exact_entries).transpose()?.unwrap_or_default();
        // SAFETY: the header's contract.
        let objects = inputs.into_iter().map(|input| unsafe { Object::read(input) }).collect::<Result<Vec<_>>>()?;
        let (mut base, mut parts) = (Vec::with_capacity(objects.len()), Vec::with_capacity(objects.len()));
        for object in &objects {
            base.push(object.metadata.clone());
            parts.push((&object.descriptor, object.data));
        }
        let mut metadata = GlobalMetadata { base, extra, ..GlobalMetadata::default() };
        added.add_to(&mut metadata, num_objects)?;
        out.put(give(encode(&metadata, &parts, &options)?)?);
        Ok(())
    })
}
