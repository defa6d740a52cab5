"""The reader gives the same events however the bytes are cut."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.sse_reader import EventTooLong, SseEvent, SseReader


def read(*packets: bytes) -> list[SseEvent]:
    reader = SseReader()
    return [event for packet in packets for event in reader.feed(packet)]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\n", [SseEvent(b"a")]),
        (b"data:a\n\n", [SseEvent(b"a")]),
        (b"data:  a\n\n", [SseEvent(b" a")]),
        (b"data: a\r\n\r\n", [SseEvent(b"a")]),
        (b"data: a\r\r", [SseEvent(b"a")]),
        (b"data: a\r\n\ndata: b\n\r\n", [SseEvent(b"a"), SseEvent(b"b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [SseEvent(b"a")]),
        (b"data: a\n\xef\xbb\xbfdata: b\n\n", [SseEvent(b"a")]),
        (b": hello\n\ndata: a\n\n:\n\n", [SseEvent(b"a")]),
        (b"data: a\ndata: b\n\n", [SseEvent(b"a\nb")]),
        (b"data: a\n\ndata: b", [SseEvent(b"a")]),
        (b"data: a\n\ndata: b\n", [SseEvent(b"a")]),
        (b"event: ping\ndata: {}\n\ndata: a\n\n", [SseEvent(b"{}", "ping"), SseEvent(b"a")]),
        (b"event: ping\n\ndata: a\n\n", [SseEvent(b"a")]),
        (b"id: 7\nretry: 10\nnonsense\ndata: a\n\n", [SseEvent(b"a", id="7")]),
        (b"id: 2.1\r\ndata: a\r\n\r\ndata: b\n\n", [SseEvent(b"a", id="2.1"), SseEvent(b"b")]),
        (b"event: x\nid: 3\ndata: {}\n\n", [SseEvent(b"{}", "x", "3")]),
        (b"id: 4\0\ndata: a\n\n", [SseEvent(b"a")]),
        (b"event: nothing\nid: 5\n\n", []),
        (b"data\n\n", [SseEvent(b"")]),
        (b"data: \xc3\xa9\n\n", [SseEvent("é".encode())]),
        (b"", []),
    ],
)
def test_the_rules_of_the_format(stream: bytes, events: list[SseEvent]) -> None:
    assert read(stream) == events
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == events


PIECES = st.sampled_from(
    [
        b"data: ",
        b"data:",
        b"event: x",
        b"id: 7.1",
        b": c",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        "é∞".encode(),
        b"a",
        b"\xef\xbb\xbf",
    ]
)


@given(st.lists(PIECES, max_size=40), st.data())
def test_any_cut_gives_the_same_events(pieces: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    ends = [0, *cuts, len(stream)]
    assert read(*(stream[a:b] for a, b in itertools.pairwise(ends))) == read(stream)


@given(st.binary(max_size=200))
def test_no_bytes_raise_an_error(stream: bytes) -> None:
    read(stream)


def test_the_pause_before_a_reconnection_is_read() -> None:
    reader = SseReader()
    assert reader.retry is None
    assert reader.feed(b"retry: 2000\n\nretry: soon\n\n") == []
    assert reader.retry == 2.0


@pytest.mark.parametrize("packet", [b"data: " + b"a" * 50, b"data: " + b"a" * 50 + b"\n"])
def test_an_event_without_end_is_refused(packet: bytes) -> None:
    reader = SseReader(max_bytes=1000)

    def pour() -> None:
        for _ in range(100):
            reader.feed(packet)

    with pytest.raises(EventTooLong):
        pour()


def test_many_events_are_not_one_long_event() -> None:
    reader = SseReader(max_bytes=1000)
    assert len(reader.feed(b"data: hello\n\n" * 1000)) == 1000


def test_a_large_event_in_small_packets_is_read_in_linear_time() -> None:
    reader = SseReader()
    reader.feed(b"data: ")
    start = time.process_time()
    for _ in range(200_000):
        reader.feed(b"12345678")
    assert len(reader.feed(b"\n\n")[0].data) == 1_600_000
    assert time.process_time() - start < 2
