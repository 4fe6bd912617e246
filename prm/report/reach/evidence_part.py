"""The chapter of diagnoses with the log lines that prove them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from urllib.parse import quote

from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.run import Run
from prm.reach.metrics.estimate import Arm
from prm.reach.metrics.words import diagnosis_words
from prm.report.page import Part, rendered
from prm.report.phrases import percent
from prm.report.reach.assets import reach_asset
from prm.report.reach.examples import MEANINGS, Example, Found
from prm.report.reach.log_lines import LogLine, log_lines
from prm.report.reach.outcome import log_key

_MAX_SUBJECTS = 5
_MAX_EVIDENCE = 3


@dataclass(frozen=True, slots=True)
class ShownProof:
    """One sentence, and the lines of the log that it speaks of."""

    what: str
    lines: tuple[LogLine, ...]


@dataclass(frozen=True, slots=True)
class ShownExample:
    """One place: what was found there, in which run, and the proof. `address` is "" where the page lacks the run."""

    words: str
    run: str
    arm: str
    address: str
    proofs: tuple[ShownProof, ...]


@dataclass(frozen=True, slots=True)
class ShownDiagnosis:
    """One diagnosis: its title, its meaning, how often it is made, what about, and examples."""

    name: str
    title: str
    meaning: str
    runs: int
    share: str
    times: int
    subjects: tuple[tuple[str, int], ...]
    more_subjects: int
    examples: tuple[ShownExample, ...]


def evidence_part(
    found: Sequence[Found],
    verdicts: Sequence[RunVerdict],
    names: Sequence[str],
    logs: Mapping[tuple[str, ...], Run],
    chosen: Set[int],
) -> Part:
    """The chapter.

    Args:
        found: What was found, with examples.
        verdicts: All N.
        names: [N] a name for each that no other has.
        logs: `log_key` → the run's log, as far as there are any.
        chosen: Numbers of the runs that the viewer shows: examples link to them.
    """

    def example(one: Example) -> ShownExample:
        verdict = verdicts[one.run]
        run = logs.get(log_key(verdict))
        place = f"#run={quote(names[one.run], safe='')}&at={one.diagnosis.batch}"
        proofs = [
            ShownProof(evidence.what, tuple(log_lines(evidence, run)))
            for evidence in one.diagnosis.evidence[:_MAX_EVIDENCE]
        ]
        return ShownExample(
            diagnosis_words(one.diagnosis.name, one.diagnosis.subject),
            names[one.run],
            Arm(verdict.agent, verdict.variant).name,
            place if one.run in chosen else "",
            tuple(proofs),
        )

    shown = [_shown(one, len(verdicts), tuple(map(example, one.examples))) for one in found]
    body = rendered(reach_asset("evidence.html.jinja"), found=shown)
    text = (
        "Each diagnosis with runs that have it, and the lines of the log that prove it. Examples are of different "
        "subjects and of different agents × variants where there are any."
    )
    return Part(id="evidence", title="The log lines that prove it", text=text, body=body)


def _shown(one: Found, runs: int, examples: tuple[ShownExample, ...]) -> ShownDiagnosis:
    title, meaning = MEANINGS.get(one.name, (one.name, ""))
    subjects = tuple((subject, count) for subject, count in one.subjects if subject)
    return ShownDiagnosis(
        one.name,
        title,
        meaning,
        one.runs,
        percent(one.runs / max(1, runs)),
        one.times,
        subjects[:_MAX_SUBJECTS],
        max(0, len(subjects) - _MAX_SUBJECTS),
        examples,
    )
