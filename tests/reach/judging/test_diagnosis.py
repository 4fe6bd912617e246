from __future__ import annotations

from typing import Any, get_args

from prm.reach.judging.verdict import DiagnosisName
from tests.reach.judging.hand_runs import judged, ok, shop, step
from tests.reach.log.messages import says, user

SPEC = shop(never={"no_sofa": {"title": "ordered a sofa", "acts": {"tool": "order", "where": {"args.item": "sofa-1"}}}})
FIND = step(("find", {"name": "lamp"}, ok({"item": "lamp-4"})))
SOFA = step(("order", {"item": "sofa-1"}, ok({})))


def found(*messages: Any) -> list[tuple[str, int, str]]:
    verdict = judged(SPEC, user("A lamp."), *messages)
    assert {one.name for one in verdict.diagnoses} <= set(get_args(DiagnosisName))
    return [(one.name, one.batch, one.subject) for one in verdict.diagnoses]


def test_diagnoses_come_in_the_order_of_the_log() -> None:
    assert found(FIND, SOFA, FIND, says("Done.")) == [
        ("called_wrong", 1, "found"),
        ("minefield", 3, "no_sofa"),
        ("fabrication", 3, "order.item"),
    ]


def test_every_diagnosis_has_evidence_with_the_index_of_a_message() -> None:
    run = [FIND, SOFA, FIND, FIND, FIND, says("Done.")]
    verdict = judged(SPEC, user("A lamp."), *run)
    assert {one.name for one in verdict.diagnoses} >= {"minefield", "fabrication", "loop", "called_wrong"}
    for one in verdict.diagnoses:
        assert one.evidence
        assert all(line.what and 0 <= line.index < 20 for line in one.evidence)


def test_a_good_run_has_none() -> None:
    assert found(FIND, step(("order", {"item": "lamp-4"}, ok({}))), says("Done.")) == []


def test_a_run_of_nothing_has_none_but_what_is_open() -> None:
    assert found() == []
    assert found(says("Hello.")) == [("never_called", 1, "found"), ("premature_stop", 1, "found")]
