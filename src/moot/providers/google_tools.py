"""Tools in Google's dialect: how they are offered, and how a speech goes back that has used them.

Its models sign what they thought on the way to a call, and refuse one that comes back without its signature.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot.core.terms import HostedTool, Reasoning, Request, Segment, Text, ToolCall, ToolResult
from moot.providers.tool_exchanges import OWN_ID_PREFIX, exchange_steps, parameter_schema, parse_arguments

HOSTED: dict[HostedTool, str] = {"web_search": "googleSearch", "code": "codeExecution"}


def tool_fields(request: Request) -> dict[str, Any]:
    """Most models take their service's own tools only where there are no others."""
    if not request.tools:
        return {"tools": [{HOSTED[name]: {}} for name in request.hosted]} if request.hosted else {}
    declared = [
        {"name": tool.name, "description": tool.description, "parametersJsonSchema": parameter_schema(tool)}
        for tool in request.tools
    ]
    fields: dict[str, Any] = {"tools": [{"functionDeclarations": declared}]}
    if request.enough:
        fields["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    return fields


def exchange_contents(request: Request) -> Iterator[dict[str, Any]]:
    for step in exchange_steps(request.exchange):
        yield {"role": "model", "parts": _parts(step.segments)}
        if step.results:
            yield {
                "role": "user",
                "parts": [_function_response(call, result) for call, result in step.results],
            }


def _parts(segments: list[Segment]) -> list[dict[str, Any]]:
    """A signature goes back in the very part that it came with."""
    parts: list[dict[str, Any]] = []
    for segment in segments:
        match segment:
            case Text() if segment.text:
                parts.append({"text": segment.text})
            case ToolCall() if segment.needs_answer:
                parts.append({"functionCall": {**_call_identity(segment), "args": parse_arguments(segment)}})
            case Reasoning() if segment.parts:
                parts.append({"text": segment.text, "thought": True})
            case Reasoning() if not parts:
                parts.append({"text": ""})
            case _ if not isinstance(segment, Reasoning):
                continue
            case _:
                pass
        if isinstance(segment, Reasoning | ToolCall) and segment.opaque:
            parts[-1]["thoughtSignature"] = segment.opaque
    return parts or [{"text": ""}]


def _call_identity(call: ToolCall) -> dict[str, str]:
    """Older models give their calls no id; ours would mean nothing to them."""
    return {"name": call.name} if call.id.startswith(OWN_ID_PREFIX) else {"id": call.id, "name": call.name}


def _function_response(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    response = {"error" if result.error else "result": result.output}
    return {"functionResponse": {**_call_identity(call), "response": response}}
