from __future__ import annotations

from prm.reach.judging.facts import Answer, FactTimeline, applies
from prm.reach.spec.conditions import Facts
from tests.reach.judging.hand_runs import MISSING, facts_of, ok, shop, step
from tests.reach.log.messages import says, user


def timeline(**answers: list[Answer]) -> FactTimeline:
    facts = FactTimeline(dict.fromkeys([*answers, "other"], False))
    for name, given in answers.items():
        for answer in given:
            facts.add(name, answer)
    return facts


def test_a_fact_is_unasked_until_a_later_batch_can_know_it() -> None:
    facts = timeline(empty=[Answer(3, "true"), Answer(7, "false")])
    assert [facts.state("empty", batch) for batch in (2, 3, 4, 7, 8)] == ["unasked", "unasked", "true", "true", "false"]
    assert facts.state("empty") == "false"


def test_an_answer_that_is_missing_may_have_said_anything() -> None:
    facts = timeline(empty=[Answer(3, "true"), Answer(5, "unknown")])
    assert [facts.truth("empty", batch) for batch in (4, 6)] == [True, None]


def test_a_fact_that_holds_once_stays() -> None:
    facts = FactTimeline({"asked": True})
    for index, state in enumerate(("false", "unknown", "false", "true", "unknown", "false")):
        facts.add("asked", Answer(index, state))  # type: ignore[arg-type]
    assert [facts.truth("asked", batch) for batch in range(7)] == [False, False, None, None, True, True, True]


def test_combinations_are_three_valued_and_the_unasked_is_false() -> None:
    facts = timeline(a=[Answer(1, "true")], b=[Answer(1, "unknown")])
    term = Facts.model_validate
    assert facts.truth(term({"all": ["a", {"not": "other"}]})) is True
    assert facts.truth(term({"all": ["a", "b"]})) is None
    assert facts.truth(term({"any": ["a", "b"]})) is True
    assert facts.truth(term({"any": ["other", "b"]})) is None
    assert facts.truth(None) is True


def test_what_was_never_found_out_does_not_release_from_a_milestone() -> None:
    assert applies(None, "other", timeline()) is True
    assert applies("other", None, timeline()) is True


def test_what_is_known_releases_and_what_is_missing_leaves_it_open() -> None:
    facts = timeline(a=[Answer(1, "true")], b=[Answer(1, "unknown")], c=[Answer(1, "false")])
    assert applies(None, "a", facts) is False
    assert applies("c", None, facts) is False
    assert applies(None, "b", facts) is None
    assert applies("b", None, facts) is None
    assert applies("a", "c", facts) is True


SPEC = shop(
    facts={
        "none_left": {"of": {"tool": "find"}, "holds": {"result.left": 0}},
        "not_there": {"of": {"tool": "find"}, "holds": {"status": "not_found"}},
        "agreed": {"user": {"words": "yes"}},
        "declined": {"agent": {"words": "cannot"}},
    }
)


def test_the_latest_answer_counts_and_only_a_later_batch_knows_it() -> None:
    facts = facts_of(
        SPEC, user(), step(("find", {"name": "a"}, ok({"left": 0}))), step(("find", {"name": "a"}, ok({"left": 2})))
    )
    assert [facts.state("none_left", batch) for batch in (1, 3, 5)] == ["unasked", "true", "false"]


def test_a_time_out_answers_nothing_and_a_missing_result_leaves_it_unknown() -> None:
    timeout = facts_of(SPEC, user(), step(("find", {"name": "a"}, {"status": "timeout", "record": None})))
    assert (timeout.state("none_left"), timeout.state("not_there")) == ("unasked", "unasked")
    missing = facts_of(SPEC, user(), step(("find", {"name": "a"}, MISSING)))
    assert (missing.state("none_left"), missing.state("not_there")) == ("unknown", "unknown")


def test_a_failure_answers_only_the_facts_that_speak_of_it() -> None:
    facts = facts_of(SPEC, user(), step(("find", {"name": "a"}, {"status": "not_found", "record": None})))
    assert (facts.state("none_left"), facts.state("not_there")) == ("unasked", "true")


def test_a_cut_answer_answers_only_what_it_holds() -> None:
    facts = facts_of(SPEC, user(), step(("find", {"name": "a"}, ok({"name": "a"}, cut=True))))
    assert facts.state("none_left") == "unasked"


def test_the_last_word_of_user_and_agent_counts() -> None:
    facts = facts_of(SPEC, user("Yes."), says("I cannot."), user("Hm."), says("Fine."))
    assert [facts.state("agreed", batch) for batch in (1, 3)] == ["true", "false"]
    assert [facts.state("declined", batch) for batch in (1, 2, 4)] == ["unasked", "true", "false"]
