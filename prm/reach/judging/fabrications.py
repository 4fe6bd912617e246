"""Fabrications: `ref` arguments that come from nowhere; and reads guessed beside what they depend on.

A value is accused once, where it is first used; what repeats it only depends on it. A read whose value could have been
had from another read of the same batch is an `ungrounded_batch` instead: it was guessed too early, not made up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prm.reach.judging.json_leaves import parts_of, path_text
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.normal_forms import normal_form
from prm.reach.judging.provenance_records import Leaf
from prm.reach.judging.right_place import is_named, parameter_name
from prm.reach.judging.verdict import Diagnosis, Evidence
from prm.reach.judging.wording import shown
from prm.reach.log.run import ToolCall

_MAX_NAMED = 5


def fabrications(judged: JudgedRun) -> Iterator[Diagnosis]:
    """One diagnosis for each invented value, and one for each batch of guessed reads."""
    offers: dict[int, _Offer] = {}
    guessed: defaultdict[int, list[Leaf]] = defaultdict(list)
    for leaf in _first_uses(judged):
        if leaf.batch not in offers:
            offers[leaf.batch] = _offer(judged, judged.calls_of_batch[leaf.batch])
        is_read = judged.effect(judged.calls_by_id[leaf.call_id]) == "read"
        if is_read and offers[leaf.batch].could_give(leaf):
            guessed[leaf.batch].append(leaf)
        else:
            yield _fabrication(leaf)
    for batch, leaves in guessed.items():
        yield Diagnosis(
            name="ungrounded_batch",
            batch=batch,
            call_id=leaves[0].call_id,
            subject=", ".join(list(dict.fromkeys(map(_parameter, leaves)))[:_MAX_NAMED]),
            evidence=tuple(_guess_evidence(leaf) for leaf in leaves),
        )


def _first_uses(judged: JudgedRun) -> Iterator[Leaf]:
    seen: set[str] = set()
    for leaf in judged.provenance.leaves:
        form = normal_form(leaf.value) or repr(leaf.value)
        if leaf.fabricated and form not in seen:
            seen.add(form)
            yield leaf


def _fabrication(leaf: Leaf) -> Diagnosis:
    where = "only the agent itself had said it" if leaf.origin == "echo" else "nothing said or returned before holds it"
    evidence = Evidence(
        index=leaf.batch,
        what=f"{_parameter(leaf)} is {shown(leaf.value)}: {where}",
        call_id=leaf.call_id,
        path=path_text(leaf.path),
        value=leaf.value,
    )
    return Diagnosis("fabrication", leaf.batch, leaf.call_id, _parameter(leaf), evidence=(evidence,))


def _guess_evidence(leaf: Leaf) -> Evidence:
    what = f"{_parameter(leaf)} is {shown(leaf.value)}, guessed in the same batch as the read that could give it"
    return Evidence(leaf.batch, what, leaf.call_id, path_text(leaf.path), leaf.value)


def _parameter(leaf: Leaf) -> str:
    return ".".join((leaf.tool, *(str(part) for part in leaf.path if not isinstance(part, int))))


@dataclass(frozen=True, slots=True)
class _Offer:
    """What the grounded reads of a batch returned: an agent that had waited for it would have known.

    Attributes:
        names: The keys.
        values: The values and keys, in normal form.
        is_open: A result is missing: it might have held anything.
    """

    names: frozenset[str]
    values: frozenset[str]
    is_open: bool

    def could_give(self, leaf: Leaf) -> bool:
        """Whether something of the leaf's name, or its value, was returned."""
        if self.is_open or normal_form(leaf.value) in self.values:
            return True
        name = parameter_name(leaf.path)
        return any(is_named((key,), name) for key in self.names)


def _offer(judged: JudgedRun, calls: Iterable[ToolCall]) -> _Offer:
    names: set[str] = set()
    values: set[str] = set()
    is_open = False
    for call in calls:
        if judged.effect(call) != "read" or any(leaf.fabricated for leaf in judged.leaves(call)):
            continue
        result = judged.result(call)
        is_open = is_open or result is None
        if result is not None and result.ok is not False:
            for path, part, _ in parts_of(result.value):
                names.add(parameter_name(path))
                values.add(normal_form(part))
    return _Offer(frozenset(names), frozenset(values - {""}), is_open)
