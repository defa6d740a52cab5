"""What several wire formats need to build a request: each function takes and returns plain values.

Strict services insist that turns alternate, that the user's come first and that none is blank. The parts of
a schema that a service cannot enforce are put into its description. A speech that used tools is sent back
step by step. A llama.cpp server obeys control tokens inside a message, so they are escaped for such servers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any, cast

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.choices import Effort
from moot.core.terms import ChatMessage, Request, Segment, Tool, ToolCall, ToolResult

FIRST_MESSAGE = "Begin."
THINKING_SHARES: dict[Effort, float] = {
    "none": 0.0, "minimal": 0.1, "low": 0.25, "medium": 0.5, "high": 0.65, "xhigh": 0.75, "max": 0.75,
}  # fmt: skip
MAX_THINKING_SHARE = 0.75
"""Of the tokens of a reply: the remainder is for the speech. Services count both together."""
SCHEMA_MAPS = {"properties", "$defs", "definitions"}
"""Keywords whose value maps the author's own names, which are no keywords, to schemas."""
CONTROL_TOKENS = re.compile(
    r"<(?=\||｜|/?(?:s|bos|eos|pad|unk|mask|think|tool_call|im_start|im_end|(?:start|end)_of_turn)>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
    r"|<(?=</?SYS>>)",
    re.IGNORECASE,
)

# --- messages -----------------------------------------------------------------------------------------


def alternate_roles(messages: Iterable[ChatMessage]) -> list[tuple[str, str]]:
    """Pairs of role and text: consecutive messages of one role are joined, and the first is the user's."""
    non_blank = (message for message in messages if message.content.strip())
    turns = [
        (role, "\n\n".join(message.content for message in group))
        for role, group in itertools.groupby(non_blank, key=lambda message: message.role)
    ]
    return turns if turns and turns[0][0] == "user" else [("user", FIRST_MESSAGE), *turns]


def escape_control_tokens(request: Request) -> Request:
    """The request with a space in every control token, which makes it plain text.

    Otherwise `<|im_end|>` in one speech would end that message, and could begin one of the system's.
    """
    return replace(
        request,
        instructions=escape(request.instructions),
        messages=_escape_messages(request.messages),
        fresh=_escape_messages(request.fresh),
        prefill=escape(request.prefill),
        exchange=tuple(
            replace(part, output=escape(part.output)) if isinstance(part, ToolResult) else part
            for part in request.exchange
        ),
    )


def escape(text: str) -> str:
    return CONTROL_TOKENS.sub(r"\g<0> ", text)


def _escape_messages(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    return tuple(replace(message, content=escape(message.content)) for message in messages)


# --- thinking and schemas -----------------------------------------------------------------------------


def can_think(min_tokens: int, max_tokens: int) -> bool:
    """Whether a service that thinks with at least `min_tokens` leaves any of the reply's for the speech."""
    return MAX_THINKING_SHARE * max_tokens >= min_tokens


def thinking_budget(effort: Effort, max_tokens: int) -> int:
    """How many of the reply's tokens may be spent on thinking."""
    return int(THINKING_SHARES[effort] * max_tokens)


def without_keywords(schema: Any, unsupported: frozenset[str]) -> Any:
    """The schema without these keywords, whose demands are added to the descriptions."""
    if isinstance(schema, list):
        return [without_keywords(item, unsupported) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("dict[str, Any]", schema)
    supported: dict[str, Any] = {
        key: {name: without_keywords(inner, unsupported) for name, inner in value.items()}
        if key in SCHEMA_MAPS
        else without_keywords(value, unsupported)
        for key, value in fields.items()
        if key not in unsupported
    }
    removed = [f"{key}: {value}" for key, value in fields.items() if key in unsupported]
    if removed:
        supported["description"] = f"{fields.get('description', '')} ({', '.join(removed)})".lstrip()
    return supported


# --- tools --------------------------------------------------------------------------------------------


class ExchangeStep(Struct):
    """One reply of a speech, and the results of the tools it called."""

    segments: list[Segment] = field(default_factory=list[Segment])
    results: list[tuple[ToolCall, ToolResult]] = field(default_factory=list[tuple[ToolCall, ToolResult]])
    """Results of our tools, each with its call."""


def exchange_steps(exchange: Iterable[Segment]) -> list[ExchangeStep]:
    """The segments of a speech so far, divided into its steps."""
    calls: dict[str, ToolCall] = {}
    steps: list[ExchangeStep] = []
    for segment in exchange:
        call = calls.get(segment.id) if isinstance(segment, ToolResult) else None
        if call is not None and isinstance(segment, ToolResult):
            steps[-1].results.append((call, segment))
            continue
        if not steps or steps[-1].results:
            steps.append(ExchangeStep())
        steps[-1].segments.append(segment)
        if isinstance(segment, ToolCall) and segment.needs_answer:
            calls[segment.id] = segment
    return steps


def parse_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; empty if they are none, of which the tool's result then complains."""
    try:
        value = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def parameter_schema(tool: Tool) -> dict[str, Any]:
    """The tool's schema as services want it: always of an object, without the version of the language."""
    schema = {name: value for name, value in tool.schema.items() if name != "$schema"}
    return {"properties": {}, **schema, "type": "object"}
