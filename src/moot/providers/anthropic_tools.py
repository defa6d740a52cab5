"""Tools in Anthropic's dialect: how they are offered, and how a speech goes back that has used them.

A reply goes back as the blocks that it came in, thoughts with their signatures; what our tools gave follows
in one message, and must answer every call. What ran on the service's side stays in the reply itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot.core.terms import HostedTool, Reasoning, Request, Segment, Text, Tool, ToolCall, ToolResult
from moot.providers.lenient_json import parse_or_text
from moot.providers.tool_exchanges import exchange_steps, parameter_schema, parse_arguments

HOSTED: dict[HostedTool, dict[str, Any]] = {
    "web_search": {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
    "code": {"type": "code_execution_20250825", "name": "code_execution"},
}


def tool_fields(request: Request) -> dict[str, Any]:
    tools = [*map(_tool, request.tools), *(HOSTED[name] for name in request.hosted)]
    if not tools:
        return {}
    # To leave them out would be refused, since the exchange speaks of them.
    return {"tools": tools, "tool_choice": {"type": "none"}} if request.enough else {"tools": tools}


def exchange_messages(request: Request) -> Iterator[dict[str, Any]]:
    for step in exchange_steps(request.exchange):
        yield {"role": "assistant", "content": _blocks(step.segments)}
        if step.results:
            yield {"role": "user", "content": [_tool_result(*pair) for pair in step.results]}


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": parameter_schema(tool)}


def _blocks(segments: list[Segment]) -> list[dict[str, Any]]:
    names = {part.id: part.name for part in segments if isinstance(part, ToolCall)}
    blocks: list[dict[str, Any]] = []
    for part in segments:
        match part:
            case Text() if part.text.strip():
                blocks.append({"type": "text", "text": part.text})
            case Reasoning() if part.redacted and part.opaque:
                blocks.append({"type": "redacted_thinking", "data": part.opaque})
            case Reasoning() if part.opaque:
                blocks.append({"type": "thinking", "thinking": part.text, "signature": part.opaque})
            case ToolCall():
                asked = {"id": part.id, "name": part.name, "input": parse_arguments(part)}
                blocks.append({"type": part.kind, **asked})
            case ToolResult() if part.id in names:
                # What ran at the service's own goes back as it came: the kind follows from the tool's name.
                given = {"tool_use_id": part.id, "content": parse_or_text(part.output.encode())}
                blocks.append({"type": f"{names[part.id]}_tool_result", **given})
            case _:
                pass
    if blocks and blocks[-1]["type"] == "text":
        # No speech may be given to go on from that ends with a blank.
        blocks[-1]["text"] = blocks[-1]["text"].rstrip()
    return blocks


def _tool_result(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call.id, "content": result.output}
    return {**block, "is_error": True} if result.error else block
