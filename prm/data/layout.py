"""Which files a build has, and which trajectory goes into which."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prm.data.split import Part, Query, fold_queries, parts_of_fold, split_queries
from prm.errors import InputError

DEFAULT_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Split:
    """One folder of train, validation and test files.

    Attributes:
        folder: Relative to the build; "" for the build itself.
        parts: Query → part.
        generator: Where set, the only one tested on and the only one not trained on.
    """

    folder: str
    parts: Mapping[str, Part]
    generator: str | None = None

    def part_of(self, query: str, generator: str) -> Part | None:
        """The part that a generator's run of a query belongs to; None = in no file of this split."""
        part = self.parts[query]
        if self.generator is None or (part == "test") == (generator == self.generator):
            return part
        return None


Layout: TypeAlias = list[Split]


def plan_layout(
    queries: Sequence[Query],
    generators: Sequence[str],
    *,
    test_share: float,
    validation_share: float,
    seed: int,
    folds: int | None,
    leave_generator_out: bool,
) -> Layout:
    """The splits of a build; see `BuildOptions`.

    Raises:
        InputError: Too few queries or generators, or a run without a generator where one is left out.
    """
    if leave_generator_out:
        return _leave_generators_out(queries, generators, folds or DEFAULT_FOLDS, validation_share, seed)
    if folds is not None:
        return _cross_validate(queries, folds, validation_share, seed)
    return [Split("", split_queries(queries, test_share, validation_share, seed))]


def _cross_validate(queries: Sequence[Query], folds: int, validation_share: float, seed: int) -> Layout:
    fold_of = fold_queries(queries, folds, seed)
    return [
        Split(f"fold-{fold}", parts_of_fold(queries, fold_of, fold, validation_share, seed)) for fold in range(folds)
    ]


def _leave_generators_out(
    queries: Sequence[Query], generators: Sequence[str], folds: int, validation_share: float, seed: int
) -> Layout:
    if "" in generators:
        rule = "every trajectory must name its generator"
        raise InputError.at("--leave-generator-out", rule, "runs without", "add the key generator")
    if len(generators) < 2:
        rule = "there must be at least two generators"
        raise InputError.at("--leave-generator-out", rule, list(generators), "use --folds")
    names = _folder_names(generators)
    return [
        Split(f"generator-{names[generator]}/{split.folder}", split.parts, generator)
        for generator in generators
        for split in _cross_validate(queries, folds, validation_share, seed)
    ]


def _folder_names(generators: Sequence[str]) -> dict[str, str]:
    """Generator → a name that is safe in a path, unique among them."""
    names: dict[str, str] = {}
    for generator in generators:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", generator).strip(".-")[:60] or "unnamed"
        taken = {name.casefold() for name in names.values()}
        candidates = [plain, *(f"{plain}-{number}" for number in range(2, len(generators) + 2))]
        names[generator] = next(name for name in candidates if name.casefold() not in taken)
    return names
