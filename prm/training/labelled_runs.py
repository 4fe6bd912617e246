"""The runs of a training: read, their protocol named, training and validation kept apart."""

from __future__ import annotations

from collections.abc import Sequence

from prm.data.protocol import mask_after_first_error, name_protocol, parse_protocol
from prm.data.readers.registry import read_all
from prm.errors import ConfigError
from prm.training.shared_options import LabelledData
from prm.types import Trajectory


def read_both(data: LabelledData) -> tuple[list[Trajectory], list[Trajectory]]:
    """The training runs and the validation runs, which share no query.

    Raises:
        ConfigError: They share one. RecordError: A bad record.
    """
    training = read_runs(data.train_data, data.reader, data.protocol)
    validation = read_runs(data.validation_data, data.reader, data.protocol)
    refuse_shared_queries(training, validation)
    return training, validation


def read_runs(sources: Sequence[str], reader: str | None, protocol: str | None) -> list[Trajectory]:
    """The runs of all sources; what follows the first error of a `first_error_only` run is unknown.

    Args:
        sources: Files, folders or hub ids.
        reader: As `--reader`.
        protocol: The protocol of runs that name none.
    """
    named = parse_protocol(protocol, "protocol")
    runs = read_all(sources, reader)
    if named is not None:
        runs = [name_protocol(run, named) for run in runs]
    return [mask_after_first_error(run) if run.protocol == "first_error_only" else run for run in runs]


def refuse_shared_queries(training: Sequence[Trajectory], validation: Sequence[Trajectory]) -> None:
    """Several runs of one query must not be on both sides.

    Raises:
        ConfigError: A query is.
    """
    shared = {run.query for run in training} & {run.query for run in validation}
    if shared:
        rule = "must not share a query with train_data"
        raise ConfigError.at("validation_data", rule, sorted(shared)[0], "split with `prm build`")
