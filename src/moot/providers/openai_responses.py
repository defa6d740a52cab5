"""The Responses dialect of OpenAI, spoken by xAI, DeepSeek, LM Studio and OpenRouter too: what we send.

Where the service remembers, a request names the seat's own last response and brings only what is new; the
instructions go out each time, because they are not remembered. Where it does not, the whole history goes
out, with the model's earlier thoughts as the service sealed them. How the answer is read stands in
`responses_stream.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moot.providers.contract import Traits
from moot.providers.family import Family, bearer
from moot.providers.responses_stream import Decoder
from moot.terms import Message, Request, Sealed

__all__ = ["FAMILY", "Decoder", "body", "decoder"]


def url(base: str, _model: str) -> str:
    return f"{base}/responses"


def body(request: Request, traits: Traits) -> dict[str, Any]:
    """This API knows no seed and no stop words, and refuses a request that has them."""
    chain = request.previous_response_id if traits.chaining else None
    said: dict[str, Any] = {
        "model": request.model.name,
        "instructions": request.instructions,
        "input": _fresh(request) if chain else _history(request.messages, sealed=traits.thinks),
        "max_output_tokens": request.max_tokens,
        "store": traits.chaining,
        "stream": True,
    }
    if chain:
        said["previous_response_id"] = chain
    if traits.thinks:
        said["reasoning"] = _reasoning(request, traits)
        # Also where the service remembers: should it forget, the thoughts are not lost with the chain.
        said["include"] = ["reasoning.encrypted_content"]
    if text := _text(request, traits):
        said["text"] = text
    if request.model.temperature is not None and traits.sampling:
        said["temperature"] = request.model.temperature
    return said


def _fresh(request: Request) -> list[dict[str, Any]]:
    return _history(request.fresh or request.messages[-1:], sealed=False)


def _history(messages: Iterable[Message], *, sealed: bool) -> list[dict[str, Any]]:
    """What was thought stands before what was said."""
    items: list[dict[str, Any]] = []
    for message in messages:
        if sealed:
            items += map(_thought, message.sealed)
        items.append({"role": message.role, "content": message.content})
    return items


def _thought(sealed: Sealed) -> dict[str, Any]:
    # The seal is checked against the item's own id; a summary must be there, and may be empty.
    return {"type": "reasoning", "id": sealed.item_id, "summary": [], "encrypted_content": sealed.data}


def _reasoning(request: Request, traits: Traits) -> dict[str, Any]:
    effort = request.model.effort
    shown = {"summary": "auto"} if request.thoughts else {}
    return {**shown, **({"effort": effort} if effort in traits.efforts else {})}


def _text(request: Request, traits: Traits) -> dict[str, Any]:
    text: dict[str, Any] = {}
    if traits.verbosity and request.model.verbosity is not None:
        text["verbosity"] = request.model.verbosity
    if request.schema is not None and traits.schema == "strict":
        text["format"] = {"type": "json_schema", "name": "reply", "strict": True, "schema": request.schema}
    elif request.schema is not None and traits.schema == "json":
        text["format"] = {"type": "json_object"}
    return text


def decoder(request: Request, traits: Traits) -> Decoder:
    spoken = any(message.role == "assistant" for message in request.messages)
    return Decoder(unchained=traits.chaining and spoken and not request.previous_response_id)


FAMILY = Family("openai_responses", url, bearer, body, decoder)
