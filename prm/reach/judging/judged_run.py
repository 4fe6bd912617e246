"""A run with everything that was judged of it so far: what each family of diagnoses reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from prm.reach.judging.edges import with_givers
from prm.reach.judging.minefields import MinefieldVerdict
from prm.reach.judging.provenance_records import Leaf, Provenance
from prm.reach.judging.sweep import Swept
from prm.reach.judging.verdict import MilestoneVerdict
from prm.reach.log.run import Event, Run, ToolCall, ToolResult
from prm.reach.spec.model import Spec

_OUTSIDE = re.compile(
    r"time[d -]{0,2}out|rate.?limit|too many requests|temporar|unavailable|try again later|connection (?:reset|refused)"
    r"|\b(?:429|502|503|504)\b",
    re.IGNORECASE,
)
_MAX_ERROR_LENGTH = 1_000


@dataclass(frozen=True)
class JudgedRun:
    """One run under diagnosis.

    Attributes:
        path: The ids of the calls on a shortest legal path; see `legal_path`.
    """

    run: Run
    spec: Spec
    provenance: Provenance
    milestones: tuple[MilestoneVerdict, ...]
    minefields: Mapping[str, MinefieldVerdict]
    swept: Swept
    path: frozenset[str]

    def result(self, call: ToolCall) -> ToolResult | None:
        """What a call returned; None where the log does not hold it."""
        return self.run.results.get(call.id)

    def effect(self, call: ToolCall) -> str | None:
        """The declared effect of a call's tool; None = undeclared."""
        tool = self.spec.tools.get(call.tool)
        return None if tool is None else tool.effect

    def leaves(self, call: ToolCall) -> tuple[Leaf, ...]:
        """The leaves of a call's arguments."""
        return self.provenance.of_call(call.id)

    def succeeded(self, call: ToolCall) -> bool:
        """Whether the tool did what was asked, in full, and the log says so."""
        result = self.result(call)
        return result is not None and result.ok is True and not result.truncated

    def failed(self, call: ToolCall) -> bool:
        """Whether the tool refused or failed by what was asked of it: not by an outside failure."""
        result = self.result(call)
        return result is not None and result.ok is False and not self.failed_outside(call)

    def failed_outside(self, call: ToolCall) -> bool:
        """Whether the call may be made again as it is: a time-out or the like, a cut answer, a declared retry.

        Statuses are declared (`retry` of the tool, else `outside` of the envelope). Where neither is, an error that
        speaks of a time-out, a rate limit or an unavailable service counts.
        """
        result = self.result(call)
        if result is None:
            return False
        if result.truncated:
            return True
        statuses = self._retry_statuses(call.tool)
        if statuses is not None:
            return result.status in statuses
        return result.ok is False and _OUTSIDE.search((result.error or "")[:_MAX_ERROR_LENGTH]) is not None

    def _retry_statuses(self, tool: str) -> tuple[str, ...] | None:
        declared = self.spec.tools.get(tool)
        if declared is not None and declared.retry is not None:
            return declared.retry
        return self.spec.envelope.outside if self.spec.envelope is not None else None

    @property
    def calls_by_id(self) -> Mapping[str, ToolCall]:
        """Call id → the call."""
        return self.run.calls_by_id

    @cached_property
    def calls_of_batch(self) -> Mapping[int, tuple[ToolCall, ...]]:
        """Batch → its calls."""
        return {event.index: event.calls for event in self.run.batches}

    def with_givers(self, call_ids: Collection[str]) -> frozenset[str]:
        """The calls, and for each of their arguments the first call whose result gave it, and so on back."""
        return with_givers(call_ids, self.swept.leaves, self.calls_by_id)

    @cached_property
    def minefield_calls(self) -> frozenset[str]:
        """The ids of the calls that hit a minefield."""
        return frozenset(
            hit.call_id for verdict in self.minefields.values() for hit in verdict.hits if hit.call_id is not None
        )

    @property
    def last_batch(self) -> Event | None:
        """The last assistant message."""
        return self.run.batches[-1] if self.run.batches else None
