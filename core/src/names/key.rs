//! The keys that the format defines for descriptors and for mask entries (FORMAT §3.5).

use super::wire_names;

wire_names! {
    /// A key that the format defines for descriptors and mask entries.
    Key {
        /// Number of dimensions.
        Ndim = "ndim",
        /// Kind of object, "ntensor" by convention.
        Type = "type",
        /// Element type.
        Dtype = "dtype",
        /// Masks of non-finite values.
        Masks = "masks",
        /// Dimensions.
        Shape = "shape",
        /// Second stage.
        Filter = "filter",
        /// Strides, which no reader interprets.
        Strides = "strides",
        /// First stage.
        Encoding = "encoding",
        /// Order of bytes in a scalar.
        ByteOrder = "byte_order",
        /// Third stage.
        Compression = "compression",
        /// simple_packing: the value of a packed 0.
        SpReferenceValue = "sp_reference_value",
        /// simple_packing: power of two that packed integers are multiplied by.
        SpBinaryScaleFactor = "sp_binary_scale_factor",
        /// simple_packing: power of ten that values were multiplied by.
        SpDecimalScaleFactor = "sp_decimal_scale_factor",
        /// simple_packing: bits of a packed integer.
        SpBitsPerValue = "sp_bits_per_value",
        /// `sp_reference_value` before 0.19.
        ReferenceValue = "reference_value",
        /// `sp_binary_scale_factor` before 0.19.
        BinaryScaleFactor = "binary_scale_factor",
        /// `sp_decimal_scale_factor` before 0.19.
        DecimalScaleFactor = "decimal_scale_factor",
        /// `sp_bits_per_value` before 0.19.
        BitsPerValue = "bits_per_value",
        /// shuffle: bytes of an element.
        ShuffleElementSize = "shuffle_element_size",
        /// szip: blocks in a reference sample interval.
        SzipRsi = "szip_rsi",
        /// szip: samples in a block.
        SzipBlockSize = "szip_block_size",
        /// szip: the bits of [`szip_flags`](super::szip_flags).
        SzipFlags = "szip_flags",
        /// szip: bit offsets of the reference sample intervals.
        SzipBlockOffsets = "szip_block_offsets",
        /// zstd: level it was compressed with.
        ZstdLevel = "zstd_level",
        /// blosc2: codec inside.
        Blosc2Codec = "blosc2_codec",
        /// blosc2: level it was compressed with.
        Blosc2Clevel = "blosc2_clevel",
        /// zfp: what bounds the stream.
        ZfpMode = "zfp_mode",
        /// zfp: bits for each value.
        ZfpRate = "zfp_rate",
        /// zfp: bit planes.
        ZfpPrecision = "zfp_precision",
        /// zfp: absolute error.
        ZfpTolerance = "zfp_tolerance",
        /// sz3: the meaning of its bound.
        Sz3ErrorBoundMode = "sz3_error_bound_mode",
        /// sz3: the bound.
        Sz3ErrorBound = "sz3_error_bound",
        /// Mask entry: bytes of the blob.
        Length = "length",
        /// Mask entry: how the bits are stored.
        Method = "method",
        /// Mask entry: bytes from the region's start to the blob.
        Offset = "offset",
        /// Mask entry: parameters that the method was used with, which readers do not need.
        Params = "params",
    }
}

impl Key {
    /// Whether this is a field of descriptors. A descriptor has a field at most once.
    pub const fn is_field(self) -> bool {
        (self as u8) <= Self::Compression as u8
    }

    /// A bit that stands for this field in a set of fields.
    pub(crate) const fn bit(self) -> u32 {
        1_u32.wrapping_shl(self as u32)
    }

    /// Whether this is a parameter of a stage.
    pub const fn is_parameter(self) -> bool {
        !self.is_field() && (self as u8) < Self::Length as u8
    }
}
