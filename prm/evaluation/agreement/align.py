"""Raters' records side by side: which run is which, which of its messages are compared, who said what.

Runs find each other by key alone; of a rater's records for one key the newest counts (`prm.evaluation.matching`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prm.errors import InputError
from prm.evaluation.agreement.raters import Rater
from prm.evaluation.agreement.ratings import Ratings
from prm.evaluation.arrays import (
    ABSENT,
    FAILED,
    MISSING,
    GoldArrays,
    Ints,
    JudgeArrays,
    Labels,
    encode_gold,
    encode_judge,
)
from prm.evaluation.matching import Matched, common_protocol, match
from prm.types import LABELS, Key, Prediction, Protocol, RunIdentity, Trajectory


@dataclass(frozen=True, slots=True)
class Aligned:
    """R raters on N runs with S steps.

    Attributes:
        names: [R] the raters.
        runs: [N] every run that some rater has, in order of first appearance, without labels: with `messages` where
            some rater's record has them.
        records: [R][N] each rater's record that counts, or None.
        arrays: The runs as arrays; `labels` and `outcome` are all MISSING.
        steps: The step labels. Where a run has messages, its steps are its assistant messages; else every message
            that some rater labelled.
        outcomes: The labels of whole runs.
        sources: Names of the sources.
        protocol: The one label protocol that records name, or None.
        counts: Rater → what was counted of its records (see `rater_counts`).
    """

    names: tuple[str, ...]
    runs: tuple[Trajectory, ...]
    records: tuple[tuple[Prediction | None, ...], ...]
    arrays: GoldArrays
    steps: Ratings
    outcomes: Ratings
    sources: tuple[str, ...]
    protocol: Protocol | None
    counts: Mapping[str, Mapping[str, object]]


def align(raters: Sequence[Rater]) -> Aligned:
    """The raters' labels side by side.

    Raises:
        InputError: A rater shares no labelled step and no outcome with any other, or two records of one run have
            different assistant messages.
        ProtocolError: Labels follow different protocols.
    """
    protocol = common_protocol((rater.name, rater.records) for rater in raters)
    found = _runs(raters)
    matched = [match(found, rater.records, rater.name) for rater in raters]
    records = tuple(m.predictions for m in matched)
    runs = tuple(_with_steps(run, said) for run, said in zip(found, zip(*records, strict=True), strict=True))
    arrays, sources, _ = encode_gold(runs)
    judges = [encode_judge(arrays, m.predictions) for m in matched]
    aligned = Aligned(
        names=tuple(rater.name for rater in raters),
        runs=runs,
        records=records,
        arrays=arrays,
        steps=_ratings(arrays, [judge.labels for judge in judges], arrays.owner),
        outcomes=_ratings(arrays, [judge.final for judge in judges], np.arange(len(runs))),
        sources=tuple(sources),
        protocol=protocol,
        counts={r.name: rater_counts(r, m, j) for r, m, j in zip(raters, matched, judges, strict=True)},
    )
    _check_overlap(aligned)
    return aligned


def _runs(raters: Sequence[Rater]) -> list[Trajectory]:
    """One trajectory for each key, its identity completed from all records."""
    best: dict[Key, Trajectory] = {}
    identities: dict[Key, RunIdentity] = {}
    for rater in raters:
        for run in rater.runs:
            known = best.get(run.key)
            best[run.key] = run if known is None else _fuller(known, run, rater.name)
        for record in rater.records:
            key = record.key
            known_identity = identities.get(key)
            identities[key] = record.identity if known_identity is None else _merged(known_identity, record.identity)
    return [
        replace(best.get(key) or Trajectory(identity, (), {}), identity=identity)
        for key, identity in identities.items()
    ]


def _fuller(known: Trajectory, other: Trajectory, where: str) -> Trajectory:
    """The one with messages; the first where both have them."""
    if known.messages and other.messages and known.step_labels.keys() != other.step_labels.keys():
        raise InputError.at(
            f"{where}: {' / '.join(other.key)}",
            f"assistant messages must be those of the other record ({list(known.step_labels)[:10]})",
            list(other.step_labels)[:10],
            "compare records of the same run",
        )
    return known if known.messages or not other.messages else other


def _merged(known: RunIdentity, other: RunIdentity) -> RunIdentity:
    """What one record does not say of the run, another may."""
    if known == other:
        return known
    return RunIdentity(
        data_source=known.data_source or other.data_source,
        query_index=other.query_index if known.query_index is None else known.query_index,
        sample_index=other.sample_index if known.sample_index is None else known.sample_index,
        id=known.id,
        dataset=other.dataset if known.dataset is None else known.dataset,
        generator=other.generator if known.generator is None else known.generator,
    )


def _with_steps(run: Trajectory, said: Sequence[Prediction | None]) -> Trajectory:
    labelled = {index for record in said if record is not None for index in record.step_labels}
    indices = run.step_labels if run.messages else sorted(labelled)
    return replace(run, step_labels=dict.fromkeys(indices, None), final_label=None, step_label_probs={})


def _ratings(arrays: GoldArrays, labels: Sequence[Labels], owner: Ints) -> Ratings:
    return Ratings(np.stack(labels), arrays.query[owner], arrays.source[owner], arrays.n_queries)


def rater_counts(rater: Rater, matched: Matched, judge: JudgeArrays) -> dict[str, object]:
    """What became of a rater's records.

    Returns:
        records; superseded (replaced by a newer one of the same run); trajectories that a record counts for; failed
        (of these, records without usable labels); steps and outcomes labelled, each by label;
        ignored_labels (on messages that are no steps).
    """
    return {
        "records": len(rater.records),
        "superseded": matched.superseded,
        "trajectories": int(np.sum(judge.status != ABSENT)),
        "failed": int(np.sum(judge.status == FAILED)),
        "steps": int(np.sum(judge.labels != MISSING)),
        "outcomes": int(np.sum(judge.final != MISSING)),
        "ignored_labels": int(judge.foreign_labels.sum()),
        "label_counts": {str(label): int(np.sum(judge.labels == label)) for label in LABELS},
        "outcome_counts": {str(label): int(np.sum(judge.final == label)) for label in LABELS},
    }


def _check_overlap(aligned: Aligned) -> None:
    """Refuses a rater who can be compared with nobody."""
    shared = _shared(aligned.steps) + _shared(aligned.outcomes)
    alone = [name for name, count in zip(aligned.names, shared.tolist(), strict=True) if count == 0]
    if not alone:
        return
    # Of several, the one that labelled least: if a file holds no labels at all, that is what is wrong.
    name = min(alone, key=lambda rater: (aligned.counts[rater]["steps"], aligned.counts[rater]["outcomes"]))
    counts = aligned.counts[name]
    raise InputError.at(
        name,
        "a rater must share a labelled step or outcome with another rater",
        f"none of {counts['steps']} steps and {counts['outcomes']} outcomes",
        f"give files on the same runs ({counts['failed']} of {counts['trajectories']} records failed)",
    )


def _shared(ratings: Ratings) -> Ints:
    """[R] how many units each rater labelled that another rater labelled too."""
    shared = (ratings.labels != MISSING) & (ratings.n_labelled >= 2)
    return np.asarray(np.sum(shared, axis=1, dtype=np.int64))
