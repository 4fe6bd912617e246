"""How numbers and diagnoses are said in plain words."""

from __future__ import annotations

from prm.reach.metrics.estimate import Estimate

_WITHOUT_SUBJECT = {
    "fabrication": "an invented argument",
    "loop": "the same call again and again",
    "detour": "calls beyond the shortest path",
    "premature_stop": "a stop too early",
    "minefield": "a forbidden action",
    "ungrounded_batch": "reads guessed in one batch",
    "plan_contradiction": "a call that contradicts its plan",
    "recovery": "a mistake put right",
    "never_called": "a tool never called",
    "called_wrong": "a tool called wrongly",
}
_WITH_SUBJECT = {
    "fabrication": "an invented {leaf}",
    "loop": "the same {subject} call again and again",
    "detour": "needless {subject} calls",
    "minefield": "the forbidden {subject}",
    "plan_contradiction": "a {subject} call that contradicts its plan",
    "recovery": "a {subject} mistake put right",
    "never_called": "{subject} never called",
    "called_wrong": "{subject} called wrongly",
}
_ACRONYM_LENGTH = 3
"""A parameter's name up to so long (sku, id) is written in capitals."""

_SHOWN_LENGTH = 60


def diagnosis_words(name: str, subject: str = "") -> str:
    """A diagnosis in words, such as "an invented SKU" for a fabrication of ``check_inventory.sku``."""
    template = _WITH_SUBJECT.get(name) if subject else None
    if template is None:
        return _WITHOUT_SUBJECT[name]
    return template.format(leaf=_leaf(subject), subject=shortened(subject))


def _leaf(subject: str) -> str:
    """The last part of a parameter's path, its words parted."""
    name = subject.rpartition(".")[2].partition("[")[0] or subject
    words = [word.upper() if len(word) <= _ACRONYM_LENGTH else word for word in name.split("_") if word]
    return shortened(" ".join(words) or name)


def shortened(text: str) -> str:
    """A text from a log in one line that fits into a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_LENGTH else line[: _SHOWN_LENGTH - 1] + "…"


def percent(value: float | None) -> str:
    """``41 %``; what is not quite 0 or 1 is never rounded to it; "unknown" for None."""
    if value is None:
        return "unknown"
    if 0 < value < 0.005:
        return "under 1 %"
    if 0.995 <= value < 1:
        return "over 99 %"
    return f"{100 * value:.0f} %"


def points(value: float) -> str:
    """A difference of shares in percentage points, signed: ``+12.5 points``."""
    return f"{100 * value:+.1f} points".replace("-", "−")


def with_interval(estimate: Estimate) -> str:
    """``41 % (95 % interval 30–52 %)``."""
    return percent(estimate.value) + interval_words(estimate.ci95)


def interval_words(ci95: tuple[float, float] | None) -> str:
    """`` (95 % interval 30–52 %)``; nothing for None."""
    return "" if ci95 is None else f" (95 % interval {100 * ci95[0]:.0f}–{100 * ci95[1]:.0f} %)"


def counted(number: int, noun: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def p_words(p_value: float) -> str:
    """``p = 0.012``; small ones as ``p < 0.001``."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
