//! Owned descriptors and metadata with the names of the reference (COMPAT §7.2).
//!
//! With `serde` they have the keys of the format. [`crate::model::metadata`] writes and reads the format's own CBOR,
//! and checks what it reads. Other formats may lose values: JSON has no NaN, no byte strings and no tags.

use std::collections::BTreeMap;

use ciborium::Value;
use serde::{Deserialize, Serialize};
pub use tgm_core::descriptor::{ByteOrder, Dtype};

use crate::base::error::{Result, TensogramError};

/// Metadata of a message.
///
/// ```
/// use tgm_std::decode_metadata;
///
/// # let bytes = std::fs::read("../tests/data/metadata/mars.tgm").unwrap();
/// let metadata = decode_metadata(&bytes)?;
/// // In the first object that has it; in object 1; in the writer's annotations of the message.
/// assert_eq!(metadata.get("mars.param").and_then(|param| param.as_str()), Some("2t"));
/// assert_eq!(metadata.get_at(1, "mars.param").and_then(|param| param.as_str()), Some("10u"));
/// assert_eq!(metadata.get("extra.run").and_then(|run| run.as_i64()), Some(7));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GlobalMetadata {
    /// The metadata of each object, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub base: Vec<BTreeMap<String, Value>>,
    /// The entries that the library writes about the message: encoder, time, uuid.
    #[serde(rename = "_reserved_", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reserved: BTreeMap<String, Value>,
    /// The writer's annotations of the message.
    #[serde(rename = "_extra_", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Value>,
}

/// The descriptor of a data object (FORMAT §3.5).
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, EncodeOptions, GlobalMetadata, decode_descriptors, encode};
///
/// let mut descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[2, 3]);
/// descriptor.params.insert("units".into(), "K".into());
/// let objects = [(&descriptor, &[1, 2, 3, 4, 5, 6][..])];
/// let bytes = encode(&GlobalMetadata::default(), &objects, &EncodeOptions::default())?;
/// let (_, found) = decode_descriptors(&bytes)?;
/// assert_eq!(found, [descriptor]);
/// assert_eq!(found[0].num_elements()?, 6);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataObjectDescriptor {
    /// The kind of object, "ntensor" by convention.
    #[serde(rename = "type")]
    pub obj_type: String,
    /// The number of dimensions.
    pub ndim: u64,
    /// The dimensions, slowest first.
    pub shape: Vec<u64>,
    /// One number for each dimension. Readers do not use them.
    pub strides: Vec<u64>,
    /// The element type.
    pub dtype: Dtype,
    /// The byte order of scalars. Descriptors that do not state it are read as this machine's.
    #[serde(default = "ByteOrder::native")]
    pub byte_order: ByteOrder,
    /// The first stage of the pipeline.
    pub encoding: String,
    /// The second stage.
    pub filter: String,
    /// The third stage.
    pub compression: String,
    /// The masks of non-finite values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masks: Option<MasksMetadata>,
    /// The parameters of the stages, and all other entries of the writer. The entry `hash` of version 2 is read like
    /// any other, and is not written.
    #[serde(flatten)]
    pub params: BTreeMap<String, Value>,
}

impl DataObjectDescriptor {
    /// The descriptor of a tensor of `shape` without any stage: type "ntensor", row-major strides, and no encoding,
    /// filter or compression.
    pub fn new(dtype: Dtype, byte_order: ByteOrder, shape: &[u64]) -> Self {
        let mut strides = vec![1; shape.len()];
        let mut stride = 1_u64;
        for (slot, dim) in strides.iter_mut().zip(shape).rev() {
            *slot = stride;
            // Only a tensor without elements has strides beyond 64 bits, and they lead nowhere.
            stride = stride.saturating_mul(*dim);
        }
        let none = || "none".to_string();
        Self {
            obj_type: "ntensor".to_string(),
            ndim: shape.len() as u64,
            shape: shape.to_vec(),
            strides,
            dtype,
            byte_order,
            encoding: none(),
            filter: none(),
            compression: none(),
            masks: None,
            params: BTreeMap::new(),
        }
    }

    /// The product of the dimensions: 1 for a scalar.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] if it exceeds the integers of this machine.
    pub fn num_elements(&self) -> Result<usize> {
        let product = self.shape.iter().try_fold(1_u64, |product, &dim| product.checked_mul(dim));
        let product = product.ok_or_else(|| TensogramError::Metadata("shape product overflow".into()))?;
        usize::try_from(product).map_err(|_| TensogramError::Metadata("element count overflows usize".into()))
    }
}

/// The descriptions of an object's masks: at most one for each kind of non-finite value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MasksMetadata {
    /// NaN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nan: Option<MaskDescriptor>,
    /// +∞.
    #[serde(rename = "inf+", default, skip_serializing_if = "Option::is_none")]
    pub pos_inf: Option<MaskDescriptor>,
    /// −∞.
    #[serde(rename = "inf-", default, skip_serializing_if = "Option::is_none")]
    pub neg_inf: Option<MaskDescriptor>,
}

impl MasksMetadata {
    /// Whether there is no mask.
    pub const fn is_empty(&self) -> bool {
        self.nan.is_none() && self.pos_inf.is_none() && self.neg_inf.is_none()
    }
}

/// The description of one mask: where its bits are, and how they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaskDescriptor {
    /// The name of the method that stores the bits.
    pub method: String,
    /// Bytes from the start of the payload region to the blob.
    pub offset: u64,
    /// Bytes of the blob.
    pub length: u64,
    /// Parameters of the method. Readers do not need them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
}

/// The content of an index frame: where the data objects of a message are (FORMAT §3.6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexFrame {
    /// Bytes from the message's start to each object's frame.
    pub offsets: Vec<u64>,
    /// Bytes of each frame without padding.
    pub lengths: Vec<u64>,
}

/// The content of a hash frame: the digests of a message's data objects (FORMAT §3.6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HashFrame {
    /// The algorithm of the digests, "xxh3".
    pub algorithm: String,
    /// One digest for each object: 16 hexadecimal digits.
    pub hashes: Vec<String>,
}

/// A decoded object: its descriptor and its values.
pub type DecodedObject = (DataObjectDescriptor, Vec<u8>);

/// A decoded object with its masks. Masked values are zeros.
#[derive(Clone, Debug)]
pub struct DecodedObjectWithMasks {
    /// The descriptor of the object.
    pub descriptor: DataObjectDescriptor,
    /// The values, with zeros where a mask is set.
    pub payload: Vec<u8>,
    /// The masks.
    pub masks: DecodedMaskSet,
}

/// The masks of an object, with one truth value for each element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodedMaskSet {
    /// NaN.
    pub nan: Option<Vec<bool>>,
    /// +∞.
    pub pos_inf: Option<Vec<bool>>,
    /// −∞.
    pub neg_inf: Option<Vec<bool>>,
}

impl DecodedMaskSet {
    /// Whether there is no mask.
    pub const fn is_empty(&self) -> bool {
        self.nan.is_none() && self.pos_inf.is_none() && self.neg_inf.is_none()
    }
}
