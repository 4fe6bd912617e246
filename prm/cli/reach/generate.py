"""``prm reach generate``: labelled runs of scripted agents on the built-in ticket desk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from prm.types import Trajectory


def register(reach: typer.Typer) -> None:
    """Add this module's verb to ``prm reach``."""
    reach.command("generate")(generate)


def generate(
    out: Annotated[Path, typer.Option("--out", help="Trajectory file to write (JSONL).")],
    runs: Annotated[int, typer.Option("--runs", help="How many runs.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")] = 0,
    variant: Annotated[
        str, typer.Option("--variant", help="plain, structured, explicit_missing, bare_envelope or mixed.")
    ] = "plain",
    repeats: Annotated[int, typer.Option("--repeats", help="Runs of each scenario (the group of Best-of-N).")] = 4,
    agents: Annotated[str | None, typer.Option("--agents", help="Only these, separated by commas.")] = None,
    templates: Annotated[str | None, typer.Option("--templates", help="Only these, separated by commas.")] = None,
    heed: Annotated[bool, typer.Option("--heed", help="Habits weaken where the variant warns of them.")] = False,
    labels: Annotated[
        str, typer.Option("--labels", help="known: by construction. rules: by rule, the known ones kept beside.")
    ] = "known",
) -> None:
    """Write labelled runs of scripted agents on the simulated ticket desk."""
    from prm.cli.files import check_file, file_errors
    from prm.data.jsonl import write_jsonl
    from prm.data.records import dump_trajectory
    from prm.errors import ConfigError
    from prm.reach.desk.generate import AGENTS, TEMPLATES, WEAKENED, generate_runs

    if labels not in ("known", "rules"):
        raise ConfigError.at("--labels", "must be known or rules", labels, "name one of them")
    with file_errors():
        check_file("--out", out)
    trajectories = list(
        generate_runs(
            runs,
            seed,
            variant=variant,
            repeats=repeats,
            agents=_names("--agents", agents) or AGENTS,
            templates=_names("--templates", templates) or TEMPLATES,
            fires=WEAKENED if heed else None,
        )
    )
    if labels == "rules":
        from prm.reach.labels.known_labels import relabel_by_rules

        trajectories = list(relabel_by_rules(trajectories))
    write_jsonl(out, map(dump_trajectory, trajectories))
    _show(out, trajectories)


def _names(option: str, text: str | None) -> list[str]:
    from prm.errors import ConfigError

    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    if text is not None and not names:
        raise ConfigError.at(option, "must name at least one", text, "name one or leave it out")
    return names


def _show(out: Path, trajectories: list[Trajectory]) -> None:
    """Prints what was written: label shares, and by agent how the runs ended and which habits showed."""
    from collections import Counter

    from rich.console import Console
    from rich.table import Table

    labels: Counter[int | None] = Counter(label for run in trajectories for label in run.step_labels.values())
    steps = labels.total()
    shares = ", ".join(f"{name} {labels[label] / steps:.1%}" for name, label in (("+1", 1), ("0", 0), ("−1", -1)))
    table = Table(title=f"{len(trajectories)} runs, {steps} steps: {shares}")
    for column in ("agent", "runs", "outcome +1", "steps −1", "habits that showed"):
        table.add_column(column, justify="left" if column in ("agent", "habits that showed") else "right")
    for row in _rows(trajectories):
        table.add_row(*row)
    console = Console()
    console.print(table)
    scenarios = Counter(str(run.extra["template"]) for run in trajectories)
    console.print("Templates: " + ", ".join(f"{name} {count}" for name, count in sorted(scenarios.items())))
    console.print(f"Written to {out}", soft_wrap=True)


def _rows(trajectories: list[Trajectory]) -> list[tuple[str, ...]]:
    from collections import Counter

    rows: list[tuple[str, ...]] = []
    for agent in sorted({str(run.identity.generator) for run in trajectories}):
        runs = [run for run in trajectories if run.identity.generator == agent]
        labels = Counter(label for run in runs for label in run.step_labels.values())
        habits = Counter(str(run.extra["reach"]["habit"] or "none") for run in runs)
        good = sum(run.final_label == 1 for run in runs) / len(runs)
        shown = ", ".join(f"{name} {count}" for name, count in sorted(habits.items()))
        rows.append((agent, str(len(runs)), f"{good:.0%}", f"{labels[-1] / labels.total():.0%}", shown))
    return rows
