"""What a speech has brought so far, taken apart for the way back: by steps, each a reply and what its tools
gave. How that is put, every family says in its own tongue; what models are told of a tool is alike in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from moot.core.terms import Segment, Tool, ToolCall, ToolResult

OWN_ID_PREFIX = "moot_"
"""How the ids begin that we give to calls which have none of their own."""


class ExchangeStep(Struct):
    segments: list[Segment] = field(default_factory=list[Segment])
    results: list[tuple[ToolCall, ToolResult]] = field(default_factory=list[tuple[ToolCall, ToolResult]])
    """What our tools gave, with the call that asked for it."""


def exchange_steps(exchange: Iterable[Segment]) -> list[ExchangeStep]:
    asked: dict[str, ToolCall] = {}
    result: list[ExchangeStep] = []
    for part in exchange:
        call = asked.get(part.id) if isinstance(part, ToolResult) else None
        if call is not None and isinstance(part, ToolResult):
            result[-1].results.append((call, part))
            continue
        if not result or result[-1].results:
            result.append(ExchangeStep())
        result[-1].segments.append(part)
        if isinstance(part, ToolCall) and part.needs_answer:
            asked[part.id] = part
    return result


def parse_arguments(call: ToolCall) -> dict[str, Any]:
    """What was asked, as an object; nothing where it is none, which the result then says."""
    try:
        value = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def parameter_schema(tool: Tool) -> dict[str, Any]:
    """The schema of an object, as services insist; which edition of the language it is, they do not ask."""
    schema = {name: value for name, value in tool.schema.items() if name != "$schema"}
    return {"properties": {}, **schema, "type": "object"}
