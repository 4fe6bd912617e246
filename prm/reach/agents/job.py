"""A job: agents × variants × tasks × repeats, in parallel; killed, it goes on where it was.

A run is known by its id (scenario, agent, variant, repeat) and by a digest of all that fixes it. Runs that are in the
output or in the journal of an earlier go are not made again, unless they ended in an error.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prm.data.digest import digest
from prm.data.jsonl import read_jsonl
from prm.data.keyed_journal import KeyedJournal, only_writer
from prm.data.records import dump_trajectory
from prm.errors import ConfigError
from prm.reach.agents.record import RunOrder, with_job
from prm.reach.agents.runners import Runner
from prm.reach.agents.task import Task
from prm.reach.desk.variants import Variant
from prm.types import Trajectory

Seen = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be run.

    Attributes:
        runners: By the agent's name in the records.
        variants, tasks: Each with each.
        repeats: Runs of each.
        workers: Runs under way at once.
    """

    runners: Mapping[str, Runner]
    variants: Sequence[Variant]
    tasks: Sequence[Task]
    repeats: int = 3
    workers: int = 1

    def __post_init__(self) -> None:
        for option, value in (("--repeats", self.repeats), ("--workers", self.workers)):
            if value < 1:
                raise ConfigError.at(option, "must be at least 1", value, "raise it")

    def orders(self) -> list[RunOrder]:
        """Every run, in the order of the output: the repeats of a task stand together."""
        return [
            RunOrder(task, run, agent, variant)
            for task in self.tasks
            for agent in self.runners
            for variant in self.variants
            for run in range(self.repeats)
        ]


def run_job(job: Job, out: Path, on_done: Seen = lambda record: None) -> int:
    """Makes the runs that are not there yet and writes all of them to `out`, in the job's order.

    Args:
        job: What is to be run.
        out: A trajectory file; it appears (or is replaced) when all is done.
        on_done: Called with the record of each run, those of an earlier go first.

    Returns:
        How many runs were made.

    Raises:
        ConfigError: `out` holds runs of another job, another process writes it, or no run can be made at all; what was
            made so far stays in the journal.
    """
    orders = {_key_of_order(order, job): order for order in job.orders()}
    with only_writer(out):
        journal = KeyedJournal(out, _key_of_record)
        _take_over(journal, out, orders)
        missing = _show_earlier(journal, orders, on_done)
        for key, trajectory in _made(missing, job):
            record = dump_trajectory(with_job(trajectory, _job_of(key)))
            journal.append(record)
            on_done(record)
        journal.finish(list(orders))
    return len(missing)


# Keys: the record's id and the digest, both of which the record holds.


def _key_of_order(order: RunOrder, job: Job) -> str:
    variant = {**asdict(order.variant), "tools": [dict(tool) for tool in order.variant.tools]}
    fixed = [job.runners[order.agent].settings, variant, order.task.content, order.run]
    return f"{order.id}#{digest(fixed):016x}"


def _key_of_record(record: Mapping[str, Any]) -> str | None:
    reach = record.get("reach")
    made = reach.get("job") if isinstance(reach, Mapping) else None
    return f"{record.get('id')}#{made}" if isinstance(made, str) else None


def _job_of(key: str) -> str:
    return key.rpartition("#")[2]


# Going on


def _take_over(journal: KeyedJournal, out: Path, orders: Mapping[str, RunOrder]) -> None:
    """Copies the runs of a finished file into the journal, so that more repeats, say, are added to it.

    Raises:
        ConfigError: The file holds anything else, which would be lost.
    """
    if not out.is_file():
        return
    there = journal.keys
    kept = []
    for number, record in read_jsonl(out):
        key = _key_of_record(record)
        if key not in orders:
            rule, todo = "an existing file must hold runs of this very job alone", "name another file or remove it"
            raise ConfigError.at(f"--out {out}:{number}", rule, record.get("id"), todo)
        if key not in there:
            kept.append(number)
    wanted = frozenset(kept)
    for number, record in read_jsonl(out):
        if number in wanted:
            journal.append(record)


def _show_earlier(journal: KeyedJournal, orders: Mapping[str, RunOrder], on_done: Seen) -> list[tuple[str, RunOrder]]:
    """Shows the runs that are there; returns those that are not, or that ended in an error."""
    there = [key for key in orders if key in journal.keys]
    broken = set()
    for key, record in zip(there, journal.read(there), strict=True):
        if record["reach"].get("end") == "error":
            broken.add(key)
        else:
            on_done(record)
    done = set(there) - broken
    return [(key, order) for key, order in orders.items() if key not in done]


# Making


def _made(missing: Sequence[tuple[str, RunOrder]], job: Job) -> Iterator[tuple[str, Trajectory]]:
    """Yields key and trajectory of each run, as they are done."""
    if job.workers == 1:
        for key, order in missing:
            yield key, job.runners[order.agent].run(order)
        return
    yield from _made_in_threads(missing, job)


def _made_in_threads(missing: Sequence[tuple[str, RunOrder]], job: Job) -> Iterator[tuple[str, Trajectory]]:
    waiting: queue.SimpleQueue[tuple[str, RunOrder]] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[str, Trajectory] | Exception] = queue.SimpleQueue()
    for item in missing:
        waiting.put(item)
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                key, order = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((key, job.runners[order.agent].run(order)))
            except Exception as error:  # noqa: BLE001 (raised again below)
                done.put(error)

    # Daemons: an interrupted job ends at once, whatever its runs wait for.
    for _ in range(min(job.workers, len(missing))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in missing:
            found = done.get()
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        stopped.set()
