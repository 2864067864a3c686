//! The bits of `szip_flags`, which are libaec's. Other bits have no meaning, and readers ignore them.

/// Samples are in two's complement.
pub const SIGNED: u32 = 1;
/// Samples of 17 to 24 bits lie in three bytes; the format implies it, set or not.
pub const THREE_BYTES: u32 = 2;
/// Samples have their most significant byte first.
pub const MSB: u32 = 4;
/// Differences to the sample before are coded instead of samples.
pub const PREPROCESS: u32 = 8;
/// Shorter option IDs, for samples of up to four bits.
pub const RESTRICTED: u32 = 16;
/// Each interval starts at a byte.
pub const PAD_RSI: u32 = 32;
/// Blocks of any even number of samples.
pub const NOT_ENFORCE: u32 = 64;
