"""Dirty data and time-outs put into any environment: the tools stay as they are, their returns do not.

    timeout:TOOL             no return; the call was not made
    error:TOOL               the tool fails; the call was not made
    truncated:TOOL           half of the fields, and the mark that it was cut
    missing:TOOL.FIELD       the field is null
    corrupted:TOOL.FIELD     the field has lost its end: ``AB-12`` becomes ``A###``

TOOL may be ``*``; FIELD may be a dotted path. ``@RATE`` after it (``timeout:check_inventory@0.3``) lets each call draw
by the run's seed; without it the first call of each tool that fits is hit, and no other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from prm.errors import ConfigError
from prm.reach.agents.task import Task
from prm.reach.agents.worlds.envelopes import failed, is_damaged, timed_out
from prm.reach.agents.worlds.world import World, WorldRun, refuse_beyond_cap
from prm.reach.desk.environment import Call, Envelope
from prm.reach.desk.scenarios import CORRUPTION

Kind = Literal["timeout", "error", "truncated", "missing", "corrupted"]

_OF_A_FIELD = ("missing", "corrupted")
_INSTEAD: Mapping[str, Envelope] = {"timeout": timed_out(), "error": failed("error", "the tool failed")}
_FORM = re.compile(r"(?P<kind>\w+):(?P<tool>[^.@\s]+)(?:\.(?P<field>[^@\s]+))?(?:@(?P<rate>[^@\s]+))?")


@dataclass(frozen=True, slots=True)
class Injection:
    """One kind of dirt.

    Attributes:
        tool: The tool whose returns it is in; ``*`` = any.
        field: Dotted path of a field of the record; "" for the whole return.
        rate: How often a call is hit; None = the first one of each tool.
    """

    kind: Kind
    tool: str
    field: str = ""
    rate: float | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.tool}" + (f".{self.field}" if self.field else "")


def parse_injection(text: str) -> Injection:
    """The injection that the command line's text means.

    Raises:
        ConfigError: It has another form, or a rate outside 0 … 1.
    """
    match = _FORM.fullmatch(text)
    todo = "write KIND:TOOL, KIND:TOOL@RATE or KIND:TOOL.FIELD, as in timeout:check_inventory@0.3"
    if match is None or match["kind"] not in get_args(Kind):
        raise ConfigError.at("--inject", f"must begin with one of {', '.join(get_args(Kind))}", text, todo)
    if (match["kind"] in _OF_A_FIELD) != (match["field"] is not None):
        raise ConfigError.at("--inject", f"{' and '.join(_OF_A_FIELD)} name a field, the others none", text, todo)
    return Injection(cast(Kind, match["kind"]), match["tool"], match["field"] or "", _rate(match["rate"], text))


def _rate(given: str | None, text: str) -> float | None:
    if given is None:
        return None
    try:
        rate = float(given)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ConfigError.at("--inject", "a rate must be between 0 and 1", text, "write it as in @0.3")
    return rate


class DirtyWorld:
    """A world with dirt in what its tools return; implements `prm.reach.agents.worlds.world.World`.

    Raises:
        ConfigError: An injection names a tool that the world does not have.
    """

    def __init__(self, world: World, injections: Sequence[Injection], seed: int = 0) -> None:
        self._world, self._injections, self._seed = world, tuple(injections), seed
        names = [tool["function"]["name"] for tool in world.declarations]
        for injection in injections:
            if injection.tool not in ("*", *names):
                raise ConfigError.at("--inject", f"must name one of {', '.join(names)}", str(injection), "fix the tool")

    @property
    def name(self) -> str:
        """That of the world."""
        return self._world.name

    @property
    def declarations(self) -> tuple[Mapping[str, Any], ...]:
        """Those of the world."""
        return self._world.declarations

    @property
    def settings(self) -> Mapping[str, Any]:
        """Those of the world, and the dirt."""
        dirt = [[str(injection), injection.rate] for injection in self._injections]
        return {**self._world.settings, "inject": dirt, "inject_seed": self._seed}

    def open(self, task: Task, run: int, max_calls: int) -> DirtyRun:
        """See `World.open`."""
        rng = random.Random(f"dirt/{self._seed}/{task.id}/{run}")
        return DirtyRun(self._world.open(task, run, max_calls), self._injections, rng)


class DirtyRun:
    """An environment whose returns get dirty.

    Attributes:
        last_injected: What hit the last call executed, in words; empty for nothing.
    """

    def __init__(self, inner: WorldRun, injections: Sequence[Injection], rng: random.Random) -> None:
        self._inner, self._injections, self._rng = inner, injections, rng
        self._calls_made_up = 0
        self._spent: set[tuple[Injection, str]] = set()
        self.last_injected: tuple[str, ...] = ()

    @property
    def tools(self) -> Sequence[str]:
        """The names of the tools."""
        return self._inner.tools

    @property
    def calls_left(self) -> int:
        """How many calls are still allowed; those that were never made count too."""
        return self._inner.calls_left - self._calls_made_up

    def execute(self, calls: Sequence[Call]) -> list[Envelope]:
        """See `Environment.execute`."""
        refuse_beyond_cap(len(calls), self.calls_left)
        return [self._execute_one(call) for call in calls]

    def final_success(self) -> bool | None:
        """What the world says."""
        return self._inner.final_success()

    def close(self) -> None:
        """Closes the inner environment."""
        self._inner.close()

    def _execute_one(self, call: Call) -> Envelope:
        self.last_injected = ()
        drawn = [injection for injection in self._injections if self._strikes(injection, call)]
        for injection in drawn:
            if injection.kind in _INSTEAD:
                self._calls_made_up += 1
                self._hit(injection, call)
                return _INSTEAD[injection.kind]
        (envelope,) = self._inner.execute([call])
        for injection in drawn:
            dirty = _dirtied(envelope, injection)
            if dirty is not None:
                envelope = dirty
                self._hit(injection, call)
        return envelope

    def _strikes(self, injection: Injection, call: Call) -> bool:
        if call.tool not in self.tools or injection.tool not in ("*", call.tool):
            return False
        if injection.rate is None:
            return (injection, call.tool) not in self._spent
        return self._rng.random() < injection.rate

    def _hit(self, injection: Injection, call: Call) -> None:
        self._spent.add((injection, call.tool))
        self.last_injected = (*self.last_injected, str(injection))


def _dirtied(envelope: Envelope, injection: Injection) -> Envelope | None:
    """The envelope with the dirt in it; None where there is nothing that could get dirty."""
    if envelope.status != "ok" or not envelope.record:
        return None
    if injection.kind == "truncated":
        kept = list(envelope.record.items())[: len(envelope.record) // 2]
        return Envelope("ok", "partial", True, dict(kept))
    record = _with_damage(envelope.record, injection.field.split("."), injection.kind)
    if record is None:
        return None
    damaged = envelope.data_quality == "partial" or is_damaged(record) or "." in injection.field
    return replace(envelope, record=record, data_quality="partial" if damaged else "complete")


def _with_damage(record: Mapping[str, Any], path: Sequence[str], kind: Kind) -> dict[str, Any] | None:
    name, *rest = path
    value = record.get(name)
    if value is None:
        return None
    if not rest:
        lost = None if kind == "missing" else str(value)[:1] + CORRUPTION * 3
        return {**record, name: lost}
    inner = _with_damage(value, rest, kind) if isinstance(value, Mapping) else None
    return None if inner is None else {**record, name: inner}
