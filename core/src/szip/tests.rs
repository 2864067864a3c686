//! Payloads of the reference (PIPELINE §10), hand-made streams, and random bytes compared with a plain decoder.

mod pieces;
mod plain;

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::predict::{unmap, unmap_each};
use super::*;

/// The bytes that a string of hexadecimal digits stands for.
fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// The bytes of groups of bits. Zeros fill the last byte.
fn bits(groups: &str) -> Vec<u8> {
    let bits: Vec<u8> = groups.bytes().filter(|byte| *byte != b' ').map(|byte| byte - b'0').collect();
    let byte = |bits: &[u8]| bits.iter().chain(&[0; 8]).take(8).fold(0, |byte, bit| byte << 1 | bit);
    bits.chunks(8).map(byte).collect()
}

fn params(bits_per_sample: u32, block_size: u32, rsi: u32, flags: u32) -> Params {
    Params::new(bits_per_sample, block_size, rsi, flags).unwrap()
}

/// `count` samples as containers.
fn decoded(stream: &[u8], params: &Params, count: usize) -> Result<Vec<u8>> {
    let mut out = vec![0xaa; count * params.container_size()];
    decode_into(stream, params, &mut out).map(|()| out)
}

fn offsets(stream: &[u8], params: &Params, samples: u64) -> Result<Vec<u64>> {
    RsiOffsets::new(stream, params, samples).collect()
}

/// The last payload of PIPELINE §10, with an interval after a run of zero blocks.
fn zeros_then_fours() -> (Vec<u8>, Params, Vec<u8>) {
    let samples = [0; 12].into_iter().chain([9; 4]).chain((0..48).map(|i| i % 7)).collect();
    let stream = hex("0009f007b00fcb556ff36aad605e7aad9f9f55b4c133f5b53cfeb6a8");
    (stream, params(8, 8, 2, 8), samples)
}

#[test]
fn the_id_of_a_block_is_as_wide_as_samples_ask() {
    for bits in 1..=32 {
        let wide = match bits {
            ..9 => 3,
            9..17 => 4,
            _ => 5,
        };
        assert_eq!(params(bits, 8, 1, 0).id_bits(), wide, "{bits}");
    }
    let restricted = [1, 2, 3, 4].map(|bits| params(bits, 8, 1, flags::RESTRICTED).id_bits());
    assert_eq!(restricted, [1, 1, 2, 2]);
}

#[test]
fn blocks_are_even_and_have_at_most_256_samples() {
    let block = |samples| Params::new(8, samples, 1, flags::NOT_ENFORCE).map(|params| params.block_size());
    assert_eq!((block(2), block(256)), (Ok(2), Ok(256)));
    for samples in [0, 3, 257, 258] {
        assert_eq!(block(samples), Err(ErrorKind::SzipBlockSize(samples)));
    }
}

#[test]
fn a_block_may_split_all_bits_of_its_samples_off_and_not_more() {
    let ones = "1".repeat(8);
    let fields = "000 001 010 011 100 101 110 111";
    assert_eq!(decoded(&bits(&["100", &ones, fields].concat()), &params(3, 8, 1, 0), 8), Ok((0..8).collect()));
    let wider = "0000".repeat(8);
    let error = decoded(&bits(&["101", &ones, &wider].concat()), &params(3, 8, 1, 0), 8).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SzipStream);
}

#[test]
fn the_second_extension_reaches_the_largest_sample() {
    // A pair whose sum is 3, and three pairs of zeros.
    let mut samples = decoded(&bits("000 1 0000001 1 1 1"), &params(2, 8, 1, 0), 8).unwrap();
    samples.sort_unstable();
    assert_eq!(samples, [0, 0, 0, 0, 0, 0, 0, 3]);
}

#[test]
fn the_largest_differences_are_undone_either_way() {
    for mapped in [u32::MAX - 3, u32::MAX - 2, u32::MAX - 1, u32::MAX] {
        for before in [0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001] {
            let (mut either, mut plain) = ([mapped, 2], [mapped, 2]);
            let last = unmap_each(&mut plain, before, u32::MAX);
            assert_eq!((unmap(&mut either, mapped | 2, before, u32::MAX), either), (last, plain), "{mapped} {before}");
        }
    }
}

#[test]
fn offsets_tell_how_many_may_follow() {
    let mut offsets = RsiOffsets::new(&[], &params(8, 8, 2, 8), 33);
    assert_eq!(offsets.size_hint(), (1, Some(3)));
    assert!(offsets.next().is_some_and(|offset| offset.is_ok()));
    // The stream ends here.
    assert!(offsets.next().is_some_and(|offset| offset.is_err()));
    assert_eq!((offsets.size_hint(), offsets.next()), ((0, Some(0)), None));
}

#[test]
fn payloads_of_the_reference_decode_to_their_samples() {
    let eights: [(&str, u32, Vec<u8>); 6] = [
        ("2009249249249240", 8, (0..16).collect()),
        ("007401d00780", 8, vec![7; 40]),
        ("13c0", 0, vec![0, 1, 0, 0, 0, 0, 0, 0]),
        ("f91f92d230fffff000", 8, vec![200, 3, 150, 77, 9, 255, 0, 128]),
        ("20a493c0", 8, vec![5, 6, 7, 8, 9]),
        ("dfbf8088860847d0", 9, [-3_i8, -2, 0, 3, 2, 1, -1, -128].map(i8::cast_unsigned).to_vec()),
    ];
    for (payload, flags, samples) in eights {
        assert_eq!(decoded(&hex(payload), &params(8, 8, 2, flags), samples.len()), Ok(samples), "{payload}");
    }

    let values = [1000_u16, 1001, 1003, 1006, 1010, 1015, 1021, 1028];
    let (little, big) = (values.map(u16::to_le_bytes).concat(), values.map(u16::to_be_bytes).concat());
    let sixteens =
        [("403e8eaaa60a60", 8, &little), ("403e8eaaa60a60", 12, &big), ("ee803fc044004003002001400c00dfd8", 8, &big)];
    for (payload, flags, samples) in sixteens {
        let samples = Ok(samples.clone());
        assert_eq!(decoded(&hex(payload), &params(16, 8, 2, flags), 8), samples, "{payload} {flags}");
    }
}

#[test]
fn payloads_of_simple_packing_decode_to_bytes_and_values() {
    for (bits_per_sample, payload) in [(16, "103e82492480"), (24, "08001f41249240")] {
        let (stream, params) = (hex(payload), params(bits_per_sample, 8, 2, 12));
        let bytes: Vec<u8> =
            (1000_u32..1008).flat_map(|value| value.to_be_bytes()[4 - params.container_size()..].to_vec()).collect();
        assert_eq!(decoded(&stream, &params, 8), Ok(bytes));

        let formula = Formula { reference: 0.1, scale: 0.3 };
        let mut values = [[0; 8]; 5];
        let start = Start { bit_offset: 0, skip: 2 };
        decode_packed_with(&stream, &params, start, formula, &mut values, f64::to_be_bytes).unwrap();
        assert_eq!(values, [1002.0, 1003.0, 1004.0, 1005.0, 1006.0].map(|q: f64| (0.1 + 0.3 * q).to_be_bytes()));
    }
}

#[test]
fn values_of_signed_samples_are_what_their_bits_say() {
    let stream = hex("dfbf8088860847d0");
    let mut values = [0.0; 3];
    let formula = Formula { reference: 0.0, scale: 1.0 };
    decode_packed_with(&stream, &params(8, 8, 2, 9), Start::default(), formula, &mut values, |value| value).unwrap();
    assert_eq!(values.map(f64::to_bits), [253.0, 254.0, 0.0].map(f64::to_bits));
}

#[test]
fn packed_values_that_do_not_fill_bytes_are_not_decoded() {
    let formula = Formula { reference: 0.0, scale: 1.0 };
    let result = decode_packed_with(&[], &params(12, 8, 2, 8), Start::default(), formula, &mut [0.0], |value| value);
    assert_eq!(result, Err(ErrorKind::SzipBitsPerSample(12).at(0)));
}

#[test]
fn offsets_are_the_true_ones_where_libaec_writes_others() {
    let (stream, params, samples) = zeros_then_fours();
    assert_eq!(decoded(&stream, &params, 64), Ok(samples.clone()));
    // libaec: 0, 13, 96, 159.
    assert_eq!(offsets(&stream, &params, 64), Ok(vec![0, 33, 96, 159]));
    assert_eq!(find_rsi(&stream, &params, 2), Ok(96));

    let mut out = [0; 16];
    decode_range_into(&stream, &params, [0, 33, 96, 159], 16, &mut out).unwrap();
    assert_eq!(out, samples[16..32]);
    decode_range_into(&stream, &params, [0, 13, 96, 159], 16, &mut out).unwrap();
    assert_ne!(out, samples[16..32], "a wrong offset is not noticed");
    decode_range_into(&stream, &params, [], 16, &mut out).unwrap();
    assert_eq!(out, samples[16..32], "without offsets the stream is read");
}

#[test]
fn every_range_is_a_part_of_the_whole() {
    let (stream, params, samples) = zeros_then_fours();
    for first in 0..64 {
        for end in first..64 {
            let mut out = vec![0xaa; end - first];
            decode_range_into(&stream, &params, [0, 33], first as u64, &mut out).unwrap();
            assert_eq!(out, samples[first..end], "{first}..{end}");
        }
    }
}

#[test]
fn an_interval_ends_where_the_next_one_starts() {
    let (stream, params, samples) = zeros_then_fours();
    let ends = [33, 96, 159, 222];
    for ((bit_offset, end), samples) in [0, 33, 96, 159].into_iter().zip(ends).zip(samples.chunks(16)) {
        let mut out = [0; 16];
        let start = Start { bit_offset, skip: 0 };
        assert_eq!(decode_from(&stream, &params, start, &mut out), Ok(end));
        assert_eq!(out, samples);
    }
}

/// Intervals of [`plain_intervals`].
const PLAIN: u64 = 1000;
/// Bits of each of these intervals: an ID and eight samples.
const PLAIN_BITS: u64 = 3 + 64;

/// A source of stored offsets.
type Stored<'a> = &'a dyn Fn(u64) -> Option<u64>;

/// Intervals of one uncompressed block each.
fn plain_intervals() -> (Vec<u8>, Params) {
    let interval = ["111", &"00000101".repeat(8)].concat();
    let mut stream = interval.repeat(PLAIN as usize);
    stream.push_str(&"0".repeat(stream.len().next_multiple_of(8) - stream.len()));
    (bits(&stream), params(8, 8, 1, flags::PREPROCESS))
}

#[test]
fn intervals_found_in_ascending_order_are_read_once() {
    let (stream, params) = plain_intervals();
    let right = |index: u64| Some(index * PLAIN_BITS);
    let wrong = |index: u64| Some(index * PLAIN_BITS + 1);
    let none = |_: u64| None;
    // The intervals to find, and how many may be read for each.
    let all = || (0..PLAIN).collect::<Vec<_>>();
    let some = || (0..PLAIN).step_by(37).collect::<Vec<_>>();
    let last = || vec![PLAIN - 1; 640];
    let tries = 2 * u64::from(PLAIN.ilog2());
    let stored: [(Stored<'_>, Vec<u64>, u64); 9] = [
        (&none, all(), PLAIN),
        (&none, some(), PLAIN),
        (&none, last(), PLAIN),
        (&right, all(), PLAIN),
        (&right, some(), 2 * some().len() as u64),
        (&right, last(), 2),
        (&wrong, all(), PLAIN + tries),
        (&wrong, some(), PLAIN + tries),
        (&wrong, last(), PLAIN + tries),
    ];
    for (number, (stored, wanted, bound)) in stored.into_iter().enumerate() {
        let mut finder = RsiFinder::new(&stream, &params);
        for index in wanted {
            assert_eq!(finder.find(index, stored), Ok(index * PLAIN_BITS), "{number}");
        }
        if number == 0 {
            assert_eq!(finder.intervals_read(), PLAIN - 1);
        }
        assert!(finder.intervals_read() <= bound, "{number}: {} of {bound}", finder.intervals_read());
    }
}

#[test]
fn stored_offsets_are_tried_farther_back_while_wrong_and_closer_while_right() {
    let (stream, params) = plain_intervals();
    let right = |index: u64| Some(index * PLAIN_BITS);
    let wrong = |index: u64| Some(index * PLAIN_BITS + 1);
    let mut finder = RsiFinder::new(&stream, &params);
    // Finds an interval, and returns how many were read for it.
    let mut find = |index: u64, stored: Stored<'_>| {
        let before = finder.intervals_read();
        assert_eq!(finder.find(index, stored), Ok(index * PLAIN_BITS));
        finder.intervals_read() - before
    };
    assert_eq!(find(2, &wrong), 2, "so near, none is tried");
    assert_eq!(find(100, &wrong), 98 + 6, "those 2, 4, 8, 16, 32 and 64 before it are tried");
    let all = [300, 400, 500, 600, 700, 800, 900, 999];
    assert_eq!(all.map(|index| find(index, &right)), [128, 64, 32, 16, 8, 4, 2, 2]);
}

#[test]
fn stored_offsets_are_confirmed_by_the_first_two_intervals() {
    let (stream, params) = plain_intervals();
    let right = |index: u64| Some(index * PLAIN_BITS);
    let mut finder = RsiFinder::new(&stream, &params);
    assert_eq!(finder.confirm(right, 3, 10), Some(10 * PLAIN_BITS));
    assert_eq!(finder.confirm(right, 3, 5), Some(5 * PLAIN_BITS));
    assert_eq!((finder.confirm(right, 3, 4), finder.confirm(right, 5, 3)), (None, None));
    assert_eq!(finder.confirm(|index| Some(index * PLAIN_BITS + 1), 3, 10), None);
    assert_eq!(finder.confirm(|index| (index != 5).then_some(index * PLAIN_BITS), 3, 10), None);
    assert_eq!(finder.confirm(|index| (index != 6).then_some(index * PLAIN_BITS), 3, 10), Some(10 * PLAIN_BITS));
}

#[test]
fn an_interval_before_the_last_one_is_found_too() {
    let (stream, params) = plain_intervals();
    let mut finder = RsiFinder::new(&stream, &params);
    for index in [900, 3, 4, 999, 0] {
        assert_eq!(finder.find(index, |_| None), Ok(index * PLAIN_BITS));
        assert_eq!(
            find_rsi_near(&stream, &params, |index| Some(index * PLAIN_BITS + 1), index),
            Ok(index * PLAIN_BITS)
        );
    }
    assert!(finder.find(PLAIN + 1, |_| None).is_err());
    assert_eq!(finder.find(7, |_| None), Ok(7 * PLAIN_BITS), "an error is not the end");
}

#[test]
fn what_was_decoded_leads_to_the_next_interval() {
    let (stream, params) = plain_intervals();
    let mut finder = RsiFinder::new(&stream, &params);
    let mut out = [0; 24];
    let start = finder.find_sample(80, |_| None).unwrap();
    let read = finder.intervals_read();
    let end = decode_from(&stream, &params, start, &mut out).unwrap();
    finder.decoded_to(104, end);
    assert_eq!(finder.find_sample(107, |_| None), Ok(Start { bit_offset: 13 * PLAIN_BITS, skip: 3 }));
    assert_eq!(finder.intervals_read(), read);
    // The middle of an interval does not show where an interval starts.
    finder.decoded_to(107, 1);
    assert_eq!(finder.find(13, |_| None), Ok(13 * PLAIN_BITS));
}

#[test]
fn padded_intervals_start_at_bytes() {
    let one = hex("007401d00780");
    // Two blocks in 14 bits, and again after two bits of padding.
    let stream = [&one[..2], &one[..2]].concat();
    let params = params(8, 8, 2, 8 | flags::PAD_RSI);
    assert_eq!(decoded(&stream, &params, 32), Ok(vec![7; 32]));
    assert_eq!(offsets(&stream, &params, 33), Ok(vec![0, 16, 32]));
}

#[test]
fn restricted_ids_are_shorter() {
    // Two bits a sample: one bit of ID. A zero block with reference 2 (and codes for one block), then plain fields.
    let stream = bits("0 0 10 1   1 00 01 10 11 00 01 10 11");
    let with = params(2, 8, 1, 8 | flags::RESTRICTED);
    assert_eq!(decoded(&stream, &with, 8), Ok(vec![2; 8]));
    let stream = bits("1 00 01 10 11 00 01 10 11");
    let without_predictor = params(2, 8, 1, flags::RESTRICTED);
    assert_eq!(decoded(&stream, &without_predictor, 8), Ok(vec![0, 1, 2, 3, 0, 1, 2, 3]));
}

#[test]
fn run_of_64_zero_blocks_may_be_a_number() {
    let number = std::format!("000 0 00000101 {}1", "0".repeat(64));
    let to_the_end = "000 0 00000101 00001";
    for stream in [bits(&number), bits(to_the_end)] {
        let params = params(8, 8, 64, 8);
        assert_eq!(decoded(&stream, &params, 512), Ok(vec![5; 512]));
    }
}

#[test]
fn run_of_zero_blocks_ends_with_its_segment() {
    // Blocks 0 to 63, then 64 to 69.
    let stream = bits("000 0 00000101 00001  000 0 00001  111");
    let params = params(8, 8, 70, 8);
    let mut out = [0; 560];
    assert_eq!(decode_from(&stream, &params, Start::default(), &mut out), Ok(26));
    assert_eq!(out, [5; 560]);
}

#[test]
fn run_of_zero_blocks_beyond_its_interval_is_invalid() {
    let stream = bits("000 0 00000101 001");
    assert_eq!(decoded(&stream, &params(8, 8, 3, 8), 8), Ok(vec![5; 8]));
    assert_eq!(decoded(&stream, &params(8, 8, 2, 8), 8), Err(ErrorKind::SzipStream.at(0)));
}

#[test]
fn second_extension_beyond_90_is_invalid() {
    let stream = |code: usize| bits(&std::format!("000 1 {}1 111", "0".repeat(code)));
    assert_eq!(decoded(&stream(90), &params(8, 8, 1, 0), 8), Ok(vec![0, 12, 0, 0, 0, 0, 0, 0]));
    assert_eq!(decoded(&stream(91), &params(8, 8, 1, 0), 8), Err(ErrorKind::SzipStream.at(0)));
}

#[test]
fn values_wider_than_samples_are_invalid() {
    let params = params(3, 8, 1, 0);
    let second_block = |code: &str| bits(&std::format!("001 11111111  {code}"));
    // k = 1: quotients of 4 are too large; so are 8 at k = 0, and any at k = 4.
    let seven = second_block("010 00011111111 10000000");
    assert_eq!(decoded(&seven, &params, 16).map(|samples| samples[8]), Ok(7));
    for invalid in ["010 000011111111 00000000", "001 000000001 1111111", "101 11111111"] {
        let mut stream = second_block(invalid);
        stream.extend([0; 8]);
        assert_eq!(decoded(&stream, &params, 16), Err(ErrorKind::SzipStream.at(1)), "{invalid}");
    }
}

#[test]
fn unary_codes_of_thousands_of_zeros_are_read() {
    for zeros in [55_u16, 56, 57, 63, 64, 65, 4000] {
        let stream = bits(&std::format!("0001 {}1 1111111", "0".repeat(zeros.into())));
        let expected = [zeros, 0, 0, 0, 0, 0, 0, 0].map(u16::to_be_bytes).concat();
        assert_eq!(decoded(&stream, &params(16, 8, 1, 4), 8), Ok(expected), "{zeros}");
    }
}

#[test]
fn cut_streams_are_truncated_at_their_end() {
    let (stream, params, _) = zeros_then_fours();
    for len in 0..stream.len() {
        let truncated = Err(ErrorKind::Truncated.at_index(len));
        assert_eq!(decoded(&stream[..len], &params, 64), truncated, "{len}");
        assert_eq!(find_rsi(&stream[..len], &params, 4).map(|_| vec![]), truncated, "{len}");
    }
    let start = Start { bit_offset: 225, skip: 0 };
    assert_eq!(decode_from(&stream, &params, start, &mut [0]), Err(ErrorKind::Truncated.at(28)));
}

#[test]
fn output_of_no_samples_needs_no_stream() {
    assert_eq!(decoded(&[], &params(8, 8, 1, 8), 0), Ok(vec![]));
    assert_eq!(offsets(&[], &params(8, 8, 1, 8), 0), Ok(vec![]));
    assert_eq!(offsets(&[], &params(8, 8, 1, 8), 1), Ok(vec![0]));
}

#[test]
fn part_of_a_sample_is_not_an_output_length() {
    for bits_per_sample in [16, 24, 32] {
        let result = decode_into(&[0; 9], &params(bits_per_sample, 8, 1, 8), &mut [0; 5]);
        assert_eq!(result, Err(ErrorKind::OutputLength.at(0)));
    }
}

#[test]
fn parameters_outside_their_ranges_are_refused() {
    let refused = |bits, block_size, rsi, flags| Params::new(bits, block_size, rsi, flags).unwrap_err();
    assert_eq!(refused(0, 8, 1, 0), ErrorKind::SzipBitsPerSample(0));
    assert_eq!(refused(33, 8, 1, 0), ErrorKind::SzipBitsPerSample(33));
    assert_eq!(refused(8, 12, 1, 8), ErrorKind::SzipBlockSize(12));
    assert_eq!(refused(8, 7, 1, flags::NOT_ENFORCE), ErrorKind::SzipBlockSize(7));
    assert_eq!(refused(8, 0, 1, flags::NOT_ENFORCE), ErrorKind::SzipBlockSize(0));
    assert_eq!(refused(8, 258, 1, flags::NOT_ENFORCE), ErrorKind::SzipBlockSize(258));
    assert_eq!(refused(8, 8, 0, 0), ErrorKind::SzipRsi(0));
    assert_eq!(refused(8, 8, 4097, 0), ErrorKind::SzipRsi(4097));
    assert_eq!(refused(5, 8, 1, flags::RESTRICTED), ErrorKind::SzipRestricted(5));
    assert_eq!(params(8, 12, 4096, flags::NOT_ENFORCE).samples_per_rsi().get(), 49_152);
}

#[test]
fn containers_are_the_bytes_that_hold_the_bits() {
    let size = |bits_per_sample| params(bits_per_sample, 8, 1, 0).container_size();
    assert_eq!([1, 8, 9, 16, 17, 24, 25, 32].map(size), [1, 1, 2, 2, 3, 3, 4, 4]);
    let count = |samples| params(8, 8, 2, 0).rsi_count(samples);
    assert_eq!([0, 1, 16, 17, u64::MAX].map(count), [0, 1, 1, 2, 1 << 60]);
}

/// Parameters of all kinds.
fn any_params() -> impl Strategy<Value = Params> {
    let block_size = prop_oneof![Just(8_u32), Just(16), Just(32), Just(64), (1..40_u32).prop_map(|half| half * 2)];
    let rsi = prop_oneof![1..5_u32, 60..70_u32, 1..=MAX_RSI];
    (1..=32_u32, block_size, rsi, 0..64_u32).prop_map(|(bits_per_sample, block_size, rsi, flags)| {
        let restricted = if bits_per_sample > 4 { flags::RESTRICTED } else { 0 };
        params(bits_per_sample, block_size, rsi, flags & !restricted | flags::NOT_ENFORCE)
    })
}

/// Bytes with parts that are only zeros, or have few or many bits set. So all options occur, and unary codes end.
fn any_stream() -> impl Strategy<Value = Vec<u8>> {
    let dense = prop::collection::vec(
        prop_oneof![any::<u8>(), Just(0xff), (any::<u8>(), any::<u8>()).prop_map(|(a, b)| a | b)],
        0..40,
    );
    let sparse = prop::collection::vec((any::<u8>(), any::<u8>()).prop_map(|(a, b)| a & b), 0..40);
    prop::collection::vec(prop_oneof![dense, sparse], 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_stream_decodes_as_the_plain_decoder_does(
        stream in any_stream(),
        params in any_params(),
        at in 0..1_usize << 16,
        skip in prop_oneof![Just(0_usize), 0..200_usize],
        count in prop_oneof![1..40_usize, 1..3000_usize],
    ) {
        let is_padded = params.has(flags::PAD_RSI);
        let bit_offset = if at & 1 == 0 { 0 } else { at % (stream.len() * 8 + 1) };
        let bit_offset = if is_padded { bit_offset & !7 } else { bit_offset };
        let mut out = vec![0; count];
        let start = Start { bit_offset: bit_offset as u64, skip: skip as u64 };
        let result = decode_with(&stream, &params, start, &mut out, |sample| sample);
        match plain::decode(&stream, &params, bit_offset, skip + count) {
            None => prop_assert!(matches!(result.unwrap_err().kind(), ErrorKind::Truncated | ErrorKind::SzipStream)),
            Some((samples, end)) => {
                let samples: Vec<u32> = samples[skip..].iter().map(|&sample| sample as u32).collect();
                prop_assert_eq!(out, samples);
                // The plain decoder pads before an interval, the other one after it.
                let position = |end: u64| if is_padded { end.next_multiple_of(8) } else { end };
                prop_assert_eq!(result.map(position), Ok(position(end as u64)));
            }
        }
    }

    #[test]
    fn walk_stops_where_decoding_does(stream in any_stream(), params in any_params()) {
        let per_rsi = params.samples_per_rsi().get() as usize;
        let mut expected = vec![Ok(0)];
        let mut out = vec![0; per_rsi.min(20_000)];
        while out.len() == per_rsi && expected.len() < 20 && let Some(Ok(bit_offset)) = expected.last() {
            let start = Start { bit_offset: *bit_offset, skip: 0 };
            expected.push(decode_with(&stream, &params, start, &mut out, |sample| sample));
        }
        let walk: Vec<_> = RsiOffsets::new(&stream, &params, (per_rsi * expected.len()) as u64).collect();
        prop_assert_eq!(walk, expected);
    }

    #[test]
    fn no_request_panics(
        stream in any_stream(),
        params in any_params(),
        bit_offset in prop_oneof![0..4000_u64, any::<u64>()],
        skip in prop_oneof![0..4000_u64, any::<u64>()],
        len in 0..500_usize,
    ) {
        let mut out = vec![0; len];
        let start = Start { bit_offset, skip };
        if let Ok(end) = decode_from(&stream, &params, start, &mut out) {
            prop_assert!(end >= bit_offset && end <= stream.len() as u64 * 8);
        }
        let _ = decode_range_into(&stream, &params, [skip], bit_offset, &mut out);
        let _ = find_rsi(&stream, &params, skip);
        let _ = RsiOffsets::new(&stream, &params, bit_offset).last();
    }

    #[test]
    fn unmapped_differences_are_as_the_formula_has_them(
        bits_per_sample in 1..=32_u32,
        before in any::<u32>(),
        spread in 0..32_u32,
        noise in prop::collection::vec(any::<u32>(), 0..70),
    ) {
        let params = params(bits_per_sample, 8, 1, 0);
        let (max, before) = (params.max(), before & params.max());
        let mut values: Vec<u32> = noise.iter().map(|value| (value >> spread) & max).collect();
        let mut last = i64::from(before);
        let expected: Vec<u32> = values
            .iter()
            .map(|&value| {
                last = plain::unmap(value.into(), last, &params);
                last as u32
            })
            .collect();
        let all = values.iter().fold(0, |all, value| all | value);
        let end = unmap(&mut values, all, before, max);
        prop_assert_eq!(&values, &expected);
        prop_assert_eq!(i64::from(end), last);
    }
}
