"""How far rule labels and a person agree: steps, outcomes, milestones, each rule, and every disagreement.

Disagreements are listed by rule, since they are how rules get better. Steps that the rules masked are no
disagreement; they are counted beside, with what the person said of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from prm.errors import InputError
from prm.evaluation.agreement.agreement_file import measure_agreement
from prm.evaluation.agreement.align import align
from prm.evaluation.agreement.disputes import key_fields
from prm.evaluation.agreement.kappa import cohen_kappa, observed_agreement
from prm.evaluation.agreement.raters import Rater, labels_of
from prm.evaluation.tallies import as_number
from prm.reach.labels.human_file import STANDINGS, HumanRun
from prm.reach.labels.neutral_id import neutral_identity
from prm.reach.labels.records import milestones_of, rule_of
from prm.reach.labels.sample import strata_of
from prm.types import StepLabel, Trajectory

SCHEMA = "prm.reach.agreement/1"
HUMAN, RULES = "human", "rules"


def agree_with_human(
    human: Sequence[HumanRun], labelled: Sequence[Trajectory], *, bootstrap: int = 2000, seed: int = 0
) -> dict[str, Any]:
    """Compares what a person filled in with what the rules say.

    Args:
        human: The filled-in runs.
        labelled: The file the sample was drawn from.
        bootstrap: Resamplings of the queries for the intervals of agreement and κ; 0 = none.
        seed: Of the resampling.

    Returns:
        schema; steps, outcomes: n, agreement, kappa, kappa_linear, ci95, table (rows human) as in `prm agree`;
        weighted: agreement over all runs, every stratum of the sample at its share of the steps of all runs;
        rules: rule → n, agree, precision, ci95 (Wilson), human (label → n); masked: label → n of the person's;
        unplaced: runs, steps, milestones → n of the person's that the labelled file does not have;
        milestones: name → see `_milestone_block`, and ``all``; disagreements: rule → records.

    Raises:
        InputError: No run of the one is in the other, or the person labelled nothing.
    """
    pairs = list(_paired(human, labelled))
    _check(human, labelled, pairs)
    rater = Rater(HUMAN, tuple(said.prediction for said, _ in pairs))
    rules = Rater(RULES, tuple(labels_of(run) for _, run in pairs), tuple(run for _, run in pairs))
    agreement = measure_agreement(align([rater, rules]), bootstrap=bootstrap, seed=seed, disputed=0)
    return {
        "schema": SCHEMA,
        "runs": {"human": len(human), "compared": len(pairs), "labelled_by_rules": len(labelled)},
        "steps": _only_pair(agreement["steps"]),
        "outcomes": _only_pair(agreement["outcomes"]),
        "weighted": {"agreement": _weighted_agreement(pairs, labelled)},
        "rules": _by_rule(pairs),
        "masked": _masked(pairs),
        "unplaced": _unplaced(human, pairs),
        "milestones": _milestones(pairs),
        "disagreements": _disagreements(pairs),
    }


Pair = tuple[HumanRun, Trajectory]
"""What a person said of a run, and the run with its rule labels."""


def _paired(human: Sequence[HumanRun], labelled: Sequence[Trajectory]) -> Iterator[Pair]:
    """The filled-in runs that are in the labelled file, each under its own identity again."""
    by_key = {neutral_identity(run.identity).key: run for run in labelled} | {run.key: run for run in labelled}
    for said in human:
        run = by_key.get(said.identity.key)
        if run is not None:
            yield replace(said, identity=run.identity), run


def _check(human: Sequence[HumanRun], labelled: Sequence[Trajectory], pairs: Sequence[Pair]) -> None:
    if not pairs:
        first = labelled[0].key if labelled else None
        got = human[0].identity.key if human else None
        raise InputError.at(
            "prm reach agree", f"runs must be those of the labelled file, like {first}", got, "check it"
        )
    if not any(said.steps or said.outcome is not None for said, _ in pairs):
        rule = "the person must have labelled something"
        raise InputError.at("prm reach agree", rule, "no label", "fill in the column or the object of labels")


def _only_pair(block: Mapping[str, Any]) -> dict[str, Any]:
    return dict(block["overall"]["pairs"][0])


def _compared(pairs: Sequence[Pair]) -> Iterator[tuple[HumanRun, Trajectory, int, StepLabel, StepLabel | None]]:
    """(human, run, message, the person's label, the rule's label) of each step that the person labelled."""
    for said, run in pairs:
        for index, label in sorted(said.steps.items()):
            if index in run.step_labels:
                yield said, run, index, label, run.step_labels[index]


def _by_rule(pairs: Sequence[Pair]) -> dict[str, Any]:
    from scipy.stats import binomtest

    given: dict[str, Counter[str]] = defaultdict(Counter)
    hits: Counter[str] = Counter()
    for _, run, index, label, by_rule in _compared(pairs):
        if by_rule is not None:
            rule = rule_of(run, index)
            given[rule][str(label)] += 1
            hits[rule] += label == by_rule
    blocks: dict[str, Any] = {}
    for rule in sorted(given):
        n = given[rule].total()
        interval = binomtest(hits[rule], n).proportion_ci(method="wilson")
        blocks[rule] = {
            "n": n,
            "agree": hits[rule],
            "precision": hits[rule] / n,
            "ci95": [float(interval.low), float(interval.high)],
            "human": dict(sorted(given[rule].items())),
        }
    return blocks


def _masked(pairs: Sequence[Pair]) -> dict[str, int]:
    counts = Counter(str(label) for *_, label, by_rule in _compared(pairs) if by_rule is None)
    return dict(sorted(counts.items()))


def _unplaced(human: Sequence[HumanRun], pairs: Sequence[Pair]) -> dict[str, int]:
    """How many labels of the person's no label by rule stands against: no such run, step or milestone."""
    steps = sum(len(said.steps.keys() - run.step_labels.keys()) for said, run in pairs)
    milestones = sum(len(said.milestones.keys() - milestones_of(run).keys()) for said, run in pairs)
    return {"runs": len(human) - len(pairs), "steps": steps, "milestones": milestones}


def _weighted_agreement(pairs: Sequence[Pair], labelled: Sequence[Trajectory]) -> float | None:
    """Σ over strata of (share of all rule-labelled steps) × (agreement in the stratum's runs of the sample).

    Strata that the person labelled nothing of are left out. None where nothing was compared.
    """
    strata = strata_of(labelled)
    steps: Counter[Any] = Counter()
    for run in labelled:
        steps[strata[run.key]] += sum(label is not None for label in run.step_labels.values())
    seen: Counter[Any] = Counter()
    hits: Counter[Any] = Counter()
    for _, run, _, label, by_rule in _compared(pairs):
        if by_rule is not None:
            seen[strata[run.key]] += 1
            hits[strata[run.key]] += label == by_rule
    total = sum(steps[stratum] for stratum in seen)
    return sum(steps[s] / total * hits[s] / seen[s] for s in seen) if total else None


def _milestones(pairs: Sequence[Pair]) -> dict[str, Any]:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for said, run in pairs:
        standings = milestones_of(run)
        for name, standing in said.milestones.items():
            # What the rules could not score is no disagreement.
            if standings.get(name) in STANDINGS and standings[name] != "unscorable":
                found[name].append((standing, standings[name]))
    blocks = {name: _milestone_block(verdicts) for name, verdicts in sorted(found.items())}
    every = [verdict for verdicts in found.values() for verdict in verdicts]
    return {**blocks, "all": _milestone_block(every)} if every else {}


def _milestone_block(verdicts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """n, agreement, kappa (None where chance agreement is 1), and disagreements as "human → rules" → n."""
    table = np.zeros((len(STANDINGS), len(STANDINGS)))
    for human, rules in verdicts:
        table[STANDINGS.index(human), STANDINGS.index(rules)] += 1
    apart = Counter(f"{human} → {rules}" for human, rules in verdicts if human != rules)
    return {
        "n": len(verdicts),
        "agreement": as_number(float(observed_agreement(table))),
        "kappa": as_number(float(cohen_kappa(table))),
        "apart": dict(apart.most_common()),
    }


def _disagreements(pairs: Sequence[Pair]) -> dict[str, list[dict[str, Any]]]:
    """Rule → the steps where the person says otherwise, rules with the most of them first."""
    listed: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for said, run, index, label, by_rule in _compared(pairs):
        if by_rule is not None and label != by_rule:
            record: dict[str, Any] = {
                **key_fields(run.identity),
                "message_index": index,
                "human": label,
                "rules": by_rule,
            }
            note = run.label_notes[str(index)] if rule_of(run, index) else {}
            record |= {name: note[name] for name in ("why", "evidence") if name in note}
            if index in said.notes:
                record["note"] = said.notes[index]
            listed[rule_of(run, index)].append(record)
    return dict(sorted(listed.items(), key=lambda item: (-len(item[1]), item[0])))
