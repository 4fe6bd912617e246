"""What a tool returned, taken out of its envelope: declared by key names, or recognised.

Without a declaration (`envelope` is None) a result is read like this, the first that fits:

1. a JSON object with `status` and `record`: the envelope of the ticket desk, `EnvelopeKeys()`;
2. a JSON object with an `error` that is neither null, false nor empty, with `isError` or `is_error` true, or with `ok`
   or `success` false: failed;
3. text (or a JSON string) that begins as an error does (``Error: …``, ``ValueError: …``, ``Traceback (most recent
   call last)``): failed;
4. text that begins as a JSON object or list and breaks off: incomplete, and nobody knows whether it went well;
5. anything else: the tool did what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from prm.reach.log.json_text import NO_JSON, breaks_off, json_in, text_of_json
from prm.reach.log.run import ToolResult

_ERROR_TEXT = re.compile(r"\s*(?:[A-Za-z]{0,40}(?:error|exception)\s*[:：]|Traceback \(most recent call last\))", re.I)


class Envelope(Protocol):
    """The key names of a result's envelope; a name that is None is not in use.

    Attributes:
        status: Key of the tool's own word for how it went.
        ok: The words (or booleans) under `status` that mean success.
        data_quality: Key of the mark of quality.
        partial: The words under `data_quality` that mean that something is missing.
        is_truncated: Key of the mark that the answer was cut.
        record: Key of the answer itself; None = the whole object.
        error: Key of the error's text.
    """

    @property
    def status(self) -> str | None: ...
    @property
    def ok(self) -> tuple[str | bool | int, ...]: ...
    @property
    def data_quality(self) -> str | None: ...
    @property
    def partial(self) -> tuple[str | bool | int, ...]: ...
    @property
    def is_truncated(self) -> str | None: ...
    @property
    def record(self) -> str | None: ...
    @property
    def error(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class EnvelopeKeys:
    """An `Envelope`; by default the ticket desk's."""

    status: str | None = "status"
    ok: tuple[str | bool | int, ...] = ("ok",)
    data_quality: str | None = "data_quality"
    partial: tuple[str | bool | int, ...] = ("partial",)
    is_truncated: str | None = "is_truncated"
    record: str | None = "record"
    error: str | None = "error"


_TICKET_DESK = EnvelopeKeys()
_SUCCESS_WORDS = ("ok", "success", "successful", "succeeded", "completed", "done")
_FAILURE_WORDS = ("error", "failed", "failure", "timeout", "refused", "rejected", "denied", "invalid", "not_found")


@dataclass(frozen=True, slots=True)
class Opened:
    """A result without its envelope; the fields are those of `ToolResult`."""

    ok: bool | None
    value: Any
    status: str | None = None
    error: str | None = None
    partial: bool = False
    truncated: bool = False
    envelope: Any = None
    incomplete: bool = False

    def as_result(self, index: int, call_id: str, timestamp: str | float | None) -> ToolResult:
        """The result of one call, carried by the message at `index`."""
        return ToolResult(
            index=index,
            call_id=call_id,
            ok=self.ok,
            value=self.value,
            status=self.status,
            error=self.error,
            partial=self.partial,
            truncated=self.truncated,
            envelope=self.envelope,
            timestamp=timestamp,
            incomplete=self.incomplete,
        )


def open_result(recorded: Any, envelope: Envelope | None) -> Opened:
    """What a recorded result says.

    Args:
        recorded: Its text, or the JSON value where the log holds one; None = the log does not hold it.
        envelope: The declared key names; None = recognised, see above.
    """
    if recorded is None:
        return Opened(None, None, incomplete=True)
    parsed = json_in(recorded) if isinstance(recorded, str) else recorded
    value = recorded if parsed is NO_JSON else parsed
    if isinstance(value, Mapping):
        return _open_object(value, envelope)
    if isinstance(value, str) and _ERROR_TEXT.match(value):
        return Opened(False, value, error=value)
    if parsed is NO_JSON and breaks_off(value):
        return Opened(None, value, incomplete=True)
    # A declared status is promised by every result: one that has none does not say how it went.
    says = envelope is None or envelope.status is None
    return Opened(True if says else None, value)


def with_status(opened: Opened, status: str | None, is_error: bool | None, envelope: Envelope | None) -> Opened:
    """A result of which the log also says beside it how the call went; what the result itself says comes first.

    Args:
        opened: The result.
        status: The log's word for how it went; None = none.
        is_error: Whether the call failed; None = the log does not say.
        envelope: Whose `ok` words count; None = those of common use, and any other word says nothing.
    """
    said = None if is_error is None else not is_error
    if status is not None:
        said = ok_of_status(status, envelope) if said is None else said
    if opened.status is not None or (status is None and is_error is None):
        return opened
    if opened.ok is False:
        return replace(opened, status=status)
    error = opened.value if said is False and isinstance(opened.value, str) else None
    return replace(opened, ok=said, status=status, error=error)


def ok_of_status(status: str, envelope: Envelope | None) -> bool | None:
    """Whether a word for how a call went means success; None = nobody knows."""
    if envelope is not None and envelope.status is not None and envelope.ok:
        return _is_among(status, envelope.ok)
    word = status.strip().lower()
    if word in _SUCCESS_WORDS:
        return True
    return False if word in _FAILURE_WORDS else None


def _open_object(value: Mapping[str, Any], envelope: Envelope | None) -> Opened:
    if envelope is not None:
        return _open_envelope(value, envelope)
    if isinstance(value.get("status"), str) and "record" in value:
        return _open_envelope(value, _TICKET_DESK)
    error = value.get("error")
    failed = _is_said(error) or any(value.get(key) is True for key in ("isError", "is_error"))
    failed = failed or any(value.get(key) is False for key in ("ok", "success"))
    return Opened(not failed, value, error=_error_text(error) if failed else None)


def _open_envelope(value: Mapping[str, Any], envelope: Envelope) -> Opened:
    status = value.get(envelope.status) if envelope.status is not None else None
    error = value.get(envelope.error) if envelope.error is not None else None
    truncated = envelope.is_truncated is not None and value.get(envelope.is_truncated) is True
    quality = value.get(envelope.data_quality) if envelope.data_quality is not None else None
    wrapped = envelope.record is not None and envelope.record in value
    record = value[envelope.record] if wrapped and envelope.record is not None else value
    ok = _succeeded(status, error, envelope)
    if error is None and ok is False and isinstance(record, Mapping) and envelope.error is not None:
        error = record.get(envelope.error)
    return Opened(
        ok=ok,
        value=record,
        status=None if status is None else text_of_json(status),
        error=_error_text(error) if ok is False else None,
        partial=truncated or _is_among(quality, envelope.partial),
        truncated=truncated,
        envelope=value if wrapped else None,
    )


def _succeeded(status: Any, error: Any, envelope: Envelope) -> bool | None:
    if _is_said(error):
        return False
    if envelope.status is None:
        return True
    return None if status is None or not envelope.ok else _is_among(status, envelope.ok)


def _is_among(value: Any, words: tuple[str | bool | int, ...]) -> bool:
    # True == 1: a word and a boolean are the same only where their types are.
    return any(type(value) is type(word) and value == word for word in words)


def _is_said(error: Any) -> bool:
    return error is not None and error is not False and error not in ("", [], {})


def _error_text(error: Any) -> str | None:
    if not _is_said(error):
        return None
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        return str(error["message"])
    return text_of_json(error)
