from __future__ import annotations

from prm.reach.judging.shown_values import calls_shown_to_user
from tests.reach.judging.hand_runs import ok, run_of, shop, step
from tests.reach.log.messages import says, user

FIND = step(("find", {"name": "lamp"}, ok({"item": "lamp-4", "name": "lamp"})))


def shown(*messages: object) -> frozenset[str]:
    return calls_shown_to_user(run_of(shop(), *messages))


def test_a_call_whose_value_is_told_to_the_user_is_shown() -> None:
    assert shown(user(), FIND, says("It is LAMP-4.")) == {"c0"}


def test_what_is_said_beside_a_call_is_not_told_to_the_user() -> None:
    assert shown(user(), FIND, step(("order", {"item": "x"}, ok({})), text="Taking lamp-4.")) == frozenset()


def test_only_the_first_to_return_a_value_brought_it() -> None:
    assert shown(user(), FIND, FIND, says("It is lamp-4.")) == {"c0"}
    assert shown(user("I have lamp-4."), FIND, says("It is lamp-4.")) == frozenset()


def test_an_argument_that_comes_back_was_not_brought() -> None:
    assert shown(user(), FIND, says("A lamp it is.")) == frozenset()
