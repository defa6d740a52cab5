"""Requests in the chat-completions format.

Many services use it (llama.cpp, Ollama, LM Studio, vLLM, OpenRouter, Groq, Mistral), and each refuses
something that others accept: an `Accent` says how a service wants to be asked.

A prefill is sent as a last assistant message which the server continues; the decoder puts its words before
those of the reply, so that the chunks add up to the whole speech.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core.terms import ChatMessage, Reasoning, Request, Segment, Text, Tool, ToolCall
from moot.providers.contract import Traits
from moot.providers.lenient_json import get_dicts, parse_or_text
from moot.providers.wire_formats.contract import WireFormat, bearer
from moot.providers.wire_formats.openai_chat_decoder import ChatDecoder
from moot.providers.wire_formats.request_parts import (
    alternate_roles,
    exchange_steps,
    parameter_schema,
    parse_arguments,
)


class Accent(Struct, frozen=True):
    """The field names of one service, and what it refuses."""

    max_tokens_field: str = "max_tokens"
    seed_field: str = "seed"
    """Empty: it accepts none."""
    asks_for_usage: bool = True
    """Usage is sent only on request, and the request is accepted."""
    effort_field: Literal["", "reasoning_effort", "reasoning", "thinking"] = ""
    """Where the effort goes: nowhere, into a field of its own, into an object, or into a field of its own
    except for `none`, which is another switch."""
    marks_prefill: bool = False
    """A prefill must be marked as such."""
    whole_json: bool = False
    """It does not stream a reply that must be JSON."""
    reasoning_field: Literal["", "reasoning_content", "reasoning_details"] = ""
    """The field in which the thoughts behind a tool call are sent back, if the service wants them."""


PLAIN = Accent()
ACCENTS = {
    "plain": PLAIN,
    "openai": Accent(max_tokens_field="max_completion_tokens", effort_field="reasoning_effort"),
    "mistral": Accent(
        seed_field="random_seed", asks_for_usage=False, effort_field="reasoning_effort", marks_prefill=True
    ),
    "groq": Accent(
        max_tokens_field="max_completion_tokens", effort_field="reasoning_effort", whole_json=True
    ),
    "openrouter": Accent(asks_for_usage=False, effort_field="reasoning", reasoning_field="reasoning_details"),
    "deepseek": Accent(seed_field="", effort_field="thinking", reasoning_field="reasoning_content"),
    "xai": Accent(max_tokens_field="max_completion_tokens", effort_field="reasoning_effort"),
    "cerebras": Accent(
        max_tokens_field="max_completion_tokens", effort_field="reasoning_effort", whole_json=True
    ),
    "ollama": Accent(effort_field="reasoning_effort"),
    "lmstudio": Accent(effort_field="reasoning_effort"),
    "vllm": Accent(effort_field="reasoning_effort"),
}


def url(base: str, _model: str) -> str:
    return f"{base}/chat/completions"


def body(accent: Accent, request: Request, traits: Traits) -> dict[str, Any]:
    shape = _response_format(request, traits)
    stream = not (shape and accent.whole_json)
    payload: dict[str, Any] = {
        "model": request.model.name,
        "messages": _messages(accent, request, traits.prefill),
        accent.max_tokens_field: request.max_tokens,
        "stream": stream,
        **shape,
        **_effort(accent, request, traits),
    }
    if accent.asks_for_usage and stream:
        payload["stream_options"] = {"include_usage": True}
    if request.model.verbosity and traits.verbosity:
        payload["verbosity"] = request.model.verbosity
    if request.model.service_tier in traits.service_tiers:
        payload["service_tier"] = request.model.service_tier
    if traits.sampling:
        payload |= _sampling(accent, request)
    if request.tools:
        payload["tools"] = [_tool(tool) for tool in request.tools]
        if request.enough:
            # Some gateways refuse an exchange with tool calls if the tools are left out.
            payload["tool_choice"] = "none"
    return payload


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": parameter_schema(tool)}
    return {"type": "function", "function": function}


def _response_format(request: Request, traits: Traits) -> dict[str, Any]:
    if request.schema is None or traits.schema == "words":
        return {}
    if traits.schema == "json":
        return {"response_format": {"type": "json_object"}}
    named = {"name": "reply", "strict": True, "schema": request.schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _effort(accent: Accent, request: Request, traits: Traits) -> dict[str, Any]:
    effort = request.model.effort
    if effort not in traits.efforts or not accent.effort_field:
        return {}
    if accent.effort_field == "reasoning":
        return {"reasoning": {"effort": effort}}
    if accent.effort_field == "thinking" and effort == "none":
        return {"thinking": {"type": "disabled"}}
    return {"reasoning_effort": effort}


def _sampling(accent: Accent, request: Request) -> dict[str, Any]:
    """Not for models that refuse a temperature: they refuse stop sequences as well."""
    fields: dict[str, Any] = {}
    seed = request.seed if request.seed is not None else request.model.seed
    if request.model.temperature is not None:
        fields["temperature"] = request.model.temperature
    if seed is not None and accent.seed_field:
        fields[accent.seed_field] = seed
    if request.stop:
        fields["stop"] = list(request.stop)
    return fields


def _messages(accent: Accent, request: Request, prefill: bool) -> list[dict[str, Any]]:
    messages = request.messages
    prefill = prefill and bool(request.prefill)
    if prefill:
        messages = (*messages, ChatMessage("assistant", request.prefill))
    system = [("system", request.instructions)] if request.instructions else []
    # Some chat templates refuse two messages of one role in a row.
    turns = [*system, *alternate_roles(messages)]
    wire_messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in turns]
    if prefill and accent.marks_prefill:
        wire_messages[-1]["prefix"] = True
    for step in exchange_steps(request.exchange):
        wire_messages.append(_assistant_message(accent, step.segments))
        wire_messages += [
            {"role": "tool", "tool_call_id": call.id, "content": result.output}
            for call, result in step.results
        ]
    return wire_messages


def _assistant_message(accent: Accent, segments: list[Segment]) -> dict[str, Any]:
    text = "".join(segment.text for segment in segments if isinstance(segment, Text))
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls := [part for part in segments if isinstance(part, ToolCall) and part.needs_answer]:
        message["tool_calls"] = [_call(call) for call in calls]
    thoughts = [segment for segment in segments if isinstance(segment, Reasoning)]
    if accent.reasoning_field == "reasoning_content" and thoughts:
        message["reasoning_content"] = "".join(thought.text for thought in thoughts)
    if accent.reasoning_field == "reasoning_details" and (details := list(_details(thoughts))):
        message["reasoning_details"] = details
    return message


def _call(call: ToolCall) -> dict[str, Any]:
    # Some servers parse the arguments, and fail if they are no JSON object.
    arguments = msgspec.json.encode(parse_arguments(call)).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _details(thoughts: list[Reasoning]) -> Iterator[dict[str, Any]]:
    """The details as they came; a signature was kept without the text it belongs to."""
    for thought in thoughts:
        for detail in get_dicts(parse_or_text(thought.opaque.encode())):
            signed = "signature" in detail
            yield {**detail, "text": thought.text} if signed else detail


def decoder(request: Request, traits: Traits) -> ChatDecoder:
    return ChatDecoder(request.prefill if traits.prefill else "")


def wire_format(accent: Accent = PLAIN) -> WireFormat:
    return WireFormat("openai_chat", url, bearer, partial(body, accent), decoder)
