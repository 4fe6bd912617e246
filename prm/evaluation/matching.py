"""Which prediction belongs to which gold trajectory.

By key alone; never by position. Of several records for one key the newest `updated_at` counts, else the last.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from prm.errors import InputError, ProtocolError
from prm.types import Key, Prediction, Protocol, Trajectory

_FRACTION = re.compile(r"\.\d+")


@dataclass(frozen=True, slots=True)
class Matched:
    """One judge's predictions, aligned with the gold.

    Attributes:
        predictions: [N] the record that counts for each gold trajectory, or None.
        unmatched: Records whose key no gold trajectory has.
        superseded: Records that a newer one for the same key replaced.
    """

    predictions: tuple[Prediction | None, ...]
    unmatched: int
    superseded: int


def match(gold: Sequence[Trajectory], predictions: Sequence[Prediction], where: str) -> Matched:
    """Finds the prediction of every gold trajectory; without any predictions, everything is missing.

    Args:
        gold: Trajectories with distinct keys (see `check_distinct`).
        predictions: One judge's records, in file order.
        where: The judge's name, for the message.

    Raises:
        InputError: There are predictions, but none is for a gold trajectory.
    """
    positions = {trajectory.key: position for position, trajectory in enumerate(gold)}
    newest: list[Prediction | None] = [None] * len(gold)
    unmatched = superseded = 0
    for prediction in predictions:
        position = positions.get(prediction.key)
        if position is None:
            unmatched += 1
            continue
        other = newest[position]
        superseded += other is not None
        if other is None or _updated_at(prediction) >= _updated_at(other):
            newest[position] = prediction
    if predictions and unmatched == len(predictions):
        raise InputError.at(
            where,
            "predictions must have the keys of gold trajectories",
            predictions[0].key,
            f"the gold has keys like {gold[0].key if gold else None!r}; give this gold's predictions",
        )
    return Matched(tuple(newest), unmatched, superseded)


def _updated_at(prediction: Prediction) -> float:
    """Seconds since 1970; −inf where the record does not say, so that any dated record is newer."""
    value = prediction.extra.get("updated_at")
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max:
        return float(value)
    if not isinstance(value, str):
        return float("-inf")
    # Python 3.10 reads neither the "Z" that others write for UTC nor other fractions than of 3 or 6 digits.
    text = _FRACTION.sub(lambda found: f"{found[0]:0<7.7}", value.strip().replace("Z", "+00:00"))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return float("-inf")
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def check_distinct(gold: Sequence[Trajectory]) -> None:
    """Refuses gold in which two trajectories have one key.

    Raises:
        InputError: Names the first key that stands twice.
    """
    seen: set[Key] = set()
    for trajectory in gold:
        key = trajectory.key
        if key in seen:
            raise InputError.at("gold", "every trajectory must have its own key", key, "remove one of the two records")
        seen.add(key)


def only_protocol(records: Iterable[Trajectory | Prediction], where: str) -> Protocol | None:
    """The one protocol that the records of a set name; None where none does.

    Raises:
        ProtocolError: Two are named.
    """
    named = {record.protocol for record in records if record.protocol is not None}
    if len(named) > 1:
        raise ProtocolError.at(where, "records must follow one protocol", sorted(named), "evaluate them apart")
    return next(iter(named), None)


def common_protocol(sets: Iterable[tuple[str, Iterable[Trajectory | Prediction]]]) -> Protocol | None:
    """The one protocol that several sets, (name, records) each, name; None where none does.

    Raises:
        ProtocolError: Two are named.
    """
    first: tuple[str, Protocol] | None = None
    for name, records in sets:
        protocol = only_protocol(records, name)
        if protocol is None:
            continue
        if first is None:
            first = (name, protocol)
        elif protocol != first[1]:
            rule = f"labels must follow one protocol ({first[1]}, the protocol of {first[0]})"
            raise ProtocolError.at(name, rule, protocol, "compare like with like")
    return None if first is None else first[1]
