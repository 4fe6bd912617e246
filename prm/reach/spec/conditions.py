"""Conditions on one call, as a spec writes them: pydantic models, no executable code.

Every test of a condition must hold. A path that leads to several values (through lists or ``*``) holds for an
argument if all of them do, for a result if one does. Whatever a missing result or broken arguments leave open is
unknown, neither true nor false.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator
from typing_extensions import Self

from prm.reach.spec.places import NAME_PATTERN, OWN_PATTERN, PLACE_PATTERN

PlaceText = Annotated[str, StringConstraints(pattern=PLACE_PATTERN)]
Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN, max_length=80)]
Scalar = str | bool | int | float | None
IsoTime = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?$")]

_OWN = re.compile(OWN_PATTERN)


class Strict(BaseModel):
    """A frozen part of a spec that refuses unknown keys and does not convert types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def listed(value: Any) -> Any:
    """A YAML list (or a single value) as a tuple."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class First(Strict):
    """Of several places the first one that holds a value: `first`."""

    first: tuple[PlaceText, ...] = Field(min_length=1)

    _listed = field_validator("first", mode="before")(listed)


class Said(Strict):
    """A test of a text.

    Attributes:
        words: One of these words or phrases occurs (whole, whatever the case).
        none_of: None of these does.
        question: The text holds a question mark.
    """

    words: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    question: bool | None = None

    _listed = field_validator("words", "none_of", mode="before")(listed)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.words and not self.none_of and self.question is None:
            raise ValueError("must name words, none_of or question")
        return self


class ValueTest(Strict):
    """A test of the value at one path; a bare scalar is `equals`. All that are given must hold.

    Attributes:
        equals: Equal in normal form (case, width, thousands marks …).
        one_of: Equal to one of these: ``in``.
        exists: Whether there is a value: not absent, not null, not empty, not damaged (see the envelope).
        gt, ge, lt, le: Numeric comparison.
        since, before: Comparison of dates and times in ISO form; `since` includes its bound.
        text: A test of the value as text.
        shape: A word of it has this shape, where ``a`` stands for letters and ``9`` for digits: ``a-9``.
        flow: Equal to a value at one of these places, visible to the call; in a text, a whole word of it.
        no: The test that must not hold: ``not``.
    """

    equals: Scalar = None
    one_of: tuple[Scalar, ...] | None = Field(default=None, alias="in")
    exists: bool | None = None
    gt: int | float | None = None
    ge: int | float | None = None
    lt: int | float | None = None
    le: int | float | None = None
    since: IsoTime | None = None
    before: IsoTime | None = None
    text: Said | None = None
    shape: str | None = Field(default=None, min_length=1, max_length=80)
    flow: tuple[PlaceText | First, ...] | None = None
    no: ValueTest | None = Field(default=None, alias="not")

    @model_validator(mode="before")
    @classmethod
    def _from_scalar(cls, value: Any) -> Any:
        if isinstance(value, str | bool | int | float) or value is None:
            return {"equals": value}
        return value

    @field_validator("one_of", "flow", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return None if value is None else listed(value)

    @model_validator(mode="after")
    def _tests_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must test something: equals, in, exists, gt, ge, lt, le, since, before, text, …")
        return self


class Condition(Strict):
    """What must hold of one call: tests by path, and combinations.

    Beside the attributes every key is a path, ``args.PATH``, ``result.PATH``, ``status``, ``ok``, ``error``,
    ``truncated`` or ``partial``, with its `ValueTest`.

    Attributes:
        every: Conditions that must all hold: ``all``.
        some: Conditions of which one must hold: ``any``.
        no: A condition that must not hold: ``not``.
        grounded: Whether every `ref` argument of the call comes from somewhere (see provenance).
    """

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    __pydantic_extra__: dict[str, ValueTest] = Field(init=False)

    every: tuple[Condition, ...] | None = Field(default=None, alias="all")
    some: tuple[Condition, ...] | None = Field(default=None, alias="any")
    no: Condition | None = Field(default=None, alias="not")
    grounded: bool | None = None

    _listed = field_validator("every", "some", mode="before")(lambda value: None if value is None else listed(value))

    @property
    def tests(self) -> dict[str, ValueTest]:
        """Path → its test."""
        return self.__pydantic_extra__

    @model_validator(mode="after")
    def _paths_are_paths(self) -> Self:
        for path in self.tests:
            if not _OWN.match(path):
                raise ValueError(f"{path!r} is no path: args.…, result.…, status, ok, error, truncated, partial")
        return self


class Facts(Strict):
    """A combination of facts: exactly one of the attributes."""

    every: tuple[FactTerm, ...] | None = Field(default=None, alias="all")
    some: tuple[FactTerm, ...] | None = Field(default=None, alias="any")
    no: FactTerm | None = Field(default=None, alias="not")

    _listed = field_validator("every", "some", mode="before")(lambda value: None if value is None else listed(value))

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("must be a fact's name, or one of all, any and not")
        return self


FactTerm = Name | Facts
"""A fact's name or a combination of facts."""


class CallPattern(Strict):
    """Which calls are meant. All that is given must hold.

    Attributes:
        tool: One of these tools.
        call: A named call (of the section `calls`) whose pattern must hold too.
        effect: The effect of the tool.
        where: What must hold of the call and of what it returned.
        given: Facts that must hold: at the moment of the call, or at the run's end for a milestone's `source`.
    """

    tool: tuple[Name, ...] = ()
    call: Name | None = None
    effect: Literal["read", "pure", "write"] | None = None
    where: Condition | None = None
    given: FactTerm | None = None

    _listed = field_validator("tool", mode="before")(listed)

    @model_validator(mode="after")
    def _names_a_call(self) -> Self:
        if not self.tool and self.call is None and self.effect is None:
            raise ValueError("must name a tool, a named call or an effect")
        return self


class Speech(Strict):
    """Something said to the user in an assistant's message: `say`; `given` as in `CallPattern`."""

    say: Said
    given: FactTerm | None = None


Act = CallPattern | Speech
"""Something that an agent does: a call, or something said."""

for _model in (ValueTest, Condition, Facts, CallPattern, Speech):
    _model.model_rebuild()
