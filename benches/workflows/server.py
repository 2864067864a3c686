"""An HTTP server of a folder that counts requests and bytes, in a thread of this process."""

import contextlib
import http.server
import pathlib
import re
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """HEAD, GET, and ranges."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Keeps the terminal clean."""

    def do_HEAD(self):
        """The length."""
        self.answer(body=False)

    def do_GET(self):
        """The bytes that are asked for."""
        self.answer(body=True)

    def answer(self, body):
        """Answers, and counts."""
        path = pathlib.Path(self.server.folder) / pathlib.PurePosixPath(self.path).name
        with self.server.lock:
            self.server.requests += 1
        if not path.is_file():
            return self.send(404, b"", 0, body)
        length = path.stat().st_size
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range") or "")
        start, end = 0, length
        if found and found[1]:
            start, end = int(found[1]), min(int(found[2]) + 1 if found[2] else length, length)
        elif found:
            start = max(length - int(found[2]), 0)
        if start >= end:
            return self.send(416, b"", 0, body, f"bytes */{length}")
        data = b""
        if body:
            with path.open("rb") as file:
                file.seek(start)
                data = file.read(end - start)
            with self.server.lock:
                self.server.bytes += len(data)
        about = f"bytes {start}-{end - 1}/{length}" if found else None
        return self.send(206 if found else 200, data, end - start, body, about)

    def send(self, status, data, length, body, about=None):
        """Sends one answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"1"')
        if about:
            self.send_header("Content-Range", about)
        self.end_headers()
        if body:
            self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    """Counts."""

    daemon_threads = True
    requests = 0
    bytes = 0

    def handle_error(self, request, client_address):
        """A client that goes away is not an error."""

    def url(self, name):
        """The address of a file."""
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


@contextlib.contextmanager
def serving(folder):
    """The server of `folder`, on a free port of this machine."""
    server = Server(("127.0.0.1", 0), Handler)
    server.folder, server.lock = folder, threading.Lock()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
