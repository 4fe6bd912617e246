"""The data card of a build: its README.md, from the manifest alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_HEADER = """\
---
pretty_name: {title}
tags:
- process-reward-model
- agents
- tool-use
---
"""


def data_card(manifest: Mapping[str, Any], title: str = "Agent trajectories with step labels") -> str:
    """The card as Markdown: sources, counts and label shares of each file, protocol, hashes."""
    return _HEADER.format(title=_plain(title)) + "\n".join(_lines(manifest, title)) + "\n"


def _lines(manifest: Mapping[str, Any], title: str) -> Iterator[str]:
    request = manifest["request"]
    yield f"# {_plain(title)}"
    yield ""
    yield "Runs of tool-using agents. Each assistant message is labelled -1 (harmful or wrong), 0 (neutral)"
    yield "or +1 (effective); the outcome of a run likewise."
    yield f"Label protocol: {manifest['protocol'] or 'not named'}. No query is in two files of one split."
    yield ""
    yield "| file | runs | queries | steps | -1 | 0 | +1 | unknown | runs that succeeded |"
    yield "|---|---|---|---|---|---|---|---|---|"
    yield from (_row(name, part) for name, part in manifest["outputs"].items())
    yield ""
    yield "Sources:"
    yield from (f"- {_plain(item['source'])} (sha256 {item['sha256'] or 'unknown'})" for item in request["inputs"])
    yield ""
    left_out = ", ".join(
        f"{reason.replace('_', ' ')} {n}" for reason, n in manifest["records"]["left_out"].items() if n
    )
    yield f"Left out: {left_out or 'nothing'}."
    queries = manifest["queries"]
    yield f"Queries: {queries['named']} by name, {queries['after_merging']} after merging equal ones."
    seed, version = request["options"]["seed"], manifest["prm_version"]
    yield f"Seed {seed}; split sha256 {manifest['split_sha256']}; prm {version}."
    yield ""
    yield "The files are JSONL trajectory records (`prm schema trajectory`). Read them with `prm`, not as"
    yield "Arrow struct columns: those unite the keys of `step_labels` over all rows."


def _row(name: str, part: Mapping[str, Any]) -> str:
    steps, labels, outcomes = part["steps"], part["label_counts"], part["outcome_counts"]
    shares = " | ".join(_share(labels[key], steps) for key in ("-1", "0", "1", "unknown"))
    success = _share(outcomes["1"], outcomes["1"] + outcomes["0"] + outcomes["-1"])
    return f"| {_plain(name)} | {part['trajectories']} | {part['queries']} | {steps} | {shares} | {success} |"


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.1%})" if total else str(count)


def _plain(text: str) -> str:
    """One line without characters that mean something in Markdown tables, HTML or YAML."""
    return re.sub(r"[\x00-\x1f\x7f|<>`\[\]:#*{}\"']", " ", text).strip()
