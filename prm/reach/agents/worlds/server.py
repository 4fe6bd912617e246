"""A tool server over HTTP in place of the simulator. The protocol, all of it JSON:

    GET URL                                    → {"tools": [OpenAI-style declarations], "sessions": false}
    POST URL {"tool", "arguments", "run"}      → what the tool returns

``run`` names the run, so that a server can keep a world for each. One that says ``"sessions": true`` is also told of
their beginning and end:

    POST URL {"start": {"run", "task"}}        → anything; the task's id, request, template, seed and other keys
    POST URL {"end": {"run"}}                  → {"final_success": true | false | null}

A return is the envelope's record, as with Python functions (`prm.reach.agents.worlds.functions`), or an envelope
``{"status", "record"}`` with a status of the desk's. Status 404 is ``not_found``, 408 and 504 (or no answer in time)
``timeout``, 400 and 422 ``invalid``, other 4xx ``refused``, everything else ``error``; none is tried again: a write
may have been done.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from prm.data.jsonl import parse_json
from prm.errors import ConfigError, RecordError
from prm.reach.agents.deadline import within
from prm.reach.agents.task import Task
from prm.reach.agents.worlds.envelopes import envelope_of, failed, timed_out
from prm.reach.agents.worlds.world import refuse_beyond_cap
from prm.reach.desk.environment import Call, Envelope, Status

_STATUSES: Mapping[int, Status] = {400: "invalid", 404: "not_found", 408: "timeout", 422: "invalid", 504: "timeout"}
_MAX_BYTES = 10_000_000


class ServerWorld:
    """A tool server; implements `prm.reach.agents.worlds.world.World`.

    Args:
        url: Where it listens.
        call_seconds: How long a call may take.
        name: The data set's name in the records.

    Raises:
        ConfigError: It cannot be reached, or does not say which tools it has.
    """

    def __init__(self, url: str, call_seconds: float = 30.0, name: str = "tool_server") -> None:
        self.name = name
        self._url = url
        self._call_seconds = call_seconds
        described = self._description()
        self.declarations = tuple(described["tools"])
        self._sessions = described.get("sessions") is True

    @property
    def settings(self) -> Mapping[str, Any]:
        """The tools as declared."""
        return {"world": self.name, "tools": list(self.declarations)}

    def open(self, task: Task, run: int, max_calls: int) -> ServerRun:
        """See `World.open`."""
        session = f"{task.id}/{run}/{uuid4().hex[:8]}"
        if self._sessions:
            exchange(self._url, {"start": {"run": session, "task": task.content}}, self._call_seconds)
        return ServerRun(self, session, max_calls)

    def call(self, session: str, call: Call) -> Envelope:
        """One call of a tool, with everything that can go wrong told by the envelope's status."""
        body = {"tool": call.tool, "arguments": dict(call.arguments), "run": session}
        try:
            return envelope_of(exchange(self._url, body, self._call_seconds))
        except TimeoutError:
            return timed_out()
        except urllib.error.HTTPError as error:
            status = _STATUSES.get(error.code, "refused" if 400 <= error.code < 500 else "error")
            text = _text_of(error)
            return timed_out() if status == "timeout" else failed(status, text)
        except (OSError, ValueError) as error:
            late = isinstance(getattr(error, "reason", None), TimeoutError)
            return timed_out() if late else failed("error", f"{type(error).__name__}: {error}")

    def final_success(self, session: str) -> bool | None:
        """What the server says of the run's end; None where it has no sessions."""
        if not self._sessions:
            return None
        said = exchange(self._url, {"end": {"run": session}}, self._call_seconds)
        success = said.get("final_success") if isinstance(said, Mapping) else None
        return success if isinstance(success, bool) else None

    def _description(self) -> dict[str, Any]:
        todo = 'start it, and let GET answer {"tools": [declarations]}'
        try:
            said = exchange(self._url, None, self._call_seconds)
        except (OSError, ValueError) as error:
            raise ConfigError.at(self._url, "the tool server must answer", str(error), todo) from None
        tools = said.get("tools") if isinstance(said, dict) else None
        if not isinstance(tools, list) or not tools or not all(map(_is_declaration, tools)):
            raise ConfigError.at(self._url, "the tool server must declare its tools", said, todo)
        return {**said, "tools": tools}


class ServerRun:
    """A tool server in one run."""

    def __init__(self, world: ServerWorld, session: str, max_calls: int) -> None:
        self._world = world
        self._session = session
        self.tools: Sequence[str] = tuple(tool["function"]["name"] for tool in world.declarations)
        self.calls_left = max_calls

    def execute(self, calls: Sequence[Call]) -> list[Envelope]:
        """See `Environment.execute`; the calls of a batch are made one after the other."""
        refuse_beyond_cap(len(calls), self.calls_left)
        self.calls_left -= len(calls)
        return [self._execute_one(call) for call in calls]

    def _execute_one(self, call: Call) -> Envelope:
        if call.tool not in self.tools:
            return failed("invalid", f"no tool {call.tool}")
        return self._world.call(self._session, call)

    def final_success(self) -> bool | None:
        """What the server says of the run's end."""
        return self._world.final_success(self._session)

    def close(self) -> None:
        """Nothing is held open."""


def exchange(url: str, body: Mapping[str, Any] | None, seconds: float) -> Any:
    """The JSON value that a server answers; without a body it is a GET.

    Raises:
        TimeoutError: It took longer. OSError: It could not be reached, or answered with an error's status.
        ValueError: The answer is no HTTP or no JSON, or larger than 10 MB.
    """
    data = None if body is None else json.dumps(body).encode("ascii")
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", "Accept": "application/json"})
    if request.type not in ("http", "https"):
        raise ValueError(f"no http address: {url}")

    def read() -> bytes:
        with urllib.request.urlopen(request, timeout=seconds) as response:
            content: bytes = response.read(_MAX_BYTES + 1)
            return content

    try:
        content = within(seconds, read)
    except http.client.HTTPException as error:
        raise ValueError(f"no answer in HTTP: {type(error).__name__}: {error}") from None
    if len(content) > _MAX_BYTES:
        raise ValueError("the answer is larger than 10 MB")
    return parse_json(content, "answer")


def _text_of(error: urllib.error.HTTPError) -> str:
    """What a server says about an error: its ``error`` or ``message``, its text, or the status's name."""
    with error:
        content = error.read(2000)
    try:
        said = parse_json(content, "answer")
    except RecordError:
        said = None
    if isinstance(said, Mapping):
        said = said.get("error", said.get("message"))
    return said if isinstance(said, str) else f"HTTP status {error.code} {error.reason}"


def _is_declaration(tool: Any) -> bool:
    function = tool.get("function") if isinstance(tool, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)
