"""What the world did not tell, and how the agent took it: it asks, refuses, invents, or does something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prm.reach.judging.edges import covers
from prm.reach.judging.patterns import act_keys, question_keys
from prm.reach.judging.sweep import Swept
from prm.reach.judging.verdict import MissingInformation
from prm.reach.spec.model import Information, Spec


def missing_information(spec: Spec, swept: Swept) -> tuple[MissingInformation, ...]:
    """The response to each piece of information that was found to be missing, in the spec's order.

    An invention counts before anything else, then a question, then a refusal; each after the fact was visible.
    """
    return tuple(
        _response(name, information, spec, swept)
        for name, information in spec.information.items()
        if _is_missing(name, information, swept)
    )


def _is_missing(name: str, information: Information, swept: Swept) -> bool:
    if not any(answer.state == "true" for answer in swept.facts.answers(name)):
        return False
    return information.unless is None or swept.facts.truth(information.unless) is False


def _response(name: str, information: Information, spec: Spec, swept: Swept) -> MissingInformation:
    since = min(answer.index for answer in swept.facts.answers(name) if answer.state == "true")
    invented = min((batch for batch in _inventions(information, swept) if batch > since), default=None)
    if invented is not None:
        return MissingInformation(name, "invents", invented)
    asked = _first_act(question_keys(name, information, spec), swept, since)
    if asked is not None:
        return MissingInformation(name, "asks", asked)
    refused = _first_act(act_keys("refusals", spec.refusals), swept, since)
    if refused is not None:
        return MissingInformation(name, "refuses", refused)
    return MissingInformation(name, "other")


def _inventions(information: Information, swept: Swept) -> Iterator[int]:
    """The batches in which a parameter that the information is for holds a fabricated value."""
    targets = [target.split(".") for target in information.parameters]
    for leaves in swept.leaves.values():
        for leaf in leaves:
            if leaf.fabricated and any(leaf.tool == tool and covers(path, leaf.path) for tool, *path in targets):
                yield leaf.batch


def _first_act(keys: Sequence[str], swept: Swept, since: int) -> int | None:
    """The first batch after `since` that holds one of the acts of these keys."""
    found = [call.batch for key in keys for call in swept.certain(key)]
    found += [event.index for key in keys for event in swept.speeches.get(key, ())]
    return min((batch for batch in found if batch > since), default=None)
