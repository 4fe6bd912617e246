"""Every OpenTelemetry name that Reach reads or writes, of one version of the semantic conventions.

https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai (all of it in development there). A
new version of the conventions is a change of this file only.
"""

from __future__ import annotations

SEMCONV_VERSION = "1.41.0"
SCHEMA_URL = f"https://opentelemetry.io/schemas/{SEMCONV_VERSION}"

# Spans
OPERATION_NAME = "gen_ai.operation.name"
INFERENCE_OPERATIONS = frozenset({"chat", "generate_content", "text_completion"})
"""One such span is one assistant message."""
TOOL_OPERATION = "execute_tool"
AGENT_OPERATIONS = frozenset({"invoke_agent", "invoke_workflow"})

CONVERSATION_ID = "gen_ai.conversation.id"
AGENT_NAME = "gen_ai.agent.name"
REQUEST_MODEL = "gen_ai.request.model"
ERROR_TYPE = "error.type"

TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT = "gen_ai.tool.call.result"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"

INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
"""An event of an inference span that carries the messages where its attributes do not."""

# Parts of a message
PART_TEXT = "text"
PART_TOOL_CALL = "tool_call"
PART_TOOL_RESPONSE = "tool_call_response"
RESPONSE_KEYS = ("response", "result")
"""Where a `tool_call_response` holds the answer: the schema's name, and the one of the conventions' examples."""

# Evaluation events
EVALUATION_EVENT = "gen_ai.evaluation.result"
EVALUATION_NAME = "gen_ai.evaluation.name"
SCORE_VALUE = "gen_ai.evaluation.score.value"
SCORE_LABEL = "gen_ai.evaluation.score.label"
EXPLANATION = "gen_ai.evaluation.explanation"
SERVICE_NAME = "service.name"

# Not of the conventions: what an experiment may set on any span of a run, so that repeats find each other
OWN_PREFIX = "prm."
OWN_KEYS = ("scenario", "template", "run", "agent", "variant", "seed", "end", "outcome")
"""As in a trajectory's `reach` object: ``prm.scenario`` … (and ``prm.spec`` on evaluation events)."""
