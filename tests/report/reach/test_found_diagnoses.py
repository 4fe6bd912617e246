"""Each diagnosis with examples that differ."""

from __future__ import annotations

from prm.reach.judging.verdict import Diagnosis, Evidence
from prm.report.reach.examples import MAX_EXAMPLES, MEANINGS, found_diagnoses
from tests.report.reach.examples import repeated, verdict

PROOF = (Evidence(2, "it is so"),)


def made(name: str, subject: str, evidence: tuple[Evidence, ...] = PROOF) -> Diagnosis:
    return Diagnosis(name, 2, None, subject, evidence=evidence)  # type: ignore[arg-type]


def test_runs_times_and_subjects_are_counted() -> None:
    twice = (made("loop", "a"), made("loop", "a"), made("loop", "b"))
    (found,) = found_diagnoses(
        [*repeated("rrrrr", diagnoses=twice), *repeated("rrrrr", agent="x", diagnoses=twice[:1])]
    )
    assert (found.runs, found.times) == (2, 4)
    assert found.subjects == (("a", 2), ("b", 1))


def test_examples_are_of_different_subjects_then_of_different_agents() -> None:
    verdicts = [verdict("rrrrr", agent="one", diagnoses=(made("fabrication", "sku"),))] * 50
    verdicts += [verdict("rrrrr", agent="two", diagnoses=(made("fabrication", "sku"),))] * 5
    verdicts += [verdict("rrrrr", agent="one", diagnoses=(made("fabrication", "address"),))]
    (found,) = found_diagnoses(verdicts)
    subjects = [example.diagnosis.subject for example in found.examples]
    agents = [verdicts[example.run].agent for example in found.examples]
    assert len(found.examples) == MAX_EXAMPLES
    assert subjects[:2] == ["sku", "address"]
    assert agents[:3] == ["one", "one", "two"]
    assert len({example.run for example in found.examples}) == MAX_EXAMPLES


def test_examples_with_proof_come_before_those_without() -> None:
    verdicts = [verdict("rrrrr", diagnoses=(made("loop", "a", ()),))] * 9
    verdicts += [verdict("rrrrr", diagnoses=(made("loop", "a"),))]
    (found,) = found_diagnoses(verdicts)
    assert found.examples[0].run == 9


def test_faults_come_before_what_is_none() -> None:
    all_of_them = tuple(made(name, "x") for name in reversed(MEANINGS))
    names = [one.name for one in found_diagnoses(repeated("rrrrr", diagnoses=all_of_them))]
    assert names == list(MEANINGS)
    assert names[-1] == "recovery"
