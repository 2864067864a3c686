//! rle: a bit count as big-endian u32, then the runs of a bitmask's bits (PIPELINE §5.8).

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype};
use tgm_core::mask::{BitmapForm, Mask};

use super::about::{About, Before, CodecResources, Expansion, Implementation, Input, Support, Trial, Uncompressed};
use super::compress::append_made;
use super::{Codec, Compress, Compressing, MaskSettings};
use crate::error::CodecError;

const ABOUT: About = About {
    compression: Compression::Rle,
    input: Input::Bits,
    is_lossy: false,
    keys: &[],
    usual: Some(&[]),
    level: None,
    expansion: Expansion { bytes: None, by: "a run's length is a number; 512 MiB at most" },
    is_in_version_2: false,
    decoding: Support::Whole,
    encoding: Support::Whole,
    implementation: Implementation::Own,
    trial: Trial { before: Before::Nothing, parameters: &[], loss: 0.0 },
};

/// The codec, on the run iterator of `tgm_core`.
#[derive(Debug)]
pub(super) struct Rle;

impl Codec for Rle {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        bitmap_into(BitmapForm::Rle, payload, descriptor.dtype(), out)
    }
}

impl Compressing for Rle {
    fn compressor(&self, object: &Uncompressed<'_>) -> Result<Box<dyn Compress>, CodecError> {
        object.check_bits(ABOUT.name())?;
        Ok(Box::new(Self))
    }

    fn append_mask(&self, bits: &[u8], count: u64, _: MaskSettings, out: &mut Vec<u8>) -> Result<(), CodecError> {
        append_runs(bits, count, out)
    }
}

impl Compress for Rle {
    fn append(
        &self,
        bytes: &[u8],
        _: ByteOrder,
        _: CodecResources,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>, CodecError> {
        append_made(compress(bytes)?, out).map(|()| None)
    }
}

/// Compresses a bitmask's packed bytes, padding bits included.
fn compress(bits: &[u8]) -> Result<Vec<u8>, CodecError> {
    let count = bit_count(bits)?;
    let mut payload = count.to_be_bytes().to_vec();
    append_runs(bits, u64::from(count), &mut payload)?;
    Ok(payload)
}

/// The number of bits in `bits`. It must fit the prefix.
pub(super) fn bit_count(bits: &[u8]) -> Result<u32, CodecError> {
    let count = u32::try_from(bits.len()).ok().and_then(|len| len.checked_mul(u8::BITS));
    count.ok_or_else(|| CodecError::new(format!("{} bytes are more bits than its count can say", bits.len())))
}

/// Appends the runs of the first `count` bits: the value of the first bit, then the lengths of runs, whose values
/// alternate.
fn append_runs(bits: &[u8], count: u64, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let mut end = 0;
    for run in Mask::new(BitmapForm::Raw, bits, count).runs() {
        let run = run?;
        if end == 0 {
            out.push(u8::from(run.start == 0));
        }
        // If the bits begin with ones, there is no run of zeros before them.
        if run.start > end {
            append_leb128(run.start - end, out);
        }
        append_leb128(run.end - run.start, out);
        end = run.end;
    }
    if end == 0 && count > 0 {
        out.push(0);
    }
    if count > end {
        append_leb128(count - end, out);
    }
    Ok(())
}

/// Appends a number in LEB128: seven bits a byte, the lowest first. The highest bit of a byte says that more follow.
fn append_leb128(mut value: u64, out: &mut Vec<u8>) {
    const MORE: u8 = 0x80;
    while value >= u64::from(MORE) {
        #[expect(clippy::cast_possible_truncation, reason = "the lowest seven bits are meant")]
        out.push(value as u8 | MORE);
        value >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "seven bits are left")]
    out.push(value as u8);
}

/// Writes the bits of a bitmap after a bit count to all of `out`. The count covers whole bytes, padding bits included.
pub(super) fn bitmap_into(form: BitmapForm, payload: &[u8], dtype: Dtype, out: &mut [u8]) -> Result<(), CodecError> {
    if dtype != Dtype::Bitmask {
        return Err(CodecError::new(format!("only supports dtype=bitmask, got dtype={dtype}")));
    }
    let (prefix, blob) =
        payload.split_first_chunk().ok_or_else(|| CodecError::new("payload shorter than its bit count"))?;
    let count = u64::from(u32::from_be_bytes(*prefix));
    let expected = (out.len() as u64).saturating_mul(8);
    if count != expected {
        return Err(CodecError::new(format!("bit count is {count}, expected {expected}")));
    }
    Mask::new(form, blob, count).bits_into(0, count, out).map_err(|error| error.shift(prefix.len() as u64).into())
}
