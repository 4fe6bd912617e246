"""The same lending desk behind HTTP, in the protocol of prm/reach/agents/worlds/server.py: `python server.py 8765`.

A server in any language does: GET declares the tools, POST calls one. This one has sessions, a desk for each run.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tools import LendingDesk

TEXT = {"type": "string"}
PARAMETERS: dict[str, dict[str, Any]] = {
    "find_book": {"title": TEXT},
    "find_member": {"name": TEXT},
    "lend": {"book_id": TEXT, "member_id": TEXT, "kind": {"enum": ["loan", "reservation"]}},
}
DECLARATIONS = [
    {
        "type": "function",
        "function": {"name": name, "description": "", "parameters": {"type": "object", "properties": properties}},
    }
    for name, properties in PARAMETERS.items()
]


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    desks: dict[str, LendingDesk]

    def do_GET(self) -> None:
        self._answer({"tools": DECLARATIONS, "sessions": True})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "start" in asked:
            self.desks[asked["start"]["run"]] = LendingDesk(asked["start"]["task"])
            self._answer({})
        elif "end" in asked:
            self._answer({"final_success": self.desks.pop(asked["end"]["run"]).final_success()})
        else:
            self._call(asked)

    def _call(self, asked: dict[str, Any]) -> None:
        try:
            self._answer(getattr(self.desks[asked["run"]], asked["tool"])(**asked["arguments"]))
        except TypeError as error:
            self._answer({"error": str(error)}, status=422)

    def _answer(self, value: Any, status: int = 200) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *parts: Any) -> None:
        """Quiet."""


def make_server(port: int) -> ThreadingHTTPServer:
    """A server with desks of its own; port 0 = any that is free."""
    return ThreadingHTTPServer(("127.0.0.1", port), type("DeskHandler", (Handler,), {"desks": {}}))


if __name__ == "__main__":
    make_server(int(sys.argv[1])).serve_forever()
