"""What a judge must beat: predictions that need no understanding of the run.

`always_positive` needs no data. `majority` and `position_prior` are read off label counts, `bag_of_words`
(see its module) is a classifier on words; each is fitted on a training file, else on all other queries than
the one it predicts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from prm.errors import ConfigError, InputError
from prm.evaluation.arrays import Floats, as_probabilities, query_of
from prm.types import LABELS, Prediction, StepLabel, Trajectory

ALWAYS_POSITIVE = "always_positive"
FITTED = ("majority", "position_prior", "bag_of_words")
"""Baselines that are fitted, by name."""

MAX_POSITION = 30
"""Steps from this ordinal on share one prior: later positions are rare."""

Cell: TypeAlias = Hashable
CellOf: TypeAlias = Callable[[Trajectory, "int | None"], Cell]
"""(trajectory, ordinal of a step, None for the outcome) → the cell whose labels are counted together."""

Table: TypeAlias = Mapping[Cell, Floats]
"""Cell → [3] counts of −1, 0, +1."""


def always_positive(gold: Sequence[Trajectory]) -> list[Prediction]:
    """+1 for every step and every outcome."""
    return [Prediction(t.identity, dict.fromkeys(t.step_labels, 1), final_label=1) for t in gold]


def majority(gold: Sequence[Trajectory], train: Sequence[Trajectory] | None = None) -> list[Prediction]:
    """The most frequent step label and outcome of each source, as hard labels.

    Args:
        gold: What is predicted.
        train: What is counted; None = the gold's other queries.

    Raises:
        InputError: Nothing is left to count.
    """
    return [_hard(t, _source_cell, table) for t, table in _tables(gold, train, _source_cell)]


def position_prior(gold: Sequence[Trajectory], train: Sequence[Trajectory] | None = None) -> list[Prediction]:
    """The label distribution at each ordinal (`MAX_POSITION` and later as one), with its likeliest label.

    Args and raises: see `majority`.
    """
    return [_soft(t, _position_cell, table) for t, table in _tables(gold, train, _position_cell)]


def fitted_baselines(
    gold: Sequence[Trajectory], names: Iterable[str], train: Sequence[Trajectory] | None, train_name: str
) -> dict[str, list[Prediction]]:
    """The named baselines under the names that metrics.json gives them, e.g. "majority (leave-query-out)".

    Args:
        gold: What is predicted.
        names: Of `FITTED`.
        train: The trajectories of the training file; None = leave the query out.
        train_name: That file's name.

    Raises:
        ConfigError: A name is unknown.
        InputError: The training file shares a query with the gold, or there is too little to fit on.
    """
    if train is not None:
        _check_no_overlap(gold, train, train_name)
    suffix = "leave-query-out" if train is None else f"fitted on {train_name}"
    return {f"{name} ({suffix})": _fitted(name, gold, train) for name in dict.fromkeys(names)}


def _fitted(name: str, gold: Sequence[Trajectory], train: Sequence[Trajectory] | None) -> list[Prediction]:
    if name == "majority":
        return majority(gold, train)
    if name == "position_prior":
        return position_prior(gold, train)
    if name == "bag_of_words":
        # scikit-learn's text modules are slow to import and only this baseline needs them.
        from prm.evaluation.bag_of_words import bag_of_words

        return bag_of_words(gold, train)
    raise ConfigError.at("--baseline", f"must be one of {', '.join(FITTED)}", name, "choose one of them")


def _check_no_overlap(gold: Sequence[Trajectory], train: Sequence[Trajectory], train_name: str) -> None:
    keys = {query_of(t) for t in train} | {t.key for t in train}
    shared = keys & ({query_of(t) for t in gold} | {t.key for t in gold})
    if shared:
        raise InputError.at(
            train_name,
            "a baseline must not be fitted on queries of the gold",
            sorted(shared)[0],
            "remove them from one of the two, or leave --baseline-train out",
        )


def _source_cell(trajectory: Trajectory, ordinal: int | None) -> Cell:
    return (trajectory.source, ordinal is None)


def _position_cell(trajectory: Trajectory, ordinal: int | None) -> Cell:
    return None if ordinal is None else min(ordinal, MAX_POSITION)


def _labels_by_ordinal(trajectory: Trajectory) -> list[tuple[int, StepLabel | None]]:
    return list(enumerate(trajectory.step_labels[index] for index in sorted(trajectory.step_labels)))


def _count(trajectories: Iterable[Trajectory], cell_of: CellOf) -> dict[Cell, Floats]:
    """Counts by cell, and over all steps ("steps") and outcomes ("outcomes") for cells that never occur."""
    table: dict[Cell, Floats] = defaultdict(lambda: np.zeros(3))
    for trajectory in trajectories:
        for ordinal, label in [*_labels_by_ordinal(trajectory), (None, trajectory.final_label)]:
            if label is not None:
                table[cell_of(trajectory, ordinal)][LABELS.index(label)] += 1
                table["outcomes" if ordinal is None else "steps"][LABELS.index(label)] += 1
    return dict(table)


def _tables(
    gold: Sequence[Trajectory], train: Sequence[Trajectory] | None, cell_of: CellOf
) -> list[tuple[Trajectory, Table]]:
    """Each gold trajectory with the counts that it may be predicted from."""
    if train is not None:
        table = _checked(_count(train, cell_of))
        return [(trajectory, table) for trajectory in gold]
    total = _count(gold, cell_of)
    groups: dict[Cell, list[Trajectory]] = defaultdict(list)
    for trajectory in gold:
        groups[query_of(trajectory)].append(trajectory)
    without = {query: _checked(_difference(total, _count(own, cell_of))) for query, own in groups.items()}
    return [(trajectory, without[query_of(trajectory)]) for trajectory in gold]


def _difference(total: Table, own: Table) -> dict[Cell, Floats]:
    return {cell: counts - own.get(cell, 0.0) for cell, counts in total.items()}


def _checked(table: dict[Cell, Floats]) -> Table:
    if not table.get("steps", np.zeros(3)).any():
        raise InputError.at("baseline", "needs labelled steps of another query", 0, "give --baseline-train FILE")
    return table


def _distribution(table: Table, cell: Cell, fallback: Cell) -> Floats | None:
    """[3] label shares of a cell, drawn towards the overall shares with the weight of one label."""
    overall = table.get(fallback, np.zeros(3))
    if not overall.any():
        return None
    counts = table.get(cell, np.zeros(3)) + overall / overall.sum()
    return np.asarray(counts / counts.sum())


def _likeliest(shares: Floats | None) -> StepLabel | None:
    return None if shares is None else LABELS[int(np.argmax(shares))]


def _hard(trajectory: Trajectory, cell_of: CellOf, table: Table) -> Prediction:
    soft = _soft(trajectory, cell_of, table)
    return Prediction(soft.identity, soft.step_labels, soft.final_label)


def _soft(trajectory: Trajectory, cell_of: CellOf, table: Table) -> Prediction:
    indices = sorted(trajectory.step_labels)
    shares = {i: _distribution(table, cell_of(trajectory, k), "steps") for k, i in enumerate(indices)}
    outcome = _distribution(table, cell_of(trajectory, None), "outcomes")
    return Prediction(
        trajectory.identity,
        step_labels={i: label for i, s in shares.items() if (label := _likeliest(s)) is not None},
        final_label=_likeliest(outcome),
        step_probs={i: as_probabilities(s) for i, s in shares.items() if s is not None},
        final_prob=None if outcome is None else float(outcome[2]),
    )
