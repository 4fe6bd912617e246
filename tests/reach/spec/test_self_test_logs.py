from __future__ import annotations

from pathlib import Path

import pytest

from prm.errors import ConfigError, MissingFileError
from prm.reach.spec.self_test_logs import SelfTestLog, self_test_logs, trajectory_of
from tests.reach.judging.hand_runs import shop

GOOD = """
logs:
  one:
    legal: true
    expect: {verdicts: r, diagnoses: loop}
    messages:
      - system: be brief
      - user: hello
      - say: looking
        calls: [{tool: find, args: {name: a}, result: {item: b}}, {tool: ask}]
      - calls: {tool: order, args: {item: b}, result: plain text}
"""


def logs(tmp_path: Path, text: str) -> dict[str, SelfTestLog]:
    (tmp_path / "a.yaml").write_text(text)
    return dict(self_test_logs(shop(logs="a.yaml"), tmp_path / "shop.yaml"))


def test_a_log_becomes_a_trajectory_without_labels(tmp_path: Path) -> None:
    log = logs(tmp_path, GOOD)["one"]
    run = trajectory_of("one", log)
    assert [message["role"] for message in run.messages] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert run.step_labels == {2: None, 4: None}
    first, second = run.messages[2]["tool_calls"]
    assert (first["id"], first["function"]) == ("call_1", {"name": "find", "arguments": '{"name": "a"}'})
    assert run.messages[3]["content"] == '{"item": "b"}'
    assert second["function"]["arguments"] == "{}"
    assert run.messages[5] == {"role": "tool", "tool_call_id": "call_3", "name": "order", "content": "plain text"}
    assert log.expect is not None
    assert (log.expect.standings, log.expect.diagnoses) == (("reached",), ("loop",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("logs: {}", "a.yaml: logs: "),
        ("a: [", "must be YAML"),
        ("logs: {one: {messages: [{user: a, say: b}]}}", "must be exactly one of system, user, and say"),
        ("logs: {one: {messages: [{usr: a}]}}", "a.yaml: logs.one.messages[0].usr: no such key"),
        ("logs: {one: {expect: {verdicts: rr}, messages: [{user: a}]}}", "must have a letter for each of 1 milestones"),
        ("logs: {one: {expect: {verdicts: x}, messages: [{user: a}]}}", "a.yaml: logs.one.expect.verdicts"),
    ],
)
def test_a_wrong_log_file_is_refused_by_its_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        logs(tmp_path, text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_logs_lie_beside_their_spec(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("logs: {one: {messages: [{user: a}]}}")
    (tmp_path / "specs").mkdir()
    for name in ("../a.yaml", str(tmp_path / "a.yaml")):
        with pytest.raises(ConfigError, match="must name files beside the spec"):
            self_test_logs(shop(logs=name), tmp_path / "specs" / "shop.yaml")
        assert self_test_logs(shop(logs=name.removeprefix("../")), tmp_path / "shop.yaml").keys() == {"one"}


def test_a_date_without_quotes_is_the_text_that_it_is(tmp_path: Path) -> None:
    called = (
        "logs: {one: {messages: [{calls: {tool: find, args: {day: 2024-05-19}, result: {at: 2024-05-19T10:00:00}}}]}}"
    )
    messages = trajectory_of("one", logs(tmp_path, called)["one"]).messages
    assert messages[0]["tool_calls"][0]["function"]["arguments"] == '{"day": "2024-05-19"}'
    assert messages[1]["content"] == '{"at": "2024-05-19T10:00:00"}'


def test_two_logs_of_one_name_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("logs: {one: {messages: [{user: a}]}}")
    with pytest.raises(ConfigError, match="a log's name must be its own"):
        self_test_logs(shop(logs=["a.yaml", "b.yaml"]), tmp_path / "shop.yaml")
    with pytest.raises(MissingFileError, match=r"none\.yaml"):
        self_test_logs(shop(logs="none.yaml"), tmp_path / "shop.yaml")
