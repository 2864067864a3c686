//! The bytes of msgpack that begin the fields of a frame, read here and written by `encode`.

/// A string of four bytes: the frame's flags.
pub(super) const STRING_4: u8 = 0xa4;
/// An unsigned integer of 32 bits.
pub(super) const UINT_32: u8 = 0xce;
/// An unsigned integer of 64 bits.
pub(super) const UINT_64: u8 = 0xcf;
/// A signed integer of 32 bits.
pub(super) const INT_32: u8 = 0xd2;
/// A signed integer of 64 bits.
pub(super) const INT_64: u8 = 0xd3;
/// Sixteen bytes of a type of their own: the fingerprint, and the filters.
pub(super) const FIXED_16: u8 = 0xd8;
/// A signed integer of 16 bits.
#[cfg(feature = "blosc2")]
pub(super) const INT_16: u8 = 0xd1;
/// The boolean `false`.
#[cfg(feature = "blosc2")]
pub(super) const FALSE: u8 = 0xc2;
