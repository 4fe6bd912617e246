"""Runs a spec against its own logs: what can be reached, what says nothing, and what comes out otherwise than it says.

A milestone is *vacuous* if a run that does nothing reaches it, if it is still reached once the calls of its source are
taken out of a legal log, or if in no legal log it makes a difference what these calls returned; it is *unreachable* if
no legal log reaches it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import MilestoneVerdict, RunVerdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.run import Run
from prm.reach.spec.ablations import idle, scrambled, without_tool
from prm.reach.spec.model import Spec
from prm.reach.spec.self_test_logs import Expected, SelfTestLog, self_test_logs, trajectory_of


@dataclass(frozen=True, slots=True)
class LogReport:
    """What became of one log.

    Attributes:
        name: The log.
        verdict: The verdict on it.
        problems: What is not as the log says.
    """

    name: str
    verdict: RunVerdict
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpecReport:
    """What a spec's logs say of it.

    Attributes:
        logs: One report a log.
        vacuous: Milestone → why it says nothing.
        unreachable: Milestones that no legal log reaches.
        silent_minefields: Minefields that no log hits: nothing shows that they work.
    """

    logs: tuple[LogReport, ...]
    vacuous: Mapping[str, str]
    unreachable: tuple[str, ...]
    silent_minefields: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Everything that is wrong, one line each; `silent_minefields` only want looking at."""
        return (
            *(f"log {log.name}: {problem}" for log in self.logs for problem in log.problems),
            *(f"milestone {name} is vacuous: {why}" for name, why in self.vacuous.items()),
            *(f"milestone {name} is unreachable: no legal log reaches it" for name in self.unreachable),
        )


def check_spec(spec: Spec, source: str | Path) -> SpecReport:
    """Judges the spec's own logs, a run that does nothing, and its legal logs with parts taken out.

    Args:
        spec: The spec.
        source: What it was loaded from; its logs lie beside it.

    Raises:
        MissingFileError, ConfigError: A log file is missing or wrong.
    """
    logs = self_test_logs(spec, source)
    reports = tuple(_report(spec, name, log) for name, log in logs.items())
    legal = {report.name: report.verdict for report in reports if logs[report.name].legal}
    vacuous: dict[str, str] = {}
    for name, why in _vacuous(spec, logs, legal):
        vacuous.setdefault(name, why)
    reached = {name for verdict in legal.values() for name in _reached(verdict)}
    hit = {name for report in reports for name, is_hit in report.verdict.minefields.items() if is_hit}
    return SpecReport(
        logs=reports,
        vacuous=vacuous,
        unreachable=tuple(name for name in spec.milestones if name not in reached),
        silent_minefields=tuple(name for name in spec.never if name not in hit),
    )


def _report(spec: Spec, name: str, log: SelfTestLog) -> LogReport:
    verdict = _verdict(spec, name, log)
    problems = list(_unexpected(log.expect, verdict)) if log.expect is not None else []
    if log.legal and verdict.covered is not True:
        problems.append("it is legal, but not covered")
    return LogReport(name, verdict, tuple(problems))


def _verdict(spec: Spec, name: str, log: SelfTestLog) -> RunVerdict:
    return judge_run(_run(spec, name, log), spec)


def _run(spec: Spec, name: str, log: SelfTestLog) -> Run:
    return run_of_trajectory(trajectory_of(name, log), spec.envelope)


def _unexpected(expected: Expected, verdict: RunVerdict) -> Iterator[str]:
    for milestone, standing in zip(verdict.milestones, expected.standings, strict=True):
        if milestone.standing != standing:
            yield f"{milestone.name} must be {standing}, is {milestone.standing}{_because(milestone)}"
    hit = {name for name, is_hit in verdict.minefields.items() if is_hit}
    yield from _differences("minefield", set(expected.minefields), hit)
    yield from _differences("diagnosis", set(expected.diagnoses), {found.name for found in verdict.diagnoses})


def _because(milestone: MilestoneVerdict) -> str:
    return f" ({milestone.evidence[0].what})" if milestone.evidence else ""


def _differences(what: str, expected: set[str], found: set[str]) -> Iterator[str]:
    for name in sorted(expected - found):
        yield f"{what} {name} must be found"
    for name in sorted(found - expected):
        yield f"{what} {name} must not be found"


def _vacuous(spec: Spec, logs: Mapping[str, SelfTestLog], legal: Mapping[str, RunVerdict]) -> Iterator[tuple[str, str]]:
    """Every milestone that is reached although what it asks for was not done, and why."""
    for name in legal:
        for reached in _reached(_verdict(spec, name, idle(logs[name]))):
            yield reached, f"a run that does nothing reaches it (log {name} without its calls)"
    for milestone in spec.milestones:
        tools = dict(_source_tools(spec, milestone, logs, legal))
        for name, tool in tools.items():
            if milestone in _reached(_verdict(spec, name, without_tool(logs[name], tool))):
                yield milestone, f"it is reached in log {name} without the calls of {tool}"
        changed = [_verdict(spec, name, scrambled(spec, logs[name], tool)) for name, tool in tools.items()]
        is_final = all(legal[name].by_name[milestone].used == "final" for name in tools)
        if tools and not is_final and all(milestone in _reached(verdict) for verdict in changed):
            yield milestone, "in no legal log it makes a difference what its source returned"


def _source_tools(
    spec: Spec, milestone: str, logs: Mapping[str, SelfTestLog], legal: Mapping[str, RunVerdict]
) -> Iterator[tuple[str, str]]:
    """The legal logs that reach a milestone, each with the tool of its source."""
    for name, verdict in legal.items():
        source = verdict.by_name[milestone].source
        if verdict.by_name[milestone].standing == "reached" and source is not None:
            yield name, _run(spec, name, logs[name]).calls[source.call].tool


def _reached(verdict: RunVerdict) -> list[str]:
    return [milestone.name for milestone in verdict.milestones if milestone.standing == "reached"]
