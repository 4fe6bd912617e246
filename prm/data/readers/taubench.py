"""tau-bench result files (sierra-research/tau-bench): a JSON list of runs, without step labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from prm.data.jsonl import parse_json, require_file
from prm.data.readers.row import Record, Row, read_value_rows
from prm.errors import RecordError

_DOMAINS = ("airline", "retail")


def read(source: str) -> Iterator[Row]:
    """The rows of a result file ``<agent>-<domain>.json``.

    The agent and the domain are only in the file's name: ``gpt-4o-airline.json`` becomes generator ``gpt-4o``
    and data source ``tau_bench_airline``, so that several agents' files share their queries.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: It is not a JSON list.
    """
    path = Path(source)
    require_file(path)
    runs = parse_json(path.read_bytes(), source)
    if not isinstance(runs, list):
        raise RecordError.at(source, "must be a JSON list of runs", type(runs).__name__, "give a tau-bench result file")
    numbered = ((f"{source}[{number}]", run) for number, run in enumerate(runs))
    return read_value_rows(numbered, partial(record_of_run, path.stem))


def record_of_run(stem: str, run: Record, where: str) -> Record:
    """The trajectory record of one run; `stem` is the file's name without its ending.

    Outcome: +1 where `reward` is 1.0, else −1 (tau-bench's own rule of success); null where it has none.
    """
    agent, data_source = _split_stem(stem)
    task, trial = run.get("task_id"), run.get("trial", 0)
    if task is None or "traj" not in run:
        raise RecordError.at(where, "a tau-bench run has task_id and traj", sorted(run), "give a tau-bench result file")
    info = run.get("info") if isinstance(run.get("info"), dict) else {}
    return {
        "id": f"tau_bench:{stem}:{task}:{trial}",
        "data_source": data_source,
        "query_index": task,
        "sample_index": trial,
        "generator": agent,
        "messages": run["traj"],
        "final_label": _outcome(run.get("reward"), where),
        "ground_truth": (info or {}).get("task"),
        "info": {key: value for key, value in (info or {}).items() if key != "task"},
    }


def _split_stem(stem: str) -> tuple[str, str]:
    for domain in _DOMAINS:
        if stem.endswith(f"-{domain}"):
            return stem.removesuffix(f"-{domain}"), f"tau_bench_{domain}"
    return stem, "tau_bench"


def _outcome(reward: Any, where: str) -> int | None:
    if reward is None:
        return None
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise RecordError.at(f"{where}: reward", "must be a number", reward, "fix the reward")
    return 1 if reward == 1 else -1
