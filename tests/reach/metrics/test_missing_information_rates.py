from __future__ import annotations

from typing import Any

from prm.reach.judging.verdict import MissingInformation
from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.missing_information_rates import missing_information_reports
from prm.reach.metrics.report_values import MissingInformationReport
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import encode_verdicts
from tests.reach.metrics.hand_verdicts import verdict


def reports(*responses: list[tuple[str, Any]]) -> list[MissingInformationReport]:
    verdicts = [
        verdict("r", f"s{n}", missing_information=tuple(MissingInformation(fact, what) for fact, what in items))
        for n, items in enumerate(responses)
    ]
    arrays = encode_verdicts(verdicts)
    return list(missing_information_reports(arrays, ScenarioMeans(arrays.grouping, Settings(15, 0, 0)))())


def test_shares_are_of_the_runs_in_which_something_is_missing() -> None:
    whole = reports([("no_sku", "asks")], [("no_sku", "invents")], [("no_sku", "invents")], [])[0]
    assert (whole.fact, whole.asks.value, whole.refuses.value) == (None, 1 / 3, 0.0)
    assert (whole.invents.value, whole.other.value) == (2 / 3, 0.0)
    assert (whole.asks.runs, whole.asks.left_out) == (3, 1)


def test_a_run_may_ask_for_one_thing_and_invent_another() -> None:
    found = reports([("no_sku", "asks"), ("no_address", "invents")])
    assert [(one.fact, one.asks.value, one.invents.value) for one in found] == [
        (None, 1.0, 1.0),
        ("no_address", 0.0, 1.0),
        ("no_sku", 1.0, 0.0),
    ]


def test_where_nothing_is_ever_missing_there_is_no_report() -> None:
    assert reports([], []) == []
