"""Specs from YAML files and by the names of those that ship. Errors name the file, the key and the rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from prm.data.yaml_file import read_yaml
from prm.errors import ConfigError
from prm.reach.spec.model import Spec
from prm.reach.spec.references import reference_problems

SHIPPED: tuple[str, ...] = ("ticket", "airline")
"""The names of the specs that ship."""


@cache
def shipped_spec(name: str) -> Spec:
    """The shipped spec called `name`.

    Raises:
        ConfigError: There is none of that name.
    """
    if name not in SHIPPED:
        raise ConfigError.at("spec", f"must be a file or one of {', '.join(SHIPPED)}", name, "name one of them")
    with as_file(files("prm.reach.spec").joinpath(f"{name}.yaml")) as path:
        return _read(path)


def load_spec(source: str | Path) -> Spec:
    """The spec in a YAML file, or the shipped one of that name.

    Raises:
        MissingFileError: There is no such file, and no shipped spec is called so.
        ConfigError: It is not YAML, or breaks a rule; the message names file, key and rule.
    """
    path = Path(source)
    if path.suffix not in (".yaml", ".yml", ".json") and not path.is_file():
        return shipped_spec(str(source))
    return _read(path)


def spec_folder(source: str | Path) -> Path:
    """The folder that a spec's own logs lie in, beside it."""
    if str(source) in SHIPPED and not Path(source).is_file():
        return Path(str(files("prm.reach.spec")))
    return Path(source).parent


def parse_spec(content: Any, where: str) -> Spec:
    """The spec of a parsed YAML value; `where` names it in errors.

    Raises:
        ConfigError: It breaks a rule.
    """
    try:
        spec = Spec.model_validate(content)
    except ValidationError as error:
        todo = "fix it; `prm schema reach-spec` prints what a spec may hold"
        raise refusal(error, where, todo) from None
    for key, rule, got in reference_problems(spec):
        raise ConfigError.at(f"{where}: {key}", rule, got, "fix the name")
    return spec


def refusal(error: ValidationError, where: str, todo: str) -> ConfigError:
    """What is wrong with a file, as one line: of all that the validator found, what says most."""
    first = min(error.errors(), key=_remoteness)
    keys = _keys(first["loc"])
    if keys and keys[-1] == "[key]":
        return ConfigError.at(_place(where, keys[:-2]), "a key must be text", first["input"], "put it in quotes")
    return ConfigError.at(_place(where, keys), _rule(first["msg"]), first["input"], todo)


def _read(path: Path) -> Spec:
    return parse_spec(read_yaml(path), str(path))


def _remoteness(found: Mapping[str, Any]) -> tuple[int, bool, bool]:
    """Of several errors that one value gives, the one deepest in the file says most; of these a key that there is not
    (what is missing beside it is likely that key, misspelt), and not a mere type."""
    kind = str(found["type"])
    return -len(_keys(found["loc"])), kind != "extra_forbidden", kind.endswith("_type")


def _keys(location: Sequence[str | int]) -> list[str]:
    """The keys of a place in the file, without the names that the validator gives to its alternatives."""
    kept: list[str] = []
    for part in location:
        if isinstance(part, int):
            kept.append(f"[{part}]")
        elif not any(mark in part for mark in ("(", "constrained-str", "literal[")) and part not in _ALTERNATIVES:
            kept.append(part)
    return kept


_MODEL = re.compile(r" or instance of \w+$")
_ALTERNATIVES = frozenset({"str", "int", "float", "bool", "Facts", "First", "CallPattern", "Speech"})


def _place(where: str, keys: Sequence[str]) -> str:
    return f"{where}: {'.'.join(keys).replace('.[', '[')}" if keys else where


def _rule(message: str) -> str:
    text = _MODEL.sub("", message.removeprefix("Value error, "))
    return {"Extra inputs are not permitted": "no such key"}.get(text, text[:1].lower() + text[1:])
