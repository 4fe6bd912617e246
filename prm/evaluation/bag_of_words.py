"""The bag-of-words baseline: what a linear classifier reads off the words of a step, without understanding
the run.

Features of a step: TF-IDF of the 1–2-grams of its text and calls, the same of the tool results right before
it, and its position. The outcome is predicted by a second classifier from the run's last step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from prm.data.render import BlockKind, render
from prm.errors import InputError
from prm.evaluation.arrays import MISSING, Floats, Ints, as_probabilities, query_of
from prm.types import LABELS, Prediction, Trajectory

STRENGTHS = (0.1, 1.0, 10.0, 100.0)
"""Inverse regularisation strengths C to choose from, by accuracy under grouped cross-validation."""

N_FOLDS = 5
N_INNER_FOLDS = 3
MAX_CHARACTERS = 8_000  # of a text, half from each end: long tool results would dominate the time
MAX_WORDS = 20_000  # n-grams kept of each kind of text, the most frequent


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of all runs, one after the other.

    Attributes:
        run: [S] number of the run.
        message_index: [S].
        position: [S] ordinal in the run.
        label: [S] −1, 0, +1 or MISSING.
        words: n-gram counts [S, V] of the step's own text, and of the tool results since the step before.
    """

    run: Ints
    message_index: Ints
    position: Ints
    label: Ints
    words: tuple[csr_matrix, csr_matrix]

    def last_of_runs(self) -> Ints:
        """The number of each run's last step."""
        return np.flatnonzero(np.append(self.run[1:] != self.run[:-1], True)[: len(self.run)])


def bag_of_words(gold: Sequence[Trajectory], train: Sequence[Trajectory] | None = None) -> list[Prediction]:
    """Predictions with probabilities for every step and outcome.

    Args:
        gold: What is predicted; with messages.
        train: What is fitted on; None = `N_FOLDS`-fold cross-validation over the gold's queries, so that no
        query is
            predicted by a classifier that saw it.

    Raises:
        InputError: A record has no messages, there are fewer than two queries, or nothing is labelled.
    """
    runs = [*gold, *(train or ())]
    _check_messages(runs)
    steps = read_steps(runs)
    queries = _numbered([query_of(trajectory) for trajectory in runs])
    outcomes = np.array([MISSING if t.final_label is None else t.final_label for t in runs], dtype=np.int64)
    last = steps.last_of_runs()
    fitted_on = np.arange(len(gold), len(runs)) if train is not None else None
    folds = _folds(queries[: len(gold)], fitted_on)
    step_rows = _predict(steps, np.arange(len(steps.run)), steps.label, queries, folds)
    outcome_rows = _predict(steps, last, outcomes[steps.run[last]], queries, folds)
    of_run = dict(zip(steps.run[last].tolist(), outcome_rows, strict=True))
    return [_prediction(t, number, steps, step_rows, of_run.get(number)) for number, t in enumerate(gold)]


def _check_messages(trajectories: Sequence[Trajectory]) -> None:
    for trajectory in trajectories:
        if not trajectory.messages:
            raise InputError.at(
                "bag_of_words",
                "records must have messages",
                trajectory.key,
                "give full trajectories, not labels only",
            )


def _numbered(names: Sequence[tuple[str, ...]]) -> Ints:
    ordered = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([ordered[name] for name in names], dtype=np.int64)


def read_steps(runs: Sequence[Trajectory]) -> Steps:
    """The steps of the runs with their words counted.

    Counting all texts at once shares only the vocabulary; which words are used, and their weights, is fitted
    later.
    """
    places: list[tuple[int, int, int, int]] = []
    texts: list[str] = []
    before: list[str] = []
    for run, trajectory in enumerate(runs):
        results: list[str] = []
        ordinal = 0
        for block in render(trajectory):
            if block.kind is BlockKind.TOOL:
                results.append(block.body)
            elif block.kind is BlockKind.STEP and block.message_index is not None:
                label = trajectory.step_labels.get(block.message_index)
                places.append((run, block.message_index, ordinal, MISSING if label is None else label))
                texts.append(_shortened(block.body))
                before.append(_shortened("\n".join(results)))
                results, ordinal = [], ordinal + 1
    columns = np.array(places, dtype=np.int64).reshape(-1, 4).T
    return Steps(columns[0], columns[1], columns[2], columns[3], words=(_count_words(texts), _count_words(before)))


def _shortened(text: str) -> str:
    half = MAX_CHARACTERS // 2
    return text if len(text) <= MAX_CHARACTERS else f"{text[:half]} {text[-half:]}"


def _count_words(texts: Sequence[str]) -> csr_matrix:
    try:
        return CountVectorizer(ngram_range=(1, 2)).fit_transform(texts)
    except ValueError:
        return csr_matrix((len(texts), 0))  # scikit-learn refuses texts without a single word


def _folds(queries: Ints, fitted_on: Ints | None) -> list[tuple[Ints, Ints]]:
    """(runs to fit on, runs to predict) so that every gold run is predicted once."""
    if fitted_on is not None:
        return [(fitted_on, np.arange(len(queries)))]
    n_queries = len(set(queries.tolist()))
    if n_queries < 2:
        raise InputError.at("bag_of_words", "needs at least 2 queries", n_queries, "give --baseline-train FILE")
    return list(GroupKFold(min(N_FOLDS, n_queries)).split(queries, groups=queries))


def _predict(steps: Steps, rows: Ints, labels: Ints, queries: Ints, folds: Sequence[tuple[Ints, Ints]]) -> Floats:
    """[rows, 3] probabilities of the steps numbered `rows`, NaN where no fold asks; labels: [rows]."""
    probabilities = np.full((len(rows), 3), np.nan)
    for fit_runs, asked_runs in folds:
        fit = np.isin(steps.run[rows], fit_runs) & (labels != MISSING)
        asked = np.isin(steps.run[rows], asked_runs)
        if not fit.any():
            raise InputError.at("bag_of_words", "needs labelled steps and outcomes to fit on", 0, "add labels")
        if not asked.any():
            continue
        strength = _choose_strength(steps, rows[fit], labels[fit], queries[steps.run[rows[fit]]])
        probabilities[asked] = _fit_and_ask(*_features(steps, rows[fit], rows[asked]), labels[fit], (strength,))[0]
    return probabilities


def _choose_strength(steps: Steps, rows: Ints, labels: Ints, groups: Ints) -> float:
    """The C with the most right labels over grouped folds; the smallest of equals."""
    n_groups = len(set(groups.tolist()))
    if n_groups < 2:
        return 1.0
    right = np.zeros(len(STRENGTHS))
    for inner, outer in GroupKFold(min(N_INNER_FOLDS, n_groups)).split(rows, groups=groups):
        asked = _fit_and_ask(*_features(steps, rows[inner], rows[outer]), labels[inner], STRENGTHS)
        right += [np.sum(np.array(LABELS)[p.argmax(axis=1)] == labels[outer]) for p in asked]
    return STRENGTHS[int(np.argmax(right))]


def _features(steps: Steps, fit: Ints, asked: Ints) -> tuple[csr_matrix, csr_matrix]:
    """Features of the steps numbered `fit` and `asked`; words and weights come from `fit` alone."""
    of_fit, of_asked = [_positions(steps, fit)], [_positions(steps, asked)]
    for words in steps.words:
        counts = words[fit]
        frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
        kept = np.argsort(-frequency, kind="stable")[:MAX_WORDS]
        kept = kept[frequency[kept] >= 2]
        if len(kept):
            weights = TfidfTransformer(sublinear_tf=True).fit(counts[:, kept])
            of_fit.append(weights.transform(counts[:, kept]))
            of_asked.append(weights.transform(words[asked][:, kept]))
    return csr_matrix(hstack(of_fit)), csr_matrix(hstack(of_asked))


def _positions(steps: Steps, rows: Ints) -> csr_matrix:
    """[n, 2]: log(1 + ordinal), and whether it is the first step."""
    ordinals = steps.position[rows]
    return csr_matrix(np.stack([np.log1p(ordinals), (ordinals == 0).astype(np.float64)], axis=1))


def _fit_and_ask(fit: csr_matrix, asked: csr_matrix, labels: Ints, strengths: Sequence[float]) -> list[Floats]:
    """[asked, 3] probabilities for each C; a class that never occurs gets 0."""
    classes = np.unique(labels)
    answers = [np.zeros((asked.shape[0], 3)) for _ in strengths]
    for answer, strength in zip(answers, strengths, strict=True):
        if len(classes) == 1:
            answer[:, classes[0] + 1] = 1.0
        else:
            model = LogisticRegression(C=strength, max_iter=1000, tol=1e-3).fit(fit, labels)
            answer[:, model.classes_ + 1] = model.predict_proba(asked)
    return answers


def _prediction(trajectory: Trajectory, number: int, steps: Steps, rows: Floats, outcome: Floats | None) -> Prediction:
    start, end = np.searchsorted(steps.run, [number, number + 1])
    probs = {int(steps.message_index[row]): rows[row] for row in range(start, end)}
    return Prediction(
        trajectory.identity,
        step_labels={index: LABELS[int(np.argmax(p))] for index, p in probs.items()},
        final_label=None if outcome is None else LABELS[int(np.argmax(outcome))],
        step_probs={index: as_probabilities(p) for index, p in probs.items()},
        final_prob=None if outcome is None else float(outcome[2]),
    )
