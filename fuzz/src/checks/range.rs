//! Ranges of any object, through any pipeline, are slices of its decoded values. For szip this holds if the stored
//! offsets of its intervals are right: wrong offsets may go unnoticed (see `tgm_core::szip::find_rsi_near`).

use tgm_core::Message;
use tgm_core::descriptor::{Compression, Encoding, Filter};
use tgm_core::object::DataObject;
use tgm_core::szip::{Params, RsiOffsets};
use tgm_std::{Dtype, decode_object, decode_range};

use crate::given::Given;
use crate::options;

/// Checks ranges of the first objects of the message at the start of `bytes`. The last bytes say which ranges.
pub fn check(bytes: &[u8]) {
    let options = options();
    for index in 0..2 {
        let Ok((_, descriptor, whole)) = decode_object(bytes, index, &options) else { return };
        let count = descriptor.num_elements().expect("decoded before") as u64;
        let mut given = Given(bytes);
        // The limits count all ranges of a request together.
        let mut options = options.clone();
        options.limits.max_decoded_bytes *= 4;
        options.limits.free_bytes *= 4;
        let ranges = [(0, count), given.range(count), given.range(count), (count, 0)];
        let (_, parts) = decode_range(bytes, index, &ranges, &options).expect("decoded before");
        assert_eq!(parts.len(), ranges.len());
        let are_offsets_true = Message::parse(bytes)
            .and_then(|message| message.objects().nth(index).expect("decoded before"))
            .map(|object| has_true_offsets(&object).unwrap_or(true));
        for (part, (start, len)) in parts.iter().zip(ranges) {
            if are_offsets_true == Ok(false) {
                assert_eq!(part.len() as u64, descriptor.dtype.byte_len(len).expect("decoded before"));
            } else if descriptor.dtype == Dtype::Bitmask {
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

/// Whether `szip_block_offsets` are where intervals start; `None` without offsets.
fn has_true_offsets(object: &DataObject<'_>) -> Option<bool> {
    let descriptor = object.descriptor();
    let stored = descriptor.szip_block_offsets().ok()??;
    if descriptor.compression().known() != Some(Compression::Szip) {
        return None;
    }
    let bits = match (descriptor.encoding().known(), descriptor.filter().known()) {
        (Some(Encoding::SimplePacking), _) => descriptor.packing().ok()?.bits_per_value,
        (_, Some(Filter::None)) => 8 * u32::try_from(descriptor.dtype().byte_width()).ok()?,
        _ => 8,
    };
    let szip = descriptor.szip().ok()?;
    let params = Params::new(bits, szip.block_size, szip.rsi, szip.flags).ok()?;
    let samples = u64::from(params.samples_per_rsi().get()) * stored.len() as u64;
    Some(RsiOffsets::new(object.payload(), &params, samples).eq(stored.iter().map(Ok)))
}

/// A range of bits, packed anew; padding bits are zero.
fn bits_of(whole: &[u8], start: u64, len: u64) -> Vec<u8> {
    let mut out = vec![0; usize::try_from(len.div_ceil(8)).expect("in memory")];
    for at in 0..len {
        let from = usize::try_from((start + at) / 8).expect("in memory");
        let bit = whole[from] >> (7 - (start + at) % 8) & 1;
        out[usize::try_from(at / 8).expect("in memory")] |= bit << (7 - at % 8);
    }
    out
}
