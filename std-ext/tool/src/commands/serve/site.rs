//! The page: a few files, which are the same on any server. `std-ext/web/check page` builds its scripts and its module.

use hyper::body::Bytes;

/// A file of the page.
#[derive(Debug)]
pub(super) struct File {
    pub(super) kind: &'static str,
    pub(super) bytes: Bytes,
}

macro_rules! file {
    ($name:literal, $kind:literal) => {
        File { kind: $kind, bytes: Bytes::from_static(include_bytes!(concat!("../../../page/", $name))) }
    };
}

/// The file of a name. The empty name is the page itself.
pub(super) fn file(name: &str) -> Option<File> {
    Some(match name {
        "" | "index.html" => file!("index.html", "text/html; charset=utf-8"),
        "page.css" => file!("page.css", "text/css; charset=utf-8"),
        "page.js" => file!("page.js", "text/javascript; charset=utf-8"),
        "worker.js" => file!("worker.js", "text/javascript; charset=utf-8"),
        "page.wasm.gz" => file!("page.wasm.gz", "application/gzip"),
        _ => return None,
    })
}
