"""A small HTTP server of a folder: HEAD, GET, ranges with start and end, from a start, and of the last bytes."""

import contextlib
import http.server
import pathlib
import re
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the files of `server.folder`; `server.requests` lists (method, path, range)."""

    protocol_version = "HTTP/1.1"

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
        if not path.is_file():
            return self.send(404, b"", body)
        data = path.read_bytes()
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", asked or "")
        if not found:
            return self.send(200, data, body)
        first, last = found.groups()
        if first:
            start, end = int(first), min(int(last) + 1 if last else len(data), len(data))
        else:
            start, end = max(len(data) - int(last), 0), len(data)
        if start >= len(data):
            return self.send(416, b"", body, f"bytes */{len(data)}")
        return self.send(206, data[start:end], body, f"bytes {start}-{end - 1}/{len(data)}")

    def send(self, status, data, body, content_range=None):
        """Sends one answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT")
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
def serving(folder):
    """The server of `folder` on a free port of this machine. `url(name)` gives an address."""
    server = Server(("127.0.0.1", 0), Handler)
    server.folder, server.requests = folder, []
    server.url = lambda name: f"http://127.0.0.1:{server.server_address[1]}/{name}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
