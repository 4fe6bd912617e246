"""The evaluation report: summary, tables, figures and the trajectory browser, as a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prm.report.browser import browser_data
from prm.report.browser_part import browser_part
from prm.report.cells import counted
from prm.report.folder import write_page
from prm.report.judged import judges as best_first
from prm.report.page import Page
from prm.report.sections import evaluation_sections
from prm.report.words import summary_sentences
from prm.types import Prediction, Trajectory


def write_report(
    out: Path,
    metrics: Mapping[str, Any],
    gold: Sequence[Trajectory],
    judges: Mapping[str, Sequence[Prediction]],
) -> list[Path]:
    """Writes the evaluation report into `out`; see `write_page`.

    Args:
        out: The folder; made where it does not exist.
        metrics: The content of metrics.json.
        gold: The truth that was evaluated.
        judges: Name → its predictions, for every judge in `metrics`.

    Returns:
        The files written, ``report.html`` first.
    """
    data = browser_data(gold, {one.name: judges[one.name] for one in best_first(metrics)})
    page = Page(
        title="Evaluation report",
        subtitle=_subtitle(metrics),
        summary=tuple(summary_sentences(metrics)),
        sections=tuple(evaluation_sections(metrics)),
        parts=(browser_part(data),),
    )
    return write_page(out, page)


def _subtitle(metrics: Mapping[str, Any]) -> str:
    gold = metrics["gold"]
    counts = ((len(metrics["judges"]), "judge"), (gold["trajectories"], "run"), (gold["steps"], "labelled step"))
    return " · ".join(counted(count, word) for count, word in counts)
