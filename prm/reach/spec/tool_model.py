"""What a spec says of tools: their effects, the classes of their parameters, and the envelope of their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator
from typing_extensions import Self

from prm.reach.spec.conditions import PlaceText, Scalar, Strict, listed

ParameterClass = Literal["ref", "value", "enum", "flag", "free"]
Effect = Literal["read", "pure", "write"]
Format = Literal["last_digits"]
WordsOrBooleans = tuple[str | bool | int, ...]


class Derivation(Strict):
    """A declared way to work a value out of others; exactly one of the forms, over every value at the places.

    Attributes:
        sum, product: Of all values at all places (a number stands for itself).
        difference: The first less the others.
        quotient: The first by the second.
        count: How many values there are.
    """

    sum: tuple[PlaceText | int | float, ...] | None = None
    difference: tuple[PlaceText | int | float, ...] | None = None
    product: tuple[PlaceText | int | float, ...] | None = None
    quotient: tuple[PlaceText | int | float, ...] | None = None
    count: tuple[PlaceText, ...] | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return None if value is None else listed(value)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("must be exactly one of sum, difference, product, quotient and count")
        return self


class Parameter(Strict):
    """What one parameter is; a bare class name stands for `kind` alone.

    Attributes:
        kind: ``class``: ref (names something that exists), value (a quantity), enum, flag or free (text).
        derive: Ways to work it out.
        alias: What may be said → the argument it may become, such as ``New York: [JFK, LGA]``.
        format: Ways in which its writing may differ from its source's, beside those that never matter (case, width,
            dates, thousands marks, a leading ``#``): ``last_digits``, of a longer number or identifier.
    """

    kind: ParameterClass = Field(alias="class")
    derive: tuple[Derivation, ...] = ()
    alias: Mapping[str, tuple[Scalar, ...]] = Field(default_factory=dict)
    format: tuple[Format, ...] = ()

    _listed = field_validator("derive", "format", mode="before")(listed)

    @model_validator(mode="before")
    @classmethod
    def _from_class(cls, value: Any) -> Any:
        return {"class": value} if isinstance(value, str) else value

    @field_validator("alias", mode="before")
    @classmethod
    def _alias_listed(cls, value: Any) -> Any:
        return {key: listed(item) for key, item in value.items()} if isinstance(value, Mapping) else value


class Tool(Strict):
    """One tool.

    Attributes:
        effect: read (looks), pure (works something out or drafts it) or write (changes the world).
        parameters: Name or dotted path (lists are passed through) → what it is; it covers what is below it.
        retry: Statuses after which the same call may be made again; None = those of `envelope.outside`.
        poll: Whether asking again and again is its use.
    """

    effect: Effect
    parameters: Mapping[str, Parameter] = Field(default_factory=dict)
    retry: tuple[str, ...] | None = None
    poll: bool = False

    @field_validator("retry", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return None if value is None else listed(value)

    def parameter_at(self, path: tuple[str | int, ...]) -> Parameter | None:
        """The declaration of an argument's leaf: the longest declared path above it; None = undeclared."""
        keys = [str(key) for key in path if not isinstance(key, int)]
        for length in range(len(keys), 0, -1):
            found = self.parameters.get(".".join(keys[:length]))
            if found is not None:
                return found
        return None


class Envelope(Strict):
    """How a result says what it is: the keys of its object (None = it has none), and the words under them.

    Attributes:
        status: Key of the tool's own word for how it went; `ok`: the words (or booleans) of success.
        data_quality: Key of the mark of quality; `partial`: the words for something missing.
        is_truncated: Key of the mark that the answer was cut.
        record: Key of the answer itself; None = the whole object.
        error: Key of the error's text.
        outside: Statuses of a failure that is not the agent's, such as a time-out.
        damage_marks: Characters that stand for lost ones: a value that holds one does not *exist*.
    """

    status: str | None = None
    ok: WordsOrBooleans = ()
    data_quality: str | None = None
    partial: WordsOrBooleans = ()
    is_truncated: str | None = None
    record: str | None = None
    error: str | None = None
    outside: tuple[str, ...] = ()
    damage_marks: tuple[str, ...] = ()

    _listed = field_validator("ok", "partial", "outside", "damage_marks", mode="before")(listed)
