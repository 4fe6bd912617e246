"""`prm calibrate fit` and `prm calibrate apply`: temperature and −1 threshold of a judge with probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from prm.cli.evaluate import ManyValues

calibrate = typer.Typer(
    name="calibrate", help="Make a judge's probabilities true, and choose when a step is -1.", no_args_is_help=True
)

Predictions = Annotated[
    list[Path], typer.Option("--predictions", help="JSONL files (or folders) of one judge, with probabilities.")
]


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the root command."""
    app.add_typer(calibrate)


@calibrate.command("fit", cls=ManyValues)
def fit(
    gold: Annotated[list[Path], typer.Option("--gold", help="JSONL files (or folders) with development labels.")],
    predictions: Predictions,
    out: Annotated[Path, typer.Option("--out", help="Calibration file to write (JSON).")],
    metric: Annotated[
        str, typer.Option("--metric", help="What the -1 threshold is for: error_f1, step_acc, first_err_acc_strict.")
    ] = "error_f1",
    dev_share: Annotated[
        float, typer.Option("--dev-share", help="Share of the queries to fit on; the others show what it is worth.")
    ] = 0.5,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Resamplings of the queries; 0 = no intervals.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Of the division of the queries and the resampling.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the file instead of the table.")] = False,
) -> None:
    """Fit temperatures and the threshold for -1 on development queries; report them on held-out ones."""
    from prm.cli.files import check_file, file_errors
    from prm.cli.terminal import show_json
    from prm.data.jsonl import write_json
    from prm.evaluation.calibration.fit import FitOptions, fit_calibration
    from prm.evaluation.sources import jsonl_files, load_gold, load_predictions

    options = FitOptions(metric, dev_share, bootstrap, seed)
    with file_errors():
        check_file("--out", out, [file for path in (*gold, *predictions) for file in jsonl_files(path)])
        records = [record for path in predictions for record in load_predictions(path)]
        calibration = fit_calibration(load_gold(gold), records, options)
        write_json(out, calibration)
    if as_json:
        show_json(calibration)
    else:
        _print_table(calibration, out)


def _print_table(calibration: dict[str, Any], path: Path) -> None:
    from prm.cli.terminal import show
    from prm.evaluation.calibration.table import calibration_tables

    show(calibration_tables(calibration), [f"wrote {path}"])


@calibrate.command("apply", cls=ManyValues)
def apply(
    calibration: Annotated[Path, typer.Option("--calibration", help="File that `prm calibrate fit` wrote.")],
    predictions: Predictions,
    out: Annotated[Path, typer.Option("--out", help="Predictions file to write (JSONL).")],
) -> None:
    """Write predictions with tempered probabilities and labels under the threshold; all else stays."""
    from prm.cli.files import check_file, file_errors
    from prm.cli.progress import track
    from prm.data.jsonl import write_jsonl
    from prm.evaluation.calibration.apply import calibrate_records
    from prm.evaluation.calibration.parameters import read_calibration
    from prm.evaluation.sources import jsonl_files

    with file_errors():
        read = read_calibration(calibration)
        files = [file for path in predictions for file in jsonl_files(path)]
        check_file("--out", out, [calibration, *files])
        count = write_jsonl(out, track(calibrate_records(_records(files), read), "calibrating"))
    typer.echo(f"{out}: {count} predictions")


def _records(files: list[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    from prm.data.jsonl import read_jsonl

    for file in files:
        for number, record in read_jsonl(file):
            yield f"{file}:{number}", record
