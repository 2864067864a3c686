//! The structs of the header that C programs look into. All bytes of each are defined: no struct has padding.

use core::ptr::null;

/// What a function returns: 0, 1 for the end, or a negative kind of error.
pub type Status = i32;

/// `TGMC_OK`.
pub const OK: Status = 0;
/// `TGMC_END`.
pub const END: Status = 1;
/// `TGMC_NO_OBJECT`.
pub const NO_OBJECT: u64 = u64::MAX;
/// `TGMC_INFO_DIMS`.
pub const INFO_DIMS: usize = 8;

/// `tgmc_slice_t`: borrowed bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slice {
    /// The first byte. It may be NULL if `len` is 0.
    pub data: *const u8,
    /// The number of bytes.
    pub len: usize,
}

impl Default for Slice {
    fn default() -> Self {
        Self { data: null(), len: 0 }
    }
}

impl From<&[u8]> for Slice {
    fn from(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), len: bytes.len() }
    }
}

/// `tgmc_error_t`: what is wrong, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Fault {
    /// The status that the function returns.
    pub kind: i32,
    /// The offending value, if it is small.
    pub detail: u32,
    /// Bytes from the start of the caller's data.
    pub offset: u64,
}

/// `tgmc_frame_info_t`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct FrameInfo {
    /// The number of the frame's type.
    pub frame_type: u16,
    /// The flags of the frame's header.
    pub flags: u16,
    /// Always 0.
    pub reserved: u32,
    /// Where the frame starts in the message.
    pub offset: u64,
    /// Bytes of the frame without padding.
    pub total_length: u64,
    /// The value of the hash slot.
    pub hash_slot: u64,
    /// What the digest covers.
    pub body: Slice,
}

/// `tgmc_object_info_t`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ObjectInfo {
    /// `TGMC_FLOAT16` and so on.
    pub dtype: u8,
    /// `TGMC_BIG` or `TGMC_LITTLE`.
    pub byte_order: u8,
    /// `TGMC_ENCODING_…`.
    pub encoding: u8,
    /// `TGMC_FILTER_…`.
    pub filter: u8,
    /// `TGMC_COMPRESSION_…`.
    pub compression: u8,
    /// `TGMC_STAGE_…`.
    pub pending: u8,
    /// 1 if there are more dimensions than `shape` holds.
    pub ndim_overflow: u8,
    /// Bits of `TGMC_MASK_…`.
    pub masks: u8,
    /// The number of dimensions.
    pub ndim: u32,
    /// Bytes of an element, 0 for bits.
    pub element_size: u32,
    /// The product of the dimensions.
    pub element_count: u64,
    /// Bytes of all decoded values; `u64::MAX` if 64 bits cannot count them.
    pub decoded_len: u64,
    /// Which object of the message, as it was opened.
    pub index: u64,
    /// The first dimensions.
    pub shape: [u64; INFO_DIMS],
    /// The kind of object.
    pub object_type: Slice,
    /// The encoded values.
    pub payload: Slice,
    /// The descriptor's CBOR.
    pub descriptor: Slice,
}

/// `tgmc_szip_params_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SzipParams {
    /// Bits of a sample.
    pub bits_per_sample: u32,
    /// Samples in a block.
    pub block_size: u32,
    /// Blocks in an interval.
    pub rsi: u32,
    /// libaec's flags.
    pub flags: u32,
}

/// `tgmc_event_t`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Event {
    /// `TGMC_EVENT_…`.
    pub kind: u8,
    /// The number of the frame's type.
    pub frame_type: u8,
    /// `TGMC_PART_…`.
    pub part: u8,
    /// `TGMC_DIGEST_…`.
    pub verdict: u8,
    /// The flags of the message or frame.
    pub flags: u32,
    /// Which object, or `TGMC_NO_OBJECT`.
    pub object_index: u64,
    /// Where, from the message's first byte.
    pub offset: u64,
    /// A length; the header says which.
    pub length: u64,
    /// A place or length in the region; the header says which.
    pub region: u64,
    /// The bytes.
    pub bytes: Slice,
}

const POINTER: usize = size_of::<usize>();
const _: () = assert!(POINTER == 4 || POINTER == 8);
const _: () = assert!(size_of::<Slice>() == 2 * POINTER && size_of::<Fault>() == 16);
const _: () = assert!(size_of::<FrameInfo>() == 32 + 2 * POINTER && size_of::<ObjectInfo>() == 104 + 6 * POINTER);
const _: () = assert!(size_of::<SzipParams>() == 16 && size_of::<Event>() == 40 + 2 * POINTER);
const _: () = assert!(align_of::<Event>() <= 8 && align_of::<ObjectInfo>() <= 8);
