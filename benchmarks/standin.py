"""A stand-in for OpenViking: a server in a thread that answers with JSON."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class JsonHandler(BaseHTTPRequestHandler):
    """Reads what comes, and answers it with `result`."""

    protocol_version = "HTTP/1.1"

    def result(self) -> Any:
        """What the answer holds as its ``result``."""
        return {"message_count": 1, "pending_tokens": 1, "matches": []}

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.do_GET()

    def do_GET(self) -> None:
        body = json.dumps({"status": "ok", "healthy": True, "version": "0.5.2", "result": self.result()}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def serving(handler: type[JsonHandler], port: int = 0) -> Iterator[str]:
    """Serve until the block ends; yields the URL. Port 0 is a free one."""
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a sidecar that ends hangs up
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
