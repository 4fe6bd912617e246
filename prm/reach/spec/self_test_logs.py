"""The self-test logs of a spec: small YAML files beside it, as trajectories with the verdicts they must get."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from typing_extensions import Self

from prm.data.yaml_file import read_yaml
from prm.errors import ConfigError
from prm.reach.spec.conditions import Name, Strict, listed
from prm.reach.spec.load import refusal, spec_folder
from prm.reach.spec.model import Spec
from prm.types import Message, RunIdentity, Trajectory

_LETTERS = {"r": "reached", "t": "touched", "m": "missed", "-": "n/a", "?": "unscorable"}


class LoggedCall(Strict):
    """One call and what it returned; without `result` the log does not hold it."""

    tool: str = Field(min_length=1)
    args: Mapping[str, Any] = Field(default_factory=dict)
    result: Any = None


class LoggedMessage(Strict):
    """One message: of the system, of the user, or of the assistant (`say` and `calls`)."""

    system: str | None = None
    user: str | None = None
    say: str | None = None
    calls: tuple[LoggedCall, ...] = ()

    _listed = field_validator("calls", mode="before")(listed)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        speakers = (self.system is not None, self.user is not None, self.say is not None or bool(self.calls))
        if sum(speakers) != 1:
            raise ValueError("must be exactly one of system, user, and say with calls")
        return self


class Expected(Strict):
    """What a log must get.

    Attributes:
        verdicts: One letter a milestone, in the spec's order: r, t, m, - (n/a) or ? (unscorable).
        minefields: Those hit.
        diagnoses: The names of those found.
    """

    verdicts: str = Field(pattern=r"^[rtm?\-]*$")
    minefields: tuple[Name, ...] = ()
    diagnoses: tuple[Name, ...] = ()

    _listed = field_validator("minefields", "diagnoses", mode="before")(listed)

    @property
    def standings(self) -> tuple[str, ...]:
        """The verdicts in words."""
        return tuple(_LETTERS[letter] for letter in self.verdicts)


class SelfTestLog(Strict):
    """One log.

    Attributes:
        legal: A legal branch: every required milestone that applies must be reached, no minefield hit.
        expect: The verdicts it must get; None = only that it is legal.
    """

    legal: bool = False
    expect: Expected | None = None
    messages: tuple[LoggedMessage, ...] = Field(min_length=1)

    _listed = field_validator("messages", mode="before")(listed)


class _LogFile(Strict):
    parts: Any = None
    logs: Mapping[Name, SelfTestLog] = Field(min_length=1)


def self_test_logs(spec: Spec, source: str | Path) -> Mapping[str, SelfTestLog]:
    """The logs of every file that a spec names, by name.

    Args:
        spec: The spec.
        source: What it was loaded from; its files lie beside it.

    Raises:
        MissingFileError: A file does not exist.
        ConfigError: A file breaks a rule or does not lie beside the spec, or two logs have one name.
    """
    logs: dict[str, SelfTestLog] = {}
    for name in spec.logs:
        path = _beside(spec_folder(source), name)
        for log, content in _read(path, len(spec.milestones)).items():
            if log in logs:
                raise ConfigError.at(f"{path}: {log}", "a log's name must be its own", log, "rename one")
            logs[log] = content
    return logs


def _beside(folder: Path, name: str) -> Path:
    """The file of this name in the spec's folder or below it: a spec names no files elsewhere."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ConfigError.at(f"{folder}: logs", "must name files beside the spec", name, "move the logs there")
    return path


def _read(path: Path, milestones: int) -> Mapping[str, SelfTestLog]:
    content = read_yaml(path)
    try:
        logs = _LogFile.model_validate(content).logs
    except ValidationError as error:
        raise refusal(error, str(path), "fix the log") from None
    for name, log in logs.items():
        if log.expect is not None and len(log.expect.verdicts) != milestones:
            rule = f"must have a letter for each of {milestones} milestones"
            raise ConfigError.at(f"{path}: {name}.expect.verdicts", rule, log.expect.verdicts, "count them")
    return logs


def trajectory_of(name: str, log: SelfTestLog) -> Trajectory:
    """A log as a trajectory without labels."""
    messages = tuple(_messages(log))
    steps = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    return Trajectory(
        identity=RunIdentity(data_source="self_test", query_index=name, sample_index=0),
        messages=messages,
        step_labels=dict.fromkeys(steps, None),
    )


def _messages(log: SelfTestLog) -> Iterator[Message]:
    made = 0
    for message in log.messages:
        spoken = _spoken(message)
        if spoken is not None:
            yield spoken
            continue
        ids = [f"call_{made + number}" for number, _ in enumerate(message.calls, start=1)]
        made += len(ids)
        yield _assistant(message, ids)
        for call, call_id in zip(message.calls, ids, strict=True):
            if "result" in call.model_fields_set:
                yield {"role": "tool", "tool_call_id": call_id, "name": call.tool, "content": _text(call.result)}


def _spoken(message: LoggedMessage) -> Message | None:
    roles: tuple[tuple[Literal["system", "user"], str | None], ...] = (
        ("system", message.system),
        ("user", message.user),
    )
    return next(({"role": role, "content": text} for role, text in roles if text is not None), None)


def _assistant(message: LoggedMessage, ids: list[str]) -> Message:
    calls = [
        {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": _text(dict(call.args))}}
        for call, call_id in zip(message.calls, ids, strict=True)
    ]
    said: dict[str, Any] = {"role": "assistant", "content": message.say or ""}
    return {**said, "tool_calls": calls} if calls else said


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> str:
    """What YAML knows and JSON does not: a date without quotes is meant as the text that it is."""
    return value.isoformat() if isinstance(value, date) else str(value)
