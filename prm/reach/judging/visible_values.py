"""What an agent has seen so far, indexed by tokens: every text and every leaf and key of a result, read once.

A value is looked up by its rarest token, and what was found for it is kept and only brought up to date, so that the
cost of a run is near-linear in its length. Two bounds keep hostile logs cheap: a value keeps the first and the last
`MAX_PLACES` places of each kind, and a value of several tokens is looked for at `MAX_TRIES` occurrences at a time.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from prm.reach.judging.json_leaves import parts_of
from prm.reach.judging.low_information import is_low_information
from prm.reach.judging.normal_forms import Tokens, alternatives_of, tokens_of, tokens_of_value
from prm.reach.judging.provenance_records import Source
from prm.reach.judging.right_place import follows_name, is_named
from prm.reach.log.run import ToolCall, ToolResult

Kind = Literal["result", "user", "system", "echo"]

MAX_PLACES = 16
MAX_TRIES = 1_000
_MAX_PARTS = 12
_NOTHING: frozenset[str] = frozenset()
_TAIL = 4


@dataclass(frozen=True, slots=True)
class Unit:
    """One text, or one leaf or key of a result.

    Attributes:
        kind: What it counts as, where it is no echo.
        tokens: Its text.
        source: Where it stands.
        own: The tokens of the arguments of the call whose result it is: what only repeats them is an echo.
    """

    kind: Kind
    tokens: Tokens
    source: Source
    own: frozenset[str] = frozenset()


@dataclass(slots=True)
class Places:
    """Where a value was found, by kind: the first and the last `MAX_PLACES`.

    Attributes:
        rarest: Which of its tokens it is looked up by; settled at the first look.
        read: How many occurrences of that token have been looked at.
    """

    rarest: int
    first: dict[Kind, list[Source]] = field(default_factory=lambda: defaultdict(list))
    last: dict[Kind, deque[Source]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=MAX_PLACES)))
    read: int = 0

    def add(self, kind: Kind, source: Source) -> None:
        """Takes in one more place."""
        kept = self.first[kind]
        (kept if len(kept) < MAX_PLACES else self.last[kind]).append(source)

    def of(self, kind: Kind) -> tuple[Source, ...]:
        """The places of one kind, in order."""
        return (*self.first.get(kind, ()), *self.last.get(kind, ()))


class VisibleValues:
    """The index of one run as it goes on."""

    def __init__(self) -> None:
        self._units: list[Unit] = []
        self._occurrences: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._holders: defaultdict[Tokens, deque[str]] = defaultdict(lambda: deque(maxlen=MAX_PLACES))
        self._tails: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._found: dict[tuple[Tokens, str | None], Places] = {}
        self._own: dict[str, frozenset[str]] = {}
        self._years: set[str] = set()

    # What comes in

    def add_text(self, kind: Kind, index: int, text: str) -> None:
        """Takes in what was said in the message at `index`."""
        self._add(Unit(kind, tokens_of(text), Source(index)))

    def add_call(self, call: ToolCall) -> None:
        """Takes in a call's own arguments: a later value that is only found there is an echo."""
        arguments = call.raw if call.arguments is None else call.arguments
        own: set[str] = set()
        for path, leaf, is_key in parts_of(arguments):
            if not is_key:
                tokens = tokens_of_value(leaf)
                own.update(tokens)
                self._add(Unit("echo", tokens, Source(call.batch, None, path)))
        self._own[call.id] = frozenset(own)

    def add_result(self, result: ToolResult) -> None:
        """Takes in what a call returned, and what its envelope says beside it."""
        self._add_value(result, result.value)
        if isinstance(result.envelope, dict):
            said = {key: part for key, part in result.envelope.items() if part is not result.value}
            self._add_value(result, said)

    def _add_value(self, result: ToolResult, value: Any) -> None:
        own = self._own.get(result.call_id, _NOTHING)
        for path, part, is_key in parts_of(value):
            if is_key and is_low_information(part):
                continue
            tokens = tokens_of_value(part)
            self._add(Unit("result", tokens, Source(result.index, result.call_id, path), own))
            if tokens and not own.issuperset(tokens):
                self._holders[tokens].append(result.call_id)

    def _add(self, unit: Unit) -> None:
        number = len(self._units)
        self._units.append(unit)
        for position, token in enumerate(unit.tokens):
            self._occurrences[token].append((number, position))
            self._note_digits(unit, token)
            for other in alternatives_of(token):
                self._occurrences[other].append((number, -1))

    def _note_digits(self, unit: Unit, token: str) -> None:
        if unit.kind == "echo" or len(token) < _TAIL:
            return
        if token[:_TAIL].isdigit():
            self._years.add(token[:_TAIL])
        if token[-_TAIL:].isdigit():
            self._tails[token[-_TAIL:]][token] = None

    # What is asked

    def has_year(self, year: str) -> bool:
        """Whether a year was seen anywhere."""
        return year in self._years

    def places(self, tokens: Tokens) -> Places:
        """Where a value of at least one token stands as a whole: its tokens one after the other."""
        return self._up_to_date(tokens, None)

    def places_by_name(self, tokens: Tokens, name: str) -> Places:
        """Where a low-information value stands in the right place: as a whole, and under the name it goes by."""
        return self._up_to_date(tokens, name)

    def tokens_ending_in(self, digits: str) -> Iterator[str]:
        """The tokens that end in these four or more digits, and have more before them."""
        for token in self._tails.get(digits[-_TAIL:], ()):
            if token.endswith(digits) and token != digits:
                yield token

    def holder_of_parts(self, tokens: Tokens) -> str | None:
        """The call whose result holds a value in parts: each part is the whole of one of its leaves."""
        if not 2 <= len(tokens) <= _MAX_PARTS:
            return None
        # held[n]: the calls whose results hold the first n tokens in parts.
        held: list[dict[str, None]] = [{} for _ in range(len(tokens) + 1)]
        for end in range(1, len(tokens) + 1):
            for start in range(end):
                holders = dict.fromkeys(reversed(self._holders.get(tokens[start:end], ())))
                held[end] |= {call: None for call in holders if start == 0 or call in held[start]}
        return next(iter(held[-1]), None)

    def _up_to_date(self, tokens: Tokens, name: str | None) -> Places:
        places = self._found.get((tokens, name))
        if places is None:
            places = self._found[tokens, name] = Places(self._rarest(tokens))
        occurrences = self._occurrences.get(tokens[places.rarest], [])
        start = places.read if len(tokens) == 1 else max(places.read, len(occurrences) - MAX_TRIES)
        for number, position in occurrences[start:]:
            unit = self._units[number]
            if _stands_at(unit.tokens, tokens, position, places.rarest) and _is_right(unit, tokens, position, name):
                is_echo = unit.own.issuperset(tokens)
                places.add(
                    "echo" if is_echo else unit.kind, replace(unit.source, echo=True) if is_echo else unit.source
                )
        places.read = len(occurrences)
        return places

    def _rarest(self, tokens: Tokens) -> int:
        return min(range(len(tokens)), key=lambda at: len(self._occurrences.get(tokens[at], ())))


def _stands_at(text: Tokens, tokens: Tokens, position: int, offset: int) -> bool:
    """Whether `tokens` stand in `text` with the one at `offset` at `position`; −1 = a part of one token."""
    if len(tokens) == 1:
        return True
    start = position - offset
    return position >= 0 and start >= 0 and text[start : start + len(tokens)] == tokens


def _is_right(unit: Unit, tokens: Tokens, position: int, name: str | None) -> bool:
    if name is None:
        return True
    if unit.source.call_id is not None:
        return unit.tokens == tokens and is_named(unit.source.path, name)
    return unit.kind != "echo" and (unit.tokens == tokens or follows_name(unit.tokens, position, name))
