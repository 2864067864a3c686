//! The numbers that frames and chunks have for codecs, filters and special chunks.

/// Bytes that a frame begins with.
pub(super) const MAGIC: [u8; 10] = *b"\x9e\xa8b2frame\0";

/// Bytes of the header of a chunk.
pub(super) const CHUNK_HEADER_LEN: usize = 32;

/// Codecs, as the header of a frame names them.
pub(super) mod codec {
    pub(in super::super) const BLOSCLZ: u8 = 0;
    pub(in super::super) const LZ4: u8 = 1;
    pub(in super::super) const LZ4HC: u8 = 2;
    pub(in super::super) const ZLIB: u8 = 4;
    pub(in super::super) const ZSTD: u8 = 5;
}

/// Formats of streams, as the flags of a chunk name them. lz4 and lz4hc write the same one.
pub(super) mod format {
    pub(in super::super) const BLOSCLZ: u8 = 0;
    pub(in super::super) const LZ4: u8 = 1;
    pub(in super::super) const ZLIB: u8 = 3;
    pub(in super::super) const ZSTD: u8 = 4;
}

/// Filters, one in each slot of a header.
pub(super) mod filter {
    pub(in super::super) const NONE: u8 = 0;
    pub(in super::super) const SHUFFLE: u8 = 1;
    pub(in super::super) const BIT_SHUFFLE: u8 = 2;
    pub(in super::super) const DELTA: u8 = 3;
    pub(in super::super) const TRUNCATED_PRECISION: u8 = 4;
}

/// Chunks whose bytes follow from their kind and at most one value.
pub(super) mod special {
    pub(in super::super) const NOT_SPECIAL: u8 = 0;
    pub(in super::super) const ZEROS: u8 = 1;
    pub(in super::super) const NAN: u8 = 2;
    pub(in super::super) const REPEATED: u8 = 3;
    pub(in super::super) const UNWRITTEN: u8 = 4;
    /// The bits of a kind, in the lowest bits of a number that has been shifted down to them.
    pub(in super::super) const MASK: u8 = 7;
}
