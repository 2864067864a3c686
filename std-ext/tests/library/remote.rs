//! Sources on servers: each is right or says clearly what is wrong, whatever the server does. Bytes of two versions or
//! of another range never come out.
#![allow(clippy::cast_possible_truncation, reason = "lengths are small")]

#[path = "../support/loopback.rs"]
mod loopback;

mod blocking;
mod files;
mod model;
mod stores;
mod web;

use std::time::Duration;

use tgm_std::read::{FetchError, FetchErrorKind, Fetched, RangeFetch, Want};
use tgm_std::remote::{Blocking, RemoteOptions, RemoteSource, Retry, open};

const KIB: usize = 1 << 10;

/// Bytes that tell their place.
fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i ^ (i >> 8)) as u8).collect()
}

/// Three tries, at once.
fn options() -> RemoteOptions {
    let retry = Retry { max_retries: 2, first_pause: Duration::from_millis(1), ..Retry::default() };
    RemoteOptions { retry, environment: false, ..RemoteOptions::default() }
}

fn source(address: &str, options: &RemoteOptions) -> Blocking<RemoteSource> {
    Blocking::new(open(address, options).unwrap())
}

fn kind(answer: Result<Fetched, FetchError>) -> FetchErrorKind {
    answer.map(|it| (it.offset, it.bytes.len())).unwrap_err().kind()
}

fn at(range: std::ops::Range<usize>) -> Want {
    Want::At(range.start as u64..range.end as u64)
}

/// Whether the content has these bytes at that place.
fn is_part(fetched: &Fetched, content: &[u8]) -> bool {
    content[fetched.offset as usize..].starts_with(&fetched.bytes)
}

/// A server of one file, and its source. Both kinds of sources stand the same tests.
struct Case {
    server: loopback::Server,
    path: &'static str,
    source: Blocking<RemoteSource>,
    name: &'static str,
}

impl Case {
    fn put(&self, blob: loopback::Blob) {
        self.server.put(self.path, blob);
    }

    fn fetch(&self, want: &Want) -> Result<Fetched, FetchError> {
        self.source.fetch(want, None)
    }
}

/// The same content on a server and in a store, with short timeouts.
fn cases(content: &[u8]) -> [Case; 2] {
    let blob = loopback::Blob::new(content).etag("\"1\"").last_modified("Sun, 22 Nov 2026 18:00:00 GMT");
    let path = "/bucket/dir/file.tgm";
    let servers = [(); 2].map(|()| loopback::Server::with(path, blob.clone()));
    let web = web::open_at(&servers[0], path);
    let store = stores::open_s3(&servers[1]);
    let [first, second] = servers;
    [
        Case { server: first, path, source: web, name: "web" },
        Case { server: second, path, source: store, name: "store" },
    ]
}

mod each {
    //! What is true of both kinds.

    use super::loopback::{Blob, Framing, RangeHeader, Switches};
    use super::*;

    #[test]
    fn parts_ends_and_what_lies_behind_the_end() {
        let content = content(100 * KIB);
        for case in cases(&content) {
            case.server.switch(|it| it.refuse_head = true);
            let found = case.fetch(&at(10..20)).unwrap();
            assert_eq!((found.offset, &found.bytes[..]), (10, &content[10..20]), "{}", case.name);
            assert_eq!(found.size, Some(100 * KIB as u64));
            assert_eq!(found.tag, Some(tgm_std::read::Tag::Strong("\"1\"".into())));
            let found = case.fetch(&at(102_000..200_000)).unwrap();
            assert!(found.bytes == content[102_000..]);
            let found = case.fetch(&Want::Suffix(10)).unwrap();
            assert_eq!((found.offset, &found.bytes[..]), (102_390, &content[102_390..]));
            let found = case.fetch(&Want::Suffix(u64::from(u32::MAX))).unwrap();
            assert!(found.offset == 0 && found.bytes == content);
            let requests = case.server.take_log();
            assert_eq!(requests.len(), 4, "{}: {requests:?}", case.name);
            assert!(requests.iter().all(|it| it.method == "GET" && it.status == 206), "{requests:?}");

            let found = case.fetch(&at(200_000..300_000)).unwrap();
            assert_eq!((found.bytes.len(), found.size), (0, Some(102_400)), "{}", case.name);
            assert_eq!(case.server.take_log().len(), 1);
            // Nothing is asked for where nothing is wanted.
            assert!(case.fetch(&at(5..5)).unwrap().bytes.is_empty());
            assert_eq!(case.server.take_log().len(), 0);
            assert!(is_part(&case.fetch(&Want::Suffix(0)).unwrap(), &content));
        }
    }

    #[test]
    fn an_empty_file_has_no_bytes_and_a_size() {
        for case in cases(&[]) {
            for hide_size in [false, true] {
                case.server.switch(|it| it.hide_size = hide_size);
                for want in [at(0..100), at(50..100), Want::Suffix(10)] {
                    let found = case.fetch(&want).unwrap();
                    assert_eq!((found.bytes.len(), found.size), (0, Some(0)), "{} {want:?}", case.name);
                }
            }
        }
    }

    #[test]
    fn the_end_is_found_where_416_does_not_say_it() {
        let content = content(KIB);
        for case in cases(&content) {
            case.server.switch(|it| it.hide_size = true);
            let found = case.fetch(&at(5000..6000)).unwrap();
            assert_eq!((found.offset, found.bytes.len(), found.size), (5000, 0, Some(1024)), "{}", case.name);
            assert_eq!(case.server.take_log().len(), 2);
        }
    }

    /// An answer, or an error of that kind.
    fn expect(change: impl Fn(&mut Switches), want: &Want, expected: Result<(), FetchErrorKind>) {
        let content = content(100 * KIB);
        for case in cases(&content) {
            case.server.switch(&change);
            let answer = case.fetch(want);
            match (&answer, expected) {
                (Ok(found), Ok(())) => {
                    let wanted = match want {
                        Want::At(range) => range.start as usize..(range.end as usize).min(content.len()),
                        Want::Suffix(len) => content.len() - *len as usize..content.len(),
                    };
                    let end = found.offset as usize + found.bytes.len();
                    assert!(is_part(found, &content), "{}", case.name);
                    assert!(found.offset as usize <= wanted.start && end >= wanted.end, "{}: {want:?}", case.name);
                }
                (Err(error), Err(kind)) => {
                    assert_eq!(error.kind(), kind, "{}: {error}", case.name);
                    let text = error.to_string();
                    assert!(text.starts_with(&case.source.name()), "{text}");
                    println!("{text}");
                }
                _ => panic!("{}: {want:?}: {answer:?} but {expected:?}", case.name),
            }
        }
    }

    #[test]
    fn wrong_ranges_are_refused() {
        use FetchErrorKind::Protocol;
        use RangeHeader::{Capitals, Half, Longer, Missing, Nonsense, OtherSize, Right, Shifted, Shorter, UnknownSize};
        for header in [Missing, Nonsense, Shifted, Longer, Shorter] {
            expect(|it| it.range_header = header, &at(100..200), Err(Protocol));
            if header != Longer {
                expect(|it| it.range_header = header, &Want::Suffix(100), Err(Protocol));
            }
        }
        // Fewer bytes, and a unit in capitals, are as RFC 9110 allows them. The other bytes are asked for.
        for header in [Right, OtherSize, UnknownSize, Half, Capitals] {
            expect(|it| it.range_header = header, &at(100..200), Ok(()));
        }
        expect(|it| it.range_header = Capitals, &Want::Suffix(100), Ok(()));
        expect(|it| it.range_header = Half, &Want::Suffix(100), Err(Protocol));
        expect(|it| it.range_header = UnknownSize, &Want::Suffix(100), Ok(()));
        expect(|it| it.range_header = OtherSize, &Want::Suffix(100), Err(Protocol));
        expect(|it| it.framing = Framing::LongerThanRange, &at(100..200), Err(Protocol));
    }

    #[test]
    fn a_body_needs_no_length_of_its_own() {
        for framing in [Framing::Chunked, Framing::Close] {
            expect(|it| it.framing = framing, &at(100..200), Ok(()));
        }
    }

    #[test]
    fn bodies_that_end_early_are_asked_for_again_and_then_an_error() {
        for framing in [Framing::Length, Framing::Chunked, Framing::Close] {
            let cut = |cuts| {
                move |it: &mut Switches| {
                    it.framing = framing;
                    (it.cut_after, it.cuts) = (Some(50), cuts);
                }
            };
            expect(cut(2), &at(100..200), Ok(()));
            expect(cut(0), &at(100..200), Err(FetchErrorKind::Unavailable));
        }
        let short = |it: &mut Switches| {
            it.framing = Framing::Chunked;
            it.short_body = Some(50);
        };
        expect(short, &at(100..200), Err(FetchErrorKind::Unavailable));
    }

    #[test]
    fn servers_that_ignore_ranges_send_everything_once_or_too_much() {
        for want in [at(100..200), Want::Suffix(100), at(0..1 << 30)] {
            for framing in [Framing::Length, Framing::Chunked] {
                let ignore = |it: &mut Switches| (it.ignore_ranges, it.framing) = (true, framing);
                expect(ignore, &want, Ok(()));
            }
            // A broken connection would look the same.
            let until_close = |it: &mut Switches| (it.ignore_ranges, it.framing) = (true, Framing::Close);
            expect(until_close, &want, Err(FetchErrorKind::NoRanges));
        }
        let small = RemoteOptions { whole_body: 50_000, ..options() };
        let content = content(100 * KIB);
        let server = loopback::Server::with("/file", Blob::new(&*content));
        let source = source(&server.url("/file"), &small);
        for framing in [Framing::Length, Framing::Chunked] {
            server.switch(|it| (it.ignore_ranges, it.framing) = (true, framing));
            assert_eq!(kind(source.fetch(&at(0..100), None)), FetchErrorKind::NoRanges);
            // So many bytes were asked for.
            assert!(source.fetch(&at(0..200_000), None).unwrap().bytes == content);
        }
    }

    #[test]
    fn statuses_have_their_kinds() {
        use FetchErrorKind::{Changed, Denied, NoRanges, NotFound, Protocol, Unavailable};
        let kinds = [
            (404, NotFound),
            (410, NotFound),
            (401, Denied),
            (403, Denied),
            (412, Changed),
            (400, Protocol),
            (418, Protocol),
            (408, Unavailable),
            (429, Unavailable),
            (500, Unavailable),
            (503, Unavailable),
        ];
        for (status, kind) in kinds {
            expect(|it| it.fail = Some((100, status)), &at(100..200), Err(kind));
        }
        for status in [400, 501, 416] {
            expect(|it| it.refuse_suffix = Some(status), &Want::Suffix(100), Err(NoRanges));
        }
    }

    #[test]
    fn failures_that_pass_are_tried_again_and_others_are_not() {
        let content = content(KIB);
        for case in cases(&content) {
            for (status, times, requests, is_fine) in
                [(503, 2, 3, true), (429, 1, 2, true), (500, 3, 3, false), (404, 1, 1, false), (403, 1, 1, false)]
            {
                case.server.switch(|it| it.fail = Some((times, status)));
                let answer = case.fetch(&at(0..10));
                assert_eq!(answer.is_ok(), is_fine, "{} {status}", case.name);
                assert_eq!(case.server.take_log().len(), requests, "{} {status}", case.name);
                if times == 3 {
                    let text = answer.unwrap_err().to_string();
                    assert!(text.contains("500") && text.contains("after 3 tries"), "{text}");
                }
            }
        }
    }

    #[test]
    fn slow_answers_are_timeouts() {
        expect(|it| it.delay = Duration::from_millis(1500), &at(0..10), Err(FetchErrorKind::Timeout));
        expect(|it| it.loris = Some(Duration::from_millis(100)), &at(0..1000), Err(FetchErrorKind::Timeout));
        expect(|it| it.delay = Duration::from_millis(100), &at(0..10), Ok(()));
    }

    #[test]
    fn encoded_answers_are_refused() {
        expect(|it| it.encoding = Some("gzip"), &at(0..10), Err(FetchErrorKind::Protocol));
        expect(|it| it.encoding = Some("identity"), &at(0..10), Ok(()));
        let ignore = |it: &mut Switches| (it.ignore_ranges, it.encoding) = (true, Some("br"));
        expect(ignore, &at(0..10), Err(FetchErrorKind::Protocol));
    }

    #[test]
    fn a_file_that_changes_is_noticed() {
        let before = content(KIB);
        let after: Vec<u8> = before.iter().map(|byte| !byte).collect();
        let blob = |bytes: &[u8]| Blob::new(bytes).last_modified("Sun, 22 Nov 2026 18:00:00 GMT");
        for case in cases(&before) {
            for ignore_if_match in [false, true] {
                case.server.switch(|it| it.ignore_if_match = ignore_if_match);
                for (first, second) in [("\"1\"", "\"2\""), ("W/\"1\"", "W/\"2\"")] {
                    case.put(blob(&before).etag(first));
                    let tag = case.fetch(&at(0..10)).unwrap().tag;
                    case.server.take_log();
                    assert!(case.source.fetch(&at(10..20), tag.as_ref()).is_ok());
                    // Weak tags are not sent, as no server accepts them there.
                    let sent = case.server.take_log()[0].headers.get("if-match").cloned();
                    assert_eq!(sent, (!first.starts_with('W')).then(|| first.to_string()));
                    case.put(blob(&after).etag(second));
                    let answer = case.source.fetch(&at(10..20), tag.as_ref());
                    assert_eq!(kind(answer), FetchErrorKind::Changed, "{} {first}", case.name);
                    let answer = case.source.fetch(&Want::Suffix(10), tag.as_ref());
                    assert_eq!(kind(answer), FetchErrorKind::Changed, "{} {first}", case.name);
                }
            }
        }
    }

    #[test]
    fn without_tags_the_time_of_change_counts_and_the_size_is_told() {
        let content = content(KIB);
        let server =
            loopback::Server::with("/file", Blob::new(&*content).last_modified("Sun, 22 Nov 2026 18:00:00 GMT"));
        let source = source(&server.url("/file"), &options());
        let tag = source.fetch(&at(0..10), None).unwrap().tag;
        server.put("/file", Blob::new(&*content).last_modified("Sun, 22 Nov 2026 18:00:01 GMT"));
        assert_eq!(kind(source.fetch(&at(0..10), tag.as_ref())), FetchErrorKind::Changed);
        // Nothing but the size tells these apart.
        server.put("/file", Blob::new(&content[..1000]));
        let found = source.fetch(&at(0..10), tag.as_ref()).unwrap();
        assert_eq!((found.size, found.tag), (Some(1000), None));
    }

    #[test]
    fn nobody_listens() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let often = RemoteOptions { retry: Retry { max_retries: 1000, ..options().retry }, ..options() };
        let source = source(&format!("http://{address}/file"), &often);
        let error = source.fetch(&at(0..10), None).unwrap_err();
        assert_eq!(error.kind(), FetchErrorKind::Unavailable);
        assert!(error.to_string().contains("refused"), "{error}");
    }
}
