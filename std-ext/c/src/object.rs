//! Objects of a decoded message.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use tgm_std::{ByteOrder, DataObjectDescriptor, DecodeOptions, DecodedObject, Dtype};

use crate::buffers::Block;
use crate::error::{Result, c_string};

/// One object: its descriptor, its values, and texts that are made when they are asked for.
pub(crate) struct Object {
    pub(crate) descriptor: DataObjectDescriptor,
    pub(crate) data: Block,
    pub(crate) digest: Option<u64>,
    /// The byte order of the values.
    pub(crate) order: ByteOrder,
    texts: OnceLock<Texts>,
}

/// Texts of a descriptor and its digest.
pub(crate) struct Texts {
    pub(crate) obj_type: CString,
    pub(crate) encoding: CString,
    pub(crate) filter: CString,
    pub(crate) compression: CString,
    pub(crate) digest: Option<CString>,
}

impl Object {
    pub(crate) fn new(
        (descriptor, values): DecodedObject,
        digest: Option<u64>,
        options: &DecodeOptions,
    ) -> Result<Self> {
        let order = if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order };
        let data = Block::new(values)?;
        Ok(Self { descriptor, data, digest, order, texts: OnceLock::new() })
    }

    /// The texts, made when they are asked for first.
    pub(crate) fn texts(&self) -> &Texts {
        let text = |text: &String| c_string(text.as_str());
        self.texts.get_or_init(|| Texts {
            obj_type: text(&self.descriptor.obj_type),
            encoding: text(&self.descriptor.encoding),
            filter: text(&self.descriptor.filter),
            compression: text(&self.descriptor.compression),
            digest: self.digest.map(|digest| c_string(format!("{digest:016x}"))),
        })
    }
}

/// The name of a byte order.
pub(crate) const fn order_name(order: ByteOrder) -> &'static CStr {
    match order {
        ByteOrder::Big => c"big",
        ByteOrder::Little => c"little",
    }
}

/// The name of a type of elements.
pub(crate) const fn dtype_name(dtype: Dtype) -> &'static CStr {
    match dtype {
        Dtype::Float16 => c"float16",
        Dtype::Bfloat16 => c"bfloat16",
        Dtype::Float32 => c"float32",
        Dtype::Float64 => c"float64",
        Dtype::Complex64 => c"complex64",
        Dtype::Complex128 => c"complex128",
        Dtype::Int8 => c"int8",
        Dtype::Int16 => c"int16",
        Dtype::Int32 => c"int32",
        Dtype::Int64 => c"int64",
        Dtype::Uint8 => c"uint8",
        Dtype::Uint16 => c"uint16",
        Dtype::Uint32 => c"uint32",
        Dtype::Uint64 => c"uint64",
        Dtype::Bitmask => c"bitmask",
    }
}

/// The number of a type of elements: a `TGM_DTYPE_` of the header.
pub(crate) fn dtype_code(dtype: Dtype) -> i32 {
    Dtype::ALL.iter().position(|other| *other == dtype).and_then(|code| i32::try_from(code).ok()).unwrap_or(-1)
}
