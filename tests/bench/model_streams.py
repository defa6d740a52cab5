"""A long reply as each family of services streams it, including the members that real services send along."""

from __future__ import annotations

import json
from typing import Any

TOKENS = 2000
WORD = " word"


def _event(data: dict[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def chat(words: int) -> bytes:
    base: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "service_tier": "default",
        "system_fingerprint": None,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**base, "choices": [choice], "usage": None, "obfuscation": "aB3xK9"})

    usage = {"prompt_tokens": 10, "completion_tokens": words, "total_tokens": words + 10}
    return b"".join(
        [
            chunk({"role": "assistant", "content": "", "refusal": None}),
            *[chunk({"content": WORD})] * words,
            chunk({}, "stop"),
            _event({**base, "choices": [], "usage": usage}),
            b"data: [DONE]\n\n",
        ]
    )


def _responses() -> bytes:
    response: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
        "metadata": {},
    }
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": WORD * TOKENS}
    item = {"id": "msg_1", "type": "message", "status": "completed", "content": [part], "role": "assistant"}
    position = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": TOKENS + 10,
    }
    delta = {**position, "delta": WORD, "logprobs": [], "obfuscation": "aB3xK9qLm"}
    events: list[tuple[str, dict[str, Any]]] = [
        ("created", {"response": response}),
        ("in_progress", {"response": response}),
        ("output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}}),
        ("content_part.added", {**position, "part": {**part, "text": ""}}),
        *[("output_text.delta", delta)] * TOKENS,
        ("output_text.done", {**position, "text": WORD * TOKENS, "logprobs": []}),
        ("content_part.done", {**position, "part": part}),
        ("output_item.done", {"output_index": 0, "item": item}),
        ("completed", {"response": {**response, "status": "completed", "output": [item], "usage": usage}}),
    ]
    return b"".join(
        _event({"type": f"response.{name}", "sequence_number": number, **data}, f"response.{name}")
        for number, (name, data) in enumerate(events)
    )


def _anthropic() -> bytes:
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
        "service_tier": "standard",
    }
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *[{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": WORD}}]
        * TOKENS,
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": TOKENS},
        },
        {"type": "message_stop"},
    ]
    return b"".join(_event(event, event["type"]) for event in events)


def _google() -> bytes:
    def chunk(text: str, finish: str | None = None) -> bytes:
        candidate: dict[str, Any] = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        usage = {
            "promptTokenCount": 10,
            "candidatesTokenCount": TOKENS,
            "totalTokenCount": TOKENS + 10,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
        }
        return _event(
            {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r1"}
        )

    return chunk(WORD) * (TOKENS - 1) + chunk(WORD, "STOP")


STREAMS = {"chat": chat(TOKENS), "responses": _responses(), "anthropic": _anthropic(), "google": _google()}
