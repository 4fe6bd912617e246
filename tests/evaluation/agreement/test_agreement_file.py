from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.data.schema import read_schema
from prm.errors import ConfigError
from prm.evaluation.agreement.agreement_file import measure_agreement
from prm.evaluation.agreement.align import align
from prm.evaluation.agreement.raters import load_rater
from prm.evaluation.sources import load_gold, load_predictions
from prm.evaluation.step_metrics import confusion, summary
from tests.evaluation.agreement.rated_runs import rater, word
from tests.evaluation.labelled_runs import encoded, label_or_none
from tests.json_values import numbers

SCHEMA = jsonschema.Draft202012Validator(json.loads(read_schema("agreement")))


@st.composite
def raters(draw: st.DrawFn) -> list[Any]:
    """2–4 raters on up to 4 runs of 2 sources; they share at least one label."""
    found = []
    for name in "abcd"[: draw(st.integers(2, 4))]:
        records = [word(9, 0, [draw(st.sampled_from([-1, 0, 1]))])]
        for query, source in ((0, "desk"), (1, "desk"), (0, "shop")):
            labels = draw(st.lists(label_or_none, max_size=4))
            records.append(word(query, 0, labels, draw(label_or_none), source=source))
        found.append(rater(name, *records))
    return found


@settings(max_examples=20, deadline=None)
@given(raters())
def test_any_agreement_follows_the_schema_and_is_bounded(given_raters: list[Any]) -> None:
    found = measure_agreement(align(given_raters), bootstrap=20)
    SCHEMA.validate(json.loads(json.dumps(found, allow_nan=False)))
    assert max(numbers(found), default=0.0) <= 1.0 + 1e-12


@settings(max_examples=20, deadline=None)
@given(raters(), st.randoms())
def test_the_order_of_the_records_does_not_matter(given_raters: list[Any], chance: Any) -> None:
    shuffled = [rater(r.name, *chance.sample(r.records, len(r.records))) for r in given_raters]
    assert measure_agreement(align(shuffled), bootstrap=20) == measure_agreement(align(given_raters), bootstrap=20)


def test_by_source_and_on_outcomes() -> None:
    a = rater("a", word(0, 0, [1, 1], 1), word(0, 0, [-1, 0], -1, source="shop"))
    b = rater("b", word(0, 0, [1, 1], -1), word(0, 0, [-1, 1], -1, source="shop"))
    found = measure_agreement(align([a, b]), bootstrap=0)
    agreement = {source: block["pairs"][0]["agreement"] for source, block in found["steps"]["by_source"].items()}
    assert agreement == {"desk": 1.0, "shop": 0.5}
    assert found["steps"]["overall"]["pairs"][0]["agreement"] == 0.75
    assert found["outcomes"]["overall"]["pairs"][0]["table"] == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert found["disputed"]["steps"] == 1
    assert found["disputed"]["first"][0]["source"] == "shop"
    assert (found["trajectories"], found["queries"]) == (2, 2)


def test_only_so_many_disputed_steps_are_listed() -> None:
    aligned = align([rater("a", word(0, 0, [1, 1, 1])), rater("b", word(0, 0, [0, 0, 0]))])
    found = measure_agreement(aligned, bootstrap=0, disputed=2)["disputed"]
    assert (found["steps"], len(found["first"])) == (3, 2)


@pytest.mark.parametrize("option", ["bootstrap", "disputed", "seed"])
def test_an_option_out_of_range_is_one_line(option: str) -> None:
    aligned = align([rater("a", word(0, 0, [1])), rater("b", word(0, 0, [1]))])
    with pytest.raises(ConfigError, match=f"--{option}: must be 0 or more, got -1"):
        measure_agreement(aligned, **{option: -1})


def test_a_judge_agrees_with_the_released_labels_as_often_as_it_is_right(shared_data: Path) -> None:
    bench = shared_data / "agentprocessbench"
    judge = bench / "predictions" / "GPT-5.2"
    aligned = align([load_rater("human", bench / "labels"), load_rater("judge", judge)])
    found = measure_agreement(aligned, bootstrap=0)
    pair = found["steps"]["overall"]["pairs"][0]
    gold, predictions = load_gold([bench / "labels"]), load_predictions(judge)
    right = summary(gold, predictions)
    assert pair["n"] / 8509 == pytest.approx(right["coverage"])
    assert pair["agreement"] * pair["n"] / 8509 == pytest.approx(right["step_acc"])
    assert pair["table"] == confusion(*encoded(gold, predictions))
    assert list(found["steps"]["by_source"]) == ["bfcl", "gaia_dev", "hotpotqa", "tau2"]
    assert found["raters"]["judge"]["failed"] == 1
