"""Files that `prm reach label` wrote, read back without holding the text of every run."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from pathlib import Path

from prm.data.records import read_trajectories
from prm.errors import InputError
from prm.evaluation.matching import check_distinct
from prm.reach.labels.neutral_id import neutral_identity
from prm.reach.labels.records import milestones_of, rule_of
from prm.types import Key, Trajectory


def read_labelled(path: Path, whole: Container[Key] = ()) -> list[Trajectory]:
    """The runs of a file in its order, those of `whole` as they are, the others without text and evidence.

    Args:
        path: The file.
        whole: Keys of runs, their own or those of a sample file.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A record breaks a rule.
        InputError: A run was not labelled by rules, or two have one key.
    """
    runs = [run if _is_among(run, whole) else without_text(run) for run in _checked(path)]
    check_distinct(runs)
    return runs


def _is_among(run: Trajectory, keys: Container[Key]) -> bool:
    return run.key in keys or neutral_identity(run.identity).key in keys


def without_text(run: Trajectory) -> Trajectory:
    """A labelled run with its labels, rules and milestones alone."""
    return replace(
        run,
        messages=(),
        tools=(),
        label_notes={str(index): {"rule": rule_of(run, index)} for index in run.step_labels},
        extra={"reach": {"milestones": milestones_of(run)}},
    )


def _checked(path: Path) -> Iterator[Trajectory]:
    for run in read_trajectories(path):
        if not milestones_of(run):
            rule = "runs must have been labelled by `prm reach label`"
            raise InputError.at(str(path), rule, " / ".join(run.key), "label the log first")
        yield run
