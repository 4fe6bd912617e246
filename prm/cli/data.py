"""`prm check`, `prm build`, `prm convert` and `prm schema`: data in and out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prm.cli.token_budget import MaxTokens, MaxToolTokens, Model, TokenCounter, open_encoder, print_budget

if TYPE_CHECKING:
    from prm.data.check import CheckReport
    from prm.data.encode import Encoder

Sources = Annotated[list[str], typer.Argument(metavar="SOURCE…", help="Files, or hub ids (owner/name[:config]).")]
Reader = Annotated[str | None, typer.Option(help="A reader's name or module:function; detected otherwise.")]
SkipBad = Annotated[Path | None, typer.Option(help="Set bad records aside in this file instead of stopping.")]


def register(app: typer.Typer) -> None:
    """Add the four verbs."""
    app.command("check")(check)
    app.command("build")(build)
    app.command("convert")(convert)
    app.command("schema")(schema)


def check(
    sources: Sources,
    reader: Reader = None,
    model: Model = None,
    max_tokens: MaxTokens = None,
    max_tool_tokens: MaxToolTokens = None,
    skip_bad: SkipBad = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Validate every record; print counts, contradictions, lengths, and what a token budget would cut."""
    import json

    from prm.cli.progress import track
    from prm.data.check import check_trajectories, count_characters
    from prm.data.sources import SetBadAside, handle_bad, load_trajectories

    encoder = open_encoder(model, max_tokens, max_tool_tokens)
    measure = TokenCounter(encoder) if encoder is not None else count_characters
    with handle_bad(skip_bad) as bad:
        loaded = track(load_trajectories(sources, reader, bad), "checking")
        report = check_trajectories(loaded, measure, "characters" if encoder is None else "tokens")
    result = report.as_dict()
    result["set_aside"] = bad.count if isinstance(bad, SetBadAside) else 0
    if isinstance(measure, TokenCounter) and max_tokens is not None:
        result["budget"] = {"max_tokens": max_tokens, "max_tool_tokens": max_tool_tokens, **measure.account.as_dict()}
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        _print_report(report, result)


def _print_report(report: CheckReport, result: dict[str, Any]) -> None:
    labels, outcomes = result["label_counts"], result["outcome_counts"]
    typer.echo(f"{report.trajectories} trajectories of {report.queries} queries, {report.steps} steps")
    typer.echo(f"step labels: {_shares(labels, report.steps)}")
    typer.echo(f"outcomes: {_shares(outcomes, report.trajectories)}")
    for title in ("by_source", "generators", "protocols"):
        typer.echo(f"{title.replace('_', ' ')}: {_counts(result[title])}")
    lengths = result["lengths"]
    if report.trajectories:
        shown = ", ".join(f"{name} {lengths[name]}" for name in ("p50", "p90", "max"))
        typer.echo(f"{lengths['unit']} a trajectory: {shown}")
    if "budget" in result:
        print_budget(result["budget"])
    for title, found in (
        ("warnings", report.warnings),
        ("contradictions", report.contradictions),
        ("duplicate keys", report.duplicates),
    ):
        typer.echo(f"{title}: {found.count}")
        for line in found.first:
            typer.echo(f"  {line}")
    if result["set_aside"]:
        typer.echo(f"bad records set aside: {result['set_aside']}")


def _shares(counts: dict[str, int], total: int) -> str:
    names = {"1": "+1", "0": "0", "-1": "-1", "unknown": "unknown"}
    parts = [f"{names[key]} {counts[key]} ({counts[key] / total:.1%})" for key in names if total and counts[key]]
    return ", ".join(parts) or "none"


def _counts(counts: dict[str, int]) -> str:
    shown = [f"{name} {count}" for name, count in list(counts.items())[:12]]
    return ", ".join(shown) + (f", and {len(counts) - 12} more" if len(counts) > 12 else "")


def build(
    sources: Sources,
    out: Annotated[Path, typer.Option(help="Folder to make.")],
    reader: Reader = None,
    test_share: Annotated[float | None, typer.Option(help="Share of the queries to test on (0.2).")] = None,
    validation_share: Annotated[float, typer.Option(help="Share of the queries to validate on.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Decides every random choice.")] = 0,
    folds: Annotated[
        int | None, typer.Option(help="Cross-validation by query: fold-<k>/… instead of one split.")
    ] = None,
    leave_generator_out: Annotated[
        bool,
        typer.Option("--leave-generator-out", help="One split a generator and fold; its queries are unseen too."),
    ] = False,
    holdout_key: Annotated[str | None, typer.Option(help="Keep whole values of this record key on one side.")] = None,
    holdout_templates: Annotated[
        bool, typer.Option("--holdout-templates", help="The same as --holdout-key template.")
    ] = False,
    weight: Annotated[list[str] | None, typer.Option(metavar="SOURCE=W", help="Weight of a source in the mix.")] = None,
    queries_per_source: Annotated[int | None, typer.Option(help="Keep that many, far apart, of each source.")] = None,
    embedding_model: Annotated[str | None, typer.Option(help="sentence-transformers model for it (TF-IDF).")] = None,
    label_protocol: Annotated[str | None, typer.Option(help="Protocol of labelled records that name none.")] = None,
    mask_after_first_error: Annotated[
        bool, typer.Option("--mask-after-first-error", help="Labels after the first -1 become unknown.")
    ] = False,
    skip_bad: SkipBad = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that holds something else.")] = False,
    model: Model = None,
    max_tokens: MaxTokens = None,
    max_tool_tokens: MaxToolTokens = None,
) -> None:
    """Split trajectories by query into train, validation and test files, with a manifest."""
    from prm.cli.progress import track
    from prm.data.build import BuildOptions
    from prm.data.build import build as run_build
    from prm.data.protocol import parse_protocol

    options = BuildOptions(
        reader=reader,
        test_share=test_share,
        validation_share=validation_share,
        seed=seed,
        folds=folds,
        leave_generator_out=leave_generator_out,
        holdout_key=_holdout_key(holdout_key, holdout_templates),
        weights=_parse_weights(weight or []),
        queries_per_source=queries_per_source,
        embedding_model=embedding_model,
        label_protocol=parse_protocol(label_protocol, "--label-protocol"),
        first_errors_only=mask_after_first_error,
    )
    encoder = open_encoder(model, max_tokens, max_tool_tokens)
    tracker = partial(track, what="reading")
    result = run_build(sources, out, options, skip_bad=skip_bad, overwrite=overwrite, track=tracker)
    if result.already_built:
        typer.echo(f"{out}: already built")
    _print_build(out, result.manifest)
    if encoder is not None and max_tokens is not None:
        _print_part_budgets(out, result.manifest, encoder, max_tokens)


def _holdout_key(key: str | None, templates: bool) -> str | None:
    from prm.errors import ConfigError

    if templates and key not in (None, "template"):
        raise ConfigError.at("--holdout-key", "stands for itself beside --holdout-templates", key, "give one of them")
    return "template" if templates else key


def _parse_weights(weights: list[str]) -> dict[str, float] | None:
    from prm.errors import ConfigError

    parsed: dict[str, float] = {}
    for text in weights:
        source, _, number = text.rpartition("=")
        try:
            parsed[source] = float(number)
        except ValueError:
            source = ""
        if not source:
            raise ConfigError.at("--weight", "must be SOURCE=NUMBER", text, "write for example hotpotqa=2")
    return parsed or None


def _print_build(out: Path, manifest: Any) -> None:
    for name, part in manifest["outputs"].items():
        labels = part["label_counts"]
        counts = f"{part['trajectories']} trajectories of {part['queries']} queries, {part['steps']} steps"
        typer.echo(f"{out / name}: {counts} (-1 {labels['-1']}, 0 {labels['0']}, +1 {labels['1']})")
    for reason, count in manifest["records"]["left_out"].items():
        if count:
            typer.echo(f"left out ({reason.replace('_', ' ')}): {count}")


def _print_part_budgets(out: Path, manifest: Any, encoder: Encoder, max_tokens: int) -> None:
    from prm.cli.progress import track
    from prm.data.records import read_trajectories

    for name in manifest["outputs"]:
        counter = TokenCounter(encoder)
        for trajectory in track(read_trajectories(out / name), "counting tokens"):
            counter(trajectory)
        typer.echo(str(out / name))
        print_budget({"max_tokens": max_tokens, **counter.account.as_dict()})


def convert(
    sources: Sources,
    to: Annotated[str, typer.Option(help="trajectories, stepwise (labels -1, 0, 1) or stepwise-binary.")],
    out: Annotated[Path, typer.Option(help="JSONL file to write.")],
    reader: Reader = None,
    skip_bad: SkipBad = None,
) -> None:
    """Write any source as trajectory records, or in TRL's former stepwise supervision format."""
    from prm.cli.progress import track
    from prm.data.convert import convert as run_convert
    from prm.data.sources import SetBadAside, handle_bad, load_trajectories

    with handle_bad(skip_bad) as bad:
        count = run_convert(track(load_trajectories(sources, reader, bad), "converting"), to, out, bad)
    typer.echo(f"{out}: {count} records")
    if isinstance(bad, SetBadAside) and bad.count:
        typer.echo(f"bad records set aside: {bad.count}")


def schema(
    of: Annotated[
        str,
        typer.Argument(
            help="trajectory, prediction, metrics, agreement; of Reach: reach-spec, reach-verdict, reach-report, "
            "reach-comparison, reach-stability."
        ),
    ],
) -> None:
    """Print the JSON Schema of a kind of record."""
    from prm.data.schema import read_schema

    typer.echo(read_schema(of), nl=False)
