"""Events that repeat the last one with other words are read without a JSON decoder, to the same effect."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from moot.core.terms import ChatMessage, Model, Request
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta, Traits
from moot.providers.wire_formats import (
    anthropic_request,
    contract,
    google_request,
    openai_chat_request,
    openai_responses_request,
)
from moot.providers.wire_formats.contract import Decoder, WireFormat

WORDS = [
    " word",
    " naïve",
    " 火",
    ' "quoted"',
    "\n\n",
    " back\\slash",
    " <b>",
    "",
    " </think>",
    "data: ",
    "🙂",
]
REQUEST = Request(Model("service", "m"), "Argue.", (ChatMessage("user", "Go."),), 4096)
WIRE_FORMATS: dict[str, WireFormat] = {
    "chat": openai_chat_request.wire_format(),
    "anthropic": anthropic_request.WIRE_FORMAT,
    "google": google_request.WIRE_FORMAT,
    "responses": openai_responses_request.WIRE_FORMAT,
}
PADDING = "aB3xK9qLm"


def _chat(words: list[str]) -> list[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        padding = PADDING[len(str(delta)) % 9 :]
        return {"id": "c1", "model": "m", "choices": choices, "obfuscation": padding}

    thoughts = [chunk({"content": None, "reasoning_content": word}) for word in words[:20]]
    tools = [chunk({"content": "x", "tool_calls": [{"index": 0, "function": {"arguments": "a"}}]})] * 2
    return [*thoughts, *[chunk({"content": word}) for word in words], *tools, chunk({}, "stop")]


def _anthropic(words: list[str]) -> list[dict[str, Any]]:
    def block(index: int, kind: str) -> list[dict[str, Any]]:
        deltas = [{"type": f"{kind}_delta", kind: word} for word in words]
        return [
            {"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}},
            *[{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas],
            {"type": "content_block_stop", "index": index},
        ]

    start = {"type": "message_start", "message": {"id": "m1", "model": "m"}}
    stop = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    return [start, *block(0, "thinking"), *block(1, "text"), *stop]


def _google(words: list[str]) -> list[dict[str, Any]]:
    def chunk(**part: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [part]}}], "usageMetadata": {"promptTokenCount": 1}}

    signed = [chunk(text="x", thoughtSignature="s")] * 2
    end = {"candidates": [{"content": {"parts": [{"text": "."}]}, "finishReason": "STOP"}]}
    thoughts = [chunk(text=word, thought=True) for word in words[:20]]
    return [*thoughts, *[chunk(text=word) for word in words], *signed, end]


def _responses(words: list[str]) -> list[dict[str, Any]]:
    def deltas(kind: str, at: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"type": kind, **at, "delta": word, "obfuscation": PADDING[len(word) :]} for word in words]

    thoughts = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
    speech = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r1", "model": "m"}},
        *deltas("response.reasoning_summary_text.delta", thoughts),
        *deltas("response.output_text.delta", speech),
        {"type": "response.completed", "response": {"id": "r1", "model": "m", "output": []}},
    ]
    numbered: list[dict[str, Any]] = [
        {"sequence_number": number, **event} for number, event in enumerate(events)
    ]
    # One event comes twice, and one is numbered as if another had been lost.
    for event in numbered[250:]:
        event["sequence_number"] += 1
    return [*numbered[:100], numbered[99], *numbered[100:]]


STREAMS = {"chat": _chat, "anthropic": _anthropic, "google": _google, "responses": _responses}


def _stream(name: str, seed: int) -> bytes:
    dice = random.Random(seed)
    words = [dice.choice(WORDS) if dice.random() < 0.2 else f" w{number}" for number in range(200)]
    separators = dice.choice([(",", ":"), (", ", ": ")])
    as_ascii = dice.random() < 0.5
    parts: list[str] = []
    for event in STREAMS[name](words):
        header = f"event: {event['type']}\n" if "type" in event else ""
        parts.append(f"{header}data: {json.dumps(event, separators=separators, ensure_ascii=as_ascii)}\n\n")
    return "".join(parts).encode()


def _read(decoder: Decoder, stream: bytes, cuts: list[int]) -> list[Chunk]:
    """All chunks, with the words of a segment that follow one another as one."""
    packets = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    merged: list[Chunk] = []
    for chunk in [*(chunk for packet in packets for chunk in decoder.feed(packet)), *decoder.end()]:
        last = merged[-1] if merged else None
        match chunk, last:
            case KeepAlive(), _:
                continue
            case ReplyDelta(), ReplyDelta() if (chunk.kind, chunk.segment) == (last.kind, last.segment):
                merged[-1] = ReplyDelta(last.text + chunk.text, last.kind, last.segment, last.part)
            case _:
                merged.append(chunk)
    return merged


@pytest.mark.parametrize("name", WIRE_FORMATS)
def test_any_cut_reads_the_same_as_one_event_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wire_format = WIRE_FORMATS[name]
    for seed in range(12):
        stream, dice = _stream(name, seed), random.Random(seed)
        cuts = sorted(dice.sample(range(1, len(stream)), dice.choice([3, 40, 150])))
        with monkeypatch.context() as patched:
            patched.setattr(contract, "MAX_MISSES", 0)
            expected = _read(wire_format.decoder(REQUEST, Traits()), stream, [])
        assert _read(wire_format.decoder(REQUEST, Traits()), stream, cuts) == expected, seed


def test_a_character_that_is_cut_between_two_events_is_joined() -> None:
    event = b'data: {"id": "c1", "model": "m", "choices": [{"delta": {"content": "%b"}}]}\n\n'
    decoder = openai_chat_request.wire_format().decoder(REQUEST, Traits())
    decoder.feed(event % b"one")
    decoder.feed(event % b" two")
    chunks = decoder.feed(event % b"\xe7\x81" + event % b"\xab")
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta)) == "火"


def test_a_reply_whose_events_all_differ_is_soon_no_longer_looked_at() -> None:
    event = 'data: {"id": "c1", "model": "m", "padding": %d, "choices": [{"delta": {"content": " w"}}]}\n\n'
    decoder = openai_chat_request.wire_format().decoder(REQUEST, Traits())
    for number in range(20):
        assert decoder.feed((event % number).encode())[-1] == ReplyDelta(" w", "text", 0)
    assert decoder._misses == contract.MAX_MISSES  # pyright: ignore[reportPrivateUsage] - not seen otherwise
