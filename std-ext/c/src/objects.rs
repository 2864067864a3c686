//! Objects from structs, with JSON only where the caller has any.

use std::collections::BTreeMap;
use std::ffi::c_char;

use tgm_std::core::descriptor::{Compression, Encoding, Filter, Key};
use tgm_std::deps::ciborium::Value;
use tgm_std::metadata::segment;
use tgm_std::{ByteOrder, Compress, DataObjectDescriptor, Dtype, ObjectBuilder};

use crate::args;
use crate::builder::Builder;
use crate::error::{Result, invalid};
use crate::json_in;
use crate::options::sized;

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
    metadata: *const Builder,
    within: f64,
    bits: u32,
    lossless: i32,
}

fn set(name: Option<&str>, place: &mut String) {
    if let Some(name) = name {
        name.clone_into(place);
    }
}

/// The values of an object, and what they are.
///
/// # Safety
/// The header's contract.
unsafe fn values<'a>(input: &ObjectInput) -> Result<(Dtype, ByteOrder, &'a [u64], &'a [u8])> {
    let dtype = usize::try_from(input.dtype).ok().and_then(|code| Dtype::ALL.get(code)).copied();
    let dtype = dtype.ok_or_else(|| invalid(format!("unknown dtype: {}", input.dtype)))?;
    let order = match input.byte_order {
        0 => ByteOrder::NATIVE,
        1 => ByteOrder::Little,
        2 => ByteOrder::Big,
        other => return Err(invalid(format!("unknown byte order: {other}"))),
    };
    // SAFETY: the header's contract.
    let (shape, data) =
        unsafe { (args::slice_or_empty(input.shape, input.ndim)?, args::slice_or_empty(input.data, input.size)?) };
    Ok((dtype, order, shape, data))
}

/// The object that a struct describes. Parameters of stages that it does not give are the usual ones.
///
/// # Safety
/// The header's contract.
pub(crate) unsafe fn builder<'a>(input: *const ObjectInput) -> Result<ObjectBuilder<'a>> {
    // SAFETY: the header's contract.
    let input = unsafe { sized(input, size_of::<ObjectInput>())? };
    let input = input.ok_or_else(|| invalid("null argument"))?;
    // SAFETY: the header's contract.
    let ((dtype, order, shape, data), stages, params, json, more) = unsafe {
        let name = |name| args::optional_text(name, "name of a stage");
        (
            values(&input)?,
            [name(input.encoding)?, name(input.filter)?, name(input.compression)?],
            args::optional_text(input.params_json, "params_json")?,
            args::optional_text(input.metadata_json, "metadata_json")?,
            args::given(input.metadata)?,
        )
    };
    let params = params.map(json_in::exact_entries).transpose()?.unwrap_or_default();
    let descriptor = DataObjectDescriptor::new(dtype, order, shape);
    let mut object = match preset(&input)? {
        None => with_stages(descriptor, data, stages, params),
        Some(_) if stages.iter().any(Option::is_some) || !params.is_empty() => {
            return Err(invalid("an object has its stages by name, or by what they keep, and not both"));
        }
        Some(keep) => ObjectBuilder::from_parts(descriptor, data).compress(keep)?,
    };
    for (path, value) in entries(json, more)? {
        object = object.metadata(path, value);
    }
    Ok(object)
}

/// What an object's stages have to keep, if the struct says so.
fn preset(input: &ObjectInput) -> Result<Option<Compress>> {
    let within = (input.within != 0.0).then_some(Compress::Within(input.within));
    let bits = (input.bits != 0).then_some(Compress::Bits(input.bits));
    let lossless = (input.lossless != 0).then_some(Compress::Lossless);
    let mut given = [within, bits, lossless].into_iter().flatten();
    let first = given.next();
    if given.next().is_some() {
        return Err(invalid("within, bits and lossless exclude each other"));
    }
    Ok(first)
}

/// An object with stages by name. Parameters that are given replace the usual ones.
fn with_stages<'a>(
    mut descriptor: DataObjectDescriptor,
    data: &'a [u8],
    [encoding, filter, compression]: [Option<&str>; 3],
    mut params: BTreeMap<String, Value>,
) -> ObjectBuilder<'a> {
    // A name that is not known stays, and is the encoder's to report.
    set(encoding, &mut descriptor.encoding);
    set(filter, &mut descriptor.filter);
    set(compression, &mut descriptor.compression);
    let packs = encoding.and_then(Encoding::from_name) == Some(Encoding::SimplePacking);
    let bits = params.get(Key::SpBitsPerValue.name()).and_then(Value::as_integer);
    let bits = bits.and_then(|bits| u32::try_from(bits).ok());
    // Who gives the reference value has derived all other parameters.
    let derives = packs && !params.contains_key(Key::SpReferenceValue.name());
    let mut object = ObjectBuilder::from_parts(descriptor, data);
    if let Some(bits) = bits.filter(|_| derives) {
        params.remove(Key::SpBitsPerValue.name());
        object = object.simple_packing(bits);
    }
    if filter.and_then(Filter::from_name) == Some(Filter::Shuffle) {
        object = object.shuffle();
    }
    if let Some(compression) = compression.and_then(Compression::from_name) {
        object = object.compression(compression);
    }
    for (key, value) in params {
        object = object.parameter(key, value);
    }
    object
}

/// Metadata as JSON and of a builder, by path.
pub(crate) fn entries(json: Option<&str>, builder: Option<&Builder>) -> Result<Vec<(String, Value)>> {
    let entries = json.map(json_in::exact_entries).transpose()?.unwrap_or_default();
    // Keys of JSON are keys, whatever dots they have.
    let mut entries: Vec<_> = entries.into_iter().map(|(key, value)| (segment(&key).into_owned(), value)).collect();
    entries.extend(builder.map(Builder::entries).unwrap_or_default());
    Ok(entries)
}
