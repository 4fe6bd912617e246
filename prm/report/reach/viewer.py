"""The run viewer: an index of the runs that the page holds, and one compressed record a run, read when it is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prm.reach.judging.verdict import RunVerdict, Standing
from prm.reach.log.run import Run
from prm.reach.metrics.estimate import Arm
from prm.report.cells import counted
from prm.report.page import Part, asset, rendered
from prm.report.reach.assets import reach_asset
from prm.report.reach.examples import MEANINGS
from prm.report.reach.outcome import COVERED, MINEFIELD, broken_at, log_key
from prm.report.reach.run_record import run_record
from prm.report.safe_text import packed_json

_SCRIPTS = ("browser_dom.js", "browser_runs.js", "browser_list.js", "browser_run.js", "browser.js")
_OWN_SCRIPTS = ("choice.js", "reach_runs.js", "reach_run.js", "reach.js")
"""In the order in which they need each other; together they are one module."""

_LETTERS: Mapping[Standing, str] = {"reached": "r", "touched": "t", "missed": "m", "n/a": "-", "unscorable": "?"}
_LONGEST_STRIP = 40


@dataclass(frozen=True, slots=True)
class ViewerData:
    """What the page holds of the runs.

    Attributes:
        index: Packed JSON, see `viewer_index`.
        runs: [N] packed JSON, see `run_record`.
        total: How many runs there are in all.
        logs: How many of the N have a log.
    """

    index: str
    runs: tuple[str, ...]
    total: int
    logs: int


def viewer_data(
    verdicts: Sequence[RunVerdict], names: Sequence[str], logs: Mapping[tuple[str, ...], Run], chosen: Sequence[int]
) -> ViewerData:
    """Index and records of the chosen runs.

    Args:
        verdicts: All N.
        names: [N] a name for each that no other has.
        logs: `log_key` → the run's log, as far as there are any.
        chosen: Numbers of the runs to show.
    """
    found = [logs.get(log_key(verdicts[number])) for number in chosen]
    records = [packed_json(run_record(verdicts[n], run)) for n, run in zip(chosen, found, strict=True)]
    index = viewer_index([verdicts[n] for n in chosen], [names[n] for n in chosen])
    return ViewerData(packed_json(index), tuple(records), len(verdicts), sum(run is not None for run in found))


def viewer_index(verdicts: Sequence[RunVerdict], names: Sequence[str]) -> dict[str, Any]:
    """What the list of runs needs, column by column.

    Returns:
        `arms`, `milestones`, `diagnoses` (pairs of name and title): distinct texts, to which runs refer by number;
        `runs`: {column: [N]}, where `broken` is a milestone's number, −1 = covered, −2 = minefield, −3 = unknown.
    """
    arms = list(dict.fromkeys(Arm(one.agent, one.variant).name for one in verdicts))
    milestones = list(dict.fromkeys(m.name for one in verdicts for m in one.milestones))
    made = {diagnosis.name for one in verdicts for diagnosis in one.diagnoses}
    diagnoses = [*(name for name in MEANINGS if name in made), *sorted(made - MEANINGS.keys())]
    columns: dict[str, list[Any]] = {
        "key": list(names),
        "scenario": [one.scenario for one in verdicts],
        "run": [str(one.run) for one in verdicts],
        "arm": [arms.index(Arm(one.agent, one.variant).name) for one in verdicts],
        "strip": [_strip(one, milestones) for one in verdicts],
        "broken": [_broken(one, milestones) for one in verdicts],
        "open": [sum(m.required and m.standing in ("missed", "touched") for m in one.milestones) for one in verdicts],
        "calls": [one.calls for one in verdicts],
        "end": [one.end or "" for one in verdicts],
        "found": [[k for k, name in enumerate(diagnoses) if name in _names(one)] for one in verdicts],
    }
    titles = [[name, MEANINGS[name][0] if name in MEANINGS else name] for name in diagnoses]
    return {"arms": arms, "milestones": milestones, "diagnoses": titles, "runs": columns}


def _names(verdict: RunVerdict) -> set[str]:
    return {diagnosis.name for diagnosis in verdict.diagnoses}


def _strip(verdict: RunVerdict, milestones: Sequence[str]) -> str:
    stands = verdict.by_name
    return "".join(_LETTERS[stands[name].standing] if name in stands else "-" for name in milestones[:_LONGEST_STRIP])


def _broken(verdict: RunVerdict, milestones: Sequence[str]) -> int:
    broken = broken_at(verdict)
    if broken in milestones:
        return milestones.index(broken)
    return {COVERED: -1, MINEFIELD: -2}.get(broken, -3)


def viewer_part(data: ViewerData) -> Part:
    """The viewer with its style and its script, which also lets the reader choose the agent in the figures above."""
    return Part(
        id="trajectories",
        title="Runs",
        text=_text(data),
        body=rendered(reach_asset("viewer.html.jinja"), data=data),
        style="\n".join([asset("browser.css"), reach_asset("reach.css")]),
        script="\n".join([*map(asset, _SCRIPTS), *map(reach_asset, _OWN_SCRIPTS)]),
    )


def _text(data: ViewerData) -> str:
    shown = len(data.runs)
    text = "Each run with the verdict on every milestone; opened, with the messages that prove it. "
    text += "In an opened run, j and k go to the next and the previous one, Escape closes it."
    if shown < data.total:
        text += (
            f"\n\nShown are {shown:,} of {counted(data.total, 'run')}: the examples above, and of the rest nine in ten "
            "that are not covered, in proportion to where their chain breaks. Everything above is measured on all."
        )
    if not data.logs:
        text += "\n\nNo logs were given (--logs), so only the evidence is shown, not the messages."
    elif data.logs < shown:
        text += f"\n\nThe logs given hold {data.logs:,} of these runs; of the others only the evidence is shown."
    return text
