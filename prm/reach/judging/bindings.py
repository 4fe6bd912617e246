"""Bindings: whether a value is one that stands at a place, among what is visible so far.

A *place* collects values as the run goes on: of calls that match their owner for certain, and apart from these of
calls that may. What a missing or cut result might have held makes a binding that finds nothing unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from prm.reach.judging.json_leaves import leaves_of
from prm.reach.judging.logic import Truth, some
from prm.reach.judging.normal_forms import normal_form
from prm.reach.judging.values import exists, spaced_tokens, values_at
from prm.reach.spec.conditions import First
from prm.reach.spec.places import Part, Place, parse_place


class Texts:
    """Texts in which a value may stand as a whole word or phrase."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._words: set[str] = set()
        self._searched: dict[str, tuple[int, bool]] = {}

    def add(self, text: str) -> None:
        """Takes in one more text."""
        spaced = spaced_tokens(text)
        self._texts.append(spaced)
        self._words.update(spaced.split())

    def hold(self, normal: str) -> bool:
        """Whether a value in normal form stands in one of them; each text is searched once for each value."""
        if normal.partition(" ")[0] not in self._words:
            return False
        searched, found = self._searched.get(normal, (0, False))
        if not found:
            found = any(f" {normal} " in text for text in self._texts[searched:])
        self._searched[normal] = (len(self._texts), found)
        return found


class _Held:
    """What stands at one place."""

    def __init__(self) -> None:
        self.certain: set[str] = set()
        self.possible: set[str] = set()
        self.texts = Texts()
        self.is_open = False
        """Whether a result that is missing or cut might have held more."""

    def has(self, normal: str) -> Truth:
        if normal in self.certain or self.texts.hold(normal):
            return True
        return None if self.is_open or normal in self.possible else False

    @property
    def has_values(self) -> bool:
        return bool(self.certain)


class Places:
    """All places that a spec speaks of, filled by the sweep.

    Args:
        places: Which.
        damage_marks: A value that holds one does not exist.
    """

    def __init__(self, places: Iterable[Place], damage_marks: Sequence[str]) -> None:
        self._damage_marks = damage_marks
        self._held = {place: _Held() for place in places}
        self._by_owner: dict[str, list[Place]] = {}
        for place in self._held:
            self._by_owner.setdefault(place.owner, []).append(place)

    def add_text(self, owner: str, text: str) -> None:
        """Something was said by `owner` (user, request, system)."""
        for place in self._by_owner.get(owner, ()):
            held = self._held[place]
            held.texts.add(text)
            held.certain.add(normal_form(text))

    def leave_texts_open(self) -> None:
        """What was said is not in the log: it may have held any value."""
        for owner in ("user", "request", "system", "plan"):
            for place in self._by_owner.get(owner, ()):
                self._held[place].is_open = True

    def add_values(self, owner: str, part: Part | None, value: Any, *, certain: bool, is_whole: bool) -> None:
        """A call of `owner` holds `value` in its `part`; a plan holds it in no part.

        Args:
            certain: Whether it is one of the owner's for certain.
            is_whole: Whether all that the agent saw is there.
        """
        for place in self._by_owner.get(owner, ()):
            if place.part == part:
                self._add(self._held[place], values_at(value, place.path), certain, is_whole)

    def add_missing(self, owner: str, part: Part) -> None:
        """What a call of `owner` held in its `part` is not in the log."""
        for place in self._by_owner.get(owner, ()):
            if place.part == part:
                self._held[place].is_open = True

    def _add(self, held: _Held, found: list[Any], certain: bool, is_whole: bool) -> None:
        values = [leaf for item in found for _, leaf in leaves_of(item) if exists(leaf, self._damage_marks)]
        if not values and not is_whole:
            held.is_open = True
        for value in values:
            normal = normal_form(value)
            (held.certain if certain else held.possible).add(normal)
            if certain and isinstance(value, str) and " " in normal:
                held.texts.add(value)

    def holds(self, targets: Sequence[str | First], value: Any, arguments: Any) -> Truth:
        """Whether `value` stands at one of the targets; `arguments` are those of the call that is looked at."""
        if isinstance(value, dict | list | tuple) or not exists(value):
            return False
        normal = normal_form(value)
        return some(self._holds_one(target, normal, arguments) for target in targets) if normal else False

    def _holds_one(self, target: str | First, normal: str, arguments: Any) -> Truth:
        if isinstance(target, First):
            return self._holds_first(target, normal, arguments)
        place = _place(target)
        if place.owner:
            return self._held[place].has(normal)
        return any(
            normal_form(leaf) == normal for item in values_at(arguments, place.path) for _, leaf in leaves_of(item)
        )

    def _holds_first(self, target: First, normal: str, arguments: Any) -> Truth:
        """The first place with a value decides; one that may have had a value makes "no" unknown."""
        is_open = False
        for text in target.first:
            place = _place(text)
            held = self._held.get(place)
            if held is None or held.has_values or place.part is None:
                truth = self._holds_one(text, normal, arguments)
                return None if is_open else truth
            is_open = is_open or held.is_open or bool(held.possible)
        return None if is_open else False


@lru_cache(maxsize=4096)
def _place(text: str) -> Place:
    return parse_place(text)
