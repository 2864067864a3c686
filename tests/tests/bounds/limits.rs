//! Limits on decoding. A message over a limit fails before memory is allocated for it, and the error names the limit. A
//! message within the limit passes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::fmt::Debug;

use ciborium::Value;
use tgm_core::object::DataObject;
use tgm_core::push::{Event, Link, PushDecoder};
use tgm_core::scan::Scanner;
use tgm_std::metadata::{cbor_to_global_metadata, cbor_to_object_descriptor, object_descriptor_to_cbor};
use tgm_std::v2::{UpgradeOptions, upgrade_message};
use tgm_std::{
    ByteOrder, DataObjectDescriptor, DecodeLimits, DecodeOptions, Dtype, ScanOptions, TensogramError, ValidateOptions,
    scan_with_options, validate_message,
};
use tgm_tests::alloc::measure;
use tgm_tests::builder::{Frame, Message, Object, array, frame_type, map};

/// The most bytes that refusing a message may allocate.
const REFUSAL: u64 = 64 << 10;

fn options(change: impl FnOnce(&mut DecodeLimits)) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    change(&mut options.limits);
    options
}

fn first_object(bytes: &[u8]) -> DataObject<'_> {
    tgm_core::Message::parse(bytes).unwrap().objects().next().unwrap().unwrap()
}

/// A temporary file that holds the message, and the same file opened.
fn as_file(bytes: &[u8]) -> (tempfile::NamedTempFile, tgm_std::TensogramFile) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let opened = tgm_std::TensogramFile::open(file.path()).unwrap();
    (file, opened)
}

/// Every route that decodes all of the first object, or more.
fn routes(bytes: &[u8], options: &DecodeOptions) -> Vec<(&'static str, Result<(), TensogramError>)> {
    let whole = |object: &DataObject<'_>| (0, object.descriptor().element_count());
    let object = first_object(bytes);
    vec![
        ("decode", tgm_std::decode(bytes, options).map(drop)),
        ("decode_object", tgm_std::decode_object(bytes, 0, options).map(drop)),
        ("decode_with_masks", tgm_std::decode_with_masks(bytes, options).map(drop)),
        ("decode_range", tgm_std::decode_range(bytes, 0, &[whole(&object)], options).map(drop)),
        ("objects", tgm_std::objects(bytes, options.clone()).and_then(|mut all| all.next().unwrap()).map(drop)),
        ("values", tgm_std::read(&object).options(options).bytes().map(drop)),
    ]
}

/// The routes without those named.
fn without<'r, T: Debug>(routes: Vec<(&'r str, T)>, names: &[&str]) -> Vec<(&'r str, T)> {
    routes.into_iter().filter(|(name, _)| !names.contains(name)).collect()
}

fn assert_names(found: Result<(), TensogramError>, limit: &str, route: &str) {
    let error = found.expect_err(route);
    assert!(error.to_string().contains(&format!("limit {limit}")), "{route}: {error}");
}

/// The object in the byte order that this machine does not use.
fn in_the_other_byte_order(object: Object) -> Object {
    if cfg!(target_endian = "little") { object.big_endian() } else { object }
}

#[test]
fn max_decoded_bytes_bounds_what_is_decoded() {
    let pipelines: [fn() -> Object; 4] = [
        || in_the_other_byte_order(Object::f32(&[100], &[1.5; 100])),
        || Object::f32(&[100], &[1.5; 100]).shuffled(4),
        || Object::f32(&[100], &[1.5; 100]).compressed("zstd"),
        || Object::packed(&[50], vec![1; 50], 0.0, (0, 0), 8),
    ];
    for pipeline in pipelines {
        let bytes = Message::buffered([pipeline()]).build().bytes;
        for (route, found) in routes(&bytes, &options(|limits| limits.max_decoded_bytes = 399)) {
            assert_names(found, "max_decoded_bytes", route);
        }
        for (route, found) in routes(&bytes, &options(|limits| limits.max_decoded_bytes = 400)) {
            assert!(found.is_ok(), "{route}: {found:?}");
        }
    }
}

#[test]
fn max_decoded_bytes_bounds_all_ranges_of_a_request_together() {
    let bytes = Message::buffered([Object::f32(&[100], &[1.5; 100])]).build().bytes;
    let many = vec![(0, 100); 10];
    let ask = |limit| tgm_std::decode_range(&bytes, 0, &many, &options(|limits| limits.max_decoded_bytes = limit));
    assert_names(ask(3999).map(drop), "max_decoded_bytes", "decode_range");
    assert_eq!(ask(4000).unwrap().1.len(), 10);
}

#[test]
fn max_objects_bounds_a_message() {
    let bytes = Message::buffered((0..5).map(|n| Object::bytes(&[n]))).build().bytes;
    // `values` takes a borrowed object, which does not know how many objects its message has.
    for (route, found) in without(routes(&bytes, &options(|limits| limits.max_objects = 4)), &["values"]) {
        assert_names(found, "max_objects", route);
    }
    for (route, found) in routes(&bytes, &options(|limits| limits.max_objects = 5)) {
        assert!(found.is_ok(), "{route}: {found:?}");
    }
}

#[test]
fn nesting_of_metadata_is_bounded() {
    // `base`, its entry and the value below it: three containers, and `depth` more.
    let nested = |depth: usize| (0..depth).fold(Value::from(1), |inner, _| array([inner]));
    let message = |depth| {
        let metadata = map([("base", array([map([("deep", nested(depth))])]))]);
        Message::buffered_with(&metadata, [Object::bytes(&[1])]).build().bytes
    };
    assert!(tgm_std::decode(&message(253), &DecodeOptions::default()).is_ok());
    assert!(tgm_std::decode(&message(254), &DecodeOptions::default()).is_err());
}

/// A list of maps with one entry, three bytes each: the form that takes the most memory per byte.
fn small_maps(count: u32) -> Vec<u8> {
    [&[0x9a][..], &count.to_be_bytes(), &b"\xa1\x60\x00".repeat(count as usize)].concat()
}

/// Metadata that holds a list of small maps.
fn large_metadata(count: u32) -> Vec<u8> {
    [&b"\xa1\x64base\x81\xa1\x61x"[..], &small_maps(count)].concat()
}

/// A descriptor of no values, with a list of small maps among its parameters.
fn large_descriptor(count: u32) -> Vec<u8> {
    let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[0]);
    let mut cbor = object_descriptor_to_cbor(&descriptor).unwrap();
    cbor[0] += 1;
    [&cbor[..], b"\x62zz", &small_maps(count)].concat()
}

/// A message with this many small maps in its metadata, and this many in the descriptor of its object.
fn large(in_metadata: u32, in_descriptor: u32) -> Vec<u8> {
    let metadata = Frame::raw(frame_type::HEADER_METADATA, large_metadata(in_metadata));
    Message::empty().with(metadata).with(Frame::raw(frame_type::OBJECT, large_descriptor(in_descriptor))).build().bytes
}

/// Every route that makes owned metadata or descriptors and takes options.
fn owning_routes(bytes: &[u8], options: &DecodeOptions) -> Vec<(&'static str, Result<(), TensogramError>)> {
    let (_file, opened) = as_file(bytes);
    let object = first_object(bytes);
    let start = usize::try_from(object.frame().offset()).unwrap();
    let frame = &bytes[start..start + usize::try_from(object.frame().total_length()).unwrap()];
    let bridge = tgm_zio::BridgeOptions { decode: options.clone(), ..Default::default() };
    let mut routes = without(routes(bytes, options), &["values"]);
    routes.extend([
        ("decode_object_from_frame", tgm_std::decode::decode_object_from_frame(frame, options).map(drop)),
        ("decode_range_from_frame", tgm_std::range::decode_range_from_frame(frame, &[], options).map(drop)),
        ("file.decode_message", opened.decode_message(0, options).map(drop)),
        ("file.decode_object", opened.decode_object(0, 0, options).map(drop)),
        ("file.decode_range", opened.decode_range(0, 0, &[], options).map(drop)),
        ("zio", tgm_zio::from_tensogram(bytes, &bridge).map(drop)),
    ]);
    routes
}

/// Every route that makes owned metadata or descriptors and takes no options.
fn owning_routes_without_options(bytes: &[u8]) -> Vec<(&'static str, Result<(), TensogramError>)> {
    let (_file, opened) = as_file(bytes);
    let view = tgm_core::Message::parse(bytes).unwrap();
    let object = first_object(bytes);
    let start = usize::try_from(object.frame().offset()).unwrap();
    vec![
        ("decode_metadata", tgm_std::decode_metadata(bytes).map(drop)),
        ("decode_descriptors", tgm_std::decode_descriptors(bytes).map(drop)),
        ("objects_metadata", tgm_std::objects_metadata(bytes).map(drop)),
        ("file.decode_metadata", opened.decode_metadata(0).map(drop)),
        ("file.decode_descriptors", opened.decode_descriptors(0).map(drop)),
        ("framing::decode_message", tgm_std::framing::decode_message(bytes).map(drop)),
        ("decode_data_object_frame", tgm_std::framing::decode_data_object_frame(&bytes[start..]).map(drop)),
        ("TakenObject", tgm_std::encode::TakenObject::new(&object).map(drop)),
        ("cbor_to_global_metadata", cbor_to_global_metadata(view.frames().next().unwrap().unwrap().body()).map(drop)),
        ("cbor_to_object_descriptor", cbor_to_object_descriptor(object.descriptor().as_encoded()).map(drop)),
    ]
}

#[test]
fn max_metadata_bytes_bounds_owned_metadata_by_every_route() {
    let bytes = large(1000, 1000);
    for (route, found) in owning_routes(&bytes, &options(|limits| limits.max_metadata_bytes = 200_000)) {
        assert_names(found, "max_metadata_bytes", route);
    }
    for (route, found) in owning_routes(&bytes, &options(|limits| limits.max_metadata_bytes = 8 << 20)) {
        assert!(found.is_ok(), "{route}: {found:?}");
    }
    let old = std::fs::read("data/v2/0.16.1-f32.tgm").unwrap();
    let upgrade = |max_metadata_bytes| {
        let limits = DecodeLimits { max_metadata_bytes, ..DecodeLimits::default() };
        upgrade_message(&old, &UpgradeOptions { limits, ..Default::default() }).map(drop)
    };
    assert_names(upgrade(1000), "max_metadata_bytes", "upgrade_message");
    upgrade(1 << 20).unwrap();
}

/// Metadata and a descriptor that take more memory than the default limit allows. It is lower on 32-bit machines, and emulated
/// ones are slow.
fn beyond_the_default_limit() -> Vec<u8> {
    const COUNT: u32 = if usize::BITS < u64::BITS { 1_300_000 } else { 5_000_000 };
    large(COUNT, COUNT)
}

/// All `routes` refuse `bytes` by the limit, and allocate little before.
/// Bytes that a reader keeps between calls.
const KEPT: u64 = 20 << 20;

fn assert_refused_early(bytes: &[u8], routes: impl FnOnce(&[u8]) -> Vec<(&'static str, Result<(), TensogramError>)>) {
    let (results, usage) = measure(|| routes(bytes));
    for (route, found) in results {
        assert_names(found, "max_metadata_bytes", route);
    }
    // `objects` keeps a copy of the message, and a file keeps metadata between calls.
    assert!(usage.peak < 2 * bytes.len() as u64 + KEPT + REFUSAL, "{} bytes", usage.peak);
}

#[test]
fn owned_metadata_beyond_the_default_limit_is_refused_before_memory_is_allocated_for_it() {
    assert_refused_early(&beyond_the_default_limit(), |bytes| owning_routes(bytes, &DecodeOptions::default()));
}

#[test]
fn routes_without_options_refuse_owned_metadata_beyond_the_default_limit() {
    assert_refused_early(&beyond_the_default_limit(), owning_routes_without_options);
}

#[test]
fn owned_metadata_takes_the_memory_that_the_table_states() {
    const COUNT: u32 = 1 << 16;
    let row = TABLE.lines().find(|line| line.starts_with("//! | owned metadata |")).unwrap();
    let bound: u64 = row.split('|').nth(2).unwrap().trim().parse().unwrap();
    let cbor = [&b"\xa1\x64base"[..], &small_maps(COUNT)].concat();
    let (metadata, usage) = measure(|| cbor_to_global_metadata(&cbor).unwrap());
    assert_eq!(metadata.base.len(), COUNT as usize);
    let found = usage.peak / cbor.len() as u64;
    println!("{found} bytes per byte, the table states {bound}");
    // The table is for 64-bit machines. On others pointers are smaller, and so are owned values.
    let least = if usize::BITS < u64::BITS { 0 } else { bound * 9 / 10 };
    assert!((least..=bound).contains(&found), "{found}, the table states {bound}");
}

/// The size that is compared with the limit is never below the memory taken, for any form of metadata.
#[test]
fn owned_metadata_stays_within_the_limit_that_it_passes() {
    let shapes: [(&str, &[u8]); 9] = [
        ("empty lists", b"\x80"),
        ("empty maps", b"\xa0"),
        ("small maps", b"\xa1\x60\x00"),
        ("lists of unknown length", b"\x9f\x00\xff"),
        ("maps of unknown length", b"\xbf\x60\x00\xff"),
        ("lists in lists", b"\x81\x81\x81\x00"),
        ("tags", b"\xc9\xc9\x00"),
        ("text", b"\x61a"),
        ("bytes", b"\x45abcde"),
    ];
    for (name, item) in shapes {
        let list = [&b"\x9a\0\0\x27\x10"[..], &item.repeat(10_000)].concat();
        let metadata = [&b"\xa1\x64base\x81\xa1\x61x"[..], &list].concat();
        let frame = Frame::raw(frame_type::HEADER_METADATA, metadata);
        let bytes = Message::empty().with(frame).with(Frame::object(Object::bytes(&[1]))).build().bytes;
        let decode = |limit| tgm_std::decode(&bytes, &options(|limits| limits.max_metadata_bytes = limit)).map(drop);
        let (mut refused, mut passed) = (0, 1 << 30);
        while passed - refused > 1000 {
            let middle = u64::midpoint(refused, passed);
            if decode(middle).is_ok() { passed = middle } else { refused = middle }
        }
        let ((), usage) = measure(|| decode(passed).unwrap());
        assert!(usage.peak <= passed, "{name}: {} bytes within a limit of {passed}", usage.peak);
    }
}

/// The keys stand in reverse order: a merge that searches for them one by one would take quadratic time.
#[test]
fn a_preceder_is_merged_in_linear_time_whatever_the_order_of_keys() {
    const COUNT: u32 = 60_000;
    let entry = |prefix: u8| {
        let mut bytes = [&[0xba][..], &COUNT.to_be_bytes()].concat();
        for n in (0..COUNT).rev() {
            bytes.extend([0x67, prefix]);
            bytes.extend(format!("{n:06}").as_bytes());
            bytes.push(0);
        }
        bytes
    };
    let metadata = |entry: Vec<u8>| [&b"\xa1\x64base\x81"[..], &entry].concat();
    let bytes = Message::empty()
        .with(Frame::raw(frame_type::HEADER_METADATA, metadata(entry(b'b'))))
        .with(Frame::raw(frame_type::PRECEDER, metadata(entry(b'a'))))
        .with(Frame::object(Object::bytes(&[1])))
        .build()
        .bytes;
    // The borrowed view has no memory to sort keys in, and gives up. Owned metadata is sorted.
    let view = tgm_core::Message::parse(&bytes).unwrap().metadata().unwrap();
    let object = view.object(0).unwrap().unwrap();
    assert_eq!(object.entries().last().unwrap().unwrap_err().kind(), tgm_core::ErrorKind::TooManyKeys);
    let (metadata, _) = tgm_std::decode(&bytes, &DecodeOptions::default()).unwrap();
    assert_eq!(metadata.base[0].len(), 2 * COUNT as usize);
}

#[test]
fn max_expansion_and_free_bytes_bound_the_values_of_a_small_payload() {
    let zeros = || Object::plain("uint8", &[1 << 20], vec![0; 1 << 20]).compressed("zstd");
    let bytes = Message::buffered([zeros()]).build().bytes;
    let tight = |limits: &mut DecodeLimits| (limits.max_expansion, limits.free_bytes) = (10, 1000);
    for (route, found) in routes(&bytes, &options(tight)) {
        assert_names(found, "max_expansion", route);
    }
    let expanding = |limits: &mut DecodeLimits| (limits.max_expansion, limits.free_bytes) = (1 << 20, 0);
    let free = |limits: &mut DecodeLimits| (limits.max_expansion, limits.free_bytes) = (0, 1 << 20);
    for change in [expanding, free] {
        for (route, found) in routes(&bytes, &options(change)) {
            assert!(found.is_ok(), "{route}: {found:?}");
        }
    }
}

/// Objects of a few bytes whose descriptors claim more values than any memory holds.
fn bombs() -> Vec<(&'static str, Object)> {
    let huge = |exponent: u32| vec![1_u64 << exponent];
    let claim = |object: Object, dims: &[u64]| {
        let dims = array(dims.iter().map(|&dim| Value::from(dim)));
        object.set("shape", dims.clone()).set("strides", dims)
    };
    let none = || Object::plain("float64", &[1], [0; 8]);
    vec![
        ("plain", claim(none(), &huge(50))),
        ("big-endian", claim(none().big_endian(), &huge(50))),
        ("shuffled", claim(none().shuffled(8), &huge(50))),
        ("lz4", claim(none().compressed("lz4"), &huge(50))),
        ("zstd", claim(none().compressed("zstd"), &huge(50))),
        ("zstd, 4 GiB", claim(none().compressed("zstd"), &huge(29))),
        ("packed in 0 bits", claim(Object::packed(&[1], [], 1.0, (0, 0), 0), &huge(50))),
        ("packed", claim(Object::packed(&[1], [0; 8], 1.0, (0, 0), 64), &huge(50))),
        ("rle", claim(Object::plain("bitmask", &[8], [0xff]).compressed("rle"), &huge(60))),
        ("roaring", claim(Object::plain("bitmask", &[8], [0xff]).compressed("roaring"), &huge(60))),
        ("overflowing", claim(none(), &huge(62))),
        ("masked", claim(none().masked("nan", "zstd", &[true]), &huge(50))),
        ("masked and packed in 0 bits", {
            claim(Object::packed(&[1], [], 1.0, (0, 0), 0).masked("nan", "rle", &[true]), &huge(50))
        }),
    ]
}

#[test]
fn a_bomb_is_refused_before_memory_is_allocated_for_it() {
    for (name, bomb) in bombs() {
        let bytes = Message::buffered([bomb]).build().bytes;
        let (results, usage) = measure(|| routes(&bytes, &DecodeOptions::default()));
        for (route, found) in results {
            assert!(found.is_err(), "{name} by {route}");
        }
        assert!(usage.peak < REFUSAL, "{name}: {} bytes", usage.peak);
    }
}

#[test]
fn without_limits_a_bomb_is_refused_by_the_allocator_and_not_by_a_crash() {
    let bomb = Object::packed(&[1], [], 1.0, (0, 0), 0);
    let dims = || array([Value::from(1_u64 << 56)]);
    let bytes = Message::buffered([bomb.set("shape", dims()).set("strides", dims())]).build().bytes;
    let unlimited = DecodeOptions { limits: DecodeLimits::UNLIMITED, ..Default::default() };
    for (route, found) in routes(&bytes, &unlimited) {
        let error = found.expect_err(route).to_string();
        // With 32-bit addresses the number does not fit `usize`, which is found before memory is requested.
        let is_refused =
            error.contains("cannot allocate") || (cfg!(target_pointer_width = "32") && error.contains("usize"));
        assert!(is_refused, "{route}: {error}");
    }
}

/// The source file that holds the table of limits.
const TABLE: &str = include_str!("../../../std-ext/src/base/limits.rs");

#[test]
fn defaults_are_those_of_the_table() {
    let bytes = |count: u64| format!("{} GiB", count >> 30);
    let grouped = |count: u64| match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{},{:03}", count / 1000, count % 1000),
        _ => format!("{},{:03},{:03}", count / 1_000_000, count / 1000 % 1000, count % 1000),
    };
    let mut limits = DecodeLimits::default();
    if usize::BITS < u64::BITS {
        // The text below the table gives this lower default.
        assert_eq!(limits.max_metadata_bytes, 1 << 30);
        limits.max_metadata_bytes = 4 << 30;
    }
    let rows = [
        ("max_decoded_bytes", bytes(limits.max_decoded_bytes)),
        ("free_bytes", bytes(limits.free_bytes)),
        ("max_expansion", grouped(limits.max_expansion)),
        ("max_objects", grouped(limits.max_objects as u64)),
        ("max_metadata_bytes", bytes(limits.max_metadata_bytes)),
        ("max_issues", grouped(ValidateOptions::default().max_issues as u64)),
        ("max_message_size", bytes(ScanOptions::default().max_message_size)),
    ];
    for (name, default) in rows {
        let is_row = |line: &&str| line.starts_with("//! |") && line.contains(&format!("::{name}`]"));
        let row = TABLE.lines().find(is_row).unwrap_or_else(|| panic!("no row for {name}"));
        assert_eq!(row.split('|').nth(2).unwrap().trim(), default, "{name}");
    }
    assert_eq!(DecodeOptions::default().threads, 0, "no threads unless asked for");
}

#[test]
fn max_issues_bounds_a_report_and_keeps_an_error() {
    // Each object has one error: its type is empty.
    let objects = (0..20).map(|n| Object::bytes(&[n]).set("type", ""));
    let bytes = Message::buffered(objects).build().bytes;
    for max_issues in [0, 1, 7, 10_000] {
        let report = validate_message(&bytes, &ValidateOptions { max_issues, ..ValidateOptions::default() });
        assert_eq!(report.issues.len(), max_issues.clamp(1, 20), "{max_issues}");
        assert_eq!(report.issues.len() as u64 + report.omitted_issues, 20);
        assert!(!report.is_ok());
    }
}

#[test]
fn max_message_size_bounds_messages_found_from_the_end() {
    let message = Message::buffered([Object::bytes(&[1])]).build().bytes;
    // From the start, the second message is hidden after one that never ends.
    let bytes = [&message[..], b"TENSOGRM\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0", &message].concat();
    let found = |max_message_size| {
        let options = ScanOptions { max_message_size, ..ScanOptions::default() };
        let mut scanner = Scanner::new(&bytes[..]);
        let Ok(last) = scanner.next_message_back(options.max_message_size);
        (last.is_some(), scan_with_options(&bytes, &options).len())
    };
    let len = message.len() as u64;
    assert_eq!(found(len), (true, 2));
    assert!(!found(len - 1).0);
}

#[test]
fn a_push_decoder_reports_cbor_that_does_not_fit_its_buffer() {
    let metadata = map([("base", array([map([("text", Value::from("x".repeat(300)))])]))]);
    let bytes = Message::buffered_with(&metadata, [Object::bytes(&[1])]).build().bytes;
    let is_too_large =
        |decoder: &mut dyn FnMut(&mut &[u8]) -> bool| bytes.chunks(50).any(|mut piece| decoder(&mut piece));
    let mut small = PushDecoder::<256>::new(Link::Reliable);
    let mut large = PushDecoder::<1024>::new(Link::Reliable);
    assert!(is_too_large(&mut |piece| reports_too_large(&mut small, piece)));
    assert!(!is_too_large(&mut |piece| reports_too_large(&mut large, piece)));
}

/// Whether the decoder reports anything in `piece` as too large.
fn reports_too_large<const N: usize>(decoder: &mut PushDecoder<N>, piece: &mut &[u8]) -> bool {
    let mut found = false;
    while let Some(event) = decoder.next_event(piece).unwrap() {
        found |= matches!(event, Event::TooLarge(_));
    }
    found
}

#[test]
fn any_number_of_threads_may_be_asked_for_and_gives_the_same_values() {
    assert!(TABLE.contains("at most 1,024"));
    let bytes = Message::buffered((0..3).map(|n| Object::bytes(&[n; 100]))).build().bytes;
    let asked = |threads| DecodeOptions { threads, parallel_threshold_bytes: Some(0), ..DecodeOptions::default() };
    let [one, most] = [1, u32::MAX].map(|threads| tgm_std::decode(&bytes, &asked(threads)).unwrap().1);
    assert_eq!(one, most);
}

#[test]
fn metadata_that_claims_more_items_than_there_are_bytes_is_refused_without_memory() {
    for body in [
        &b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"\xbb\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"\xa1\x64base\x9b\0\0\0\x10\0\0\0\0",
    ] {
        let frame = Frame::raw(1, body);
        let bytes = Message::empty().with(frame).build().bytes;
        let (found, usage) = measure(|| tgm_std::decode(&bytes, &DecodeOptions::default()).map(drop));
        assert!(found.is_err() && usage.peak < REFUSAL, "{found:?} {usage:?}");
    }
}
