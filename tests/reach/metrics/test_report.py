from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.data.schema import read_schema
from prm.errors import ConfigError, InputError, RecordError
from prm.reach.judging.verdict import Diagnosis, MissingInformation, RunVerdict
from prm.reach.metrics.estimate import Arm, Settings
from prm.reach.metrics.json_form import as_json
from prm.reach.metrics.report import build_report, compare_sets
from tests.json_values import numbers
from tests.reach.metrics.hand_verdicts import fabricated, verdict

SETTINGS = Settings(15, 50, 0)
REPORT_SCHEMA = jsonschema.Draft202012Validator(json.loads(read_schema("reach-report")))
COMPARISON_SCHEMA = jsonschema.Draft202012Validator(json.loads(read_schema("reach-comparison")))


@st.composite
def verdict_sets(draw: st.DrawFn) -> list[RunVerdict]:
    found = []
    for agent, variant in (("x", "plain"), ("x", "structured"), ("y", "plain")):
        for scenario in draw(st.lists(st.sampled_from(["a-1", "a-2", "b-1"]), unique=True)):
            for run in range(draw(st.integers(1, 3))):
                word = draw(st.text("rtm-?", min_size=5, max_size=5))
                extras = {
                    "diagnoses": draw(st.sampled_from([(), (fabricated(),), (Diagnosis("detour", 1, None, "read"),)])),
                    "minefields": draw(st.sampled_from([{}, {"mine": True}, {"mine": None}])),
                    "missing_information": draw(st.sampled_from([(), (MissingInformation("no_sku", "asks"),)])),
                    "end": draw(st.sampled_from([None, "final", "cap"])),
                    "ref_leaves": 3,
                }
                found.append(verdict(word, scenario, run, agent=agent, variant=variant, **extras))
    return found or [verdict("?????")]


@settings(max_examples=25, deadline=None)
@given(verdict_sets())
def test_any_report_follows_its_schema_and_its_shares_are_bounded(verdicts: list[RunVerdict]) -> None:
    content = json.loads(json.dumps(as_json(build_report(verdicts, SETTINGS)), allow_nan=False))
    REPORT_SCHEMA.validate(content)
    for arm in content["arms"]:
        for node in arm["nodes"]:
            node.pop("first_reach")
        assert all(-1e-9 <= number <= 1 + 1e-9 for number in numbers(arm))


@settings(max_examples=15, deadline=None)
@given(verdict_sets(), st.randoms())
def test_the_order_of_the_verdicts_does_not_matter(verdicts: list[RunVerdict], chance: random.Random) -> None:
    def values(given_verdicts: list[RunVerdict]) -> Any:
        content = as_json(build_report(given_verdicts, Settings(15, 0, 0)))
        return rounded({"arms": content["arms"], "comparisons": content["comparisons"]})

    assert values(chance.sample(verdicts, len(verdicts))) == values(verdicts)


def rounded(value: Any) -> Any:
    """A JSON value without what the order of a sum changes in the last place."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return round(value, 9) if isinstance(value, float) else value


def test_a_careful_agent_reaches_everything() -> None:
    (arm,) = build_report([verdict("rrrrr", f"{name}-1", run) for name in "abc" for run in range(3)], SETTINGS).arms
    assert (arm.reach.value, arm.reach.ci95) == (1.0, (1.0, 1.0))
    assert {share.value for share in arm.outcomes.values()} == {1.0}
    assert all(node.stability.abilities["stable"] == 3 for node in arm.nodes)
    assert arm.findings[0].startswith("reaches 100 % (95 % interval 100–100 %) of the required milestones")


def test_the_findings_say_the_bottleneck_in_plain_words() -> None:
    good = [verdict("rrrrr", f"{number}-1") for number in range(8)]
    invented = [verdict("rrtrr", f"{number}-2", diagnoses=(fabricated(batch=4),)) for number in range(3)]
    unexplained = [verdict("rrtrr", f"{number}-3") for number in range(4)]
    (arm,) = build_report([*good, *invented, *unexplained, verdict("rrmrr", "m-1")], SETTINGS).arms
    assert "bottleneck M3: touched 94 %, reached 50 %; 38 % of misses are an invented SKU" in arm.findings


def test_a_tool_that_is_mostly_never_called_is_said_before_any_cause() -> None:
    stop = (Diagnosis("premature_stop", 9, None, "M2"),)
    given = [verdict("rm", "a"), verdict("rm", "b", diagnoses=stop), verdict("rt", "c")]
    (arm,) = build_report(given, SETTINGS).arms
    expected = "bottleneck M2: touched 33 %, reached 0 %; in 67 % of misses its tool is never called"
    assert f"{expected}; 33 % of misses are a stop too early" in arm.findings


def test_minefields_and_missing_information_are_told() -> None:
    asked = (MissingInformation("no_sku", "asks"),)
    given = [
        verdict("r", "a", minefields={"ship_empty": True}, missing_information=asked),
        verdict("r", "b", minefields={"ship_empty": None}),
        verdict("r", "c", minefields={"ship_empty": False}),
    ]
    (arm,) = build_report(given, SETTINGS).arms
    assert (arm.minefields["ship_empty"].value, arm.minefields["ship_empty"].left_out) == (0.5, 1)
    assert any(finding.startswith("minefield ship_empty: hit in 50 %") for finding in arm.findings)
    assert "where information is missing, of 1 run 100 % ask, 0 % refuse, 0 % invent it" in arm.findings


def test_fabricated_leaves_are_a_share_of_those_whose_origin_is_known() -> None:
    given = [
        verdict("r", "a", fabricated_leaves=1, ref_leaves=5, unknown_leaves=1),
        verdict("r", "b", fabricated_leaves=0, ref_leaves=2, unknown_leaves=2),
    ]
    (arm,) = build_report(given, SETTINGS).arms
    assert (arm.fabricated.value, arm.fabricated.left_out) == (0.25, 1)


def test_agents_and_variants_have_parts_and_comparisons_of_their_own() -> None:
    given = [
        verdict("rr", f"{name}-1", agent=agent, variant=variant)
        for name in "ab"
        for agent in "xy"
        for variant in ("plain", "structured")
    ]
    report = build_report(given, SETTINGS)
    assert [arm.arm.name for arm in report.arms] == ["x / plain", "x / structured", "y / plain", "y / structured"]
    assert (report.comparisons[0].old, report.comparisons[0].new) == (Arm("*", "plain"), Arm("*", "structured"))
    assert len(report.comparisons) == 1 + 6


def test_agents_that_share_no_scenario_are_not_compared() -> None:
    assert build_report([verdict("r", "a", agent="x"), verdict("r", "b", agent="y")], SETTINGS).comparisons == ()


def test_with_many_agents_only_those_that_differ_in_one_thing_are_compared() -> None:
    given = [verdict("r", agent=f"agent{number}", variant=variant) for number in range(11) for variant in "pq"]
    comparisons = build_report(given, Settings(15, 0, 0)).comparisons
    assert len(comparisons) == 1 + 11 + 2 * 55


def test_a_difference_seen_beside_many_others_is_corrected_for_them() -> None:
    given = [
        verdict("r" if agent == "good" else "m", f"{name}-1", agent=agent)
        for name in "abcdef"
        for agent in ("good", *(f"bad{number}" for number in range(6)))
    ]
    report = build_report(given, SETTINGS)
    assert len(report.comparisons) == 21
    first = next(
        item.metrics["reach"] for item in report.comparisons if item.old.agent == "bad0" and item.new.agent == "good"
    )
    assert first.p_value == 2 / 64
    assert first.p_holm == pytest.approx(21 * 2 / 64)
    assert first.verdict == "not distinguishable"


def test_differences_between_agents_do_not_weaken_those_between_variants() -> None:
    given = [
        verdict("r" if variant == "structured" else "m", f"{name}-1", agent=agent, variant=variant)
        for name in "abcdefgh"
        for agent in ("x", "y")
        for variant in ("plain", "structured")
    ]
    found = {(item.old.name, item.new.name): item for item in build_report(given, SETTINGS).comparisons}
    variants = found["x / plain", "x / structured"].metrics["reach"]
    assert variants.p_value == 2 / 256
    assert variants.p_holm == pytest.approx(3 * 2 / 256)  # x, y, and both together
    assert found["x / plain", "y / plain"].metrics["reach"].p_value == 1.0


def test_an_agent_that_can_under_another_variant_is_said_to_be_able() -> None:
    given = [
        verdict("rr" if variant == "structured" else "rt", f"{number}-1", variant=variant)
        for number in range(10)
        for variant in ("plain", "structured")
    ]
    findings = build_report(given, SETTINGS).findings
    assert "agent can get past M2: under structured more often than under plain" in findings


def test_without_a_variant_that_helps_ability_stays_undetermined() -> None:
    undetermined = "whether a milestone is missed for want of ability is undetermined: "
    alone = build_report([verdict("rt")], SETTINGS).findings
    assert alone[-1] == undetermined + "only one variant was run"
    both = build_report([verdict("rt"), verdict("rt", variant="structured")], SETTINGS).findings
    assert both[-1] == undetermined + "at no single milestone does a variant help beyond chance"
    assert not any("undetermined" in finding for finding in build_report([verdict("rr")], SETTINGS).findings)


def test_notes_are_counted_by_run() -> None:
    given = [verdict("r", notes=("a result is missing", "a result is missing")), verdict("r", run=1)]
    assert build_report(given, SETTINGS).notes == {"a result is missing": 1}


def test_comparison_files_follow_their_schema() -> None:
    old = [verdict("rt", f"{name}-1", agent=agent) for name in "abc" for agent in ("x", "y")]
    new = [verdict("rr", f"{name}-1", agent=agent, variant="structured") for name in "bcd" for agent in ("x", "z")]
    found = compare_sets(old, new, SETTINGS)
    COMPARISON_SCHEMA.validate(json.loads(json.dumps(as_json(found), allow_nan=False)))
    assert [(item.old.agent, item.new.agent) for item in found.comparisons] == [("x", "x")]
    assert (found.unmatched_old, found.unmatched_new) == ((Arm("y", "plain"),), (Arm("z", "structured"),))


def test_several_agents_are_compared_together_first() -> None:
    old = [verdict("rt", f"{name}-1", agent=agent) for name in "abc" for agent in ("x", "y")]
    new = [verdict("rr", f"{name}-1", agent=agent, variant="structured") for name in "abc" for agent in ("x", "y")]
    found = compare_sets(old, new, SETTINGS).comparisons
    assert [(item.old.name, item.new.name) for item in found] == [
        ("all agents / plain", "all agents / structured"),
        ("x / plain", "x / structured"),
        ("y / plain", "y / structured"),
    ]
    assert found[0].milestones[1].reached.pairs == 3


def test_sets_without_a_common_scenario_are_refused() -> None:
    with pytest.raises(InputError, match="must share scenarios"):
        compare_sets([verdict("r", "a")], [verdict("r", "b")], SETTINGS)


def test_sets_judged_by_different_specs_are_refused() -> None:
    with pytest.raises(InputError, match="one spec"):
        compare_sets([verdict("r")], [verdict("r", spec_sha256="1" * 64)], SETTINGS)


def test_the_same_run_twice_is_refused() -> None:
    with pytest.raises(RecordError, match="come once"):
        build_report([verdict("r"), verdict("r")], SETTINGS)


@pytest.mark.parametrize("wrong", [Settings(0, 50, 0), Settings(15, 5, 0), Settings(15, 50, -1), Settings(10**9, 0, 0)])
def test_settings_out_of_range_are_refused(wrong: Settings) -> None:
    with pytest.raises(ConfigError):
        build_report([verdict("r")], wrong)


def test_twenty_thousand_verdicts_take_seconds() -> None:
    """No timing: the work is counted in arrays, so this only has to end within the suite's patience."""
    words = ["rrrrr", "rrtrr", "rrtmm", "rmrmm"]
    given = [verdict(words[(s + run) % 4], f"t{s % 25}-{s}", run) for s in range(5_000) for run in range(4)]
    (arm,) = build_report(given, Settings(15, 100, 0)).arms
    assert (arm.runs, arm.scenarios, arm.templates) == (20_000, 5_000, 25)
