//! Every file that is not malformed gives what its sidecar records, by every route that leads there.
//!
//! | subject | file |
//! |---|---|
//! | values, masks, ranges | `values.rs` |
//! | metadata and descriptors | `metadata.rs` |
//! | messages and frames: where they are, their digests, their version | `messages.rs` |
//!
//! Expectations come from the sidecars (`tests/data/README.md` has the schema), and from `truth` where the reference is
//! wrong. Objects whose codec is not compiled in must say so and are counted; they are checked once the codec is there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]
#![allow(clippy::cast_precision_loss, reason = "the sidecars were read with the same loss")]

mod messages;
mod metadata;
mod values;

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde_json::Value as Json;
use tgm_core::descriptor::{Descriptor, Dtype, Encoding};
use tgm_std::{MappedFile, TensogramError, TensogramFile};
use tgm_tests::corpus::{self, Sample};

type Result<T> = tgm_std::Result<T>;

/// What is wrong, collected over all files so that one run shows everything.
#[derive(Default)]
struct Findings {
    wrong: Vec<String>,
    counts: BTreeMap<String, usize>,
}

impl Findings {
    fn count(&mut self, what: impl Into<String>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    fn of(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or(0)
    }

    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(what());
        }
    }

    fn equal<T: PartialEq + Debug>(&mut self, found: &T, expected: &T, what: &str) {
        self.check(found == expected, || format!("{what}:\n   found    {found:.300?}\n   expected {expected:.300?}"));
    }

    /// # Panics
    /// If anything is wrong.
    fn finish(&self, title: &str) {
        println!("{title}:");
        for (what, count) in &self.counts {
            println!("  {count:6}  {what}");
        }
        assert!(self.wrong.is_empty(), "{} wrong:\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

/// A message of a sample with what is expected of it.
struct Expected<'s> {
    /// `NAME message I`.
    name: String,
    index: usize,
    bytes: &'s [u8],
    /// The sidecar's entry.
    json: &'s Json,
    objects: &'s [Json],
    ranges: &'s [Json],
    /// Decoding need not succeed (class `lenient`), or what is recorded is not right (class `quirk`).
    class: &'s str,
    /// Whether the reference delimits the message wrongly, so that its frames are not those recorded.
    is_delimited_otherwise: bool,
    truth: Option<&'s Json>,
}

impl Expected<'_> {
    /// Whether the message must decode to the recorded values.
    fn must_decode(&self) -> bool {
        let recorded = self.json["decode"]["result"] == "ok" || self.truth.is_some();
        matches!(self.class, "valid" | "legacy") && recorded
    }

    fn metadata(&self) -> Option<&Json> {
        let truth = self.truth.and_then(|truth| truth.get("metadata"));
        truth.or_else(|| self.json.get("metadata")).filter(|metadata| metadata.is_object())
    }
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

fn extents(json: &Json) -> Vec<(usize, usize)> {
    let number = |json: &Json| usize::try_from(json.as_u64().unwrap()).unwrap();
    list(json).iter().map(|pair| (number(&pair[0]), number(&pair[1]))).collect()
}

fn expected_scan(sample: &Sample) -> Vec<(usize, usize)> {
    let truth = sample.json.pointer("/truth/scan");
    extents(truth.unwrap_or(&sample.json["scan"]))
}

fn messages_of(sample: &Sample) -> Vec<Expected<'_>> {
    let truth = sample.json.get("truth");
    let extents = expected_scan(sample);
    let of = |(index, (offset, length)): (usize, (usize, usize))| {
        let json = &sample.json["messages"][index];
        // A truth speaks of the one message of its file.
        let source = |key: &str| truth.and_then(|truth| truth.get(key)).unwrap_or(&json[key]);
        Expected {
            name: format!("{} message {index}", sample.name),
            index,
            bytes: &sample.bytes[offset..offset + length],
            json,
            objects: list(source("objects")),
            ranges: list(source("ranges")),
            class: &sample.class,
            is_delimited_otherwise: truth.is_some_and(|truth| truth.get("scan").is_some()),
            truth,
        }
    };
    extents.iter().copied().enumerate().map(of).collect()
}

/// Samples whose messages are looked into: of version 3, and not malformed.
fn readable() -> Vec<Sample> {
    corpus::samples_where(false).into_iter().filter(|sample| sample.class != "v2").collect()
}

/// The codec that an error says is not compiled in; it must name the feature.
fn missing_codec(error: &TensogramError) -> Option<String> {
    let text = error.to_string();
    let (_, rest) = text.split_once("codec `")?;
    let (codec, rest) = rest.split_once('`')?;
    assert!(rest.contains("not compiled in"), "{text}");
    assert!(rest.contains(&format!("enable feature `{codec}`")), "{text}");
    Some(codec.to_owned())
}

/// Values in the machine's byte order as little-endian ones, which the sidecars speak of.
fn little(values: &[u8], dtype: Dtype) -> Vec<u8> {
    let mut values = values.to_vec();
    if cfg!(target_endian = "big") && dtype.swap_unit_size() > 1 {
        values.chunks_mut(dtype.swap_unit_size()).for_each(<[u8]>::reverse);
    }
    values
}

/// Values in the machine's byte order as the sidecars have them, which were written by a little-endian machine: it took
/// plain values whose order the message does not say for its own, as every machine does.
fn as_recorded(values: &[u8], descriptor: &Descriptor<'_>) -> Vec<u8> {
    let is_of_no_order = descriptor.declared_byte_order().is_none();
    if is_of_no_order && descriptor.encoding().known() == Some(Encoding::None) {
        return values.to_vec();
    }
    little(values, descriptor.dtype())
}

/// The files of a sample, opened every way.
struct Files {
    positioned: TensogramFile,
    mapped: TensogramFile,
    map: MappedFile,
}

impl Files {
    fn open(sample: &Sample) -> Self {
        Self {
            positioned: TensogramFile::open(&sample.path).unwrap(),
            mapped: TensogramFile::open_mmap(&sample.path).unwrap(),
            map: crate::mapped::map(&sample.path).unwrap(),
        }
    }
}
