"""What the assistant said, indexed by words: the messages that show a value are found without reading them all."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from functools import cached_property

from prm.reach.judging.values import spaced_tokens
from prm.reach.log.run import Event, Run


class AssistantTexts:
    """The texts of one run's assistant messages; a value is looked for once, among those that hold its rarest word."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._found: dict[str, list[Event]] = {}

    def showing(self, normal: str, after: int) -> list[Event]:
        """The messages after the index `after` that show a value (in normal form) as a whole, in order."""
        if normal not in self._found:
            rarest = min((self._texts_with.get(word, []) for word in normal.split()), key=len, default=[])
            self._found[normal] = [event for event, text in rarest if f" {normal} " in text]
        found = self._found[normal]
        return found[bisect_right(found, after, key=lambda event: event.index) :]

    @cached_property
    def _texts_with(self) -> dict[str, list[tuple[Event, str]]]:
        """Word → the messages that hold it, each with its spaced tokens."""
        texts: defaultdict[str, list[tuple[Event, str]]] = defaultdict(list)
        for event in self._run.batches:
            spaced = spaced_tokens(event.text)
            for word in dict.fromkeys(spaced.split()):
                texts[word].append((event, spaced))
        return dict(texts)
