from __future__ import annotations

from typing import Any

from prm.reach.judging.verdict import Diagnosis
from tests.reach.judging.hand_runs import MISSING, TOOLS, judged, ok, shop, step
from tests.reach.log.messages import says, user

SPEC = shop(
    tools={**TOOLS, "wait": {"effect": "read", "poll": True}, "try": {"effect": "read", "retry": ["busy"]}},
    questions={"tool": "ask"},
)
FIND = step(("find", {"name": "lamp"}, ok({"item": "lamp-4"})))
OTHER = step(("find", {"name": "chair"}, ok({"item": "chair-9"})))
ORDER = step(("order", {"item": "lamp-4"}, ok({"done": "o-1"})))
ANOTHER_ORDER = step(("order", {"item": "chair-9"}, ok({"done": "o-2"})))


def loops(*messages: Any) -> list[Diagnosis]:
    verdict = judged(SPEC, user("A lamp and a chair."), *messages)
    return [diagnosis for diagnosis in verdict.diagnoses if diagnosis.name == "loop"]


def test_two_repeats_with_nothing_new_between_are_a_loop_at_the_second() -> None:
    (loop,) = loops(FIND, FIND, FIND)
    assert (loop.batch, loop.call_id, loop.subject, loop.kind) == (5, "c2", "find", "2")
    assert [(line.index, line.call_id, line.source_index) for line in loop.evidence] == [
        (1, "c0", None),
        (3, "c1", 1),
        (5, "c2", 1),
    ]


def test_one_repeat_is_none() -> None:
    assert loops(FIND, FIND) == []


def test_interleaved_calls_loop_too() -> None:
    assert [loop.call_id for loop in loops(FIND, OTHER, FIND, OTHER, FIND, OTHER, FIND)] == ["c5", "c6"]


def test_another_result_is_new() -> None:
    changed = step(("find", {"name": "lamp"}, ok({"item": "lamp-5"})))
    assert loops(FIND, changed, FIND, changed) == []


def test_other_arguments_make_another_call() -> None:
    assert loops(FIND, OTHER, step(("find", {"name": "LAMP"}, ok({"item": "lamp-4"}))), FIND) == []
    same = step(("find", {"name": "LAMP"}, ok({"item": "lamp-4"})))
    assert len(loops(FIND, same, FIND)) == 1


def test_a_word_of_the_user_or_a_write_or_new_information_between_is_news() -> None:
    assert loops(FIND, user("Again."), FIND, FIND) == []
    assert loops(FIND, FIND, ORDER, FIND) == []
    assert loops(FIND, FIND, OTHER, FIND) == []
    assert len(loops(FIND, OTHER, FIND, FIND, FIND)) == 1


def test_a_write_may_be_looped_itself_and_its_note_makes_no_difference() -> None:
    again = [step(("order", {"item": "lamp-4", "note": note}, ok({"done": "o-1"}))) for note in ("a", "b", "c")]
    (loop,) = loops(FIND, *again)
    assert (loop.subject, loop.kind) == ("order", "2")


def test_a_failing_call_repeated_unchanged_is_a_loop() -> None:
    failed = step(("order", {"item": "lamp-4"}, {"status": "illegal", "record": None}))
    assert len(loops(FIND, failed, failed, failed)) == 1


def test_time_outs_declared_retries_and_polling_are_exempt() -> None:
    late = step(("find", {"name": "lamp"}, {"status": "timeout", "record": None}))
    busy = step(("try", {}, {"status": "busy", "record": None}))
    waiting = step(("wait", {}, ok("not yet")))
    assert loops(*[late] * 5, *[busy] * 5, *[waiting] * 5) == []
    assert len(loops(*[step(("try", {}, {"status": "timeout", "record": None}))] * 3)) == 1


def test_a_missing_result_might_have_been_new() -> None:
    missing = step(("find", {"name": "lamp"}, MISSING))
    assert loops(FIND, missing, missing, missing) == []
    assert loops(FIND, FIND, missing, FIND) == []


def test_parallel_copies_of_a_call_are_a_loop() -> None:
    pair = ("find", {"name": "lamp"}, ok({"item": "lamp-4"}))
    assert len(loops(step(pair, pair, pair))) == 1


def test_a_persons_answer_is_the_same_whatever_its_words() -> None:
    answers = ["It is lamp-4.", "lamp-4.", "Please take lamp-4."]
    asked = [step(("ask", {"question": "Which one?"}, ok({"answer": answer}))) for answer in answers]
    assert len(loops(*asked)) == 1
    others = [step(("ask", {"question": "Which one?"}, ok({"answer": f"lamp-{n}"}))) for n in range(3)]
    assert loops(*others) == []


def test_what_a_person_repeats_is_no_news() -> None:
    ask = step(("ask", {"question": "Which one?"}, ok({"answer": "It is lamp-4."})))
    assert [loop.subject for loop in loops(FIND, FIND, ask, FIND)] == ["find"]
    unknown = step(("ask", {"question": "Which one?"}, ok({"answer": "I do not know."})))
    assert loops(FIND, FIND, unknown, FIND) == []


def test_long_loops_have_short_evidence() -> None:
    (loop,) = loops(*[FIND] * 200)
    assert (loop.kind, len(loop.evidence)) == ("199", 12)


def test_the_end_of_a_run_makes_no_loop() -> None:
    assert loops(FIND, says("Done."), ANOTHER_ORDER) == []
