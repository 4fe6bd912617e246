"""The findings of a report as the sentences of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prm.reach.metrics.report_values import ArmReport, Report
from prm.report.cells import counted
from prm.report.phrases import sentence
from prm.report.reach.shares import share

_MAX_BOTTLENECKS = 4
_MAX_OTHERS = 8


def full_sentence(finding: str) -> str:
    """A finding with a capital and a full stop."""
    return _ended(sentence(finding))


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def summary_sentences(report: Report, noted: int) -> list[str]:
    """What to read first: what holds runs up, how far they get, what makes a difference, what could not be judged.

    Args:
        report: What was measured.
        noted: How many runs have notes.
    """
    arms = report.arms
    if len(arms) == 1:
        found = [*map(full_sentence, _bottleneck_first(arms[0].findings))]
    else:
        found = [*_who(arms), *_holds_up(arms), *map(_ended, _others(report))]
    return [*found, *_notes(report, noted if report.notes else 0)]


def _bottleneck_first(findings: Sequence[str]) -> list[str]:
    return sorted(findings, key=lambda finding: not finding.startswith("bottleneck"))


def _ranked(arms: Sequence[ArmReport]) -> list[ArmReport]:
    known = [arm for arm in arms if arm.reach.value is not None]
    return sorted(known, key=lambda arm: -(arm.reach.value or 0.0))


def _who(arms: Sequence[ArmReport]) -> Iterator[str]:
    ranked = _ranked(arms)
    if len(ranked) < 2:
        return
    first, last = ranked[0], ranked[-1]
    yield (
        f"Of {counted(len(arms), 'agent × variant', 'agents × variants')}, {first.arm.name} gets furthest: its runs "
        f"reach {share(first.reach.value)} of the required milestones on average. {last.arm.name} gets least far: "
        f"{share(last.reach.value)}."
    )


def _holds_up(arms: Sequence[ArmReport]) -> Iterator[str]:
    """The first bottleneck of each, the least far first; of many, of the `_MAX_BOTTLENECKS` that get least far."""
    for arm in _ranked(arms)[::-1][:_MAX_BOTTLENECKS]:
        first = next((finding for finding in arm.findings if finding.startswith("bottleneck")), None)
        if first is not None:
            # A sentence that begins with a name keeps its letters.
            yield _ended(f"{arm.arm.name}: {first}")


def _others(report: Report) -> list[str]:
    """The report's findings that are not of one agent × variant alone."""
    own = {f"{arm.arm.name}: {finding}" for arm in report.arms for finding in arm.findings}
    return [finding for finding in report.findings if finding not in own and not finding.endswith(":")][:_MAX_OTHERS]


def _notes(report: Report, noted: int) -> Iterator[str]:
    if noted:
        example = next(iter(report.notes))
        yield (
            f"Of {counted(noted, 'run')} the log had to be repaired, or not everything could be judged. The notes "
            f"stand with each run, such as: {_ended(example)}"
        )
