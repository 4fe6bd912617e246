"""A number with its interval, whose it is and how it was measured: the values that every part of a report shares."""

from __future__ import annotations

from dataclasses import dataclass

OUTCOMES = ("final_success", "all_reached", "covered", "legal_success")
"""The yes-or-no outcomes of a run; see `RunVerdict`."""

ALL = "*"
"""Stands for all agents, or all variants, together."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One agent under one variant: what the report has a part of its own for."""

    agent: str
    variant: str

    @property
    def name(self) -> str:
        """``agent / variant``, or what is known of them; `ALL` as ``all agents``, ``all variants``."""
        agent = "all agents" if self.agent == ALL else self.agent
        variant = "all variants" if self.variant == ALL else self.variant
        return " / ".join(part for part in (agent, variant) if part) or "(unnamed)"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over scenarios.

    Attributes:
        value: The mean; None = undefined.
        ci95: Bootstrap interval, whole templates resampled; None where there are fewer than two, or no draws.
        scenarios, templates: How many it rests on.
        runs: Runs that count.
        left_out: Runs that do not: the milestone is n/a or unscorable there, the outcome unknown.
        undefined: Why there is no value.
    """

    value: float | None
    ci95: tuple[float, float] | None
    scenarios: int
    templates: int
    runs: int
    left_out: int
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """How it was measured.

    Attributes:
        cap: K of Reach@K, in calls.
        bootstrap: Resamplings of whole templates.
        seed: Of the resampling and of the sign flips.
    """

    cap: int
    bootstrap: int
    seed: int
