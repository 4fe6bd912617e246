"""A few numbers of a step that a PRM beside the running agent knows without reading: place, calls, shared words.

They are taken from the past and the step itself, never from what follows, so they are the same online. A head may read
them beside hidden states (`prm.models.mixed_head`); they are also an honest small baseline.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log1p

from prm.data.render import calls_of, content_text
from prm.types import Message

FEATURES = (
    *("log_ordinal", "is_first", "is_second", "is_late", "has_call", "call_log_ordinal", "is_outcome"),
    *("has_text", "log_text_words", "log_call_words", "text_in_results", "text_in_question"),
    *("call_in_question", "call_in_results", "question_in_call", "call_like_earlier"),
    *("log_result_words", "log_earlier_calls", "question_in_results"),
)
"""Names of the features, in order; each is finite, shares are in [0, 1]."""

_WORD = re.compile(r"\w+")
_MAX_CHARACTERS = 100_000
_LATE = 3


def run_features(messages: Sequence[Message]) -> list[tuple[float, ...]]:
    """The features of every step, then those of the outcome: `[steps + 1][len(FEATURES)]`."""
    reader = _Reader()
    found = [features for message in messages if (features := reader.read(message)) is not None]
    return [*found, reader.outcome()]


class _Reader:
    """Reads messages in order and remembers the words seen so far."""

    def __init__(self) -> None:
        self._question: set[str] = set()
        self._results: set[str] = set()
        self._calls: list[set[str]] = []
        self._steps = 0
        self._last: tuple[float, ...] = (0.0,) * len(FEATURES)

    def read(self, message: Message) -> tuple[float, ...] | None:
        """The features of a step; None for any other message."""
        if message["role"] == "assistant":
            return self._step(message)
        if message["role"] == "tool":
            self._results |= _words(content_text(message))
        elif message["role"] == "user":
            self._question |= _words(content_text(message))
        return None

    def outcome(self) -> tuple[float, ...]:
        """The last step's features, marked as the outcome."""
        place = _place(self._steps, has_call=False, is_outcome=True)
        return (*place, *self._last[len(place) :])

    def _step(self, message: Message) -> tuple[float, ...]:
        calls = calls_of(message)
        text, call = _words(content_text(message)), _words(" ".join(arguments for _, arguments in calls))
        place = _place(self._steps, has_call=bool(calls), is_outcome=False)
        self._last = (*place, *self._shared(text, call))
        self._steps += 1
        if calls:
            self._calls.append(call)
        return self._last

    def _shared(self, text: set[str], call: set[str]) -> tuple[float, ...]:
        return (
            float(bool(text)),
            log1p(len(text)),
            log1p(len(call)),
            _share(text, self._results),
            _share(text, self._question),
            _share(call, self._question),
            _share(call, self._results),
            _share(self._question, call),
            max((len(call & earlier) / max(len(call | earlier), 1) for earlier in self._calls), default=0.0),
            log1p(len(self._results)),
            log1p(len(self._calls)),
            _share(self._question, self._results),
        )


def _place(ordinal: int, *, has_call: bool, is_outcome: bool) -> tuple[float, ...]:
    position = log1p(ordinal)
    return (
        position,
        float(ordinal == 0),
        float(ordinal == 1),
        float(ordinal >= _LATE),
        float(has_call),
        position * has_call,
        float(is_outcome),
    )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:_MAX_CHARACTERS].lower()))


def _share(part: set[str], whole: set[str]) -> float:
    """Share of `part` that is in `whole`; 0 of nothing."""
    return len(part & whole) / max(len(part), 1)
