"""One pass a run against one pass a step: the time of both, and that their probabilities are the same.

The other side reads every site's prefix, under the same elision plan, as a row of its own, and batches these rows by
the same token budget. Its steps and its outcomes are timed apart: without the outcome it has less to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from benchmarks.measure import ratio, stopwatch, summary
from benchmarks.models import Subject
from benchmarks.report import Report, shown
from benchmarks.runs import quantiles, row_lengths
from prm.data.encode import Row, Site
from prm.models.scoring import FloatArray, site_probabilities
from prm.models.step_classifier import ScoreOptions, StepClassifier
from prm.types import Prediction, Trajectory

_WARM_UP_RUNS = 4
_OPTIONS = ScoreOptions()

Vectors = dict[tuple[int, int | None], FloatArray]
"""(run number, message index; None = the outcome) → class probabilities `[3]`."""


def bench_scoring(name: str, runs: Sequence[Trajectory], subject: Subject, repeats: int) -> Report:
    """Scores all runs on both sides; each repeat takes another part of them, so that together they are all.

    Part k of n is the runs k, k + n, k + 2n …; the first few runs are an untimed warm-up.
    """
    classifier = subject.classifier()
    _measure_part(classifier, runs[:_WARM_UP_RUNS])
    parts = [runs[k::repeats] for k in range(repeats)]
    measured = [_measure_part(classifier, part) for part in parts if part]
    prefixes = [row for _, row in prefix_rows(classifier, runs, lambda site: True)]
    sizes = {
        "model": subject.name,
        "num_layers": subject.num_layers,
        "max_tokens": subject.max_tokens,
        "tokens_per_batch": _OPTIONS.tokens_per_batch,
        "repeats": repeats,
        "threads": torch.get_num_threads(),
        "runs": len(runs),
        "steps": sum(len(run.steps) for run in runs),
        "rows": quantiles(row_lengths([row for _, row in classifier.rows_of(runs, _OPTIONS)])),
        "prefixes": quantiles(row_lengths(prefixes)),
    }
    return _report(name, measured, sizes)


def _report(name: str, measured: Sequence[dict[str, float]], sizes: dict[str, Any]) -> Report:
    one_pass = [part["one_pass"] for part in measured]
    steps = [part["steps"] for part in measured]
    both = [part["steps"] + part["outcomes"] for part in measured]
    difference = max(part["difference"] for part in measured)
    figures = {
        "ratio": ratio(both, one_pass),
        "ratio_without_outcomes": ratio(steps, one_pass),
        "ratio_of_totals": round(sum(both) / sum(one_pass), 3),
        "max_difference": difference,
        "seconds": {"one_pass": summary(one_pass), "prefixes": summary(both), "prefixes_of_steps": summary(steps)},
        "tokens_per_second": round(sizes["rows"]["tokens"] / sum(one_pass), 1),
    }
    line = (
        f"{shown(figures['ratio'])} the speed of a pass for each step and outcome, "
        f"{shown(figures['ratio_without_outcomes'])} that of the steps' passes alone; {sizes['runs']} runs, "
        f"{sizes['steps']} steps in {sum(one_pass):.1f} s, probabilities differ by at most {difference:.1e}"
    )
    return Report("score", name, line, figures, sizes)


def _measure_part(classifier: StepClassifier, runs: Sequence[Trajectory]) -> dict[str, float]:
    with stopwatch() as one_pass:
        predictions = classifier.score(runs, _OPTIONS)
    with stopwatch() as steps:
        found = prefix_probabilities(classifier, runs, _is_step)
    with stopwatch() as outcomes:
        found |= prefix_probabilities(classifier, runs, _is_outcome)
    return {
        "one_pass": one_pass.seconds,
        "steps": steps.seconds,
        "outcomes": outcomes.seconds,
        "difference": max_difference(predictions, found),
    }


def prefix_rows(
    classifier: StepClassifier, runs: Sequence[Trajectory], wanted: Callable[[Site], bool]
) -> list[tuple[int, Row]]:
    """(run number, row) of every wanted site: the tokens up to it, as its run's row has them, and it alone."""
    return [
        (number, Row(row.input_ids[: site.position + 1], (site,)))
        for number, row in classifier.rows_of(runs, _OPTIONS)
        for site in row.sites
        if wanted(site)
    ]


def prefix_probabilities(
    classifier: StepClassifier, runs: Sequence[Trajectory], wanted: Callable[[Site], bool]
) -> Vectors:
    """The probabilities of every wanted site, each from a row of its own."""
    rows = prefix_rows(classifier, runs, wanted)
    found = site_probabilities(
        classifier.model, [row for _, row in rows], _OPTIONS.tokens_per_batch, classifier.pad_token_id
    )
    return {(owner, row.sites[0].message_index): found[i][0] for i, (owner, row) in enumerate(rows)}


def max_difference(predictions: Sequence[Prediction], found: Vectors) -> float:
    """The largest difference of a step's probability of a class, or of a run's of success.

    Raises:
        ValueError: The two sides did not score the same steps.
    """
    steps = {(n, index): vector for n, one in enumerate(predictions) for index, vector in one.step_probs.items()}
    if steps.keys() != {key for key in found if key[1] is not None}:
        raise ValueError(f"both sides must score the same steps, got {len(steps)} and {len(found)}; fix the benchmark")
    differences = [abs(a - b) for key, vector in steps.items() for a, b in zip(vector, found[key], strict=True)]
    differences += [abs(one.final_prob - found[n, None][2]) for n, one in enumerate(predictions) if one.final_prob]
    return float(max(differences))


def _is_step(site: Site) -> bool:
    return site.message_index is not None


def _is_outcome(site: Site) -> bool:
    return site.message_index is None
