"""What a speech has brought so far, taken apart for the way back: by steps, each a reply and what its tools
gave. How that is put, every family says in its own tongue; what models are told of a tool is alike in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from moot.core.terms import Segment, Tool, ToolCall, ToolResult

OWN_ID = "moot_"
"""How the ids begin that we give to calls which have none of their own."""


class Step(Struct):
    said: list[Segment] = field(default_factory=list[Segment])
    given: list[tuple[ToolCall, ToolResult]] = field(default_factory=list[tuple[ToolCall, ToolResult]])
    """What our tools gave, with the call that asked for it."""


def steps(exchange: Iterable[Segment]) -> list[Step]:
    asked: dict[str, ToolCall] = {}
    found: list[Step] = []
    for part in exchange:
        call = asked.get(part.id) if isinstance(part, ToolResult) else None
        if call is not None and isinstance(part, ToolResult):
            found[-1].given.append((call, part))
            continue
        if not found or found[-1].given:
            found.append(Step())
        found[-1].said.append(part)
        if isinstance(part, ToolCall) and part.asks:
            asked[part.id] = part
    return found


def arguments(call: ToolCall) -> dict[str, Any]:
    """What was asked, as an object; nothing where it is none, which the result then says."""
    try:
        told = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {}
    return cast("dict[str, Any]", told) if isinstance(told, dict) else {}


def parameters(tool: Tool) -> dict[str, Any]:
    """The schema of an object, as services insist; which edition of the language it is, they do not ask."""
    schema = {name: value for name, value in tool.schema.items() if name != "$schema"}
    return {"properties": {}, **schema, "type": "object"}
