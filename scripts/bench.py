#!/usr/bin/env python
"""Benchmarks: speed as the ratio of two sides measured in turn in one run, and the same output on both.

    python scripts/bench.py train --data hotpotqa.jsonl
    python scripts/bench.py all --data hotpotqa.jsonl --out runs/bench.jsonl

train     training tokens/s against the stock Trainer at its best batch size; also on a set of very unequal lengths
grpo      a GRPO step of a judge against the stock GRPOTrainer's, by prompt length and group size
score     one pass a run against one pass a step; also on long ticket-desk runs
check     `prm check` on many synthetic records: linear time, flat memory
evaluate  `prm evaluate` on many synthetic steps: against a plain-Python scorer, linear time, what its report costs
help      `prm --help` and `prm --version`
Each prints a line, ratio first, and appends a JSON line with commit, versions and sizes.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from benchmarks.report import Report, environment, publish

from prm.cli.files import check_file, file_errors
from prm.errors import PrmError
from prm.types import Trajectory

if TYPE_CHECKING:
    from benchmarks.models import Subject

WHAT = ("train", "grpo", "score", "check", "evaluate", "help")
LAYERS = 18
TRAINABLE_LAYERS = 6
TICKET_RUNS = 40
TICKET_STEPS = 10
SKEWED_RUNS = 200


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmarks that the command line names."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    around = environment()  # now, since the files may change while this runs
    try:
        with file_errors():
            check_file("--out", options.out, [] if options.data is None else [options.data])
            for report in _reports(options):
                publish(report, around, options.out)
    except PrmError as error:
        _fail(str(error))


def _fail(line: str) -> NoReturn:
    print(f"error: {line}", file=sys.stderr)
    sys.exit(2)


class _OneLineParser(argparse.ArgumentParser):
    """Complains in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and ends."""
        _fail(f"{message}; see {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _OneLineParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*WHAT, "all"])
    parser.add_argument("--data", type=Path, help="labelled runs (HotpotQA) for train and score; built-in sets without")
    parser.add_argument("--model", default="smollm2-135m", help="alias, folder or hub id (%(default)s)")
    parser.add_argument("--layers", type=_positive, help=f"first layers kept ({LAYERS}; grpo: all)")
    parser.add_argument(
        "--trainable-layers", type=_positive, help=f"top layers trained ({TRAINABLE_LAYERS}; grpo: all)"
    )
    parser.add_argument("--max-tokens", type=_positive, default=1536, help="tokens of a row (%(default)s)")
    parser.add_argument("--repeats", type=_positive, default=5, help="measured rounds (%(default)s)")
    parser.add_argument("--tokens", type=_positive, default=9_000, help="train: tokens of a round (%(default)s)")
    parser.add_argument(
        "--prompt-tokens", type=_positive, nargs="+", default=[400, 1000], help="grpo: prompt lengths (%(default)s)"
    )
    parser.add_argument("--answer-tokens", type=_positive, default=20, help="grpo: tokens of an answer (%(default)s)")
    parser.add_argument("--group", type=_group, nargs="+", default=[8, 16], help="grpo: group sizes (%(default)s)")
    parser.add_argument("--limit", type=_positive, help="score: at most so many runs of a set, evenly spaced")
    parser.add_argument("--records", type=_positive, default=100_000, help="check: records (%(default)s)")
    parser.add_argument("--steps", type=_positive, default=1_000_000, help="evaluate: gold steps (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("runs/bench.jsonl"), help="file to append to (%(default)s)")
    return parser


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def _positive(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}; raise it")
    return number


def _group(text: str) -> int:
    number = _whole(text)
    if number < 2:
        raise argparse.ArgumentTypeError(f"a group needs 2 answers or more, got {number}; raise it")
    return number


def _reports(options: argparse.Namespace) -> Iterator[Report]:
    chosen = WHAT if options.what == "all" else (options.what,)
    # The small processes first: what follows fills the memory.
    if "help" in chosen:
        from benchmarks.startup import bench_startup

        yield bench_startup(options.repeats)
    if "check" in chosen:
        from benchmarks.checking import bench_checking

        yield bench_checking(options.records, options.repeats)
    if "evaluate" in chosen:
        from benchmarks.evaluating import bench_evaluating

        yield from bench_evaluating(options.steps, options.repeats)
    if "train" in chosen:
        yield from _training(options)
    if "grpo" in chosen:
        yield from _grpo(options)
    if "score" in chosen:
        yield from _scoring(options)


def _training(options: argparse.Namespace) -> Iterator[Report]:
    from benchmarks.runs import skewed_runs
    from benchmarks.training import bench_training

    for name, runs in [*_given(options), (f"{SKEWED_RUNS} skewed ticket-desk runs", skewed_runs(SKEWED_RUNS))]:
        yield bench_training(name, runs, _subject(options), options.tokens, options.repeats)


def _grpo(options: argparse.Namespace) -> Iterator[Report]:
    from benchmarks.grpo import bench_grpo
    from benchmarks.grpo_problem import Policy

    from prm.cli.quiet import quieten_transformers
    from prm.models.reachable import reachable

    quieten_transformers()
    policy = Policy(options.model, options.layers, options.trainable_layers)
    with reachable(options.model):
        _ = policy.tokenizer  # read first: a model that is none is one line
    yield from bench_grpo(policy, options.prompt_tokens, options.answer_tokens, options.group, options.repeats)


def _scoring(options: argparse.Namespace) -> Iterator[Report]:
    from benchmarks.runs import evenly_spaced, ticket_runs
    from benchmarks.scoring import bench_scoring

    desk = ticket_runs(min(TICKET_RUNS, options.limit or TICKET_RUNS), TICKET_STEPS)
    for name, runs in [*_given(options), (f"ticket-desk runs of {TICKET_STEPS} steps and more", desk)]:
        yield bench_scoring(name, evenly_spaced(runs, options.limit or len(runs)), _subject(options), options.repeats)


def _given(options: argparse.Namespace) -> list[tuple[str, list[Trajectory]]]:
    """Name and runs of the user's file, if there is one."""
    from prm.data.readers.registry import read_all

    return [] if options.data is None else [(options.data.stem, read_all([str(options.data)]))]


def _subject(options: argparse.Namespace) -> Subject:
    from benchmarks.models import Subject

    from prm.cli.quiet import quieten_transformers
    from prm.models.reachable import reachable

    quieten_transformers()
    layers, trainable = options.layers or LAYERS, options.trainable_layers or TRAINABLE_LAYERS
    subject = Subject(options.model, layers, trainable, options.max_tokens)
    with reachable(options.model):
        _ = subject.tokenizer  # read first: a model that is none is one line
    return subject


if __name__ == "__main__":
    main()
