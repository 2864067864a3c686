//! Worked examples, and everything that is encoded read back by `tgm_core`.

use proptest::prelude::*;
use tgm_core::szip::{RsiOffsets, find_rsi};

use super::*;
use crate::kernels::szip::decode_into;

fn params(bits: u32, block_size: u32, rsi: u32, flags: u32) -> Params {
    Params::new(bits, block_size, rsi, flags).unwrap()
}

fn decoded(payload: &[u8], params: &Params, len: usize) -> Vec<u8> {
    let mut out = vec![0xaa; len];
    decode_into(payload, params, &mut out).unwrap();
    out
}

fn parsed_offsets(payload: &[u8], params: &Params, len: usize) -> Vec<u64> {
    let samples = (len / params.container_size()) as u64;
    RsiOffsets::new(payload, params, samples).map(Result::unwrap).collect()
}

/// Bits, in groups, filled up with zeros to whole bytes.
fn bits(groups: &str) -> Vec<u8> {
    let bits: Vec<u8> = groups.bytes().filter(|byte| *byte != b' ').map(|byte| byte - b'0').collect();
    let byte = |bits: &[u8]| bits.iter().chain(&[0; 8]).take(8).fold(0, |byte, bit| byte << 1 | bit);
    bits.chunks(8).map(byte).collect()
}

/// Streams of the reference, from PIPELINE §10.
#[test]
fn samples_of_the_reference_become_its_payloads() {
    let signed = [-3_i8, -2, 0, 3, 2, 1, -1, -128].map(i8::cast_unsigned);
    let bytes: [(&[u8], u32, &[u8]); 5] = [
        (&[7; 40], 8, &[0x00, 0x74, 0x01, 0xd0, 0x07, 0x80]),
        (&[0, 1, 0, 0, 0, 0, 0, 0], 0, &[0x13, 0xc0]),
        (&[200, 3, 150, 77, 9, 255, 0, 128], 8, &[0xf9, 0x1f, 0x92, 0xd2, 0x30, 0xff, 0xff, 0xf0, 0x00]),
        (&[5, 6, 7, 8, 9], 8, &[0x20, 0xa4, 0x93, 0xc0]),
        (&signed, 9, &[0xdf, 0xbf, 0x80, 0x88, 0x86, 0x08, 0x47, 0xd0]),
    ];
    for (samples, flags, payload) in bytes {
        assert_eq!(compress(samples, &params(8, 8, 2, flags)).unwrap().0, payload, "{samples:?}");
    }
    let values = [1000_u16, 1001, 1003, 1006, 1010, 1015, 1021, 1028];
    let payload = [0x40, 0x3e, 0x8e, 0xaa, 0xa6, 0x0a, 0x60];
    for (data, flags) in [(values.map(u16::to_le_bytes).concat(), 8), (values.map(u16::to_be_bytes).concat(), 12)] {
        assert_eq!(compress(&data, &params(16, 8, 2, flags)), Ok((payload.to_vec(), vec![0])));
    }
}

#[test]
fn offsets_are_true_after_runs_of_zeros() {
    let samples: Vec<u8> = [0; 12].into_iter().chain([9; 4]).chain((0..48).map(|i| i % 7)).collect();
    // libaec: 0, 13, 96, 159.
    assert_eq!(compress(&samples, &params(8, 8, 2, 8)).unwrap().1, [0, 33, 96, 159]);
}

#[test]
fn no_data_are_no_bytes_and_no_offsets() {
    assert_eq!(compress(&[], &params(16, 8, 2, 8)), Ok((vec![], vec![])));
}

#[test]
fn data_that_end_within_a_sample_are_refused() {
    for (bits, len, width) in [(16, 7, 2), (24, 4, 3), (17, 4, 3), (32, 6, 4)] {
        let error = compress(&vec![0; len], &params(bits, 8, 2, 8)).unwrap_err();
        assert_eq!(error.to_string(), format!("data length {len} is not a multiple of sample byte width {width}"));
    }
}

/// 70 blocks: the first has the reference, segments end after 64.
#[test]
fn runs_of_zeros_end_with_segments_and_intervals() {
    let params = params(8, 8, 70, 8);
    let mut samples = vec![0; 560];
    // Six blocks are left after the segment.
    assert_eq!(compress(&samples, &params).unwrap().0, bits("0000 00000000 00001 0000 00001"));
    samples.truncate(68 * 8);
    assert_eq!(compress(&samples, &params).unwrap().0, bits("0000 00000000 00001 0000 0001"));
    // A step at the end of block 5, after five blocks of zeros: pairs. Then a block of zeros again.
    samples.truncate(7 * 8);
    samples[47..].fill(1);
    assert_eq!(compress(&samples, &params).unwrap().0, bits("0000 00000000 000001 0001 1 1 1 001 0000 1"));
}

#[test]
fn bits_above_a_sample_are_left_out() {
    for (flags, high) in [(8, 1), (12, 0)] {
        let params = params(12, 8, 2, flags);
        let mut data: Vec<u8> = (0..64).map(|i| if i % 2 == high { i % 16 } else { i }).collect();
        let expected = compress(&data, &params).unwrap();
        data.iter_mut().skip(high.into()).step_by(2).for_each(|byte| *byte |= 0xa0);
        assert_eq!(compress(&data, &params), Ok(expected));
    }
}

#[test]
fn padded_intervals_start_at_bytes() {
    let params = params(8, 8, 1, flags::PREPROCESS | flags::PAD_RSI);
    let data: Vec<u8> = (0..80).map(|i| i % 17 * 15).collect();
    let (payload, offsets) = compress(&data, &params).unwrap();
    assert!(offsets.iter().all(|offset| offset % 8 == 0));
    assert_eq!(decoded(&payload, &params, data.len()), data);
}

/// A pair of 0 and 13 has no code. In blocks this long it would be shorter than splitting.
#[test]
fn pairs_without_a_code_are_split() {
    let params = params(8, 256, 1, flags::NOT_ENFORCE);
    for greatest in [12, 13] {
        let mut data = vec![0; 256];
        data[8] = greatest;
        let (payload, _) = compress(&data, &params).unwrap();
        assert_eq!(payload[0] >> 4 == 1, greatest == 12, "the ID of pairs is 0001");
        assert_eq!(decoded(&payload, &params, 256), data);
    }
}

#[test]
fn widths_follow_from_encoding_filter_and_dtype() {
    let stored = SzipParams { rsi: 128, block_size: 16, flags: 8 };
    let of = |packed, shuffled, dtype| params_of(packed, shuffled, dtype, stored);
    for bits in [8, 16, 24, 32] {
        for shuffled in [false, true] {
            assert_eq!(of(Some(bits), shuffled, Dtype::Float64), Ok(params(bits, 16, 128, 12)));
        }
    }
    for bits in [0, 1, 12, 17, 20, 31, 33, 64] {
        let error = of(Some(bits), false, Dtype::Float64).unwrap_err().to_string();
        assert!(error.starts_with(&format!("values of {bits} bits cannot be read back")), "{error}");
    }
    assert_eq!(of(None, true, Dtype::Float64), Ok(params(8, 16, 128, 8)));
    assert_eq!(of(None, false, Dtype::Float32), Ok(params(32, 16, 128, 8)));
    for (dtype, bits) in [(Dtype::Float64, 64), (Dtype::Complex128, 128), (Dtype::Bitmask, 0)] {
        let error = of(None, false, dtype).unwrap_err().to_string();
        assert_eq!(error, format!("bits_per_sample must be 1..=32, got {bits}"));
    }
}

/// Any parameters that are allowed.
fn any_params() -> impl Strategy<Value = Params> {
    let rsi = prop_oneof![1_u32..6, Just(64), Just(65), 1_u32..=4096];
    let block_size =
        prop_oneof![4 => (3_u32..=6).prop_map(|log| 1 << log), 1 => (1_u32..=128).prop_map(|half| 2 * half)];
    (1_u32..=32, block_size, rsi, 0_u32..128).prop_map(|(bits, block_size, rsi, mut flags)| {
        if bits > 4 {
            flags &= !flags::RESTRICTED;
        }
        if !matches!(block_size, 8 | 16 | 32 | 64) {
            flags |= flags::NOT_ENFORCE;
        }
        params(bits, block_size, rsi, flags)
    })
}

/// Samples in stretches: of one value, of small steps, of anything.
fn any_samples() -> impl Strategy<Value = Vec<u32>> {
    let stretch = (1_usize..200, any::<u32>(), 0_u32..33, any::<u64>()).prop_map(|(count, start, scale, seed)| {
        let (mut state, mut sample) = (seed | 1, start);
        let step = move |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let low = u32::try_from(state >> 32).unwrap_or(0);
            sample = sample.wrapping_add(low.checked_shr(32 - scale).unwrap_or(0));
            sample
        };
        (0..count).map(step).collect::<Vec<u32>>()
    });
    prop::collection::vec(stretch, 0..12).prop_map(|stretches| stretches.concat())
}

/// What a decoder makes of the lower bits of samples.
fn containers(samples: &[u32], params: &Params) -> Vec<u8> {
    let is_signed = params.bias() != 0;
    let size = params.container_size();
    let container = |sample: &u32| {
        let low = sample & params.max();
        let value = if is_signed && low > params.max() >> 1 { low | !params.max() } else { low };
        match params.byte_order() {
            ByteOrder::Little => value.to_le_bytes()[..size].to_vec(),
            ByteOrder::Big => value.to_be_bytes()[4 - size..].to_vec(),
        }
    };
    samples.iter().flat_map(container).collect()
}

proptest! {
    #[test]
    fn what_is_encoded_decodes_to_the_same(params in any_params(), samples in any_samples()) {
        let data = containers(&samples, &params);
        let (payload, offsets) = compress(&data, &params).unwrap();
        prop_assert_eq!(decoded(&payload, &params, data.len()), &data[..]);
        prop_assert_eq!(&offsets, &parsed_offsets(&payload, &params, data.len()));
        prop_assert_eq!(payload.is_empty(), samples.is_empty());
        for (index, offset) in offsets.into_iter().enumerate() {
            prop_assert_eq!(find_rsi(&payload, &params, index as u64), Ok(offset));
        }
    }

    /// A plain block with its ID is the worst that can become of one.
    #[test]
    fn streams_are_hardly_longer_than_samples(samples in any_samples()) {
        let params = params(16, 8, 2, 8);
        let data = containers(&samples, &params);
        let blocks = samples.len().div_ceil(8);
        prop_assert!(compress(&data, &params).unwrap().0.len() * 8 <= blocks * (128 + 4) + 8);
    }
}
