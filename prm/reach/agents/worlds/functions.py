"""Python functions in place of the simulator: one's own tools, as they are.

A tool's return is the envelope's record: an object as it is, any other value under ``result``. None is a success
without an answer where the hint says ``-> None``, and else a missing value. An exception is status ``error`` with its
text, a `TimeoutError` or no return in time ``timeout``; arguments that do not fit the hints are ``invalid``. A tool
that wants to say more returns ``{"status": …, "record": {…}}`` itself, with a status of the desk's, such as
``not_found`` or ``refused``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prm.data.own_code import code_digest, load_object
from prm.errors import ConfigError
from prm.reach.agents.deadline import within
from prm.reach.agents.task import Task
from prm.reach.agents.worlds.declare import FunctionTool, WrongArguments
from prm.reach.agents.worlds.envelopes import envelope_of, failed, refuse_non_json, timed_out
from prm.reach.agents.worlds.world import refuse_beyond_cap
from prm.reach.desk.environment import Call, Envelope

FINAL_SUCCESS = "final_success"
"""A method of this name is no tool: it tells at the end whether the world is as the task wants it."""

Toolbox = Mapping[str, Callable[..., Any]]


class FunctionWorld:
    """One's own tools; implements `prm.reach.agents.worlds.world.World`.

    Args:
        source: A function, a list of functions, a dict of them by name, or a class. A class is made anew for each
            run, so that no run sees what another wrote: its public methods are the tools. Where its constructor takes
            an argument, that is the task: its id, request, template, seed and every other key of its line.
        call_seconds: How long a call may take.
        name: The data set's name in the records.

    Raises:
        ConfigError: It is none of these, or a function cannot be a tool.
    """

    def __init__(self, source: Any, name: str, call_seconds: float = 30.0) -> None:
        self.name = name
        self._source = source
        self._call_seconds = call_seconds
        self.declarations = tuple(tool.declaration for tool in self._declared())

    @classmethod
    def load(cls, name: str, call_seconds: float = 30.0, dataset: str | None = None) -> FunctionWorld:
        """The world of ``module:name``.

        Args:
            name: What holds the tools.
            call_seconds: How long a call may take.
            dataset: The data set's name; None = that of the module.

        Raises:
            ConfigError: There is no such module or object, or it holds no tools.
        """
        module = name.rpartition(":")[0].rpartition("/")[2].removesuffix(".py")
        return cls(load_object("--tools", name), dataset or module, call_seconds)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The tools as declared, and digests of the modules they are written in."""
        source = self._source
        written = [source] if inspect.isclass(source) else list(_toolbox(source).values())
        code = sorted({found for value in written if (found := code_digest(value)) is not None})
        return {"world": self.name, "tools": list(self.declarations), "code": code}

    def open(self, task: Task, run: int, max_calls: int) -> FunctionRun:
        """See `World.open`."""
        holder = self._made(task) if inspect.isclass(self._source) else None
        toolbox = _toolbox(self._source) if holder is None else _methods(holder)
        tools = [FunctionTool(name, function) for name, function in toolbox.items()]
        return FunctionRun(tools, max_calls, self._call_seconds, getattr(holder, FINAL_SUCCESS, None))

    def _declared(self) -> list[FunctionTool]:
        toolbox = _unbound_methods(self._source) if inspect.isclass(self._source) else _toolbox(self._source)
        if not toolbox:
            raise ConfigError.at("--tools", "must hold at least one function", self._source, "add one")
        return [FunctionTool(name, function) for name, function in toolbox.items()]

    def _made(self, task: Task) -> Any:
        takes_task = bool(inspect.signature(self._source).parameters)
        return self._source(task.content) if takes_task else self._source()


class FunctionRun:
    """The tools in one run."""

    def __init__(
        self,
        tools: Sequence[FunctionTool],
        max_calls: int,
        call_seconds: float,
        judge: Callable[[], bool | None] | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.calls_left = max_calls
        self._call_seconds = call_seconds
        self._judge = judge

    @property
    def tools(self) -> Sequence[str]:
        """The names of the tools."""
        return tuple(self._tools)

    def execute(self, calls: Sequence[Call]) -> list[Envelope]:
        """See `Environment.execute`; the calls of a batch run one after the other."""
        refuse_beyond_cap(len(calls), self.calls_left)
        self.calls_left -= len(calls)
        return [self._execute_one(call) for call in calls]

    def _execute_one(self, call: Call) -> Envelope:
        tool = self._tools.get(call.tool)
        if tool is None:
            return failed("invalid", f"no tool {call.tool}")
        try:
            value = within(self._call_seconds, lambda: tool.call(call.arguments))
            refuse_non_json(value)
        except WrongArguments as error:
            return failed("invalid", str(error))
        except TimeoutError:
            return timed_out()
        except Exception as error:  # noqa: BLE001 (one's own tools)
            return failed("error", f"{type(error).__name__}: {error}")
        if value is None and tool.returns_nothing:
            return Envelope("ok", "complete", False, {})
        return envelope_of(value)

    def final_success(self) -> bool | None:
        """What the class's own `final_success` says; None where there is none, or it says neither yes nor no."""
        said = None if self._judge is None else self._judge()
        return said if isinstance(said, bool) else None

    def close(self) -> None:
        """Nothing is held open."""


def _toolbox(source: Any) -> Toolbox:
    if isinstance(source, Mapping) and all(isinstance(name, str) and callable(f) for name, f in source.items()):
        return source
    functions = source if isinstance(source, list | tuple) else [source]
    if not all(callable(function) for function in functions):
        todo = "name a function, a list or dict of functions, or a class"
        raise ConfigError.at("--tools", "must be functions", source, todo)
    return {getattr(function, "__name__", type(function).__name__): function for function in functions}


def _methods(holder: Any) -> Toolbox:
    return {name: getattr(holder, name) for name in _method_names(type(holder))}


def _unbound_methods(kind: type) -> Toolbox:
    """The methods bound to an instance that was never initialised: good for their declarations only."""
    return _methods(object.__new__(kind))


def _method_names(kind: type) -> list[str]:
    """The public methods of a class in the order they were written, those it inherits first."""
    names = dict.fromkeys(
        name for base in reversed(kind.__mro__) for name, member in vars(base).items() if inspect.isfunction(member)
    )
    return [name for name in names if not name.startswith("_") and name != FINAL_SUCCESS]
