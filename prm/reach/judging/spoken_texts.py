"""What one side said, indexed by words: the messages that show a value are found without reading them all."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from prm.reach.judging.values import spaced_tokens
from prm.reach.log.run import Event


class SpokenTexts:
    """The texts of some messages of a run, in order; a value is looked for once, among those with its rarest word."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = events
        self._found: dict[str, list[Event]] = {}

    def showing(self, normal: str, after: int) -> list[Event]:
        """The messages after the index `after` that show a value (in normal form) as a whole, in order."""
        found = self._all_showing(normal)
        return found[bisect_right(found, after, key=lambda event: event.index) :]

    def is_shown_before(self, normal: str, before: int) -> bool:
        """Whether a message before the index `before` shows a value (in normal form) as a whole."""
        found = self._all_showing(normal)
        return bool(found) and found[0].index < before

    def _all_showing(self, normal: str) -> list[Event]:
        if normal not in self._found:
            rarest = min((self._texts_with.get(word, []) for word in normal.split()), key=len, default=[])
            self._found[normal] = [event for event, text in rarest if f" {normal} " in text]
        return self._found[normal]

    @cached_property
    def _texts_with(self) -> dict[str, list[tuple[Event, str]]]:
        """Word → the messages that hold it, each with its spaced tokens."""
        texts: defaultdict[str, list[tuple[Event, str]]] = defaultdict(list)
        for event in self._events:
            spaced = spaced_tokens(event.text)
            for word in dict.fromkeys(spaced.split()):
                texts[word].append((event, spaced))
        return dict(texts)
