"""Requests in Anthropic's Messages format.

Newer models decide by themselves how much to think and take an effort as a word; older ones take a number of
tokens. A temperature goes to those that take one, and only while they do not think.

A reply that called tools is sent back as the blocks it came in, thoughts with their signatures. The results
of our tools follow in one message and must answer every call; results of hosted tools stay in the reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from moot.core.choices import Effort
from moot.core.terms import HostedTool, Reasoning, Request, Segment, Text, Tool, ToolCall, ToolResult
from moot.providers.contract import Traits
from moot.providers.lenient_json import parse_or_text
from moot.providers.wire_formats.anthropic_decoder import AnthropicDecoder
from moot.providers.wire_formats.contract import WireFormat
from moot.providers.wire_formats.request_parts import (
    alternate_roles,
    can_think,
    exchange_steps,
    parameter_schema,
    parse_arguments,
    thinking_budget,
    without_keywords,
)

API_VERSION = "2023-06-01"
THINKING_OFF = {"type": "disabled"}
MIN_THINKING_BUDGET = 1024
UNSUPPORTED_KEYWORDS = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "minItems", "maxItems", "uniqueItems",
})  # fmt: skip
"""Keywords of a schema that are refused."""
HOSTED: dict[HostedTool, dict[str, Any]] = {
    "web_search": {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
    "code": {"type": "code_execution_20250825", "name": "code_execution"},
}


def url(base: str, _model: str) -> str:
    return f"{_versioned(base)}/messages"


def list_url(base: str) -> str:
    return f"{_versioned(base)}/models"


def _versioned(base: str) -> str:
    return base if base.endswith("/v1") else f"{base}/v1"


def headers(key: str) -> Mapping[str, str]:
    version = {"anthropic-version": API_VERSION}
    return {"x-api-key": key, **version} if key else version


def body(request: Request, traits: Traits) -> dict[str, Any]:
    model = request.model
    effort = model.effort if model.effort in traits.efforts else None
    thinking = _thinking(effort, request.max_tokens, traits) if traits.thinks else None
    payload: dict[str, Any] = {
        "model": model.name,
        "max_tokens": request.max_tokens,
        "messages": _messages(request),
        "stream": True,
    }
    if request.instructions:
        payload["system"] = request.instructions
    if thinking is not None:
        payload["thinking"] = thinking
    if output := _output(request, effort, traits):
        payload["output_config"] = output
    if model.temperature is not None and traits.sampling and thinking in (None, THINKING_OFF):
        # The scale that ends at 2 elsewhere ends at 1 here.
        payload["temperature"] = min(model.temperature, 1.0)
    payload |= _tool_fields(request)
    # Blank stop sequences are refused.
    if stop := [words for words in request.stop if words.strip()]:
        payload["stop_sequences"] = stop
    return payload


def _thinking(effort: Effort | None, max_tokens: int, traits: Traits) -> dict[str, Any] | None:
    """None leaves it to the model; older models then do not think."""
    if effort == "none":
        return THINKING_OFF
    if traits.thinking == "effort":
        # Without "display" these models send thoughts without their text.
        return {"type": "adaptive", "display": "summarized"}
    if effort is None or not can_think(MIN_THINKING_BUDGET, max_tokens):
        return None
    budget = max(MIN_THINKING_BUDGET, thinking_budget(effort, max_tokens))
    return {"type": "enabled", "budget_tokens": budget}


def _output(request: Request, effort: Effort | None, traits: Traits) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if effort not in (None, "none") and traits.thinking == "effort":
        config["effort"] = effort
    if request.schema is not None and traits.schema == "strict":
        schema = without_keywords(request.schema, UNSUPPORTED_KEYWORDS)
        config["format"] = {"type": "json_schema", "schema": schema}
    return config


def _messages(request: Request) -> list[dict[str, Any]]:
    turns = alternate_roles(request.messages)
    messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in turns]
    if len(messages) > 1:
        # A seat that has spoken before will speak again, with all of this in front: from the service's cache
        # it then costs a tenth.
        cached = {"type": "text", "text": turns[-1][1], "cache_control": {"type": "ephemeral"}}
        messages[-1]["content"] = [cached]
    return [*messages, *_exchange_messages(request)]


# --- tools --------------------------------------------------------------------------------------------


def _tool_fields(request: Request) -> dict[str, Any]:
    tools = [*map(_tool, request.tools), *(HOSTED[name] for name in request.hosted)]
    if not tools:
        return {}
    # An exchange with tool calls is refused if the tools are left out.
    return {"tools": tools, "tool_choice": {"type": "none"}} if request.enough else {"tools": tools}


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": parameter_schema(tool)}


def _exchange_messages(request: Request) -> Iterator[dict[str, Any]]:
    for step in exchange_steps(request.exchange):
        yield {"role": "assistant", "content": _blocks(step.segments)}
        if step.results:
            yield {"role": "user", "content": [_tool_result(*pair) for pair in step.results]}


def _blocks(segments: list[Segment]) -> list[dict[str, Any]]:
    names = {segment.id: segment.name for segment in segments if isinstance(segment, ToolCall)}
    blocks: list[dict[str, Any]] = []
    for segment in segments:
        match segment:
            case Text() if segment.text.strip():
                blocks.append({"type": "text", "text": segment.text})
            case Reasoning() if segment.redacted and segment.opaque:
                blocks.append({"type": "redacted_thinking", "data": segment.opaque})
            case Reasoning() if segment.opaque:
                blocks.append({"type": "thinking", "thinking": segment.text, "signature": segment.opaque})
            case ToolCall():
                call = {"id": segment.id, "name": segment.name, "input": parse_arguments(segment)}
                blocks.append({"type": segment.kind, **call})
            case ToolResult() if segment.id in names:
                # The result of a hosted tool goes back as it came: its type follows from the tool's name.
                result = {"tool_use_id": segment.id, "content": parse_or_text(segment.output.encode())}
                blocks.append({"type": f"{names[segment.id]}_tool_result", **result})
            case _:
                pass
    if blocks and blocks[-1]["type"] == "text":
        # A last message that ends with white space is refused.
        blocks[-1]["text"] = blocks[-1]["text"].rstrip()
    return blocks


def _tool_result(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call.id, "content": result.output}
    return {**block, "is_error": True} if result.error else block


def decoder(_request: Request, _traits: Traits) -> AnthropicDecoder:
    return AnthropicDecoder()


WIRE_FORMAT = WireFormat("anthropic", url, headers, body, decoder, list_url)
