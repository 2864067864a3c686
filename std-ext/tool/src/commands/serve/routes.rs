//! Which address has what.
//!
//! | address after the token | what |
//! |---|---|
//! | `/`, `/page.js` and others | the page that shows fields ([`super::site`]) |
//! | `/files` | the files, as JSON |
//! | `/files/NAME`, `/files/NAME.catalog` | a file, and the catalogue beside it |
//! | `/zarr/NAME` | the datasets of a file, as JSON |
//! | `/zarr/NAME/KEY`, `/zarr.1/NAME/KEY` | what the store of its first dataset has, and of its second one |

use std::fmt::Write as _;
use std::sync::Arc;

use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, HeaderValue, ORIGIN};
use hyper::{Method, Response, StatusCode};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::commands::serve::body::Reply;
use crate::commands::serve::gate::Gate;
use crate::commands::serve::reply::{Entity, Request, entity, finish, preflight, sentence};
use crate::commands::serve::shelf::{Shelf, Shelved};
use crate::commands::serve::site::{self, File};
use crate::commands::serve::stores::{Found, Stores, is_missing};
use crate::show::advice::in_our_words;
use crate::show::text::hex;

const BYTES: &str = "application/octet-stream";
const JSON: &str = "application/json";
/// Chunks that are decoded or sent at a time, for each processor.
const AT_ONCE: usize = 4;

/// What is served, and to whom.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) files: Shelf,
    pub(super) stores: Stores,
    pub(super) gate: Gate,
}

/// Answers requests.
#[derive(Debug)]
pub(super) struct Service {
    server: Arc<Server>,
    free: Arc<Semaphore>,
}

impl Service {
    pub(super) fn new(server: Server) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self { server: Arc::new(server), free: Arc::new(Semaphore::new(processors.saturating_mul(AT_ONCE))) }
    }

    /// The answer to a request.
    pub(super) async fn answer(&self, request: hyper::Request<Incoming>) -> Response<Reply> {
        let gate = &self.server.gate;
        let mut answer = self.inner(&request).await;
        let origin = request.headers().get(ORIGIN).and_then(|origin| origin.to_str().ok());
        finish(&mut answer, gate.allowed(origin), gate.has_origins());
        answer
    }

    async fn inner(&self, request: &hyper::Request<Incoming>) -> Response<Reply> {
        let gate = &self.server.gate;
        if !Gate::knows_host(request.headers()) {
            let text = "This is not an address of this machine: name it by its numbers, or as localhost.";
            return sentence(StatusCode::MISDIRECTED_REQUEST, text);
        }
        if request.method() == Method::OPTIONS && gate.has_origins() {
            return preflight();
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut answer = sentence(StatusCode::METHOD_NOT_ALLOWED, "Nothing can be written here.");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return answer;
        }
        let Some(path) = gate.path(request.uri().path(), request.uri().query()) else {
            return sentence(StatusCode::FORBIDDEN, "The address lacks its token: `tgm serve` printed it.");
        };
        let Some(path) = decoded(path) else { return nothing() };
        let about = Request { method: request.method(), headers: request.headers() };
        match path.strip_prefix('/').map(|path| path.split_once('/').unwrap_or((path, ""))) {
            Some(("files", "")) => memory(&about, &self.files().to_string(), JSON),
            Some(("files", name)) => self.file(&about, name).await,
            Some((route, path)) => match dataset_number(route) {
                Some(number) => self.zarr(&about, number, path).await,
                None if path.is_empty() => of_page(&about, route),
                None => nothing(),
            },
            None => nothing(),
        }
    }

    /// The files.
    fn files(&self) -> Json {
        let each = |(name, file): (&str, &Shelved)| {
            let held = file.open().ok()?;
            let address = encoded(name);
            let mut about = json!({
                "name": name, "size": held.len, "etag": held.tag, "file": format!("files/{address}"),
                "zarr": format!("zarr/{address}"),
            });
            if file.catalog().open().is_ok() {
                about["catalog"] = format!("files/{address}.catalog").into();
            }
            Some(about)
        };
        json!({"files": self.server.files.iter().filter_map(each).collect::<Vec<_>>()})
    }

    /// A file, or its catalogue.
    async fn file(&self, request: &Request<'_>, name: &str) -> Response<Reply> {
        let Some(file) = self.server.files.find(name) else { return nothing() };
        match spawn_blocking(move || file.open()).await.map_err(std::io::Error::other).flatten() {
            Ok(held) => {
                let about = Entity { len: held.len, tag: held.tag, kind: BYTES };
                entity(request, &about, |range| Reply::of_file(held.file, range))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => nothing(),
            Err(error) => sentence(StatusCode::INTERNAL_SERVER_ERROR, &format!("{name}: {error}")),
        }
    }

    /// What a store has, or which stores there are.
    async fn zarr(&self, request: &Request<'_>, number: usize, path: &str) -> Response<Reply> {
        let Some((name, file, key)) = self.server.files.split(path) else { return nothing() };
        let key = key.trim_start_matches('/').to_string();
        // Whoever decodes, and whoever reads what was decoded, has a share. So memory is bounded however many ask.
        let Ok(permit) = Arc::clone(&self.free).acquire_owned().await else { return nothing() };
        let (name, file, server) = (name.to_string(), file.clone(), Arc::clone(&self.server));
        let found = spawn_blocking(move || {
            if key.is_empty() {
                return Ok(datasets(&server.stores, &name, &file)?.map(|text| (Err(text), name)));
            }
            Ok::<_, tgm_std::TensogramError>(server.stores.get(&name, &file, number, &key)?.map(|it| (Ok(it), name)))
        });
        match found.await {
            Ok(Ok(Some((Ok(found), _)))) => of_store(request, found, permit),
            Ok(Ok(Some((Err(text), _)))) if number == 0 => memory(request, &text, JSON),
            Ok(Ok(_)) => nothing(),
            Ok(Err(error)) if is_missing(&error) => nothing(),
            // A reader takes what is not found for values that are missing. This is an error instead.
            Ok(Err(error)) => sentence(StatusCode::INTERNAL_SERVER_ERROR, &in_our_words(&error)),
            Err(_) => sentence(StatusCode::INTERNAL_SERVER_ERROR, "The program failed: please report it."),
        }
    }
}

/// Answers with a file of the page.
fn of_page(request: &Request<'_>, name: &str) -> Response<Reply> {
    let Some(File { kind, bytes }) = site::file(name) else { return nothing() };
    whole(request, bytes, kind)
}

/// Answers with what a store has.
fn of_store(request: &Request<'_>, Found { bytes, tag }: Found, permit: OwnedSemaphorePermit) -> Response<Reply> {
    let kind = if bytes.first() == Some(&b'{') { JSON } else { BYTES };
    let about = Entity { len: bytes.len() as u64, tag, kind };
    entity(request, &about, |range| of_memory(bytes, range, Some(permit)))
}

/// Answers with a text.
fn memory(request: &Request<'_>, text: &str, kind: &'static str) -> Response<Reply> {
    whole(request, Bytes::copy_from_slice(text.as_bytes()), kind)
}

fn whole(request: &Request<'_>, bytes: Bytes, kind: &'static str) -> Response<Reply> {
    let tag = format!("\"{}\"", hex(&Sha256::digest(&bytes)));
    entity(request, &Entity { len: bytes.len() as u64, tag, kind }, |range| of_memory(bytes, range, None))
}

fn of_memory(mut bytes: Bytes, range: std::ops::Range<u64>, permit: Option<OwnedSemaphorePermit>) -> Reply {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let (start, end) = (at(range.start), at(range.end));
    bytes.truncate(end);
    Reply::of(bytes.split_off(start.min(end)), permit)
}

/// The datasets of a file, as JSON.
fn datasets(stores: &Stores, name: &str, file: &Shelved) -> tgm_std::Result<Option<String>> {
    let found = stores.datasets(name, file, true)?;
    let address = encoded(name);
    let each = |(number, store): (usize, &tgm_dataset::ZarrStore)| {
        let dataset = store.dataset();
        let route = if number == 0 { "zarr".to_string() } else { format!("zarr.{number}") };
        json!({
            "zarr": format!("{route}/{address}"),
            "variables": dataset.variables.iter().map(|it| &it.name).collect::<Vec<_>>(),
            "left_out": dataset.left_out.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "refused": store.refused().iter().map(|(name, why)| format!("{name}: {why}")).collect::<Vec<_>>(),
        })
    };
    let all: Vec<Json> = found.stores.iter().enumerate().map(each).collect();
    Ok(Some(json!({"datasets": all}).to_string()))
}

/// The number of the dataset that a route names: `zarr` is 0, `zarr.1` is 1.
fn dataset_number(route: &str) -> Option<usize> {
    match route.strip_prefix("zarr")? {
        "" => Some(0),
        rest => {
            let number = rest.strip_prefix('.')?;
            number.parse().ok().filter(|parsed: &usize| *parsed > 0 && parsed.to_string() == number)
        }
    }
}

/// A path without its escapes. `None` if one of them stands for a slash or a zero, or if it is not UTF-8.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let byte = u8::try_from(digit()? * 16 + digit()?).ok()?;
        bytes.push(byte);
        if matches!(byte, b'/' | 0) {
            return None;
        }
    }
    String::from_utf8(bytes).ok()
}

/// A name as a part of an address.
fn encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'/') {
            text.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn nothing() -> Response<Reply> {
    sentence(StatusCode::NOT_FOUND, "There is nothing at this address.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_stand_for_bytes_but_for_no_slash() {
        assert_eq!(decoded("/a%20b/%C3%A4").as_deref(), Some("/a b/ä"));
        for path in ["/a%2Fb", "/a%2fb", "/%00", "/%", "/%4", "/%zz", "/%+1", "/%FF"] {
            assert_eq!(decoded(path), None, "{path}");
        }
        assert_eq!(encoded("a b/ä%"), "a%20b/%C3%A4%25");
        let name = "x y/ü?#%25.tgm";
        assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
    }

    #[test]
    fn a_route_names_a_dataset_in_one_way() {
        let numbers = ["zarr", "zarr.1", "zarr.12", "zarr.0", "zarr.01", "zarr.x", "zarr.", "zarr1", "files"];
        assert_eq!(numbers.map(dataset_number), [Some(0), Some(1), Some(12), None, None, None, None, None, None]);
    }
}
