//! The calls into libaec.

use std::ptr;

use libaec_sys::{
    AEC_FLUSH, aec_buffer_decode, aec_buffer_encode, aec_decode, aec_decode_count_offsets, aec_decode_enable_offsets,
    aec_decode_end, aec_decode_get_offsets, aec_decode_init, aec_decode_range, aec_encode, aec_encode_count_offsets,
    aec_encode_enable_offsets, aec_encode_end, aec_encode_get_offsets, aec_encode_init, aec_stream,
};

use crate::Config;

/// A stream between two buffers, which must outlive its use.
fn stream(config: Config, input: &[u8], out: &mut [u8]) -> aec_stream {
    aec_stream {
        next_in: input.as_ptr(),
        avail_in: input.len(),
        total_in: 0,
        next_out: out.as_mut_ptr(),
        avail_out: out.len(),
        total_out: 0,
        bits_per_sample: config.bits,
        block_size: config.block_size,
        rsi: config.rsi,
        flags: config.aec_flags(),
        state: ptr::null_mut(),
    }
}

/// A buffer larger than the worst case: if little room is left, libaec's encoder omits offsets.
fn room_for(config: Config, data: &[u8]) -> Vec<u8> {
    vec![0; data.len() * 2 + 4096 + 8 * config.block_size as usize]
}

/// Encodes all of `data`.
pub fn encode(config: Config, data: &[u8]) -> Vec<u8> {
    let mut out = room_for(config, data);
    let mut stream = stream(config, data, &mut out);
    // SAFETY: the pointers lead to live buffers of the lengths beside them.
    let code = unsafe { aec_buffer_encode(&raw mut stream) };
    assert_eq!(code, 0, "{config:?}");
    out.truncate(stream.total_out);
    out
}

/// Encodes all of `data`, and returns the bit offsets of the intervals as libaec's encoder counts them.
pub fn encode_with_offsets(config: Config, data: &[u8]) -> (Vec<u8>, Vec<u64>) {
    let mut out = room_for(config, data);
    let mut stream = stream(config, data, &mut out);
    // SAFETY: the pointers lead to live buffers; the calls come in the order that libaec.h describes.
    let offsets = unsafe {
        assert_eq!(aec_encode_init(&raw mut stream), 0, "{config:?}");
        assert_eq!(aec_encode_enable_offsets(&raw mut stream), 0);
        assert_eq!(aec_encode(&raw mut stream, AEC_FLUSH as i32), 0);
        let mut count = 0;
        assert_eq!(aec_encode_count_offsets(&raw mut stream, &raw mut count), 0);
        let mut offsets = vec![0_usize; count];
        assert_eq!(aec_encode_get_offsets(&raw mut stream, offsets.as_mut_ptr(), count), 0);
        assert_eq!(aec_encode_end(&raw mut stream), 0);
        offsets
    };
    out.truncate(stream.total_out);
    (out, offsets.into_iter().map(|offset| offset as u64).collect())
}

/// Decodes into `out`; returns libaec's code and the number of bytes written.
pub fn decode(config: Config, coded: &[u8], out: &mut [u8]) -> (i32, usize) {
    let mut stream = stream(config, coded, out);
    // SAFETY: the pointers lead to live buffers of the lengths beside them.
    let code = unsafe { aec_buffer_decode(&raw mut stream) };
    (code, stream.total_out)
}

/// The bit offsets of the intervals as libaec's decoder counts them; `None` if it does not count them.
pub fn decode_offsets(config: Config, coded: &[u8], len: usize) -> Option<Vec<u64>> {
    let mut out = vec![0; len];
    let mut stream = stream(config, coded, &mut out);
    // SAFETY: the pointers lead to live buffers; the calls come in the order that libaec.h describes.
    unsafe {
        assert_eq!(aec_decode_init(&raw mut stream), 0, "{config:?}");
        let mut offsets = Vec::new();
        let mut count = 0;
        let ok = aec_decode_enable_offsets(&raw mut stream) == 0
            && aec_decode(&raw mut stream, AEC_FLUSH as i32) == 0
            && aec_decode_count_offsets(&raw mut stream, &raw mut count) == 0;
        if ok {
            offsets.resize(count, 0_usize);
            assert_eq!(aec_decode_get_offsets(&raw mut stream, offsets.as_mut_ptr(), count), 0);
        }
        aec_decode_end(&raw mut stream);
        ok.then(|| offsets.into_iter().map(|offset| offset as u64).collect())
    }
}

/// Decodes `out.len()` bytes from byte `start` of the decoded data on.
pub fn decode_range(config: Config, coded: &[u8], offsets: &[u64], start: usize, out: &mut [u8]) -> i32 {
    let offsets: Vec<usize> = offsets.iter().map(|&offset| usize::try_from(offset).unwrap()).collect();
    let len = out.len();
    let mut stream = stream(config, coded, out);
    // SAFETY: the pointers lead to live buffers; the calls come in the order that libaec.h describes.
    unsafe {
        assert_eq!(aec_decode_init(&raw mut stream), 0, "{config:?}");
        let code = aec_decode_range(&raw mut stream, offsets.as_ptr(), offsets.len(), start, len);
        aec_decode_end(&raw mut stream);
        code
    }
}
