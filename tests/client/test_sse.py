"""Server-sent events, read at any cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from moot.client.sse_reader import SseMessage, SseReader

STREAM = (
    "\ufeffretry: 2000\n\n"
    ": a comment\n\n"
    'event: status\nid: 1\ndata: {"a":"ü€𝄞"}\n\n'
    "id: 2.1\r\ndata: one\r\ndata: two\r\n\r\n"
    "data:none\r\rid: 3\revent: complete\rdata: {}\r\r"
    "nonsense\nid: 4\ndata\n\n"
    "event: nothing\nid: 5\n\n"
    "id: 6\ndata: cut off"
).encode()
MESSAGES = [
    SseMessage("status", "1", '{"a":"ü€𝄞"}'.encode()),
    SseMessage("message", "2.1", b"one\ntwo"),
    SseMessage("message", "", b"none"),
    SseMessage("complete", "3", b"{}"),
    SseMessage("message", "4", b""),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_cut_gives_the_same_messages(cuts: list[int]):
    reader = SseReader()
    places = [0, *sorted(cuts), len(STREAM)]
    heard: list[SseMessage] = []
    for start, end in pairwise(places):
        heard += reader.feed(STREAM[start:end])
    assert heard == MESSAGES
    assert reader.retry == 2.0


def test_byte_by_byte_too():
    reader = SseReader()
    assert [message for byte in STREAM for message in reader.feed(bytes([byte]))] == MESSAGES


@given(st.binary(max_size=200))
def test_nothing_breaks_it(data: bytes):
    SseReader().feed(data)
