//! What ranges cost: decoded bytes and runs of masks are counted, nothing is timed.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]

use std::ops::Range;
#[cfg(feature = "blosc2-decode")]
use std::path::Path;

use tgm_codec::threads::Threads;
use tgm_codec::{CodecError, PartReader};
use tgm_core::Message;
use tgm_core::descriptor::ZfpMode;
use tgm_core::object::DataObject;
use tgm_core::stored::stored_len;

use super::super::each_range::{decode_ranges, decode_ranges_into};
use super::super::object_of_frame;
use super::super::plan::target_order;
use super::super::scratch::Scratch;
use super::super::trust::Trusted;
use super::super::whole::decode_values;
use super::PayloadParts;
use crate::base::options::{DecodeOptions, EncodeOptions};
use crate::compat::framing::encode_data_object_frame;
use crate::decode::masks::ascending::RUNS_READ;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::{MaskMethod, MessageBuilder, ObjectBuilder};

/// Values of each object. Machines of 32 bits are emulated, and slow.
const COUNT: u64 = if usize::BITS < u64::BITS { 50_000 } else { 200_000 };
/// Ranges of each call.
const RANGES: u64 = 640;

/// A number for each seed that looks like chance.
fn mixed(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
}

/// Lists of ranges that try to have things done twice, of an object with `count` values.
fn adversaries(count: u64) -> Vec<(&'static str, Vec<(u64, u64)>)> {
    let len = 64.min(count / 4);
    let scattered: Vec<_> = (0..RANGES).map(|n| (mixed(n) % (count - len), len)).collect();
    let mut ascending = scattered.clone();
    ascending.sort_unstable();
    let descending = ascending.iter().copied().rev().collect();
    let step = (count / 2 / RANGES).max(1);
    vec![
        ("scattered", scattered),
        ("ascending", ascending),
        ("descending", descending),
        ("the same", vec![(count / 2, len); 640]),
        ("one after the other", (0..RANGES).map(|n| (n * len % (count - len), len)).collect()),
        ("overlapping", (0..RANGES).map(|n| (n * len / 4 % (count - len), len)).collect()),
        ("long ones, each a little later", (0..40).map(|n| (n * step, count / 2)).collect()),
        ("long and short by turns", (0..RANGES).map(|n| (n * step, if n % 40 == 0 { count / 3 } else { 1 })).collect()),
        ("single values", (0..RANGES).map(|n| (mixed(n) % count, 1)).collect()),
        ("nothing", (0..RANGES).map(|n| (mixed(n) % count, 0)).collect()),
        ("all, and the last", vec![(0, count), (count - 1, 1), (count, 0)]),
    ]
}

/// Checks the values of each list of ranges, and calls `check` with the list's name and what it took to decode them.
fn each_list(object: &DataObject<'_>, mut check: impl FnMut(&str, tgm_codec::Done)) {
    let options = DecodeOptions::default();
    let order = target_order(object.descriptor(), &options);
    let object = Trusted::new(object, &options).unwrap();
    let whole = decode_values(object, &options, Threads::NONE).unwrap();
    let width = object.descriptor().dtype().byte_width();
    // One for all, as memory that was used must not show.
    let mut scratch = Scratch::default();
    for (name, ranges) in adversaries(object.descriptor().element_count()) {
        let part = |&(start, count): &(u64, u64)| &whole[start as usize * width..(start + count) as usize * width];
        let expected: Vec<&[u8]> = ranges.iter().map(part).collect();
        let mut out = vec![0xa5; expected.iter().map(|part| part.len()).sum()];
        let before = scratch.work.done_so_far();
        decode_ranges_into(object, &ranges, order, &options, &mut scratch, &mut out).unwrap();
        assert!(out == expected.concat(), "{name}");
        check(name, scratch.work.done_so_far() - before);
        assert!(decode_ranges(object, &ranges, &options).unwrap() == expected, "{name}");
    }
}

/// A wave with some noise. The wave is of parabolas: the sines of some C libraries have instructions that emulators of
/// their machines lack.
fn field() -> Vec<f64> {
    let wave = |i: u64| {
        let phase = (i % 314) as f64 / 314.0 - 0.5;
        16.0 * phase * (0.5 - phase.abs())
    };
    (0..COUNT).map(|i| 280.0 + wave(i) + (mixed(i) % 100) as f64 / 1000.0).collect()
}

fn encoded(object: ObjectBuilder<'_>) -> Vec<u8> {
    MessageBuilder::new().object(object).encode().unwrap()
}

#[test]
fn a_call_decodes_each_interval_of_szip_once_and_reads_it_once_to_find_others() {
    let values = field();
    let object = || ObjectBuilder::new(&[COUNT], &values).unwrap();
    let narrow: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    let narrow = || ObjectBuilder::new(&[COUNT], &narrow).unwrap().szip();
    for (name, object) in [
        ("packed", object().simple_packing(16).szip()),
        ("short intervals", object().simple_packing(24).szip().parameter("szip_rsi", 2)),
        ("floats", narrow()),
        ("floats, long intervals", narrow().parameter("szip_rsi", 4096)),
    ] {
        let bytes = encoded(object);
        let right = Message::parse(&bytes).unwrap().object(0).unwrap();
        let descriptor = to_owned::descriptor(right.descriptor(), &MetadataBudget::by_default()).unwrap();
        let offsets: Vec<u64> = right.descriptor().szip_block_offsets().unwrap().unwrap().iter().collect();
        let wrong: Vec<u64> = offsets.iter().map(|offset| offset + u64::from(*offset > 0)).collect();
        let total = stored_len(right.descriptor()).unwrap();
        for (kind, offsets) in [("right", Some(&offsets)), ("wrong", Some(&wrong)), ("no", None)] {
            let mut descriptor = descriptor.clone();
            descriptor.params.remove("szip_block_offsets");
            if let Some(offsets) = offsets {
                let list = offsets.iter().map(|offset| ciborium::Value::from(*offset)).collect();
                descriptor.params.insert("szip_block_offsets".into(), ciborium::Value::Array(list));
            }
            let frame = encode_data_object_frame(&descriptor, &[], false, false).unwrap();
            let object = object_of_frame(&frame).unwrap().with_payload(right.payload());
            each_list(&object, |list, done| {
                assert!(done.decoded <= total, "{name}, {kind} offsets, {list}: {done:?} of {total}");
                // The last interval may be short, and tries of wrong offsets come on top.
                let bound = 2 * total + (total / offsets_len(&object)) * 40;
                assert!(done.passed <= bound, "{name}, {kind} offsets, {list}: {done:?} of {bound}");
            });
        }
    }
}

/// About how many intervals an object has.
fn offsets_len(object: &DataObject<'_>) -> u64 {
    let params = object.descriptor().szip().unwrap();
    object.descriptor().element_count().div_ceil(u64::from(params.rsi * params.block_size)).max(1)
}

#[test]
fn a_call_decodes_each_block_of_zfp_once() {
    let values = field();
    let bytes = encoded(ObjectBuilder::new(&[COUNT], &values).unwrap().zfp(ZfpMode::FixedRate(12.0)));
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    each_list(&object, |list, done| assert!(done.decoded <= 8 * COUNT, "{list}: {done:?}"));
}

#[cfg(feature = "blosc2-decode")]
#[test]
fn a_call_decodes_each_block_of_blosc2_once_and_of_its_index_twice() {
    for name in ["codecs/blosc2-multichunk", "ranges/blosc2-large", "codecs/blosc2-lz4-l5", "codecs/blosc2-zlib-l5"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/data/{name}.tgm"));
        let bytes = std::fs::read(path).unwrap();
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        let total = stored_len(object.descriptor()).unwrap();
        let index = 2 * 8 * total.div_ceil(1 << 16);
        each_list(&object, |list, done| assert!(done.decoded <= total + index, "{name}, {list}: {done:?} of {total}"));
    }
}

/// Work on the whole is not counted.
#[test]
fn everything_is_decoded_at_once_only_for_several_ranges_that_take_most_blocks() {
    let values = field();
    let bytes = encoded(ObjectBuilder::new(&[COUNT], &values).unwrap().simple_packing(16).szip());
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let options = DecodeOptions::default();
    let decoded = |ranges: &[(u64, u64)]| {
        let (trusted, mut scratch) = (Trusted::new(&object, &options).unwrap(), Scratch::default());
        let mut out = vec![0; 8 * ranges.iter().map(|(_, count)| *count as usize).sum::<usize>()];
        let order = target_order(object.descriptor(), &options);
        decode_ranges_into(trusted, ranges, order, &options, &mut scratch, &mut out).unwrap();
        scratch.work.done_so_far().decoded
    };
    assert_eq!(decoded(&[(0, COUNT / 2), (COUNT / 2, COUNT / 2)]), 0);
    assert!(decoded(&[(0, 5), (COUNT - 5, 5)]) > 0);
    assert!(decoded(&[(0, COUNT - 1)]) > 0, "one range costs no more than the whole");
}

/// Blocks of 100 bytes, and what they were asked for: the end of a block, or bytes.
#[derive(Default)]
struct Asked(std::rc::Rc<std::cell::RefCell<Vec<Range<u64>>>>);

impl PartReader for Asked {
    fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64, CodecError> {
        let end = part.end.next_multiple_of(100);
        self.0.borrow_mut().push(end..end);
        Ok(end)
    }

    fn read_into(&mut self, start: u64, out: &mut [u8]) -> Result<(), CodecError> {
        self.0.borrow_mut().push(start..start + out.len() as u64);
        Ok(())
    }
}

#[test]
#[expect(clippy::single_range_in_vec_init, reason = "lists of one range")]
fn a_codec_is_asked_for_what_ranges_need_and_once() {
    let bytes = encoded(ObjectBuilder::new(&[1000], &[0_u8; 1000]).unwrap().szip());
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let (descriptor, options) = (object.descriptor(), DecodeOptions::default());
    // All that a list of ranges asks for. The end of a block is a range without bytes.
    let asked = |ranges: &[Range<u64>]| {
        let codec = tgm_codec::codec(descriptor.compression().known().unwrap(), options.compression_backend).unwrap();
        let (asked, mut buffer) = (Asked::default(), Vec::new());
        let seen = asked.0.clone();
        let mut parts = PayloadParts::new(codec, 0, Box::new(asked), &mut buffer);
        for number in 0..ranges.len() {
            parts.stored(descriptor, ranges[number..].iter().cloned(), &options).unwrap();
        }
        drop(parts);
        seen.take()
    };
    assert_eq!(asked(&[10..20]), [10..20], "the last range does not ask where its block ends");
    assert_eq!(asked(&[10..20, 30..40]), [100..100, 10..40], "a later range of the same block is read too");
    assert_eq!(asked(&[10..20, 12..18, 15..20]), [100..100, 10..20], "what is at hand is not asked for");
    assert_eq!(asked(&[10..20, 100..110]), [100..100, 10..20, 100..110], "the next block is not of this one");
    assert_eq!(asked(&[10..10, 12..12]), [], "no bytes of no values");
}

/// Runs that no later range needs take no memory.
#[test]
fn runs_of_a_mask_are_read_when_they_are_needed_and_kept_no_longer() {
    let mut values = vec![1.5_f64; 100];
    values[0..10].fill(f64::NAN);
    values[20..30].fill(f64::NAN);
    values[40..50].fill(f64::NAN);
    let options = EncodeOptions {
        allow_nan: true,
        nan_mask_method: MaskMethod::Rle,
        small_mask_threshold_bytes: 0,
        ..EncodeOptions::default()
    };
    let object = ObjectBuilder::new(&[100], &values).unwrap();
    let bytes = MessageBuilder::new().object(object).options(options).encode().unwrap();
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let options = DecodeOptions::default();
    // The runs that were read, those that were kept at the end, and whether any were kept before.
    let runs = |ranges: &[(u64, u64)]| {
        let (trusted, mut scratch) = (Trusted::new(&object, &options).unwrap(), Scratch::default());
        let mut out = vec![0; 8 * ranges.iter().map(|(_, count)| *count as usize).sum::<usize>()];
        let before = RUNS_READ.get();
        let order = target_order(object.descriptor(), &options);
        decode_ranges_into(trusted, ranges, order, &options, &mut scratch, &mut out).unwrap();
        let kept = scratch.runs.iter().map(std::collections::VecDeque::len).sum::<usize>();
        (RUNS_READ.get() - before, kept, scratch.runs.iter().any(|runs| runs.capacity() > 0))
    };
    assert_eq!(runs(&[(0, 10)]), (1, 0, false), "the run after the range is not read");
    assert_eq!(runs(&[(0, 10), (10, 5)]), (2, 0, false), "a run that ends where the next range begins is not kept");
    assert_eq!(runs(&[(0, 5), (5, 2), (10, 2)]), (2, 0, true), "nor is it where the range has come");
    assert_eq!(runs(&[(0, 100)]), (3, 0, false));
}

/// The memory for a range counts, and not where the range is.
#[test]
fn a_range_at_the_end_is_within_limits_that_allow_just_the_object() {
    let values = field();
    for object in [
        ObjectBuilder::new(&[COUNT], &values).unwrap().simple_packing(16).szip(),
        ObjectBuilder::new(&[COUNT], &values).unwrap().zfp(ZfpMode::FixedRate(12.0)),
    ] {
        let bytes = encoded(object);
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        let mut options = DecodeOptions::default();
        options.limits.max_decoded_bytes = 8 * COUNT;
        let object = Trusted::new(&object, &options).unwrap();
        assert_eq!(decode_ranges(object, &[(COUNT - 5, 5)], &options).unwrap()[0].len(), 40);
    }
}

#[test]
fn a_call_reads_each_run_of_a_mask_once() {
    let mut values = field();
    values
        .iter_mut()
        .enumerate()
        .filter(|(at, _)| mixed(*at as u64 / 3).is_multiple_of(4))
        .for_each(|(_, v)| *v = f64::NAN);
    let runs = values.windows(2).filter(|pair| pair[0].is_nan() && !pair[1].is_nan()).count() as u64 + 1;
    let roaring = cfg!(feature = "roaring").then_some(MaskMethod::Roaring);
    for method in [MaskMethod::None, MaskMethod::Rle].into_iter().chain(roaring) {
        let options = EncodeOptions { allow_nan: true, nan_mask_method: method.clone(), ..EncodeOptions::default() };
        let object = ObjectBuilder::new(&[COUNT], &values).unwrap();
        let bytes = MessageBuilder::new().object(object).options(options).encode().unwrap();
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        assert_eq!(object.descriptor().masks().iter().count(), 1);
        let mut before = RUNS_READ.get();
        // Two calls for each list.
        each_list(&object, |list, _| {
            let read = RUNS_READ.get() - before;
            assert!(read <= 2 * runs, "{method:?}, {list}: {read} of {runs}");
            // A bitmap without a method is not a list of runs: each window is found at once.
            assert_eq!(read > 0, method != MaskMethod::None, "{method:?}, {list}: {read}");
            before = RUNS_READ.get();
        });
    }
}

#[test]
fn a_defect_of_a_mask_is_reported_wherever_it_is() {
    let mut values = field();
    values.iter_mut().step_by(9).for_each(|value| *value = f64::NAN);
    let options = EncodeOptions { allow_nan: true, nan_mask_method: MaskMethod::Rle, ..EncodeOptions::default() };
    let object = ObjectBuilder::new(&[COUNT], &values).unwrap();
    let mut bytes = MessageBuilder::new().object(object).options(options).encode().unwrap();
    let (at, len) = {
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        let (_, entry) = object.descriptor().masks().iter().next().unwrap();
        let blob = object.mask_blob(&entry).unwrap();
        (blob.as_ptr() as usize - bytes.as_ptr() as usize, blob.len())
    };
    bytes[at + len - 1] = 0;
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let options = DecodeOptions::default();
    let object = Trusted::new(&object, &options).unwrap();
    for ranges in [vec![(0, 5)], vec![(70, 5), (3, 5)], vec![(COUNT - 5, 5)]] {
        let error = decode_ranges(object, &ranges, &options).unwrap_err();
        assert!(error.cause().is_some(), "{error}");
    }
}
