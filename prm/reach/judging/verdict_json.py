"""Verdicts as JSON: one object a line, ``prm.reach.verdict/1``; the schema may gain keys, never lose or change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from prm.data.jsonl import parse_json_object, read_lines
from prm.errors import RecordError
from prm.reach.judging.verdict import SCHEMA, RunVerdict
from prm.types import RunIdentity

_IDENTITY = tuple(field.name for field in fields(RunIdentity))


def dump_verdict(verdict: RunVerdict) -> dict[str, Any]:
    """The verdict as a JSON object; the run's key fields stand beside the rest, as in every record of a run."""
    record: dict[str, Any] = _adapter().dump_python(verdict, mode="json")
    identity = {name: value for name, value in record.pop("identity").items() if value is not None}
    return {"schema": SCHEMA, **identity, **record}


def parse_verdict(record: Mapping[str, Any], where: str) -> RunVerdict:
    """The verdict of a JSON object; unknown keys are passed over.

    Args:
        record: As `dump_verdict` gives it.
        where: What it is called in errors.

    Raises:
        RecordError: It is no verdict; the message names the key and the rule.
    """
    if record.get("schema") != SCHEMA:
        todo = "write it with `prm reach judge`"
        raise RecordError.at(f"{where}: schema", f"must be {SCHEMA}", record.get("schema"), todo)
    identity = {name: record[name] for name in _IDENTITY if name in record}
    try:
        return _adapter().validate_python({**record, "identity": identity})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise RecordError.at(f"{where}: {key}", first["msg"], first["input"], "judge the run again") from None


def read_verdicts(path: Path) -> Iterator[RunVerdict]:
    """The verdicts of a file, one at a time.

    Raises:
        MissingFileError: There is no such file.
        RecordError: A line is no verdict; the message names file, line and key.
    """
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        yield parse_verdict(parse_json_object(line, where), where)


def verdict_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of `dump_verdict`'s objects."""
    schema = _adapter().json_schema(mode="serialization")
    identity = schema["$defs"].pop("RunIdentity")["properties"]
    own = {name: part for name, part in schema["properties"].items() if name != "identity"}
    required = [name for name in schema["required"] if name != "identity"]
    schema["properties"] = {"schema": {"const": SCHEMA}, **identity, **own}
    schema["required"] = ["schema", "data_source", *required]
    return {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA}


@cache
def _adapter() -> TypeAdapter[RunVerdict]:
    return TypeAdapter(RunVerdict)
