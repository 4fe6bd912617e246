from __future__ import annotations

import pytest

from prm.reach.log.envelope import EnvelopeKeys, open_result


@pytest.mark.parametrize(
    ("recorded", "ok", "status", "value"),
    [
        ('{"status":"ok","data_quality":"complete","is_truncated":false,"record":{"a":1}}', True, "ok", {"a": 1}),
        ('{"status":"not_found","record":null}', False, "not_found", None),
        ("Error: payment amount does not add up", False, None, "Error: payment amount does not add up"),
        ("ValueError: nope", False, None, "ValueError: nope"),
        ("Traceback (most recent call last):\n x", False, None, "Traceback (most recent call last):\n x"),
        ('{"error": "no such flight"}', False, None, {"error": "no such flight"}),
        ('{"success": false}', False, None, {"success": False}),
        ('{"isError": true, "content": []}', False, None, {"isError": True, "content": []}),
        ('{"error": null, "x": 1}', True, None, {"error": None, "x": 1}),
        ('{"error": false}', True, None, {"error": False}),
        ("Error bars are drawn at two sigma", True, None, "Error bars are drawn at two sigma"),
        ("", True, None, ""),
        ("Transfer successful", True, None, "Transfer successful"),
        ("123.5", True, None, 123.5),
        ('{"status": "shipped", "id": "T1"}', True, None, {"status": "shipped", "id": "T1"}),
        ('{"status": "ok", "record": {"sku": "la', None, None, '{"status": "ok", "record": {"sku": "la'),
        (None, None, None, None),
    ],
)
def test_without_a_declaration_a_result_is_recognised(
    recorded: str | None, ok: bool | None, status: str | None, value: object
) -> None:
    opened = open_result(recorded, None)
    assert (opened.ok, opened.status, opened.value) == (ok, status, value)


def test_a_result_that_breaks_off_is_incomplete_and_not_truncated_by_the_tool() -> None:
    opened = open_result('[{"id": "HAT03', None)
    assert opened.incomplete
    assert not opened.truncated
    assert opened.ok is None


def test_partial_is_what_the_result_says_and_nothing_else() -> None:
    assert open_result('{"status":"ok","data_quality":"partial","record":{"sku":null}}', None).partial
    assert not open_result('{"status":"ok","record":{"sku":null}}', None).partial
    truncated = open_result('{"status":"ok","data_quality":"complete","is_truncated":true,"record":{}}', None)
    assert (truncated.partial, truncated.truncated) == (True, True)


def test_a_declared_status_that_is_not_there_leaves_open_how_it_went() -> None:
    keys = EnvelopeKeys()
    assert open_result('{"record": 1}', keys).ok is None
    assert open_result("plain text", keys).ok is None
    assert open_result("Error: no", keys).ok is False
    assert open_result('{"status": true}', EnvelopeKeys(ok=(1,))).ok is False
    assert open_result('{"status": true}', EnvelopeKeys(ok=(True,))).ok is True
    assert open_result('{"status": "x"}', EnvelopeKeys(ok=())).ok is None


def test_an_error_inside_the_record_of_a_failed_call_is_its_error_text() -> None:
    opened = open_result('{"status":"invalid","record":{"error":"wrong parameters"}}', None)
    assert opened.error == "wrong parameters"
    nested = open_result('{"error": {"message": "too long", "code": 4}}', None)
    assert nested.error == "too long"
