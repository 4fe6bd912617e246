"""The verb `prm agree`: how far annotators, judges or two passes of one annotator agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from prm.evaluation.agreement.align import Aligned
    from prm.evaluation.agreement.consensus import Consensus


def register(app: typer.Typer) -> None:
    """Add this module's verb to the root command."""
    app.command("agree")(agree)


def agree(
    raters: Annotated[
        list[str], typer.Argument(metavar="A B …", help="NAME=PATH or PATH of labels or predictions: file or folder.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Folder for agreement.json and disputed.jsonl.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print agreement.json instead of the tables.")] = False,
    disputed: Annotated[int, typer.Option("--disputed", help="How many of the most disputed steps to show.")] = 20,
    consensus: Annotated[Path | None, typer.Option("--consensus", help="Write one label from all raters here.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="vote or adjudication (vote where it does not speak).")] = None,
    adjudication: Annotated[Path | None, typer.Option("--adjudication", help="Label records that decide.")] = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Resamplings of the queries; 0 = no intervals.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the resampling.")] = 0,
) -> None:
    """Measure agreement: per cent, Cohen's kappa, Krippendorff's alpha, disputed steps, consensus labels."""
    from prm.cli.files import file_errors
    from prm.evaluation.agreement.agreement_file import measure_agreement
    from prm.evaluation.agreement.align import align
    from prm.evaluation.agreement.raters import load_rater, rater_paths

    _check_consensus_options(consensus, by, adjudication)
    with file_errors():
        paths = rater_paths(raters)
        targets = _targets(out, consensus)
        _refuse_overwriting(targets, [*paths.values(), *([] if adjudication is None else [adjudication])])
        aligned = align([load_rater(name, path) for name, path in paths.items()])
        agreement = measure_agreement(aligned, bootstrap=bootstrap, seed=seed, disputed=disputed)
        if consensus is not None:
            found = _find_consensus(aligned, adjudication)
            by_what = "vote" if adjudication is None else "adjudication"
            agreement["consensus"] = {"by": by_what, "counts": found.counts()}
            _write_consensus(aligned, found, targets)
        if out is not None:
            _write_agreement(aligned, agreement, targets)
    _print(agreement, targets, as_json)


def _check_consensus_options(consensus: Path | None, by: str | None, adjudication: Path | None) -> None:
    from prm.errors import ConfigError

    if by not in (None, "vote", "adjudication"):
        raise ConfigError.at("--by", "must be vote or adjudication", by, "name one of them")
    if consensus is None and (by is not None or adjudication is not None):
        got = by if adjudication is None else str(adjudication)
        raise ConfigError.at("--consensus", "must say where the labels go", got, "add --consensus FILE")
    if by == "vote" and adjudication is not None:
        raise ConfigError.at("--adjudication", "stands with --by adjudication", str(adjudication), "leave --by out")
    if by == "adjudication" and adjudication is None:
        raise ConfigError.at("--adjudication", "must be given with --by adjudication", None, "add --adjudication FILE")


def _targets(out: Path | None, consensus: Path | None) -> dict[str, Path]:
    """What may be written, by what it is."""
    from prm.cli.files import check_file, check_folder

    targets: dict[str, Path] = {}
    if consensus is not None:
        check_file("--consensus", consensus)
        rest = consensus.with_name(f"{consensus.stem}.without_messages{consensus.suffix}")
        ties = (out or consensus.parent) / "to_adjudicate.jsonl"
        targets |= {"consensus": consensus, "without messages": rest, "ties": ties}
    if out is not None:
        check_folder("--out", out, files=("to_adjudicate.jsonl", "disputed.jsonl", "agreement.json"))
        targets |= {"disputed": out / "disputed.jsonl", "agreement": out / "agreement.json"}
    return targets


def _refuse_overwriting(targets: dict[str, Path], inputs: list[Path]) -> None:
    """Nothing is written over or into what is read, nor over ties that someone has decided."""
    from prm.errors import ConfigError
    from prm.evaluation.agreement.consensus_records import refuse_decided

    for target in targets.values():
        for given in inputs:
            if given.resolve() in (target.resolve(), *target.resolve().parents):
                raise ConfigError.at(str(target), "must not be in what is read", str(given), "write it elsewhere")
    if len({target.resolve() for target in targets.values()}) < len(targets):
        files = [str(path) for path in targets.values()]
        raise ConfigError.at("--consensus", "every file written must have its own name", files, "rename it")
    if "ties" in targets:
        refuse_decided(targets["ties"])


def _find_consensus(aligned: Aligned, adjudication: Path | None) -> Consensus:
    from prm.evaluation.agreement.consensus import consensus_by_adjudication, consensus_by_vote
    from prm.evaluation.agreement.raters import load_rater

    if adjudication is None:
        return consensus_by_vote(aligned)
    return consensus_by_adjudication(aligned, load_rater(str(adjudication), adjudication))


def _write_consensus(aligned: Aligned, found: Consensus, targets: dict[str, Path]) -> None:
    from prm.data.jsonl import write_jsonl
    from prm.data.records import dump_trajectory
    from prm.evaluation.agreement.consensus_records import consensus_trajectories, split_by_messages, to_adjudicate

    runs, rest = split_by_messages(consensus_trajectories(aligned, found))
    write_jsonl(targets["consensus"], map(dump_trajectory, runs))
    write_jsonl(targets["ties"], to_adjudicate(aligned, found))
    if rest:
        write_jsonl(targets["without messages"], map(dump_trajectory, rest))
    else:
        del targets["without messages"]


def _write_agreement(aligned: Aligned, agreement: dict[str, Any], targets: dict[str, Path]) -> None:
    from prm.data.jsonl import write_json, write_jsonl
    from prm.evaluation.agreement.disputes import dispute_records, most_disputed

    write_jsonl(targets["disputed"], dispute_records(aligned, most_disputed(aligned)))
    write_json(targets["agreement"], agreement)


def _print(agreement: dict[str, Any], written: dict[str, Path], as_json: bool) -> None:
    from prm.cli.terminal import show, show_json
    from prm.evaluation.agreement.agreement_table import tables

    if as_json:
        show_json(agreement)
        return
    show(tables(agreement), [f"wrote {path} ({what})" for what, path in written.items()])
