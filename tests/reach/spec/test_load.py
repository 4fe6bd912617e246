from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from prm.errors import ConfigError, MissingFileError
from prm.reach.spec.load import load_spec, parse_spec, shipped_spec, spec_folder
from tests.reach.judging.hand_runs import shop

USED = {"flow": {"from": "result.item", "to": "order.item"}}


def changed(key: str, value: Any) -> dict[str, Any]:
    """The shop's content with one key changed, by its dotted path."""
    content: dict[str, Any] = yaml.safe_load(
        yaml.safe_dump(shop().model_dump(mode="json", by_alias=True, exclude_unset=True))
    )
    content["milestones"] = {"found": {"source": {"tool": "find"}, "used": copy.deepcopy(USED)}}
    *path, last = key.split(".")
    part = content
    for name in path:
        part = part.setdefault(name, {})
    part[last] = value
    return content


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("milestone", {}, "s.yaml: milestone: no such key"),
        ("schema", "prm.reach.spec/2", "s.yaml: schema: input should be 'prm.reach.spec/1'"),
        ("name", "two words", "s.yaml: name: "),
        ("tools.find", {"efect": "read"}, "s.yaml: tools.find.efect: no such key"),
        ("tools.find.parameters", {5: "ref"}, "s.yaml: tools.find.parameters: a key must be text, got 5"),
        ("tools.find.effect", "look", "s.yaml: tools.find.effect: "),
        ("tools.find.parameters.name", "id", "s.yaml: tools.find.parameters.name.class: "),
        ("tools.find.poll", 1, "s.yaml: tools.find.poll: "),
        ("milestones.found.used", [], "s.yaml: milestones.found: must have either source and used, or any_of"),
        ("milestones.found.used", {"flows": {}}, "s.yaml: milestones.found.used[0].flows: no such key"),
        ("milestones.found.used", {"flow": {}, "final": True}, "s.yaml: milestones.found.used[0]: must be exactly one of"),
        ("milestones.found.source.where", {"arg.x": 1}, "'arg.x' is no path"),
        ("milestones.found.source.where", {"args.name": {"flow": "M1.sku"}}, "s.yaml: milestones.found.source.where.args.name"),
        ("milestones.found.source.where", {"args.name": {}}, "must test something"),
        ("milestones.found.source", {"where": {"ok": True}}, "must name a tool, a named call or an effect"),
        ("facts.f", {"of": {"tool": "find"}}, "s.yaml: facts.f: must have either of and holds, or user, or agent"),
        ("facts.f", {"user": {}}, "s.yaml: facts.f.user: must name words, none_of or question"),
        ("tools.order.parameters.item", {"class": "ref", "derive": {"sum": ["a.b"]}}, "s.yaml: tools.order.parameters.item.derive"),
        ("envelope.ok", [[]], "s.yaml: envelope.ok"),
        ("milestones", {}, "s.yaml: milestones: "),
        # Names that refer to nothing, or mean two things.
        ("milestones.found.source.tool", "fnd", "s.yaml: milestones.found.source.tool: must be one of ask, find, order, got 'fnd'"),
        ("milestones.found.after", "M9", "s.yaml: milestones.found.after: must be one of found, got 'M9'"),
        ("milestones.found.unless", "f", "s.yaml: milestones.found.unless: must be one of none, got 'f'"),
        ("milestones.found.source.where", {"args.name": {"flow": "M9.result.x"}}, "got 'M9'"),
        ("milestones.found.source.where", {"any": {"not": {"args.name": {"not": {"flow": "M9.result.x"}}}}}, "got 'M9'"),
        ("milestones.found.used", {"flow": {"to": "send.item"}}, "s.yaml: milestones.found.used[0].flow.to: must be one of"),
        ("milestones.found.used", {"decides": {"fact": "f", "demands": "questions"}}, "got 'f'"),
        ("milestones.found.supports", "spare", "got 'spare'"),
        ("calls.find", {"tool": "find"}, "s.yaml: calls.find: a name must have one meaning"),
        ("calls.found", {"tool": "find"}, "s.yaml: calls.found: a name must have one meaning"),
        ("calls.user", {"tool": "find"}, "s.yaml: calls.user: a name must have one meaning"),
        ("calls.a", {"call": "a"}, "s.yaml: calls.a.call: must not lead back to itself"),
        ("milestones.found.after", "found", "s.yaml: milestones.found.after: must not lead back to itself"),
        ("information.f", {}, "s.yaml: information: must be one of none, got 'f'"),
        ("legal_exits", "sometimes", "s.yaml: legal_exits: must be one of questions, refusals, got 'sometimes'"),
        ("tools.order.parameters.item", {"class": "ref", "derive": {"count": "x.result.y"}}, "got 'x'"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_by_file_key_and_rule(key: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_spec(changed(key, value), "s.yaml")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_unchanged_spec_is_accepted() -> None:
    assert parse_spec(changed("title", "Shop"), "s.yaml").title == "Shop"


def test_a_longer_circle_is_found() -> None:
    content = changed("calls", {"a": {"call": "b"}, "b": {"call": "c"}, "c": {"call": "a"}})
    with pytest.raises(ConfigError, match=r"calls\.a\.call: must not lead back"):
        parse_spec(content, "s.yaml")


def test_a_fact_that_asks_for_itself_is_found() -> None:
    fact = {"of": {"tool": "find", "given": "f"}, "holds": {"ok": True}}
    with pytest.raises(ConfigError, match=r"facts\.f\.given: must not lead back"):
        parse_spec(changed("facts", {"f": fact}), "s.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "must be YAML"),
        ("- 1", "input should be a valid dictionary, got"),
        ("", "input should be a valid dictionary"),
        ("a: &a [*a]", "aliases written out"),
        ("\x00", "must be YAML"),
        ("!!python/object/apply:os.system ['true']", "must be YAML"),
    ],
)
def test_a_file_that_is_no_spec_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_spec(path)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_other_bytes_and_far_too_large_files_are_refused(tmp_path: Path) -> None:
    binary = tmp_path / "b.yaml"
    binary.write_bytes(b"\xff\xfe\x00a: 1")
    with pytest.raises(ConfigError, match="must be"):
        load_spec(binary)
    large = tmp_path / "l.yaml"
    large.write_bytes(b"#" * 1_000_001)
    with pytest.raises(ConfigError, match="at most 1000000 bytes"):
        load_spec(large)


def test_a_shipped_spec_goes_by_its_name_and_others_by_their_file() -> None:
    assert load_spec("ticket") is shipped_spec("ticket")
    with pytest.raises(ConfigError, match="must be a file or one of ticket, airline, got 'hotel'"):
        load_spec("hotel")
    with pytest.raises(MissingFileError, match=r"hotel\.yaml: file must exist"):
        load_spec("hotel.yaml")
    assert (spec_folder("ticket") / "ticket.logs.yaml").is_file()
    assert spec_folder("a/b.yaml") == Path("a")
