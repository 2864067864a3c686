//! `tgm serve`, as programs that speak HTTP meet it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};

use serde_json::Value as Json;

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::{command, tgm};

/// A tool that serves, until it is dropped.
struct Served {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// An answer.
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn json(&self) -> Json {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn serve(args: &[&str]) -> Served {
    let mut child =
        command(["serve"].iter().chain(args)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let rest = line.trim_end().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{line:?}"));
    let (port, token) = rest.strip_suffix('/').unwrap().split_once('/').unwrap();
    Served { port: port.parse().unwrap(), token: token.into(), child }
}

impl Served {
    /// Sends a request whose path is as it is given.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            write!(request, "Host: 127.0.0.1:{}\r\n", self.port).unwrap();
        }
        for (name, value) in headers {
            write!(request, "{name}: {value}\r\n").unwrap();
        }
        socket.write_all((request + "\r\n").as_bytes()).unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap());
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_string())).collect();
        Answer { status, headers, body: answer[end + 4..].to_vec() }
    }

    /// Asks for a path after the token.
    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", &format!("/{}/{path}", self.token), headers)
    }
}

#[test]
fn files_are_read_by_ranges() {
    let path = data("realistic/pl-levels.tgm");
    let bytes = fs::read(&path).unwrap();
    let len = bytes.len();
    let served = serve(&[&path]);
    let whole = served.get("files/pl-levels.tgm", &[]);
    assert_eq!((whole.status, &whole.body), (200, &bytes));
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(whole.header("x-content-type-options"), Some("nosniff"));
    assert!(whole.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert_eq!(whole.header("access-control-allow-origin"), None);
    let tag = whole.header("etag").unwrap().to_string();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");

    let parts = [
        ("bytes=0-0", 0..1),
        ("bytes=5-9", 5..10),
        ("bytes=100-", 100..len),
        ("bytes=-7", len - 7..len),
        ("bytes=-999999999", 0..len),
        ("bytes=10-999999999", 10..len),
    ];
    for (range, expected) in parts {
        let answer = served.get("files/pl-levels.tgm", &[("Range", range)]);
        assert_eq!((answer.status, &answer.body[..]), (206, &bytes[expected.clone()]), "{range}");
        let shown = format!("bytes {}-{}/{len}", expected.start, expected.end - 1);
        assert_eq!(answer.header("content-range"), Some(shown.as_str()), "{range}");
        assert_eq!(answer.header("etag"), Some(tag.as_str()));
    }
    for range in [format!("bytes={len}-"), "bytes=-0".into(), "bytes=99999999999999999999-".into()] {
        let answer = served.get("files/pl-levels.tgm", &[("Range", &range)]);
        let shown = format!("bytes */{len}");
        assert_eq!((answer.status, answer.header("content-range")), (416, Some(shown.as_str())), "{range}");
    }
    for range in ["bytes=3-1", "bytes=x", "bytes=0-1,4-5", "lines=0-1"] {
        let answer = served.get("files/pl-levels.tgm", &[("Range", range)]);
        assert_eq!((answer.status, answer.body.len()), (200, len), "{range}");
    }
    let head = served.ask("HEAD", &format!("/{}/files/pl-levels.tgm", served.token), &[("Range", "bytes=0-3")]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some(len.to_string().as_str()));
}

#[test]
fn the_number_of_files_is_told() {
    for (files, told) in [
        (&["multi/three.tgm"][..], "1 file; Ctrl-C ends it\n"),
        (&["multi/three.tgm", "realistic/pl-levels.tgm"], "2 files; Ctrl-C ends it\n"),
    ] {
        let mut served = serve(
            &files.iter().map(|name| data(name)).collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>(),
        );
        assert_eq!(served.get("files", &[]).status, 200);
        served.child.kill().unwrap();
        let mut remarks = String::new();
        served.child.stderr.take().unwrap().read_to_string(&mut remarks).unwrap();
        assert_eq!(remarks, told);
    }
}

/// The address is what the command is for, so `-q` leaves it.
#[test]
fn a_quiet_server_prints_its_address_alone() {
    let mut served = serve(&["-q", &data("realistic/pl-levels.tgm")]);
    assert_eq!(served.get("files", &[]).status, 200);
    served.child.kill().unwrap();
    let mut told = String::new();
    served.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(told, "");
}

#[test]
fn tags_tell_whether_a_file_was_written() {
    let folder = Folder::new();
    let path = folder.file("a.tgm", &fs::read(data("multi/three.tgm")).unwrap());
    let served = serve(&[&path]);
    let get = |headers: &[(&str, &str)]| served.get("files/a.tgm", headers);
    let tag = get(&[]).header("etag").unwrap().to_string();
    let (weak, range) = (format!("W/{tag}"), ("Range", "bytes=0-3"));
    assert_eq!(get(&[("If-None-Match", &tag)]).status, 304);
    assert_eq!(get(&[("If-None-Match", &weak)]).status, 304);
    assert_eq!(get(&[("If-None-Match", "\"x\"")]).status, 200);
    assert_eq!(get(&[("If-Range", &tag), range]).status, 206);
    // Weak tags and dates say too little.
    assert_eq!(get(&[("If-Range", &weak), range]).status, 200);
    assert_eq!(get(&[("If-Range", "Sat, 01 Jan 2050 00:00:00 GMT"), range]).status, 200);
    assert_eq!(get(&[("If-Match", &tag)]).status, 200);
    assert_eq!(get(&[("If-Match", "\"x\"")]).status, 412);

    let mut bytes = fs::read(&path).unwrap();
    bytes.reverse();
    fs::write(&path, bytes).unwrap();
    assert_eq!(get(&[("If-None-Match", &tag)]).status, 200);
    assert_eq!(get(&[("If-Range", &tag), range]).status, 200);
    assert_eq!(get(&[("If-Match", &tag), range]).status, 412);
}

#[test]
fn only_those_with_the_token_are_answered() {
    let served = serve(&[&data("multi/three.tgm")]);
    let inside = format!("/{}/files/three.tgm", served.token);
    assert_eq!(served.ask("GET", &inside, &[]).status, 200);
    assert_eq!(served.ask("GET", &format!("/files/three.tgm?token={}", served.token), &[]).status, 200);
    let wrong = served.token.replace(|letter: char| letter.is_ascii_digit(), "a");
    for path in ["/", "/files/three.tgm", "/files/three.tgm?token=", &format!("/{wrong}x/files/three.tgm"), "//", "/%"]
    {
        let answer = served.ask("GET", path, &[]);
        assert!(answer.status == 403 && !String::from_utf8_lossy(&answer.body).contains(&served.token), "{path}");
    }
    // A name that its owner leads to this machine.
    for host in ["example.org", "example.org:80", "localhost.example.org", "127.0.0.1.example.org", ""] {
        assert_eq!(served.ask("GET", &inside, &[("Host", host)]).status, 421, "{host}");
    }
    assert_eq!(served.ask("GET", &inside, &[("Host", "localhost:99")]).status, 200);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let answer = served.ask(method, &inside, &[]);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
}

#[test]
fn pages_of_one_origin_may_read_if_they_are_named() {
    let served = serve(&["--allow-origin", "https://example.org/", &data("multi/three.tgm")]);
    let origin = |origin| served.get("files/three.tgm", &[("Origin", origin)]);
    let allowed = origin("https://example.org");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://example.org"));
    assert!(allowed.header("access-control-expose-headers").unwrap().contains("Content-Range"));
    assert_eq!(origin("https://example.com").header("access-control-allow-origin"), None);
    // A browser asks without the token in a header, and the path has it.
    let asked =
        served.ask("OPTIONS", &format!("/{}/files/three.tgm", served.token), &[("Origin", "https://example.org")]);
    assert!(asked.status == 204 && asked.header("access-control-allow-headers").unwrap().contains("Range"));
    let all = serve(&["--allow-origin", "*", &data("multi/three.tgm")]);
    let answer = all.get("files/three.tgm", &[("Origin", "https://example.com")]);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}

#[test]
fn nothing_but_the_named_files_can_be_reached() {
    let folder = Folder::new();
    let bytes = fs::read(data("multi/three.tgm")).unwrap();
    let path = |name: &str| folder.path(name);
    for name in ["inner/deep", "inner/.hidden"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    for name in ["outside.tgm", "inner/a.tgm", "inner/deep/b.tgm", "inner/.hidden/c.tgm", "inner/note.txt"] {
        fs::write(path(name), &bytes).unwrap();
    }
    symlink(path("outside.tgm"), path("inner/link.tgm")).unwrap();
    symlink(path("inner/a.tgm"), path("inner/same.tgm")).unwrap();
    symlink(path("."), path("inner/up")).unwrap();
    let served = serve(&[&path("inner")]);
    let files = served.get("files", &[]).json();
    let names: Vec<&str> = files["files"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a.tgm", "deep/b.tgm", "same.tgm"]);
    assert_eq!(served.get("files/deep/b.tgm", &[]).body, bytes);
    let refused = [
        "files/../outside.tgm",
        "files/%2e%2e/outside.tgm",
        "files/..%2foutside.tgm",
        "files/deep%2Fb.tgm",
        "files/deep/../a.tgm",
        "files//etc/passwd",
        "files/link.tgm",
        "files/up/outside.tgm",
        "files/note.txt",
        "files/.hidden/c.tgm",
        "files/a.tgm%00",
        "files/a.tgm/",
        "zarr/../outside.tgm",
        "zarr/a.tgm/../../outside.tgm",
        "zarr/link.tgm/zarr.json",
        "zarr.99999999999999999999/a.tgm/zarr.json",
        "elsewhere",
    ];
    for path in refused {
        assert_eq!(served.get(path, &[]).status, 404, "{path}");
    }
    // A file that becomes a link to another folder is not in its folder any more.
    fs::remove_file(path("inner/a.tgm")).unwrap();
    symlink(path("outside.tgm"), path("inner/a.tgm")).unwrap();
    assert_eq!(served.get("files/a.tgm", &[]).status, 404);
    assert_eq!(served.get("zarr/a.tgm/zarr.json", &[]).status, 404);
}

#[test]
fn catalogues_are_beside_their_files() {
    let folder = Folder::new();
    let path = folder.file("a.tgm", &fs::read(data("multi/three.tgm")).unwrap());
    let served = serve(&[&path]);
    assert_eq!(served.get("files/a.tgm.catalog", &[]).status, 404);
    let written = folder.path("a.tgm.catalog");
    tgm(["catalog", &path, "-o", &written]).good();
    assert_eq!(served.get("files/a.tgm.catalog", &[]).body, fs::read(written).unwrap());
    assert_eq!(served.get("files", &[]).json()["files"][0]["catalog"], "files/a.tgm.catalog");
}

#[test]
fn a_dataset_is_a_store_of_zarr() {
    let folder = Folder::new();
    let path = data("realistic/surface-181x360.tgm");
    let served = serve(&[&path]);
    let root = served.get("zarr/surface-181x360.tgm/zarr.json", &[]).json();
    assert_eq!((&root["zarr_format"], &root["node_type"]), (&3.into(), &"group".into()));
    let arrays = root["consolidated_metadata"]["metadata"].as_object().unwrap();
    let listed = served.get("zarr/surface-181x360.tgm", &[]).json();
    let variable = listed["datasets"][0]["variables"][0].as_str().unwrap();
    let about = &arrays[variable];
    assert_eq!(about["shape"], serde_json::json!([181, 360]));
    let own = served.get(&format!("zarr/surface-181x360.tgm/{variable}/zarr.json"), &[]).json();
    assert_eq!(&own, about);
    let chunk = served.get(&format!("zarr/surface-181x360.tgm/{variable}/c/0/0"), &[]);
    let raw = folder.path("raw");
    tgm(["extract", &path, "--cube", variable, "-O", &raw]).good();
    assert!(chunk.status == 200 && chunk.body == fs::read(raw).unwrap(), "{}", chunk.body.len());
    // A part of a chunk, and the same chunk again.
    let key = format!("zarr/surface-181x360.tgm/{variable}/c/0/0");
    assert_eq!(served.get(&key, &[("Range", "bytes=8-15")]).body, chunk.body[8..16]);
    assert_eq!(served.get(&key, &[("If-None-Match", chunk.header("etag").unwrap())]).status, 304);
    for key in ["c/0/1", "c/0", "c/00/0", "c/0/0/", "c/-1/0", "c", "x"] {
        let key = format!("zarr/surface-181x360.tgm/{variable}/{key}");
        assert_eq!(served.get(&key, &[]).status, 404, "{key}");
    }
}

#[test]
fn a_file_that_is_written_over_is_opened_again() {
    let folder = Folder::new();
    let path = folder.file("a.tgm", &fs::read(data("realistic/surface-181x360.tgm")).unwrap());
    let served = serve(&[&path]);
    let root = || served.get("zarr/a.tgm/zarr.json", &[]);
    let (before, again) = (root(), root());
    assert_eq!(before.header("etag"), again.header("etag"));
    let other = folder.file("b.tgm", &fs::read(data("realistic/pl-levels.tgm")).unwrap());
    fs::rename(other, &path).unwrap();
    let after = root();
    assert!(after.status == 200 && after.body != before.body && after.header("etag") != before.header("etag"));
    fs::remove_file(&path).unwrap();
    assert_eq!(root().status, 404);
    fs::write(&path, b"a text").unwrap();
    // Readers of Zarr take 404 for a value that is missing, so this is another one.
    assert_eq!(root().status, 500);
}

#[test]
fn other_machines_need_a_token_of_ones_own() {
    let three = data("multi/three.tgm");
    let run = tgm(["serve", "--host", "0.0.0.0", &three]);
    assert!(run.code == Some(1) && run.stderr.contains("--token"), "{}", run.stderr);
    let run = tgm(["serve", "--token", "short", &three]);
    assert!(run.code == Some(2) && run.stderr.contains("16 or more"), "{}", run.stderr);
    let run = tgm(["serve", "/does/not/exist"]);
    assert!(run.code == Some(1) && run.stderr.contains("cannot serve"), "{}", run.stderr);
    let served = serve(&["--token", "a-word-of-my-own-choice", &three]);
    assert_eq!((served.token.as_str(), served.get("files/three.tgm", &[]).status), ("a-word-of-my-own-choice", 200));
}

/// The page names its files, and each of them is there with its kind.
#[test]
fn the_page_is_served_with_all_of_its_files() {
    let served = serve(&[&data("multi/three.tgm")]);
    let page = String::from_utf8(served.get("", &[]).body).unwrap();
    let worker = String::from_utf8(served.get("page.js", &[]).body).unwrap();
    let module = String::from_utf8(served.get("worker.js", &[]).body).unwrap();
    for (name, kind, by) in [
        ("page.css", "text/css; charset=utf-8", &page),
        ("page.js", "text/javascript; charset=utf-8", &page),
        ("worker.js", "text/javascript; charset=utf-8", &worker),
        ("page.wasm.gz", "application/gzip", &module),
    ] {
        let answer = served.get(name, &[]);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{name}");
        assert!(by.contains(&format!("\"{name}\"")), "{name}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("'wasm-unsafe-eval'") && policy.contains("worker-src 'self'"), "{policy}");
        // Whoever has it does not get it again.
        let tag = answer.header("etag").unwrap();
        assert_eq!(served.get(name, &[("If-None-Match", tag)]).status, 304, "{name}");
    }
    assert_eq!(served.get("", &[]).header("content-type"), Some("text/html; charset=utf-8"));
    assert!(
        !page.contains("<style") && !page.contains("style=") && !page.contains("onclick"),
        "the policy forbids these"
    );
    for nothing in ["page", "page.wasm", "page/index.html", "page.js/x", "../page.js"] {
        assert_eq!(served.get(nothing, &[]).status, 404, "{nothing}");
    }
}
