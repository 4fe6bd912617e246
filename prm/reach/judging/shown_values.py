"""Which calls brought what the user was told: looking something up in order to say it is no detour."""

from __future__ import annotations

from prm.reach.judging.json_leaves import leaves_of, parts_of
from prm.reach.judging.low_information import is_low_information
from prm.reach.judging.normal_forms import tokens_of, tokens_of_value
from prm.reach.log.run import Event, Run


def calls_shown_to_user(run: Run) -> frozenset[str]:
    """The ids of the calls of whose results a value, first returned there, is in a later message to the user.

    A message to the user is one of the assistant that makes no call. Only values of one token are looked for.
    """
    return _Shown(run).read()


class _Shown:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._first: dict[str, str] = {}

    def read(self) -> frozenset[str]:
        shown: set[str] = set()
        for event in self._run.events:
            if event.kind == "assistant" and not event.calls:
                shown.update(self._first[token] for token in set(tokens_of(event.text)) if token in self._first)
            elif event.result is not None and event.result.call_id in self._run.calls_by_id:
                self._take_in(event)
            elif event.kind in ("user", "system"):
                self._note(tokens_of(event.text), "")
        return frozenset(shown - {""})

    def _take_in(self, event: Event) -> None:
        """Notes which values a result is the first to hold; those of its own call's arguments are nobody's."""
        result = event.result
        if result is None:
            return
        call = self._run.calls_by_id[result.call_id]
        for _, leaf in leaves_of(call.arguments or {}):
            self._note(tokens_of_value(leaf), "")
        for _, part, _ in parts_of(result.value):
            tokens = tokens_of_value(part)
            if len(tokens) == 1 and not is_low_information(part):
                self._note(tokens, call.id)

    def _note(self, tokens: tuple[str, ...], call_id: str) -> None:
        for token in tokens:
            self._first.setdefault(token, call_id)
