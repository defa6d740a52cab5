"""One reply in every wire format: the stream that a service would send for this answer of a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from moot.core.terms import FinishReason
from moot.testing.provider_contract import CALL, Reply

OVERLOADED = {"type": "overloaded_error", "code": "overloaded", "message": "The engine is overloaded"}
ARGUMENTS = CALL.arguments


def _event(told: dict[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(told)}\n\n".encode()


# --- chat completions ---------------------------------------------------------------------------------

CHAT: dict[FinishReason, str] = {"filter": "content_filter", "tool": "tool_calls", "refusal": "stop"}


def chat(reply: Reply) -> Iterator[bytes]:
    def says(finish: str | None = None, **delta: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({"id": "c1", "model": "m-1", "choices": [choice]})

    yield says(role="assistant", content="")
    yield from (says(reasoning=thought) for thought in reply.thoughts)
    yield from (says(content=word) for word in reply.words)
    if reply.refusal:
        yield says(refusal=reply.refusal)
    if reply.call:
        whole = {"name": "look", "arguments": ARGUMENTS}
        yield says(tool_calls=[{"index": 0, "id": "t1", "type": "function", "function": whole}])
    if reply.fails:
        yield from [_event({"error": OVERLOADED})] * (reply.fails == "overloaded")
        return
    yield says(CHAT.get(reply.finish, reply.finish))
    if reply.usage:
        yield _event({"id": "c1", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}})
    yield b"data: [DONE]\n\n"


# --- responses ----------------------------------------------------------------------------------------


def responses(reply: Reply) -> Iterator[bytes]:
    response: dict[str, Any] = {"id": "r1", "object": "response", "model": "m-1", "store": True}
    for number, (name, told) in enumerate(_responded(reply, response)):
        named = name if name == "error" else f"response.{name}"
        yield _event({"type": named, "sequence_number": number, **told}, named)


def _responded(reply: Reply, response: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "created", {"response": {**response, "status": "in_progress", "output": []}}
    output: list[dict[str, Any]] = []
    for item, deltas in _items(reply):
        place = {"output_index": len(output), "item_id": item["id"], "content_index": 0, "summary_index": 0}
        yield "output_item.added", {**place, "item": {**item, "content": [], "summary": [], "arguments": ""}}
        for name, delta in deltas:
            yield name, {**place, "delta": delta}
        if not reply.fails:
            yield "output_item.done", {**place, "item": item}
        output.append(item)
    if reply.fails == "overloaded":
        yield "error", {"error": OVERLOADED}
        yield "failed", {"response": {**response, "status": "failed", "error": OVERLOADED}}
    if reply.fails:
        return
    cut = {"length": "max_output_tokens", "filter": "content_filter"}.get(reply.finish)
    status = "incomplete" if cut else "completed"
    usage = {"input_tokens": 9, "output_tokens": 4} if reply.usage else None
    last = {"status": status, "incomplete_details": {"reason": cut}, "output": output, "usage": usage}
    yield status, {"response": {**response, **last}}


def _items(reply: Reply) -> Iterator[tuple[dict[str, Any], list[tuple[str, str]]]]:
    if reply.thoughts:
        thought = {"type": "summary_text", "text": "".join(reply.thoughts)}
        deltas = [("reasoning_summary_text.delta", part) for part in reply.thoughts]
        yield {"type": "reasoning", "id": "rs1", "summary": [thought]}, deltas
    if reply.words:
        said = {"type": "output_text", "text": "".join(reply.words), "annotations": []}
        deltas = [("output_text.delta", word) for word in reply.words]
        yield {"type": "message", "id": "m1", "role": "assistant", "content": [said]}, deltas
    if reply.refusal:
        said = {"type": "refusal", "refusal": reply.refusal}
        deltas = [("refusal.delta", reply.refusal)]
        yield {"type": "message", "id": "m2", "role": "assistant", "content": [said]}, deltas
    if reply.call:
        call = {"type": "function_call", "id": "fc1", "call_id": "t1", "name": "look", "arguments": ARGUMENTS}
        yield call, [("function_call_arguments.delta", ARGUMENTS)]


# --- anthropic ----------------------------------------------------------------------------------------

STOPS: dict[FinishReason, str] = {"stop": "end_turn", "length": "max_tokens", "tool": "tool_use"}


def anthropic(reply: Reply) -> Iterator[bytes]:
    return (_event({"type": name, **told}, name) for name, told in _blocks(reply))


def _blocks(reply: Reply) -> Iterator[tuple[str, dict[str, Any]]]:
    message: dict[str, Any] = {"id": "m1", "type": "message", "model": "m-1", "content": []}
    if reply.usage:
        message["usage"] = {"input_tokens": 9, "output_tokens": 1}
    yield "message_start", {"message": message}
    yield "ping", {}
    for index, (block, deltas) in enumerate(_contents(reply)):
        yield "content_block_start", {"index": index, "content_block": block}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        if not reply.fails:
            yield "content_block_stop", {"index": index}
    if reply.fails:
        yield from [("error", {"error": OVERLOADED})] * (reply.fails == "overloaded")
        return
    stop = {"delta": {"stop_reason": STOPS.get(reply.finish, reply.finish)}}
    yield "message_delta", {**stop, **({"usage": {"output_tokens": 4}} if reply.usage else {})}
    yield "message_stop", {}


def _contents(reply: Reply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    if reply.thoughts:
        thoughts = [{"type": "thinking_delta", "thinking": thought} for thought in reply.thoughts]
        signature = {"type": "signature_delta", "signature": "s1"}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signature]
    if reply.words:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": word} for word in reply.words]
    if reply.call:
        pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", ARGUMENTS)]
        yield {"type": "tool_use", "id": "t1", "name": "look", "input": {}}, pieces


# --- google -------------------------------------------------------------------------------------------

REASONS: dict[FinishReason, str] = {"length": "MAX_TOKENS", "filter": "SAFETY"}


def google(reply: Reply) -> Iterator[bytes]:
    def chunk(part: dict[str, Any], **more: Any) -> bytes:
        content = {"role": "model", "parts": [part]}
        figures = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}
        told: dict[str, Any] = {"candidates": [{"index": 0, "content": content, **more}], "responseId": "g1"}
        if reply.usage:
            told["usageMetadata"] = figures
        return _event({**told, "modelVersion": "m-1"}).replace(b"\n", b"\r\n")

    yield from (chunk({"text": thought, "thought": True}) for thought in reply.thoughts)
    yield from (chunk({"text": word}) for word in reply.words)
    if reply.call:
        yield chunk({"functionCall": {"id": "t1", "name": "look", "args": json.loads(ARGUMENTS)}})
    if reply.fails:
        told = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}}
        yield from [_event(told)] * (reply.fails == "overloaded")
        return
    yield chunk({"text": ""}, finishReason=REASONS.get(reply.finish, "STOP"))
