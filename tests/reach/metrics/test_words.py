from __future__ import annotations

from typing import get_args

import pytest

from prm.reach.judging.verdict import DiagnosisName
from prm.reach.metrics.words import diagnosis_words, p_words, percent, points


def test_shares_are_rounded_but_never_to_none_or_all() -> None:
    assert [percent(value) for value in (0.0, 0.412, 1.0, 0.001, 0.9999, None)] == [
        "0 %", "41 %", "100 %", "under 1 %", "over 99 %", "unknown",
    ]  # fmt: skip


def test_differences_carry_their_sign() -> None:
    assert (points(0.125), points(-0.1)) == ("+12.5 points", "−10.0 points")


def test_small_p_values_are_not_spelt_out() -> None:
    assert (p_words(0.0123), p_words(0.0001)) == ("p = 0.012", "p < 0.001")


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("check_inventory.sku", "an invented SKU"),
        ("address", "an invented address"),
        ("book.passengers[0].last_name", "an invented last name"),
        ("customer_id", "an invented customer ID"),
        ("", "an invented argument"),
    ],
)
def test_a_fabrication_names_what_is_invented(subject: str, words: str) -> None:
    assert diagnosis_words("fabrication", subject) == words


@pytest.mark.parametrize("name", get_args(DiagnosisName))
def test_every_diagnosis_has_words_with_and_without_a_subject(name: str) -> None:
    assert diagnosis_words(name)
    assert diagnosis_words(name, "read_ticket")


def test_a_hostile_subject_stays_one_short_line() -> None:
    words = diagnosis_words("fabrication", "x\ny" * 1_000)
    assert "\n" not in words
    assert len(words) < 100
