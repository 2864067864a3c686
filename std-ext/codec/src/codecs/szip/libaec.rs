//! libaec behind safe functions: the C library that defines the format's szip.
#![allow(unsafe_code, reason = "calls of a C library; each block says what is relied on")]

use std::ptr;

use libaec_sys::{
    AEC_CONF_ERROR, AEC_DATA_ERROR, AEC_MEM_ERROR, AEC_OK, AEC_STREAM_ERROR, aec_buffer_decode, aec_buffer_encode,
    aec_stream,
};
use tgm_core::szip::{Params, RsiOffsets, flags};

use super::encode::check_whole_samples;
use super::samples;
use crate::error::CodecError;

/// The largest blocks that libaec's encoder is made for.
const MAX_ENCODED_BLOCK: u32 = 64;
const OK: i32 = AEC_OK.cast_signed();

/// [`compress`](super::compress), by libaec.
///
/// The offsets are read from the stream, as libaec counts too few bits for some intervals. Bits of a container above
/// the bits of a sample are left out, as there.
///
/// # Errors
/// [`CodecError`] as for [`compress`](super::compress); for flag [`flags::PAD_RSI`] and for blocks of more than 64
/// samples, which libaec writes and cannot read back; and if libaec fails, which it does only if memory runs out.
pub fn compress(data: &[u8], params: &Params) -> Result<(Vec<u8>, Vec<u64>), CodecError> {
    check_whole_samples(data, params)?;
    if params.has(flags::PAD_RSI) || params.block_size() > MAX_ENCODED_BLOCK {
        return Err(CodecError::new("libaec cannot read back what it writes with these parameters"));
    }
    if data.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let masked = without_excess_bits(data, params);
    let data = masked.as_deref().unwrap_or(data);

    let room = room_for(data.len(), params);
    let mut out = Vec::new();
    out.try_reserve_exact(room).map_err(|_| CodecError::new(format!("cannot allocate {room} bytes")))?;
    out.resize(room, 0);
    let mut stream = stream(params, data, &mut out);
    // SAFETY: the pointers come from `data` and `out`, which outlive the call and have the lengths beside them.
    // libaec checks the lengths, except that a code may end after `out`: `room_for` is more than any data take.
    // `Params` has checked that the parameters are within libaec's ranges. libaec keeps no pointer and frees what it
    // allocates.
    let code = unsafe { aec_buffer_encode(&raw mut stream) };
    check("encoder", code)?;
    let written = stream.total_out;
    out.truncate(written);

    let samples = (data.len() / params.container_size()) as u64;
    let offsets = RsiOffsets::new(&out, params, samples).collect::<Result<_, _>>()?;
    Ok((out, offsets))
}

/// Decompresses a stream from its start into all of `out`, by libaec.
///
/// # Errors
/// [`CodecError`] if `out` is not a whole number of samples long, if the stream is damaged, or if it ends too early.
pub fn decompress_into(payload: &[u8], params: &Params, out: &mut [u8]) -> Result<(), CodecError> {
    check_whole_samples(out, params)?;
    if out.is_empty() {
        return Ok(());
    }
    let mut stream = stream(params, payload, out);
    // SAFETY: the pointers come from `payload` and `out`, which outlive the call and have the lengths beside them.
    // libaec checks every access against these lengths, whatever the payload says. Its decoder checks the width of a
    // sample only; `Params` has checked the other parameters: `rsi` and `block_size` are not 0, and their product times
    // the four bytes of a sample fits 32 bits. libaec keeps no pointer and frees what it allocates.
    let code = unsafe { aec_buffer_decode(&raw mut stream) };
    check("decoder", code)?;
    match stream.avail_out {
        0 => Ok(()),
        missing => Err(CodecError::new(format!("the stream ends {missing} bytes before the last sample"))),
    }
}

/// A stream between two buffers, which must outlive its use.
fn stream(params: &Params, input: &[u8], out: &mut [u8]) -> aec_stream {
    // Without the flag libaec takes four bytes for such samples.
    let implied = if params.container_size() == 3 { flags::THREE_BYTES } else { 0 };
    aec_stream {
        next_in: input.as_ptr(),
        avail_in: input.len(),
        total_in: 0,
        next_out: out.as_mut_ptr(),
        avail_out: out.len(),
        total_out: 0,
        bits_per_sample: params.bits_per_sample(),
        block_size: params.block_size(),
        rsi: params.rsi(),
        flags: params.flags() | implied,
        state: ptr::null_mut(),
    }
}

/// More bytes than any data of that length take.
///
/// The longest block is a plain one with an ID, a reference sample, and the code of a run of zeros before it. libaec
/// writes whole words, up to seven bytes ahead. Near the end of its output it takes a slower way, on which it loses
/// offsets: the room keeps it from there.
fn room_for(len: usize, params: &Params) -> usize {
    let blocks = (len / params.container_size()).div_ceil(params.block_size() as usize);
    let block_bits = params.block_size() as usize * params.bits_per_sample() as usize;
    blocks.saturating_mul((block_bits + 128) / 8).saturating_add(4096)
}

/// A copy of the data with zeros above the bits of each sample. `None` if samples fill their containers.
///
/// libaec takes these bits for zeros, and a stream made with others does not decode.
fn without_excess_bits(data: &[u8], params: &Params) -> Option<Vec<u8>> {
    (!params.bits_per_sample().is_multiple_of(8)).then(|| samples::masked(data, params))
}

/// Turns a code of libaec into an error.
fn check(part: &str, code: i32) -> Result<(), CodecError> {
    let what = match code {
        OK => return Ok(()),
        AEC_CONF_ERROR => "refuses the parameters",
        AEC_STREAM_ERROR => "could not finish the stream",
        AEC_DATA_ERROR => "finds the stream damaged",
        AEC_MEM_ERROR => "cannot allocate memory",
        _ => "fails",
    };
    Err(CodecError::new(format!("libaec's {part} {what} (code {code})")))
}
