"""Two agents made of rules: they answer the same way every time, offline. Yours would call a model here.

An agent gets the conversation and the tools' declarations, and answers with text or with a message that makes calls.
"""

from __future__ import annotations

import json
import re
from typing import Any

Message = dict[str, Any]

LATE = {"status": "timeout"}


def careful(messages: list[Message], tools: list[Message]) -> str | Message:
    """Looks book and member up, then lends, or reserves, or says why not."""
    title, name = _asked(messages)
    lookups = {"find_book": {"title": title}, "find_member": {"name": name}}
    results = _results(messages)
    if "lend" in results:
        return _report(results["lend"])
    wanting = {tool: asked for tool, asked in lookups.items() if results.get(tool, LATE)["status"] == "timeout"}
    if wanting:
        return _calls("Looking up what I need.", **wanting)
    book, member = results["find_book"]["record"], results["find_member"]["record"]
    if not book or not member or not member["active"] or book["copies_in"] is None:
        return "I could not lend it: the book, its copies or an active membership could not be found."
    kind = "loan" if book["copies_in"] else "reservation"
    ids = {"book_id": book["book_id"], "member_id": member["member_id"]}
    return _calls(f"It will be a {kind}.", lend={**ids, "kind": kind})


def hasty(messages: list[Message], tools: list[Message]) -> str | Message:
    """Looks up the book alone and makes up a member's number."""
    title, _ = _asked(messages)
    results = _results(messages)
    if not results:
        return _calls("Looking it up.", find_book={"title": title})
    if "lend" in results:
        return _report(results["lend"])
    return _calls("Lending it.", lend={"book_id": results["find_book"]["record"]["book_id"], "member_id": "M-81"})


def _asked(messages: list[Message]) -> tuple[str, str]:
    request = next(message["content"] for message in messages if message["role"] == "user")
    match = re.search(r'Lend "(.+)" to ([A-Z]\w+ [A-Z]\w+)', request)
    return (match[1], match[2]) if match else ("", "")


def _results(messages: list[Message]) -> dict[str, Any]:
    """The last result of each tool."""
    return {message["name"]: json.loads(message["content"]) for message in messages if message["role"] == "tool"}


def _calls(text: str, **calls: dict[str, Any]) -> Message:
    made = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls.items()]
    return {"content": text, "tool_calls": made}


def _report(result: Message) -> str:
    if result["status"] != "ok":
        return f"That did not work: {result['record']['error']}."
    return f"Done: a {result['record']['kind']}, due {result['record']['due']}."
