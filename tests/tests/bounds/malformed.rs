//! Every malformed file gives an error or the values that the reference read, by every route, in bounded memory and
//! time. All routes agree.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tgm_core::Message;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::scan::Segment;
use tgm_std::{DecodeOptions, TensogramError, TensogramFile};
use tgm_tests::alloc::measure;
use tgm_tests::corpus::{self, Sample};
use tgm_tests::{Rng, cases, sha256};

/// The most bytes that all routes of one file may hold at once, beyond a few copies of the file.
const MEMORY: u64 = 64 << 20;
/// The most time that all routes of one file may take, in an unoptimised build on a busy machine.
const TIME: Duration = Duration::from_secs(10);
/// How often each base message is damaged at random.
const DAMAGES: u32 = 100;
/// Files whose `spec.verdict` is `reject` and which we accept, each with the reason.
const ACCEPTED: &[(&str, &str)] = &[
    ("malformed/metadata/duplicate-base", "of repeated keys the last one counts (FORMAT §3.2)"),
    ("malformed/metadata/duplicate-top", "of repeated keys the last one counts (FORMAT §3.2)"),
];

type Result<T, E = TensogramError> = std::result::Result<T, E>;

/// The result of one object: the digest of its values, or the error.
type Outcome = Result<String, String>;

fn outcome(values: Result<Vec<u8>>) -> Outcome {
    values.map(|values| sha256(&values)).map_err(|error| error.to_string())
}

/// Whether both are errors, or both the same values.
fn agree(a: &Outcome, b: &Outcome) -> bool {
    a.as_ref().ok() == b.as_ref().ok()
}

/// The digests of all objects of a message, or the error.
fn whole(bytes: &[u8]) -> Result<Vec<String>, String> {
    let decoded = tgm_std::decode(bytes, &DecodeOptions::default()).map_err(|error| error.to_string())?;
    Ok(decoded.1.into_iter().map(|(_, values)| sha256(&values)).collect())
}

/// Runs every route over one message and adds differences to `wrong`.
fn message_routes(name: &str, bytes: &[u8], wrong: &mut Vec<String>) {
    let options = DecodeOptions::default();
    let all = whole(bytes);
    let iterated = tgm_std::objects(bytes, options.clone());
    let mut each: Vec<Outcome> = Vec::new();
    let opened = iterated.is_ok();
    if let Ok(iterator) = iterated {
        let announced = iterator.len();
        each = iterator.map(|object| outcome(object.map(|(_, values)| values))).collect();
        if each.iter().all(Result::is_ok) && each.len() != announced {
            wrong.push(format!("{name}: {announced} objects announced, {} found", each.len()));
        }
    }
    let ours: Result<Vec<String>, String> = each.iter().cloned().collect();
    let ours = if opened { ours } else { Err("not opened".into()) };
    if ours.as_ref().ok() != all.as_ref().ok() {
        wrong.push(format!("{name}: decode gives {all:.200?}, the iterator {ours:.200?}"));
    }
    let with_masks = tgm_std::decode_with_masks(bytes, &options);
    if with_masks.is_ok() != all.is_ok() {
        let error = with_masks.map(drop).map_err(|error| error.to_string());
        wrong.push(format!("{name}: decode gives {all:.200?}, decode_with_masks {error:?}"));
    }
    if tgm_std::decode_descriptors(bytes).is_err() && all.is_ok() {
        wrong.push(format!("{name}: decodes without descriptors"));
    }
    let _ = tgm_std::decode_metadata(bytes);
    let _ = tgm_std::objects_metadata(bytes).map(Iterator::count);
    let _ = tgm_std::data_object_inline_hashes(bytes);
    for (index, expected) in each.iter().enumerate() {
        let found = outcome(tgm_std::decode_object(bytes, index, &options).map(|(_, _, values)| values));
        if !agree(&found, expected) {
            wrong.push(format!("{name} object {index}: {found:?} by decode_object, {expected:?} by the iterator"));
        }
        range_routes(name, bytes, index, expected, wrong);
    }
    let beyond = tgm_std::decode_object(bytes, each.len().max(1) + 1000, &options);
    if beyond.is_ok() || (opened && all.is_ok() && !matches!(beyond, Err(TensogramError::Object(_)))) {
        wrong.push(format!("{name}: an object beyond the last"));
    }
    borrowed_routes(name, bytes, opened, &each, wrong);
}

fn range_routes(name: &str, bytes: &[u8], index: usize, expected: &Outcome, wrong: &mut Vec<String>) {
    let options = DecodeOptions::default();
    let count = || {
        let object = Message::parse(bytes)?.objects().nth(index).unwrap()?;
        Ok(object.descriptor().element_count())
    };
    let Ok::<u64, tgm_core::Error>(count) = count() else { return };
    let half = count / 2;
    let parts = tgm_std::decode_range(bytes, index, &[(0, half), (half, count - half)], &options);
    let is_bits = parts.as_ref().is_ok_and(|(d, _)| d.dtype == tgm_std::Dtype::Bitmask);
    let found = outcome(parts.map(|(_, parts)| parts.concat()));
    // Joined halves of a bitmask are not its bytes: each half is padded to whole bytes.
    if found.is_ok() != expected.is_ok() || (!is_bits && !agree(&found, expected)) {
        wrong.push(format!("{name} object {index}: {found:?} by ranges, {expected:?} as a whole"));
    }
    if tgm_std::decode_range(bytes, index, &[(count, 1)], &options).is_ok() {
        wrong.push(format!("{name} object {index}: a range beyond the end"));
    }
}

fn borrowed_routes(name: &str, bytes: &[u8], opened: bool, each: &[Outcome], wrong: &mut Vec<String>) {
    let options = DecodeOptions::default();
    let Ok(message) = Message::parse(bytes) else {
        if opened {
            wrong.push(format!("{name}: opened by tgm_std, not by tgm_core"));
        }
        return;
    };
    let frames: Vec<_> = message.frames().collect();
    if frames.iter().rev().skip(1).any(Result::is_err) {
        wrong.push(format!("{name}: frames go on after an error"));
    }
    let _ = message.outline();
    let _ = message.first_metadata();
    let _ = message.hash_presence();
    if let Ok(metadata) = message.metadata() {
        for path in ["mars.param", "title", "_extra_.title", "a.b.c", "_reserved_.tensor"] {
            let _ = metadata.get(path);
            let _ = metadata.get_at(0, path);
        }
    }
    for presence in [HashPresence::Flagged, HashPresence::All, HashPresence::Absent] {
        message.verify(presence).for_each(drop);
    }
    let values = |object: tgm_core::Result<_>| {
        outcome(
            object
                .map_err(Into::into)
                .and_then(|object| tgm_std::read(&object).options(&options).bytes().map(std::borrow::Cow::into_owned)),
        )
    };
    let walked: Vec<Outcome> = message.objects().map(values).collect();
    for (index, found) in walked.iter().enumerate() {
        if opened && !each.get(index).is_some_and(|expected| agree(found, expected)) {
            wrong.push(format!("{name} object {index}: {found:?} by the view, {:?} by the iterator", each.get(index)));
        }
        // The index route does not read the rest of the message, and may report that the index is wrong.
        let object = message.object(index);
        let is_index_error = object.is_err_and(|error| format!("{:?}", error.kind()).starts_with("Index"));
        let by_index = values(object);
        if opened && !agree(&by_index, found) && !is_index_error {
            wrong.push(format!("{name} object {index}: {by_index:?} by index, {found:?} by walk"));
        }
        if by_index.is_ok() && found.is_ok() && by_index != *found {
            wrong.push(format!("{name} object {index}: other values by index than by walk"));
        }
    }
    if message.object(walked.len() + 1000).is_ok() {
        wrong.push(format!("{name}: an object beyond the last by index"));
    }
}

/// Runs every route over a file, as a whole and message by message.
fn file_routes(sample: &Sample, wrong: &mut Vec<String>) {
    let name = &sample.name;
    let options = DecodeOptions::default();
    message_routes(name, &sample.bytes, wrong);
    let segments: Vec<Segment> = tgm_core::scan::scan(&sample.bytes).collect();
    let covered = segments.iter().try_fold(0, |end, s| (s.offset() == end && s.length() > 0).then(|| end + s.length()));
    if covered != Some(sample.bytes.len() as u64) {
        wrong.push(format!("{name}: segments do not cover the file: {segments:?}"));
    }
    let extents = tgm_std::scan(&sample.bytes);
    let by_file = tgm_std::scan_file(&mut Cursor::new(&sample.bytes)).unwrap();
    let forward: Vec<(u64, u64)> =
        segments.iter().filter(|s| s.is_message()).map(|s| (s.offset(), s.length())).collect();
    let as_u64: Vec<(u64, u64)> = extents.iter().map(|&(at, length)| (at as u64, length as u64)).collect();
    if by_file != extents {
        wrong.push(format!("{name}: scan {extents:?}, scan_file {by_file:?}"));
    }
    if forward != as_u64 {
        wrong.push(format!("{name}: both ends {as_u64:?}, forward {forward:?}"));
    }
    let positioned = TensogramFile::open(&sample.path).unwrap();
    let mapped = TensogramFile::open_mmap(&sample.path).unwrap();
    let map = crate::mapped::map(&sample.path).unwrap();
    for (index, &(at, length)) in extents.iter().enumerate() {
        let bytes = &sample.bytes[at..at + length];
        message_routes(&format!("{name} message {index}"), bytes, wrong);
        let expected = whole(bytes);
        for (route, file) in [("positioned", &positioned), ("mapped", &mapped)] {
            let found = file.decode_message(index, &options).map(|(_, objects)| objects);
            let found = found.map(|objects| objects.iter().map(|(_, v)| sha256(v)).collect::<Vec<_>>());
            if found.as_ref().ok() != expected.as_ref().ok() {
                wrong.push(format!("{name} message {index} {route}: {found:.200?}, expected {expected:.200?}"));
            }
            let _ = file.decode_metadata(index);
            let _ = file.decode_descriptors(index);
            let _ = file.decode_object(index, 0, &options);
            let _ = file.decode_range(index, 0, &[(0, 1)], &options);
        }
        if map.message(index).is_ok() != Message::parse(bytes).is_ok() {
            wrong.push(format!("{name} message {index}: the map and the slice differ on whether it opens"));
        }
    }
}

/// The digests of the little-endian values that the reference decoded, if it decoded the file.
fn recorded(json: &Json) -> Option<Vec<String>> {
    let objects = json["objects"].as_array().filter(|_| json["decode"] == "ok")?;
    Some(objects.iter().map(|object| object["sha256"].as_str().unwrap().to_owned()).collect())
}

/// Whether decoding with digests checked fails.
fn fails_verification(bytes: &[u8], strict: bool) -> bool {
    let options = DecodeOptions { verify_hash: true, strict_hash_presence: strict, ..Default::default() };
    tgm_std::decode(bytes, &options).is_err()
}

#[test]
fn every_malformed_file_is_refused_or_read_as_recorded_in_bounded_memory_and_time() {
    let samples = corpus::samples_where(true);
    let mut wrong = Vec::new();
    let mut accepted = BTreeSet::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut notes = Vec::new();
    for sample in &samples {
        let name = &sample.name;
        let started = Instant::now();
        let ((), usage) = measure(|| file_routes(sample, &mut wrong));
        if usage.peak > MEMORY + 8 * sample.bytes.len() as u64 {
            wrong.push(format!("{name}: {} MiB", usage.peak >> 20));
        }
        if started.elapsed() > TIME {
            wrong.push(format!("{name}: {:?}", started.elapsed()));
        }
        let ours = whole(&sample.bytes);
        let lacks_codec = ours.as_ref().is_err_and(|error| error.contains("not compiled in"));
        let verdict = sample.json["spec"]["verdict"].as_str().unwrap();
        let became = if lacks_codec {
            "lacks the codec"
        } else if ours.is_ok() {
            "read"
        } else {
            "refused"
        };
        *counts.entry(format!("{verdict}: {became}")).or_default() += 1;
        if lacks_codec {
            continue;
        }
        if let (Ok(found), Some(expected), true) = (&ours, recorded(&sample.json), cfg!(target_endian = "little"))
            && *found != expected
        {
            wrong.push(format!("{name}: reads as {found:?}, recorded is {expected:?}"));
        }
        match verdict {
            "reject" if ours.is_ok() => {
                accepted.insert(name.as_str());
                notes.push(format!("{name}: {} | {}", sample.json["mutation"], sample.json["spec"]["reason"]));
            }
            "accept" | "reject-verify" if ours.is_err() => wrong.push(format!("{name}: {verdict}, but {ours:?}")),
            "reject-verify" if !fails_verification(&sample.bytes, true) => {
                wrong.push(format!("{name}: passes strict verification"));
            }
            "either" if ours.is_ok() && sample.json["decode"] != "ok" => {
                notes.push(format!("{name}: read, where the reference fails: {}", sample.json["mutation"]));
            }
            "either" if ours.is_err() && sample.json["decode"] == "ok" => {
                notes.push(format!(
                    "{name}: refused, where the reference reads: {} ({ours:?})",
                    sample.json["mutation"]
                ));
            }
            _ => {}
        }
    }
    for (what, count) in &counts {
        println!("{count:6}  {what}");
    }
    for note in &notes {
        println!("note: {note}");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(accepted, ACCEPTED.iter().map(|(name, _)| *name).collect(), "files that a reader should reject");
    assert!(samples.len() >= 322);
}

/// Rule H (FORMAT §2) accepts the digests of releases 0.17 to 0.20, which the reference does not find, and nothing
/// else.
#[test]
fn rule_h_differs_from_strict_reading_only_if_the_preamble_is_flagged_and_no_frame_is() {
    let mut passing = BTreeSet::new();
    for sample in corpus::samples_where(true) {
        if sample.json["spec"]["verdict"] != "reject-verify" {
            continue;
        }
        assert!(fails_verification(&sample.bytes, true), "{}", sample.name);
        let message = Message::parse(&sample.bytes).unwrap();
        let presence = message.hash_presence().unwrap();
        let mut frames = message.verify(presence).map(Result::unwrap);
        let good = frames.all(|frame| frame.object_index.is_none() || frame.verdict == Verdict::Good);
        assert_eq!(good, !fails_verification(&sample.bytes, false), "{}", sample.name);
        if good {
            assert_eq!(presence, HashPresence::All, "{}", sample.name);
            passing.insert(sample.name);
        }
    }
    assert_eq!(passing, BTreeSet::from(["malformed/hash/flag-clear-slots-right".to_owned()]));
}

/// Random damage: one bit flipped, a piece removed, or a piece repeated at the end.
#[test]
fn routes_agree_about_messages_damaged_at_random() {
    let mut rng = Rng(2026);
    let mut wrong = Vec::new();
    let mut read = 0;
    for sample in corpus::samples_where(false) {
        if sample.json["category"] != "malformed-bases" || sample.bytes.len() > 4096 {
            continue;
        }
        for round in 0..cases(DAMAGES) {
            let mut bytes = sample.bytes.clone();
            let at = usize::try_from(rng.below(bytes.len() as u64)).unwrap();
            let end = (at + 1 + usize::try_from(rng.below(9)).unwrap()).min(bytes.len());
            match rng.below(4) {
                0 => drop(bytes.drain(at..end)),
                1 => bytes.extend_from_within(at..end),
                _ => bytes[at] ^= 1 << rng.below(8),
            }
            let name = format!("{} round {round} byte {at}", sample.name);
            let ((), usage) = measure(|| message_routes(&name, &bytes, &mut wrong));
            if usage.peak > MEMORY {
                wrong.push(format!("{name}: {} MiB", usage.peak >> 20));
            }
            read += usize::from(whole(&bytes).is_ok());
        }
    }
    println!("{read} damaged messages are readable");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(read > 0);
}
