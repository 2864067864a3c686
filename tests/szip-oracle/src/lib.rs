//! libaec behind safe functions, and samples and parameters for it.

mod aec;
pub mod configs;
pub mod data;
pub mod speed;

pub use aec::{decode, decode_offsets, decode_range, encode, encode_with_offsets};
pub use data::Rng;

use tgm_core::szip::{Params, flags};

/// Parameters that are valid for both sides.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub bits: u32,
    pub block_size: u32,
    pub rsi: u32,
    pub flags: u32,
}

impl Config {
    pub fn params(&self) -> Params {
        Params::new(self.bits, self.block_size, self.rsi, self.flags).expect("valid parameters")
    }

    /// Bytes of a sample. The format makes libaec use three for 17 to 24 bits.
    pub fn container(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    pub fn samples_per_rsi(&self) -> usize {
        (self.rsi * self.block_size) as usize
    }

    /// The flags that libaec gets.
    fn aec_flags(&self) -> u32 {
        if matches!(self.bits, 17..=24) { self.flags | flags::THREE_BYTES } else { self.flags }
    }

    /// Samples as containers.
    pub fn bytes(&self, samples: &[u32]) -> Vec<u8> {
        let size = self.container();
        let container = |sample: &u32| match self.flags & flags::MSB {
            0 => sample.to_le_bytes()[..size].to_vec(),
            _ => sample.to_be_bytes()[4 - size..].to_vec(),
        };
        samples.iter().flat_map(container).collect()
    }
}
