//! szip.
mod bits;
mod block;
mod params;
mod predict;
mod samples;

pub use params::{MAX_BLOCK_SIZE, MAX_RSI, Params, flags};

use crate::error::{ErrorKind, Result};

/// Decode.
///
/// # Errors
/// x
pub fn decode_into(stream: &[u8], params: &Params, out: &mut [u8]) -> Result<()> {
    decode_from(stream, params, 0, 0, out).map(|_| ())
}

/// Decode.
///
/// # Errors
/// x
pub fn decode_from(stream: &[u8], params: &Params, position: u64, skip: u64, out: &mut [u8]) -> Result<u64> {
    let length = ErrorKind::OutputLength.at(0);
    let is_msb = params.has(flags::MSB);
    macro_rules! to {
        ($width:literal, $store:expr) => {{
            let (slots, []) = out.as_chunks_mut::<$width>() else { return Err(length) };
            samples::decode(stream, params, position, skip, slots, $store)
        }};
    }
    match (params.container_size(), is_msb) {
        (1, _) => to!(1, |v: u32| [v as u8]),
        (2, false) => to!(2, |v: u32| (v as u16).to_le_bytes()),
        (2, true) => to!(2, |v: u32| (v as u16).to_be_bytes()),
        (3, false) => to!(3, |v: u32| { let [a, b, c, _] = v.to_le_bytes(); [a, b, c] }),
        (3, true) => to!(3, |v: u32| { let [_, a, b, c] = v.to_be_bytes(); [a, b, c] }),
        (_, false) => to!(4, |v: u32| v.to_le_bytes()),
        (_, true) => to!(4, |v: u32| v.to_be_bytes()),
    }
}

/// Decode.
///
/// # Errors
/// x
pub fn decode_samples<S: Copy>(stream: &[u8], params: &Params, position: u64, skip: u64, out: &mut [S], store: impl Fn(u32) -> S) -> Result<u64> {
    samples::decode(stream, params, position, skip, out, store)
}
