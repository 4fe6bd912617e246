"""A Python function as a tool: its declaration from type hints and docstring, and a call with checked arguments."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import ArgsKwargs, to_jsonable_python

from prm.errors import ConfigError
from prm.reach.agents.worlds.docstring import described

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class WrongArguments(Exception):
    """Arguments that do not fit the declaration; the message says which and why."""


class FunctionTool:
    """A function (or a bound method, or a coroutine function) that an agent can call.

    Hints become JSON Schema as pydantic writes it (`Literal` an enum, a dataclass an object); a parameter without a
    hint takes anything. Arguments are converted where that is harmless ("3" → 3) and refused otherwise.

    Attributes:
        name: The tool's name.
        declaration: OpenAI-style, with the docstring's descriptions.
        returns_nothing: Whether its hint says that it returns None.

    Raises:
        ConfigError: It takes parameters without names, or a hint that cannot be described as JSON.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self._function = function
        self._arguments = _checker(name, function)
        self.declaration = _declaration(name, function, self._arguments)
        hint = inspect.signature(function).return_annotation
        self.returns_nothing = hint in (None, "None")

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """What the function returns, as JSON values.

        Raises:
            WrongArguments: They do not fit; the function was not called.
            Exception: Whatever the function raises, or what it returned is no JSON.
        """
        try:
            checked = self._arguments.validate_python(ArgsKwargs((), dict(arguments)))
        except ValidationError as error:
            raise WrongArguments(_complaints(error)) from None
        value = self._function(**checked)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        return to_jsonable_python(value, inf_nan_mode="constants")


def _checker(name: str, function: Callable[..., Any]) -> TypeAdapter[dict[str, Any]]:
    """Checks and converts arguments by the function's hints, without calling it."""
    where = f"tool {name}"
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ConfigError.at(where, "must be a function", function, "wrap it in one with type hints") from None
    for parameter in parameters:
        if parameter.kind not in _NAMED:
            raise ConfigError.at(where, "every parameter must have a name", str(parameter), "name them one by one")

    @functools.wraps(function)
    def take(**arguments: Any) -> dict[str, Any]:
        return arguments

    try:
        adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(cast(Any, take))
        adapter.json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError, NameError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError.at(where, "type hints must be describable as JSON", reason, "use simpler hints") from None
    return adapter


def _declaration(name: str, function: Callable[..., Any], arguments: TypeAdapter[Any]) -> dict[str, Any]:
    documented = described(inspect.getdoc(function))
    schema: dict[str, Any] = _without_titles(arguments.json_schema())
    for parameter, text in documented.parameters.items():
        if parameter in schema.get("properties", {}):
            schema["properties"][parameter]["description"] = text
    parameters = {"type": "object", "properties": {}, **schema}
    return {
        "type": "function",
        "function": {"name": name, "description": documented.text, "parameters": parameters},
    }


def _without_titles(schema: Any, is_schema: bool = True) -> Any:
    """A schema without pydantic's titles, which repeat the names; a property called ``title`` stays."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (is_schema and key == "title")}
    return {
        key: _without_titles(value, not (is_schema and key in ("properties", "$defs"))) for key, value in kept.items()
    }


def _complaints(error: ValidationError) -> str:
    problems = [(".".join(map(str, problem["loc"])), problem["msg"]) for problem in error.errors(include_url=False)]
    return "; ".join(f"{place}: {what}" for place, what in problems)
