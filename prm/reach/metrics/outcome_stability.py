"""How stable agents are from their outcomes alone: of verdicts, or of any trajectories with repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prm.errors import InputError
from prm.evaluation.intervals import check_resampling
from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.metrics.arms import arm_rows, check_runs, check_verdicts
from prm.reach.metrics.estimate import OUTCOMES, Arm, Settings
from prm.reach.metrics.node_values import Stability
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.stability import stability
from prm.reach.metrics.verdict_arrays import VerdictArrays, encode_verdicts, group_runs
from prm.types import Key, Trajectory
from prm.version import __version__

SCHEMA = "prm.reach.stability/1"


@dataclass(frozen=True, slots=True)
class ArmStability:
    """One agent × variant.

    Attributes:
        arm: Who.
        runs, scenarios, templates: How many.
        outcomes: ``outcome`` (trajectories), or each of `OUTCOMES` that is known of any run (verdicts).
        milestones: By name, where there are verdicts: of reaching it.
    """

    arm: Arm
    runs: int
    scenarios: int
    templates: int
    outcomes: Mapping[str, Stability]
    milestones: Mapping[str, Stability]


@dataclass(frozen=True, slots=True)
class StabilityFile:
    """The content of what `prm reach stability --json` prints; see `SCHEMA`."""

    schema: str
    prm_version: str
    bootstrap: int
    seed: int
    arms: tuple[ArmStability, ...]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What counts of one trajectory."""

    arm: Arm
    scenario: str
    template: str
    run: int | str
    key: Key
    success: float


def stability_of_verdicts(verdicts: Sequence[RunVerdict], settings: Settings, where: str) -> StabilityFile:
    """The stability of every outcome and milestone.

    Raises:
        ConfigError: A setting is out of range.
        InputError: There is no verdict, or there are several specs.
        RecordError: A run comes twice.
    """
    check_resampling(settings.bootstrap, settings.seed)
    check_verdicts(verdicts, where)
    arrays = encode_verdicts(verdicts)
    rows = arm_rows(verdicts)
    return _file([_of_arrays(arm, arrays.subset(np.array(own)), settings) for arm, own in rows.items()], settings)


def _of_arrays(arm: Arm, arrays: VerdictArrays, settings: Settings) -> ArmStability:
    means = ScenarioMeans(arrays.grouping, settings)
    known = {
        name: values for name, values in zip(OUTCOMES, arrays.outcomes.T, strict=True) if not np.isnan(values).all()
    }
    outcomes = {name: stability(values, means) for name, values in known.items()}
    milestones = {name: stability(arrays.reached[:, column], means) for column, name in enumerate(arrays.milestones)}
    return ArmStability(
        arm=arm,
        runs=len(arrays.verdicts),
        scenarios=len(arrays.grouping.names),
        templates=arrays.grouping.n_templates,
        outcomes={name: told() for name, told in outcomes.items()},
        milestones={name: told() for name, told in milestones.items()},
    )


def stability_of_trajectories(trajectories: Iterable[Trajectory], settings: Settings, where: str) -> StabilityFile:
    """The stability of the outcome: repeats are runs of one query by the same agent under the same variant.

    The outcome is `final_label`, else a number `reward`, of which 1 is a success; a run without either is left out.

    Raises:
        ConfigError: A setting is out of range.
        InputError: There is no run, or none with an outcome.
        RecordError: A run comes twice.
    """
    check_resampling(settings.bootstrap, settings.seed)
    found = [_outcome(trajectory) for trajectory in trajectories]
    check_runs([(one.arm, one.scenario, one.run, one.key) for one in found], where)
    if all(np.isnan(outcome.success) for outcome in found):
        todo = "give runs with final_label or reward, or verdicts"
        raise InputError.at(where, "must hold runs with an outcome", f"{len(found)} runs without one", todo)
    by_arm: dict[Arm, list[_Outcome]] = defaultdict(list)
    for outcome in found:
        by_arm[outcome.arm].append(outcome)
    arms = sorted(by_arm, key=lambda arm: (arm.agent, arm.variant))
    return _file([_of_outcomes(arm, by_arm[arm], settings) for arm in arms], settings)


def _outcome(trajectory: Trajectory) -> _Outcome:
    run = run_of_trajectory(replace(trajectory, messages=()))
    outcome = run.outcome if run.outcome is not None else _rewarded(trajectory.extra.get("reward"))
    success = float("nan") if outcome is None else float(outcome == 1)
    return _Outcome(Arm(run.agent, run.variant), run.scenario, run.template, run.run, trajectory.key, success)


def _rewarded(reward: object) -> int | None:
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        return None
    return 1 if reward == 1 else -1


def _of_outcomes(arm: Arm, outcomes: Sequence[_Outcome], settings: Settings) -> ArmStability:
    grouping = group_runs([outcome.scenario for outcome in outcomes], [outcome.template for outcome in outcomes])
    told = stability(np.array([outcome.success for outcome in outcomes]), ScenarioMeans(grouping, settings))
    return ArmStability(arm, len(outcomes), len(grouping.names), grouping.n_templates, {"outcome": told()}, {})


def _file(arms: Sequence[ArmStability], settings: Settings) -> StabilityFile:
    return StabilityFile(SCHEMA, __version__, settings.bootstrap, settings.seed, tuple(arms))
