//! Values, whole and in ranges, and masks: those recorded, by every route.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Debug;

use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype};
use tgm_core::object::DataObject;
use tgm_core::tensor::{AnyView, Element, TensorView};
use tgm_std::{DataObjectDescriptor, DecodeOptions, DecodedMaskSet, GlobalMetadata, ObjectTable, Scratch};
use tgm_tests::{Rng, builder, naive, sha256};

use super::{Expected, Files, Findings, Result, as_recorded, list, little, messages_of, missing_codec, readable};

/// Objects that must be checked at least in `tests/data`, so that nothing passes by being skipped.
const LEAST_OBJECTS: usize = 900;
/// Requests for ranges that must be checked at least.
const LEAST_RANGES: usize = 900;

/// One object's values by every route: the route's name, and what came of it.
fn routes(message: &Expected<'_>, files: &Files, object: usize, options: &DecodeOptions) -> Vec<Route> {
    let bytes = message.bytes;
    let index = message.index;
    let second = |result: Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)>| result.map(|(_, _, values)| values);
    let nth = |mut result: Vec<(DataObjectDescriptor, Vec<u8>)>| result.swap_remove(object).1;
    let borrowed =
        |found: tgm_core::Result<DataObject<'_>>| tgm_std::read(&found?).options(options).bytes().map(Cow::into_owned);
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
    SCRATCH.with_borrow_mut(|scratch| tgm_std::read(&object).options(options).scratch(scratch).bytes_into(&mut out))?;
    Ok(out)
}

/// The values of ranges in a buffer that was full of something else, cut where ranges meet.
fn ranges_into_buffer(object: &DataObject<'_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Vec<Vec<u8>>> {
    let len = |count| object.descriptor().dtype().byte_len(count).and_then(|len| usize::try_from(len).ok());
    // Ranges that no object has are an error whatever the buffer's length.
    let lens: Vec<usize> =
        ranges.iter().map(|&(_, count)| len(count).filter(|&len| len < 1 << 30).unwrap_or(0)).collect();
    let mut out = vec![0xa5; lens.iter().sum()];
    SCRATCH.with_borrow_mut(|scratch| {
        tgm_std::read(object).ranges(ranges).options(options).scratch(scratch).bytes_into(&mut out)
    })?;
    Ok(cut(&out, &lens))
}

/// The values of ranges, cut where ranges meet.
fn ranges_as_bytes(object: &DataObject<'_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Vec<Vec<u8>>> {
    let bytes = tgm_std::read(object).ranges(ranges).options(options).bytes()?;
    let len = |count| usize::try_from(object.descriptor().dtype().byte_len(count).unwrap()).unwrap();
    Ok(cut(&bytes, &ranges.iter().map(|range| len(range.1)).collect::<Vec<_>>()))
}

fn cut(mut bytes: &[u8], lens: &[usize]) -> Vec<Vec<u8>> {
    lens.iter().map(|len| bytes.split_off(..*len).unwrap().to_vec()).collect()
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
        for message in messages_of(&sample) {
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
        // The digest of a route's values, computed anew only where they differ from the values of the route before.
        let mut before: Option<(Vec<u8>, String)> = None;
        for route in routes(message, files, object, &options) {
            match route.values {
                Err(error) => findings.check(false, || format!("{name} by {}{what}: {error}", route.name)),
                Ok(values) => {
                    findings.equal(&values.len(), &nbytes(recorded), &format!("{name} by {}{what}: bytes", route.name));
                    let found = match before.take() {
                        Some((same, digest)) if same == values => digest,
                        _ => sha256(&as_recorded(&values)),
                    };
                    findings.equal(&&*found, &digest, &format!("{name} by {}{what}", route.name));
                    before = Some((values, found));
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
        for message in messages_of(&sample) {
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
        ("bytes of ranges", ranges_as_bytes(&view, ranges, options)),
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
