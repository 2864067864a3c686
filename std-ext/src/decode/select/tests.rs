//! What a selection costs: decoded bytes are counted, nothing is timed.

use std::num::NonZeroU64;

use tgm_codec::Done;
use tgm_core::Message;
use tgm_core::descriptor::ZfpMode;
use tgm_core::selection::Pick;
use tgm_core::stored::stored_len;

use super::*;
use crate::decode::cost::is_whole_cheaper;
use crate::{CompressionBackend, MessageBuilder, ObjectBuilder, read};

/// Columns of a square field.
const SIDE: u64 = 512;

fn encoded(how: impl FnOnce(ObjectBuilder<'_>) -> ObjectBuilder<'_>) -> Vec<u8> {
    let values: Vec<f64> = (0..u32::try_from(SIDE * SIDE).unwrap()).map(|at| f64::from(at * 31 % 4096)).collect();
    MessageBuilder::new().object(how(ObjectBuilder::new(&[SIDE, SIDE], &values).unwrap())).encode().unwrap()
}

/// The work that a selection takes. Its values are compared with the whole.
fn work(bytes: &[u8], picks: &[Pick]) -> Done {
    let object = Message::parse(bytes).unwrap().object(0).unwrap();
    let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
    let whole = read(&object).options(&options).values::<f64>().unwrap();
    let selection = selection(object.descriptor(), picks).unwrap();
    let elements = element_ranges(&selection, 0).flatten().map(|element| usize::try_from(element).unwrap());
    let expected: Vec<f64> = elements.map(|element| whole[element]).collect();
    let mut out = vec![-1.0; expected.len()];
    let before = scratch.work.done_so_far();
    read(&object).select(picks).options(&options).scratch(&mut scratch).values_into(&mut out).unwrap();
    assert!(out == expected, "{picks:?}");
    scratch.work.done_so_far() - before
}

#[test]
fn what_is_written_is_what_is_returned() {
    let bytes = MessageBuilder::new().object(ObjectBuilder::new(&[2, 3], &[1_u8, 2, 3, 4, 5, 6]).unwrap());
    let bytes = bytes.encode().unwrap();
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let (picks, options, mut out) = ([Pick::All, Pick::from(1..3)], DecodeOptions::default(), [0; 4]);
    read(&object).select(&picks).options(&options).bytes_into(&mut out).unwrap();
    assert_eq!((out, &*read(&object).select(&picks).bytes().unwrap()), ([2, 3, 5, 6], &out[..]));
    assert_eq!(*read(&object).bytes().unwrap(), [1, 2, 3, 4, 5, 6]);
    let (descriptor, ranges) = (DataObjectDescriptor::new(crate::Dtype::Uint8, ByteOrder::Little, &[6]), [(4, 2)]);
    let parts = crate::decode_range_from_payload(&descriptor, object.payload(), &ranges, &options).unwrap();
    assert_eq!(parts, [[5, 6]]);
}

fn every(start: u64, step: u64) -> Pick {
    Pick::Range { start, end: SIDE, step: NonZeroU64::new(step).unwrap() }
}

#[test]
fn a_box_decodes_the_intervals_of_szip_that_it_touches_once() {
    // Intervals of 16 blocks of 16 values: two a row.
    let bytes = encoded(|object| object.simple_packing(16).szip().parameter("szip_rsi", 16));
    let interval = {
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        let params = object.descriptor().szip().unwrap();
        u64::from(params.rsi * params.block_size)
    };
    assert_eq!(interval, 256);
    for (picks, touched) in [
        (vec![Pick::from(100..164), Pick::from(10..74)], 64),
        (vec![Pick::from(100..164), Pick::from(300..301)], 64),
        (vec![every(0, 10), every(3, 100)], 104),
        (vec![every(3, 16), Pick::from(250..260)], 64),
        (vec![Pick::Index(500), every(0, 7)], 2),
        (vec![Pick::from(7..9), Pick::All], 4),
    ] {
        let done = work(&bytes, &picks);
        // Two bytes a value.
        assert!(done.decoded <= 2 * interval * touched && done.decoded > 0, "{picks:?}: {done:?}");
        assert!(done.passed <= 2 * interval * 3 * touched, "{picks:?}: {done:?}");
    }
}

#[test]
fn everything_is_decoded_at_once_where_parts_cost_as_much() {
    let bytes = encoded(|object| object.simple_packing(16).szip().parameter("szip_rsi", 16));
    let zfp = encoded(|object| object.zfp(ZfpMode::FixedRate(16.0)));
    // Work on the whole is not counted.
    for picks in [vec![Pick::All, every(0, 100)], vec![Pick::All, Pick::from(1..500)], vec![every(0, 2), Pick::All]] {
        assert_eq!(work(&bytes, &picks).decoded, 0, "{picks:?}");
    }
    assert_eq!(work(&zfp, &[Pick::All, every(1, 4)]).decoded, 0);
    // Every other block of four values, and every other row.
    assert_eq!(work(&zfp, &[Pick::All, every(1, 64)]).decoded, SIDE * 8 * 32);
    assert_eq!(work(&zfp, &[every(0, 2), Pick::All]).decoded, SIDE / 2 * SIDE * 8);
}

#[test]
fn much_is_not_decoded_at_once_for_little() {
    // As above, if the whole had more bytes than are free.
    let bytes = encoded(|object| object.simple_packing(16).szip().parameter("szip_rsi", 16));
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let (descriptor, picks) = (object.descriptor(), [Pick::All, every(0, 100)]);
    let selection = selection(descriptor, &picks).unwrap();
    let codec = tgm_codec::codec(descriptor.compression().known().unwrap(), CompressionBackend::Auto).unwrap();
    let total = stored_len(descriptor).unwrap();
    let mut work = tgm_codec::Workspace::default();
    let mut parts = codec.open_parts(object.payload(), descriptor, total, total, &mut work).unwrap().unwrap();
    let rows = |block| element_ranges(&selection, block);
    let mut is_whole = |total, out_len| is_whole_cheaper(&mut *parts, descriptor, rows, total, out_len);
    assert!(is_whole(total, 1).unwrap());
    assert!(!is_whole((64 << 20) + 1, 1).unwrap());
}

#[test]
fn memory_is_that_of_a_window_however_many_rows_there_are() {
    let bytes = encoded(|object| object.simple_packing(12));
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
    let picks = [Pick::All, every(0, 2)];
    let mut out = vec![0.0_f32; usize::try_from(SIDE * SIDE / 2).unwrap()];
    read(&object).select(&picks).options(&options).scratch(&mut scratch).values_into(&mut out).unwrap();
    assert!(scratch.window.len() <= 2048 * 8 && scratch.values.len() <= CONVERTED * 8 && scratch.bytes.is_empty());
}

/// Chunks of converted values and rows do not end together.
#[test]
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method by itself has one lifetime only")]
fn a_converted_box_may_end_its_rows_anywhere() {
    let side = usize::try_from(SIDE).unwrap();
    for bytes in [
        encoded(|object| object),
        encoded(|object| object.simple_packing(16).szip()),
        encoded(|object| object.shuffle()),
    ] {
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        let options = DecodeOptions::default();
        let whole = read(&object).options(&options).values::<f32>().unwrap();
        for columns in [1..301, 5..12, 100..101] {
            let picks = [Pick::from(3..40), Pick::from(columns.start as u64..columns.end as u64)];
            let rows: Vec<f32> = (3..40).flat_map(|row| whole[row * side..][columns.clone()].to_vec()).collect();
            assert_eq!(read(&object).select(&picks).options(&options).values::<f32>().unwrap(), rows, "{columns:?}");
        }
    }
}

/// Rows of bits that are long enough to be decoded to their place, where they begin with a byte and where they do not. The
/// payload is long enough for zstd to have parts.
#[cfg(feature = "zstd")]
#[test]
fn rows_of_compressed_bits_may_begin_anywhere() {
    let shape = [4000, 1600];
    let bits: Vec<u8> = (0..4000 * 1600 / 8_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    let encoded = |object: ObjectBuilder<'_>| MessageBuilder::new().object(object).encode().unwrap();
    let bytes = encoded(ObjectBuilder::bitmask(&shape, &bits).zstd(1));
    let plain = encoded(ObjectBuilder::bitmask(&shape, &bits));
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let plain = Message::parse(&plain).unwrap().object(0).unwrap();
    for columns in [0..264, 3..267, 0..259, 5..306, 7..20] {
        let picks = [Pick::from(1..20), Pick::from(columns)];
        let expected = read(&plain).select(&picks).bytes().unwrap();
        assert_eq!(read(&object).select(&picks).bytes().unwrap(), expected, "{picks:?}");
    }
}

/// A step over values whose bytes are swapped.
#[test]
fn every_other_value_of_the_other_byte_order_is_that_of_the_whole() {
    let other = if cfg!(target_endian = "big") { ByteOrder::Little } else { ByteOrder::Big };
    let data: Vec<u8> = (0..4 * 12 * 2_u32).map(|i| i.to_be_bytes()[3]).collect();
    let descriptor = DataObjectDescriptor::new(tgm_core::descriptor::Dtype::Uint16, other, &[4, 12]);
    let bytes = MessageBuilder::new().object(ObjectBuilder::from_parts(descriptor, data)).encode().unwrap();
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let options = DecodeOptions::default();
    let whole = read(&object).options(&options).values::<u16>().unwrap();
    for step in [1, 2, 5] {
        let picks = [Pick::from(1..3), Pick::Range { start: 1, end: 12, step: NonZeroU64::new(step).unwrap() }];
        let rows = [1, 2].map(|row| whole[row * 12 + 1..][..11].iter().step_by(usize::try_from(step).unwrap()));
        let expected: Vec<u16> = rows.into_iter().flatten().copied().collect();
        assert_eq!(read(&object).select(&picks).options(&options).values::<u16>().unwrap(), expected, "{step}");
    }
}

/// Values that are selected here and there are decoded together, as far as that takes less time than one by one.
#[test]
fn packed_values_are_unpacked_with_wider_gaps_than_others_have() {
    let is_in_windows = |object: ObjectBuilder<'_>, step| {
        let bytes = MessageBuilder::new().object(object).encode().unwrap();
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
        let picks = [Pick::Index(1), every(0, step)];
        let mut out = vec![0.0; usize::try_from(SIDE.div_ceil(step)).unwrap()];
        read(&object).select(&picks).options(&options).scratch(&mut scratch).values_into(&mut out).unwrap();
        !scratch.window.is_empty()
    };
    let values = vec![1.5; usize::try_from(SIDE * SIDE).unwrap()];
    let object = || ObjectBuilder::new(&[SIDE, SIDE], &values).unwrap();
    assert!(is_in_windows(object().simple_packing(12), 20) && is_in_windows(object().simple_packing(12), 100));
    assert!(is_in_windows(object().shuffle(), 20) && !is_in_windows(object().shuffle(), 100));
}

/// Bits that begin with a byte are decoded to their place, without a copy.
#[test]
fn rows_of_bits_that_begin_with_a_byte_take_no_window() {
    let bits = vec![0xa5; 400 * 8 / 8];
    let object = ObjectBuilder::bitmask(&[8, 400], &bits).shuffle().parameter("shuffle_element_size", 2);
    let bytes = MessageBuilder::new().object(object).encode().unwrap();
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let takes_window = |columns: Range<u64>| {
        let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
        let picks = [Pick::from(1..4), Pick::from(columns.clone())];
        let len = (3 * (columns.end - columns.start)).div_ceil(8);
        let mut out = vec![0; usize::try_from(len).unwrap()];
        read(&object).select(&picks).options(&options).scratch(&mut scratch).bytes_into(&mut out).unwrap();
        !scratch.window.is_empty()
    };
    assert!(!takes_window(8..8 + 264));
    assert!(takes_window(8..8 + 263), "the second row begins within a byte");
}

/// What lies in front of everything selected needs no memory, and what lies after it is not read.
#[test]
fn a_single_window_keeps_no_runs_of_masks() {
    let mut values = vec![1.5_f64; 100];
    values[3..6].fill(f64::NAN);
    let options = crate::EncodeOptions {
        allow_nan: true,
        nan_mask_method: crate::MaskMethod::Rle,
        small_mask_threshold_bytes: 0,
        ..crate::EncodeOptions::default()
    };
    let object = ObjectBuilder::new(&[100], &values).unwrap();
    let bytes = MessageBuilder::new().object(object).options(options).encode().unwrap();
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let (mut scratch, mut out) = (Scratch::default(), [0.0_f64; 10]);
    read(&object).select(&[Pick::from(0..10)]).scratch(&mut scratch).values_into(&mut out).unwrap();
    assert!(out[5].is_nan() && scratch.runs.iter().all(|runs| runs.capacity() == 0));
}

/// What is not wanted does not count, and nothing is computed for it.
#[test]
fn a_few_values_of_an_object_beyond_the_limits_can_be_had() {
    let mut options = DecodeOptions::default();
    options.limits.max_decoded_bytes = 100;
    let values = [1.5_f64; 64];
    let other = if cfg!(target_endian = "big") { ByteOrder::Little } else { ByteOrder::Big };
    let swapped = DataObjectDescriptor::new(tgm_core::descriptor::Dtype::Float64, other, &[64]);
    for object in [
        ObjectBuilder::new(&[64], &values).unwrap().simple_packing(16),
        ObjectBuilder::from_parts(swapped, vec![0; 64 * 8]),
        ObjectBuilder::new(&[64], &values).unwrap(),
    ] {
        let bytes = MessageBuilder::new().object(object).encode().unwrap();
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        assert_eq!(read(&object).select(&[Pick::from(8..16)]).options(&options).bytes().unwrap().len(), 64);
    }
}
