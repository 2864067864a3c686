//! The bits of `szip_flags`, which are libaec's. Other bits have no meaning, and readers ignore them.

/// Samples are in two's complement.
pub const SIGNED: u32 = 1;
/// Samples of 17 to 24 bits take three bytes. The format implies this, whether or not the bit is set.
pub const THREE_BYTES: u32 = 2;
/// Samples have their most significant byte first.
pub const MSB: u32 = 4;
/// The differences between neighbouring samples are coded, not the samples.
pub const PREPROCESS: u32 = 8;
/// Option IDs are shorter. For samples of up to four bits.
pub const RESTRICTED: u32 = 16;
/// Each interval starts on a byte.
pub const PAD_RSI: u32 = 32;
/// Blocks may have any even number of samples.
pub const NOT_ENFORCE: u32 = 64;
