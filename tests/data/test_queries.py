"""What makes two trajectories one query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from prm.data.queries import QueryGroups, normalise_text, query_name
from prm.data.records import parse_trajectory

Make = Callable[..., dict[str, Any]]


def groups_of(*records: dict[str, Any]) -> list[str]:
    groups = QueryGroups()
    names = [groups.add(parse_trajectory(record, "x")) for record in records]
    resolved = groups.resolve()
    return [resolved[name] for name in names]


def user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "a"}]


def test_case_space_and_unicode_form_do_not_make_another_question() -> None:
    assert normalise_text(" Who\n IS ﬁrst?\u00a0") == normalise_text("who is first?")
    assert normalise_text("who is first?") != normalise_text("who is last?")


def test_runs_of_one_query_index_are_one_query(make_record: Make) -> None:
    first, second, other = groups_of(make_record(1), make_record(1, sample=1), make_record(1, query=1))
    assert first == second != other


def test_the_same_question_in_two_sources_is_one_query(make_record: Make) -> None:
    a = make_record(1, question="Who is first?")
    b = make_record(1, query=7, data_source="other", question="who is  first?", messages=user("z"))
    assert len(set(groups_of(a, b))) == 1


def test_the_same_question_under_two_indices_of_one_source_is_one_query(make_record: Make) -> None:
    assert len(set(groups_of(make_record(1, question="q?"), make_record(1, query=7, question="Q?")))) == 1


def test_the_same_first_user_message_joins_sources_and_not_the_tasks_of_one(make_record: Make) -> None:
    a = make_record(1, messages=user("Hi"))
    b = make_record(1, query=1, messages=[*user("Hi"), *user("more")[:1]])
    c = make_record(1, query=1, data_source="other", messages=[*user("hi "), *user("else")[:1]])
    assert len(set(groups_of(a, b))) == 2
    assert len(set(groups_of(a, b, c))) == 1


def test_the_same_messages_are_one_query_whatever_their_index(make_record: Make) -> None:
    assert len(set(groups_of(make_record(1), make_record(-1, query=9, messages=make_record(1)["messages"])))) == 1


def test_joining_is_transitive_and_ignores_order(make_record: Make) -> None:
    a = make_record(1, question="one", messages=user("x"))
    b = make_record(1, query=1, data_source="b", question="one", messages=user("y"))
    c = make_record(1, query=2, data_source="c", question="two", messages=[*user("y"), *user("w")[:1]])
    d = make_record(1, query=3, question="three", messages=user("v"))
    assert groups_of(a, b, c, d)[:3] == groups_of(d, c, b, a)[1:]
    assert len(set(groups_of(a, b, c, d))) == 2


@pytest.mark.parametrize("empty", ["", "  \n", None])
def test_empty_questions_join_nothing(make_record: Make, empty: str | None) -> None:
    a = make_record(1, question=empty, messages=user(""))
    b = make_record(1, query=1, data_source="b", question=empty, messages=[*user(""), *user("x")[:1]])
    assert len(set(groups_of(a, b))) == 2


def test_a_run_with_only_an_id_is_of_the_query_that_its_text_says() -> None:
    def named(run: str, text: str) -> dict[str, Any]:
        return {"id": run, "messages": [*user(text), {"role": "tool", "content": run}]}

    first, second, third = (parse_trajectory(named(*pair), "x") for pair in (("1", "a"), ("2", "a"), ("3", "b")))
    assert query_name(first) == query_name(second) != query_name(third)


def test_whole_values_can_be_held_together(make_record: Make) -> None:
    groups = QueryGroups()
    names = [groups.add(parse_trajectory(make_record(1, query=i), "x")) for i in range(4)]
    for name, value in zip(names, "abab", strict=True):
        groups.hold_together(name, value)
    assert len(set(groups.resolve().values())) == 4
    resolved = groups.resolve_held()
    assert resolved[names[0]] == resolved[names[2]] != resolved[names[1]] == resolved[names[3]]
    assert groups.named == 4
