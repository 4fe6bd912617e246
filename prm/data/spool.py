"""All records of a build in one file of canonical lines, with what the split needs of each in memory.

Sources are read once; the parts are then copied from here byte for byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from prm.data.digest import digest
from prm.data.jsonl import dump_line
from prm.data.protocol import OneProtocol, mask_after_first_error, name_protocol
from prm.data.queries import QueryGroups, query_text
from prm.data.records import dump_trajectory
from prm.data.sources import BadRecords, Loaded
from prm.errors import RecordError
from prm.types import Protocol, Trajectory

_TEXT_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of the spool: where its line is, and what splits and counts need of it."""

    offset: int
    length: int
    query: str
    source: str
    generator: str | None
    outcome: int | None
    labels: tuple[int, int, int, int]
    """Steps labelled −1, 0, +1, unknown."""


@dataclass(slots=True)
class Spool:
    """What `fill_spool` gives.

    Attributes:
        entries: One a record, in input order.
        groups: Which queries are one.
        texts: Query name → its text, where texts were asked for.
        duplicates: Records left out because an equal one came before.
    """

    path: Path
    entries: list[Entry] = field(default_factory=list)
    groups: QueryGroups = field(default_factory=QueryGroups)
    texts: dict[str, str] = field(default_factory=dict)
    protocol: Protocol | None = None
    duplicates: int = 0
    records_of: Counter[str] = field(default_factory=Counter)
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class SpoolOptions:
    """What is done to each record on its way in.

    Attributes:
        label_protocol: Protocol of labelled records that name none.
        first_errors_only: Labels after the first −1 become unknown.
        holdout_key: Dotted path of a record key whose values are kept whole, or None.
        keep_texts: Whether the queries' texts are needed.
    """

    label_protocol: Protocol | None = None
    first_errors_only: bool = False
    holdout_key: str | None = None
    keep_texts: bool = False


def fill_spool(path: Path, loaded: Iterable[Loaded], options: SpoolOptions, bad: BadRecords) -> Spool:
    """Writes every record to `path` and takes note of it.

    Raises:
        RecordError: A key stands twice with different content, or the hold-out key is missing, and `bad`
            refuses.
        ProtocolError: Labels of different protocols.
    """
    spool, seen, protocols, total = Spool(path), dict[int, int](), OneProtocol(), sha256()
    offset = 0
    with path.open("wb") as stream:
        for item in loaded:
            trajectory = _prepare(item.trajectory, options)
            try:
                line, group_value = (
                    _line_of(trajectory, item.where),
                    _held_value(trajectory, options, item.where),
                )
                new = _is_new(trajectory, line, seen, item.where)
            except RecordError as error:
                bad.put(item.row, error)
                continue
            spool.records_of[item.source] += 1
            if not new:
                spool.duplicates += 1
                continue
            protocols.admit(trajectory, item.where)
            _note(spool, trajectory, offset, len(line), group_value, options)
            stream.write(line)
            total.update(line)
            offset += len(line)
    spool.protocol, spool.sha256 = protocols.protocol, total.hexdigest()
    return spool


def _prepare(trajectory: Trajectory, options: SpoolOptions) -> Trajectory:
    if options.label_protocol is not None:
        trajectory = name_protocol(trajectory, options.label_protocol)
    return mask_after_first_error(trajectory) if options.first_errors_only else trajectory


def _line_of(trajectory: Trajectory, where: str) -> bytes:
    try:
        return dump_line(dump_trajectory(trajectory))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError.at(where, f"must be writable as JSON ({error})", "other values", "fix the reader") from None


def _is_new(trajectory: Trajectory, line: bytes, seen: dict[int, int], where: str) -> bool:
    """Whether the record's key is new; an equal record is a duplicate.

    Raises:
        RecordError: The key stands in another record with other content.
    """
    key, content = digest(trajectory.key), int.from_bytes(sha256(line).digest()[:8], "big")
    if key not in seen:
        seen[key] = content
        return True
    if seen[key] != content:
        name = " / ".join(trajectory.key)
        raise RecordError.at(
            f"{where}: key", "must be unique over all sources", name, "give the records ids of their own"
        )
    return False


def _note(
    spool: Spool,
    trajectory: Trajectory,
    offset: int,
    length: int,
    group_value: str | None,
    options: SpoolOptions,
) -> None:
    query = spool.groups.add(trajectory)
    if group_value is not None:
        spool.groups.hold_together(query, group_value)
    if options.keep_texts:
        spool.texts.setdefault(query, query_text(trajectory)[:_TEXT_CHARACTERS])
    counts = Counter(trajectory.step_labels.values())
    labels = (counts[-1], counts[0], counts[1], counts[None])
    identity = trajectory.identity
    spool.entries.append(
        Entry(offset, length, query, trajectory.source, identity.generator, trajectory.final_label, labels)
    )


def _held_value(trajectory: Trajectory, options: SpoolOptions, where: str) -> str | None:
    if options.holdout_key is None:
        return None
    value: Any = dump_trajectory(trajectory)
    for name in options.holdout_key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        raise RecordError.at(
            f"{where}: {options.holdout_key}",
            "every record must have the hold-out key",
            None,
            "add it, or use another key",
        )
    return f"{digest(value):016x}"
