"""What an agent is asked to do: one task is one scenario, and the query of all its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prm.data.jsonl import read_jsonl
from prm.errors import ConfigError, RecordError
from prm.reach.desk.scenarios import ABNORMAL_TEMPLATES, LATE_TEMPLATES, TEMPLATES, Scenario, build_scenario


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes:
        id: The scenario's name.
        request: What the user writes.
        template: What tasks are clustered by.
        seed: What it was drawn with, if it was.
        data: Every other key of one's own task.
        scenario: The ticket desk's world, where it is one of the desk's.
    """

    id: str
    request: str
    template: str
    seed: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    scenario: Scenario | None = None

    @property
    def content(self) -> dict[str, Any]:
        """The task as JSON values: what one's own tools are told of it."""
        about = {"id": self.id, "request": self.request, "template": self.template, "seed": self.seed}
        return {**self.data, **about}


def desk_tasks(names: str, seeds: Sequence[int]) -> tuple[Task, ...]:
    """The ticket desk's scenarios of these templates, each with each seed.

    Args:
        names: ``all``, ``normal``, ``abnormal`` or template names, separated by commas.
        seeds: Seeds of the scenarios.

    Raises:
        ConfigError: There is no such template.
    """
    normal = tuple(name for name in TEMPLATES if name not in ABNORMAL_TEMPLATES)
    groups = {"all": TEMPLATES, "normal": normal, "abnormal": ABNORMAL_TEMPLATES}
    templates = groups.get(names) or tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for template in templates:
        if template not in (*TEMPLATES, *LATE_TEMPLATES):
            todo = f"choose all, normal, abnormal or from {', '.join(TEMPLATES)}"
            raise ConfigError.at("--scenarios", "must name templates of the ticket desk", template, todo)
    return tuple(_desk_task(build_scenario(template, seed)) for template in templates for seed in seeds)


def _desk_task(scenario: Scenario) -> Task:
    return Task(scenario.id, scenario.request, scenario.template, scenario.seed, scenario=scenario)


def read_tasks(path: Path) -> tuple[Task, ...]:
    """One's own tasks from a JSONL file, one object a line.

    ``id`` and ``request`` are needed, ``template`` and ``seed`` are not; every other key is handed to one's own tools.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A line is no task, or an id stands twice.
        ConfigError: There is none.
    """
    tasks: dict[str, Task] = {}
    for number, record in read_jsonl(path):
        where = f"{path}:{number}"
        task = _parse_task(record, where)
        if task.id in tasks:
            raise RecordError.at(f"{where}: id", "must be unique in the file", task.id, "give each task its own")
        tasks[task.id] = task
    if not tasks:
        raise ConfigError.at(str(path), "must hold at least one task", "none", "write one object a line")
    return tuple(tasks.values())


def _parse_task(record: Mapping[str, Any], where: str) -> Task:
    for key in ("id", "request"):
        if not isinstance(record.get(key), str) or not record[key].strip():
            raise RecordError.at(f"{where}: {key}", "must be text", record.get(key), "write the task's " + key)
    template, seed = record.get("template") or record["id"], record.get("seed")
    if not isinstance(template, str):
        raise RecordError.at(f"{where}: template", "must be text", template, "name the kind of task")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise RecordError.at(f"{where}: seed", "must be a whole number", seed, "fix it or leave it out")
    data = {key: value for key, value in record.items() if key not in ("id", "request", "template", "seed")}
    return Task(record["id"], record["request"], template, seed, data)
