//! The same work with both libraries, by the names that they share.

use std::cell::RefCell;
use std::path::Path;

use ciborium::Value;
use tgm_core::object::DataObject;
use tgm_std::{DecodeOptions, Scratch, read};

/// The description of an object to be encoded.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Element type.
    pub dtype: Dtype,
    /// Big-endian.
    pub big: bool,
    /// Elements, in one dimension.
    pub count: usize,
    /// Bits, if simple-packed.
    pub packed: Option<u32>,
    /// Element size, if shuffled.
    pub shuffle: Option<u64>,
    /// Wire name.
    pub compression: &'static str,
    /// Parameters of the compression.
    pub params: Vec<(&'static str, Value)>,
}

/// The element types used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// Two bytes.
    Uint16,
    /// Four bytes.
    Float32,
    /// Eight bytes.
    Float64,
}

impl Spec {
    /// Elements as they are, little-endian.
    pub fn new(dtype: Dtype, count: usize) -> Self {
        Self { dtype, big: false, count, packed: None, shuffle: None, compression: "none", params: Vec::new() }
    }

    /// float64, simple-packed.
    pub fn packed(count: usize, bits: u32) -> Self {
        Self { packed: Some(bits), ..Self::new(Dtype::Float64, count) }
    }

    /// Compressed with these parameters.
    pub fn compressed(self, compression: &'static str, params: &[(&'static str, Value)]) -> Self {
        Self { compression, params: params.to_vec(), ..self }
    }

    /// Compressed by szip as ecCodes does GRIB: blocks of 32, intervals of 128.
    pub fn szip(self) -> Self {
        let number = |n: u32| Value::from(n);
        self.compressed(
            "szip",
            &[("szip_rsi", number(128)), ("szip_block_size", number(32)), ("szip_flags", number(8))],
        )
    }
}

macro_rules! library {
    ($module:ident, $lib:ident) => {
        /// One of the two libraries.
        pub mod $module {
            use std::collections::BTreeMap;

            use ciborium::Value;
            pub use $lib::*;

            use super::Spec;

            /// The object's descriptor for the encoder.
            pub fn descriptor(spec: &Spec) -> DataObjectDescriptor {
                let mut params: BTreeMap<String, Value> = BTreeMap::new();
                if let Some(bits) = spec.packed {
                    params.insert("sp_bits_per_value".into(), bits.into());
                }
                if let Some(size) = spec.shuffle {
                    params.insert("shuffle_element_size".into(), size.into());
                }
                params.extend(spec.params.iter().map(|(name, value)| (name.to_string(), value.clone())));
                DataObjectDescriptor {
                    obj_type: "ntensor".into(),
                    ndim: 1,
                    shape: vec![spec.count as u64],
                    strides: vec![1],
                    dtype: match spec.dtype {
                        super::Dtype::Uint16 => Dtype::Uint16,
                        super::Dtype::Float32 => Dtype::Float32,
                        super::Dtype::Float64 => Dtype::Float64,
                    },
                    byte_order: if spec.big { ByteOrder::Big } else { ByteOrder::Little },
                    encoding: if spec.packed.is_some() { "simple_packing" } else { "none" }.into(),
                    filter: if spec.shuffle.is_some() { "shuffle" } else { "none" }.into(),
                    compression: spec.compression.into(),
                    masks: None,
                    params,
                }
            }

            /// A message of one object.
            pub fn encode_one(spec: &Spec, data: &[u8]) -> Vec<u8> {
                encode_with(spec, data, &EncodeOptions::default())
            }

            /// A message of one object.
            pub fn encode_with(spec: &Spec, data: &[u8], options: &EncodeOptions) -> Vec<u8> {
                encode(&GlobalMetadata::default(), &[(&descriptor(spec), data)], options).expect("encodes")
            }

            /// The values of an object, in this machine's byte order.
            pub fn object(bytes: &[u8], index: usize) -> Vec<u8> {
                decode_object(bytes, index, &DecodeOptions::default()).expect("decodes").2
            }
        }
    };
}

library!(ours, tgm_std);
library!(reference, tensogram);

/// Maps a file that only the benches use.
pub fn open_map(path: impl AsRef<Path>) -> ours::MappedFile {
    // SAFETY: no bench truncates a file or writes into it while it is mapped.
    unsafe { ours::MappedFile::open(path) }.expect("maps")
}

/// Encodes a message of one object with our library, into a buffer that the caller keeps.
pub fn encode_into(spec: &Spec, data: &[u8], options: &ours::EncodeOptions, message: &mut Vec<u8>) {
    let metadata = ours::GlobalMetadata::default();
    ours::encode_into(&metadata, &[(&ours::descriptor(spec), data)], options, message).expect("encodes");
}

/// A message of one object, written by our library, and its values, which both libraries must read alike.
pub fn agreed(spec: &Spec, data: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let message = ours::encode_one(spec, data);
    let values = ours::object(&message, 0);
    assert!(values == reference::object(&message, 0), "{spec:?}: the values differ");
    (message, values)
}

/// The first object of a message.
pub fn first(message: &[u8]) -> DataObject<'_> {
    tgm_core::Message::parse(message).expect("a message").object(0).expect("an object")
}

thread_local! {
    /// Scratch memory that is kept, so that it is as warm as the buffers.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Decodes all values of an object into a buffer that the caller keeps, in this machine's byte order.
pub fn decode_into(object: &DataObject<'_>, threads: u32, out: &mut [u8]) {
    let options = DecodeOptions { threads, ..DecodeOptions::default() };
    SCRATCH.with_borrow_mut(|scratch| read(object).options(&options).scratch(scratch).bytes_into(out)).expect("decodes");
}
