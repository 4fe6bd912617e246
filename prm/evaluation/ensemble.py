"""Ensemble judges: one prediction from those of several judges, by vote or by the mean of their probabilities.

An ensemble labels the gold's own steps only. Ties go to the lower label: where judges are split, the more
cautious one is believed. Shares of votes are no probabilities and are never written as such.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from prm.errors import ConfigError
from prm.evaluation.arrays import (
    ABSENT,
    MISSING,
    Floats,
    GoldArrays,
    JudgeArrays,
    Labels,
    as_probabilities,
    encode_gold,
    encode_judge,
)
from prm.evaluation.matching import common_protocol, match
from prm.evaluation.sources import check_name
from prm.evaluation.tallies import as_number, mean_of_defined
from prm.types import LABELS, Prediction, Probabilities, Protocol, StepLabel, Trajectory

EVERY_JUDGE = "*"
"""In ``NAME=*``: all judges are members."""

_TIE_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class _Members:
    """M judges on the gold's N trajectories with S steps."""

    gold: GoldArrays
    judges: Mapping[str, JudgeArrays]
    protocol: Protocol | None

    @property
    def labels(self) -> Labels:
        """[M, S]."""
        return np.stack([judge.labels for judge in self.judges.values()])

    @property
    def finals(self) -> Labels:
        """[M, N]."""
        return np.stack([judge.final for judge in self.judges.values()])


@dataclass(frozen=True, slots=True)
class _Said:
    """What an ensemble says: labels [S] and [N] with MISSING, probabilities [S, 3] and [N] with NaN."""

    labels: Labels
    finals: Labels
    probs: Floats | None = None
    final_probs: Floats | None = None


def vote_ensemble(gold: Sequence[Trajectory], members: Mapping[str, Sequence[Prediction]]) -> list[Prediction]:
    """The label with most votes among the members that gave one, for each step and for the outcome.

    Args:
        gold: The trajectories to predict; of their labels only the step indices are used.
        members: Judge → its predictions, matched by key.

    Returns:
        A prediction for each trajectory that some member has a record of: failed where no member labelled anything,
        partial where no member labelled some step. A tie goes to the lower label.

    Raises:
        ConfigError: There are fewer than two members.
        InputError: None of a member's predictions is for the gold.
        ProtocolError: Members follow different protocols.
    """
    encoded = _encode(gold, members)
    return _predictions(gold, encoded, _Said(majority_label(encoded.labels), majority_label(encoded.finals)))


def mean_ensemble(gold: Sequence[Trajectory], members: Mapping[str, Sequence[Prediction]]) -> list[Prediction]:
    """The mean of the members' probabilities over those that give them, and the likeliest label.

    A step's label is the one of the largest mean probability, a tie going to the lower; the outcome is +1 if the
    mean `final_prob` is at least 0.5, else −1. Where no member gives a probability, the members' labels are voted on.

    Args:
        gold, members: See `vote_ensemble`.

    Returns:
        See `vote_ensemble`; with `step_probs` and `final_prob` where there are any.

    Raises:
        ConfigError: A member gives no step probabilities at all, or there are fewer than two members.
        InputError, ProtocolError: See `vote_ensemble`.
    """
    encoded = _encode(gold, members)
    probs = mean_of_defined(np.stack([_probabilities(name, judge) for name, judge in encoded.judges.items()]))
    final_probs = mean_of_defined(np.stack([judge.final_prob for judge in encoded.judges.values()]))
    # Rounded, so that the order of the members does not decide a tie.
    likeliest = np.argmax(np.round(np.nan_to_num(probs), _TIE_DECIMALS), axis=1) - 1
    successful = np.where(np.round(final_probs, _TIE_DECIMALS) >= 0.5, 1, -1)
    said = _Said(
        labels=np.where(np.isnan(probs[:, 0]), majority_label(encoded.labels), likeliest).astype(np.int8),
        finals=np.where(np.isnan(final_probs), majority_label(encoded.finals), successful).astype(np.int8),
        probs=probs,
        final_probs=final_probs,
    )
    return _predictions(gold, encoded, said)


def majority_label(labels: Labels) -> Labels:
    """The most frequent label of each unit, a tie going to the lower one.

    Args:
        labels: [M, U] −1, 0, +1 or MISSING.

    Returns:
        [U]; MISSING where nobody gave a label.
    """
    votes = np.stack([np.sum(labels == label, axis=0) for label in LABELS])
    # argmax finds the first of equal counts, and labels stand in ascending order.
    return np.where(votes.any(axis=0), np.argmax(votes, axis=0) - 1, MISSING).astype(np.int8)


def parse_ensembles(texts: Sequence[str], judges: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Ensemble → its members, from ``NAME=judge_a,judge_b,…`` texts; ``NAME=*`` takes all judges.

    Args:
        texts: As written on the command line.
        judges: The judges there are, in order.

    Raises:
        ConfigError: A text has another form, a name is used already, a judge is unknown or named twice, or fewer
            than two are named.
    """
    ensembles: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, _, listed = text.partition("=")
        name = name.strip()
        if not (name and listed.strip()):
            raise ConfigError.at("--ensemble", "must be NAME=JUDGE,JUDGE,…", text, "write for example all=*")
        check_name("--ensemble", name)
        if name in judges or name in ensembles:
            raise ConfigError.at("--ensemble", "every judge and ensemble must have its own name", name, "rename it")
        ensembles[name] = _members_named(name, listed, judges)
    return ensembles


def _members_named(name: str, listed: str, judges: Collection[str]) -> tuple[str, ...]:
    named = [text.strip() for text in listed.split(",")]
    members = tuple(judges) if named == [EVERY_JUDGE] else tuple(named)
    where = f"--ensemble {name}"
    for member in members:
        if member not in judges:
            raise ConfigError.at(where, f"members must be judges ({', '.join(judges)})", member, "name one of them")
        if members.count(member) > 1:
            raise ConfigError.at(where, "each member must be named once", member, "remove one of the two")
    if len(members) < 2:
        raise ConfigError.at(where, "at least two members are needed", list(members), "name another judge")
    return members


def _encode(gold: Sequence[Trajectory], members: Mapping[str, Sequence[Prediction]]) -> _Members:
    if len(members) < 2:
        raise ConfigError.at("ensemble", "at least two members are needed", list(members), "name another judge")
    arrays, _, _ = encode_gold(gold)
    judges = {name: encode_judge(arrays, match(gold, said, name).predictions) for name, said in members.items()}
    return _Members(arrays, judges, common_protocol(members.items()))


def _probabilities(name: str, judge: JudgeArrays) -> Floats:
    if judge.probs is None or np.isnan(judge.probs).all():
        rule = "a member of a mean-probability ensemble must give step_probs"
        raise ConfigError.at(name, rule, None, "leave it out, or use a vote")
    return judge.probs


def _predictions(gold: Sequence[Trajectory], members: _Members, said: _Said) -> list[Prediction]:
    heard = np.any([judge.status != ABSENT for judge in members.judges.values()], axis=0)
    ends = np.cumsum([len(trajectory.step_labels) for trajectory in gold]).tolist()
    return [
        _prediction(trajectory, members, said, number, slice(end - len(trajectory.step_labels), end))
        for number, (trajectory, end) in enumerate(zip(gold, ends, strict=True))
        if heard[number]
    ]


def _prediction(trajectory: Trajectory, members: _Members, said: _Said, number: int, steps: slice) -> Prediction:
    indices = members.gold.message_index[steps].tolist()
    labels = {
        index: _as_label(code)
        for index, code in zip(indices, said.labels[steps].tolist(), strict=True)
        if code != MISSING
    }
    final = None if said.finals[number] == MISSING else _as_label(int(said.finals[number]))
    failed = not labels and final is None
    return Prediction(
        identity=trajectory.identity,
        step_labels=labels,
        final_label=final,
        step_probs={} if said.probs is None else _given_rows(indices, said.probs[steps]),
        final_prob=None if said.final_probs is None else as_number(said.final_probs[number]),
        status="failed" if failed else "partial" if len(labels) < len(indices) else "ok",
        reason="no member gave a usable label" if failed else None,
        protocol=members.protocol,
    )


def _given_rows(indices: Sequence[int], probs: Floats) -> dict[int, Probabilities]:
    return {index: as_probabilities(row) for index, row in zip(indices, probs, strict=True) if not np.isnan(row).any()}


def _as_label(code: int) -> StepLabel:
    return LABELS[code + 1]
