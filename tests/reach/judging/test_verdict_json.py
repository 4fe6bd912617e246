from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.data.jsonl import write_jsonl
from prm.data.schema import read_schema
from prm.errors import RecordError
from prm.reach.desk.generate import generate_runs
from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import Diagnosis, Evidence, MissingInformation, RunVerdict
from prm.reach.judging.verdict_json import dump_verdict, parse_verdict, read_verdicts, verdict_schema
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import load_spec
from prm.types import RunIdentity
from tests.reach.metrics.hand_verdicts import verdict

TICKET = load_spec("ticket")


def desk_verdict(seed: int) -> RunVerdict:
    (run,) = generate_runs(1, seed)
    return judge_run(run_of_trajectory(run, TICKET.envelope), TICKET)


@given(st.integers(0, 10_000))
def test_a_verdict_survives_being_written(seed: int) -> None:
    judged = desk_verdict(seed)
    record = json.loads(json.dumps(dump_verdict(judged)))
    assert parse_verdict(record, "v") == judged
    jsonschema.validate(record, json.loads(read_schema("reach-verdict")))


def test_every_field_survives_being_written() -> None:
    evidence = (Evidence(3, "why", "c", "a[0].b", {"x": [1, None]}, 1, "d", "y"),)
    full = verdict(
        "rt",
        identity=RunIdentity("desk", 4, "two", "id-1", "set", "agent"),
        seed=5,
        minefields={"a": True, "b": False, "c": None},
        diagnoses=(Diagnosis("loop", 3, "c", "read", "2", evidence),),
        missing_information=(MissingInformation("no_sku", "asks", 5),),
        habit="loop",
        notes=("one",),
    )
    full = replace(full, run="two")
    assert parse_verdict(json.loads(json.dumps(dump_verdict(full))), "v") == full


def test_the_keys_of_the_run_stand_beside_the_rest() -> None:
    record = dump_verdict(verdict("r", scenario="s-1", run=2))
    assert list(record)[:4] == ["schema", "data_source", "query_index", "sample_index"]
    assert "identity" not in record


def test_lone_surrogates_survive() -> None:
    odd = verdict("r", scenario="a\ud800b")
    assert parse_verdict(dump_verdict(odd), "v") == odd


def test_unknown_keys_are_passed_over() -> None:
    assert parse_verdict({**dump_verdict(verdict("r")), "later": 1}, "v") == verdict("r")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "prm.metrics/1"}, "v: schema: must be prm.reach.verdict/1"),
        ({"covered": "perhaps"}, "v: covered: "),
        ({"milestones": [{"name": "M1", "standing": "fine"}]}, "v: milestones.0.standing: "),
        ({"spec": None}, "v: spec: "),
    ],
)
def test_a_wrong_record_is_refused_by_key(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse_verdict({**dump_verdict(verdict("r")), **change}, "v")


def test_a_file_is_read_one_verdict_at_a_time_and_errors_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    write_jsonl(path, [dump_verdict(verdict("r")), {"schema": "other"}])
    verdicts = read_verdicts(path)
    assert next(verdicts) == verdict("r")
    with pytest.raises(RecordError, match=r"v\.jsonl:2: schema"):
        next(verdicts)


def test_the_published_schema_is_that_of_the_record() -> None:
    schema = verdict_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(read_schema("reach-verdict")) == schema
