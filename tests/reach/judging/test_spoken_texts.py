from __future__ import annotations

from collections.abc import Callable

from prm.reach.judging.judge import judge_run
from prm.reach.judging.spoken_texts import SpokenTexts
from tests.reach.judging.hand_runs import ok, run_of, shop, step
from tests.reach.log.messages import says, user
from tests.reach.work import growth


def texts(*said: str) -> SpokenTexts:
    return SpokenTexts(run_of(shop(), user("Hello."), *map(says, said)).batches)


def test_a_value_is_shown_as_a_whole_and_after_it_was_known() -> None:
    found = texts("The desk lamp-4 is it.", "lamp-44 or desk", "Take the lamp-4: 1,200 USD")
    assert [event.index for event in found.showing("lamp-4", 0)] == [1, 3]
    assert [event.index for event in found.showing("lamp-4", 1)] == [3]
    assert [event.index for event in found.showing("desk lamp-4", 0)] == [1]
    assert [event.index for event in found.showing("1200", 0)] == [3]
    assert found.showing("lamp", 0) == found.showing("desk lamp-44", 0) == found.showing("", 0) == []


def test_a_value_is_shown_before_a_message_only_by_an_earlier_one() -> None:
    found = texts("The desk lamp-4 is it.", "lamp-44")
    assert not found.is_shown_before("lamp-4", 1)
    assert found.is_shown_before("lamp-4", 2)
    assert not found.is_shown_before("", 9)


def test_many_values_in_many_messages_are_looked_for_in_linear_time() -> None:
    spec = shop(milestones={"found": {"source": {"tool": "find"}, "used": {"said": {"from": "result"}}}})

    def judging(size: int) -> Callable[[], object]:
        find = [step(("find", {"name": "lamp"}, ok({"item": f"lamp-{n}"})), text=f"No {n}a.") for n in range(size)]
        run = run_of(spec, user("A lamp."), *find)
        return lambda: judge_run(run, spec)

    assert growth(judging, 100) < 2.5
