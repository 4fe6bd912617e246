"""A real HTTP server on this machine for tests of its clients."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class JsonHandler(BaseHTTPRequestHandler):
    """Reads and sends JSON, and logs nothing."""

    def body(self) -> Any:
        """What was asked with."""
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def send(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answers with an object, or with text as it is."""
        content = (value if isinstance(value, str) else json.dumps(value)).encode()
        try:
            self.send_response(status)
            for name, header in (headers or {}).items():
                self.send_header(name, header)
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            pass  # the client has given up on a late answer

    def log_message(self, *parts: Any) -> None:
        pass


@contextmanager
def listening(handler: type[JsonHandler]) -> Iterator[str]:
    """A running server; yields its address, without a path."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
