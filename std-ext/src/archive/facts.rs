//! What an object is, without its payload.

use tgm_core::descriptor::{Descriptor, Dtype};

use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::decode::fetched::grain;

/// What an object is, without its payload.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) shape: Vec<u64>,
    pub(super) dtype: Dtype,
    pub(super) element_count: u64,
    pub(super) byte_len: u64,
    pub(super) payload_len: u64,
    pub(super) grain: Option<u64>,
}

impl Facts {
    /// What a descriptor says of an object whose payload and masks take `region_len` bytes.
    ///
    /// # Errors
    /// The errors of the shape and the masks.
    pub(super) fn of(descriptor: &Descriptor<'_>, region_len: u64) -> Result<Self> {
        Ok(Self {
            shape: descriptor.shape().iter().collect(),
            dtype: descriptor.dtype(),
            element_count: descriptor.element_count(),
            byte_len: descriptor.decoded_len()?,
            payload_len: descriptor.masks().payload_len(region_len)?,
            grain: grain(descriptor, &DecodeOptions::default()),
        })
    }
}

/// The methods that say what an object is, of a type with a field `facts`.
macro_rules! fact_methods {
    () => {
        /// The dimensions, slowest first.
        pub fn shape(&self) -> &[u64] {
            &self.facts.shape
        }

        /// The type of the values.
        pub const fn dtype(&self) -> tgm_core::descriptor::Dtype {
            self.facts.dtype
        }

        /// How many values there are.
        pub const fn element_count(&self) -> u64 {
            self.facts.element_count
        }

        /// Bytes of all values, decoded.
        pub const fn byte_len(&self) -> u64 {
            self.facts.byte_len
        }

        /// Bytes of the payload: the values as they are stored.
        pub const fn payload_len(&self) -> u64 {
            self.facts.payload_len
        }

        /// Where the object can be cut: ranges that begin and end at multiples of this many elements are read and decoded
        /// without what lies around them. 1 for values that are stored or packed; the elements of a block for szip, zfp of
        /// fixed rate and blosc2; `None` if any part needs all of the payload, or all before it.
        pub const fn grain(&self) -> Option<u64> {
            self.facts.grain
        }

        /// The number of its message in the archive, and its number in the message.
        pub const fn place(&self) -> (usize, usize) {
            (self.message, self.index)
        }
    };
}
pub(super) use fact_methods;
