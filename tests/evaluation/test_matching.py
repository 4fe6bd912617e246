from __future__ import annotations

from dataclasses import replace

import pytest

from prm.errors import InputError, ProtocolError
from prm.evaluation.matching import check_distinct, common_protocol, match
from prm.types import RunIdentity
from tests.evaluation.labelled_runs import gold_run, said

GOLD = [gold_run(0, 0, [1]), gold_run(0, 1, [1])]


def dated(label: int, moment: object) -> object:
    extra = {} if moment is None else {"updated_at": moment}
    return said(GOLD[0], [label], extra=extra)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        ("2026-02-05T02:15:31+00:00", "2026-02-04T02:15:31+00:00", 1),
        ("2026-02-04T02:15:31Z", "2026-02-05T02:15:31Z", -1),
        ("2026-02-05T01:00:00+02:00", "2026-02-05T00:00:00+00:00", -1),  # the first is 23:00 the day before
        (None, None, -1),  # the last
        ("2026-02-05", None, 1),  # a dated record is newer than one without a date
        (2.0, 1.0, 1),
        (10**400, 1.0, -1),  # no moment: the dated one
        ("yesterday", "today", -1),  # not dates: the last
    ],
)
def test_newest_record_counts(first: object, second: object, winner: int) -> None:
    matched = match(GOLD, [dated(1, first), dated(-1, second)], "judge")  # type: ignore[list-item]
    assert matched.predictions[0] is not None
    assert matched.predictions[0].step_labels == {2: winner}
    assert matched.superseded == 1


def test_matching_goes_by_key_and_counts_strangers() -> None:
    stranger = said(gold_run(7, 7, [1]), [1])
    matched = match(GOLD, [stranger, said(GOLD[1], [0])], "judge")
    assert [p is not None for p in matched.predictions] == [False, True]
    assert matched.unmatched == 1


def test_numbers_and_text_are_one_key() -> None:
    prediction = replace(said(GOLD[0], [0]), identity=RunIdentity("desk", "0", "0"))
    assert match(GOLD, [prediction], "judge").predictions[0] is prediction


def test_predictions_for_nothing_here_are_one_line() -> None:
    with pytest.raises(InputError, match=r"^judge: predictions must have the keys") as error:
        match(GOLD, [said(gold_run(7, 7, [1]), [1])], "judge")
    assert "\n" not in str(error.value)


def test_no_predictions_at_all_are_legal() -> None:
    assert match(GOLD, [], "judge").predictions == (None, None)


def test_gold_with_one_key_twice_is_refused() -> None:
    with pytest.raises(InputError, match="own key"):
        check_distinct([GOLD[0], GOLD[1], gold_run(0, 0, [-1])])


def test_mixed_protocols_are_refused() -> None:
    gold = [replace(GOLD[0], protocol="error_propagation")]
    alone = said(GOLD[0], [1], protocol="independent")
    with pytest.raises(ProtocolError, match="error_propagation"):
        common_protocol([("the gold", gold), ("judge", [alone])])
    with pytest.raises(ProtocolError, match="one protocol"):
        common_protocol([("the gold", [*gold, replace(GOLD[1], protocol="independent")])])


def test_records_that_name_no_protocol_go_with_any() -> None:
    gold = [replace(GOLD[0], protocol="independent"), GOLD[1]]
    assert common_protocol([("the gold", gold), ("judge", [said(GOLD[0], [1])])]) == "independent"
    assert common_protocol([("the gold", GOLD)]) is None


def test_several_sets_have_the_protocol_that_any_of_them_names() -> None:
    silent, named = [said(GOLD[0], [1])], [said(GOLD[0], [1], protocol="independent")]
    assert common_protocol([("a", silent), ("b", named), ("c", silent)]) == "independent"
    assert common_protocol([("a", silent)]) is None
    other = [said(GOLD[0], [1], protocol="error_propagation")]
    with pytest.raises(ProtocolError, match=r"c: .*\(independent, the protocol of b\), got 'error_propagation'"):
        common_protocol([("a", silent), ("b", named), ("c", other)])
    with pytest.raises(ProtocolError, match="b: records must follow one protocol"):
        common_protocol([("a", silent), ("b", [*named, *other])])
