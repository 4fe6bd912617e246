"""What a spec says of milestones: the call that must be made, and the forms in which what it returned may be used."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator
from typing_extensions import Self

from prm.reach.spec.conditions import Act, CallPattern, Condition, FactTerm, Name, Said, Strict, listed


class FlowUse(Strict):
    """A returned value moved into an argument of a later batch.

    Attributes:
        source: ``from``: paths in the source's result.
        to: ``TOOL`` or ``TOOL.PARAMETER``; empty = anywhere.
        where: What must hold of the call that takes it.
    """

    source: tuple[str, ...] = Field(default=("result",), alias="from")
    to: tuple[str, ...] = ()
    where: Condition | None = None

    _listed = field_validator("source", "to", mode="before")(listed)


class DecidesUse(Strict):
    """A fact, true and visible, led to the action it demands.

    Attributes:
        fact: What was found out.
        demands: The acts of which one must follow; ``questions``, ``refusals`` and the name of an information stand
            for those of the spec.
    """

    fact: FactTerm
    demands: tuple[Act | Name, ...] = Field(min_length=1)

    _listed = field_validator("demands", mode="before")(listed)


class SaidUse(Strict):
    """A returned value was shown to the user in a later message.

    Attributes:
        source: ``from``: paths in the source's result.
        words: What the message must say besides.
    """

    source: tuple[str, ...] = Field(default=("result",), alias="from")
    words: Said | None = None

    _listed = field_validator("source", mode="before")(listed)


class Use(Strict):
    """One form of use; exactly one of the attributes. The bare word ``final`` is `final`."""

    flow: FlowUse | None = None
    decides: DecidesUse | None = None
    said: SaidUse | None = None
    final: Literal[True] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {"final": True} if value == "final" else value

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("must be exactly one of flow, decides, said and final")
        return self


class Way(Strict):
    """One way to reach a milestone.

    Attributes:
        source: The call that must be made (a named call or a pattern). Unless its condition speaks of `status`,
            `ok` or `truncated`, the tool must have done what was asked, and in full.
        used: Forms of use, of which one must be met.
    """

    source: Name | CallPattern
    used: tuple[Use, ...] = Field(min_length=1)

    _listed = field_validator("used", mode="before")(listed)


class Milestone(Strict):
    """One milestone; either `source` and `used`, or several ways under `any_of`.

    Attributes:
        title: In plain words.
        after: Milestones that come before it; they order, and never gate a verdict.
        when, unless: Facts under which it applies; what was never found out does not release from it.
        optional: Coverage does not ask for it.
        supports: Named calls that a shortest legal path may hold for its sake, beside source and use.
    """

    title: str = ""
    source: Name | CallPattern | None = None
    used: tuple[Use, ...] = ()
    any_of: tuple[Way, ...] = ()
    after: tuple[Name, ...] = ()
    when: FactTerm | None = None
    unless: FactTerm | None = None
    optional: bool = False
    supports: tuple[Name, ...] = ()

    _listed = field_validator("used", "any_of", "after", "supports", mode="before")(listed)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.source is None) == (not self.any_of) or (self.source is None) != (not self.used):
            raise ValueError("must have either source and used, or any_of")
        return self

    @property
    def ways(self) -> tuple[Way, ...]:
        """All ways to reach it."""
        return self.any_of if self.source is None else (Way(source=self.source, used=self.used),)
