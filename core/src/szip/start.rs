//! Where decoding starts.

/// Where decoding starts. The default is the stream's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The bit at which an interval starts.
    pub bit_offset: u64,
    /// How many samples from there on to leave out. They have to be decoded all the same.
    pub skip: u64,
}
