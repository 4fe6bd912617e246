from __future__ import annotations

import numpy as np
import pytest

from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import group_runs

SETTINGS = Settings(cap=15, bootstrap=400, seed=0)
NAN = float("nan")


def means_of(scenarios: list[str], templates: list[str] | None = None) -> ScenarioMeans:
    return ScenarioMeans(group_runs(scenarios, templates or scenarios), SETTINGS)


def test_the_mean_is_over_scenarios_and_not_over_runs() -> None:
    means = means_of(["a", "b", "b", "b"])
    found = means.of_runs(np.array([1.0, 0.0, 0.0, 0.0]))()
    assert found.value == 0.5
    assert (found.scenarios, found.runs, found.left_out) == (2, 4, 0)


def test_what_is_unknown_is_left_out_and_counted_and_never_zero() -> None:
    found = means_of(["a", "a", "b"]).of_runs(np.array([1.0, NAN, NAN]))()
    assert (found.value, found.scenarios, found.runs, found.left_out) == (1.0, 1, 1, 2)


def test_without_any_value_the_estimate_is_undefined_with_a_reason() -> None:
    found = means_of(["a", "b"]).of_runs(np.array([NAN, NAN]), "nothing to see")()
    assert (found.value, found.ci95, found.undefined) == (None, None, "nothing to see")


def test_one_template_has_no_interval_and_two_have_one() -> None:
    values = np.array([1.0, 0.0])
    assert means_of(["a", "b"], ["t", "t"]).of_runs(values)().ci95 is None
    assert means_of(["a", "b"], ["t", "u"]).of_runs(values)().ci95 == (0.0, 1.0)


def test_a_value_in_one_template_only_has_no_interval() -> None:
    assert means_of(["a", "b"]).of_runs(np.array([1.0, NAN]))().ci95 is None


def test_scenarios_of_one_template_are_resampled_together() -> None:
    scenarios = [f"s{number}" for number in range(40)]
    values = np.array([float(number < 20) for number in range(40)])
    alone = means_of(scenarios).of_runs(values)().ci95
    clustered = means_of(scenarios, ["t" if number < 20 else "u" for number in range(40)]).of_runs(values)().ci95
    assert alone is not None
    assert clustered == (0.0, 1.0)
    assert alone[1] - alone[0] < 0.4


def test_no_draws_no_interval() -> None:
    grouping = group_runs(["a", "b"], ["a", "b"])
    found = ScenarioMeans(grouping, Settings(15, 0, 0)).of_runs(np.array([1.0, 0.0]))()
    assert (found.value, found.ci95) == (0.5, None)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        quality = rng.uniform(size=30)  # of templates; the true mean is 0.5
        values = (rng.uniform(size=(30, 4)) < quality[:, None]).astype(np.float64)
        names = [f"{template}-{scenario}" for template in range(30) for scenario in range(4)]
        means = means_of(names, [name.partition("-")[0] for name in names])
        low, high = means.of_runs(values.ravel())().ci95 or (0.0, 0.0)
        covered += low <= 0.5 <= high
    assert 180 <= covered <= 200


def test_reading_one_estimate_early_changes_no_other() -> None:
    values = np.array([1.0, 0.0, 1.0])
    early = means_of(["a", "b", "c"])
    first = early.of_runs(values)()
    second = early.of_runs(1 - values)()
    late = means_of(["a", "b", "c"])
    both = [late.of_runs(values), late.of_runs(1 - values)]
    assert [first, second] == [later() for later in both]
    assert first.value == pytest.approx(2 / 3)
