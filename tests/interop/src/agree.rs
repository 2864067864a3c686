//! Compares what both libraries read from the same bytes.

use proptest::test_runner::TestCaseError;
use tgm_std::core::Message;

use crate::case::{Case, Object};
use crate::plain::Answer;
use crate::values::{Order, Rng};
use crate::{known, ours, reference};

type Verdict = Result<(), TestCaseError>;

/// The options that change values: native byte order, and restored non-finite values.
const WAYS: [(bool, bool); 4] = [(true, true), (false, true), (true, false), (false, false)];

fn our_options(native: bool, restored: bool) -> tgm_std::DecodeOptions {
    tgm_std::DecodeOptions { native_byte_order: native, restore_non_finite: restored, ..Default::default() }
}

fn their_options(native: bool, restored: bool) -> tensogram::DecodeOptions {
    tensogram::DecodeOptions { native_byte_order: native, restore_non_finite: restored, ..Default::default() }
}

fn fail<T>(what: impl Into<String>) -> Result<T, TestCaseError> {
    Err(TestCaseError::fail(what.into()))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Verdict {
    if ours == theirs { Ok(()) } else { fail(format!("{what}:\n   ours {ours:?}\n theirs {theirs:?}")) }
}

/// Checks for the same values, or errors of the same kind.
fn same_answers<T: PartialEq + std::fmt::Debug>(what: &str, ours: &Answer<T>, theirs: &Answer<T>) -> Verdict {
    match (ours, theirs) {
        (Err(ours), Err(theirs)) => same(what, &ours.kind, &theirs.kind),
        _ => same(what, ours, theirs),
    }
}

/// Checks that both libraries read the same from a message written for `case`, and that lossless values equal the
/// values of the case.
///
/// # Errors
/// The difference.
pub fn on_message(case: &Case, bytes: &[u8]) -> Verdict {
    let known = case.objects.iter().any(|object| known::decode(object).is_some());
    for (native, restored) in WAYS {
        let (ours, theirs) = (our_options(native, restored), their_options(native, restored));
        if !known {
            let what = format!("decode, native {native}, restored {restored}");
            same_answers(&what, &ours::decode(bytes, &ours), &reference::decode(bytes, &theirs))?;
            same_answers(&what, &ours::objects(bytes, &ours), &reference::objects(bytes, &theirs))?;
        }
        for (index, object) in case.objects.iter().enumerate() {
            let what = format!("object {index}, native {native}, restored {restored}");
            let mine = ours::decode_object(bytes, index, &ours);
            if known::decode(object).is_none() {
                same_answers(&what, &mine, &reference::decode_object(bytes, index, &theirs))?;
            }
            let Ok(mine) = mine else { continue };
            let values = &mine.objects[0].1;
            if let Some(truth) = object.truth(if native { Order::NATIVE } else { object.order }, restored) {
                same(&format!("{what}, beside the input"), values, &truth)?;
            }
            on_views(&what, bytes, index, values, &ours)?;
            on_ranges(&what, object, bytes, index, values, (&ours, &theirs))?;
        }
    }
    let (ours, theirs) = (our_options(true, true), their_options(true, true));
    if !known {
        let masks = (ours::decode_with_masks(bytes, &ours), reference::decode_with_masks(bytes, &theirs));
        same_answers("with masks", &masks.0, &masks.1)?;
        let ours = tgm_std::DecodeOptions { verify_hash: true, ..ours };
        let theirs = tensogram::DecodeOptions { verify_hash: true, ..theirs };
        same_answers("verified", &ours::decode(bytes, &ours), &reference::decode(bytes, &theirs))?;
    }
    let beyond = case.objects.len();
    let object = (ours::decode_object(bytes, beyond, &ours), reference::decode_object(bytes, beyond, &theirs));
    same_answers("object beyond the last", &object.0, &object.1)?;
    same_answers("metadata", &ours::decode_metadata(bytes), &reference::decode_metadata(bytes))?;
    same_answers("descriptors", &ours::decode_descriptors(bytes), &reference::decode_descriptors(bytes))?;
    same("scan", &ours::scan(bytes), &reference::scan(bytes))?;
    same_answers("hashes", &ours::inline_hashes(bytes), &reference::inline_hashes(bytes))
}

/// Checks that borrowed decoding gives the same values.
fn on_views(what: &str, bytes: &[u8], index: usize, values: &[u8], options: &tgm_std::DecodeOptions) -> Verdict {
    let borrowed =
        || tgm_std::read(&Message::parse(bytes)?.object(index)?).options(options).bytes().map(std::borrow::Cow::into_owned);
    match borrowed() {
        Ok(borrowed) => same(&format!("{what}, borrowed"), &borrowed.as_slice(), &values),
        Err(error) => fail(format!("{what}, borrowed: {error}")),
    }
}

/// Ranges of elements to ask for: everything, nothing, pieces, in any order.
pub fn some_ranges(count: u64, seed: u64) -> Vec<(u64, u64)> {
    let mut rng = Rng(seed ^ count);
    let mut ranges = vec![(0, count), (0, 0), (count, 0), (count / 2, count - count / 2)];
    for _ in 0..5 {
        let start = rng.next() % (count + 1);
        let most = if rng.next().is_multiple_of(2) { 9 } else { count };
        ranges.push((start, rng.next() % ((count - start).min(most) + 1)));
    }
    ranges
}

/// Checks that ranges are parts of the whole, and that with `reference_range_refusals` both libraries give the same
/// ranges or refusals.
fn on_ranges(
    what: &str,
    object: &Object,
    bytes: &[u8],
    index: usize,
    values: &[u8],
    (ours, theirs): (&tgm_std::DecodeOptions, &tensogram::DecodeOptions),
) -> Verdict {
    let count = object.element_count() as u64;
    let ranges = some_ranges(count, object.values.seed);
    let what = format!("{what}, ranges {ranges:?}");
    match ours::decode_range(bytes, index, &ranges, ours) {
        Err(refusal) => return fail(format!("{what}: {refusal:?}")),
        Ok((_, parts)) => {
            for (part, range) in parts.iter().zip(&ranges) {
                same(&format!("{what}, {range:?}"), part, &part_of(object, values, *range))?;
            }
        }
    }
    let refusing = tgm_std::DecodeOptions { reference_range_refusals: true, ..ours.clone() };
    for ranges in [&ranges[..], &[], &ranges[3..4], &[(count, 1)], &[(count + 1, 0)], &[(u64::MAX, 2)]] {
        let what = format!("{what}, of them {ranges:?}");
        let mine = ours::decode_range(bytes, index, ranges, &refusing);
        if ranges.iter().any(|(start, len)| start.saturating_add(*len) > count) && mine.is_ok() {
            return fail(format!("{what}: values beyond the last"));
        }
        if known::ranges(object, bytes, index, ranges).is_some() {
            continue;
        }
        same_answers(&what, &mine, &reference::decode_range(bytes, index, ranges, theirs))?;
    }
    Ok(())
}

/// The elements of a range of all values.
fn part_of(object: &Object, values: &[u8], (start, count): (u64, u64)) -> Vec<u8> {
    let (start, count) = (start as usize, count as usize);
    let width = object.dtype.width();
    if width > 0 {
        return values[start * width..(start + count) * width].to_vec();
    }
    let mut out = vec![0; count.div_ceil(8)];
    for at in 0..count {
        let bit = values[(start + at) / 8] >> (7 - (start + at) % 8) & 1;
        out[at / 8] |= bit << (7 - at % 8);
    }
    out
}
