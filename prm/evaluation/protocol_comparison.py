"""One judge asked under two protocols: do its labels and its choices differ?

Under `error_propagation` a step that builds on an error is wrong too, under `independent` each step is judged
alone. A label of one protocol says nothing about a label of the other, so the second set never meets the gold's
step labels: compared are the runs that it chooses (their outcomes are the same under both) and how often the
judge gives a step the same label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from prm.errors import ConfigError, ProtocolError
from prm.evaluation.arrays import MISSING, Floats, GoldArrays, JudgeArrays, encode_judge
from prm.evaluation.best_of_n import Choices, choose
from prm.evaluation.intervals import Resampling, interval95, two_sided_p_value
from prm.evaluation.matching import Matched, only_protocol
from prm.evaluation.step_metrics import label_share
from prm.evaluation.tallies import as_number, ratio
from prm.types import Prediction

INDEPENDENT = "independent"

NOT_JUDGED = "no run is judged under both protocols"


def check_independent(
    judges: Mapping[str, Sequence[Prediction]],
    independent: Mapping[str, Sequence[Prediction]],
    protocol: str | None,
) -> dict[str, tuple[str | None, str | None]]:
    """The two protocols of each judge that has a second set: (its own, else `protocol`; the second set's).

    Args:
        judges: Name → its own predictions.
        independent: Name → predictions of the same judge under the protocol `independent`.
        protocol: The one that gold and judges name; None = none does.

    Raises:
        ConfigError: A name is no judge's.
        ProtocolError: A second set names another protocol than `independent`, or the first is independent too.
    """
    return {name: _protocols(name, judges, predictions, protocol) for name, predictions in independent.items()}


def _protocols(
    name: str, judges: Mapping[str, Sequence[Prediction]], second: Sequence[Prediction], protocol: str | None
) -> tuple[str | None, str | None]:
    if name not in judges:
        raise ConfigError.at("--independent", f"must name one of the judges ({', '.join(judges)})", name, "rename it")
    own, given = only_protocol(judges[name], name) or protocol, only_protocol(second, f"{name} (independent)")
    if given not in (None, INDEPENDENT):
        raise ProtocolError.at(
            f"{name} (independent)", f"predictions must follow the protocol {INDEPENDENT}", given, "give that set"
        )
    if own == INDEPENDENT:
        raise ProtocolError.at(
            name, "two sets are compared under two protocols", f"{own} twice", "give one set of another protocol"
        )
    return own, given


def protocols_block(
    gold: GoldArrays,
    judges: Mapping[str, JudgeArrays],
    independent: Mapping[str, Matched],
    followed: Mapping[str, tuple[str | None, str | None]],
    resample: Callable[[int], Resampling],
) -> list[dict[str, Any]]:
    """The ``protocols`` list of metrics.json: one entry for every judge that has a second set.

    Args:
        gold: All trajectories.
        judges: Name → the judge's own predictions.
        independent: Name → its second set.
        followed: See `check_independent`.
        resample: Number of queries → their draws.

    Returns:
        judge; a and b (its own set, the second): protocol and label_share; for b also the records that were not
        used; and what `compare_protocols` finds.
    """
    entries = []
    for name, matched in independent.items():
        found = compare_protocols(gold, judges[name], encode_judge(gold, matched.predictions), resample)
        unused = {"unmatched_predictions": matched.unmatched, "superseded_predictions": matched.superseded}
        a = {"protocol": followed[name][0], **found.pop("a")}
        b = {"protocol": followed[name][1], **found.pop("b"), **unused}
        entries.append({"judge": name, "a": a, "b": b, **found})
    return entries


def compare_protocols(
    gold: GoldArrays, first: JudgeArrays, second: JudgeArrays, resample: Callable[[int], Resampling]
) -> dict[str, Any]:
    """One judge's two sets over the runs that both judged.

    Returns:
        a and b: label_share of the first and the second set; runs: judged under both; only_a, only_b: judged
        under one; steps: labelled by both; same_label: share of these with the same label; selectors: name → a, b
        (Best-of-N accuracy), difference (b − a), ci95 and p_value, paired over queries; ``undefined``: reasons.
    """
    both = first.judged & second.judged
    runs, a, b = gold.subset(both), first.subset(gold, both), second.subset(gold, both)
    labelled = (a.labels != MISSING) & (b.labels != MISSING)
    same = np.mean((a.labels == b.labels)[labelled]) if labelled.any() else None
    chosen = choose(runs, a), choose(runs, b)
    undefined = {} if same is not None else {"same_label": "no step is labelled under both protocols"}
    if chosen[0].undefined is not None:
        undefined["selectors"] = chosen[0].undefined if both.any() else NOT_JUDGED
    return {
        "a": {"label_share": label_share(a)},
        "b": {"label_share": label_share(b)},
        "runs": int(both.sum()),
        "only_a": int(np.sum(first.judged & ~second.judged)),
        "only_b": int(np.sum(second.judged & ~first.judged)),
        "steps": int(labelled.sum()),
        "same_label": None if same is None else float(same),
        "selectors": _selectors(*chosen, resample(runs.n_queries)),
        **({"undefined": undefined} if undefined else {}),
    }


def _selectors(a: Choices, b: Choices, resampling: Resampling) -> dict[str, Any]:
    """Name → comparison, for the selectors that both sets have."""
    names = [name for name in a.names if name in b.names]
    if not names:
        return {}
    columns = [(a.statistics[:, 3 + a.names.index(n)], b.statistics[:, 3 + b.names.index(n)]) for n in names]
    # The difference is taken query by query, so that equal choices differ by exactly 0 in every draw.
    differences = np.stack([second - first for first, second in columns], axis=1)
    sums = resampling.add(np.column_stack([a.statistics[:, 0], differences]))
    groups = float(sums.total[0])
    return {
        name: {
            "a": as_number(first.sum() / groups),
            "b": as_number(second.sum() / groups),
            "difference": as_number((second.sum() - first.sum()) / groups),
            **_paired(sums.draws, column),
        }
        for column, (name, (first, second)) in enumerate(zip(names, columns, strict=True), start=1)
    }


def _paired(draws: Floats | None, column: int) -> dict[str, Any]:
    if draws is None:
        return {"ci95": None, "p_value": None}
    # Rounded: a sum of differences that cancel is 0, and counts on both sides of the test.
    difference = ratio(draws[:, column], draws[:, 0]).round(12)
    return {"ci95": interval95(difference), "p_value": two_sided_p_value(difference)}
