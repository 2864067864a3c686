//! Every file that is not malformed gives what its sidecar records, by every route that leads to the values.
//!
//! Expectations come from the sidecars (`tests/data/README.md` has the schema), and from `truth` where the reference is
//! wrong. Objects whose codec is not compiled in must say so and are counted; they are checked once the codec is there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]
#![allow(clippy::cast_precision_loss, reason = "the sidecars were read with the same loss")]

#[path = "shared/mapped.rs"]
mod mapped;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;

use ciborium::Value;
use serde_json::{Value as Json, json};
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype, Encoding};
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::object::DataObject;
use tgm_core::scan::Segment;
use tgm_core::tensor::{AnyView, Element, TensorView};
use tgm_core::{Message, cbor};
use tgm_std::{
    DataObjectDescriptor, DecodeOptions, DecodedMaskSet, GlobalMetadata, MappedFile, MasksMetadata, ObjectTable,
    Scratch, TensogramError, TensogramFile,
};
use tgm_tests::corpus::{self, Sample};
use tgm_tests::{Rng, builder, naive, sha256};

/// Objects that must be checked at least in `tests/data`, so that nothing passes by being skipped.
const LEAST_OBJECTS: usize = 900;
/// Requests for ranges that must be checked at least.
const LEAST_RANGES: usize = 900;

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

fn messages(sample: &Sample) -> Vec<Expected<'_>> {
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
            map: mapped::map(&sample.path).unwrap(),
        }
    }
}

/// One object's values by every route: the route's name, and what came of it.
fn routes(message: &Expected<'_>, files: &Files, object: usize, options: &DecodeOptions) -> Vec<Route> {
    let bytes = message.bytes;
    let index = message.index;
    let second = |result: Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)>| result.map(|(_, _, values)| values);
    let nth = |mut result: Vec<(DataObjectDescriptor, Vec<u8>)>| result.swap_remove(object).1;
    let borrowed = |found: tgm_core::Result<DataObject<'_>>| tgm_std::values(&found?, options).map(Cow::into_owned);
    let view = Message::parse(bytes).unwrap();
    let on_two_threads = DecodeOptions { threads: 2, parallel_threshold_bytes: Some(0), ..options.clone() };
    let mut routes = vec![
        Route::new("decode_object", second(tgm_std::decode_object(bytes, object, options))),
        Route::new("file.decode_object", second(files.positioned.decode_object(index, object, options))),
        Route::new("mapped.decode_object", second(files.mapped.decode_object(index, object, options))),
        Route::new(
            "objects().nth",
            tgm_std::objects(bytes, options.clone()).unwrap().nth(object).unwrap().map(|o| o.1),
        ),
        Route::new("message.object", borrowed(view.object(object))),
        Route::new("message.objects", borrowed(view.objects().nth(object).unwrap())),
        Route::new("values_into", into_buffer(&view, object, options)),
        Route::new("values_into, two threads", into_buffer(&view, object, &on_two_threads)),
        Route::new(
            "table.object",
            ObjectTable::new(&view).and_then(|table| table.object(&view, object)).and_then(|o| borrowed(Ok(o))),
        ),
        Route::new("map.object", files.map.object(index, object).and_then(|o| borrowed(Ok(o)))),
    ];
    let frame = view.object_frame(object).unwrap();
    let place = usize::try_from(frame.offset()).unwrap()..usize::try_from(frame.end_offset()).unwrap();
    let from_frame = tgm_std::decode_object_from_frame(&bytes[place], options);
    routes.push(Route::new("decode_object_from_frame", from_frame.map(|(_, values)| values)));
    // A message decodes as a whole only if all of its codecs are there.
    for (name, all) in [
        ("decode", tgm_std::decode(bytes, options)),
        ("file.decode_message", files.positioned.decode_message(index, options)),
        ("mapped.decode_message", files.mapped.decode_message(index, options)),
    ] {
        match all {
            Err(error) if missing_codec(&error).is_some() => {}
            all => routes.push(Route::new(name, all.map(|(_, objects)| nth(objects)))),
        }
    }
    routes
}

thread_local! {
    /// One for all files, so that what one object leaves behind may spoil the next.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The values of an object in a buffer that was full of something else.
fn into_buffer(message: &Message<'_>, index: usize, options: &DecodeOptions) -> Result<Vec<u8>> {
    let object = message.object(index)?;
    let mut out = vec![0xa5; usize::try_from(object.descriptor().decoded_len()?).unwrap()];
    SCRATCH.with_borrow_mut(|scratch| tgm_std::values_into(&object, options, scratch, &mut out))?;
    Ok(out)
}

/// The values of ranges in a buffer that was full of something else, cut where ranges meet.
fn ranges_into_buffer(object: &DataObject<'_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Vec<Vec<u8>>> {
    let len = |count| object.descriptor().dtype().byte_len(count).and_then(|len| usize::try_from(len).ok());
    // Ranges that no object has are an error whatever the buffer's length.
    let lens: Vec<usize> =
        ranges.iter().map(|&(_, count)| len(count).filter(|&len| len < 1 << 30).unwrap_or(0)).collect();
    let mut out = vec![0xa5; lens.iter().sum()];
    SCRATCH.with_borrow_mut(|scratch| tgm_std::ranges_into(object, ranges, options, scratch, &mut out))?;
    let mut rest = out.as_slice();
    Ok(lens.into_iter().map(|len| rest.split_off(..len).unwrap().to_vec()).collect())
}

struct Route {
    name: &'static str,
    values: Result<Vec<u8>>,
}

impl Route {
    const fn new(name: &'static str, values: Result<Vec<u8>>) -> Self {
        Self { name, values }
    }
}

/// The values of an object by `tgm_core` alone, if it needs no decompressor.
fn core_only(object: &DataObject<'_>, order: ByteOrder, restore: bool) -> Option<Vec<u8>> {
    let descriptor = object.descriptor();
    let mut out = vec![0; usize::try_from(descriptor.decoded_len().unwrap()).unwrap()];
    let elements = 0..descriptor.element_count();
    let decoded = if restore {
        object.decode_into(elements, order, &mut out)
    } else {
        object.stored().and_then(|stored| stored.decode_into(elements, order, &mut out))
    };
    match decoded {
        Ok(()) => Some(out),
        Err(error) => {
            let kind = format!("{:?}", error.kind());
            assert!(kind.starts_with("NeedsDecoding"), "{error}");
            None
        }
    }
}

/// The little-endian bytes of a view, element by element, with what its other accessors say compared.
fn view_bytes(view: &AnyView<'_>) -> Vec<u8> {
    fn of<T: Element + PartialEq + Debug>(view: &TensorView<'_, T>, to_bytes: impl Fn(T) -> Vec<u8>) -> Vec<u8> {
        let bytes: Vec<u8> = view.iter().flat_map(&to_bytes).collect();
        let by_index: Vec<u8> = (0..view.len()).flat_map(|at| to_bytes(view.get(at).unwrap())).collect();
        assert_eq!(bytes, by_index);
        assert!(view.get(view.len()).is_none());
        if let Some(slice) = view.as_slice() {
            assert_eq!(bytes, slice.iter().copied().flat_map(&to_bytes).collect::<Vec<u8>>());
        }
        let by_row: usize = view.rows().map(|row| row.len()).sum();
        assert!(view.shape().rank() == 0 || by_row == view.len());
        bytes
    }
    macro_rules! views {
        ($($variant:ident)+) => {
            match view {
                $(AnyView::$variant(view) => of(view, |value| value.to_le_bytes().to_vec()),)+
                AnyView::Complex64(view) => of(view, |z| [z.re.to_le_bytes(), z.im.to_le_bytes()].concat()),
                AnyView::Complex128(view) => of(view, |z| [z.re.to_le_bytes(), z.im.to_le_bytes()].concat()),
                AnyView::Bitmask(view) => {
                    let bits: Vec<bool> = view.iter().collect();
                    assert_eq!(bits.iter().filter(|bit| **bit).count(), view.count_ones());
                    builder::pack_bits(&bits)
                }
            }
        };
    }
    views!(Float16 Bfloat16 Float32 Float64 Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64)
}

/// A bitmask's last byte as it is without padding bits, which views do not see.
fn without_padding(values: &[u8], count: u64, dtype: Dtype) -> Vec<u8> {
    if dtype == Dtype::Bitmask { bit_slice(values, 0, count) } else { values.to_vec() }
}

#[test]
fn values_are_those_recorded_by_every_route() {
    let mut findings = Findings::default();
    for sample in readable() {
        let files = Files::open(&sample);
        for message in messages(&sample) {
            for object in 0..message.objects.len() {
                check_values(&mut findings, &message, &files, object);
            }
        }
    }
    findings.finish("values");
    assert!(findings.of("checked") >= LEAST_OBJECTS, "only {} objects checked", findings.of("checked"));
}

fn check_values(findings: &mut Findings, message: &Expected<'_>, files: &Files, object: usize) {
    let name = format!("{} object {object}", message.name);
    let recorded = &message.objects[object]["decoded"];
    let default = DecodeOptions::default();
    let view = match Message::parse(message.bytes).and_then(|m| m.objects().nth(object).unwrap()) {
        Ok(view) => view,
        Err(error) => return findings.check(!message.must_decode(), || format!("{name}: {error}")),
    };
    let descriptor = *view.descriptor();
    let dtype = descriptor.dtype();
    match tgm_std::decode_object(message.bytes, object, &default) {
        Err(error) if missing_codec(&error).is_some() => {
            findings.count(format!("skipped: {} not compiled in", missing_codec(&error).unwrap()));
            return;
        }
        // A quirk may be refused or give anything; a lenient file may be refused.
        Err(error) if !message.must_decode() => {
            findings.count(format!("refused, as it may be: {name}: {error}"));
            return;
        }
        _ if message.class == "quirk" => return,
        _ => {}
    }
    findings.count("checked");
    findings.count(format!("  compression {}", descriptor.compression()));
    let variants = [
        ("", DecodeOptions::default(), "sha256"),
        (" in stored order", DecodeOptions { native_byte_order: false, ..default.clone() }, "sha256_wire_byte_order"),
        (" not restored", DecodeOptions { restore_non_finite: false, ..default.clone() }, "sha256_not_restored"),
    ];
    // Sidecars of many objects leave the variants out.
    let is_abridged = recorded.get("np_dtype").is_none();
    for (what, options, key) in variants.into_iter().take(if is_abridged { 1 } else { 3 }) {
        let digest = recorded.get(key).unwrap_or(&recorded["sha256"]).as_str().unwrap();
        let as_recorded =
            |values: &[u8]| if options.native_byte_order { as_recorded(values, &descriptor) } else { values.to_vec() };
        for route in routes(message, files, object, &options) {
            match route.values {
                Err(error) => findings.check(false, || format!("{name} by {}{what}: {error}", route.name)),
                Ok(values) => {
                    findings.equal(&values.len(), &nbytes(recorded), &format!("{name} by {}{what}: bytes", route.name));
                    let found = sha256(&as_recorded(&values));
                    findings.equal(&&*found, &digest, &format!("{name} by {}{what}", route.name));
                }
            }
        }
        let order = if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order() };
        if let Some(values) = core_only(&view, order, options.restore_non_finite) {
            findings.count(format!("  by tgm_core alone{what}"));
            findings.equal(&&*sha256(&as_recorded(&values)), &digest, &format!("{name} by decode_into{what}"));
        }
    }
    if let Ok(any) = view.view_any() {
        findings.count("  by views");
        let values = tgm_std::decode_object(message.bytes, object, &default).unwrap().2;
        let expected = without_padding(&little(&values, dtype), descriptor.element_count(), dtype);
        findings.equal(&view_bytes(&any), &expected, &format!("{name} by view"));
    }
    match naive::decode(message.bytes).and_then(|decoded| decoded.objects[object].values.clone()) {
        Ok(values) => {
            findings.equal(&&*sha256(&values), &recorded["sha256"].as_str().unwrap(), &format!("{name} naive"));
        }
        Err(error) => findings.check(naive_may_refuse(&error), || format!("{name} naive: {error}")),
    }
    if !is_abridged {
        check_masks(findings, message, object, recorded, &descriptor);
    }
}

/// Whether the naive decoder lacks the codec.
fn naive_may_refuse(error: &str) -> bool {
    ["szip", "blosc2", "zfp", "sz3"].iter().any(|codec| error.ends_with(codec))
}

fn nbytes(recorded: &Json) -> usize {
    usize::try_from(recorded["nbytes"].as_u64().unwrap()).unwrap()
}

fn check_masks(
    findings: &mut Findings,
    message: &Expected<'_>,
    object: usize,
    recorded: &Json,
    descriptor: &Descriptor<'_>,
) {
    let Ok((_, objects)) = tgm_std::decode_with_masks(message.bytes, &DecodeOptions::default()) else { return };
    let name = format!("{} object {object} masks", message.name);
    let found = &objects[object];
    let digest = recorded.get("sha256_not_restored").unwrap_or(&recorded["sha256"]).as_str().unwrap();
    let values = as_recorded(&found.payload, descriptor);
    findings.equal(&&*sha256(&values), &digest, &format!("{name}: values"));
    let DecodedMaskSet { nan, pos_inf, neg_inf } = &found.masks;
    for (kind, bits) in [("nan", nan), ("inf+", pos_inf), ("inf-", neg_inf)] {
        let expected = recorded.pointer(&format!("/masks/{kind}"));
        findings.equal(&bits.is_some(), &expected.is_some(), &format!("{name}: {kind}"));
        if let (Some(bits), Some(expected)) = (bits, expected) {
            findings.count("masks checked");
            let count = bits.iter().filter(|bit| **bit).count();
            let packed = sha256(&builder::pack_bits(bits));
            let found = json!({"count": count, "n": bits.len(), "sha256_packed_msb": packed});
            findings.equal(&&found, &expected, &format!("{name}: {kind}"));
        }
    }
}

/// Bits `start..start + count`, packed from the first bit on.
fn bit_slice(bytes: &[u8], start: u64, count: u64) -> Vec<u8> {
    let bit = |at: u64| bytes[usize::try_from(at / 8).unwrap()] >> (7 - at % 8) & 1 == 1;
    builder::pack_bits(&(start..start + count).map(bit).collect::<Vec<_>>())
}

/// Elements `start..start + count` of all values.
fn slice_of(values: &[u8], start: u64, count: u64, descriptor: &Descriptor<'_>) -> Vec<u8> {
    let all = start == 0 && count == descriptor.element_count();
    if descriptor.dtype() == Dtype::Bitmask && !all {
        return bit_slice(values, start, count);
    }
    let width = descriptor.dtype().byte_width();
    let at = |element: u64| usize::try_from(element).unwrap() * width;
    if all { values.to_vec() } else { values[at(start)..at(start + count)].to_vec() }
}

#[test]
fn ranges_are_slices_of_the_whole_by_every_route() {
    let mut findings = Findings::default();
    let mut rng = Rng(7);
    for sample in readable().into_iter().filter(|sample| sample.class != "quirk") {
        let files = Files::open(&sample);
        for message in messages(&sample) {
            for object in 0..message.objects.len() {
                check_ranges(&mut findings, &message, &files, object, &mut rng);
            }
        }
    }
    findings.finish("ranges");
    assert!(findings.of("requests recorded") >= LEAST_RANGES, "only {}", findings.of("requests recorded"));
}

fn check_ranges(findings: &mut Findings, message: &Expected<'_>, files: &Files, object: usize, rng: &mut Rng) {
    let name = format!("{} object {object}", message.name);
    let options = DecodeOptions::default();
    let Ok((_, _, whole)) = tgm_std::decode_object(message.bytes, object, &options) else { return };
    let view = Message::parse(message.bytes).unwrap().objects().nth(object).unwrap().unwrap();
    let descriptor = *view.descriptor();
    let count = descriptor.element_count();

    // The whole, cut at random places and put together again.
    let mut cuts: Vec<u64> = (0..rng.below(6)).map(|_| rng.below(count + 1)).chain([0, count]).collect();
    cuts.sort_unstable();
    let pieces: Vec<(u64, u64)> = cuts.windows(2).map(|cut| (cut[0], cut[1] - cut[0])).collect();
    let expected: Vec<Vec<u8>> = pieces.iter().map(|&(at, n)| slice_of(&whole, at, n, &descriptor)).collect();
    for (route, parts) in range_routes(message, files, object, &pieces, &options) {
        findings.check(parts.as_ref().is_ok_and(|parts| *parts == expected), || {
            format!(
                "{name} {pieces:?} by {route}: {:.200?}, expected {expected:.200?}",
                parts.map_err(|e| e.to_string())
            )
        });
    }
    for (piece, expected) in pieces.iter().zip(&expected) {
        let mut out = vec![0xa5; expected.len()];
        match view.decode_into(piece.0..piece.0 + piece.1, ByteOrder::NATIVE, &mut out) {
            Ok(()) => findings.equal(&out, expected, &format!("{name} {piece:?} by decode_into")),
            Err(error) => findings.check(format!("{error:?}").contains("NeedsDecoding"), || format!("{name}: {error}")),
        }
    }
    findings.count("objects cut and put together");

    for past in [(count, 1), (count + 1, 0), (0, count + 1), (u64::MAX, 2), (1, u64::MAX), (u64::MAX, u64::MAX)] {
        for (route, parts) in range_routes(message, files, object, &[past], &options) {
            findings.check(parts.is_err(), || format!("{name} {past:?} of {count} by {route} is past the end"));
        }
    }
    for (route, parts) in range_routes(message, files, object, &[(count, 0)], &options) {
        findings
            .check(parts.is_ok_and(|parts| parts == [[0_u8; 0]]), || format!("{name} by {route}: nothing at the end"));
    }

    for request in message.ranges.iter().filter(|request| request["object"] == object) {
        check_request(findings, &name, message, request, object, &whole, &descriptor);
    }
}

/// The parts by every route.
fn range_routes(
    message: &Expected<'_>,
    files: &Files,
    object: usize,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> [(&'static str, Result<Vec<Vec<u8>>>); 6] {
    let parts = |result: Result<(DataObjectDescriptor, Vec<Vec<u8>>)>| result.map(|(_, parts)| parts);
    let view = Message::parse(message.bytes).and_then(|m| m.object(object)).unwrap();
    let place = usize::try_from(view.frame().offset()).unwrap()..usize::try_from(view.frame().end_offset()).unwrap();
    [
        ("decode_range", parts(tgm_std::decode_range(message.bytes, object, ranges, options))),
        ("file.decode_range", parts(files.positioned.decode_range(message.index, object, ranges, options))),
        ("mapped.decode_range", parts(files.mapped.decode_range(message.index, object, ranges, options))),
        ("ranges", tgm_std::ranges(&view, ranges, options)),
        ("ranges_into", ranges_into_buffer(&view, ranges, options)),
        ("decode_range_from_frame", parts(tgm_std::decode_range_from_frame(&message.bytes[place], ranges, options))),
    ]
}

/// A request that the sidecar records. Where the reference refuses what it could do, ours is the slice of the whole.
fn check_request(
    findings: &mut Findings,
    name: &str,
    message: &Expected<'_>,
    request: &Json,
    object: usize,
    whole: &[u8],
    descriptor: &Descriptor<'_>,
) {
    let pair = |pair: &Json| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
    let ranges: Vec<(u64, u64)> = list(&request["ranges"]).iter().map(pair).collect();
    let name = format!("{name} {ranges:?}");
    let count = descriptor.element_count();
    let is_inside = |&(start, n): &(u64, u64)| start.checked_add(n).is_some_and(|end| end <= count);
    let parts =
        tgm_std::decode_range(message.bytes, object, &ranges, &DecodeOptions::default()).map(|(_, parts)| parts);
    findings.count("requests recorded");
    if !ranges.iter().all(is_inside) {
        findings.check(request.get("error").is_some(), || format!("{name}: the sidecar does not say that this fails"));
        return findings.check(parts.is_err(), || format!("{name}: past the end"));
    }
    match parts {
        Err(error) => findings.check(false, || format!("{name}: {error}")),
        Ok(parts) => {
            let expected: Vec<Vec<u8>> = ranges.iter().map(|&(at, n)| slice_of(whole, at, n, descriptor)).collect();
            findings.equal(&parts, &expected, &name);
            let Some(digest) = request["sha256"].as_str() else {
                return findings.count("requests that only the reference refuses");
            };
            let all: Vec<u8> = parts.iter().flat_map(|part| as_recorded(part, descriptor)).collect();
            findings.equal(&&*sha256(&all), &digest, &name);
        }
    }
}

#[test]
fn messages_are_found_where_recorded_by_every_scan() {
    let mut findings = Findings::default();
    for sample in readable() {
        let name = &sample.name;
        let expected = expected_scan(&sample);
        let of_core = tgm_core::scan::scan(&sample.bytes).filter(Segment::is_message);
        let to_pair = |offset: u64, length: u64| (usize::try_from(offset).unwrap(), usize::try_from(length).unwrap());
        let of_core: Vec<_> = of_core.map(|segment| to_pair(segment.offset(), segment.length())).collect();
        findings.equal(&of_core, &expected, &format!("{name} by tgm_core"));
        findings.equal(&tgm_std::scan(&sample.bytes), &expected, &format!("{name} by scan"));
        for bidirectional in [false, true] {
            let options = tgm_std::ScanOptions { bidirectional, ..Default::default() };
            let found = tgm_std::scan_with_options(&sample.bytes, &options);
            findings.equal(&found, &expected, &format!("{name} {options:?}"));
            let mut file = File::open(&sample.path).unwrap();
            let found = tgm_std::scan_file_with_options(&mut file, &options).unwrap();
            findings.equal(&found, &expected, &format!("{name} by scan_file {options:?}"));
        }
        let files = Files::open(&sample);
        for (route, layouts) in [
            ("TensogramFile", files.positioned.message_layouts().unwrap()),
            ("mapped TensogramFile", files.mapped.message_layouts().unwrap()),
            ("MappedFile", files.map.message_layouts().to_vec()),
        ] {
            let found: Vec<_> = layouts.iter().map(|layout| to_pair(layout.offset, layout.length)).collect();
            findings.equal(&found, &expected, &format!("{name} by {route}"));
        }
        let iterated: Vec<Vec<u8>> = files.positioned.iter().unwrap().collect::<Result<_>>().unwrap();
        let slices: Vec<&[u8]> = tgm_std::messages(&sample.bytes).collect();
        let expected: Vec<&[u8]> = expected.iter().map(|&(at, length)| &sample.bytes[at..at + length]).collect();
        findings.equal(&iterated.iter().map(Vec::as_slice).collect(), &expected, &format!("{name} by iter"));
        findings.equal(&slices, &expected, &format!("{name} by messages"));
        findings.count("files checked");
    }
    findings.finish("scan");
    assert!(findings.of("files checked") >= 500);
}

#[test]
fn frames_are_those_recorded() {
    let mut findings = Findings::default();
    for sample in readable() {
        for message in messages(&sample).iter().filter(|message| !message.is_delimited_otherwise) {
            let Some(wire) = message.json.get("wire") else { continue };
            let view = Message::parse(message.bytes).unwrap();
            let name = &message.name;
            findings.equal(&json!(view.flags().bits()), &wire["flags"], &format!("{name}: flags"));
            let postamble = view.postamble().unwrap().first_footer_offset.get();
            findings.equal(&json!(postamble), &wire["first_footer_offset"], &format!("{name}: first_footer_offset"));
            let recorded = list(&wire["frames"]);
            let mut frames = view.frames();
            for (index, expected) in recorded.iter().enumerate() {
                if expected.get("elided").is_some() {
                    findings.count("frame lists cut short in the sidecar");
                    assert!(frames.by_ref().all(|frame| frame.is_ok()), "{name}");
                    break;
                }
                let frame = match frames.next() {
                    Some(Ok(frame)) => frame,
                    other => {
                        findings.check(false, || format!("{name} frame {index}: {other:?}"));
                        break;
                    }
                };
                let found = json!({
                    "type": frame.frame_type().as_u16(),
                    "offset": frame.offset(),
                    "length": frame.total_length(),
                    "flags": frame.flags().bits(),
                    "hash_slot": format!("{:016x}", frame.hash_slot()),
                });
                for key in ["type", "offset", "length", "flags", "hash_slot"] {
                    findings.equal(&found[key], &expected[key], &format!("{name} frame {index}: {key}"));
                }
                let matches = expected.get("hash_matches_body") != Some(&json!(false));
                findings.equal(&frame.verify_slot().is_ok(), &matches, &format!("{name} frame {index}: digest"));
                findings.count("frames checked");
            }
            findings.check(frames.next().is_none(), || format!("{name}: more frames than recorded"));
        }
    }
    findings.finish("frames");
    assert!(findings.of("frames checked") >= 2500, "only {}", findings.of("frames checked"));
}

/// A CBOR value in the notation of the sidecars.
fn json_of(value: &Value) -> Json {
    match value {
        Value::Integer(n) => {
            let n = i128::from(*n);
            // Where JSON readers have no integer as large, the sidecar's number was read as a float as well.
            let float = || json!(n as f64);
            i64::try_from(n).map(Json::from).or_else(|_| u64::try_from(n).map(Json::from)).unwrap_or_else(|_| float())
        }
        Value::Float(x) if x.is_nan() => json!({"$float": "nan"}),
        Value::Float(x) if x.is_infinite() => json!({"$float": if *x > 0.0 { "inf" } else { "-inf" }}),
        Value::Float(x) => json!(x),
        Value::Bytes(bytes) => json!({"$bytes": tgm_tests::hex(bytes)}),
        Value::Text(text) => json!(text),
        Value::Bool(bool) => json!(bool),
        Value::Tag(tag, value) => json!({"$tag": tag, "value": json_of(value)}),
        Value::Array(items) => items.iter().map(json_of).collect(),
        Value::Map(entries) => {
            let text: Option<serde_json::Map<String, Json>> =
                entries.iter().map(|(key, value)| Some((key.as_text()?.to_owned(), json_of(value)))).collect();
            let pairs = || entries.iter().map(|(key, value)| json!([json_of(key), json_of(value)]));
            text.map_or_else(|| json!({"$pairs": pairs().collect::<Vec<_>>()}), Json::Object)
        }
        _ => Json::Null,
    }
}

fn json_of_entries(entries: &BTreeMap<String, Value>) -> Json {
    Json::Object(entries.iter().map(|(key, value)| (key.clone(), json_of(value))).collect())
}

/// Whether what was found is what a sidecar says. `$undefined` is read as null; of `$pairs` the sidecar has lost some
/// keys (Python takes 1 and true for the same), so that only values are looked for; tags that the reference's binding
/// turned into text are compared with the sidecar's own parse instead.
fn agrees(found: &Json, expected: &Json) -> bool {
    match (found, expected) {
        (Json::Null, Json::Object(object)) if object.contains_key("$undefined") => true,
        (Json::Object(found), Json::Object(expected)) if expected.contains_key("$pairs") => {
            let values = |object: &serde_json::Map<String, Json>| -> Vec<Json> {
                list(&object["$pairs"]).iter().map(|pair| pair[1].clone()).collect()
            };
            found.contains_key("$pairs") && values(expected).iter().all(|value| values(found).contains(value))
        }
        (Json::Object(found), Json::Object(expected)) => {
            found.len() == expected.len()
                && found.iter().all(|(key, value)| expected.get(key).is_some_and(|other| agrees(value, other)))
        }
        (Json::Array(found), Json::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| agrees(a, b))
        }
        (Json::Number(a), Json::Number(b)) => a == b || (a.as_f64() == b.as_f64() && a.is_f64() && b.is_f64()),
        (Json::Object(tag), Json::String(text)) if text.starts_with("Tag(") => tag.contains_key("$tag"),
        _ => found == expected,
    }
}

fn check_metadata(findings: &mut Findings, found: &GlobalMetadata, expected: &Json, name: &str) {
    // A sidecar that was cut short has the first entries and their number.
    let base: Vec<Json> = found.base.iter().map(json_of_entries).collect();
    let base_len = expected.get("base_len").and_then(Json::as_u64).unwrap_or(list(&expected["base"]).len() as u64);
    findings.equal(&(base.len() as u64), &base_len, &format!("{name}: base entries"));
    for (index, (found, expected)) in base.iter().zip(list(&expected["base"])).enumerate() {
        findings.check(agrees(found, expected), || format!("{name} base[{index}]:\n  {found}\n  {expected}"));
    }
    for (section, found) in [("extra", &found.extra), ("reserved", &found.reserved)] {
        let (found, expected) = (json_of_entries(found), &expected[section]);
        findings.check(agrees(&found, expected), || format!("{name} {section}:\n  {found}\n  {expected}"));
    }
    findings.count("metadata checked");
}

/// What the sidecar's own parse of a lone metadata frame says about base, extra and reserved.
fn own_parse(message: &Expected<'_>) -> Option<Json> {
    let cbor = message.json.get("metadata_cbor")?;
    let frame = cbor.get("footer_metadata").or_else(|| cbor.get("header_metadata"))?.as_object()?;
    if cbor.get("preceders").is_some() {
        return None;
    }
    let mut extra = frame.get("_extra_").and_then(Json::as_object).cloned().unwrap_or_default();
    for (key, value) in frame.iter().filter(|(key, _)| !["base", "_extra_", "_reserved_"].contains(&key.as_str())) {
        extra.entry(key).or_insert_with(|| value.clone());
    }
    let section = |key: &str, default: Json| frame.get(key).cloned().unwrap_or(default);
    let mut base = section("base", json!([]));
    let count = message.objects.len().max(list(&base).len());
    base.as_array_mut()?.resize(count, json!({}));
    Some(json!({"base": base, "extra": extra, "reserved": section("_reserved_", json!({}))}))
}

#[test]
fn metadata_is_that_recorded_and_the_views_agree() {
    let mut findings = Findings::default();
    for sample in readable() {
        let files = Files::open(&sample);
        for message in messages(&sample) {
            let name = &message.name;
            let (found, _) = match tgm_std::decode_descriptors(message.bytes) {
                Ok(found) => found,
                Err(error) => {
                    findings.check(!message.must_decode(), || format!("{name}: {error}"));
                    continue;
                }
            };
            if let Some(expected) = message.metadata() {
                check_metadata(&mut findings, &found, expected, name);
            }
            if let Some(expected) = own_parse(&message).filter(|_| !message.is_delimited_otherwise) {
                findings.count("compared with the sidecar's own parse");
                check_metadata(&mut findings, &found, &expected, &format!("{name} own parse"));
            }
            let naive = naive::decode(message.bytes).unwrap();
            findings.equal(&text(&found.base), &text(&naive.base), &format!("{name}: naive base"));
            findings.equal(&text(&found.extra), &text(&naive.extra), &format!("{name}: naive extra"));
            findings.equal(&text(&found.reserved), &text(&naive.reserved), &format!("{name}: naive reserved"));
            for (route, decoded) in [
                ("file", files.positioned.decode_descriptors(message.index)),
                ("map", files.mapped.decode_descriptors(message.index)),
            ] {
                findings.equal(&text(&decoded.unwrap().0), &text(&found), &format!("{name} by {route}"));
            }
            if let Ok((decoded, _)) = tgm_std::decode(message.bytes, &DecodeOptions::default()) {
                findings.equal(&text(&decoded), &text(&found), &format!("{name} by decode"));
            }
            check_lookups(&mut findings, &message, &naive);
        }
    }
    findings.finish("metadata");
    assert!(findings.of("metadata checked") >= 1000, "only {}", findings.of("metadata checked"));
    assert!(findings.of("lookups") >= 5000, "only {}", findings.of("lookups"));
}

/// Equal where NaN is equal to itself.
fn text(value: &impl Debug) -> String {
    format!("{value:?}")
}

#[test]
fn the_first_metadata_frame_is_that_recorded() {
    let mut findings = Findings::default();
    for sample in readable().into_iter().filter(|sample| sample.class != "quirk") {
        for message in messages(&sample).iter().filter(|message| !message.is_delimited_otherwise) {
            let name = &message.name;
            let of_its_own = message.json.pointer("/decode_metadata/value");
            let Some(expected) = of_its_own.or_else(|| message.json.get("metadata")) else { continue };
            let Ok(found) = tgm_std::decode_metadata(message.bytes) else {
                findings.check(!message.must_decode(), || format!("{name}: no metadata"));
                continue;
            };
            check_metadata(&mut findings, &found, expected, name);
        }
    }
    findings.finish("decode_metadata");
    assert!(findings.of("metadata checked") >= 500);
}

/// Every leaf is found by its path, message-wide and per object, as the naive decoder finds it.
fn check_lookups(findings: &mut Findings, message: &Expected<'_>, naive: &naive::Message) {
    let name = &message.name;
    let view = Message::parse(message.bytes).unwrap();
    let metadata = view.metadata().unwrap();
    let mut paths = Vec::new();
    for entry in naive.base.iter().chain([&naive.extra]) {
        paths_of("", &Value::Map(entry.iter().map(|(k, v)| (Value::from(k.clone()), v.clone())).collect()), &mut paths);
    }
    let more = ["", ".", "_reserved_", "extra", "_extra_", "no.such", "mars.", "mars..param"].map(str::to_owned);
    let in_extra: Vec<String> = paths.iter().map(|path| format!("extra.{path}")).collect();
    for path in paths.iter().chain(&in_extra).chain(&more) {
        let found = metadata.get(path).unwrap().map(|value| json_of_view(&value));
        let expected = naive.get(path).map(json_of);
        findings.equal(&found, &expected, &format!("{name} {path:?}"));
        findings.count("lookups");
        for index in 0..naive.base.len().min(8) {
            let found = metadata.get_at(index, path).unwrap().map(|value| json_of_view(&value));
            let expected = naive.get_at(index, path).map(json_of);
            findings.equal(&found, &expected, &format!("{name} object {index} {path:?}"));
            findings.count("lookups");
        }
    }
    findings.check(metadata.get_at(naive.base.len(), "mars").unwrap().is_none(), || format!("{name}: no such object"));
}

/// The dotted path of every value below `value`, inner ones included.
fn paths_of(prefix: &str, value: &Value, paths: &mut Vec<String>) {
    for (key, value) in value.as_map().into_iter().flatten() {
        let Some(key) = key.as_text().filter(|key| !key.contains('.')) else { continue };
        let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        paths_of(&path, value, paths);
        if paths.len() < 400 {
            paths.push(path);
        }
    }
}

/// A borrowed value in the notation of the sidecars.
fn json_of_view(value: &cbor::Value<'_>) -> Json {
    let owned: Value = ciborium::from_reader(value.as_encoded()).unwrap();
    check_getters(value, &owned);
    json_of(&owned)
}

/// The typed getters of a view say what the owned value is.
fn check_getters(view: &cbor::Value<'_>, owned: &Value) {
    let integer = owned.as_integer().map(i128::from);
    assert_eq!(view.as_integer().ok(), integer);
    assert_eq!(view.as_u64().ok(), integer.and_then(|n| u64::try_from(n).ok()));
    assert_eq!(view.as_i64().ok(), integer.and_then(|n| i64::try_from(n).ok()));
    assert_eq!(view.as_text().ok().map(|text| text.to_string()).as_deref(), owned.as_text());
    assert_eq!(view.as_bool().ok(), owned.as_bool());
    assert_eq!(view.is_null(), owned.is_null());
    assert_eq!(view.as_array().ok().map(|array| array.len()), owned.as_array().map(Vec::len));
    assert_eq!(view.as_map().ok().map(|map| map.len()), owned.as_map().map(Vec::len));
    assert_eq!(view.as_bytes().ok().map(|bytes| bytes.len()), owned.as_bytes().map(Vec::len));
    if let Some(float) = owned.as_float() {
        assert_eq!(view.as_f64().unwrap().to_bits(), float.to_bits());
    }
}

#[test]
fn descriptors_are_those_recorded() {
    let mut findings = Findings::default();
    for sample in readable() {
        for message in messages(&sample) {
            let Ok((_, descriptors)) = tgm_std::decode_descriptors(message.bytes) else {
                findings.check(!message.must_decode(), || format!("{}: no descriptors", message.name));
                continue;
            };
            let is_recorded = message.json["decode"]["result"] == "ok" || message.truth.is_some();
            let count = if is_recorded { message.objects.len() } else { descriptors.len() };
            findings.equal(&descriptors.len(), &count, &format!("{}: objects", message.name));
            let streamed: Vec<_> = tgm_std::objects_metadata(message.bytes).unwrap().collect();
            findings.equal(&text(&streamed), &text(&descriptors), &format!("{}: objects_metadata", message.name));
            for (index, (found, object)) in descriptors.iter().zip(message.objects).enumerate() {
                check_descriptor(&mut findings, found, object, &message, index);
            }
        }
    }
    findings.finish("descriptors");
    assert!(findings.of("descriptors checked") >= 700);
}

fn check_descriptor(
    findings: &mut Findings,
    found: &DataObjectDescriptor,
    object: &Json,
    message: &Expected<'_>,
    index: usize,
) {
    findings.count("descriptors checked");
    let name = format!("{} object {index}", message.name);
    let ours = json!({
        "type": found.obj_type, "ndim": found.ndim, "shape": found.shape, "strides": found.strides,
        "dtype": found.dtype.name(), "byte_order": found.byte_order.name(), "encoding": found.encoding,
        "filter": found.filter, "compression": found.compression, "params": json_of_entries(&found.params),
    });
    let view = Message::parse(message.bytes).and_then(|view| view.objects().nth(index).unwrap()).unwrap();
    let has_order = view.descriptor().declared_byte_order().is_some();
    for (key, expected) in object["descriptor"].as_object().unwrap() {
        if key == "byte_order" && !has_order {
            findings.equal(&found.byte_order, &ByteOrder::NATIVE, &format!("{name}: no byte order is the machine's"));
            continue;
        }
        // Old messages have the packing parameters under their old names; the truth has the new ones.
        let is_renamed = message.class == "legacy" && key == "params";
        let is_ours = ours.get(key).is_some();
        findings.check(is_ours || key == "masks" || key == "hash", || format!("{name}: {key} is nowhere of ours"));
        let agree = ours.get(key).is_none_or(|found| agrees(found, expected));
        findings.check(agree || is_renamed, || format!("{name} {key}: {} instead of {expected}", ours[key]));
    }
    let MasksMetadata { nan, pos_inf, neg_inf } = found.masks.clone().unwrap_or_default();
    for (kind, found) in [("nan", nan), ("inf+", pos_inf), ("inf-", neg_inf)] {
        let expected = object.pointer(&format!("/masks_cbor/{kind}"));
        if object["descriptor"].get("type").is_none() {
            continue;
        }
        let ours = found.map(|mask| {
            let mut ours = json!({"length": mask.length, "method": mask.method, "offset": mask.offset});
            if !mask.params.is_empty() {
                ours["params"] = json_of_entries(&mask.params);
            }
            ours
        });
        findings.equal(&ours.as_ref(), &expected, &format!("{name}: mask {kind}"));
    }
}

/// The outcome of checking digests: `Ok`, or what the reference calls it.
fn verified(bytes: &[u8], objects: usize, strict: bool) -> std::result::Result<(), String> {
    let options = DecodeOptions { verify_hash: true, strict_hash_presence: strict, ..Default::default() };
    let outcome = |error: TensogramError| match error {
        TensogramError::MissingHash { object_index } => Err(format!("MissingHash: object_index={object_index}")),
        TensogramError::HashMismatch { object_index, .. } => Err(format!("HashMismatch: {object_index:?}")),
        // Digests are checked before anything is decoded.
        error if missing_codec(&error).is_some() => Ok(()),
        error => Err(error.to_string()),
    };
    let whole = tgm_std::decode(bytes, &options).map(drop).or_else(outcome);
    let each: std::result::Result<(), String> =
        (0..objects).try_for_each(|index| tgm_std::decode_object(bytes, index, &options).map(drop).or_else(outcome));
    assert!(whole == each || objects == 0, "decode and decode_object differ about digests");
    // Objects that are borrowed know the same, but for their index.
    let kind = |text: String| text.split(':').next().map(str::to_owned);
    let view = Message::parse(bytes).unwrap();
    for index in 0..objects {
        let of_message = tgm_std::decode_object(bytes, index, &options).map(drop).or_else(outcome).map_err(kind);
        for object in [view.object(index), view.objects().nth(index).unwrap()] {
            let of_object = tgm_std::values(&object.unwrap(), &options).map(drop).or_else(outcome).map_err(kind);
            assert_eq!(of_object, of_message, "decode_object and values differ about digests");
        }
    }
    whole
}

#[test]
fn digests_are_verified_as_recorded_and_rule_h_reads_older_releases() {
    let mut findings = Findings::default();
    for sample in readable().into_iter().filter(|sample| sample.class != "quirk") {
        for message in messages(&sample).iter().filter(|message| !message.is_delimited_otherwise) {
            let name = &message.name;
            let expected = &message.json["hash_verify"];
            let Ok(view) = Message::parse(message.bytes) else { continue };
            let strict = verified(message.bytes, message.objects.len(), true);
            let by_rule_h = verified(message.bytes, message.objects.len(), false);
            let of_core = view.verify(HashPresence::Flagged).map(|frame| frame.unwrap());
            let of_core = of_core.filter(|frame| frame.object_index.is_some()).all(|f| f.verdict == Verdict::Good);
            if expected["expected"] == true {
                findings.count("verified, as recorded");
                findings.equal(&strict, &Ok(()), &format!("{name} strict"));
                findings.equal(&by_rule_h, &Ok(()), name);
                findings.check(of_core, || format!("{name}: tgm_core finds a wrong digest"));
            } else if let Some(missing) = recorded_missing(expected) {
                findings.count("strict: no digest, as recorded");
                findings.equal(&strict, &Err(missing.clone()), &format!("{name} strict"));
                let is_old =
                    view.frames().all(|frame| !frame.unwrap().has_hash_flag()) && view.flags().bits() & 0x80 != 0;
                findings.equal(&view.hash_presence().unwrap(), &presence(is_old, &view), &format!("{name} presence"));
                let by_rule = if is_old { Ok(()) } else { Err(missing) };
                findings.equal(&by_rule_h, &by_rule, &format!("{name} by Rule H"));
                if is_old {
                    findings.count("verified by Rule H, where the reference finds no digest");
                    let all = view.verify(HashPresence::All).all(|frame| frame.unwrap().verdict == Verdict::Good);
                    findings.check(all, || format!("{name}: tgm_core finds a wrong digest"));
                }
            }
        }
    }
    findings.finish("digests");
    assert!(findings.of("verified, as recorded") >= 300);
    assert!(findings.of("verified by Rule H, where the reference finds no digest") >= 100);
}

fn presence(is_old: bool, view: &Message<'_>) -> HashPresence {
    let any_flagged = view.frames().any(|frame| frame.unwrap().has_hash_flag());
    match (is_old, any_flagged) {
        (true, _) => HashPresence::All,
        (false, true) => HashPresence::Flagged,
        (false, false) => HashPresence::Absent,
    }
}

fn recorded_missing(expected: &Json) -> Option<String> {
    let text = expected["message"].as_str()?;
    text.starts_with("MissingHash").then(|| text.split(';').next().unwrap().to_owned())
}

#[test]
fn version_2_is_refused_by_its_number() {
    let mut checked = 0;
    for sample in corpus::samples_where(false).into_iter().filter(|sample| sample.class == "v2") {
        let default = DecodeOptions::default();
        let errors = [
            tgm_std::decode(&sample.bytes, &default).map(drop),
            tgm_std::decode_metadata(&sample.bytes).map(drop),
            tgm_std::decode_descriptors(&sample.bytes).map(drop),
            tgm_std::decode_object(&sample.bytes, 0, &default).map(drop),
            tgm_std::decode_range(&sample.bytes, 0, &[(0, 1)], &default).map(drop),
            tgm_std::decode_with_masks(&sample.bytes, &default).map(drop),
            Message::parse(&sample.bytes).map(drop).map_err(Into::into),
        ];
        for error in errors {
            let error = error.expect_err(&sample.name);
            assert!(error.to_string().contains("unsupported message version 2"), "{}: {error}", sample.name);
            assert!(matches!(error, TensogramError::Framing(_)), "{}: {error}", sample.name);
        }
        assert_eq!(tgm_std::scan(&sample.bytes), extents(&sample.json["scan"]), "{}", sample.name);
        checked += 1;
    }
    assert!(checked >= 12);
}
