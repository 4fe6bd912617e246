"""Short ways to write gold and predictions, and strategies that draw them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from prm.evaluation.arrays import GoldArrays, JudgeArrays, encode_gold, encode_judge
from prm.evaluation.matching import match
from prm.types import Prediction, RunIdentity, StepLabel, Trajectory


def gold_run(
    query: int,
    sample: int,
    labels: Sequence[StepLabel | None],
    outcome: StepLabel | None = 1,
    *,
    source: str = "desk",
    generator: str | None = None,
) -> Trajectory:
    """Gold whose k-th step is message 2k + 2."""
    identity = RunIdentity(source, query, sample, generator=generator)
    return Trajectory(identity, (), {2 * k + 2: label for k, label in enumerate(labels)}, outcome)


def said(
    gold: Trajectory, labels: Sequence[StepLabel | None], outcome: StepLabel | None = None, **more: object
) -> Prediction:
    """A prediction for `gold`; None = the step is not predicted."""
    given = {2 * k + 2: label for k, label in enumerate(labels) if label is not None}
    return Prediction(gold.identity, given, outcome, **more)  # type: ignore[arg-type]


def encoded(gold: Sequence[Trajectory], predictions: Sequence[Prediction]) -> tuple[GoldArrays, JudgeArrays]:
    """Both as arrays."""
    arrays, _, _ = encode_gold(gold)
    return arrays, encode_judge(arrays, match(gold, predictions, "judge").predictions)


label = st.sampled_from([-1, 0, 1])
label_or_none = st.one_of(st.none(), label)


@st.composite
def gold_and_predictions(draw: st.DrawFn) -> tuple[list[Trajectory], list[Prediction]]:
    """1–8 runs of up to 3 queries with unknown labels; predictions with gaps, foreign labels, failures."""
    gold, predictions = [], []
    for sample in range(draw(st.integers(1, 8))):
        run = gold_run(draw(st.integers(0, 2)), sample, draw(st.lists(label_or_none, max_size=5)), draw(label_or_none))
        given = draw(st.dictionaries(st.integers(1, 13), label, max_size=8))
        status = draw(st.sampled_from(["ok", "ok", "partial", "failed", "absent"]))
        gold.append(run)
        if status == "failed":
            predictions.append(Prediction(run.identity, {}, status="failed", reason="cut off"))
        elif status != "absent":
            outcome = draw(label_or_none)
            judged = Prediction(run.identity, given, outcome, status=status)  # type: ignore[arg-type]
            predictions.append(judged)
    return gold, predictions
