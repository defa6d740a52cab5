"""Whatever stands where something else should be, a reply is read or refused: nothing else is ever raised."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from moot.core.errors import Fault
from moot.core.terms import ChatMessage, Model, Request
from moot.providers.contract import Traits
from moot.providers.wire_formats import (
    anthropic_request,
    google_request,
    openai_chat_request,
    openai_responses_request,
)
from moot.providers.wire_formats.contract import WireFormat

Told = dict[str, Any]
Path = tuple[str | int, ...]

ASK = Request(Model("p", "m"), "Argue.", (ChatMessage("user", "Go."),), max_tokens=50)
ODD = (None, True, -1, 10**12, 2**70, 1.5, "", "x", "</think>", [], [1], [[]], [None], [{}], {}, {"a": 1})


def chat(**delta: Any) -> Told:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


CALL = {"index": 0, "id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
RAN = {"index": 0, "type": "search", "arguments": "{}", "output": "o", "search_results": {"results": []}}
THOUGHT = {"type": "reasoning.text", "text": "Hm", "signature": "s", "index": 0}
COUNTED = {
    "prompt_tokens": 3,
    "completion_tokens": 2,
    "total_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 1},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
CHAT: list[Told] = [
    chat(role="assistant", content="", reasoning_details=[THOUGHT]),
    chat(reasoning="Hm.", reasoning_content="Hm."),
    chat(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "So"}]}, {"type": "reference"}]),
    chat(content="Zo", refusal="No", annotations=[{"type": "url_citation"}]),
    chat(tool_calls=[CALL], function_call={"name": "look", "arguments": "{}"}, executed_tools=[RAN]),
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": COUNTED},
    {"choices": [], "x_groq": {"id": "x", "usage": COUNTED}},
    {"model": "m", "message": {"role": "assistant", "content": "Zo", "thinking": "Hm"}, "done": False},
    {"response": "Zo", "done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 2},
]
BROKEN: list[Told] = [
    chat(content="Zo"),
    {"error": {"code": 429, "message": "m", "metadata": {"raw": "r"}, "details": [{"retryDelay": "4s"}]}},
]


def respond(*events: tuple[str, Told]) -> list[Told]:
    return [
        {"type": f"response.{name}", "sequence_number": number, "output_index": 0, "item_id": "i", **told}
        for number, (name, told) in enumerate(events)
    ]


TEXT = {"type": "output_text", "text": "Zo", "annotations": [{"type": "url_citation"}]}
MESSAGE = {"type": "message", "id": "i", "content": [TEXT], "phase": "final_answer"}
MIND = {
    "type": "reasoning",
    "id": "r",
    "summary": [{"type": "summary_text", "text": "Hm"}],
    "content": [{"type": "reasoning_text", "text": "So"}],
    "encrypted_content": "s",
}
TOOL = {"type": "function_call", "id": "f", "call_id": "a", "name": "look", "arguments": "{}", "status": "s"}
WHOLE = {
    "id": "resp",
    "model": "m",
    "status": "completed",
    "store": True,
    "reasoning": {"effort": "low"},
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [MIND, MESSAGE, TOOL],
    "usage": {
        "input_tokens": 3,
        "output_tokens": 2,
        "input_tokens_details": {"cached_tokens": 1},
        "output_tokens_details": {"reasoning_tokens": 1},
    },
}
RESPONSES = respond(
    ("created", {"response": WHOLE}),
    ("output_item.added", {"item": MIND}),
    ("reasoning_summary_part.added", {"summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
    ("reasoning_summary_text.delta", {"summary_index": 0, "delta": "Hm"}),
    ("reasoning_summary_text.done", {"summary_index": 0, "text": "Hm"}),
    ("reasoning_text.delta", {"content_index": 0, "delta": "So"}),
    ("output_item.done", {"item": MIND}),
    ("output_item.added", {"output_index": 1, "item": MESSAGE}),
    ("output_text.delta", {"output_index": 1, "content_index": 0, "delta": "Zo"}),
    ("output_text.annotation.added", {"output_index": 1, "annotation": {"type": "url_citation"}}),
    ("content_part.done", {"output_index": 1, "content_index": 0, "part": TEXT}),
    ("output_item.done", {"output_index": 1, "item": MESSAGE}),
    ("output_item.added", {"output_index": 2, "item": TOOL}),
    ("function_call_arguments.delta", {"output_index": 2, "delta": "{}"}),
    ("completed", {"response": WHOLE}),
)
CUT_SHORT = respond(
    ("output_text.delta", {"content_index": 0, "delta": "Zo"}),
    ("incomplete", {"response": {**WHOLE, "status": "incomplete"}}),
)
FAILED = respond(("failed", {"response": {"id": "r", "error": {"code": "c", "message": "m"}}}))

FIGURES = {"input_tokens": 3, "output_tokens": 1, "output_tokens_details": {"thinking_tokens": 1}}


def block(index: int, given: Told, *deltas: Told) -> list[Told]:
    return [
        {"type": "content_block_start", "index": index, "content_block": given},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


ANTHROPIC: list[Told] = [
    {"type": "message_start", "message": {"id": "m", "model": "m", "content": [], "usage": FIGURES}},
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Hm"},
        {"type": "signature_delta", "signature": "s"},
    ),
    *block(1, {"type": "redacted_thinking", "data": "x"}),
    *block(
        2,
        {"type": "text", "text": "", "citations": [{"type": "c"}]},
        {"type": "text_delta", "text": "Zo"},
        {"type": "citations_delta", "citation": {"type": "c"}},
    ),
    *block(
        3,
        {"type": "tool_use", "id": "t", "name": "look", "input": {}},
        {"type": "input_json_delta", "partial_json": "{}"},
    ),
    *block(
        4,
        {
            "type": "web_search_tool_result",
            "tool_use_id": "t",
            "content": {"error_code": "e"},
            "is_error": True,
        },
    ),
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": FIGURES},
    {"type": "message_stop"},
]
ANSWERED: list[Told] = [
    {
        "type": "message",
        "id": "m",
        "model": "m",
        "content": [{"type": "text", "text": "Zo"}, {"type": "thinking", "thinking": "Hm", "signature": "s"}],
        "stop_reason": "end_turn",
        "usage": FIGURES,
    }
]
OVERLOADED: list[Told] = [{"type": "error", "error": {"type": "overloaded_error", "message": "m"}}]

PARTS: list[Told] = [
    {"text": "Hm", "thought": True, "thoughtSignature": "s"},
    {"text": "Zo"},
    {"functionCall": {"id": "i", "name": "look", "args": {"a": 1}}, "thoughtSignature": "s"},
    {"executableCode": {"language": "PYTHON", "code": "1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
    {"toolCall": {"toolType": "SEARCH", "args": {}}},
    {"toolResponse": {"id": "i", "response": {"a": 1}}},
]
ENDED = {
    "content": {"parts": [{"text": ""}], "role": "model"},
    "finishReason": "STOP",
    "index": 0,
    "groundingMetadata": {"chunks": [1]},
    "citationMetadata": {"sources": [1]},
}
METERED = {"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 1, "totalTokenCount": 6}
GOOGLE: list[Told] = [
    {"candidates": [{"content": {"parts": PARTS}}], "usageMetadata": METERED, "responseId": "g"},
    {"candidates": [ENDED], "usageMetadata": METERED, "modelVersion": "m"},
]
BLOCKED: list[Told] = [{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": METERED}]

REPLIES: dict[str, tuple[WireFormat, list[Told]]] = {
    "chat": (openai_chat_request.wire_format(), CHAT),
    "chat, broken": (openai_chat_request.wire_format(), BROKEN),
    "responses": (openai_responses_request.WIRE_FORMAT, RESPONSES),
    "responses, cut short": (openai_responses_request.WIRE_FORMAT, CUT_SHORT),
    "responses, failed": (openai_responses_request.WIRE_FORMAT, FAILED),
    "anthropic": (anthropic_request.WIRE_FORMAT, ANTHROPIC),
    "anthropic, at once": (anthropic_request.WIRE_FORMAT, ANSWERED),
    "anthropic, broken": (anthropic_request.WIRE_FORMAT, OVERLOADED),
    "google": (google_request.WIRE_FORMAT, GOOGLE),
    "google, blocked": (google_request.WIRE_FORMAT, BLOCKED),
}


def paths(told: Any, here: Path = ()) -> Iterator[Path]:
    """To everything that stands anywhere in it."""
    yield here
    members = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for name, value in members:
        yield from paths(value, (*here, name))


def changed(reply: list[Told], path: Path, odd: Any) -> list[Any]:
    reply = copy.deepcopy(reply)
    place: Any = reply
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = odd
    return reply


def read(wire_format: WireFormat, reply: list[Any]) -> None:
    """To the end, or to a Fault; all that is heard can be written down."""
    decoder = wire_format.decoder(ASK, Traits(thinks=True))
    stream = b"".join(b"data: " + json.dumps(told).encode() + b"\n\n" for told in reply)
    with suppress(Fault):
        msgspec.json.encode([*decoder.feed(stream), *decoder.end()])
    msgspec.json.encode(decoder.usage)


@pytest.mark.parametrize("name", REPLIES)
def test_nothing_but_a_fault_is_raised_whatever_stands_where_something_else_should(name: str) -> None:
    wire_format, reply = REPLIES[name]
    for path in [*paths(reply)][1:]:
        for odd in ODD:
            read(wire_format, changed(reply, path, odd))


@pytest.mark.parametrize("name", ["chat", "responses", "anthropic", "google"])
def test_a_reply_is_read_that_has_everything_in_its_place(name: str) -> None:
    wire_format, reply = REPLIES[name]
    decoder = wire_format.decoder(ASK, Traits())
    for told in reply:
        decoder.feed(b"data: " + json.dumps(told).encode() + b"\n\n")
    assert decoder.end()[-1]
    assert decoder.usage is not None
