//! A web server for tests, on this machine: it serves named blobs, keeps a log, and does wrong in each way that it is
//! told.
//!
//! Other tests use it by `#[path = "…/std-ext/tests/support/loopback.rs"] mod loopback;`.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]
#![allow(
    clippy::struct_excessive_bools,
    clippy::too_many_lines,
    clippy::format_push_string,
    reason = "a server for tests"
)]

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// The bytes at one path.
#[derive(Clone, Debug, Default)]
pub struct Blob {
    pub bytes: Vec<u8>,
    /// Sent as it is: with quotes, and `W/` for a weak one.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl Blob {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), ..Self::default() }
    }

    pub fn etag(self, etag: &str) -> Self {
        Self { etag: Some(etag.into()), ..self }
    }

    pub fn last_modified(self, time: &str) -> Self {
        Self { last_modified: Some(time.into()), ..self }
    }
}

/// What the header `Content-Range` says of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RangeHeader {
    #[default]
    Right,
    /// There is none.
    Missing,
    /// Its text is not a range.
    Nonsense,
    /// It begins one byte later, and so do the bytes.
    Shifted,
    /// It has one byte more, and so has the body.
    Longer,
    /// It has one byte less, and so has the body, though the source goes on.
    Shorter,
    /// It says that the source is one byte longer than it is.
    OtherSize,
    /// It ends with `/*`.
    UnknownSize,
    /// It has half of the bytes, and so has the body. RFC 9110 allows that.
    Half,
    /// The unit is written in capitals. RFC 9110 allows that too.
    Capitals,
}

/// How the body is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// With `Content-Length`.
    #[default]
    Length,
    /// In chunks.
    Chunked,
    /// Until the connection is closed.
    Close,
    /// With a `Content-Length` that is one byte more than `Content-Range` says. The byte is sent.
    LongerThanRange,
}

/// What the server does wrong.
#[derive(Clone, Debug, Default)]
pub struct Switches {
    /// HEAD is answered by status 403.
    pub refuse_head: bool,
    /// Ranges are answered by status 200 and everything.
    pub ignore_ranges: bool,
    /// Ranges that count from the end are answered by this status.
    pub refuse_suffix: Option<u16>,
    /// `If-Match` is not looked at.
    pub ignore_if_match: bool,
    pub range_header: RangeHeader,
    pub framing: Framing,
    /// The connection is closed after this number of bytes of a body.
    pub cut_after: Option<usize>,
    /// How many bodies are cut. 0: all of them.
    pub cuts: usize,
    /// A chunked body is ended properly after this number of bytes.
    pub short_body: Option<usize>,
    /// So many requests are answered by this status.
    pub fail: Option<(usize, u16)>,
    /// The header `Retry-After` of these answers.
    pub retry_after: Option<u64>,
    /// The body of an answer of status 4xx.
    pub error_body: &'static str,
    /// Status 416 does not say how long the source is.
    pub hide_size: bool,
    /// Before each answer.
    pub delay: Duration,
    /// Between two bytes of a body.
    pub loris: Option<Duration>,
    pub encoding: Option<&'static str>,
    /// All requests are sent on to this address.
    pub redirect: Option<String>,
}

/// A request that came, and what was answered.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// With the query.
    pub path: String,
    pub headers: HashMap<String, String>,
    pub status: u16,
    /// Bytes of the body that were sent.
    pub sent: usize,
}

impl Request {
    /// The header `Range` without `bytes=`.
    pub fn range(&self) -> Option<&str> {
        self.headers.get("range")?.strip_prefix("bytes=")
    }
}

#[derive(Default)]
struct State {
    blobs: Mutex<HashMap<String, Blob>>,
    switches: Mutex<Switches>,
    log: Mutex<Vec<Request>>,
    failed: AtomicUsize,
    cut: AtomicUsize,
    stopped: AtomicBool,
    /// Requests that are being answered, and the most of them at one time.
    busy: AtomicUsize,
    busiest: AtomicUsize,
}

/// A running server. It stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    state: Arc<State>,
}

impl Server {
    /// Starts a server with one blob at `path`, which begins with `/`.
    pub fn with(path: &str, blob: Blob) -> Self {
        let server = Self::start();
        server.put(path, blob);
        server
    }

    pub fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// Starts a server at an address of version 6. `None` on a machine that has none, or does not connect to it.
    pub fn start_at_version_6() -> Option<Self> {
        let server = TcpListener::bind("[::1]:0").ok().map(Self::on)?;
        TcpStream::connect(server.address).ok().map(|_| server)
    }

    fn on(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&shared);
                // The client may go away at any time.
                thread::spawn(move || stream.and_then(|stream| serve(&state, stream)));
            }
        });
        Self { address, state }
    }

    /// `http://`, the address and the port, and `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts a blob at a path, in the place of what was there.
    pub fn put(&self, path: &str, blob: Blob) {
        self.state.blobs.lock().unwrap().insert(path.into(), blob);
    }

    /// Changes what the server does wrong. What was counted before is forgotten.
    pub fn switch(&self, change: impl FnOnce(&mut Switches)) {
        let mut switches: MutexGuard<'_, Switches> = self.state.switches.lock().unwrap();
        change(&mut switches);
        self.state.failed.store(0, Ordering::SeqCst);
        self.state.cut.store(0, Ordering::SeqCst);
    }

    /// Takes the requests that came since the last call.
    pub fn take_log(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.log.lock().unwrap())
    }

    /// The most requests that were answered at one time.
    pub fn busiest(&self) -> usize {
        self.state.busiest.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers the requests of one connection.
fn serve(state: &State, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream.try_clone()?);
    let mut output = stream;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || state.stopped.load(Ordering::SeqCst) {
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default().to_string(), words.next().unwrap_or("/").to_string());
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_string());
        }
        let busy = state.busy.fetch_add(1, Ordering::SeqCst) + 1;
        state.busiest.fetch_max(busy, Ordering::SeqCst);
        if !answer(state, &mut output, &method, &path, &headers)? {
            return Ok(());
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        404 => "Not Found",
        _ => "Whatever",
    }
}

/// Answers one request. Returns whether the connection goes on.
fn answer(
    state: &State,
    output: &mut TcpStream,
    method: &str,
    path: &str,
    headers: &HashMap<String, String>,
) -> io::Result<bool> {
    let switches = state.switches.lock().unwrap().clone();
    thread::sleep(switches.delay);
    // Before anything is sent: a client that has its answer may look at the log, or send its next request.
    let log = |status: u16, sent: usize| {
        state.busy.fetch_sub(1, Ordering::SeqCst);
        let (method, path, headers) = (method.into(), path.into(), headers.clone());
        state.log.lock().unwrap().push(Request { method, path, headers, status, sent });
    };
    let refuse = |output: &mut TcpStream, status: u16, more: &str| {
        let body = if method == "HEAD" { "" } else { switches.error_body };
        log(status, 0);
        let (reason, len) = (reason(status), body.len());
        write!(output, "HTTP/1.1 {status} {reason}\r\nContent-Length: {len}\r\n{more}\r\n{body}")?;
        io::Result::Ok(true)
    };
    if let Some(to) = &switches.redirect {
        return refuse(output, 302, &format!("Location: {to}\r\n"));
    }
    if let Some((times, status)) = switches.fail
        && state.failed.fetch_add(1, Ordering::SeqCst) < times
    {
        let after = switches.retry_after.map(|seconds| format!("Retry-After: {seconds}\r\n")).unwrap_or_default();
        return refuse(output, status, &after);
    }
    if method == "HEAD" && switches.refuse_head {
        return refuse(output, 403, "");
    }
    let name = path.split('?').next().unwrap_or_default();
    let Some(blob) = state.blobs.lock().unwrap().get(name).cloned() else { return refuse(output, 404, "") };
    let tags = [("ETag", &blob.etag), ("Last-Modified", &blob.last_modified)];
    let mut head: String =
        tags.iter().filter_map(|(name, value)| Some(format!("{name}: {}\r\n", value.as_ref()?))).collect();
    if !switches.ignore_if_match
        && let Some(wanted) = headers.get("if-match")
        && Some(wanted) != blob.etag.as_ref()
    {
        return refuse(output, 412, "");
    }
    let size = blob.bytes.len();
    let asked = headers.get("range").filter(|_| !switches.ignore_ranges);
    let mut status = 200;
    let mut range = 0..size;
    if let Some(asked) = asked {
        if let Some(status) = switches.refuse_suffix
            && asked.starts_with("bytes=-")
        {
            return refuse(output, status, "");
        }
        let Some(found) = range_of(asked, size) else {
            let size = if switches.hide_size { String::new() } else { format!("Content-Range: bytes */{size}\r\n") };
            return refuse(output, 416, &size);
        };
        status = 206;
        range = found;
        head += &content_range(switches.range_header, &mut range, size);
    }
    if let Some(encoding) = switches.encoding {
        head += &format!("Content-Encoding: {encoding}\r\n");
    }
    let len = range.len();
    match switches.framing {
        Framing::Length => head += &format!("Content-Length: {len}\r\n"),
        Framing::Chunked => head += "Transfer-Encoding: chunked\r\n",
        Framing::Close => head += "Connection: close\r\n",
        Framing::LongerThanRange => {
            range.end += 1;
            head += &format!("Content-Length: {}\r\n", len + 1);
        }
    }
    let mut body: Vec<u8> = blob.bytes[range.start..range.end.min(size)].to_vec();
    body.resize(range.len(), 0);
    let cut =
        switches.cut_after.filter(|_| switches.cuts == 0 || state.cut.fetch_add(1, Ordering::SeqCst) < switches.cuts);
    body.truncate(switches.short_body.unwrap_or(usize::MAX).min(cut.unwrap_or(usize::MAX)));
    if method == "HEAD" {
        body.clear();
    }
    log(status, body.len());
    write!(output, "HTTP/1.1 {status} {}\r\n{head}\r\n", reason(status))?;
    if method == "HEAD" {
        return Ok(true);
    }
    if cut.is_some() {
        output.write_all(&body)?;
        output.shutdown(std::net::Shutdown::Both)?;
        return Ok(false);
    }
    let pieces = if switches.loris.is_some() { body.chunks(1) } else { body.chunks(1 << 20) };
    for piece in pieces {
        match switches.framing {
            Framing::Chunked => {
                write!(output, "{:x}\r\n", piece.len())?;
                output.write_all(piece)?;
                write!(output, "\r\n")?;
            }
            _ => output.write_all(piece)?,
        }
        thread::sleep(switches.loris.unwrap_or_default());
    }
    match switches.framing {
        Framing::Chunked => write!(output, "0\r\n\r\n")?,
        Framing::Close => return Ok(false),
        _ => {}
    }
    Ok(true)
}

/// The range that is asked for, if the source has a byte of it.
fn range_of(asked: &str, size: usize) -> Option<Range<usize>> {
    let (first, last) = asked.strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let len: usize = last.parse().ok()?;
        return (len > 0 && size > 0).then(|| size.saturating_sub(len)..size);
    }
    let first: usize = first.parse().ok()?;
    let last = last.parse().unwrap_or(usize::MAX);
    (first < size && first <= last).then(|| first..last.saturating_add(1).min(size))
}

/// The header for a range, which may be wrong. The bytes are as wrong as the header.
fn content_range(header: RangeHeader, range: &mut Range<usize>, size: usize) -> String {
    match header {
        RangeHeader::Missing => return String::new(),
        RangeHeader::Nonsense => return "Content-Range: all of it\r\n".into(),
        RangeHeader::Shifted => *range = range.start + 1..range.end,
        RangeHeader::Longer => range.end += 1,
        RangeHeader::Shorter => range.end -= 1,
        RangeHeader::Half => range.end = range.start + range.len().div_ceil(2),
        _ => {}
    }
    let size = match header {
        RangeHeader::OtherSize => (size + 1).to_string(),
        RangeHeader::UnknownSize => "*".into(),
        _ => size.to_string(),
    };
    let unit = if header == RangeHeader::Capitals { "BYTES" } else { "bytes" };
    format!("Content-Range: {unit} {}-{}/{size}\r\n", range.start, range.end - 1)
}
