//! A reader gives the same results, errors and offsets from every source, however the source gives its bytes.

use std::fmt::Debug;
use std::num::NonZeroU64;
use std::sync::Mutex;

use tgm_core::selection::Pick;
use tgm_std::decode::{Selected, selection};
use tgm_std::read::options::ReadKnob;
use tgm_std::read::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, ReadOptions, Reader, Tag, Want};
use tgm_std::{Archive, DataObjectDescriptor, DecodeOptions, ScanOptions, read};
use tgm_tests::{Rng, corpus};

/// A source that counts, gives more than it was asked for, and fails now and then.
struct Unreliable<'a> {
    bytes: &'a [u8],
    state: Mutex<Rng>,
    /// One of this many requests fails; 0 for a source that never fails.
    failures: u64,
}

impl RangeFetch for Unreliable<'_> {
    fn fetch(&self, want: &Want, _: Option<&Tag>) -> Result<Fetched, FetchError> {
        let mut state = self.state.lock().expect("no test panics with it");
        if self.failures > 0 && state.below(self.failures) == 0 {
            return Err(FetchError::new(FetchErrorKind::Unavailable, "a source of a test: try again"));
        }
        let size = self.bytes.len() as u64;
        let range = match want {
            Want::At(range) => range.start.min(size)..range.end.min(size),
            Want::Suffix(len) => size.saturating_sub(*len)..size,
        };
        // More than was asked for, at either end.
        let start = range.start.saturating_sub(state.below(40));
        let end = (range.end + state.below(40)).min(size);
        let at = |offset: u64| usize::try_from(offset).expect("in memory");
        let bytes = self.bytes[at(start)..at(end)].to_vec();
        Ok(Fetched { offset: start, bytes, size: Some(size), tag: Some(Tag::Strong("one".into())) })
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { suffix: self.bytes.len().is_multiple_of(2), ..FetchTraits::default() }
    }

    fn name(&self) -> String {
        "a source of a test".into()
    }
}

/// Repeats a call while the source fails.
fn insist<T>(mut call: impl FnMut() -> tgm_std::Result<T>) -> Result<T, String> {
    for _ in 0..10_000 {
        match call() {
            Err(error) if error.to_string().contains("try again") => {}
            other => return other.map_err(|error| error.to_string()),
        }
    }
    panic!("the source fails too often for this test");
}

/// Options that make a reader read in different portions.
fn portions() -> Vec<(&'static str, ReadOptions)> {
    let tuned = |options: ReadOptions, knobs: &[(ReadKnob, u64)]| {
        knobs.iter().fold(options, |options, (knob, value)| knob.set(*value, options))
    };
    let whole = [(ReadKnob::WholeMessage, 0), (ReadKnob::WholeFrame, 0)];
    let sizes = [(ReadKnob::Initial, 1), (ReadKnob::Descriptor, 24), (ReadKnob::Header, 30), (ReadKnob::Request, 50)];
    let tiny = tuned(tuned(ReadOptions::memory(), &whole), &sizes);
    let tiny = tuned(tiny, &[(ReadKnob::Gap, u64::MAX), (ReadKnob::Kept, 0)]);
    let parts = tuned(tuned(ReadOptions::remote(), &whole), &[(ReadKnob::Initial, 100)]);
    vec![
        ("memory", ReadOptions::memory()),
        ("local", ReadOptions::local()),
        ("remote", ReadOptions::remote()),
        ("parts", parts),
        ("tiny", tiny),
    ]
}

/// Holds an answer against the one from memory. `by_parts`: the reader may not have noticed damage elsewhere.
fn same<T: PartialEq + Debug>(
    what: &str,
    found: Result<T, String>,
    expected: tgm_std::Result<T>,
    by_parts: bool,
) -> bool {
    match (found, expected) {
        // NaN, which parameters may be, is equal to itself as text.
        (Ok(found), Ok(expected)) => {
            assert!(found == expected || format!("{found:?}") == format!("{expected:?}"), "{what}: another result");
        }
        // A structure that is sound says how many objects there are, whatever their frames hold.
        (Err(found), Err(_)) if by_parts && found.contains("out of range (num_objects=") => {}
        // What a tensor does not have is refused before the digests of a message are looked at.
        (Err(found), Err(tgm_std::TensogramError::HashMismatch { .. })) if found.contains("a selection of ") => {}
        (Err(found), Err(expected)) => assert_eq!(found, expected.to_string(), "{what}"),
        (Err(found), Ok(_)) => panic!("{what}: {found}"),
        (Ok(_), Err(expected)) => {
            assert!(by_parts, "{what}: should be {expected}");
            return false;
        }
    }
    true
}

/// Some boxes of a tensor: all of it, every second index, one index of each dimension, and what it does not have.
fn boxes(shape: &[u64]) -> Vec<Vec<Pick>> {
    let step = NonZeroU64::new(2).expect("not zero");
    let halves = shape.iter().map(|len| Pick::Range { start: len / 3, end: *len, step }).collect();
    let inner = shape.iter().map(|len| Pick::from(len / 4..len - len / 4)).collect();
    let one = shape.iter().map(|len| Pick::Index(len / 2)).collect();
    let last = shape.iter().enumerate();
    let column =
        last.map(|(place, len)| if place + 1 == shape.len() { Pick::Index(len / 2) } else { Pick::All }).collect();
    vec![vec![Pick::All; shape.len()], halves, inner, one, column, vec![Pick::Index(0); shape.len() + 1]]
}

/// A box of an object of a message in memory.
fn selected(
    message: &[u8],
    index: usize,
    picks: &[Pick],
    options: &DecodeOptions,
) -> tgm_std::Result<(DataObjectDescriptor, Selected<'static>)> {
    let (_, descriptor, _) = tgm_std::decode_object(message, index, options)?;
    let message = tgm_core::Message::parse(message)?;
    let object = message.objects().nth(index).expect("it was decoded")?;
    let shape = selection(object.descriptor(), picks)?.shape().collect();
    let bytes = read(&object).select(picks).options(options).bytes()?.into_owned().into();
    Ok((descriptor, Selected { shape, bytes }))
}

fn compare(name: &str, bytes: &[u8], portion: &str, options: ReadOptions, failures: u64) -> usize {
    let unreliable = Unreliable { bytes, state: Mutex::new(Rng(bytes.len() as u64 ^ failures)), failures };
    let reader = Reader::new(unreliable, options);
    let what = |which: String| format!("{name}, portions {portion}, {which}");
    let expected: Vec<_> = tgm_std::core::scan::scan(bytes).collect();
    // One message first: the search goes on from there.
    let messages: Vec<_> = expected.iter().filter(|segment| segment.is_message()).collect();
    if messages.len() > 1 {
        let found = insist(|| reader.read_message(1)).expect("a message that scan lists");
        assert_eq!(Some(&found[..]), messages[1].bytes_of(bytes), "{}", what("message 1".into()));
    }
    let listed =
        insist(|| reader.with_segments(|segments| segments.collect::<Vec<_>>())).expect("a scan does not fail");
    assert_eq!(listed, expected, "{}", what("segments".into()));
    let last = insist(|| reader.last_message()).expect("a scan does not fail").map(|last| (last.offset, last.length));
    assert_eq!(last, messages.last().map(|last| (last.offset(), last.length())), "{}", what("last".into()));
    let mut unnoticed = 0;
    for (number, segment) in messages.iter().enumerate() {
        let message = segment.bytes_of(bytes).expect("inside");
        let is_whole = message.len() as u64 <= Archive::from_fetch(Vec::new(), options).whole_message();
        let mut check = |same: bool| unnoticed += usize::from(!same);
        let which = |call: &str| what(format!("message {number}, {call}"));
        check(same(&which("bytes"), insist(|| reader.read_message(number)), Ok(message.to_vec()), false));
        let metadata = insist(|| reader.decode_metadata(number));
        check(same(&which("metadata"), metadata, tgm_std::decode::decode_metadata(message), !is_whole));
        let descriptors = insist(|| reader.decode_descriptors(number));
        check(same(&which("descriptors"), descriptors, tgm_std::decode::decode_descriptors(message), !is_whole));
        let count = tgm_core::Message::parse(message).and_then(|m| m.outline()).map_or(0, |o| o.object_count);
        for object in 0..=count.min(6) {
            for options in [
                DecodeOptions::default(),
                DecodeOptions { verify_hash: true, ..DecodeOptions::default() },
                DecodeOptions { restore_non_finite: false, native_byte_order: false, ..DecodeOptions::default() },
            ] {
                let hash = options.verify_hash;
                let found = insist(|| reader.decode_object(number, object, &options));
                let expected = tgm_std::decode_object(message, object, &options);
                let len =
                    expected.as_ref().map_or(0, |(_, descriptor, _)| descriptor.num_elements().unwrap_or(0)) as u64;
                check(same(&which(&format!("object {object}, verify {hash}")), found, expected, !is_whole));
                let shape =
                    tgm_std::decode_object(message, object, &DecodeOptions::default()).map(|found| found.1.shape);
                if let Ok(shape) = shape {
                    for picks in boxes(&shape) {
                        let found = insist(|| reader.select(number, object, &picks, &options));
                        let expected = selected(message, object, &picks, &options);
                        check(same(
                            &which(&format!("object {object}, {picks:?}, verify {hash}")),
                            found,
                            expected,
                            !is_whole,
                        ));
                    }
                }
                for ranges in [
                    vec![(0, len.min(3))],
                    vec![
                        (len / 2, len.min(9) / 2),
                        (len / 3, (len / 50).min(10)),
                        (len.saturating_sub(1), len.min(1)),
                        (0, 0),
                    ],
                    vec![(0, len), (1, len.saturating_sub(1))],
                    vec![(len, 1)],
                ] {
                    let found = insist(|| reader.decode_range(number, object, &ranges, &options));
                    let expected = tgm_std::decode_range(message, object, &ranges, &options);
                    check(same(
                        &which(&format!("object {object}, {ranges:?}, verify {hash}")),
                        found,
                        expected,
                        !is_whole,
                    ));
                }
            }
        }
    }
    unnoticed
}

#[test]
fn every_file_reads_alike_in_any_portions() {
    let samples: Vec<_> = corpus::samples().into_iter().step_by(tgm_tests::stride(3)).collect();
    let unnoticed: usize = tgm_tests::on_all_cores(&samples, |sample| {
        let name = &sample.name;
        let counts = portions().into_iter().map(|(portion, options)| compare(name, &sample.bytes, portion, options, 0));
        let unnoticed = counts.filter(|count| *count > 0).count();
        // Damage outside of the parts that were read is not noticed. Sound files have none.
        assert!(
            unnoticed == 0 || ["malformed", "hash", "multi", "traps"].iter().any(|group| name.contains(group)),
            "{name}"
        );
        unnoticed
    })
    .into_iter()
    .sum();
    eprintln!("damage elsewhere was not noticed in {unnoticed} cases");
}

#[test]
fn failures_in_between_lose_nothing() {
    for sample in corpus::samples().iter().step_by(tgm_tests::stride(6)) {
        for (portion, options) in portions() {
            // Calls that need many requests get through because what was fetched stays.
            let options = ReadKnob::Kept.set(4 << 20, options);
            compare(&sample.name, &sample.bytes, portion, options, 4);
        }
    }
}

#[test]
fn a_search_of_either_direction_lists_the_same() {
    for sample in corpus::samples().iter().filter(|sample| sample.name.contains("multi")) {
        for bidirectional in [false, true] {
            let scan = ScanOptions { bidirectional, ..ScanOptions::default() };
            for (portion, options) in portions() {
                let reader = Reader::with_scan_options(&sample.bytes[..], options, scan);
                let found = reader.with_segments(|segments| segments.collect::<Vec<_>>()).expect("in memory");
                assert!(tgm_core::scan::scan(&sample.bytes).eq(found), "{} {portion} {bidirectional}", sample.name);
            }
        }
    }
}
