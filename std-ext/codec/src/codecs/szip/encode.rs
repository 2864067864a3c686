//! From containers to the stream, by one thread or by several.

use std::ops::Range;

use tgm_core::szip::Params;

use super::coder::Coder;
use super::parallel_encode;
use crate::codecs::CodecError;
use crate::threads::Threads;

/// Compresses samples, and returns the stream with the bit at which each reference sample interval starts.
///
/// `data` are containers of [`Params::container_size`] bytes in [`Params::byte_order`]. The lower bits of each
/// container that make a sample count. The offsets are right, as `szip_block_offsets` should hold them. No data gives no
/// bytes and no offsets.
///
/// The stream is the one that libaec writes, except where libaec's own decoder refuses it: with
/// [`PAD_RSI`](tgm_core::szip::flags::PAD_RSI) each interval does start at a byte here; and blocks of more than 64 samples
/// have no pairs of values without a code.
///
/// ```
/// use tgm_core::szip::{Params, flags};
/// use tgm_codec::szip::compress;
///
/// let params = Params::new(8, 8, 2, flags::PREPROCESS).map_err(|kind| kind.at(0))?;
/// let (payload, offsets) = compress(&[5, 6, 7, 8, 9], &params).expect("five samples");
/// assert_eq!((payload, offsets), (vec![0x20, 0xa4, 0x93, 0xc0], vec![0]));
/// # Ok::<(), tgm_core::Error>(())
/// ```
///
/// # Errors
/// [`CodecError`] if `data` does not consist of whole containers, or if memory runs out.
///
/// Format: PIPELINE §7.
pub fn compress(data: &[u8], params: &Params) -> Result<(Vec<u8>, Vec<u64>), CodecError> {
    let mut payload = Vec::new();
    let offsets = append_on(Threads::NONE, data, params, &mut payload)?;
    Ok((payload, offsets))
}

/// [`compress`] on several threads, to the end of `out`.
///
/// # Errors
/// As [`compress`].
pub(super) fn append_on(
    threads: Threads,
    data: &[u8],
    params: &Params,
    out: &mut Vec<u8>,
) -> Result<Vec<u64>, CodecError> {
    check_whole_samples(data, params)?;
    let code = |range: Range<usize>, coder: &mut Coder<'_>| {
        let part = data.get(range).unwrap_or_default();
        part.chunks(coder.interval_len()).try_for_each(|interval| coder.put_interval(interval))
    };
    parallel_encode::append(threads, data.len(), params, code, out)
}

/// [`append_on`] of `len` bytes of containers that `make` writes, interval by interval.
///
/// `make` gets the number of the interval's first byte, and the slice to fill.
///
/// # Errors
/// As [`compress`].
pub(super) fn append_made(
    threads: Threads,
    len: usize,
    params: &Params,
    make: impl Fn(usize, &mut [u8]) + Sync,
    out: &mut Vec<u8>,
) -> Result<Vec<u64>, CodecError> {
    let width = params.container_size();
    if !len.is_multiple_of(width) {
        return Err(not_whole_samples(len, width));
    }
    let code = |range: Range<usize>, coder: &mut Coder<'_>| {
        let (mut scratch, interval_len) = (Vec::new(), coder.interval_len().min(range.len()).max(1));
        scratch.try_reserve_exact(interval_len).map_err(|_| CodecError::new("cannot allocate an interval"))?;
        scratch.resize(interval_len, 0);
        for start in range.clone().step_by(interval_len) {
            let interval = scratch.get_mut(..(range.end - start).min(interval_len)).unwrap_or_default();
            make(start, interval);
            coder.put_interval(interval)?;
        }
        Ok(())
    };
    parallel_encode::append(threads, len, params, code, out)
}

/// Checks that the data do not end within a sample.
pub(super) fn check_whole_samples(data: &[u8], params: &Params) -> Result<(), CodecError> {
    let (len, width) = (data.len(), params.container_size());
    if len.is_multiple_of(width) { Ok(()) } else { Err(not_whole_samples(len, width)) }
}

fn not_whole_samples(len: usize, width: usize) -> CodecError {
    CodecError::new(format!("data length {len} is not a multiple of sample byte width {width}"))
}
