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

from moot.core.terms import Message, Reasoning, Request, Segment, Text, Tool, ToolCall
from moot.providers import quirks
from moot.providers.chat_decoder import Decoder
from moot.providers.contract import Traits
from moot.providers.family import Family, bearer
from moot.providers.lenient_json import loosely, objects
from moot.providers.tool_exchanges import arguments, parameters, steps


class Accent(Struct, frozen=True):
    """What a service calls things, and what it would stumble over."""

    most: str = "max_tokens"
    seed: str = "seed"
    """Empty: it takes none."""
    figures: bool = True
    """Usage must be asked for, and may be."""
    effort: Literal["", "reasoning_effort", "reasoning", "thinking"] = ""
    """Where the effort goes: nowhere, by its own name, into an object; or by its own name, but for none at
    all, which is another switch."""
    prefix: bool = False
    """A prefill must be marked as one."""
    whole_json: bool = False
    """It does not stream an answer that must be JSON."""
    thoughts: Literal["", "reasoning_content", "reasoning_details"] = ""
    """As what the thoughts behind a call of a tool go back with it, where that is wanted."""


PLAIN = Accent()
OPENAI = Accent(most="max_completion_tokens", effort="reasoning_effort")
MISTRAL = Accent(seed="random_seed", figures=False, effort="reasoning_effort", prefix=True)
GROQ = Accent(most="max_completion_tokens", effort="reasoning_effort", whole_json=True)
OPENROUTER = Accent(figures=False, effort="reasoning", thoughts="reasoning_details")
DEEPSEEK = Accent(seed="", effort="thinking", thoughts="reasoning_content")
XAI = Accent(most="max_completion_tokens", effort="reasoning_effort")
CEREBRAS = Accent(most="max_completion_tokens", effort="reasoning_effort", whole_json=True)
OLLAMA = LMSTUDIO = VLLM = Accent(effort="reasoning_effort")

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
    shape = _shape(request, traits)
    stream = not (shape and accent.whole_json)
    said: dict[str, Any] = {
        "model": request.model.name,
        "messages": _messages(accent, request, traits.prefill),
        accent.most: request.max_tokens,
        "stream": stream,
        **shape,
        **_effort(accent, request, traits),
    }
    if accent.figures and stream:
        said["stream_options"] = {"include_usage": True}
    if request.model.verbosity and traits.verbosity:
        said["verbosity"] = request.model.verbosity
    if traits.sampling:
        said |= _sampling(accent, request)
    if request.tools:
        said["tools"] = [_tool(tool) for tool in request.tools]
        if request.enough:
            # Some who pass the request on would refuse an exchange that speaks of tools without any.
            said["tool_choice"] = "none"
    return said


def _tool(tool: Tool) -> dict[str, Any]:
    told = {"name": tool.name, "description": tool.description, "parameters": parameters(tool)}
    return {"type": "function", "function": told}


def _shape(request: Request, traits: Traits) -> dict[str, Any]:
    if request.schema is None or traits.schema == "words":
        return {}
    if traits.schema == "json":
        return {"response_format": {"type": "json_object"}}
    named = {"name": "reply", "strict": True, "schema": request.schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _effort(accent: Accent, request: Request, traits: Traits) -> dict[str, Any]:
    effort = request.model.effort
    if effort not in traits.efforts or not accent.effort:
        return {}
    if accent.effort == "reasoning":
        return {"reasoning": {"effort": effort}}
    if accent.effort == "thinking" and effort == "none":
        return {"thinking": {"type": "disabled"}}
    return {"reasoning_effort": effort}


def _sampling(accent: Accent, request: Request) -> dict[str, Any]:
    """Models that refuse a temperature refuse a stop as well."""
    said: dict[str, Any] = {}
    seed = request.seed if request.seed is not None else request.model.seed
    if request.model.temperature is not None:
        said["temperature"] = request.model.temperature
    if seed is not None and accent.seed:
        said[accent.seed] = seed
    if request.stop:
        said["stop"] = list(request.stop)
    return said


def _messages(accent: Accent, request: Request, prefill: bool) -> list[dict[str, Any]]:
    messages = request.messages
    prefill = prefill and bool(request.prefill)
    if prefill:
        messages = (*messages, Message("assistant", request.prefill))
    system = [("system", request.instructions)] if request.instructions else []
    # Some chat templates refuse two messages of one role in a row.
    turns = [*system, *quirks.alternating(messages)]
    said: list[dict[str, Any]] = [{"role": role, "content": words} for role, words in turns]
    if prefill and accent.prefix:
        said[-1]["prefix"] = True
    for step in steps(request.exchange):
        said.append(_reply(accent, step.said))
        said += [
            {"role": "tool", "tool_call_id": call.id, "content": result.output} for call, result in step.given
        ]
    return said


def _reply(accent: Accent, parts: list[Segment]) -> dict[str, Any]:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    said: dict[str, Any] = {"role": "assistant", "content": text}
    if calls := [part for part in parts if isinstance(part, ToolCall) and part.asks]:
        said["tool_calls"] = [_call(call) for call in calls]
    thoughts = [part for part in parts if isinstance(part, Reasoning)]
    if accent.thoughts == "reasoning_content" and thoughts:
        said["reasoning_content"] = "".join(thought.text for thought in thoughts)
    if accent.thoughts == "reasoning_details" and (told := list(_details(thoughts))):
        said["reasoning_details"] = told
    return said


def _call(call: ToolCall) -> dict[str, Any]:
    # Some servers read the arguments before their model does.
    asked = msgspec.json.encode(arguments(call)).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": asked}}


def _details(thoughts: list[Reasoning]) -> Iterator[dict[str, Any]]:
    """As they came: a signature is kept without the words it is for."""
    for thought in thoughts:
        for detail in objects(loosely(thought.opaque.encode())):
            signed = "signature" in detail
            yield {**detail, "text": thought.text} if signed else detail


def decoder(request: Request, traits: Traits) -> Decoder:
    return Decoder(request.prefill if traits.prefill else "")


def family(accent: Accent = PLAIN) -> Family:
    return Family("openai_chat", url, bearer, partial(body, accent), decoder)
