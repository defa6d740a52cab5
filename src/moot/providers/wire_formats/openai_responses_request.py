"""Requests in the Responses format of OpenAI, which xAI, DeepSeek, LM Studio and OpenRouter accept too.

If the service stores responses, a request names the seat's last one and sends only what is new, and the
instructions, which are not stored. If not, it sends the whole history, with the model's earlier thoughts as
the service encrypted them. A speech that continues after tool calls names the response that made them and
sends the results; if nothing is stored, everything of the speech so far.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moot.core.terms import (
    ChatMessage,
    EncryptedReasoning,
    HostedTool,
    Reasoning,
    Request,
    Segment,
    Text,
    Tool,
    ToolCall,
)
from moot.providers.contract import Traits
from moot.providers.wire_formats.contract import WireFormat, bearer
from moot.providers.wire_formats.openai_responses_decoder import ResponsesDecoder
from moot.providers.wire_formats.request_parts import ExchangeStep, exchange_steps, parameter_schema

CUSTOM_CALL = "custom_tool_call"
"""A call whose input is free text, not JSON; the service matches results to calls by type and id."""
HOSTED: dict[HostedTool, dict[str, Any]] = {
    "web_search": {"type": "web_search"},
    "code": {"type": "code_interpreter", "container": {"type": "auto"}},
}


def url(base: str, _model: str) -> str:
    return f"{base}/responses"


def body(request: Request, traits: Traits) -> dict[str, Any]:
    """Without seed and stop sequences: this API refuses them."""
    chain = request.previous_response_id if traits.chaining else None
    payload: dict[str, Any] = {
        "model": request.model.name,
        "instructions": request.instructions,
        "input": _new_input(request) if chain else _full_input(request, traits),
        "max_output_tokens": request.max_tokens,
        "store": traits.chaining,
        "stream": True,
    }
    if chain:
        payload["previous_response_id"] = chain
    if traits.thinks:
        payload["reasoning"] = _reasoning(request, traits)
        # Even if responses are stored: should the service lose them, the thoughts are not lost.
        payload["include"] = ["reasoning.encrypted_content"]
    if text := _text(request, traits):
        payload["text"] = text
    if request.model.temperature is not None and traits.sampling:
        payload["temperature"] = request.model.temperature
    if request.model.service_tier in traits.service_tiers:
        payload["service_tier"] = request.model.service_tier
    if tools := [*map(_tool, request.tools), *(HOSTED[name] for name in request.hosted)]:
        payload["tools"] = tools
        if request.enough:
            payload["tool_choice"] = "none"
    return payload


def _full_input(request: Request, traits: Traits) -> list[dict[str, Any]]:
    history = _history(request.messages, sealed=traits.thinks)
    return history + _exchange(request.exchange, sealed=traits.thinks)


def _new_input(request: Request) -> list[dict[str, Any]]:
    if request.resumes:
        return [item for step in exchange_steps(request.exchange)[-1:] for item in _tool_outputs(step)]
    fresh = _history(request.fresh or request.messages[-1:], sealed=False)
    return fresh + _exchange(request.exchange, sealed=True)


def _tool(tool: Tool) -> dict[str, Any]:
    # The default, strict, refuses most schemas that were not written for it.
    function = {"name": tool.name, "description": tool.description, "parameters": parameter_schema(tool)}
    return {"type": "function", **function, "strict": False}


def _exchange(exchange: Iterable[Segment], *, sealed: bool) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for step in exchange_steps(exchange):
        for index, part in enumerate(step.segments):
            match part:
                case Text() if part.text.strip():
                    items.append(_message_item(part))
                case Reasoning() if part.phase:
                    items.append(_message_item(part))
                case ToolCall() if part.needs_answer:
                    items.append(_call_item(part))
                case Reasoning() if (
                    sealed and part.opaque and part.item_id and _has_follow_up(step.segments[index + 1 :])
                ):
                    items.append(_reasoning_item(EncryptedReasoning(part.item_id, part.opaque)))
                case _:
                    pass
        items += _tool_outputs(step)
    return items


def _message_item(part: Text | Reasoning) -> dict[str, Any]:
    # A model that marks its messages does worse if the marks are not sent back.
    return {"role": "assistant", "content": part.text, **({"phase": part.phase} if part.phase else {})}


def _has_follow_up(later: list[Segment]) -> bool:
    """A thought is refused without the item that followed it, and calls of hosted tools are not sent back."""
    return bool(later) and not (isinstance(later[0], ToolCall) and not later[0].needs_answer)


def _call_item(call: ToolCall) -> dict[str, Any]:
    item = {"call_id": call.id, "name": call.name}
    if call.kind == CUSTOM_CALL:
        return {"type": CUSTOM_CALL, **item, "input": call.arguments}
    return {"type": "function_call", **item, "arguments": call.arguments or "{}"}


def _tool_outputs(step: ExchangeStep) -> list[dict[str, Any]]:
    return [
        {"type": f"{_call_item(call)['type']}_output", "call_id": call.id, "output": result.output}
        for call, result in step.results
    ]


def _history(messages: Iterable[ChatMessage], *, sealed: bool) -> list[dict[str, Any]]:
    """Each message after the thoughts that led to it."""
    items: list[dict[str, Any]] = []
    for message in messages:
        if sealed:
            items += map(_reasoning_item, message.sealed)
        items.append({"role": message.role, "content": message.content})
    return items


def _reasoning_item(sealed: EncryptedReasoning) -> dict[str, Any]:
    # The encryption is bound to the item's id; a summary must be present, and may be empty.
    return {"type": "reasoning", "id": sealed.item_id, "summary": [], "encrypted_content": sealed.data}


def _reasoning(request: Request, traits: Traits) -> dict[str, Any]:
    effort = request.model.effort
    summary = {"summary": "auto"} if request.thoughts else {}
    return {**summary, **({"effort": effort} if effort in traits.efforts else {})}


def _text(request: Request, traits: Traits) -> dict[str, Any]:
    text: dict[str, Any] = {}
    if traits.verbosity and request.model.verbosity is not None:
        text["verbosity"] = request.model.verbosity
    if request.schema is not None and traits.schema == "strict":
        text["format"] = {"type": "json_schema", "name": "reply", "strict": True, "schema": request.schema}
    elif request.schema is not None and traits.schema == "json":
        text["format"] = {"type": "json_object"}
    return text


def decoder(request: Request, traits: Traits) -> ResponsesDecoder:
    has_spoken = any(message.role == "assistant" for message in request.messages)
    return ResponsesDecoder(unchained=traits.chaining and has_spoken and not request.previous_response_id)


WIRE_FORMAT = WireFormat("openai_responses", url, bearer, body, decoder)
