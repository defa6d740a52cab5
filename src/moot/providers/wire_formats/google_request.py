"""Requests in Google's generateContent format.

Models sign the thoughts that led to a tool call, and refuse a call that comes back without its signature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from moot.core.choices import Effort
from moot.core.terms import HostedTool, Reasoning, Request, Segment, Text, ToolCall, ToolResult
from moot.providers.contract import OWN_ID_PREFIX, Traits
from moot.providers.wire_formats.contract import WireFormat
from moot.providers.wire_formats.google_decoder import GoogleDecoder
from moot.providers.wire_formats.request_parts import (
    alternate_roles,
    can_think,
    exchange_steps,
    parameter_schema,
    parse_arguments,
    thinking_budget,
    without_keywords,
)

API_VERSIONS = ("/v1beta", "/v1", "/v1alpha")
THINKING_BUDGET_RANGE = (512, 24_576)
"""The range that every model accepts whose thinking is limited in tokens."""
MIN_FORCED_BUDGET = 128
"""The least for models whose thinking cannot be switched off."""
MAX_STOP_SEQUENCES = 5
UNSUPPORTED_KEYWORDS = frozenset({
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "uniqueItems",
    "minItems", "maxItems",
})  # fmt: skip
"""Keywords of a schema that are refused or ignored; several bounds of arrays are refused."""
HOSTED: dict[HostedTool, str] = {"web_search": "googleSearch", "code": "codeExecution"}


def url(base: str, model: str) -> str:
    name = quote(model.removeprefix("models/"), safe="")
    return f"{list_url(base)}/{name}:streamGenerateContent?alt=sse"


def list_url(base: str) -> str:
    root = base if base.endswith(API_VERSIONS) else f"{base}/v1beta"
    return f"{root}/models"


def headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key} if key else {}


def body(request: Request, traits: Traits) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "contents": [
            *(
                {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
                for role, text in alternate_roles(request.messages)
            ),
            *_exchange_contents(request),
        ],
        "generationConfig": _config(request, traits),
    }
    if request.instructions:
        payload["systemInstruction"] = {"parts": [{"text": request.instructions}]}
    if request.model.service_tier in traits.service_tiers:
        payload["service_tier"] = request.model.service_tier
    return {**payload, **_tool_fields(request)}


def _config(request: Request, traits: Traits) -> dict[str, Any]:
    model = request.model
    config: dict[str, Any] = {"maxOutputTokens": request.max_tokens}
    if model.temperature is not None and traits.sampling:
        config["temperature"] = model.temperature
    seed = request.seed if request.seed is not None else model.seed
    if seed is not None and traits.sampling:
        config["seed"] = seed
    if request.stop:
        config["stopSequences"] = list(request.stop[:MAX_STOP_SEQUENCES])
    if request.schema is not None and traits.schema != "words":
        config["responseMimeType"] = "application/json"
        if traits.schema == "strict":
            config["responseJsonSchema"] = without_keywords(request.schema, UNSUPPORTED_KEYWORDS)
    if traits.thinks:
        effort = model.effort if model.effort in traits.efforts else None
        config["thinkingConfig"] = _thinking(effort, request.max_tokens, traits)
    return config


def _thinking(effort: Effort | None, max_tokens: int, traits: Traits) -> dict[str, Any]:
    least, most = THINKING_BUDGET_RANGE
    by_tokens = traits.thinking == "budget"
    cramped = by_tokens and not can_think(least, max_tokens)
    if effort == "none" or (cramped and "none" in traits.efforts):
        return {"thinkingBudget": 0}
    config: dict[str, Any] = {"includeThoughts": True}
    if cramped:
        config["thinkingBudget"] = MIN_FORCED_BUDGET
    elif effort is not None and by_tokens:
        config["thinkingBudget"] = min(most, max(least, thinking_budget(effort, max_tokens)))
    elif effort is not None:
        config["thinkingLevel"] = effort.upper()
    return config


# --- tools --------------------------------------------------------------------------------------------


def _tool_fields(request: Request) -> dict[str, Any]:
    """Most models accept hosted tools only if no others are offered."""
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


def _exchange_contents(request: Request) -> Iterator[dict[str, Any]]:
    for step in exchange_steps(request.exchange):
        yield {"role": "model", "parts": _parts(step.segments)}
        if step.results:
            yield {
                "role": "user",
                "parts": [_function_response(call, result) for call, result in step.results],
            }


def _parts(segments: list[Segment]) -> list[dict[str, Any]]:
    """A signature goes back in the part that it came with."""
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
    """Older models give their calls no id, and do not know ours."""
    return {"name": call.name} if call.id.startswith(OWN_ID_PREFIX) else {"id": call.id, "name": call.name}


def _function_response(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    response = {"error" if result.error else "result": result.output}
    return {"functionResponse": {**_call_identity(call), "response": response}}


def decoder(_request: Request, _traits: Traits) -> GoogleDecoder:
    return GoogleDecoder()


WIRE_FORMAT = WireFormat("google", url, headers, body, decoder, list_url)
