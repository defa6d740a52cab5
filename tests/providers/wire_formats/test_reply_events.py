"""A reply is read for what it is, whatever it was announced as."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Fault
from moot.core.sse_reader import SseEvent
from moot.providers.wire_formats.reply_events import ReplyEvents


def read(*packets: bytes) -> list[SseEvent]:
    frames = ReplyEvents()
    return [event for packet in packets for event in frames.feed(packet)] + frames.close()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"", []),
        (b" \r\n\n", []),
        (b"data: a\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\r\n\r\n", [b"a"]),
        (b"\n\n: hello\n\ndata: {}\n\n", [b"{}"]),
        (b'{"a":1}', [b'{"a":1}']),
        (b'\xef\xbb\xbf\n {"a":{"b":[1]}}\n', [b'{"a":{"b":[1]}}']),
        (b'{"a":1}\n{"a":2}\r\n\r\n{"a":3}', [b'{"a":1}', b'{"a":2}', b'{"a":3}']),
        (b'[{"a":1}\n,\r\n{"a":[2]}]\n', [b'{"a":1}', b'{"a":[2]}']),
        (b"[]", []),
        (b'{"a":"}{][\\"\\\\"}{"b":1}', [b'{"a":"}{][\\"\\\\"}', b'{"b":1}']),
        (b'{"a":1}{"b":', [b'{"a":1}', b'{"b":']),
        (b'{\n "a": 1\n}\n', [b'{\n "a": 1\n}']),
    ],
)
def test_events_of_every_frame(stream: bytes, events: list[bytes]) -> None:
    assert read(stream) == [SseEvent(event) for event in events]
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == [SseEvent(event) for event in events]


def test_an_error_among_events_keeps_its_name() -> None:
    assert read(b'data: a\n\nerror: {"code":1}\n\n')[-1] == SseEvent(b'{"code":1}', "error")
    assert read(b'data: a\n\n{"error":1}\n')[-1] == SseEvent(b'{"error":1}', "error")


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b", [SseEvent(b"a"), SseEvent(b"b")]),
        (b"data: a\n\ndata: b\n", [SseEvent(b"a"), SseEvent(b"b")]),
        (b'error: {"code":500}\n\n', [SseEvent(b'{"code":500}', "error")]),
        (
            b'{\n "error": {\n  "code": 1\n }\n}\n\n',
            [SseEvent(b'{\n "error": {\n  "code": 1\n }\n}', "error")],
        ),
        (b'[{\n "error": 1\n}]\ndata: [DONE]\n\n', [SseEvent(b'[{\n "error": 1\n}]', "error")]),
        (
            b'data: a\n{"error":1}\n\ndata: b\n\n',
            [SseEvent(b"a"), SseEvent(b'{"error":1}', "error"), SseEvent(b"b")],
        ),
        (b'event: error\n{\r\n "a": 1}\r\n\r\n', [SseEvent(b'{\n "a": 1}', "error")]),
    ],
)
def test_exceptions_from_the_rules_of_server_sent_events(stream: bytes, events: list[SseEvent]) -> None:
    stream = b": a stream of events\n\n" + stream
    assert read(stream) == events
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == events


JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='ab"\\{}[],é\n', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('k"\\}', max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.text("k", max_size=2), JSON), max_size=4), st.booleans(), st.data())
def test_objects_in_a_row_or_in_an_array_survive_any_cut(
    objects: list[dict[str, Any]], in_array: bool, data: st.DataObject
) -> None:
    written = [json.dumps(each, ensure_ascii=False) for each in objects]
    stream = (f"[{', '.join(written)}]" if in_array else "\n".join(written)).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    events = read(*(stream[a:b] for a, b in itertools.pairwise([0, *cuts, len(stream)])))
    assert [json.loads(event.data) for event in events] == objects


@pytest.mark.parametrize(
    ("stream", "detail"),
    [
        (b"<!doctype html><p>Bad gateway", "a page"),
        (b"\n\n<html>", "a page"),
        (b"data: " + b"x" * 3_000_000, "without end"),
        (b'{"a":"' + b"x" * 3_000_000, "without end"),
        (b" " * 3_000_000, "without end"),
        (b'{"a":"' + b"\\" * 3_000_000, "without end"),
    ],
    ids=["page", "page after blanks", "event", "object", "blanks", "backslashes"],
)
def test_what_is_no_reply_is_refused(stream: bytes, detail: str) -> None:
    with pytest.raises(Fault, match="could not be read") as caught:
        read(*(stream[at : at + 100_000] for at in range(0, len(stream), 100_000)))
    assert (caught.value.kind, caught.value.severity) == ("malformed", "unusable")
    assert detail in caught.value.detail
