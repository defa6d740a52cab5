"""The chat-completions dialect: how to ask, and whom. What comes back is read in `chat_reply`.

Many services speak it (llama.cpp, Ollama, LM Studio, vLLM, OpenRouter, Groq, Mistral), and each stumbles over
something that the others like: an `Accent` says how one is to be asked.

A prefill travels as a last assistant message which the server continues; its words are given out first, so
that the chunks add up to the whole speech.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core.terms import ChatMessage, Reasoning, Request, Segment, Text, Tool, ToolCall
from moot.providers import quirks
from moot.providers.chat_decoder import ChatDecoder
from moot.providers.contract import Traits
from moot.providers.family import Family, bearer
from moot.providers.lenient_json import get_dicts, parse_or_text
from moot.providers.tool_exchanges import exchange_steps, parameter_schema, parse_arguments


class Accent(Struct, frozen=True):
    """What a service calls things, and what it would stumble over."""

    max_tokens_field: str = "max_tokens"
    seed_field: str = "seed"
    """Empty: it takes none."""
    asks_for_usage: bool = True
    """Usage must be asked for, and may be."""
    effort_field: Literal["", "reasoning_effort", "reasoning", "thinking"] = ""
    """Where the effort goes: nowhere, by its own name, into an object; or by its own name, but for none at
    all, which is another switch."""
    marks_prefill: bool = False
    """A prefill must be marked as one."""
    whole_json: bool = False
    """It does not stream an answer that must be JSON."""
    reasoning_field: Literal["", "reasoning_content", "reasoning_details"] = ""
    """As what the thoughts behind a call of a tool go back with it, where that is wanted."""


PLAIN = Accent()
OPENAI = Accent(max_tokens_field="max_completion_tokens", effort_field="reasoning_effort")
MISTRAL = Accent(
    seed_field="random_seed", asks_for_usage=False, effort_field="reasoning_effort", marks_prefill=True
)
GROQ = Accent(max_tokens_field="max_completion_tokens", effort_field="reasoning_effort", whole_json=True)
OPENROUTER = Accent(asks_for_usage=False, effort_field="reasoning", reasoning_field="reasoning_details")
DEEPSEEK = Accent(seed_field="", effort_field="thinking", reasoning_field="reasoning_content")
XAI = Accent(max_tokens_field="max_completion_tokens", effort_field="reasoning_effort")
CEREBRAS = Accent(max_tokens_field="max_completion_tokens", effort_field="reasoning_effort", whole_json=True)
OLLAMA = LMSTUDIO = VLLM = Accent(effort_field="reasoning_effort")

ACCENTS = {
    "plain": PLAIN,
    "openai": OPENAI,
    "mistral": MISTRAL,
    "groq": GROQ,
    "openrouter": OPENROUTER,
    "deepseek": DEEPSEEK,
    "xai": XAI,
    "cerebras": CEREBRAS,
    "ollama": OLLAMA,
    "lmstudio": LMSTUDIO,
    "vllm": VLLM,
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
    if traits.sampling:
        payload |= _sampling(accent, request)
    if request.tools:
        payload["tools"] = [_tool(tool) for tool in request.tools]
        if request.enough:
            # Some who pass the request on would refuse an exchange that speaks of tools without any.
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
    """Models that refuse a temperature refuse a stop as well."""
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
    turns = [*system, *quirks.alternate_roles(messages)]
    wire_messages: list[dict[str, Any]] = [{"role": role, "content": words} for role, words in turns]
    if prefill and accent.marks_prefill:
        wire_messages[-1]["prefix"] = True
    for step in exchange_steps(request.exchange):
        wire_messages.append(_assistant_message(accent, step.segments))
        wire_messages += [
            {"role": "tool", "tool_call_id": call.id, "content": result.output}
            for call, result in step.results
        ]
    return wire_messages


def _assistant_message(accent: Accent, parts: list[Segment]) -> dict[str, Any]:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls := [part for part in parts if isinstance(part, ToolCall) and part.needs_answer]:
        message["tool_calls"] = [_call(call) for call in calls]
    thoughts = [part for part in parts if isinstance(part, Reasoning)]
    if accent.reasoning_field == "reasoning_content" and thoughts:
        message["reasoning_content"] = "".join(thought.text for thought in thoughts)
    if accent.reasoning_field == "reasoning_details" and (details := list(_details(thoughts))):
        message["reasoning_details"] = details
    return message


def _call(call: ToolCall) -> dict[str, Any]:
    # Some servers read the arguments before their model does.
    asked = msgspec.json.encode(parse_arguments(call)).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": asked}}


def _details(thoughts: list[Reasoning]) -> Iterator[dict[str, Any]]:
    """As they came: a signature is kept without the words it is for."""
    for thought in thoughts:
        for detail in get_dicts(parse_or_text(thought.opaque.encode())):
            signed = "signature" in detail
            yield {**detail, "text": thought.text} if signed else detail


def decoder(request: Request, traits: Traits) -> ChatDecoder:
    return ChatDecoder(request.prefill if traits.prefill else "")


def family(accent: Accent = PLAIN) -> Family:
    return Family("openai_chat", url, bearer, partial(body, accent), decoder)
