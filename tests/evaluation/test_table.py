from __future__ import annotations

import io

from rich.console import Console
from rich.markup import escape

from prm.evaluation import evaluate
from prm.evaluation.baselines import fitted_baselines
from prm.evaluation.table import WIDTH, notes, percent, tables
from tests.evaluation.labelled_runs import gold_run, said

GOLD = [
    gold_run(q, s, [1, -1 if (q + s) % 3 == 0 else 1], 1 if s else -1, source=f"source{q % 4}")
    for q in range(8)
    for s in range(3)
]


def shown(judges: dict, **more: object) -> str:  # type: ignore[type-arg]
    stream = io.StringIO()
    Console(width=WIDTH, file=stream).print(tables(evaluate(GOLD, judges, bootstrap=20, **more)))  # type: ignore[arg-type]
    return stream.getvalue()


def test_fits_the_width_and_keeps_every_number() -> None:
    probs = {2: (0.1, 0.1, 0.8), 4: (0.1, 0.1, 0.8)}
    judge = [said(g, [1, 1], 1, step_probs=probs, final_prob=0.5) for g in GOLD]
    baselines = fitted_baselines(GOLD, ["majority", "position_prior"], None, "")
    text = shown({"A-Judge-With-A-Very-Long-Name-That-Nobody-Reads-235B": judge}, baselines=baselines)
    assert max(len(line) for line in text.splitlines()) <= WIDTH
    assert "…" not in text
    assert text.count("[0.0, 0.0]") >= 1


def test_names_are_no_markup() -> None:
    assert "[bold]x" in shown({"[bold]x": []})
    assert escape("[bold]x") not in shown({"[bold]x": []})


def test_notes_name_the_line_and_what_is_missing() -> None:
    metrics = evaluate(GOLD, {"silent": []}, bootstrap=0)
    lines = list(notes(metrics))
    assert lines[0].startswith("1 of 1 judges score below always_positive")
    assert "silent: 24 without a prediction." in lines


def test_undefined_is_a_dash() -> None:
    assert percent(None) == "–"
    assert percent(0.68049) == "68.0"
