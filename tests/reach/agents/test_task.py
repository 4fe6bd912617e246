"""Tasks: the desk's templates, and one's own from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from prm.errors import ConfigError, InputError
from prm.reach.agents.task import desk_tasks, read_tasks
from prm.reach.desk.scenarios import ABNORMAL_TEMPLATES, TEMPLATES


def test_all_is_every_template_with_every_seed() -> None:
    tasks = desk_tasks("all", [3, 4])
    assert len(tasks) == 2 * len(TEMPLATES)
    assert {task.template for task in tasks} == set(TEMPLATES)
    assert tasks[0].id == f"{TEMPLATES[0]}-3"
    assert tasks[0].scenario is not None
    assert tasks[0].request == tasks[0].scenario.request


def test_groups_and_names() -> None:
    assert [task.template for task in desk_tasks("abnormal", [0])] == list(ABNORMAL_TEMPLATES)
    assert len(desk_tasks("normal", [0])) == len(TEMPLATES) - len(ABNORMAL_TEMPLATES)
    assert [task.id for task in desk_tasks("gift, missing_sku,gift", [7])] == ["gift-7", "missing_sku-7"]
    with pytest.raises(ConfigError, match="no_such"):
        desk_tasks("gift,no_such", [0])


def test_own_tasks_hand_every_other_key_on(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"id": "a", "request": "Do.", "seed": 3, "wanted": [1]}\n\n{"id": "b", "request": "x", "template": "t"}\n'
    )
    first, second = read_tasks(path)
    assert (first.id, first.template, first.seed, first.data) == ("a", "a", 3, {"wanted": [1]})
    assert first.content == {"wanted": [1], "id": "a", "request": "Do.", "template": "a", "seed": 3}
    assert second.template == "t"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "[]",
        "{}",
        '{"id": 3, "request": "x"}',
        '{"id": "a"}',
        '{"id": "a", "request": " "}',
        '{"id": "a", "request": "x", "seed": "1"}',
        '{"id": "a", "request": "x", "seed": true}',
        '{"id": "a", "request": "x", "template": 3}',
        '{"id": "a", "request": "x"}\n{"id": "a", "request": "y"}',
        '{"id": "a", "request": "x"',
    ],
)
def test_wrong_tasks_are_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_tasks(path)
    assert "\n" not in str(caught.value)
