"""Detours: legal calls beyond the shortest legal path.

A call is beyond the path if it did what was asked, is no minefield, stands on values that exist, is not on the path
(see `legal_path`), is part of no loop, and is neither a right call of a milestone that stayed open nor, where there is
none, its first: what stayed open is a failure to reach, which is told apart. A call that repeats an earlier one, is
answered as that was, and follows no write is beyond the path wherever it stands.

Never a detour are, unless they repeat a call: writes and what gave them their arguments (whether a write may be made is
for minefields to say), and reads of which the user was told something; and, in any case, polling and tools that take
nothing but free text (a note pad).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.loops import loop_chains
from prm.reach.judging.same_calls import SameCalls
from prm.reach.judging.shown_values import calls_shown_to_user
from prm.reach.judging.verdict import Diagnosis, Evidence
from prm.reach.judging.wording import shown_call
from prm.reach.log.run import ToolCall


def detours(judged: JudgedRun) -> Iterator[Diagnosis]:
    """One diagnosis for each extra call.

    `kind` is ``strategy`` where the run completed all the same, ``strategy_insufficient`` where it failed, and "" where
    nobody knows. The evidence of a repeat names the call that it repeats as its source.
    """
    kind = {True: "strategy", False: "strategy_insufficient", None: ""}[_completed(judged)]
    looped = _in_loops(judged)
    excused = _excused(judged)
    for call, first in _with_firsts(judged):
        is_beyond = first is not None or call.id not in excused
        if is_beyond and call.id not in looped and _is_legal(judged, call):
            evidence = _evidence(judged, call, first)
            yield Diagnosis("detour", call.batch, call.id, call.tool, kind, (evidence,))


def _excused(judged: JudgedRun) -> frozenset[str]:
    """The calls that are needed, or had a purpose that no milestone speaks of."""
    needed = judged.path | _towards_open_milestones(judged)
    writes = {call.id for call in judged.run.calls if judged.effect(call) == "write" and judged.succeeded(call)}
    return needed | judged.with_givers(writes - needed) | calls_shown_to_user(judged.run)


def _with_firsts(judged: JudgedRun) -> Iterator[tuple[ToolCall, ToolCall | None]]:
    """Each call that was answered, with the earlier call that it repeats: equal, equally answered, no write between."""
    same = SameCalls(judged)
    before: dict[Hashable, ToolCall] = {}
    for call in judged.run.calls:
        result = judged.result(call)
        if result is None:
            continue
        key = (same.call_key(call), same.result_key(call, result))
        first = before.get(key)
        if judged.effect(call) == "write" and first is None and result.ok is not False:
            before.clear()
        before.setdefault(key, call)
        yield call, first


def _completed(judged: JudgedRun) -> bool | None:
    if judged.run.outcome is not None:
        return judged.run.outcome == 1
    standings = {m.standing for m in judged.milestones if m.required and m.standing != "n/a"}
    if standings & {"missed", "touched"}:
        return False
    return None if "unscorable" in standings else True


def _is_legal(judged: JudgedRun, call: ToolCall) -> bool:
    if not judged.succeeded(call) or call.id in judged.minefield_calls:
        return False
    tool = judged.spec.tools.get(call.tool)
    if tool is None or tool.poll:
        return False
    leaves = judged.leaves(call)
    if tool.effect == "pure" and all(leaf.kind == "free" for leaf in leaves):
        return False
    return all(leaf.fabricated is False for leaf in leaves)


def _in_loops(judged: JudgedRun) -> frozenset[str]:
    return frozenset(call.id for chain in loop_chains(judged) for call in chain)


def _towards_open_milestones(judged: JudgedRun) -> frozenset[str]:
    """The right calls of each open milestone, what it supports, and what gave their arguments; else its first call."""
    wrong: set[str] = set()
    right: set[str] = set()
    for milestone in judged.milestones:
        if milestone.standing not in ("missed", "touched", "unscorable"):
            continue
        declared = judged.spec.milestones[milestone.name]
        keys = [f"milestone:{milestone.name}/{number}" for number, _ in enumerate(declared.ways)]
        own = {judged.run.calls[ordinal].id for key in keys for ordinal in judged.swept.of(key)}
        right |= own
        right.update(call.id for name in declared.supports for call in judged.swept.certain(f"call:{name}"))
        if not own and milestone.touched is not None:
            wrong.add(judged.run.calls[milestone.touched.call].id)
    return judged.with_givers(right) | wrong


def _evidence(judged: JudgedRun, call: ToolCall, first: ToolCall | None) -> Evidence:
    shown = shown_call(call)
    if first is not None:
        what = f"{shown} was called before, in message {first.batch}"
        return Evidence(call.batch, what, call.id, source_index=first.batch, source_call_id=first.id)
    used = any(not source.echo for _, source in judged.provenance.uses_of(call.id))
    what = "led to nothing that was reached" if used else "returned nothing that was used"
    return Evidence(call.batch, f"{shown} {what}", call.id)
