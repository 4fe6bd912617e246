"""`prm convert`: any source → trajectory records, or TRL's former stepwise supervision format.

A stepwise row has no place for messages: `prompt` is the text before the first step, and each completion is
what the agent saw since the step before, followed by the step, so that its end is where the step is judged.
Tools, the outcome of tools after the last step, and the roles of messages are lost in it; trajectory records
lose nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.data.sources import BadRecords, Loaded
from prm.errors import ConfigError, RecordError
from prm.types import Message, Trajectory

Write = Callable[[Trajectory, str], Mapping[str, Any]]


def convert(loaded: Iterable[Loaded], to: str, out: Path, bad: BadRecords) -> int:
    """Writes all trajectories to `out` in the format `to` (see `FORMATS`). Returns how many.

    Raises:
        ConfigError: There is no such format.
        RecordError: A trajectory cannot be said in it, and `bad` refuses.
    """
    if to not in FORMATS:
        raise ConfigError.at("--to", f"must be one of {', '.join(FORMATS)}", to, "name one of them")
    return write_jsonl(out, _converted(loaded, FORMATS[to], bad))


def _converted(loaded: Iterable[Loaded], write: Write, bad: BadRecords) -> Iterator[Mapping[str, Any]]:
    for item in loaded:
        try:
            record = write(item.trajectory, item.where)
        except RecordError as error:
            bad.put(item.row, error)
            continue
        yield record


def trajectory_record(trajectory: Trajectory, where: str) -> Mapping[str, Any]:
    """The trajectory record."""
    return dump_trajectory(trajectory)


def stepwise_record(trajectory: Trajectory, where: str) -> dict[str, Any]:
    """The stepwise row with labels −1, 0, +1 (null = unknown), and the key fields beside.

    Raises:
        RecordError: The trajectory has no step.
    """
    steps = trajectory.steps
    if not steps:
        raise RecordError.at(
            f"{where}: messages", "a stepwise row needs a step", "no assistant message", "leave it out"
        )
    starts = [0, *(step.index + 1 for step in steps[:-1])]
    before_first = trajectory.messages[: steps[0].index]
    completions = [
        _text_of_messages(trajectory.messages[start if ordinal else step.index : step.index + 1])
        for ordinal, (start, step) in enumerate(zip(starts, steps, strict=True))
    ]
    identity = trajectory.identity
    fields = ("id", "dataset", "data_source", "query_index", "sample_index", "generator")
    named = {name: value for name in fields if (value := getattr(identity, name)) not in (None, "")}
    said = {"protocol": trajectory.protocol, "label_source": trajectory.label_source}
    return {
        **named,
        **{name: value for name, value in said.items() if value is not None},
        "prompt": _text_of_messages(before_first),
        "completions": completions,
        "labels": [step.label for step in steps],
        "final_label": trajectory.final_label,
    }


def binary_stepwise_record(trajectory: Trajectory, where: str) -> dict[str, Any]:
    """The stepwise row with boolean labels, as TRL's PRM trainer took them: +1 → true, −1 → false.

    Raises:
        RecordError: A step is neutral or unlabelled, which booleans cannot say.
    """
    record = stepwise_record(trajectory, where)
    for step in trajectory.steps:
        if step.label not in (-1, 1):
            rule = "binary labels cannot say neutral or unknown"
            raise RecordError.at(f'{where}: step_labels["{step.index}"]', rule, step.label, "use --to stepwise")
    return {**record, "labels": [step.label == 1 for step in trajectory.steps]}


def _text_of_messages(messages: Sequence[Message]) -> str:
    """The texts of messages and calls, a blank line between; a lone text stays as it is."""
    return "\n\n".join(text for message in messages for text in _texts_of(message))


def _texts_of(message: Message) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str) and content:
        yield content
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            yield text
    for call in message.get("tool_calls") or ():
        function = call["function"]
        yield f"{function['name']}({function.get('arguments') or ''})"


FORMATS: Mapping[str, Write] = {
    "trajectories": trajectory_record,
    "stepwise": stepwise_record,
    "stepwise-binary": binary_stepwise_record,
}
"""Name of a format → what writes one trajectory in it."""
