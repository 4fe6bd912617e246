from __future__ import annotations

from prm.reach.labels.neutral_id import neutral_identity
from prm.types import RunIdentity


def test_an_id_becomes_the_same_digest_each_time_and_another_for_another_run() -> None:
    first, second = (RunIdentity("desk", 7, k, id=f"t/agent/plain/{k}", generator="agent") for k in range(2))
    neutral = neutral_identity(first)
    assert neutral == neutral_identity(first) != neutral_identity(second)
    assert neutral.id is not None
    assert "agent" not in neutral.id
    assert (neutral.data_source, neutral.query_index, neutral.sample_index, neutral.generator) == ("desk", 7, 0, None)


def test_a_run_without_an_id_keeps_its_key() -> None:
    run = RunIdentity("desk", 7, 0, generator="agent")
    assert neutral_identity(run).key == run.key


def test_an_id_of_any_characters_has_a_digest() -> None:
    assert neutral_identity(RunIdentity(id="\ud800")).id != neutral_identity(RunIdentity(id="")).id
