//! Addresses of the web.

use super::loopback::{Blob, Server};
use super::*;

pub(super) fn open_at(server: &Server, path: &str) -> Blocking<RemoteSource> {
    let mut options = options();
    options.storage.insert("timeout".into(), "1 s".into());
    source(&server.url(path), &options)
}

#[test]
fn queries_users_and_odd_paths_reach_the_server_and_no_error_text() {
    let server = Server::with("/a%20b/m.tgm", Blob::new("0123456789"));
    let address = format!("http://user:p%40ss@{}/a%20b/m.tgm?X-Sig=abc%2Fdef&x=1+2#part", server.address());
    let source = source(&address, &options());
    assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, b"23");
    let request = server.take_log().remove(0);
    assert_eq!(request.path, "/a%20b/m.tgm?X-Sig=abc%2Fdef&x=1+2");
    assert_eq!(request.headers["authorization"], "Basic dXNlcjpwQHNz");
    assert_eq!((request.range(), request.headers["accept-encoding"].as_str()), (Some("2-3"), "identity"));

    server.switch(|it| it.fail = Some((100, 403)));
    let text = source.fetch(&at(2..4), None).unwrap_err().to_string();
    assert_eq!(text, format!("{}/a%20b/m.tgm: bytes=2-3: the server refuses: status 403 Forbidden", server.url("")));
    for address in ["http://user:pass@[bad/x?sig=secret", "ftp://user:pass@host/x?sig=secret"] {
        let error = open(address, &options()).unwrap_err();
        assert_eq!(error.kind(), FetchErrorKind::Invalid);
        assert!(!error.to_string().contains("secret") && !error.to_string().contains("pass"), "{error}");
    }
}

/// An empty part of a path is the server's to understand. So it is for a store's host, where nothing signs requests.
#[test]
fn paths_with_empty_parts_reach_the_server_as_they_are() {
    for path in ["/a//b/m.tgm", "//m.tgm", "/a/m.tgm/", "/a//"] {
        let server = Server::with(path, Blob::new("0123456789"));
        let source = source(&server.url(path), &options());
        assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, b"23", "{path}");
        assert_eq!(server.take_log().remove(0).path, path);
    }
    for address in ["https://noaa.s3.amazonaws.com/a//k", "https://a.blob.core.windows.net/c//k"] {
        assert_eq!(tgm_std::read::AsyncRangeFetch::name(&open(address, &options()).unwrap()), address);
    }
}

#[test]
fn stores_that_are_asked_by_signed_addresses_are_servers() {
    for (address, name) in [
        ("https://b.s3.eu-west-1.amazonaws.com/k?X-Amz-Signature=1", "https://b.s3.eu-west-1.amazonaws.com/k"),
        ("https://a.blob.core.windows.net/c/k?sig=1", "https://a.blob.core.windows.net/c/k"),
        ("https://noaa.s3.amazonaws.com/dir/k", "https://noaa.s3.amazonaws.com/dir/k"),
    ] {
        let source = open(address, &options()).unwrap();
        assert_eq!(tgm_std::read::AsyncRangeFetch::name(&source), name);
        assert!(tgm_std::read::AsyncRangeFetch::traits(&source).suffix);
    }
}

#[test]
fn redirects_are_followed_with_the_range() {
    let [here, there] = [Server::start(), Server::with("/there", Blob::new("0123456789"))];
    here.switch(|it| it.redirect = Some(there.url("/there")));
    let source = source(&here.url("/here"), &options());
    assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, b"23");
    // An encrypted connection is not left for one that is not: this is what the option says.
    let mut strict = options();
    strict.storage.insert("allow_http".into(), "false".into());
    let error = super::source(&here.url("/here"), &strict).fetch(&at(2..4), None).unwrap_err();
    assert_eq!(error.kind(), FetchErrorKind::Unavailable, "{error}");
}

#[test]
fn redirects_lead_to_other_paths_and_keep_their_queries_secret() {
    let server = Server::with("/a/there", Blob::new("0123456789"));
    server.put("/there", Blob::new("abcdefghij"));
    for (to, bytes) in [("/a/there?sig=secret", b"23"), ("/there", b"cd")] {
        let start = Server::start();
        start.switch(|it| it.redirect = Some(server.url(to)));
        let source = source(&start.url("/a/here?x=1"), &options());
        assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, bytes);
        assert_eq!(server.take_log().remove(0).path, to);
        assert_eq!(start.take_log().remove(0).path, "/a/here?x=1");
    }
    // What is not there is said without what the redirect added, also if it is not an address.
    for (to, is_address) in [
        (server.url("/none?sig=secret#secret"), true),
        ("http://secret:secret@[::1:secret/?sig=secret".to_string(), false),
        ("ftp://secret@localhost/x?secret".to_string(), false),
    ] {
        let start = Server::start();
        start.switch(|it| it.redirect = Some(to.clone()));
        let error = source(&start.url("/here"), &options()).fetch(&at(2..4), None).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error} {error:?}");
        assert_eq!(error.kind() == FetchErrorKind::NotFound, is_address, "{error}");
    }
}

#[test]
fn hosts_may_be_addresses_of_version_6() {
    let Some(server) = Server::start_at_version_6() else { return };
    server.put("/a//m.tgm", Blob::new("0123456789"));
    let url = server.url("/a//m.tgm?x=[1]&y=%5B");
    assert!(url.starts_with("http://[::1]:"), "{url}");
    let source = source(&url, &options());
    assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, b"23");
    assert_eq!(server.take_log().remove(0).path, "/a//m.tgm?x=[1]&y=%5B");
    assert_eq!(RangeFetch::name(&source), server.url("/a//m.tgm"));
}

#[test]
fn a_server_is_given_the_time_that_it_asks_for() {
    let server = Server::with("/file", Blob::new("0123456789"));
    let source = open_at(&server, "/file");
    server.switch(|it| (it.fail, it.retry_after) = (Some((1, 429)), Some(1)));
    let start = std::time::Instant::now();
    assert!(source.fetch(&at(0..1), None).is_ok());
    assert!(start.elapsed() >= Duration::from_secs(1));
    // Nothing is waited for that comes too late.
    server.switch(|it| (it.fail, it.retry_after) = (Some((1, 429)), Some(1000)));
    let options = RemoteOptions { retry: Retry { within: Duration::from_millis(500), ..options().retry }, ..options() };
    let start = std::time::Instant::now();
    assert!(super::source(&server.url("/file"), &options).fetch(&at(0..1), None).is_err());
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn options_that_are_not_known_are_refused_or_ignored() {
    let mut options = RemoteOptions::new([("Time_Out", "3 s")]);
    let error = open("http://localhost/x", &options).unwrap_err();
    assert_eq!(error.to_string(), "http://localhost/x: unknown option \"time_out\": is it timeout?");
    options.unknown_keys = tgm_std::remote::UnknownKeys::Ignore;
    assert!(open("http://localhost/x", &options).is_ok());
    let error = open("https://localhost/x", &RemoteOptions::new([("timeout", "soon")])).unwrap_err();
    assert_eq!(error.kind(), FetchErrorKind::Invalid);
}

#[test]
fn local_files_have_addresses() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "0123456789").unwrap();
    let source = source(&format!("file://{}", file.path().display()), &options());
    assert_eq!(source.fetch(&Want::Suffix(3), None).unwrap().bytes, b"789");
    assert_eq!(open("file:///no/such/file", &options()).unwrap_err().kind(), FetchErrorKind::NotFound);
}
