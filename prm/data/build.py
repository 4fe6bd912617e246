"""`prm build`: sources → train / validation / test files and a manifest, all at once or not at all.

Everything is written into ``.<name>.partial`` beside the folder, which is renamed at the end. The bytes
depend on the sources and the options alone, so a build that was killed gives the same files when it is run
again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from prm.data.data_card import data_card
from prm.data.jsonl import atomic_file, write_json
from prm.data.layout import Layout, plan_layout
from prm.data.manifest import (
    MANIFEST_NAME,
    PartCount,
    is_same_build,
    manifest_of,
    request_of,
)
from prm.data.sampling import choose_diverse, embed_by_model, embed_by_tfidf, mix_by_weight
from prm.data.sources import Loaded, RefuseBad, SetBadAside, handle_bad, load_trajectories
from prm.data.split import Query
from prm.data.spool import Entry, Spool, SpoolOptions, fill_spool
from prm.errors import ConfigError, InputError
from prm.types import Protocol

CARD_NAME = "README.md"

Track: TypeAlias = Callable[[Iterable[Loaded]], Iterable[Loaded]]
"""Wraps the records that are read, to show progress."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What to build; every field is in the manifest.

    Attributes:
        reader: Reader for all sources; None detects each one's.
        test_share: Share of the queries to test on; None = 0.2, or decided by folds.
        validation_share: Share of the queries to validate on.
        seed: Decides every random choice.
        folds: Number of folds by query; None = one split.
        leave_generator_out: One split for each generator and fold: tested on its runs of the fold's queries,
            trained on other generators' runs of other queries. Every trajectory is tested once.
        holdout_key: Record key whose values are kept whole (`template`), so that test values are unseen.
        weights: Source → weight of its trajectories in the mix; empty = all of everything.
        queries_per_source: Keep that many queries of each source, far apart by embedding; None = all.
        embedding_model: sentence-transformers model for it; None = TF-IDF.
        label_protocol: Protocol of labelled records that name none.
        first_errors_only: Labels after the first −1 become unknown.
    """

    reader: str | None = None
    test_share: float | None = None
    validation_share: float = 0.1
    seed: int = 0
    folds: int | None = None
    leave_generator_out: bool = False
    holdout_key: str | None = None
    weights: Mapping[str, float] | None = None
    queries_per_source: int | None = None
    embedding_model: str | None = None
    label_protocol: Protocol | None = None
    first_errors_only: bool = False

    def __post_init__(self) -> None:
        crossed = self.folds is not None or self.leave_generator_out
        if crossed and self.test_share is not None:
            raise ConfigError.at("--test-share", "folds decide the share to test on", self.test_share, "leave it out")
        for name, share in (("--test-share", self.test_share), ("--validation-share", self.validation_share)):
            if share is not None and not 0 <= share < 1:
                raise ConfigError.at(name, "must be in [0, 1)", share, "give a share such as 0.1")
        if self.queries_per_source is not None and self.queries_per_source < 1:
            raise ConfigError.at("--queries-per-source", "must be at least 1", self.queries_per_source, "give a number")
        if self.embedding_model is not None and self.queries_per_source is None:
            raise ConfigError.at("--embedding-model", "needs --queries-per-source", self.embedding_model, "add it")


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The manifest, and whether the folder was there already."""

    manifest: Mapping[str, Any]
    already_built: bool


def build(
    sources: Sequence[str],
    out: Path,
    options: BuildOptions,
    *,
    skip_bad: Path | None = None,
    overwrite: bool = False,
    track: Track = iter,
) -> BuildResult:
    """Builds `out` from the sources.

    Args:
        sources: Files and hub ids.
        out: Folder to make. One that holds the same build already is left as it is.
        skip_bad: File to set bad records aside in; None refuses the first.
        overwrite: Replace a folder that holds something else.
        track: Shows progress.

    Raises:
        ConfigError: `out` exists and is another build.
        PrmError: Anything wrong with the sources.
    """
    request = request_of(sources, asdict(options), skip_bad is not None)
    if out.exists() and not overwrite:
        same = is_same_build(out, request)
        if same is not None:
            return BuildResult(same, already_built=True)
        todo = "name another folder, or replace it with --overwrite"
        raise ConfigError.at("--out", "must not exist, or hold the same build", str(out), todo)
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with handle_bad(skip_bad) as bad:
            manifest = _build_into(partial, sources, options, request, bad, track)
        _move(partial, out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return BuildResult(manifest, already_built=False)


def _move(partial: Path, out: Path) -> None:
    if out.exists():
        old = out.with_name(f".{out.name}.old.partial")
        shutil.rmtree(old, ignore_errors=True)
        out.rename(old)
        partial.rename(out)
        shutil.rmtree(old)
    else:
        partial.rename(out)


def _build_into(
    folder: Path,
    sources: Sequence[str],
    options: BuildOptions,
    request: Mapping[str, Any],
    bad: RefuseBad | SetBadAside,
    track: Track,
) -> dict[str, Any]:
    loaded = track(load_trajectories(sources, options.reader, bad))
    how = SpoolOptions(
        options.label_protocol,
        options.first_errors_only,
        options.holdout_key,
        keep_texts=options.queries_per_source is not None,
    )
    spool = fill_spool(folder / ".records.jsonl", loaded, how, bad)
    if not spool.entries:
        raise InputError.at(", ".join(sources), "must hold at least one good record", 0, "check the files")
    group_of = spool.groups.resolve()
    kept, left_out = _leave_out(spool, group_of, options)
    entries = [entry for entry in spool.entries if group_of[entry.query] in kept]
    unit_of = spool.groups.resolve_held()
    layout = _plan(entries, unit_of, options)
    outputs = write_parts(folder, spool.path, entries, group_of, unit_of, layout)
    spool.path.unlink()
    left_out = {
        "bad": bad.count if isinstance(bad, SetBadAside) else 0,
        "duplicate": spool.duplicates,
        **left_out,
    }
    manifest = manifest_of(request, spool, (group_of, unit_of), left_out, outputs)
    with atomic_file(folder / CARD_NAME) as stream:
        stream.write(data_card(manifest).encode("utf-8", "backslashreplace"))
    write_json(folder / MANIFEST_NAME, manifest)
    return manifest


def _plan(entries: Sequence[Entry], unit_of: Mapping[str, str], options: BuildOptions) -> Layout:
    queries = summarise_queries(entries, unit_of)
    return plan_layout(
        queries,
        sorted({entry.generator or "" for entry in entries}),
        test_share=0.2 if options.test_share is None else options.test_share,
        validation_share=options.validation_share,
        seed=options.seed,
        folds=options.folds,
        leave_generator_out=options.leave_generator_out,
    )


def summarise_queries(entries: Sequence[Entry], group_of: Mapping[str, str]) -> list[Query]:
    """The groups of queries that the entries belong to, in alphabetical order."""
    members: dict[str, list[Entry]] = {}
    for entry in entries:
        members.setdefault(group_of[entry.query], []).append(entry)
    return [_summarise(name, members[name]) for name in sorted(members)]


def _summarise(name: str, entries: Sequence[Entry]) -> Query:
    outcomes = [entry.outcome for entry in entries if entry.outcome is not None]
    share = sum(outcome == 1 for outcome in outcomes) / len(outcomes) if outcomes else None
    return Query(name, min(entry.source for entry in entries), share, len(entries))


def _leave_out(spool: Spool, group_of: Mapping[str, str], options: BuildOptions) -> tuple[set[str], dict[str, int]]:
    """Groups to keep, and reason → trajectories left out."""
    queries = summarise_queries(spool.entries, group_of)
    left_out = {"queries_per_source": 0, "weight": 0}
    if options.queries_per_source is not None:
        texts: dict[str, str] = {}
        for name in sorted(spool.texts):
            texts.setdefault(group_of[name], spool.texts[name])
        embed = embed_by_model(options.embedding_model) if options.embedding_model else embed_by_tfidf
        chosen = choose_diverse(queries, texts, options.queries_per_source, embed)
        left_out["queries_per_source"] = sum(q.trajectories for q in queries if q.name not in chosen)
        queries = [query for query in queries if query.name in chosen]
    if options.weights:
        mixed = mix_by_weight(queries, options.weights, options.seed)
        left_out["weight"] = sum(q.trajectories for q in queries if q.name not in mixed)
        queries = [query for query in queries if query.name in mixed]
    return {query.name for query in queries}, left_out


def write_parts(
    folder: Path,
    spool: Path,
    entries: Sequence[Entry],
    group_of: Mapping[str, str],
    unit_of: Mapping[str, str],
    layout: Layout,
) -> dict[str, PartCount]:
    """Copies each record's line into every part it belongs to. Returns file name → what it holds.

    Args:
        folder: Where the parts go.
        spool: The file that holds all lines.
        entries: The records to write.
        group_of: Query name → query, to count them.
        unit_of: Query name → what the layout places as a whole.
        layout: What goes where.
    """
    counts: dict[str, PartCount] = {}
    for split in layout:
        (folder / split.folder).mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            lines = stack.enter_context(spool.open("rb"))
            streams: dict[str, Any] = {}
            for entry in entries:
                part = split.part_of(unit_of[entry.query], entry.generator or "")
                if part is None:
                    continue
                name = str(Path(split.folder, f"{part}.jsonl").as_posix())
                if name not in streams:
                    streams[name] = stack.enter_context((folder / name).open("wb"))
                    counts[name] = PartCount()
                lines.seek(entry.offset)
                line = lines.read(entry.length)
                streams[name].write(line)
                counts[name].add(entry, group_of[entry.query], line)
            for stream in streams.values():
                stream.flush()
                os.fsync(stream.fileno())
    return counts
