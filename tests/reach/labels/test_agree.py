"""Rules against a person, with numbers worked out by hand."""

from __future__ import annotations

import pytest

from prm.errors import InputError
from prm.reach.labels.agree import agree_with_human
from prm.reach.labels.human_file import HumanRun
from prm.types import StepLabel
from tests.reach.labels.labelled_runs import labelled_run

RULES = [
    labelled_run(0, [("milestone", 1), ("repeat", 0), ("repeat", -1), ("unknown", None)], outcome=-1, M1="reached"),
    labelled_run(1, [("milestone", 1), ("milestone", 1)], outcome=1, M1="reached"),
    labelled_run(2, [("milestone", 1)] * 10, outcome=1, M1="missed"),
]


def said(number: int, steps: dict[int, StepLabel], outcome: StepLabel | None = None, **milestones: str) -> HumanRun:
    return HumanRun(RULES[number].identity, steps, outcome, milestones)


HUMAN = [
    said(0, {1: 1, 2: 0, 3: 0, 4: -1}, -1, M1="reached"),
    said(1, {1: 1, 2: -1}, -1, M1="touched"),
]


def test_agreement_is_the_share_of_unmasked_steps_with_one_label() -> None:
    found = agree_with_human(HUMAN, RULES, bootstrap=0)
    # Unmasked: five steps; alike: 1/1, 0/0, 1/1.
    assert found["steps"]["n"] == 5
    assert found["steps"]["agreement"] == pytest.approx(3 / 5)
    # Person −1 1, 0 2, +1 2; rules −1 1, 0 1, +1 3: p_e = (1·1 + 2·1 + 2·3) / 25.
    assert found["steps"]["kappa"] == pytest.approx((0.6 - 9 / 25) / (1 - 9 / 25))
    assert found["outcomes"]["agreement"] == pytest.approx(1 / 2)


def test_precision_of_each_rule_with_wilsons_interval() -> None:
    rules = agree_with_human(HUMAN, RULES, bootstrap=0)["rules"]
    assert rules["milestone"]["n"] == 3
    assert rules["milestone"]["precision"] == pytest.approx(2 / 3)
    assert rules["repeat"] == {
        "n": 2,
        "agree": 1,
        "precision": 0.5,
        # Wilson for 1 of 2 with z = 1.96: 0.5 ± z √(0.25·2 + z²/4) / (2 + z²)
        "ci95": [pytest.approx(0.0945, abs=1e-4), pytest.approx(0.9055, abs=1e-4)],
        "human": {"0": 2},
    }


def test_masked_steps_are_counted_and_are_no_disagreement() -> None:
    found = agree_with_human(HUMAN, RULES, bootstrap=0)
    assert found["masked"] == {"-1": 1}
    assert "unknown" not in found["rules"]
    assert "unknown" not in found["disagreements"]


def test_disagreements_are_listed_by_rule_with_their_place() -> None:
    found = agree_with_human(HUMAN, RULES, bootstrap=0)["disagreements"]
    assert {
        rule: [(d["query_index"], d["message_index"], d["human"], d["rules"]) for d in listed]
        for rule, listed in found.items()
    } == {
        "milestone": [(1, 2, -1, 1)],
        "repeat": [(0, 3, 0, -1)],
    }
    assert found["repeat"][0]["why"] == "w"


def test_milestone_verdicts_are_compared() -> None:
    block = agree_with_human(HUMAN, RULES, bootstrap=0)["milestones"]["M1"]
    assert block["n"] == 2
    assert block["agreement"] == pytest.approx(0.5)
    assert block["apart"] == {"touched → reached": 1}


def test_the_weighted_agreement_counts_each_stratum_at_its_share_of_all_runs() -> None:
    # Strata: run 0 alone (its rarest rules), runs 1 and 2 (milestone). Run 0: 2 of 3 alike, 3 of 15 steps;
    # run 1 stands for runs 1 and 2: 1 of 2 alike, 12 of 15 steps.
    found = agree_with_human(HUMAN, RULES, bootstrap=0)["weighted"]["agreement"]
    assert found == pytest.approx(3 / 15 * 2 / 3 + 12 / 15 * 1 / 2)


def test_a_milestone_that_the_rules_could_not_score_is_left_out() -> None:
    rules = [labelled_run(0, [("milestone", 1)], M1="unscorable")]
    assert agree_with_human([said(0, {1: 1}, M1="missed")], rules, bootstrap=0)["milestones"] == {}


def test_files_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InputError, match="runs must be those"):
        agree_with_human(HUMAN, RULES[2:], bootstrap=0)
    with pytest.raises(InputError, match="must have labelled something"):
        agree_with_human([said(0, {})], RULES, bootstrap=0)
