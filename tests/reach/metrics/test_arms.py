from __future__ import annotations

import pytest

from prm.errors import InputError, RecordError
from prm.reach.metrics.arms import arm_rows, check_verdicts, match_arms, pooled
from prm.reach.metrics.estimate import Arm
from tests.reach.metrics.hand_verdicts import verdict


def arms(*names: str) -> list[Arm]:
    return [Arm(*name.split("/")) for name in names]


def test_verdicts_are_sorted_by_agent_and_variant() -> None:
    verdicts = [verdict("r", agent="b"), verdict("r", agent="a", variant="z"), verdict("r", "t", agent="b")]
    assert arm_rows(verdicts) == {Arm("a", "z"): [1], Arm("b", "plain"): [0, 2]}


def test_one_against_one_are_a_pair_whatever_their_names() -> None:
    assert match_arms(arms("a/plain"), arms("b/structured")).pairs == ((Arm("a", "plain"), Arm("b", "structured")),)


def test_the_same_agent_and_variant_come_first() -> None:
    found = match_arms(arms("a/plain", "b/plain"), arms("b/plain", "a/plain"))
    assert found.pairs == ((Arm("a", "plain"),) * 2, (Arm("b", "plain"),) * 2)


def test_agents_whose_variant_changed_are_matched_by_agent() -> None:
    found = match_arms(arms("a/plain", "b/plain", "c/plain"), arms("a/structured", "b/structured"))
    assert [(old.agent, new.agent) for old, new in found.pairs] == [("a", "a"), ("b", "b")]
    assert (found.unmatched_old, found.unmatched_new) == (tuple(arms("c/plain")), ())


def test_variants_whose_agent_changed_are_matched_by_variant() -> None:
    found = match_arms(arms("a/plain", "a/structured"), arms("b/plain", "b/structured"))
    assert [(old.variant, new.variant) for old, new in found.pairs] == [("plain", "plain"), ("structured",) * 2]


def test_what_fits_several_fits_none() -> None:
    found = match_arms(arms("a/plain", "b/plain"), arms("c/plain", "d/plain"))
    assert found.pairs == ()
    assert len(found.unmatched_old) == len(found.unmatched_new) == 2


def test_several_together_keep_what_they_share() -> None:
    assert pooled(arms("a/plain", "b/plain")) == Arm("*", "plain")
    assert pooled(arms("a/plain", "a/structured")) == Arm("a", "*")


def test_an_arm_without_names_has_one_to_show() -> None:
    assert (Arm("", "").name, Arm("a", "").name) == ("(unnamed)", "a")


def test_a_run_that_comes_twice_is_refused_by_name() -> None:
    with pytest.raises(RecordError, match="2 times run 0 of s by agent / plain"):
        check_verdicts([verdict("r"), verdict("r")], "v.jsonl")


def test_verdicts_of_two_specs_or_two_versions_of_one_are_refused() -> None:
    with pytest.raises(InputError, match="one spec"):
        check_verdicts([verdict("r"), verdict("r", run=1, spec="airline")], "v.jsonl")
    with pytest.raises(InputError, match="one spec"):
        check_verdicts([verdict("r"), verdict("r", run=1, spec_sha256="1" * 64)], "v.jsonl")


def test_no_verdict_is_refused() -> None:
    with pytest.raises(InputError, match="at least one verdict"):
        check_verdicts([], "v.jsonl")
