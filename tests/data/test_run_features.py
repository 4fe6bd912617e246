"""Run features: by hand, finite, and known without the future."""

from __future__ import annotations

from math import isfinite, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.data.run_features import FEATURES, run_features

_MESSAGES = [
    {"role": "user", "content": "ship the blue lamp"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": '{"q": "blue lamp"}'}}],
    },
    {"role": "tool", "content": "blue lamp in stock"},
    {"role": "assistant", "content": "the lamp is in stock"},
]


def _named(values: tuple[float, ...]) -> dict[str, float]:
    return dict(zip(FEATURES, values, strict=True))


def test_a_small_run_by_hand() -> None:
    first, second, outcome = (_named(values) for values in run_features(_MESSAGES))
    assert (first["is_first"], first["has_call"], first["has_text"]) == (1, 1, 0)
    assert first["call_in_question"] == pytest.approx(2 / 3)  # q, blue, lamp
    assert first["question_in_call"] == pytest.approx(2 / 4)
    assert first["log_result_words"] == 0
    assert second["log_ordinal"] == pytest.approx(log(2))
    assert second["text_in_results"] == pytest.approx(3 / 5)  # lamp, in, stock of the, lamp, is, in, stock
    assert second["question_in_results"] == pytest.approx(2 / 4)
    assert (outcome["is_outcome"], outcome["text_in_results"]) == (1, second["text_in_results"])


@given(texts=st.lists(st.text(max_size=30), max_size=8), cut=st.integers(0, 8))
def test_features_are_finite_and_do_not_depend_on_what_follows(texts: list[str], cut: int) -> None:
    messages = [{"role": ("assistant", "tool", "user")[i % 3], "content": text} for i, text in enumerate(texts)]
    whole, before = run_features(messages), run_features(messages[:cut])
    assert all(isfinite(value) for values in whole for value in values)
    assert whole[: len(before) - 1] == before[:-1]
