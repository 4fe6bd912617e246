from __future__ import annotations

from typing import Any

from prm.reach.judging.verdict import Diagnosis
from tests.reach.judging.hand_runs import MISSING, judged, ok, shop, step
from tests.reach.log.messages import user

SPEC = shop(
    tools={
        "find": {"effect": "read", "parameters": {"name": "ref"}},
        "stock": {"effect": "read", "parameters": {"item": "ref"}},
        "order": {"effect": "write", "parameters": {"item": "ref"}},
    }
)
FIND = ("find", {"name": "lamp"}, ok({"item": "lamp-4"}))
GUESS = ("stock", {"item": "lamp-7"}, ok({"stock": 22}))
ORDER = ("order", {"item": "lamp-7"}, ok({}))


def found(*messages: Any) -> list[Diagnosis]:
    verdict = judged(SPEC, user("A lamp."), *messages)
    return [d for d in verdict.diagnoses if d.name in ("fabrication", "ungrounded_batch")]


def test_an_invented_value_is_accused_once_where_it_is_first_used() -> None:
    (fabrication,) = found(step(FIND), step(GUESS), step(ORDER))
    assert (fabrication.name, fabrication.batch, fabrication.call_id) == ("fabrication", 3, "c1")
    assert fabrication.subject == "stock.item"
    (line,) = fabrication.evidence
    assert (line.index, line.path, line.value) == (3, "item", "lamp-7")
    assert line.what == "stock.item is 'lamp-7': nothing said or returned before holds it"


def test_two_invented_values_are_two() -> None:
    other = step(("stock", {"item": "lamp-8"}, ok({"stock": 1})))
    assert [one.batch for one in found(step(FIND), step(GUESS), other)] == [3, 5]


def test_reads_guessed_beside_the_read_they_depend_on_are_an_ungrounded_batch() -> None:
    (batch,) = found(step(FIND, GUESS))
    assert (batch.name, batch.batch, batch.call_id, batch.subject) == ("ungrounded_batch", 1, "c1", "stock.item")


def test_a_guess_that_happens_to_be_right_is_a_guess() -> None:
    (batch,) = found(step(FIND, ("stock", {"item": "lamp-4"}, ok({"stock": 3}))))
    assert batch.name == "ungrounded_batch"


def test_a_write_beside_the_read_it_depends_on_is_fabricated() -> None:
    assert [one.name for one in found(step(FIND, ORDER))] == ["fabrication"]


def test_a_read_beside_one_that_could_not_have_given_the_value_is_fabricated() -> None:
    weather = ("find", {"name": "lamp"}, ok({"weather": "sunny"}))
    assert [one.name for one in found(step(weather, GUESS))] == ["fabrication"]
    failed = ("find", {"name": "lamp"}, {"status": "not_found", "record": {"item": None}})
    assert [one.name for one in found(step(failed, GUESS))] == ["fabrication"]


def test_what_a_missing_result_may_have_held_accuses_nobody() -> None:
    assert found(step(("find", {"name": "lamp"}, MISSING)), step(GUESS), step(ORDER)) == []


def test_a_guess_used_later_stays_the_one_accusation() -> None:
    assert [one.name for one in found(step(FIND, GUESS), step(ORDER))] == ["ungrounded_batch"]
