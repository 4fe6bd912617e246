from __future__ import annotations

import io

from rich.console import Console

from prm.reach.labels.agree import agree_with_human
from prm.reach.labels.agree_table import MAX_LISTED, lines, tables
from prm.reach.labels.human_file import HumanRun
from tests.reach.labels.labelled_runs import labelled_run


def shown(human: list[HumanRun], rules: list) -> str:  # type: ignore[type-arg]
    found = agree_with_human(human, rules, bootstrap=0)
    console = Console(file=io.StringIO(), width=120)
    console.print(tables(found), *lines(found), sep="\n")
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_tables_name_rules_milestones_and_disagreements_and_obey_no_markup() -> None:
    rules = [labelled_run(0, [("[red]x", 1), ("unknown", None)], M1="reached")]
    human = [HumanRun(rules[0].identity, {1: -1, 2: 0}, 1, {"M1": "missed"}, {1: "[bold]why\n"})]
    text = shown(human, rules)
    assert "[red]x" in text
    assert "[bold]why?" in text
    assert "missed → reached 1" in text
    assert "steps that the rules masked, by the person's label: 0: 1" in text


def test_labels_that_no_rule_stands_against_are_told() -> None:
    rules = [labelled_run(0, [("milestone", 1)], M1="reached"), labelled_run(1, [("milestone", 1)])]
    human = [HumanRun(rules[0].identity, {1: 1, 9: 1}, 1, {"M7": "missed"}), HumanRun(rules[1].identity, {1: 1})]
    text = shown(human, rules[:1])
    assert "not compared, since the labelled file has none such: 1 runs, 1 steps, 1 milestones" in text
    assert "not compared" not in shown([HumanRun(rules[0].identity, {1: 1})], rules)


def test_a_long_list_of_disagreements_is_cut_and_says_so() -> None:
    rules = [labelled_run(0, [("milestone", 1)] * (MAX_LISTED + 3))]
    human = [HumanRun(rules[0].identity, dict.fromkeys(range(1, MAX_LISTED + 4), -1))]
    assert "and 3 more" in shown(human, rules)
