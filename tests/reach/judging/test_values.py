from __future__ import annotations

from typing import Any

import pytest

from prm.reach.judging.values import exists, is_equal, number_of, passes, says, values_at
from prm.reach.spec.conditions import Said, ValueTest

RECORD = {"flights": [{"no": "A1", "legs": [{"to": "X"}, {"to": "Y"}]}, {"no": "B2"}], "by": {"k1": 1, "k2": 2}}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), [RECORD]),
        (("flights", "no"), ["A1", "B2"]),
        (("flights", "legs", "to"), ["X", "Y"]),
        (("flights", "legs"), [[{"to": "X"}, {"to": "Y"}]]),
        (("flights", "0", "legs", "to"), ["X", "Y"]),
        (("flights", "*", "no"), ["A1", "B2"]),
        (("by", "*"), [1, 2]),
        (("flights", "7"), []),
        (("none", "x"), []),
    ],
)
def test_paths_pass_through_lists(path: tuple[str, ...], found: list[Any]) -> None:
    assert values_at(RECORD, path) == found


def test_a_path_into_text_or_nothing_leads_nowhere() -> None:
    assert values_at("text", ("a",)) == []
    assert values_at(None, ("a", "*")) == []


@pytest.mark.parametrize("value", [None, "", [], {}, "a##"])
def test_what_is_empty_or_damaged_does_not_exist(value: Any) -> None:
    assert not exists(value, ("#",))


@pytest.mark.parametrize("value", [0, False, "0", [None], "a-4"])
def test_zero_and_false_exist(value: Any) -> None:
    assert exists(value, ("#",))


@pytest.mark.parametrize(
    ("value", "expected", "equal"),
    [
        (0, 0, True),
        (0, False, False),
        (True, 1, False),
        ("1,134.50", 1134.5, True),
        ("３１", 31, True),
        (-5, 5, False),
        ("Ship", "ship", True),
        (None, None, True),
        (None, "", False),
        ("", None, False),
        ([], "x", False),
        ("credit_card_5634230", "gift_card_5634230", False),
    ],
)
def test_equality_is_in_normal_form_and_keeps_types_apart(value: Any, expected: Any, equal: bool) -> None:
    assert is_equal(value, expected) is equal


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), ("1,200", 1200), ("−5", None), ("-5", -5), ("５", 5), (True, None), ("a", None), ([], None)],
)
def test_numbers_are_read_from_text_but_not_from_booleans(value: Any, number: float | None) -> None:
    assert number_of(value) == number


@pytest.mark.parametrize(
    ("test", "value", "holds"),
    [
        ({"gt": 0}, 1, True),
        ({"gt": 0}, 0, False),
        ({"gt": 0}, "many", False),
        ({"ge": 1, "le": 3}, "3", True),
        ({"in": ["a", None]}, None, True),
        ({"in": ["a", "b"]}, "B", True),
        ({"shape": "a-9"}, "It is lamp-41.", True),
        ({"shape": "a-9"}, "I do not know.", False),
        ({"since": "2024-05-14T15:00:00"}, "2024-05-14T15:00:00", True),
        ({"since": "2024-05-14T15:00:00"}, "2024-05-14T14:59:59", False),
        ({"before": "2024-05-14"}, "2024-05-13T23:59:00Z", True),
        ({"before": "2024-05-14"}, "yesterday", False),
        ({"before": "2024-05-14"}, 20240513, False),
        ({"text": {"words": "no answer"}}, "Sorry: NO  answer!", True),
    ],
)
def test_one_value_against_one_test(test: dict[str, Any], value: Any, holds: bool) -> None:
    assert passes(ValueTest.model_validate(test), value) is holds


def test_words_are_whole_and_forbidden_words_count() -> None:
    assert says(Said(words=("address",)), "Which ADDRESS is it?")
    assert not says(Said(words=("address",)), "Which addresses?")
    assert not says(Said(none_of=("address",)), "The address?")
    assert says(Said(none_of=("address",)), "The SKU?")
    assert says(Said(question=True), "哪个？")
    assert not says(Said(question=True, words=("sku",)), "The sku.")
