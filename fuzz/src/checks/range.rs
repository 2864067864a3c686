//! Ranges of any object through any pipeline are the parts of its decoded values that they name.

use tgm_std::{Dtype, decode_object, decode_range};

use crate::given::Given;
use crate::options;

/// Checks ranges of the first objects of the message that `bytes` begin with; its last bytes say which.
pub fn check(bytes: &[u8]) {
    let options = options();
    for index in 0..2 {
        let Ok((_, descriptor, whole)) = decode_object(bytes, index, &options) else { return };
        let count = descriptor.num_elements().expect("decoded before") as u64;
        let mut given = Given(bytes);
        // All ranges of a request count together.
        let mut options = options.clone();
        options.limits.max_decoded_bytes *= 4;
        options.limits.free_bytes *= 4;
        let ranges = [(0, count), given.range(count), given.range(count), (count, 0)];
        let (_, parts) = decode_range(bytes, index, &ranges, &options).expect("decoded before");
        assert_eq!(parts.len(), ranges.len());
        for (part, (start, len)) in parts.iter().zip(ranges) {
            if descriptor.dtype == Dtype::Bitmask {
                assert_eq!(bits_of(part, 0, len), bits_of(&whole, start, len), "{len} bits from {start}");
            } else {
                let width = descriptor.dtype.byte_width() as u64;
                let bytes = [start, start + len].map(|at| usize::try_from(at * width).expect("in memory"));
                assert_eq!(*part, whole[bytes[0]..bytes[1]], "{len} values from {start}");
            }
        }
        for beyond in [(0, count + 1), (count, 1), (count + 1, 0), (u64::MAX, 2)] {
            assert!(decode_range(bytes, index, &[beyond], &options).is_err(), "{beyond:?} of {count}");
        }
    }
}

/// Bits packed anew, those behind the last zero.
fn bits_of(whole: &[u8], start: u64, len: u64) -> Vec<u8> {
    let mut out = vec![0; usize::try_from(len.div_ceil(8)).expect("in memory")];
    for at in 0..len {
        let from = usize::try_from((start + at) / 8).expect("in memory");
        let bit = whole[from] >> (7 - (start + at) % 8) & 1;
        out[usize::try_from(at / 8).expect("in memory")] |= bit << (7 - at % 8);
    }
    out
}
