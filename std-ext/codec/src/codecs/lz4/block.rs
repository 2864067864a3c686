//! A length and one LZ4 block, by `lz4_flex`.

use crate::error::CodecError;
use crate::memory;

/// Appends the length of `data` and one block.
///
/// # Errors
/// [`CodecError`] for more bytes than the prefix can say, and for want of memory.
pub fn append(data: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    let len = u32::try_from(data.len());
    let len =
        len.map_err(|_| CodecError::new(format!("{} bytes are more than its length prefix can say", data.len())))?;
    let start = out.len();
    let room = size_of::<u32>() + lz4_flex::block::get_maximum_output_size(data.len());
    memory::append_zeros(out, room)?;
    let payload = out.get_mut(start..).unwrap_or_default();
    let (prefix, block) = payload.split_first_chunk_mut().ok_or_else(|| CodecError::new("no room for the prefix"))?;
    *prefix = len.to_le_bytes();
    let written = lz4_flex::block::compress_into(data, block).map_err(|error| CodecError::new(error.to_string()))?;
    out.truncate(start + size_of::<u32>() + written);
    Ok(())
}

/// Decompresses into all of `out`.
///
/// # Errors
/// [`CodecError`] for another length, and for a block that is damaged.
pub fn decompress(payload: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
    let (prefix, block) =
        payload.split_first_chunk().ok_or_else(|| CodecError::new("payload shorter than its length prefix"))?;
    let claimed = u32::from_le_bytes(*prefix);
    if u64::from(claimed) != out.len() as u64 {
        return Err(CodecError::new(format!("length prefix says {claimed} bytes, expected {}", out.len())));
    }
    let written = lz4_flex::block::decompress_into(block, out).map_err(|error| CodecError::new(error.to_string()))?;
    if written == out.len() {
        Ok(())
    } else {
        Err(CodecError::new(format!("decompressed to {written} bytes, expected {}", out.len())))
    }
}
