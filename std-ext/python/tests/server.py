"""A small HTTP server of a folder: HEAD, GET, ranges with start and end, from a start, and of the last bytes."""

import contextlib
import http.server
import pathlib
import re
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the files of `server.folder`; `server.requests` lists (method, path, range), `server.sent` counts bytes."""

    protocol_version = "HTTP/1.1"
    changed = "Wed, 01 Jan 2025 00:00:00 GMT"

    def log_message(self, *_):
        """Keeps the terminal clean."""

    def do_HEAD(self):
        """Length only."""
        self.answer(body=False)

    def do_GET(self):
        """Length and bytes."""
        self.answer(body=True)

    def answer(self, body):
        """Answers with 200, 206, 404 or 416."""
        asked = self.headers.get("Range")
        self.server.requests.append((self.command, self.path, asked))
        path = pathlib.Path(self.server.folder) / self.path.lstrip("/").split("?")[0]
        if self.server.tag is None and path.is_file():
            self.changed = self.date_time_string(path.stat().st_mtime)
        if not path.is_file():
            return self.send(404, b"", 0, body)
        length = path.stat().st_size
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", asked or "")
        if not found:
            return self.part(200, path, 0, length, body)
        first, last = found.groups()
        if first:
            start, end = int(first), min(int(last) + 1 if last else length, length)
        else:
            start, end = max(length - int(last), 0), length
        if start >= length:
            return self.send(416, b"", 0, body, f"bytes */{length}")
        return self.part(206, path, start, end, body, f"bytes {start}-{end - 1}/{length}")

    def part(self, status, path, start, end, body, content_range=None):
        """Sends bytes of a file. Nothing else of it is read."""
        data = b""
        if body:
            with path.open("rb") as file:
                file.seek(start)
                data = file.read(end - start)
            with self.server.lock:
                self.server.sent += len(data)
        return self.send(status, data, end - start, body, content_range)

    def send(self, status, data, length, body, content_range=None):
        """Sends one answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("Accept-Ranges", "bytes")
        if self.server.tag is not None:
            self.send_header("ETag", self.server.tag)
        self.send_header("Last-Modified", self.changed)
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        if body:
            self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    """Threads end with the process."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that goes away is not an error."""


@contextlib.contextmanager
def serving(folder, tag='"1"'):
    """The server of `folder` on a free port of this machine. `url(name)` gives an address.

    All files have one tag. Without a tag they have their own times of change.
    """
    server = Server(("127.0.0.1", 0), Handler)
    server.folder, server.requests, server.sent, server.lock, server.tag = folder, [], 0, threading.Lock(), tag
    server.url = lambda name: f"http://127.0.0.1:{server.server_address[1]}/{name}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
