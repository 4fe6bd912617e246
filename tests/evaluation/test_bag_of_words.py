from __future__ import annotations

import json

import pytest

from prm.errors import InputError
from prm.evaluation.bag_of_words import bag_of_words, read_steps
from prm.evaluation.step_metrics import summary
from prm.types import RunIdentity, StepLabel, Trajectory
from tests.evaluation.labelled_runs import gold_run


def spoken_run(query: int, labels: list[StepLabel], *, told_by: str) -> Trajectory:
    """A run whose labels show in the step's words, or (told_by "result") in the result before it."""
    words: dict[int, str] = {-1: "broken crash", 0: "idle wait", 1: "fixed works"}
    messages: list[dict[str, object]] = [{"role": "user", "content": f"task number{query}"}]
    for label in labels:
        word = words[label]
        messages.append({"role": "tool", "content": word if told_by == "result" else "ack"})
        messages.append({"role": "assistant", "content": word if told_by == "step" else "next"})
    indices = range(2, len(messages), 2)
    identity = RunIdentity("desk", query, 0)
    return Trajectory(identity, tuple(messages), dict(zip(indices, labels, strict=True)), labels[-1])


def spoken_runs(told_by: str, queries: range) -> list[Trajectory]:
    patterns: list[list[StepLabel]] = [[1, -1, 0, 1], [0, 1, -1], [-1, 1, 0, -1], [1, 1, 0, 0]]
    return [spoken_run(q, patterns[q % 4], told_by=told_by) for q in queries]


@pytest.mark.parametrize("told_by", ["step", "result"])
def test_learns_words_of_the_step_and_of_the_result_before_it(told_by: str) -> None:
    gold = spoken_runs(told_by, range(12))
    result = summary(gold, bag_of_words(gold))
    assert result["step_acc"] == 1.0
    assert result["final_acc"] == 1.0
    assert result["coverage"] == 1.0


def test_fits_on_a_training_set() -> None:
    gold = spoken_runs("step", range(3))
    assert summary(gold, bag_of_words(gold, spoken_runs("step", range(50, 60))))["step_acc"] == 1.0


def test_no_query_is_predicted_by_a_classifier_that_saw_it() -> None:
    # Every query's words are its own: nothing can be learnt from the others.
    gold = [
        Trajectory(
            RunIdentity("desk", q, s),
            ({"role": "user", "content": "go"}, {"role": "assistant", "content": f"word{q} word{q}"}),
            {1: -1 if q < 4 else 1},
            1,
        )
        for q in range(8)
        for s in range(3)
    ]
    accuracy = summary(gold, bag_of_words(gold))["step_acc"]
    assert accuracy is not None
    assert accuracy <= 0.5


def test_probabilities_sum_to_one_and_agree_with_the_label() -> None:
    for prediction in bag_of_words(spoken_runs("step", range(8))):
        for index, probs in prediction.step_probs.items():
            assert sum(probs) == pytest.approx(1.0)
            assert probs.index(max(probs)) - 1 == prediction.step_labels[index]


def test_calls_count_as_words_of_the_step() -> None:
    call = {"type": "function", "function": {"name": "search", "arguments": json.dumps({"q": "oslo"})}}
    run = Trajectory(
        RunIdentity("desk", 0, 0), ({"role": "assistant", "content": None, "tool_calls": [call]},), {0: 1}, 1
    )
    own, before = read_steps([run]).words
    assert own.sum() > 0
    assert before.sum() == 0


def test_runs_without_words_fall_back_to_position() -> None:
    messages = tuple({"role": "assistant", "content": ""} for _ in range(2))
    gold = [Trajectory(RunIdentity("desk", q, 0), messages, {0: 1, 1: -1}, 1) for q in range(6)]
    assert summary(gold, bag_of_words(gold))["step_acc"] == 1.0


def test_label_only_records_are_refused() -> None:
    with pytest.raises(InputError, match="must have messages"):
        bag_of_words([gold_run(0, 0, [1]), gold_run(1, 0, [1])])


def test_one_query_is_refused() -> None:
    with pytest.raises(InputError, match="at least 2 queries"):
        bag_of_words(spoken_runs("step", range(1)))
