"""The spec of Reach: what may be called, what is to be found out, how far one can get, and what must never happen.

Pydantic models of the YAML, strict: an unknown key is refused. Names that refer to other parts are checked in
`references`. Nothing here judges.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator
from typing_extensions import Self

from prm.reach.spec.conditions import Act, CallPattern, Condition, FactTerm, Name, Said, Strict, listed
from prm.reach.spec.milestone_model import DecidesUse, FlowUse, Milestone, SaidUse, Use, Way
from prm.reach.spec.tool_model import Derivation, Envelope, Parameter, ParameterClass, Tool

SCHEMA = "prm.reach.spec/1"


class Fact(Strict):
    """A named outcome: true, false, or unknown until it is answered. Either `of` and `holds`, or `user`, or `agent`.

    Attributes:
        of: The calls that answer it (a named call or a pattern); the latest answer counts.
        holds: What the answer must say for the fact to be true.
        user, agent: What the user, or the agent, must have said; the latest message counts.
        once: Once true, it stays true.
    """

    of: Name | CallPattern | None = None
    holds: Condition | None = None
    user: Said | None = None
    agent: Said | None = None
    once: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        answers = [self.of is not None, self.user is not None, self.agent is not None]
        if sum(answers) != 1 or (self.of is None) != (self.holds is None):
            raise ValueError("must have either of and holds, or user, or agent")
        return self


class Minefield(Strict):
    """What must never happen: one of the `acts`, such as a call whose tool did what was asked.

    Attributes:
        title: In plain words.
        acts: Calls (or things said) of which none may be seen. Unless its condition speaks of `status` or `ok`, a
            call counts only if the tool did what was asked.
        undeclared: A successful call of a tool that the spec does not declare counts too.
    """

    title: str = ""
    acts: tuple[Act, ...] = ()
    undeclared: bool = False

    _listed = field_validator("acts", mode="before")(listed)


class Information(Strict):
    """A fact whose truth means that information is missing.

    Attributes:
        parameters: ``TOOL.PARAMETER``: a fabricated leaf there is an invention of it.
        unless: Facts under which it was found elsewhere after all.
        questions: What counts as asking for it; empty = the `questions` of the spec.
    """

    parameters: tuple[str, ...] = ()
    unless: FactTerm | None = None
    questions: tuple[Act, ...] = ()

    _listed = field_validator("parameters", "questions", mode="before")(listed)


class Labels(Strict):
    """Step labels: `order` of the rules, where it differs from the default."""

    order: tuple[Name, ...] = ()

    _listed = field_validator("order", mode="before")(listed)


class Spec(Strict):
    """A whole spec.

    Attributes:
        name: Its name, in every verdict.
        tools: Tool → what it does and takes.
        envelope: How results say what they are; None = recognised.
        calls: Named calls, for `source`, `of` and places.
        facts, milestones, never, information: By name; milestones in the order of a report.
        questions, refusals: What counts as asking for, or as saying that there is no, missing information.
        legal_exits: Acts after which a run may end with milestones open; names as in `DecidesUse`.
        labels: Overrides of the step labels.
        logs: Self-test logs: files beside the spec.
    """

    spec: Literal["prm.reach.spec/1"] = Field(alias="schema")
    name: Name
    title: str = ""
    tools: Mapping[Name, Tool] = Field(min_length=1)
    envelope: Envelope | None = None
    calls: Mapping[Name, CallPattern] = Field(default_factory=dict)
    facts: Mapping[Name, Fact] = Field(default_factory=dict)
    milestones: Mapping[Name, Milestone] = Field(min_length=1)
    never: Mapping[Name, Minefield] = Field(default_factory=dict)
    information: Mapping[Name, Information] = Field(default_factory=dict)
    questions: tuple[Act, ...] = ()
    refusals: tuple[Act, ...] = ()
    legal_exits: tuple[Act | Name, ...] = ()
    labels: Labels = Field(default_factory=Labels)
    logs: tuple[Annotated[str, Field(min_length=1)], ...] = ()

    _listed = field_validator("questions", "refusals", "legal_exits", "logs", mode="before")(listed)

    def __hash__(self) -> int:
        return hash(self.sha256)

    @cached_property
    def sha256(self) -> str:
        """Of its content, whatever its layout."""
        content = self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"logs"})
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def acts(self, demanded: tuple[Act | str, ...]) -> tuple[Act, ...]:
        """`demanded` with ``questions``, ``refusals`` and names of information replaced by the acts they stand for."""
        return tuple(act for item in demanded for act in (self._named_acts(item) if isinstance(item, str) else (item,)))

    def _named_acts(self, name: str) -> tuple[Act, ...]:
        named = {"questions": self.questions, "refusals": self.refusals}
        return named[name] if name in named else self.information[name].questions or self.questions


__all__ = [
    "SCHEMA",
    "DecidesUse",
    "Derivation",
    "Envelope",
    "Fact",
    "FlowUse",
    "Information",
    "Labels",
    "Milestone",
    "Minefield",
    "Parameter",
    "ParameterClass",
    "SaidUse",
    "Spec",
    "Tool",
    "Use",
    "Way",
]
