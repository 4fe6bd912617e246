"""A tool span → a call, and a call that message and span both tell of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from prm.reach.log import otel_names as names
from prm.reach.log.json_text import text_of_json
from prm.reach.log.message_parts import text_id
from prm.reach.log.otlp import Span
from prm.reach.log.to_trajectory import LoggedCall


@dataclass
class SpanCall:
    """A call as it is completed; `ordinal` tells it from others."""

    ordinal: int
    logged: LoggedCall

    @property
    def tool(self) -> str:
        """Its tool."""
        return self.logged.tool


def call_of_span(span: Span) -> LoggedCall:
    """The call that a tool span tells of. Arguments and result may not be captured; that it failed may be known."""
    attributes = span.attributes
    error_type = attributes.get(names.ERROR_TYPE)
    failed = span.failed or error_type is not None
    result = attributes.get(names.TOOL_CALL_RESULT)
    if result is None and failed:
        result = span.message or text_of_json(error_type) or None
    arguments = attributes.get(names.TOOL_CALL_ARGUMENTS)
    return LoggedCall(
        tool=_tool(span),
        id=text_id(attributes.get(names.TOOL_CALL_ID)),
        arguments=arguments if isinstance(arguments, dict | str) else None,
        result=result,
        # An error is said; that all went well is not: many tools return their errors as results.
        failed=True if failed else None,
        called_at=span.started_at,
        returned_at=span.ended_at,
    )


def _tool(span: Span) -> str:
    name: Any = span.attributes.get(names.TOOL_NAME)
    if isinstance(name, str):
        return name
    return span.name.removeprefix(f"{names.TOOL_OPERATION} ")


def completed(recorded: LoggedCall, spanned: LoggedCall) -> LoggedCall:
    """A call of a message with what its tool span tells: the model's own arguments, the tool's own result."""
    return replace(
        recorded,
        id=recorded.id or spanned.id,
        tool=recorded.tool or spanned.tool,
        arguments=spanned.arguments if recorded.arguments is None else recorded.arguments,
        result=recorded.result if spanned.result is None else spanned.result,
        failed=spanned.failed,
        called_at=recorded.called_at if spanned.called_at is None else spanned.called_at,
        returned_at=spanned.returned_at,
    )
