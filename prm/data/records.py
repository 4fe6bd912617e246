"""Trajectory and prediction records: JSON object ↔ value, with every rule of the format.

Rules are stated here once; `schemas/*.json` says the same for other tools and a test holds the two together.
A bad record raises `RecordError` with where, key, rule and value. Nothing is repaired or defaulted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from prm.data.jsonl import read_jsonl
from prm.errors import RecordError
from prm.types import Prediction, Probabilities, RunIdentity, StepLabel, Trajectory

_MESSAGE_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
ROLES = ("system", "developer", "user", "assistant", "tool")
PROTOCOLS = ("error_propagation", "independent", "first_error_only")
STATUSES = ("ok", "partial", "failed")

_IDENTITY_KEYS = ("id", "dataset", "data_source", "query_index", "sample_index", "generator")
_TRAJECTORY_KEYS = (
    *_IDENTITY_KEYS,
    *("question", "messages", "tools", "step_labels", "final_label", "step_label_probs"),
    *("protocol", "label_source", "label_notes"),
)
_PREDICTION_KEYS = (
    *_IDENTITY_KEYS,
    *("step_labels", "final_label", "step_probs", "final_prob", "explanations"),
    *("status", "reason", "protocol", "prompt_version", "rendering"),
)


def read_trajectories(path: Path | str) -> Iterator[Trajectory]:
    """Yields the validated trajectories of a JSONL file of trajectory records, in order.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A record breaks a rule.
    """
    for number, record in read_jsonl(Path(path)):
        yield parse_trajectory(record, f"{path}:{number}")


def read_gold(path: Path | str) -> Iterator[Trajectory]:
    """Like `read_trajectories`, but label-only records (no `messages`) are taken too."""
    for number, record in read_jsonl(Path(path)):
        yield parse_gold(record, f"{path}:{number}")


def read_predictions(path: Path | str) -> Iterator[Prediction]:
    """Yields the validated predictions of a JSONL file, in order, duplicates included."""
    for number, record in read_jsonl(Path(path)):
        yield parse_prediction(record, f"{path}:{number}")


def parse_trajectory(record: Mapping[str, Any], where: str) -> Trajectory:
    """The trajectory of one record with `messages`.

    Raises:
        RecordError: A rule is broken; the message names `where`, the key, the rule and the value.
    """
    if "messages" not in record:
        raise RecordError.at(
            f"{where}: messages",
            "key must be present",
            None,
            "give the chat messages (label-only files are for `prm evaluate`)",
        )
    messages = _parse_messages(record["messages"], where)
    steps = [i for i, message in enumerate(messages) if message["role"] == "assistant"]
    labels = _parse_labels(record.get("step_labels"), where, steps)
    return _trajectory(record, where, messages, labels)


def parse_gold(record: Mapping[str, Any], where: str) -> Trajectory:
    """The trajectory of one record that may be label-only (`messages` absent, labels on any index)."""
    if record.get("messages") is not None:
        return parse_trajectory(record, where)
    if not isinstance(record.get("step_labels"), Mapping):
        raise RecordError.at(
            f"{where}: step_labels",
            "a label-only record must hold step_labels",
            record.get("step_labels"),
            "add them",
        )
    return _trajectory(record, where, (), _parse_labels(record["step_labels"], where, None))


def _trajectory(
    record: Mapping[str, Any],
    where: str,
    messages: tuple[dict[str, Any], ...],
    labels: dict[int, StepLabel | None],
) -> Trajectory:
    probs = _parse_probs(record.get("step_label_probs"), f"{where}: step_label_probs")
    for index in probs:
        if index not in labels:
            raise RecordError.at(
                f'{where}: step_label_probs["{index}"]',
                "must name a step",
                index,
                "remove it or fix the index",
            )
    return Trajectory(
        identity=_parse_identity(record, where),
        messages=messages,
        step_labels=labels,
        final_label=_parse_label(record.get("final_label"), f"{where}: final_label", "final_label"),
        step_label_probs=probs,
        tools=_parse_tools(record.get("tools"), where),
        question=_parse_text(record, "question", where),
        protocol=_parse_choice(record, "protocol", PROTOCOLS, where),
        label_source=_parse_text(record, "label_source", where),
        label_notes=record.get("label_notes"),
        extra={key: value for key, value in record.items() if key not in _TRAJECTORY_KEYS},
    )


def parse_prediction(record: Mapping[str, Any], where: str) -> Prediction:
    """The prediction of one record. A null label is a step that was not predicted.

    AgentProcessBench's result files load unchanged: a `comment` that starts with ``llm_annotate_failed``
    makes the record `failed`.

    Raises:
        RecordError: A rule is broken.
    """
    labels = _parse_labels(record.get("step_labels"), where, None)
    given = {index: label for index, label in labels.items() if label is not None}
    comment = record.get("comment")
    failed = isinstance(comment, str) and comment.startswith("llm_annotate_failed")
    status = "failed" if failed else _prediction_status(record, where, labels)
    reason = _parse_text(record, "reason", where)
    final_label = _parse_label(record.get("final_label"), f"{where}: final_label", "final_label")
    return Prediction(
        identity=_parse_identity(record, where),
        step_labels={} if status == "failed" else given,
        final_label=None if status == "failed" else final_label,
        step_probs=_parse_probs(record.get("step_probs"), f"{where}: step_probs"),
        final_prob=_parse_unit(record.get("final_prob"), f"{where}: final_prob"),
        explanations=record.get("explanations"),
        status=cast(Any, status),
        reason=cast(str, comment) if failed and reason is None else reason,
        protocol=_parse_choice(record, "protocol", PROTOCOLS, where),
        prompt_version=_parse_text(record, "prompt_version", where),
        rendering=record.get("rendering"),
        extra={key: value for key, value in record.items() if key not in _PREDICTION_KEYS},
    )


def _prediction_status(record: Mapping[str, Any], where: str, labels: Mapping[int, StepLabel | None]) -> str:
    if record.get("status") in STATUSES:
        return str(record["status"])
    # Other tools write words of their own here ("done"); what was predicted says more.
    if record.get("status") is not None and not isinstance(record["status"], str):
        raise RecordError.at(f"{where}: status", f"must be one of {', '.join(STATUSES)}", record["status"], "fix it")
    if all(label is None for label in labels.values()):
        return "failed"
    return "partial" if any(label is None for label in labels.values()) else "ok"


def dump_trajectory(trajectory: Trajectory) -> dict[str, Any]:
    """The JSON object of a trajectory; `parse_trajectory` of it gives the same value again."""
    labels = {str(index): label for index, label in trajectory.step_labels.items()}
    record: dict[str, Any] = {
        **_dump_identity(trajectory.identity),
        "question": trajectory.question,
        "messages": [dict(message) for message in trajectory.messages] or None,
        "tools": [dict(tool) for tool in trajectory.tools] or None,
        "step_label_probs": _dump_probs(trajectory.step_label_probs),
        "protocol": trajectory.protocol,
        "label_source": trajectory.label_source,
        "label_notes": trajectory.label_notes,
    }
    record = {key: value for key, value in record.items() if value is not None}
    return {**record, **trajectory.extra, "step_labels": labels, "final_label": trajectory.final_label}


def dump_prediction(prediction: Prediction) -> dict[str, Any]:
    """The JSON object of a prediction; `parse_prediction` of it gives the same value again."""
    record: dict[str, Any] = {
        **_dump_identity(prediction.identity),
        "step_labels": {str(index): label for index, label in prediction.step_labels.items()},
        "final_label": prediction.final_label,
        "step_probs": _dump_probs(prediction.step_probs),
        "final_prob": prediction.final_prob,
        "explanations": prediction.explanations,
        "status": prediction.status,
        "reason": prediction.reason,
        "protocol": prediction.protocol,
        "prompt_version": prediction.prompt_version,
        "rendering": prediction.rendering,
    }
    kept = {k: v for k, v in record.items() if v is not None or k == "final_label"}
    return {**kept, **prediction.extra}


def _dump_identity(identity: RunIdentity) -> dict[str, Any]:
    return {
        "id": identity.id,
        "dataset": identity.dataset,
        "generator": identity.generator,
        "data_source": identity.data_source,
        "query_index": identity.query_index,
        "sample_index": identity.sample_index,
    }


def _dump_probs(probs: Mapping[int, Probabilities]) -> dict[str, list[float]] | None:
    return {str(index): list(values) for index, values in probs.items()} or None


def _parse_identity(record: Mapping[str, Any], where: str) -> RunIdentity:
    identity = RunIdentity(
        data_source=_parse_text(record, "data_source", where) or "",
        query_index=_parse_index(record, "query_index", where),
        sample_index=_parse_index(record, "sample_index", where),
        id=_parse_text(record, "id", where),
        dataset=_parse_text(record, "dataset", where),
        generator=_parse_text(record, "generator", where),
    )
    if identity.id is None:
        for key in ("data_source", "query_index", "sample_index"):
            if record.get(key) in (None, ""):
                raise RecordError.at(
                    f"{where}: {key}",
                    "a record without id needs data_source, query_index and sample_index",
                    record.get(key),
                    f"add {key}, or an id",
                )
    return identity


def _parse_index(record: Mapping[str, Any], key: str, where: str) -> int | str | None:
    value = record.get(key)
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    raise RecordError.at(f"{where}: {key}", "must be a whole number or text", value, "fix the value")


def _parse_text(record: Mapping[str, Any], key: str, where: str) -> str | None:
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value
    raise RecordError.at(f"{where}: {key}", "must be text or null", value, "fix the value")


def _parse_choice(record: Mapping[str, Any], key: str, choices: Sequence[str], where: str) -> Any:
    value = record.get(key)
    if value is None or (isinstance(value, str) and value in choices):
        return value
    raise RecordError.at(f"{where}: {key}", f"must be one of {', '.join(choices)}", value, "fix the value")


def _parse_messages(value: Any, where: str) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not value:
        raise RecordError.at(f"{where}: messages", "must be a list that is not empty", value, "give the chat messages")
    for index, message in enumerate(value):
        _check_message(message, f"{where}: messages[{index}]")
    return tuple(value)


def _check_message(message: Any, where: str) -> None:
    if not isinstance(message, dict):
        raise RecordError.at(where, "must be an object", message, "give role and content")
    if message.get("role") not in ROLES:
        raise RecordError.at(f"{where}.role", f"must be one of {', '.join(ROLES)}", message.get("role"), "fix the role")
    content = message.get("content")
    if not (content is None or isinstance(content, str) or _is_content_parts(content)):
        raise RecordError.at(f"{where}.content", "must be text, null or a list of parts", content, "fix the content")
    calls = message.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list):
        raise RecordError.at(f"{where}.tool_calls", "must be a list", calls, "fix the calls")
    for number, call in enumerate(calls):
        _check_call(call, f"{where}.tool_calls[{number}]")


def _is_content_parts(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(part, dict | str) for part in content)


def _check_call(call: Any, where: str) -> None:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RecordError.at(f"{where}.function.name", "must be text", call, "give the called function's name")
    arguments = function.get("arguments")
    if not (arguments is None or isinstance(arguments, str | dict)):
        raise RecordError.at(
            f"{where}.function.arguments", "must be the recorded text or an object", arguments, "fix it"
        )


def _parse_tools(value: Any, where: str) -> tuple[dict[str, Any], ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise RecordError.at(f"{where}: tools", "must be a list of objects", value, "fix the tool declarations")
    return tuple(value)


def _parse_labels(value: Any, where: str, steps: Sequence[int] | None) -> dict[int, StepLabel | None]:
    """Labels by message index; `steps` are the indices that must be there exactly, None = any."""
    if value is None:
        return dict.fromkeys(steps or (), None)
    if not isinstance(value, Mapping):
        raise RecordError.at(
            f"{where}: step_labels",
            "must be an object keyed by message index",
            value,
            'write {"<message index>": label}',
        )
    labels: dict[int, StepLabel | None] = {}
    for key, label in value.items():
        at = f'{where}: step_labels["{key}"]'
        labels[_parse_step_key(key, at, steps)] = _parse_label(label, at, "step label")
    for index in steps or ():
        if index not in labels:
            raise RecordError.at(
                f'{where}: step_labels["{index}"]',
                "every assistant message must have a label",
                "no key",
                "add the label, or null where it is unknown",
            )
    return dict(sorted(labels.items()))


def _parse_step_key(key: Any, where: str, steps: Sequence[int] | None) -> int:
    if not (isinstance(key, str) and _MESSAGE_INDEX.fullmatch(key)):
        raise RecordError.at(where, "key must be a message index as text", key, 'use keys such as "2"')
    index = int(key)
    if steps is not None and index not in steps:
        raise RecordError.at(
            where,
            "key must be the index of an assistant message",
            index,
            f"steps here are {list(steps)[:20]}",
        )
    return index


def _parse_label(value: Any, where: str, noun: str) -> StepLabel | None:
    if value is None:
        return None
    # bool is an int, and 1.0 == 1: only whole numbers written as such are labels.
    if type(value) is int and value in (-1, 0, 1):
        return cast(StepLabel, value)
    raise RecordError.at(where, f"{noun} must be -1, 0 or 1", value, "fix the label, or set it to null where unknown")


def _parse_probs(value: Any, where: str) -> dict[int, Probabilities]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RecordError.at(where, "must be an object keyed by message index", value, "fix it")
    return {
        _parse_step_key(key, f'{where}["{key}"]', None): _parse_probability_vector(probs, f'{where}["{key}"]')
        for key, probs in value.items()
    }


def _parse_probability_vector(value: Any, where: str) -> Probabilities:
    numbers = isinstance(value, list) and len(value) == 3 and all(_is_unit(p) for p in value)
    if not numbers or abs(math.fsum(value) - 1.0) > 1e-3:
        raise RecordError.at(where, "must be [p(-1), p(0), p(+1)] that sums to 1", value, "fix the probabilities")
    return (float(value[0]), float(value[1]), float(value[2]))


def _is_unit(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0


def _parse_unit(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if not _is_unit(value):
        raise RecordError.at(where, "must be a number in [0, 1]", value, "fix the probability")
    return float(value)
