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
        ("s3://bucket/key?versionId=1", with(&[]), "what stands behind ?"),
        ("s3://bucket", with(&[]), "names no object"),
        ("s3://bucket/key", with(&[endpoint]), "allow_http allows"),
        ("s3://bucket/key", with(&[("azure_storage_account_name", "x")]), "unknown option"),
        ("az://container/key", with(&[]), ""),
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
