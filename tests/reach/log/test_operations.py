from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prm.errors import ConfigError, RecordError
from prm.reach.log.operation_columns import OperationColumns, columns_of_query
from prm.reach.log.operations import read
from prm.reach.log.read import read_runs
from prm.reach.log.run import Run


def runs_of(tmp_path: Path, *rows: dict[str, Any], reader: str | None = None) -> list[Run]:
    path = tmp_path / "operations.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return list(read_runs(path, reader))


def done(minute: float, operation: str = "read", actor: str = "ann", **more: Any) -> dict[str, Any]:
    return {"time": 1_700_000_000 + minute * 60, "actor": actor, "operation": operation, **more}


def tools(run: Run) -> list[str]:
    return [call.tool for call in run.calls]


def test_an_operation_is_a_call_of_its_own_batch(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        done(0, "read_ticket", object_id="T1", params={"full": True}, outcome={"sku": "lamp-4"}),
        done(1, "check_stock", object_id="lamp-4"),
    )
    assert [len(event.calls) for event in run.batches] == [1, 1]
    assert run.calls[0].arguments == {"object_id": "T1", "full": True}
    assert run.results[run.calls[0].id].value == {"sku": "lamp-4"}
    assert run.calls[1].id not in run.results
    assert (run.agent, run.calls_only, run.calls[0].timestamp) == ("ann", True, 1_700_000_000)


def test_a_long_pause_of_an_actor_begins_a_new_run(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, done(0, "a"), done(30, "b"), done(60.1, "c"), done(61, "x", "bob"), done(61, "d"))
    assert [(run.run, tools(run)) for run in runs] == [("ann/0", ["a", "b"]), ("bob/0", ["x"]), ("ann/1", ["c", "d"])]


def test_rows_out_of_order_are_put_in_order_of_time(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, done(5, "b"), done(100, "c"), done(0, "a"))
    assert [tools(run) for run in runs] == [["c"], ["a", "b"]]


def test_columns_are_declared_in_the_readers_name(tmp_path: Path) -> None:
    rows = [
        {"ts": 2, "who": "ann", "op": "b", "session": "s1", "tenant": "x", "ticket": 7},
        {"ts": 1, "who": "bob", "op": "a", "session": "s1", "tenant": "x", "ticket": None},
        {"ts": 3, "who": "ann", "op": "c", "session": "s1", "tenant": "y"},
    ]
    declared = "operations?time=ts&actor=who&operation=op&object_id=ticket&run=tenant+session"
    runs = runs_of(tmp_path, *rows, reader=declared)
    assert [(run.run, tools(run), run.agent) for run in runs] == [("x/s1", ["a", "b"], "bob"), ("y/s1", ["c"], "ann")]
    assert runs[0].calls[1].arguments == {"ticket": 7}
    assert runs[0].calls[0].arguments is None


def test_a_csv_file_is_read_and_recognised(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "\ufefftime,actor,operation,object_id,params,outcome\n"
        '2024-05-15T15:00:00Z,ann,查询,Ｔ１,"{""n"": 1}","{""sku"": ""lamp""}"\n'
        "2024-05-15 15:01:00,ann,write,,,failed\n"
        "\n"
        "2024-05-15T17:02:00+01:00,ann,write,T2,free text,done\n",
        encoding="utf-8",
    )
    runs = list(read_runs(path))
    assert [tools(run) for run in runs] == [["查询", "write"], ["write"]]
    first, second = runs[0].calls
    assert (first.arguments, runs[0].results[first.id].value) == ({"object_id": "Ｔ１", "n": 1}, {"sku": "lamp"})
    assert (second.arguments, runs[0].results[second.id].ok, runs[0].results[second.id].incomplete) == (
        None,
        False,
        True,
    )
    assert runs[1].calls[0].arguments == {"object_id": "T2", "params": "free text"}


@pytest.mark.parametrize(
    ("outcome", "ok", "value"),
    [
        ("ok", True, None),
        ("Failed", False, None),
        (True, True, None),
        ("false", False, None),
        (404, None, 404),
        ("404", None, 404),
        ("lamp-4", True, "lamp-4"),
        ("Error: no such thing", False, "Error: no such thing"),
        ({"status": "refused", "record": None}, False, None),
    ],
)
def test_an_outcome_says_how_it_went_or_what_came_back(tmp_path: Path, outcome: Any, ok: Any, value: Any) -> None:
    (run,) = runs_of(tmp_path, done(0, outcome=outcome))
    result = run.results[run.calls[0].id]
    assert (result.ok, result.value) == (ok, value)


def test_params_that_break_off_leave_the_arguments_unknown(tmp_path: Path) -> None:
    (run,) = runs_of(tmp_path, done(0, object_id="T1", params='{"n": '), done(1, params="[1, 2]"), done(2, params=[3]))
    assert [call.arguments for call in run.calls] == [None, {"params": [1, 2]}, {"params": [3]}]


@pytest.mark.parametrize(
    ("broken", "key"),
    [
        ({"time": "soon"}, "time"),
        ({"time": None}, "time"),
        ({"actor": None}, "actor"),
        ({"actor": [1]}, "actor"),
        ({"operation": 5}, "operation"),
    ],
)
def test_a_broken_row_is_one_line_with_its_place(tmp_path: Path, broken: dict[str, Any], key: str) -> None:
    with pytest.raises(RecordError, match=rf"operations\.jsonl:2: {key}: must"):
        runs_of(tmp_path, done(0), {**done(1), **broken})


def test_a_run_column_that_is_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"jsonl:1: session: must name the run"):
        runs_of(tmp_path, done(0, session=None), reader="operations?run=session")


@pytest.mark.parametrize("declared", ["run", "actor", "time", "operation"])
def test_a_column_that_is_not_there_is_told_with_those_that_are(tmp_path: Path, declared: str) -> None:
    rule = rf"jsonl:1: must have a column 'x', got \['time'.*operations\?{declared}=COLUMN"
    with pytest.raises(RecordError, match=rule):
        runs_of(tmp_path, done(0), reader=f"operations?{declared}=x")


@pytest.mark.parametrize(
    "text",
    [
        "a,a\n1,2\n",
        "operation,actor,time\nx,y,1,2\n",
        'operation,time,actor\n"x,1',
        "a,b\n\x00,1\n",
        'operation,time,actor\nx,1,"y\nx,2,z\n',
    ],
)
def test_a_broken_csv_file_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=r"log\.csv:\d"):
        list(read_runs(path))


def test_csv_that_is_no_utf8_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"time,actor,operation\n1,ann,\xff\xfe\n")
    with pytest.raises(RecordError, match="must be UTF-8"):
        list(read_runs(path))


@pytest.mark.parametrize(
    "query", ["nobody=x", "gap_minutes=soon", "gap_minutes=0", "gap_minutes=nan", "gap_minutes=-1"]
)
def test_a_wrong_declaration_is_one_line(query: str) -> None:
    with pytest.raises(ConfigError):
        columns_of_query(query)


def test_columns_can_be_declared_in_code(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"t": 1, "actor": "a", "operation": "x"}\n{"t": 2, "actor": "a", "operation": "y"}\n')
    rows = list(read(str(path), OperationColumns(time="t", gap_minutes=0.01)))
    assert len(rows) == 2


def test_the_request_of_a_run_is_its_first_message(tmp_path: Path) -> None:
    (run,) = runs_of(tmp_path, done(0), done(1, request="Ticket T1."))
    assert [event.text for event in run.events if event.kind == "user"] == ["Ticket T1."]
    assert run.calls_only
