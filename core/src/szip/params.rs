//! The parameters of a stream, which the stream itself does not contain.

use core::num::{NonZeroU32, NonZeroU64};

use crate::descriptor::Descriptor;
use crate::error::{ErrorKind, Result};
pub use crate::names::szip_flags as flags;
use crate::names::{ByteOrder, Encoding, Filter, Stage};

/// The largest number of samples in a block, if [`flags::NOT_ENFORCE`] allows more than the standard does.
pub const MAX_BLOCK_SIZE: u32 = 256;
/// The largest number of blocks in a reference sample interval.
pub const MAX_RSI: u32 = 4096;

/// The checked parameters of a stream.
///
/// ```
/// use tgm_core::szip::{Params, flags};
///
/// let params = Params::new(12, 16, 128, flags::PREPROCESS).map_err(|kind| kind.at(0))?;
/// assert_eq!((params.container_size(), params.max(), params.samples_per_rsi().get()), (2, 4095, 2048));
/// assert!(Params::new(33, 16, 128, 0).is_err());
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    bits_per_sample: u32,
    block_size: u32,
    rsi: u32,
    flags: u32,
}

impl Params {
    /// Checks the ranges: samples of 1 to 32 bits, blocks of 8, 16, 32 or 64 samples, intervals of 1 to [`MAX_RSI`] blocks.
    ///
    /// With [`flags::NOT_ENFORCE`] a block may have any even number of samples up to [`MAX_BLOCK_SIZE`]. Messages do not
    /// store `bits_per_sample`; [`Self::of`] derives it from a descriptor.
    ///
    /// # Errors
    /// [`ErrorKind::SzipBitsPerSample`], [`ErrorKind::SzipBlockSize`], [`ErrorKind::SzipRsi`] with the value that is
    /// outside its range; [`ErrorKind::SzipRestricted`] if [`flags::RESTRICTED`] comes with more than four bits.
    pub const fn new(bits_per_sample: u32, block_size: u32, rsi: u32, flags: u32) -> Result<Self, ErrorKind> {
        let is_free = flags & flags::NOT_ENFORCE != 0 && block_size.is_multiple_of(2) && block_size <= MAX_BLOCK_SIZE;
        match (bits_per_sample, block_size, rsi) {
            (0 | 33.., _, _) => Err(ErrorKind::SzipBitsPerSample(bits_per_sample)),
            (5.., _, _) if flags & flags::RESTRICTED != 0 => Err(ErrorKind::SzipRestricted(bits_per_sample)),
            (_, 8 | 16 | 32 | 64, 1..=MAX_RSI) => Ok(Self { bits_per_sample, block_size, rsi, flags }),
            (_, 2.., 1..=MAX_RSI) if is_free => Ok(Self { bits_per_sample, block_size, rsi, flags }),
            (_, _, 1..=MAX_RSI) => Err(ErrorKind::SzipBlockSize(block_size)),
            (_, _, _) => Err(ErrorKind::SzipRsi(rsi)),
        }
    }

    /// The parameters of an object that is compressed with szip.
    ///
    /// The width of a sample follows from the descriptor (PIPELINE §5.4):
    ///
    /// | encoding | filter | bits of a sample | implied flag |
    /// |---|---|---|---|
    /// | simple_packing | any | bits of a packed value: 8, 16, 24 or 32 | [`flags::MSB`] |
    /// | none | shuffle | 8 | |
    /// | none | none | bits of an element | |
    ///
    /// # Errors
    /// The errors of [`Descriptor::szip`] and [`Descriptor::packing`](crate::descriptor::Descriptor::packing); the errors of
    /// [`Self::new`]; [`ErrorKind::SzipBitsPerSample`] for packed values that are not whole bytes;
    /// [`ErrorKind::NeedsDecoding`] for an unknown encoding, or if `packing` is not compiled in.
    pub fn of(descriptor: &Descriptor<'_>) -> Result<Self> {
        match descriptor.encoding().known() {
            #[cfg(feature = "packing")]
            Some(Encoding::SimplePacking) => {
                Self::with_bits(descriptor, descriptor.packing()?.bits_per_value, flags::MSB)
            }
            Some(Encoding::None) if descriptor.filter().known() == Some(Filter::None) => {
                Self::with_bits(descriptor, Self::element_bits(descriptor), 0)
            }
            Some(Encoding::None) => Self::with_bits(descriptor, u8::BITS, 0),
            other => Err(ErrorKind::NeedsDecoding(Stage::Encoding(other)).at(descriptor.offset())),
        }
    }

    /// Bits of an object's elements, which are its samples if it has neither encoding nor filter.
    pub(crate) fn element_bits(descriptor: &Descriptor<'_>) -> u32 {
        u32::try_from(descriptor.dtype().byte_width()).unwrap_or(0).wrapping_mul(u8::BITS)
    }

    /// The stored parameters for samples of `bits` bits, with the flags that the format implies.
    #[expect(clippy::inline_always, reason = "saves 180 bytes on a microcontroller, where only one caller is linked")]
    #[inline(always)]
    pub(crate) fn with_bits(descriptor: &Descriptor<'_>, bits: u32, implied: u32) -> Result<Self> {
        let (stored, at) = (descriptor.szip()?, descriptor.offset());
        if !bits.is_multiple_of(u8::BITS) {
            return Err(ErrorKind::SzipBitsPerSample(bits).at(at));
        }
        Self::new(bits, stored.block_size, stored.rsi, stored.flags | implied).map_err(|kind| kind.at(at))
    }

    /// Bits of a sample, 1 to 32.
    pub const fn bits_per_sample(&self) -> u32 {
        self.bits_per_sample
    }

    /// Samples in a block, an even number of 2 to [`MAX_BLOCK_SIZE`].
    pub const fn block_size(&self) -> u32 {
        self.block_size
    }

    /// Blocks in a reference sample interval, 1 to [`MAX_RSI`].
    pub const fn rsi(&self) -> u32 {
        self.rsi
    }

    /// Bytes of a decoded sample, 1 to 4.
    pub const fn container_size(&self) -> usize {
        self.bits_per_sample.div_ceil(8) as usize
    }

    /// The byte order of a decoded sample.
    pub const fn byte_order(&self) -> ByteOrder {
        if self.has(flags::MSB) { ByteOrder::Big } else { ByteOrder::Little }
    }

    /// Samples in a reference sample interval.
    pub const fn samples_per_rsi(&self) -> NonZeroU32 {
        // 2 · 1 to 256 · 4096.
        NonZeroU32::MIN.saturating_add(self.rsi.wrapping_mul(self.block_size).wrapping_sub(1))
    }

    /// The number of intervals that `samples` samples take.
    pub fn rsi_count(&self, samples: u64) -> u64 {
        let per_rsi = NonZeroU64::from(self.samples_per_rsi());
        let started = u64::from(samples % per_rsi != 0);
        (samples / per_rsi).wrapping_add(started)
    }

    /// The [`flags`], as they were given.
    pub const fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether a flag is set.
    pub const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Bits of the ID that says how a block is coded.
    pub const fn id_bits(&self) -> u32 {
        match self.bits_per_sample {
            ..=2 if self.has(flags::RESTRICTED) => 1,
            ..=4 if self.has(flags::RESTRICTED) => 2,
            ..9 => 3,
            9..17 => 4,
            _ => 5,
        }
    }

    /// The largest unsigned sample.
    pub const fn max(&self) -> u32 {
        u32::MAX.wrapping_shr(u32::BITS.wrapping_sub(self.bits_per_sample))
    }

    /// The number that the predictor adds to samples, so that the smallest sample is 0.
    ///
    /// It is 0 for unsigned samples. It is also 0 without the predictor, because libaec then keeps the bits of signed
    /// samples as they are.
    pub const fn bias(&self) -> u32 {
        if self.has(flags::SIGNED) && self.has(flags::PREPROCESS) {
            1_u32.wrapping_shl(self.bits_per_sample.wrapping_sub(1))
        } else {
            0
        }
    }
}
