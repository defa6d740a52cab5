"""Characters that are cut between two deltas, in each wire format."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from moot.core.terms import ChatMessage, Model, Reasoning, Request, Text
from moot.providers.contract import Chunk, ReplyDelta, ReplyDone, ReplySegment, Traits
from moot.providers.wire_formats import (
    anthropic_request,
    google_request,
    openai_chat_request,
    openai_responses_request,
)
from moot.providers.wire_formats.contract import WireFormat

REQUEST = Request(Model("p", "m"), "Argue.", (ChatMessage("user", "Go."),), 50)
HALVES = {
    "surrogates": [rb"a\ud83d", rb"\ude00b"],
    "UTF-8": ["a😀b".encode()[:3], "a😀b".encode()[3:]],
    "UTF-8 in three": [b"a\xf0", b"\x9f\x98", b"\x80b"],
    "two in a row": [rb"a\ud83d", rb"\ude00\ud83d", rb"\ude00b"],
}
WHOLE = {"two in a row": "a😀😀b"}


def chat(pieces: list[bytes]) -> bytes:
    said = [b'data: {"id":"c","choices":[{"delta":{"content":"%b"}}]}\n\n' % piece for piece in pieces]
    return (
        b"".join(said)
        + b'data: {"id":"c","choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    )


def anthropic(pieces: list[bytes]) -> bytes:
    def event(name: str, more: bytes = b"") -> bytes:
        return b'event: %b\ndata: {"type":"%b"%b}\n\n' % (name.encode(), name.encode(), more)

    said = [
        event("content_block_delta", b',"index":0,"delta":{"type":"text_delta","text":"%b"}' % piece)
        for piece in pieces
    ]
    stop = b',"delta":{"stop_reason":"end_turn"}'
    return b"".join([event("message_start"), *said, event("message_delta", stop), event("message_stop")])


def google(pieces: list[bytes]) -> bytes:
    said = [
        b'data: {"candidates":[{"content":{"parts":[{"text":"%b"}]}}]}\r\n\r\n' % piece for piece in pieces
    ]
    return b"".join(said) + b'data: {"candidates":[{"finishReason":"STOP"}]}\r\n\r\n'


def responses(pieces: list[bytes]) -> bytes:
    said = [
        b'data: {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"%b"}\n\n' % piece
        for piece in pieces
    ]
    return b"".join(said) + b'data: {"type":"response.completed","response":{"id":"r","output":[]}}\n\n'


FORMATS: dict[str, tuple[WireFormat, Callable[[list[bytes]], bytes]]] = {
    "chat": (openai_chat_request.wire_format(), chat),
    "anthropic": (anthropic_request.WIRE_FORMAT, anthropic),
    "google": (google_request.WIRE_FORMAT, google),
    "responses": (openai_responses_request.WIRE_FORMAT, responses),
}


def decoded(name: str, pieces: list[bytes], *, bytewise: bool) -> list[Chunk]:
    wire, write = FORMATS[name]
    stream = write(pieces)
    decoder = wire.decoder(REQUEST, Traits())
    packets = [stream[at : at + 1] for at in range(len(stream))] if bytewise else [stream]
    return [chunk for packet in packets for chunk in decoder.feed(packet)] + decoder.end()


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta)]


@pytest.mark.parametrize("bytewise", [False, True])
@pytest.mark.parametrize("halves", HALVES)
@pytest.mark.parametrize("name", FORMATS)
def test_a_character_that_is_cut_between_deltas_is_shown_whole(
    name: str, halves: str, bytewise: bool
) -> None:
    chunks = decoded(name, HALVES[halves], bytewise=bytewise)
    whole = WHOLE.get(halves, "a😀b")
    assert "".join(texts(chunks)) == whole
    assert all("\ufffd" not in text for text in texts(chunks))
    for chunk in chunks:
        if isinstance(chunk, ReplySegment) and isinstance(chunk.segment, Text | Reasoning):
            assert chunk.segment.text == whole
    assert isinstance(chunks[-1], ReplyDone)
    assert chunks[-1].degraded == ""


@pytest.mark.parametrize(
    "pieces", [[rb"a\ud83d", b"b"], [b"a\xf0\x9f", b"b"], [rb"a\ude00", b"b"], [b"a", rb"b\ud83d"]]
)
@pytest.mark.parametrize("name", FORMATS)
def test_half_a_character_that_stays_alone_is_replaced_and_told(name: str, pieces: list[bytes]) -> None:
    chunks = decoded(name, pieces, bytewise=False)
    assert "".join(texts(chunks)) in ("a\ufffdb", "ab\ufffd")
    assert isinstance(chunks[-1], ReplyDone)
    assert chunks[-1].degraded == "utf8"


def test_a_character_of_a_private_area_is_left_as_it_is() -> None:
    private = json.dumps("a\U000f0001", ensure_ascii=False)[1:-1].encode()
    assert texts(decoded("chat", [private], bytewise=False)) == ["a\U000f0001"]
