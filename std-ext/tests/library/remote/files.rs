//! Files at addresses, over HTTP: what they give, and the requests that they take.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tgm_std::error::TensogramError;
use tgm_std::read::options::ReadKnob;
use tgm_std::read::{AsyncReader, FetchErrorKind, ReadOptions};
use tgm_std::remote::{RemoteOptions, UnknownKeys, open};
use tgm_std::{Archive, AsyncArchive, DecodeOptions, MessageBuilder, ObjectBuilder, TensogramFile};

use super::loopback::{Blob, Server};

const PATH: &str = "/fields.tgm";

fn noise(count: u64) -> Vec<f32> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from((state >> 48) as u16)
    };
    (0..count).map(|_| next()).collect()
}

fn message(objects: usize, values: &[f32]) -> Vec<u8> {
    let mut builder = MessageBuilder::new().extra("run", "a test");
    for number in 0..objects {
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap();
        builder = builder.object(object.metadata("number", number as u64));
    }
    builder.encode().unwrap()
}

/// 100 messages of 17 KB.
fn hundred() -> Vec<u8> {
    message(4, &noise(1024)).repeat(100)
}

fn served(bytes: &[u8]) -> Server {
    Server::with(PATH, Blob::new(bytes).etag("\"one\""))
}

fn open_file(server: &Server) -> TensogramFile {
    TensogramFile::open_remote(&server.url(PATH), &BTreeMap::new(), None).unwrap()
}

/// Requests of a call, all of them GET, and the bytes of their answers.
fn cost<T>(bytes: &[u8], call: impl FnOnce(&TensogramFile) -> tgm_std::Result<T>) -> (usize, usize) {
    let server = served(bytes);
    let file = open_file(&server);
    call(&file).map(drop).unwrap();
    let log = server.take_log();
    assert!(log.iter().all(|request| request.method == "GET"));
    (log.len(), log.iter().map(|request| request.sent).sum())
}

fn on_every_runtime<T, F: Future<Output = T>>(call: impl Fn() -> F) {
    let builders = [tokio::runtime::Builder::new_current_thread, tokio::runtime::Builder::new_multi_thread];
    for builder in builders {
        builder().enable_all().build().unwrap().block_on(call());
    }
}

#[test]
fn the_table_of_requests() {
    let options = DecodeOptions::default();
    let short = hundred();
    let long = message(20, &noise(50_000));
    assert_eq!(cost(&short[..short.len() / 10], TensogramFile::message_count).0, 2);
    let (requests, sent) = cost(&short, TensogramFile::message_count);
    assert!(requests == 2 && sent <= short.len(), "{requests} {sent}");
    // Windows of 64 KiB, several at once.
    let (requests, sent) = cost(&short, |file| file.decode_metadata(99));
    assert!(requests <= 30 && sent <= 1_800_000, "{requests} {sent}");
    let all: Vec<usize> = (0..100).collect();
    let (requests, sent) = cost(&short, |file| file.decode_object_batch(&all, 0, &options));
    assert!(requests == 2 && sent <= 1_800_000, "{requests} {sent}");
    let (requests, sent) = cost(&long, |file| file.decode_object(0, 19, &options));
    assert!(requests == 2 && sent <= 270_000, "{requests} {sent}");
    let (requests, sent) = cost(&long, |file| file.decode_descriptors(0));
    assert!(requests == 21 && sent <= 150_000, "{requests} {sent}");
    let values: Vec<f64> = noise(1 << 20).iter().map(|value| f64::from(*value)).collect();
    let packed = ObjectBuilder::new(&[1 << 20], &values).unwrap().simple_packing(16).szip();
    let packed = MessageBuilder::new().object(packed).encode().unwrap();
    let (requests, sent) = cost(&packed, |file| file.decode_range(0, 0, &[(700_000, 10)], &options));
    assert!(requests <= 4 && sent <= 64 * 1024 + 80_000, "{requests} {sent}, of {}", packed.len());
    // One file kept open: what was read serves later calls.
    let server = served(&short);
    let file = open_file(&server);
    assert_eq!(server.take_log().len(), 1);
    file.decode_metadata(0).unwrap();
    assert_eq!(server.take_log().len(), 0);
    file.message_count().unwrap();
    assert_eq!(server.take_log().len(), 1);
    file.decode_object(50, 2, &options).unwrap();
    assert_eq!(server.take_log().len(), 0);
}

#[test]
fn every_call_gives_what_memory_gives() {
    let values: Vec<f64> = (0..60_000).map(|i| if i % 77 == 0 { f64::NAN } else { f64::from(i) }).collect();
    let object = |values| ObjectBuilder::new(&[60_000], values).unwrap();
    let message = MessageBuilder::new()
        .allow_nan()
        .object(object(&values))
        .object(object(&values).shuffle().zstd(3))
        .object(object(&values).simple_packing_of_finite(16, 0).unwrap().szip());
    let streamed = message.clone().stream_to(Vec::new()).unwrap();
    let one = message.encode().unwrap();
    let bytes = [&one[..], b"junk between", &streamed, &one].concat();
    let server = served(&bytes);
    let file = Arc::new(open_file(&server));
    assert!(file.is_remote() && file.path().is_none());
    assert_eq!(file.source(), server.url(PATH));
    let expected: Vec<_> = tgm_std::core::scan::scan(&bytes).collect();
    assert_eq!(file.segments().unwrap().collect::<Vec<_>>(), expected);
    let text = |value: &dyn std::fmt::Debug| format!("{value:?}");
    let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    let part = DecodeOptions::default();
    let ranges = [(10, 20), (50_000, 500)];
    for (index, message) in [&one[..], &streamed, &one].into_iter().enumerate() {
        assert_eq!(file.read_message(index).unwrap(), message);
        let in_memory = tgm_std::decode::decode_descriptors(message).unwrap();
        assert_eq!(text(&file.decode_descriptors(index).unwrap()), text(&in_memory));
        assert_eq!(
            text(&file.decode_message(index, &options).unwrap()),
            text(&tgm_std::decode(message, &options).unwrap())
        );
        for object in 0..3 {
            let in_memory = text(&tgm_std::decode_object(message, object, &options).unwrap());
            assert_eq!(text(&file.decode_object(index, object, &options).unwrap()), in_memory);
            let in_memory_range = text(&tgm_std::decode_range(message, object, &ranges, &part).unwrap());
            assert_eq!(text(&file.decode_range(index, object, &ranges, &part).unwrap()), in_memory_range);
            on_every_runtime(|| async {
                assert_eq!(text(&file.decode_object_async(index, object, &options).await.unwrap()), in_memory);
                let found = file.decode_range_async(index, object, &ranges, &part).await.unwrap();
                assert_eq!(text(&found), in_memory_range);
                // Calls that block may stand in tasks too.
                assert_eq!(text(&file.decode_range(index, object, &ranges, &part).unwrap()), in_memory_range);
            });
        }
    }
    let batch = file.decode_range_batch(&[2, 0], 1, &ranges, &part).unwrap();
    assert_eq!(text(&batch[0]), text(&batch[1]));
    let error = file.decode_object(3, 0, &part).unwrap_err();
    assert_eq!(error.to_string(), "framing error: message index 3 out of range (count=3)");
    let error = file.decode_object(0, 3, &part).unwrap_err();
    assert_eq!(error.to_string(), "object error: object index 3 out of range (num_objects=3)");
    assert!(matches!(file.iter().map(drop), Err(TensogramError::Remote(_))));
}

#[test]
fn concurrent_calls_make_the_requests_of_one() {
    let bytes = message(8, &noise(60_000)).repeat(20);
    let one = cost(&bytes, |file| file.decode_object(15, 3, &DecodeOptions::default())).0;
    let server = served(&bytes);
    server.switch(|switches| switches.delay = Duration::from_millis(30));
    let file = Arc::new(open_file(&server));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let calls: Vec<_> = (0..4)
            .map(|_| {
                let file = Arc::clone(&file);
                tokio::spawn(async move { file.decode_object_async(15, 3, &DecodeOptions::default()).await.unwrap().2 })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap().len(), 240_000);
        }
    });
    assert_eq!(server.take_log().len(), one);
}

#[test]
fn a_dropped_call_loses_nothing_and_leaves_nothing_behind() {
    let bytes = message(8, &noise(60_000)).repeat(6);
    let server = served(&bytes);
    server.switch(|switches| switches.delay = Duration::from_millis(3));
    on_every_runtime(|| async {
        let file = TensogramFile::open_remote_async(&server.url(PATH), &BTreeMap::new(), None).await.unwrap();
        let options = DecodeOptions::default();
        let mut finished = false;
        for patience in 0..200 {
            // Each call is dropped a little later than the one before.
            let call = file.decode_object_async(5, 7, &options);
            if let Ok(answer) = tokio::time::timeout(Duration::from_millis(patience), call).await {
                assert_eq!(answer.unwrap().2.len(), 240_000);
                finished = true;
                break;
            }
        }
        assert!(finished);
    });
}

#[test]
fn a_source_that_changes_is_an_error_until_it_is_read_anew() {
    let bytes = message(8, &noise(60_000));
    for tagged in [true, false] {
        let blob = |bytes: Vec<u8>, tag: &str| if tagged { Blob::new(bytes).etag(tag) } else { Blob::new(bytes) };
        let server = Server::with(PATH, blob(bytes.clone(), "\"one\""));
        let mut file = open_file(&server);
        file.decode_metadata(0).unwrap();
        // Without a tag, the length tells.
        let changed = if tagged { message(8, &noise(60_001)[1..]) } else { message(9, &noise(60_000)) };
        server.put(PATH, blob(changed.clone(), "\"two\""));
        let error = file.decode_object(0, 7, &DecodeOptions::default()).unwrap_err();
        let TensogramError::Remote(reason) = &error else { panic!("{error}") };
        assert_eq!(reason.fetch_error_kind(), Some(FetchErrorKind::Changed), "{error}");
        file.invalidate_offsets();
        let found = file.decode_object(0, 7, &DecodeOptions::default()).unwrap();
        assert_eq!(found.2, tgm_std::decode_object(&changed, 7, &DecodeOptions::default()).unwrap().2);
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    let server = served(&message(1, &[1.0]));
    let open =
        |path: &str| TensogramFile::open_remote(&server.url(path), &BTreeMap::new(), None).map(|file| file.source());
    let error = open("/missing.tgm?signature=secret").unwrap_err();
    let TensogramError::Remote(reason) = &error else { panic!("{error}") };
    assert_eq!(reason.fetch_error_kind(), Some(FetchErrorKind::NotFound), "{error}");
    assert!(error.to_string().starts_with("remote error: ") && !error.to_string().contains("secret"), "{error}");
    let unknown = BTreeMap::from([("alow_http".to_owned(), "true".to_owned())]);
    let error = TensogramFile::open_remote(&server.url(PATH), &unknown, None).unwrap_err();
    assert!(error.to_string().contains("allow_http"), "{error}");
    let options = RemoteOptions { unknown_keys: UnknownKeys::Ignore, ..RemoteOptions::new(unknown) };
    assert!(TensogramFile::open_remote_with(&server.url(PATH), &options, None).is_ok());
}

/// By every way to open an address, of this thread and of a task.
#[test]
fn what_has_no_messages_is_an_error_that_says_what_it_looks_like() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = [&b"<!DOCTYPE html>"[..], &vec![b' '; 300_000]].concat();
    for (bytes, says) in [
        (&b""[..], "empty"),
        (&page, "it looks like an HTML page"),
        (b"GRIB\0\0\0\x02", "it looks like GRIB"),
        (b"something else", "no message was found"),
    ] {
        let server = served(bytes);
        let (address, none) = (server.url(&format!("{PATH}?signature=secret")), BTreeMap::new());
        let errors = [
            TensogramFile::open_remote(&address, &none, None).map(drop).unwrap_err(),
            TensogramFile::open_source(&address, None).map(drop).unwrap_err(),
            Archive::open(&address).map(drop).unwrap_err(),
            runtime.block_on(TensogramFile::open_remote_async(&address, &none, None)).map(drop).unwrap_err(),
            runtime.block_on(AsyncArchive::open(&address)).map(drop).unwrap_err(),
        ];
        for error in errors {
            let TensogramError::Remote(reason) = &error else { panic!("{error}") };
            assert_eq!(reason.fetch_error_kind(), Some(FetchErrorKind::Protocol), "{error}");
            let text = error.to_string();
            assert!(text.contains(says) && text.contains(PATH) && !text.contains("secret"), "{text}");
        }
    }
    // Other bytes may stand before a message.
    let server = served(&[b"GRIB", &message(1, &[1.0])[..]].concat());
    assert_eq!(Archive::open(server.url(PATH)).unwrap().len().unwrap(), 1);
}

#[test]
fn an_archive_at_an_address_reads_what_is_asked_for() {
    let bytes = hundred();
    let server = served(&bytes);
    let archive = Archive::open(server.url(PATH)).unwrap();
    let object = archive.object(1, 3).unwrap();
    assert_eq!(object.metadata().unwrap().get("number").and_then(|number| number.as_u64()), Some(3));
    assert_eq!(object.read().ranges(&[(1, 2)]).values::<f32>().unwrap(), noise(1024)[1..3]);
    let log = server.take_log();
    assert!(log.len() <= 3 && log.iter().map(|request| request.sent).sum::<usize>() < bytes.len() / 4, "{}", log.len());
}

#[test]
fn bytes_under_way_are_bounded() {
    let bytes = message(2, &noise(1 << 19)).repeat(4);
    let server = served(&bytes);
    server.switch(|switches| switches.delay = Duration::from_millis(10));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = ReadKnob::Request.set(64 << 10, ReadKnob::InFlight.set(128 << 10, ReadOptions::remote()));
        let source = open(&server.url(PATH), &super::options()).unwrap();
        let reader = AsyncReader::new(source, options);
        assert_eq!(reader.read_message(3).await.unwrap().len(), bytes.len() / 4);
    });
    assert!(server.busiest() <= 2, "{}", server.busiest());
}
