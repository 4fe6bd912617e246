"""Encoding: one site per step for any text and any tokenizer, budgets, windows, plans."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prm.data.encode import IGNORED, Encoder, EncodingConfig
from prm.data.label_account import LabelAccount
from prm.data.plain_text import PlainTextTokenizer
from prm.data.records import read_trajectories
from prm.errors import ConfigError, ModelError
from prm.types import RunIdentity, Trajectory
from tests.tiny import CONTROL, FAMILIES, byte_level_tokenizer

_ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(
    [
        *CONTROL,
        "[end]",
        "[END]",
        "</s>",
        "[SEP]",
        "=>",
        "\n=>",
        "\n\n### Step 9\n",
        "ok.\n",
        "\n",
        "\ud800",
        "<|im_end|>" * 3,
    ]
)


@cache
def _tokenizer(name: str) -> Any:
    return FAMILIES[name]()


def _assistant(text: str | None, arguments: str | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if arguments is not None:
        message["tool_calls"] = [{"id": "c", "function": {"name": "f", "arguments": arguments}}]
    return message


_MESSAGES = st.lists(
    st.one_of(
        st.builds(_assistant, _ANY_TEXT | st.none(), _ANY_TEXT | st.none()),
        st.builds(lambda text: {"role": "tool", "content": text}, _ANY_TEXT | st.none()),
        st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["system", "user"]), _ANY_TEXT),
    ),
    min_size=1,
    max_size=12,
)


def _run(messages: list[dict[str, Any]], label: int = 1) -> Trajectory:
    steps = [i for i, message in enumerate(messages) if message["role"] == "assistant"]
    return Trajectory(RunIdentity("t", 0, 0), tuple(messages), dict.fromkeys(steps, label), 1)  # type: ignore[arg-type]


def _steps_of(rows: Any) -> list[int]:
    return sorted(site.message_index for row in rows for site in row.sites if site.message_index is not None)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=_MESSAGES, max_tokens=st.sampled_from([256, 300, 1536]), online=st.booleans())
def test_every_step_has_exactly_one_site(
    family: str, messages: list[dict[str, Any]], max_tokens: int, online: bool
) -> None:
    encoder = Encoder(_tokenizer(family), EncodingConfig(max_tokens=max_tokens))
    run = _run(messages)
    rows = (encoder.encode_online if online else encoder.encode)(run)
    assert _steps_of(rows) == [step.index for step in run.steps]
    assert sum(site.message_index is None for row in rows for site in row.sites) == 1
    for row in rows:
        assert len(row.input_ids) <= max_tokens
        assert all(0 <= site.start <= site.position < len(row.input_ids) for site in row.sites)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=_ANY_TEXT)
def test_no_recorded_text_becomes_a_control_token(family: str, text: str) -> None:
    tokenizer = _tokenizer(family)
    ids = PlainTextTokenizer(tokenizer).encode([f"a{text}b", text])
    control = set(tokenizer.added_tokens_decoder) - {tokenizer.unk_token_id}
    assert control.isdisjoint(np.concatenate(ids).tolist())


def test_control_tokens_inside_a_tool_result_read_as_their_characters() -> None:
    tokenizer = byte_level_tokenizer()
    (ids,) = PlainTextTokenizer(tokenizer).encode(["x<|im_end|><think>y"])
    assert tokenizer.decode(ids.tolist()) == "x<|im_end|><think>y"
    assert tokenizer.convert_tokens_to_ids("<|im_end|>") not in ids


def test_bos_stands_once_at_the_front_where_the_tokenizer_writes_one() -> None:
    tokenizer = _tokenizer("bos")
    (row,) = Encoder(tokenizer, EncodingConfig()).encode(_run([_assistant("ok"), _assistant("ok")]))
    assert row.input_ids.tolist().count(tokenizer.bos_token_id) == 1
    assert row.input_ids[0] == tokenizer.bos_token_id


def test_lone_surrogates_are_replaced_and_counted() -> None:
    encoder = Encoder(byte_level_tokenizer(), EncodingConfig())
    encoder.encode(_run([_assistant("a\ud800b\udfff")]))
    assert encoder.replaced_surrogates == 2


def test_broken_arguments_stand_verbatim_and_nothing_is_added() -> None:
    tokenizer = byte_level_tokenizer()
    (row,) = Encoder(tokenizer, EncodingConfig()).encode(_run([_assistant("", '{"n":null, "city')]))
    assert '-> f({"n":null, "city)\n=>' in tokenizer.decode(row.input_ids.tolist())


def test_unknown_labels_are_ignored_and_never_zero() -> None:
    run = Trajectory(RunIdentity("t", 0, 0), (_assistant("a"), _assistant("b")), {0: None, 1: -1}, None)
    (row,) = Encoder(byte_level_tokenizer(), EncodingConfig()).encode(run)
    assert [site.class_id for site in row.sites] == [IGNORED, 0, IGNORED]


def _long_run(steps: int, result: str = "stock ", result_words: int = 400, text: str = "good ") -> Trajectory:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "ship a lamp"}]
    for k in range(steps):
        messages += [
            _assistant(text * 4, f'{{"n": {k}}}'),
            {"role": "tool", "name": "f", "content": result * result_words},
        ]
    return _run(messages)


def test_tool_outputs_give_way_before_any_step_text() -> None:
    tokenizer = byte_level_tokenizer()
    (row,) = Encoder(tokenizer, EncodingConfig(max_tokens=1024)).encode(_long_run(6))
    text = tokenizer.decode(row.input_ids.tolist())
    assert "tokens left out" in text
    assert text.count("good good good good") == 6


def test_old_tool_outputs_give_way_before_the_newest() -> None:
    encoder = Encoder(byte_level_tokenizer(), EncodingConfig(max_tokens=1200))
    blocks = encoder._tokenise(_long_run(6))
    plan, _ = encoder._plan(blocks)
    tools = [kept for kept, tokens in zip(plan, blocks, strict=True) if tokens.block.kind.value == "tool"]
    assert max(tools[:-2]) < min(tools[-2:])


def test_a_run_that_cannot_fit_is_windowed_and_each_step_is_scored_once() -> None:
    run = _long_run(80)
    encoder = Encoder(byte_level_tokenizer(), EncodingConfig(max_tokens=512))
    rows, account = encoder.encode_with_account(run)
    assert len(rows) > 3
    assert _steps_of(rows) == [step.index for step in run.steps]
    assert account.labelled["1"] == 80 == account.kept["1"] + account.elided["1"]
    assert not account.dropped
    assert account.windowed["1"] == 80 - sum(site.message_index is not None for site in rows[0].sites)


def test_windows_overlap_and_begin_with_the_question() -> None:
    tokenizer = byte_level_tokenizer()
    rows = Encoder(tokenizer, EncodingConfig(max_tokens=512)).encode(_long_run(80))
    texts = [tokenizer.decode(row.input_ids.tolist()) for row in rows]
    assert all(text.startswith("\n\n### User\nship a lamp") for text in texts)
    for before, after in pairwise(texts):
        last = before.rsplit("### Step ", 1)[1].split("\n")[0]
        assert f"### Step {last}\n" in after


def test_a_step_with_hundreds_of_parallel_calls_still_fits() -> None:
    calls = [{"id": str(i), "function": {"name": "f", "arguments": "{}"}} for i in range(300)]
    results = [{"role": "tool", "content": "stock " * 20} for _ in range(300)]
    run = _run([{"role": "assistant", "content": None, "tool_calls": calls}, *results, _assistant("done")])
    rows = Encoder(byte_level_tokenizer(), EncodingConfig(max_tokens=256)).encode(run)
    assert _steps_of(rows) == [0, 301]


@settings(max_examples=30, deadline=None)
@given(lengths=st.lists(st.integers(0, 300), min_size=2, max_size=8), max_tokens=st.sampled_from([256, 500]))
def test_online_rows_do_not_depend_on_what_follows(lengths: list[int], max_tokens: int) -> None:
    tokenizer = _tokenizer("byte_level")
    encoder = Encoder(tokenizer, EncodingConfig(max_tokens=max_tokens))
    messages: list[dict[str, Any]] = []
    for length in lengths:
        messages += [_assistant("good"), {"role": "tool", "content": "stock " * length}]
    prefixes = {}
    for row in encoder.encode_online(_run(messages)):
        for site in row.sites:
            prefixes[site.message_index] = row.input_ids[: site.position + 1].tolist()
    for index in (0, 2 * (len(lengths) // 2)):
        for row in encoder.encode_online(_run(messages[: index + 1])):
            for site in row.sites:
                if site.message_index == index:
                    assert prefixes[index] == row.input_ids[: site.position + 1].tolist()


def test_labels_never_change_the_ids() -> None:
    encoder = Encoder(byte_level_tokenizer(), EncodingConfig(max_tokens=256))
    good, bad = _long_run(9), _long_run(9)
    flipped = Trajectory(bad.identity, bad.messages, dict.fromkeys(bad.step_labels, -1), -1, extra={"leak": "label"})
    for first, second in zip(encoder.encode(good), encoder.encode(flipped), strict=True):
        assert first.input_ids.tolist() == second.input_ids.tolist()


def test_a_budget_too_small_and_a_foreign_rendering_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_tokens: must be at least 256, got 10"):
        EncodingConfig(max_tokens=10)
    with pytest.raises(ModelError, match="rendering"):
        EncodingConfig(rendering="0")


def test_all_real_steps_are_read_at_a_small_budget(shared_data: Any) -> None:
    encoder = Encoder(byte_level_tokenizer(), EncodingConfig(max_tokens=1536))
    account = LabelAccount()
    for run in read_trajectories(shared_data / "agentprocessbench" / "hotpotqa.jsonl"):
        account.add(encoder.account(run))
    plain = account.as_dict()
    assert plain["labelled"] == {"-1": 179, "0": 56, "1": 499}
    assert plain["dropped"] == {"-1": 0, "0": 0, "1": 0}
    assert account.longest_row <= 1536
