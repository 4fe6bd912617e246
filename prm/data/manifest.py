"""`manifest.json` of a build: from what, by which options, into what; with hashes, and no dates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from prm.data.spool import Entry, Spool
from prm.types import LABELS
from prm.version import __version__

MANIFEST_NAME = "manifest.json"
SCHEMA = "prm.build/1"


@dataclass(slots=True)
class PartCount:
    """What one output file holds; grows with each record that is written to it."""

    trajectories: int = 0
    queries: set[str] = field(default_factory=set)
    labels: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    by_source: Counter[str] = field(default_factory=Counter)
    generators: Counter[str] = field(default_factory=Counter)
    hash: Any = field(default_factory=sha256)

    def add(self, entry: Entry, query: str, line: bytes) -> None:
        """Counts one record."""
        self.trajectories += 1
        self.queries.add(query)
        self.labels.update(dict(zip(_NAMES, entry.labels, strict=True)))
        self.outcomes["unknown" if entry.outcome is None else str(entry.outcome)] += 1
        self.by_source[entry.source] += 1
        self.generators[entry.generator or "unknown"] += 1
        self.hash.update(line)

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sha256": self.hash.hexdigest(),
            "trajectories": self.trajectories,
            "queries": len(self.queries),
            "steps": sum(self.labels.values()),
            "label_counts": {name: self.labels[name] for name in _NAMES},
            "outcome_counts": {name: self.outcomes[name] for name in _NAMES},
            "by_source": dict(sorted(self.by_source.items())),
            "generators": dict(sorted(self.generators.items())),
        }


_NAMES = (*(str(label) for label in LABELS), "unknown")


def request_of(sources: Sequence[str], options: Mapping[str, Any], skips_bad: bool) -> dict[str, Any]:
    """What decides the bytes of a build: options, and each source's hash (hub ids have none: null)."""
    inputs = [{"source": source, "sha256": _hash_of(Path(source))} for source in sources]
    return {"inputs": inputs, "options": dict(options), "skips_bad_records": skips_bad}


def _hash_of(path: Path) -> str | None:
    return sha256_of_file(path) if path.is_file() else None


def sha256_of_file(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    total = sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def manifest_of(
    request: Mapping[str, Any],
    spool: Spool,
    groups: tuple[Mapping[str, str], Mapping[str, str]],
    left_out: Mapping[str, int],
    outputs: Mapping[str, PartCount],
) -> dict[str, Any]:
    """The manifest's plain values; `groups`: the queries after merging, the units kept whole."""
    files = {name: outputs[name].as_dict() for name in sorted(outputs)}
    return {
        "schema": SCHEMA,
        "prm_version": __version__,
        "request": json.loads(json.dumps(request)),
        "protocol": spool.protocol,
        "records": {
            "read": dict(sorted(spool.records_of.items())),
            "sha256": spool.sha256,
            "left_out": dict(left_out),
        },
        "queries": {
            "named": spool.groups.named,
            "after_merging": len(set(groups[0].values())),
            "kept_whole": len(set(groups[1].values())),
        },
        "outputs": files,
        "split_sha256": sha256(json.dumps({name: files[name]["sha256"] for name in files}).encode()).hexdigest(),
    }


def is_same_build(folder: Path, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The folder's manifest, if it answers the same request and its files are as it says; else None."""
    path = folder / MANIFEST_NAME
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or manifest.get("request") != json.loads(json.dumps(request)):
        return None
    files = manifest.get("outputs")
    if manifest.get("schema") != SCHEMA or not isinstance(files, dict):
        return None
    return manifest if all(_hash_of(folder / name) == files[name]["sha256"] for name in files) else None
