"""Each rule on a hand-made log of the ticket desk, and the order in which they are asked."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prm.data.records import dump_trajectory, parse_trajectory
from prm.errors import ConfigError
from prm.reach.desk.generate import generate_runs
from prm.reach.labels.records import RULES_VERSION
from prm.reach.labels.rules import DEFAULT_ORDER, label_trajectory, rule_order
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import shipped_spec
from prm.reach.spec.model import Labels
from prm.types import RunIdentity
from tests.reach.labels.desk_logs import (
    DONE,
    RECORD,
    ask,
    draft,
    failed,
    labelled,
    lookup,
    read,
    stock,
    story,
    trajectory,
    update,
)

GOOD = (1, "milestone")
TAINTED = (-1, "tainted")
REPORT = (1, "report")
LOST = failed("timeout")


def test_a_run_without_a_mistake_is_good_throughout_and_covered() -> None:
    run = labelled(read(), lookup(), stock(), draft(), update(), DONE)
    assert list(run.step_labels.values()) == [1, 1, 1, 1, 1, 1]
    assert run.final_label == 1
    assert run.label_notes["11"]["rule"] == "report"


def test_a_made_up_reference_is_accused_once_and_what_follows_depends_on_it() -> None:
    steps = story(read(), lookup(), stock("pear-9"), draft(sku="pear-9"), update(), DONE)
    assert steps == [GOOD, GOOD, (-1, "fabricated_ref"), TAINTED, TAINTED, TAINTED]


def test_only_what_was_taken_from_a_wrong_step_is_tainted() -> None:
    steps = story(read(), lookup(), stock("pear-9"), stock(), draft(), update(), DONE)
    assert steps == [GOOD, GOOD, (-1, "fabricated_ref"), (1, "recovery"), GOOD, GOOD, REPORT]


def test_reads_guessed_beside_the_ticket_are_an_ungrounded_batch_and_a_grounded_one_corrects_them() -> None:
    batch = [read(), lookup("C11", "9 Oak Lane, Rome"), stock("pear-9", 3)]
    steps = story(batch, [lookup(), stock()], draft(), update(), DONE)
    assert steps[0] == (-1, "ungrounded_batch")
    assert [label for label, _ in steps[1:]] == [1, 1, 1, 1]
    used = story(batch, stock(), draft(address="9 Oak Lane, Rome"), update(), DONE)
    assert used[2:] == [TAINTED, TAINTED, TAINTED]


def test_a_call_made_again_on_sound_grounds_repeats_no_guess() -> None:
    steps = story([read(), lookup()], lookup(), stock(), draft(), update(), DONE)
    assert steps[0] == (-1, "ungrounded_batch")
    assert steps[1][0] == 1


def test_a_minefield_comes_before_everything_and_taints() -> None:
    run = labelled(read(), lookup(), stock(units=0), draft(), update(), DONE)
    rules = [note["rule"] for note in run.label_notes.values()]
    assert rules == ["milestone", "milestone", "milestone", "minefield", "tainted", "tainted"]
    assert run.final_label == -1


def test_a_failed_write_that_is_claimed_is_a_false_claim_and_one_that_is_admitted_is_not() -> None:
    lost = update(result=LOST)
    assert story(read(), lookup(), stock(), draft(), lost, DONE)[-2:] == [
        (0, "outside_failure"),
        (-1, "false_claim"),
    ]
    admitted = "I could not set T41 to closed: the desk timed out."
    assert story(read(), lookup(), stock(), draft(), lost, admitted)[-1][1] != "false_claim"


def test_a_retry_after_an_outside_failure_is_good() -> None:
    steps = story(read(), lookup(), stock(), draft(), update(result=LOST), update(), DONE)
    assert [label for label, _ in steps] == [1, 1, 1, 1, 0, 1, 1]


def test_a_status_that_only_trying_shows_to_be_illegal_is_neutral_and_insisting_is_not() -> None:
    refused = failed("illegal_status", {"legal": ["solved", "done"]})
    wrong = update(result=refused)
    again = update(result=refused, note="other words")
    right = update(status="solved")
    steps = story(read(), lookup(), stock(), draft(), wrong, again, right, DONE)
    assert steps[4:] == [(0, "learnt_by_trying"), (-1, "repeated_error"), (1, "recovery"), REPORT]


def test_a_blank_reference_is_an_illegal_argument() -> None:
    blank = draft(sku="", result=failed("refused"))
    assert story(read(), lookup(), blank)[-1] == (-1, "illegal_argument")


def test_a_repeat_is_neutral_once_and_bad_after() -> None:
    steps = story(read(), read(), read(), lookup(), stock(), draft(), update(), DONE)
    assert steps[:3] == [GOOD, (0, "no_progress"), (-1, "no_progress")]
    assert [label for label, _ in steps[3:]] == [1, 1, 1, 1, 1]


def test_looking_again_after_a_write_is_looking_anew() -> None:
    steps = story(read(), read(), lookup(), stock(), draft(), update(), read(), DONE)
    assert [label for label, _ in steps] == [1, 0, 1, 1, 1, 1, 0, 1]


def test_a_repeat_beside_a_new_call_does_not_spoil_it() -> None:
    assert story(read(), [read(), lookup()], stock(), draft(), update(), DONE)[1] == GOOD


def test_a_read_that_has_no_bearing_is_neutral_and_using_it_is_not() -> None:
    record = {**RECORD, "related": "T50"}
    other = read({"ticket_id": "T50", "customer_id": "C99", "sku": "plum-3", "qty": 1}, "T50")
    steps = story(read(record), other, lookup(), stock(), draft(), update(), DONE)
    assert steps[1] == (0, "unused_read")
    used = story(read(record), other, lookup("C99", "1 Bay Rd, Oslo"), stock(), draft(address="1 Bay Rd, Oslo"))
    assert used[1:] == [(0, "unused_read"), (-1, "wrong_entity"), GOOD, TAINTED]


def test_a_read_of_another_thing_that_a_draft_then_takes_is_wrong() -> None:
    record = {**RECORD, "alternative": "plum-3"}
    steps = story(read(record), lookup(), stock("plum-3"), draft(sku="plum-3"), update(), DONE)
    assert steps[2:4] == [(-1, "wrong_entity"), (-1, "called_wrong")]
    assert steps[4:] == [TAINTED, TAINTED]
    assert story(read(record), lookup(), stock("plum-3"), stock(), draft(), update(), DONE)[2] == (0, "unused_read")


def test_the_recipients_record_counts_and_not_the_customers() -> None:
    record = {**RECORD, "ship_to": "C81"}
    steps = story(read(record), lookup(), stock(), draft(), update(), DONE)
    assert steps[1:4] == [(0, "unused_read"), GOOD, (-1, "wrong_entity")]


def test_a_decision_against_a_known_fact_is_the_wrong_branch() -> None:
    steps = story(read(), lookup(), stock(), draft(action="backorder"), update(), DONE)
    assert steps[3:] == [(-1, "wrong_branch"), TAINTED, TAINTED]


def test_a_decision_without_finding_out_is_blind() -> None:
    steps = story(read(), lookup(), draft(action="backorder"), update(), DONE)
    assert steps[2:] == [(-1, "blind_decision"), TAINTED, TAINTED]


def test_a_question_for_what_is_missing_is_needed_once() -> None:
    record = {**RECORD, "sku": None}
    question = ask("Which SKU is it?", "It is apple-4.")
    steps = story(read(record), question, question, lookup(), stock(), draft(), update(), DONE)
    assert steps[1:3] == [(1, "needed_question"), (0, "no_progress")]
    assert [label for label, _ in steps[3:]] == [1, 1, 1, 1, 1]


def test_a_question_for_what_is_known_is_needless_whatever_its_words() -> None:
    answer = "It is 5 Elm St, Boston."
    asked = [ask(f"{words} the address?", answer) for words in ("What is", "Please, what was", "Again,")]
    steps = story(read(), lookup(), *asked, stock(), draft(), update(), DONE)
    assert [label for label, _ in steps[2:5]] == [0, -1, -1]


def test_stopping_with_milestones_open_is_a_premature_stop() -> None:
    steps = story(read(), lookup(), stock(), "Done: T41 is closed.")
    assert steps == [GOOD, GOOD, GOOD, (-1, "premature_stop")]


def test_a_refusal_where_information_is_missing_is_legal() -> None:
    record = {**RECORD, "sku": None}
    question = ask("Which SKU is it?", "I do not know it.")
    steps = story(read(record), lookup(), question, "I cannot do it: no SKU is known, so I changed nothing.")
    assert steps[-1] == (1, "legal_refusal")


def test_a_run_may_end_with_a_question_for_what_is_missing() -> None:
    unknown = read({**RECORD, "sku": None})
    assert story(unknown, lookup(), "Which SKU is it?")[-1] == (1, "needed_question")
    asked = story(unknown, lookup(), ask("Which SKU is it?", "I do not know it."), "But which SKU is it?")
    assert asked[-2:] == [(1, "needed_question"), (None, "unknown")]
    assert story(read(), lookup(), "Which SKU is it?")[-1] == (-1, "premature_stop")
    assert story(unknown, lookup(), "What is the weather like?")[-1] == (-1, "premature_stop")


def test_a_question_in_words_is_needed_the_first_time_whether_or_not_it_is_the_last_message() -> None:
    steps = story(read({**RECORD, "sku": None}), "Which SKU is it?", lookup(), "So which SKU is it?")
    assert steps[1] == (1, "needed_question")
    assert steps[-1] == (None, "unknown")


@pytest.mark.parametrize(
    "last", ["Which SKU is it?", "Is there a code?", "Done: T41 is closed.", "I cannot do it.", ""]
)
def test_a_stop_is_premature_to_the_labels_wherever_it_is_to_the_judge(last: str) -> None:
    spec = shipped_spec("ticket")
    for record in (RECORD, {**RECORD, "sku": None}):
        run = run_of_trajectory(trajectory(read(record), lookup(), last), spec.envelope)
        labelled_run, verdict = label_trajectory(run, spec)
        judged = any(diagnosis.name == "premature_stop" for diagnosis in verdict.diagnoses)
        rules = [note["rule"] for note in labelled_run.label_notes.values()]
        assert ("premature_stop" in rules) == judged


def test_a_read_that_nothing_used_is_neutral() -> None:
    assert story(read(), "Done.")[0] == (0, "unused_read")


def test_what_a_missing_result_leaves_open_is_masked_and_accuses_nobody() -> None:
    lost = ("check_inventory", {"sku": "apple-4"}, None)
    run = labelled(read(), lookup(), lost, draft(), update(), DONE)
    assert run.step_labels[5] is None
    assert run.label_notes["5"]["rule"] == "unknown"
    assert -1 not in run.step_labels.values()
    assert run.final_label is None


def test_a_run_without_any_result_is_masked_or_neutral() -> None:
    calls = [(tool, arguments, None) for tool, arguments, _ in (read(), lookup(), stock(), draft(), update())]
    run = labelled(*calls, DONE)
    assert set(run.step_labels.values()) <= {None, 1}
    assert run.final_label is None


def test_an_order_in_the_spec_wins_and_is_recorded() -> None:
    spec = shipped_spec("ticket").model_copy(update={"labels": Labels(order=("no_progress", "report"))})
    run = labelled(read(), lookup(), spec=spec)
    assert run.extra["reach"]["labels"]["order"][:3] == ["no_progress", "report", "minefield"]
    assert run.extra["reach"]["labels"]["order_from"] == "spec"
    assert rule_order(shipped_spec("ticket")) == DEFAULT_ORDER


def test_the_first_rule_of_the_order_that_speaks_gives_the_label() -> None:
    steps = (read(), lookup(), stock(), draft(sku="pear-9", action="backorder"))
    assert story(*steps)[-1] == (-1, "fabricated_ref")
    spec = shipped_spec("ticket").model_copy(update={"labels": Labels(order=("wrong_branch",))})
    assert story(*steps, spec=spec)[-1] == (-1, "wrong_branch")


@pytest.mark.parametrize("order", [("nonsense",), ("report", "report")])
def test_an_order_that_names_no_rule_or_one_twice_is_refused(order: tuple[str, ...]) -> None:
    spec = shipped_spec("ticket").model_copy(update={"labels": Labels(order=order)})
    with pytest.raises(ConfigError, match="order"):
        rule_order(spec)


def test_every_label_has_its_rule_evidence_and_basis_beside_it_in_a_legal_record() -> None:
    run = labelled(read(), lookup(), stock("pear-9"), draft(sku="pear-9"), update(), DONE)
    record = json.loads(json.dumps(dump_trajectory(run)))
    assert parse_trajectory(record, "run") == run
    assert record["label_source"] == "rule"
    assert record["protocol"] == "error_propagation"
    spec = shipped_spec("ticket")
    for note in record["label_notes"].values():
        assert note["rule"] in DEFAULT_ORDER
        assert note["basis"] == f"ticket@{spec.sha256[:12]} rules/{RULES_VERSION} order/default"
    accused = record["label_notes"]["5"]["evidence"][0]
    assert (accused["index"], accused["value"], accused["path"]) == (5, "pear-9", "sku")
    carried = record["label_notes"]["9"]["evidence"][0]
    assert (carried["value"], carried["source_index"]) == ("A55", 8)
    assert record["reach"]["milestones"] == {
        "M1": "reached",
        "M2": "reached",
        "M3": "touched",
        "M4": "touched",
        "M5": "reached",
    }


def test_nothing_that_tells_how_a_run_was_made_is_read() -> None:
    spec = shipped_spec("ticket")
    for run in generate_runs(60, seed=11):
        bare = replace(
            run,
            identity=RunIdentity(id="r"),
            step_labels=dict.fromkeys(run.step_labels, None),
            final_label=None,
            label_notes=None,
            extra={},
        )
        known, _ = label_trajectory(run_of_trajectory(run, spec.envelope), spec)
        blind, _ = label_trajectory(run_of_trajectory(bare, spec.envelope), spec)
        assert blind.step_labels == known.step_labels
        assert blind.final_label == known.final_label
