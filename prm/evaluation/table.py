"""metrics.json as tables for the terminal, at most 100 columns wide."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from prm.evaluation.baselines import ALWAYS_POSITIVE
from prm.evaluation.sources import UNPRINTABLE

WIDTH = 100
_LONGEST_CELL = 120
MAX_SOURCES = 6  # columns of the second table that still fit
_NAME_WIDTH = 30  # "bag_of_words (leave-query-out)"

_COLUMNS = (
    ("FirstErr", "first_err_acc"),
    ("strict", "first_err_acc_strict"),
    ("F1", "error_f1"),
    ("MacroR", "macro_recall"),
    ("Outcome", "final_acc"),
    ("Cover", "coverage"),
)


_SELECTORS = {
    "final": "final",
    "num_pos": "num+",
    "pct_pos": "pct+",
    "two_stage": "2-stage",
    "prob_mean": "mean p",
    "final_prob": "final p",
}


def tables(metrics: Mapping[str, Any]) -> RenderableType:
    """The judges overall, by source and at Best-of-N, and what was left out."""
    parts: list[RenderableType] = [_overall(metrics)]
    if 1 < len(metrics["gold"]["by_source"]) <= MAX_SOURCES:
        parts.append(_by_source(metrics))
    if any(block["best_of_n"]["selectors"] for block in metrics["judges"].values()):
        parts.append(_best_of_n(metrics))
    return Group(*parts, *(Text(note, style="dim") for note in notes(metrics)))


def _ranked(metrics: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], str]]:
    """(name, block, style) of judges and baselines, best StepAcc first; baselines in italics."""
    rows = [(name, block, "") for name, block in metrics["judges"].items()]
    rows += [(name, block, "italic cyan") for name, block in metrics["baselines"].items()]
    return sorted(rows, key=lambda row: -(row[1]["overall"]["step_acc"] or 0.0))


def percent(value: float | None) -> str:
    """A fraction as a percentage with one decimal, "–" where undefined."""
    return "–" if value is None else f"{100 * value:.1f}"


def one_line(text: str) -> str:
    """A name from a record as a cell: a line end or control character, which a terminal would obey, becomes "?"."""
    return "".join("?" if unicodedata.category(letter) in UNPRINTABLE else letter for letter in text)


def shortened(text: str) -> str:
    """At most `_LONGEST_CELL` characters, the end left out."""
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _interval(block: Mapping[str, Any], name: str) -> str:
    bounds = block["ci95"].get(name)
    return "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"


def _table(title: str, columns: list[str]) -> Table:
    table = Table(title=title, title_justify="left", width=WIDTH, pad_edge=False, box=None, header_style="bold")
    table.add_column("judge", overflow="fold", min_width=_NAME_WIDTH, max_width=_NAME_WIDTH)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _overall(metrics: Mapping[str, Any]) -> Table:
    gold = metrics["gold"]
    counts = f"{gold['trajectories']} trajectories, {gold['steps']} labelled steps"
    title = f"{counts}, {gold['queries']} queries (percent)"
    table = _table(title, ["StepAcc [95 % CI]", *(title for title, _ in _COLUMNS)])
    for name, block, style in _ranked(metrics):
        overall = block["overall"]
        step = percent(overall["step_acc"]) + _interval(overall, "step_acc")
        cells = [percent(overall[key]) for _, key in _COLUMNS]
        table.add_row(escape(name), escape(step), *cells, style=style)
    return table


def _by_source(metrics: Mapping[str, Any]) -> Table:
    sources = list(metrics["gold"]["by_source"])
    table = _table("\nStepAcc / FirstErrAcc by source", [escape(one_line(source[:13])) for source in sources])
    for name, block, style in _ranked(metrics):
        cells = [block["by_source"][source] for source in sources]
        shown = [f"{percent(cell['step_acc'])}/{percent(cell['first_err_acc'])}" for cell in cells]
        table.add_row(escape(name), *shown, style=style)
    return table


def _best_of_n(metrics: Mapping[str, Any]) -> Table:
    rows = _ranked(metrics)
    first = next(iter(metrics["judges"].values()))["best_of_n"]
    runs = first["n"] if first["n"] is not None else f"{first['n_min']}–{first['n_max']}"
    scale = f"random {percent(first['random'])}, oracle {percent(first['oracle'])}"
    used = [s for s in _SELECTORS if any(s in block["best_of_n"]["selectors"] for _, block, _ in rows)]
    table = _table(
        f"\nBest of {runs} over {first['groups']} queries: {scale}",
        [*(_SELECTORS[s] for s in used), "gain [95 % CI]"],
    )
    for name, block, style in rows:
        chosen = block["best_of_n"]["selectors"]
        cells = [percent(chosen.get(selector, {}).get("accuracy")) for selector in used]
        gain = chosen["two_stage"]
        table.add_row(escape(name), *cells, escape(percent(gain["gain"]) + _interval(gain, "gain")), style=style)
    return table


def notes(metrics: Mapping[str, Any]) -> Iterator[str]:
    """One line for each thing a reader must know beside the numbers."""
    line = metrics["baselines"][ALWAYS_POSITIVE]["overall"]["step_acc"]
    scores = [block["overall"]["step_acc"] for block in metrics["judges"].values()]
    if line is not None and scores:
        below = sum(score < line for score in scores)
        yield f"{below} of {len(scores)} judges score below always_positive on StepAcc ({percent(line)})."
    yield from _verdicts(metrics)
    r = metrics["correlation"]
    if r["pearson_r"] is not None:
        yield f"StepAcc and outcome accuracy correlate at r = {r['pearson_r']:.3f} over {r['n']} judges."
    for name, block in metrics["judges"].items():
        overall = block["overall"]
        counts = [f"{overall[key]} {words}" for key, words in _COUNTED if overall[key]]
        if counts:
            yield f"{name}: {', '.join(counts)}."
    left_out = metrics["baselines"][ALWAYS_POSITIVE]["overall"]["first_err_left_out"]
    if left_out:
        yield f"{left_out} trajectories are left out of FirstErrAcc: their first error is unknown."


def _verdicts(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Which judges are better or worse than always_positive beyond chance."""
    verdicts = {
        name: block.get("versus_always_positive", {}).get("step_acc", {}).get("verdict")
        for name, block in metrics["judges"].items()
    }
    for verdict in ("better", "worse"):
        names = [name for name, given in verdicts.items() if given == verdict]
        if names:
            yield f"{verdict.capitalize()} than always_positive on StepAcc (5 %, Holm): {', '.join(names)}."


_COUNTED = (
    ("failed", "failed"),
    ("partial", "partial"),
    ("missing", "without a prediction"),
    ("ignored_labels", "predicted labels on messages that are no labelled step"),
    ("unmatched_predictions", "predictions for unknown trajectories"),
    ("superseded_predictions", "older records replaced"),
)
