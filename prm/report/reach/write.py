"""The page of ``prm reach report``, as a folder: ``report.html``, its figures and its tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.run import Run
from prm.reach.metrics.report_values import Report
from prm.report.cells import counted
from prm.report.folder import write_page
from prm.report.page import Page
from prm.report.reach.evidence_part import evidence_part
from prm.report.reach.examples import found_diagnoses
from prm.report.reach.outcome import log_key, run_names
from prm.report.reach.sample import sampled
from prm.report.reach.sections import reach_sections
from prm.report.reach.viewer import viewer_data, viewer_part
from prm.report.reach.words import summary_sentences


def write_reach_report(
    report: Report, verdicts: Sequence[RunVerdict], runs: Iterable[Run], out_dir: Path
) -> list[Path]:
    """Writes the page into `out_dir`; see `prm.report.folder.write_page`.

    Args:
        report: What was measured.
        verdicts: The verdicts that it was measured on.
        runs: Their logs, matched by key, agent and variant; may hold fewer, more or none. Read one at a time: only
            those that the page shows are kept.
        out_dir: The folder; made where it does not exist.

    Returns:
        The files written, ``report.html`` first.
    """
    return write_page(out_dir, reach_page(report, verdicts, runs))


def reach_page(report: Report, verdicts: Sequence[RunVerdict], runs: Iterable[Run]) -> Page:
    """The page as values; arguments as of `write_reach_report`."""
    names = run_names(verdicts)
    found = found_diagnoses(verdicts)
    chosen = sampled(verdicts, (example.run for one in found for example in one.examples))
    logs = _logs(runs, {log_key(verdicts[number]) for number in chosen})
    proof = evidence_part(found, verdicts, names, logs, frozenset(chosen))
    viewer = viewer_part(viewer_data(verdicts, names, logs, chosen))
    return Page(
        title="Reach report",
        subtitle=_subtitle(report),
        summary=tuple(summary_sentences(report, sum(bool(one.notes) for one in verdicts))),
        sections=tuple(reach_sections(report)),
        parts=(proof, viewer) if found else (viewer,),
    )


def _logs(runs: Iterable[Run], wanted: Collection[tuple[str, ...]]) -> dict[tuple[str, ...], Run]:
    """`log_key` → the first run of that key, for the wanted keys."""
    logs: dict[tuple[str, ...], Run] = {}
    for run in runs:
        key = log_key(run)
        if key in wanted:
            logs.setdefault(key, run)
    return logs


def _subtitle(report: Report) -> str:
    runs = sum(arm.runs for arm in report.arms)
    arms = counted(len(report.arms), "agent × variant", "agents × variants")
    scenarios = len({row.scenario for arm in report.arms for row in arm.grid})
    return f"{report.spec} · {counted(runs, 'run')} of {counted(scenarios, 'scenario')} · {arms}"
