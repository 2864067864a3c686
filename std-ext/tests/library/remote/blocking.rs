//! Sources that block, on every kind of thread.

use tgm_std::read::{AsyncRangeFetch as _, BoxFuture, FetchTraits, Tag};

use super::loopback::{Blob, Server};
use super::*;

#[test]
fn calls_come_from_any_thread() {
    let server = Server::with("/file", Blob::new("0123456789"));
    let source = source(&server.url("/file"), &options());
    let fetch = || assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, b"23");
    fetch();
    let run = |mut builder: tokio::runtime::Builder| {
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(async { fetch() });
        let shared = source.clone();
        let task = runtime.spawn(async move { shared.fetch(&at(2..4), None).unwrap().bytes });
        assert_eq!(runtime.block_on(task).unwrap(), b"23");
        let shared = source.clone();
        let task = runtime.spawn_blocking(move || shared.fetch(&at(2..4), None).unwrap().bytes);
        assert_eq!(runtime.block_on(task).unwrap(), b"23");
        // And without blocking.
        let found = runtime.block_on(source.source().fetch(&at(2..4), None)).unwrap();
        assert_eq!(found.bytes, b"23");
    };
    run(tokio::runtime::Builder::new_current_thread());
    run(tokio::runtime::Builder::new_multi_thread());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(fetch);
        }
    });
}

#[test]
fn many_pieces_come_in_order_and_not_all_at_once() {
    let content = content(100 * KIB);
    let server = Server::with("/file", Blob::new(&*content));
    server.switch(|it| it.delay = Duration::from_millis(20));
    let source = source(&server.url("/file"), &options()).parallel(4);
    let wants: Vec<_> = (0..20).rev().map(|i| at(i * 5000..i * 5000 + 100)).collect();
    let found = source.fetch_many(&wants, None).into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    for (want, found) in wants.iter().zip(&found) {
        assert_eq!(*want, at(found.offset as usize..found.offset as usize + 100));
        assert!(is_part(found, &content));
    }
    assert_eq!(found.len(), 20);
    assert!((2..=4).contains(&server.busiest()), "{}", server.busiest());
    assert!(source.fetch_many(&[], None).is_empty());

    server.take_log();
    server.put("/file", Blob::new("small"));
    server.switch(|it| it.fail = Some((1, 404)));
    let kinds = source.fetch_many(&wants, None).into_iter().filter_map(|answer| Some(answer.err()?.kind()));
    assert!(kinds.into_iter().any(|kind| kind == FetchErrorKind::NotFound));
}

/// A source that panics.
struct Panics;

impl tgm_std::read::AsyncRangeFetch for Panics {
    fn fetch<'a>(&'a self, _: &'a Want, _: Option<&'a Tag>) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        Box::pin(async { panic!("as this test wants it") })
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits::default()
    }

    fn name(&self) -> String {
        "panics".into()
    }
}

#[test]
fn a_panic_of_a_source_is_an_error() {
    let source = Blocking::new(Panics);
    assert!(source.fetch(&at(0..1), None).is_err());
    assert!(source.fetch_many(&[at(0..1), at(1..2)], None).iter().all(Result::is_err));
}

#[test]
fn a_dropped_future_drops_its_request_and_nothing_else() {
    let server = Server::with("/file", Blob::new("0123456789"));
    let source = source(&server.url("/file"), &options());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    server.switch(|it| it.delay = Duration::from_millis(100));
    for millis in [0, 1, 5, 50] {
        runtime.block_on(async {
            let want = at(2..4);
            let fetch = source.source().fetch(&want, None);
            assert!(tokio::time::timeout(Duration::from_millis(millis), fetch).await.is_err());
        });
    }
    server.switch(|it| it.delay = Duration::ZERO);
    assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, b"23");
}
