"""One label from several raters: by vote, and where someone has decided, by that decision.

A tie is no majority, so it stays unknown: it is listed for adjudication, never settled by a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from prm.errors import InputError
from prm.evaluation.agreement.align import Aligned
from prm.evaluation.agreement.raters import Rater
from prm.evaluation.arrays import MISSING, Ints, Labels, Mask, encode_judge
from prm.evaluation.matching import common_protocol, match
from prm.types import Prediction


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The consensus on U units (steps, or outcomes).

    Attributes:
        labels: [U] −1, 0, +1, or MISSING where tied, or where nobody labelled.
        votes: [U, 3] how many raters gave each label.
        tied: [U] whether the vote was tied and nobody decided.
        adjudicated: [U] whether the label is that of the adjudication file.
    """

    labels: Labels
    votes: Ints
    tied: Mask
    adjudicated: Mask

    def counts(self) -> dict[str, int]:
        """Units by how their label came about: voted, adjudicated, tied, unlabelled (nobody labelled them)."""
        return {
            "voted": int(np.sum((self.labels != MISSING) & ~self.adjudicated)),
            "adjudicated": int(np.sum(self.adjudicated)),
            "tied": int(np.sum(self.tied)),
            "unlabelled": int(np.sum((self.labels == MISSING) & ~self.tied)),
        }


@dataclass(frozen=True, slots=True)
class Consensus:
    """The verdicts on all steps and runs of `Aligned`.

    Attributes:
        steps: [S].
        outcomes: [N].
        decisions: [N] the record of the adjudication file for each run, or None.
    """

    steps: Verdicts
    outcomes: Verdicts
    decisions: tuple[Prediction | None, ...]

    def counts(self) -> dict[str, Any]:
        """`Verdicts.counts` of both."""
        return {"steps": self.steps.counts(), "outcomes": self.outcomes.counts()}


def majority(votes: Ints) -> Verdicts:
    """The label with most votes of each unit.

    Args:
        votes: [U, 3] how many raters gave each label.
    """
    most = votes.max(axis=1)
    tied = (most > 0) & (np.sum(votes == most[:, None], axis=1) > 1)
    labels = np.where((most == 0) | tied, MISSING, np.argmax(votes, axis=1) - 1).astype(np.int8)
    return Verdicts(labels, votes, tied, np.zeros(len(votes), dtype=np.bool_))


def consensus_by_vote(aligned: Aligned) -> Consensus:
    """The majority label of every step and of every run."""
    undecided = (None,) * len(aligned.runs)
    return Consensus(majority(aligned.steps.votes()), majority(aligned.outcomes.votes()), undecided)


def consensus_by_adjudication(aligned: Aligned, adjudicator: Rater) -> Consensus:
    """What the adjudicator labelled, and the vote for the rest.

    Args:
        aligned: The raters' labels.
        adjudicator: Label records; what is null or absent in them is not decided.

    Raises:
        InputError: A record or label is for a run or step that is not compared.
        ProtocolError: The adjudicator names another protocol than the raters.
    """
    voted = consensus_by_vote(aligned)
    spoken = tuple(record for said in aligned.records for record in said if record is not None)
    common_protocol([("the raters", spoken), (adjudicator.name, adjudicator.records)])
    matched = match(aligned.runs, adjudicator.records, adjudicator.name)
    judge = encode_judge(aligned.arrays, matched.predictions)
    known = {run.key for run in aligned.runs}
    for record in adjudicator.records:
        if record.key not in known:
            rule = "adjudication must be of runs that are compared"
            raise InputError.at(adjudicator.name, rule, record.key, "remove it")
    for number in np.flatnonzero(judge.foreign_labels)[:1]:
        where = f"{adjudicator.name}: {' / '.join(aligned.runs[number].key)}"
        steps = list(aligned.runs[number].step_labels)[:20]
        given = matched.predictions[number]
        wrong = sorted(given.step_labels.keys() - aligned.runs[number].step_labels.keys()) if given else []
        raise InputError.at(where, f"adjudicated steps must be among those compared ({steps})", wrong, "remove them")
    return Consensus(
        steps=_overruled(voted.steps, judge.labels),
        outcomes=_overruled(voted.outcomes, judge.final),
        decisions=matched.predictions,
    )


def _overruled(voted: Verdicts, decided: Labels) -> Verdicts:
    adjudicated = decided != MISSING
    return Verdicts(
        labels=np.where(adjudicated, decided, voted.labels),
        votes=voted.votes,
        tied=voted.tied & ~adjudicated,
        adjudicated=adjudicated,
    )
