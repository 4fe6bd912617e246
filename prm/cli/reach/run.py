"""``prm reach run``: live runs of agents, at the ticket desk or with one's own tools."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from prm.reach.agents.agent_names import AgentName
    from prm.reach.agents.chat import ChatModel
    from prm.reach.agents.task import Task
    from prm.reach.agents.worlds.world import World
    from prm.reach.desk.variants import Variant


def register(reach: typer.Typer) -> None:
    """Add this module's verb to ``prm reach``."""
    reach.command("run")(run)


def run(
    agent: Annotated[
        list[str],
        typer.Option(
            "--agent",
            help="scripted:NAME, openai:MODEL[@URL], local:PATH or function:module:name; NAME=… names it in the "
            "records; may be repeated.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Trajectory file to write (JSONL); the same command goes on.")],
    scenarios: Annotated[
        str,
        typer.Option(help="all, normal, abnormal, or the desk's templates by name; with --tools a file of tasks."),
    ] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="Scenarios of each template of the desk.")] = 1,
    seed: Annotated[int, typer.Option(help="Draws scenarios, dirt and a local model's answers.")] = 0,
    repeats: Annotated[int, typer.Option("--repeats", help="Runs of each scenario.")] = 3,
    variant: Annotated[
        list[str] | None, typer.Option("--variant", help="A variant's name; may be repeated. Default: plain.")
    ] = None,
    variant_file: Annotated[
        Path | None, typer.Option(help="YAML with variants of your own; without --variant all of them run.")
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(help="Your own tools: module:name (functions or a class) or http://… of a tool server."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="What the records call your own tools; default: the module, or tool_server.")
    ] = None,
    inject: Annotated[
        list[str] | None,
        typer.Option(
            help="Dirt: timeout|error|truncated:TOOL[@RATE], missing|corrupted:TOOL.FIELD[@RATE]; repeatable."
        ),
    ] = None,
    plan: Annotated[str, typer.Option(help="json: ask for a plan before every batch of calls.")] = "none",
    cap: Annotated[int, typer.Option("--cap", help="Tool calls of a run.")] = 15,
    workers: Annotated[int, typer.Option(help="Runs at once.")] = 1,
    request_timeout: Annotated[float, typer.Option(help="Seconds for one answer of the agent.")] = 120.0,
    call_timeout: Annotated[float, typer.Option(help="Seconds for one call of your own tools.")] = 30.0,
    run_timeout: Annotated[float, typer.Option(help="Seconds for one run.")] = 900.0,
    attempts: Annotated[int, typer.Option(help="Attempts at one request of an endpoint.")] = 5,
    base_url: Annotated[str | None, typer.Option(help="Endpoint up to /v1; else OPENAI_BASE_URL.")] = None,
    api_key: Annotated[str | None, typer.Option(help="The endpoint's key; else OPENAI_API_KEY.")] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Of a model; default: the endpoint's own, 0.7 for a local one.")
    ] = None,
    max_answer_tokens: Annotated[int | None, typer.Option(help="Tokens of one answer.")] = None,
    extra_body: Annotated[str | None, typer.Option(help="JSON object with further keys of each request.")] = None,
    call_format: Annotated[
        str, typer.Option(help="native (the endpoint's tools) or text (declarations and calls as text).")
    ] = "native",
    dtype: Annotated[str, typer.Option(help="Of a local model: float32, bfloat16 or float16.")] = "float32",
    device: Annotated[str | None, typer.Option(help="Of a local model: cpu, cuda …")] = None,
) -> None:
    """Run agents on scenarios, several times each. A killed job goes on; what broke off is made again."""
    from prm.cli.files import check_file
    from prm.cli.reach.run_progress import run_progress
    from prm.reach.agents.agent_names import parse_agents
    from prm.reach.agents.job import Job, run_job
    from prm.reach.agents.runners import Runner

    check_file("--out", out)
    named = parse_agents(agent)
    limits, planning = _limits(cap, request_timeout, run_timeout), _planning(plan)
    world = _world(tools, inject or [], call_timeout, seed, dataset)
    _refuse_scripted(named, tools, inject, planning)
    endpoint = {
        "base_url": base_url or os.environ.get("OPENAI_BASE_URL"),
        "api_key": api_key or os.environ.get("OPENAI_API_KEY"),
        "extra_body": _extra_body(extra_body),
        "call_format": call_format,
        "attempts": attempts,
    }
    answering = {"temperature": temperature, "max_answer_tokens": max_answer_tokens}
    local = {"dtype": dtype, "device": device}

    def runner(name: AgentName) -> Runner:
        from prm.reach.agents.runners import ChatRunner, ScriptedRunner

        if name.kind == "scripted":
            return ScriptedRunner(name.target, cap)
        return ChatRunner(_model(name, endpoint, answering, local), world, limits, planning, seed)

    tasks = _tasks(scenarios, tools, range(seed, seed + seeds))
    variants = _variants(variant or [], variant_file, world, own_tools=tools is not None)
    job = Job({name.name: runner(name) for name in named}, variants, tasks, repeats, workers)
    with run_progress(len(job.orders())) as summary:
        run_job(job, out, summary.add)
    summary.show(out)
    if summary.all_broke_off():
        raise typer.Exit(1)


def _limits(cap: int, request_timeout: float, run_timeout: float) -> Any:
    from prm.reach.agents.conversation import Limits

    return Limits(cap, request_timeout, run_timeout)


def _planning(plan: str) -> Any:
    from prm.errors import ConfigError

    if plan not in ("none", "json"):
        raise ConfigError.at("--plan", "must be none or json", plan, "choose one of them")
    return plan


def _world(tools: str | None, inject: Sequence[str], call_timeout: float, seed: int, dataset: str | None) -> World:
    from prm.errors import ConfigError
    from prm.reach.agents.worlds.desk import DeskWorld
    from prm.reach.agents.worlds.dirt import DirtyWorld, parse_injection

    if not call_timeout > 0:
        raise ConfigError.at("--call-timeout", "must be more than 0", call_timeout, "raise it")
    injections = [parse_injection(text) for text in inject]
    world: World = DeskWorld() if tools is None else _own_world(tools, call_timeout, dataset)
    return DirtyWorld(world, injections, seed) if injections else world


def _own_world(tools: str, call_timeout: float, dataset: str | None) -> World:
    if tools.startswith(("http://", "https://")):
        from prm.reach.agents.worlds.server import ServerWorld

        return ServerWorld(tools, call_timeout, dataset or "tool_server")
    from prm.reach.agents.worlds.functions import FunctionWorld

    return FunctionWorld.load(tools, call_timeout, dataset)


def _refuse_scripted(named: Sequence[AgentName], tools: str | None, inject: Any, planning: str) -> None:
    """A scripted agent knows the desk's worlds by heart: with other tools or dirt its labels would be wrong."""
    from prm.errors import ConfigError

    given = [("--tools", tools), ("--inject", inject), ("--plan", None if planning == "none" else planning)]
    for name in named:
        for option, value in given:
            if name.kind == "scripted" and value:
                todo = "leave it out, or name another kind of agent"
                raise ConfigError.at(option, "must not be used with scripted agents", name.name, todo)


def _tasks(scenarios: str, tools: str | None, seeds: Sequence[int]) -> Sequence[Task]:
    from prm.errors import ConfigError
    from prm.reach.agents.task import desk_tasks, read_tasks

    if tools is None:
        return desk_tasks(scenarios, seeds)
    if scenarios == "all":
        todo = 'name a JSONL file with {"id": …, "request": …} on each line'
        raise ConfigError.at("--scenarios", "your own tools need tasks of your own", scenarios, todo)
    return read_tasks(Path(scenarios))


def _variants(names: Sequence[str], file: Path | None, world: World, *, own_tools: bool) -> tuple[Variant, ...]:
    from prm.reach.agents.variant_file import choose_variants, desk_variants, own_tool_variants, read_variants

    shipped = own_tool_variants(world.declarations) if own_tools else desk_variants()
    own = read_variants(file, world.declarations) if file is not None else {}
    return choose_variants(names or list(own) or ["plain"], {**shipped, **own})


def _extra_body(text: str | None) -> dict[str, Any]:
    from prm.data.jsonl import parse_json_object
    from prm.errors import ConfigError, RecordError

    try:
        return parse_json_object((text or "{}").encode("utf-8", "surrogatepass"), "--extra-body")
    except RecordError:
        todo = 'write it as in {"seed": 1}'
        raise ConfigError.at("--extra-body", "must be a JSON object", text, todo) from None


def _model(
    name: AgentName, endpoint: Mapping[str, Any], answering: Mapping[str, Any], local: Mapping[str, Any]
) -> ChatModel:
    """The chat model of one agent; a local one is loaded here."""
    if name.kind == "function":
        from prm.reach.agents.function_agent import FunctionAgent

        return FunctionAgent.load(name.target)
    if name.kind == "openai":
        from prm.reach.agents.endpoint import Endpoint, EndpointOptions

        url = name.base_url or endpoint["base_url"]
        return Endpoint(EndpointOptions(model=name.target, **{**endpoint, **answering, "base_url": url}))
    from prm.cli.quiet import quieten_transformers
    from prm.models.chat_agent import LocalChat, LocalChatOptions

    quieten_transformers()
    given = {key: value for key, value in answering.items() if value is not None}
    return LocalChat.from_pretrained(name.target, options=LocalChatOptions(**given), **local)
