//! Descriptors and metadata that own what they hold, as the format's users know them (FORMAT §7.2).

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype};

use crate::error::{Result, TensogramError};

/// Metadata of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GlobalMetadata {
    /// All metadata of each object, in order.
    pub base: Vec<BTreeMap<String, Value>>,
    /// What the library wrote about the message: encoder, time, uuid.
    pub reserved: BTreeMap<String, Value>,
    /// The writer's annotations of the message.
    pub extra: BTreeMap<String, Value>,
}

impl GlobalMetadata {
    /// How many objects there is metadata for.
    pub const fn num_objects(&self) -> usize {
        self.base.len()
    }
}

/// What a data object is (FORMAT §3.5).
#[derive(Clone, Debug, PartialEq)]
pub struct DataObjectDescriptor {
    /// The kind of object, "ntensor" by convention.
    pub obj_type: String,
    /// Number of dimensions.
    pub ndim: u64,
    /// Dimensions, slowest first.
    pub shape: Vec<u64>,
    /// As many numbers as dimensions, opaque.
    pub strides: Vec<u64>,
    /// Element type.
    pub dtype: Dtype,
    /// Order of bytes in a scalar.
    pub byte_order: ByteOrder,
    /// First stage of the pipeline.
    pub encoding: String,
    /// Second stage.
    pub filter: String,
    /// Third stage.
    pub compression: String,
    /// Where the masks of non-finite values are.
    pub masks: Option<MasksMetadata>,
    /// Parameters of the stages, and whatever else the writer put beside them.
    pub params: BTreeMap<String, Value>,
}

impl DataObjectDescriptor {
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

/// The masks of an object, none or one for each kind of non-finite value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MasksMetadata {
    /// NaN.
    pub nan: Option<MaskDescriptor>,
    /// +∞.
    pub pos_inf: Option<MaskDescriptor>,
    /// −∞.
    pub neg_inf: Option<MaskDescriptor>,
}

impl MasksMetadata {
    /// Whether there is no mask.
    pub const fn is_empty(&self) -> bool {
        self.nan.is_none() && self.pos_inf.is_none() && self.neg_inf.is_none()
    }
}

/// Where the bits of one mask are, and how they are stored.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskDescriptor {
    /// How the bits are stored.
    pub method: String,
    /// Bytes from the start of the payload region to the blob.
    pub offset: u64,
    /// Bytes of the blob.
    pub length: u64,
    /// Parameters of the method, informational.
    pub params: BTreeMap<String, Value>,
}

/// Where the data objects of a message are, as an index frame lists them (FORMAT §3.6).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexFrame {
    /// Bytes from the message's start to each object's frame.
    pub offsets: Vec<u64>,
    /// Bytes of each frame without padding.
    pub lengths: Vec<u64>,
}

/// The digests of a message's data objects, as a hash frame lists them (FORMAT §3.6).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HashFrame {
    /// What the digests were made with, "xxh3".
    pub algorithm: String,
    /// One digest an object, 16 hexadecimal digits.
    pub hashes: Vec<String>,
}

/// A decoded object: what it is, and its values.
pub type DecodedObject = (DataObjectDescriptor, Vec<u8>);

/// A decoded object whose masked values are zeros, and the masks.
#[derive(Clone, Debug)]
pub struct DecodedObjectWithMasks {
    /// What the object is.
    pub descriptor: DataObjectDescriptor,
    /// The values, zeros where a mask is set.
    pub payload: Vec<u8>,
    /// The masks.
    pub masks: DecodedMaskSet,
}

/// The masks of an object as one truth value for each element.
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
