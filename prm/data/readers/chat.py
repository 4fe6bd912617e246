"""Plain chat JSONL: ``{"messages": […]}`` with everything else optional."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from prm.data.readers.row import Record, Row, read_jsonl_rows

IDENTITY_KEYS = ("id", "data_source", "query_index", "sample_index")


def read(source: str) -> Iterator[Row]:
    """The rows of a file of chats.

    A record that has no `id`, `query_index` or `sample_index` gets them: the query is a hash of the first
    user message, the sample index counts the runs of that query, and the data source is the file's name
    unless the record says another.
    """
    seen: Counter[str] = Counter()
    stem = Path(source).stem

    def identify(record: Record, where: str) -> Record:
        named = {"data_source": stem, **record}
        if record.get("id") is not None and record.get("query_index") is not None:
            return named
        query = record.get("query_index")
        if query is None:
            query = hash_of_first_user_message(record.get("messages"))
        sample = record.get("sample_index")
        if sample is None:
            sample = seen[str(query)]
        seen[str(query)] += 1
        return {**named, "query_index": query, "sample_index": sample}

    return read_jsonl_rows(source, identify)


def hash_of_first_user_message(messages: Any) -> str:
    """16 hex digits of the SHA-256 of the first user message's content; of nothing where there is none."""
    return sha256(first_user_text(messages).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def first_user_text(messages: Any) -> str:
    """The text of the first message with role `user` (its text parts, where it has parts); else ""."""
    for message in messages if isinstance(messages, list | tuple) else ():
        if isinstance(message, dict) and message.get("role") == "user":
            return _text_of(message.get("content"))
    return ""


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))
