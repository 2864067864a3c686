//! Addresses of object stores, answered by a server on this machine that looks at no signature.

use tgm_std::remote::Credentials;

use super::loopback::{Blob, Server};
use super::*;

fn with(pairs: &[(&str, &str)]) -> RemoteOptions {
    let storage = RemoteOptions::new(pairs.iter().copied()).storage;
    RemoteOptions { storage, ..options() }
}

pub(super) fn open_s3(server: &Server) -> Blocking<RemoteSource> {
    let endpoint = server.url("");
    let options = with(&[
        ("AWS_Endpoint", &endpoint),
        ("aws_access_key_id", "id"),
        ("aws_secret_access_key", "secret"),
        ("allow_http", "true"),
        ("timeout", "1 s"),
    ]);
    source("s3://bucket/dir/file.tgm", &options)
}

#[test]
fn requests_are_signed_with_the_options_and_errors_say_so() {
    let server = Server::with("/bucket/dir/file.tgm", Blob::new("0123456789").etag("\"1\""));
    let source = open_s3(&server);
    assert_eq!(source.source().credentials(), Credentials::Options);
    assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, b"23");
    let request = server.take_log().remove(0);
    assert!(request.headers["authorization"].starts_with("AWS4-HMAC-SHA256 Credential=id/"), "{request:?}");

    server.switch(|it| {
        it.fail = Some((100, 403));
        it.error_body = "<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Key>secret</Key></Error>";
    });
    let text = source.fetch(&at(2..4), None).unwrap_err().to_string();
    let expected = "s3://bucket/dir/file.tgm: bytes=2-3: the server refuses: status 403 Forbidden, SignatureDoesNotMatch; \
                    credentials: from the options";
    assert_eq!(text, expected);
}

#[test]
fn unsigned_requests_have_no_signature() {
    let server = Server::with("/bucket/key", Blob::new("0123456789").etag("\"1\""));
    let endpoint = server.url("");
    let options = with(&[("endpoint", &endpoint), ("skip_signature", "true"), ("allow_http", "true")]);
    let source = source("s3://bucket/key", &options);
    assert_eq!(source.source().credentials(), Credentials::Anonymous);
    assert_eq!(source.fetch(&at(2..4), None).unwrap().bytes, b"23");
    assert!(!server.take_log()[0].headers.contains_key("authorization"));
}

#[test]
fn google_and_azure_are_asked_in_their_ways() {
    let server = Server::start();
    let (base, blob) =
        (server.url(""), Blob::new("0123456789").etag("\"1\"").last_modified("Sun, 22 Nov 2026 18:00:00 GMT"));
    server.put("/bucket/key", blob.clone());
    let google = source("gs://bucket/key", &with(&[("google_base_url", &base), ("google_skip_signature", "true")]));
    assert_eq!(google.fetch(&at(2..4), None).unwrap().bytes, b"23");
    assert_eq!(google.fetch(&Want::Suffix(2), None).unwrap().bytes, b"89");

    let endpoint = server.url("/account");
    server.put("/account/container/key", blob);
    let options = with(&[
        ("azure_endpoint", &endpoint),
        ("azure_storage_account_name", "account"),
        ("azure_storage_sas_key", "sv=1&sig=secret"),
        ("allow_http", "true"),
    ]);
    let azure = source("az://container/key", &options);
    assert!(!azure.traits().suffix);
    let found = azure.fetch(&at(2..4), None);
    assert_eq!(found.unwrap().bytes, b"23");
    assert_eq!(kind(azure.fetch(&Want::Suffix(2), None)), FetchErrorKind::NoRanges);
    server.take_log();
    server.switch(|it| it.fail = Some((100, 404)));
    let error = azure.fetch(&at(2..4), None).unwrap_err();
    assert!(server.take_log()[0].path.contains("sig=secret"));
    assert!(error.kind() == FetchErrorKind::NotFound && !error.to_string().contains("secret"), "{error}");
}

#[test]
fn addresses_that_mean_nothing_are_refused() {
    let endpoint = ("aws_endpoint", "http://localhost:1");
    for (address, options, expected) in [
        ("s3://bucket/key?versionId=1", with(&[]), "what stands after ?"),
        ("s3://bucket", with(&[]), "names no object"),
        ("s3://bucket/key", with(&[endpoint]), "allow_http allows"),
        ("s3://bucket/key", with(&[("azure_storage_account_name", "x")]), "unknown option"),
        ("az://container/key", with(&[]), ""),
        ("s3://bucket//key", with(&[]), "keys with an empty part"),
        ("s3://bucket/dir//key", with(&[]), "keys with an empty part"),
        ("gs://bucket/dir/", with(&[]), "keys with an empty part"),
        ("s3://bucket/", with(&[]), "names no object"),
        ("s3://bucket/key", with(&[("instance_credentials", "false")]), "the cloud instance is not asked"),
        ("gs://bucket/key", with(&[("instance_credentials", "false")]), "the cloud instance is not asked"),
        ("memory:///x", with(&[]), "not known"),
        ("no address", with(&[]), "not an address"),
    ] {
        let error = open(address, &options).unwrap_err();
        assert_eq!(error.kind(), FetchErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn credentials_that_cannot_be_had_are_an_error_of_that_kind() {
    let server = Server::start();
    let endpoint = server.url("");
    let options =
        with(&[("endpoint", &endpoint), ("metadata_endpoint", &endpoint), ("allow_http", "true"), ("timeout", "1 s")]);
    let source = source("s3://bucket/key", &options);
    assert_eq!(source.source().credentials(), Credentials::Instance);
    let error = source.fetch(&at(0..10), None).unwrap_err();
    assert_eq!(error.kind(), FetchErrorKind::Denied, "{error}");
    assert!(error.to_string().contains("skip_signature"), "{error}");
}

/// A store repeats requests that fail, for minutes.
#[test]
fn a_cloud_instance_that_does_not_answer_is_asked_for_a_short_time() {
    let server = Server::start();
    server.switch(|it| it.delay = Duration::from_secs(20));
    let endpoint = server.url("");
    let options = with(&[
        ("endpoint", &endpoint),
        ("metadata_endpoint", &endpoint),
        ("allow_http", "true"),
        ("max_retries", "100"),
        ("retry_timeout", "0.2"),
    ]);
    let start = std::time::Instant::now();
    let error = source("s3://bucket/key", &options).fetch(&at(0..10), None).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(error.kind(), FetchErrorKind::Denied, "{error}");
    assert!(error.to_string().contains("no cloud instance answered within 0.2 s"), "{error}");
    assert!(error.to_string().contains("instance_credentials=false"), "{error}");
}

/// `.cargo/config.toml` sends requests that would leave the machine nowhere.
#[test]
fn no_test_leaves_the_machine() {
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        assert_eq!(std::env::var(name).as_deref(), Ok("http://127.0.0.1:1"), "{name}: run the tests by cargo");
    }
    let options = RemoteOptions { environment: true, ..options() };
    for address in ["http://example.invalid/x.tgm", "https://192.0.2.1/x.tgm"] {
        let error = source(address, &options).fetch(&at(0..1), None).unwrap_err();
        assert!(error.to_string().contains("refused"), "{address}: {error}");
    }
    for address in ["s3://bucket/key", "gs://bucket/key", "az://container/key"] {
        let storage = with(&[("azure_storage_account_name", "x")]).storage;
        let storage = if address.starts_with("az") { storage } else { options.storage.clone() };
        let error = open(address, &RemoteOptions { storage, ..options.clone() }).unwrap_err();
        assert!(error.to_string().contains("the cloud instance is not asked"), "{address}: {error}");
    }
}
