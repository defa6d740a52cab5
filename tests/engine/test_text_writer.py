"""The streamed text of all calls is written together, in order, and the first words of a call at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from moot.core.errors import Fenced, StoreError
from moot.core.events import CallDelta, SegmentCompleted
from moot.core.terms import Text
from moot.engine import text_writer
from moot.engine.text_writer import DeltaBuffer, TextWriter
from moot.store.contract import AppendStreamed

TICK = 0.02


class RecordingStore:
    """Keeps each write, and answers it when told to."""

    def __init__(self, *, answers: bool = True) -> None:
        self.writes: list[list[AppendStreamed]] = []
        self.answers = answers

    def send(self, requests: Sequence[AppendStreamed]) -> None:
        self.writes.append(list(requests))
        if self.answers:
            self.answer()

    def answer(self) -> None:
        for request in self.writes[-1]:
            request.reply.set_result(None)

    @property
    def texts(self) -> list[dict[str, str]]:
        """What each write appends to each debate."""
        return [{one.debate_id: _text(one) for one in requests} for requests in self.writes]


def _text(request: AppendStreamed) -> str:
    return "".join(event.text for event in request.events if isinstance(event, CallDelta))


def speak(buffer: DeltaBuffer, text: str) -> None:
    buffer.add_text(1, 0, "text", text)


async def test_the_first_words_of_a_call_are_written_at_once() -> None:
    store = RecordingStore()
    writer = TextWriter(store.send, tick=60)
    first, second = writer.open_buffer("a", 1), writer.open_buffer("b", 1)
    speak(first, "Well,")
    await asyncio.sleep(0)
    speak(second, "No,")
    await asyncio.sleep(0)
    speak(first, " then")
    await asyncio.sleep(0)
    assert store.texts == [{"a": "Well,"}, {"b": "No,"}]


async def test_later_words_of_all_calls_are_one_write() -> None:
    store = RecordingStore()
    writer = TextWriter(store.send, TICK)
    buffers = [writer.open_buffer(name, 1) for name in "abc"]
    for buffer in buffers:
        speak(buffer, "one")
    await asyncio.sleep(0)
    written = len(store.writes)
    for word in (" two", " three"):
        for buffer in buffers:
            speak(buffer, word)
    await asyncio.sleep(10 * TICK)
    assert store.texts[written:] == [dict.fromkeys("abc", " two three")]


async def test_a_call_has_one_write_under_way_and_its_words_stay_in_order() -> None:
    store = RecordingStore(answers=False)
    writer = TextWriter(store.send, tick=0)
    buffer = writer.open_buffer("a", 1)
    speak(buffer, "one")
    await asyncio.sleep(0.01)
    speak(buffer, " two")
    await asyncio.sleep(0.01)
    assert store.texts == [{"a": "one"}]
    store.answer()
    await asyncio.sleep(0.01)
    assert store.texts == [{"a": "one"}, {"a": " two"}]


async def test_a_flush_returns_when_everything_is_durable() -> None:
    store = RecordingStore(answers=False)
    buffer = TextWriter(store.send, tick=60).open_buffer("a", 1)
    speak(buffer, "one")
    await asyncio.sleep(0)
    speak(buffer, " two")
    flushing = asyncio.create_task(buffer.flush())
    await asyncio.sleep(0.01)
    store.answer()
    await asyncio.sleep(0.01)
    assert store.texts == [{"a": "one"}, {"a": " two"}]
    assert not flushing.done()
    store.answer()
    await flushing


async def test_a_change_of_kind_is_a_delta_of_its_own_and_segments_keep_their_place() -> None:
    store = RecordingStore()
    buffer = TextWriter(store.send, tick=60).open_buffer("a", 1)
    buffer.add_text(1, 0, "reasoning", "Hm")
    buffer.add_text(1, 1, "text", "Yes")
    buffer.add_segment(SegmentCompleted(1, Text("Yes", 1)))
    buffer.add_text(1, 2, "text", "No")
    await buffer.flush()
    assert [type(event).__name__ for event in store.writes[0][0].events] == [
        "CallDelta", "CallDelta", "SegmentCompleted", "CallDelta"
    ]  # fmt: skip


async def test_an_error_ends_the_call_and_is_raised_by_the_flush() -> None:
    store = RecordingStore(answers=False)
    buffer = TextWriter(store.send, tick=0).open_buffer("a", 1)
    ended: list[str] = []
    buffer.on_error = lambda: ended.append("cut")
    speak(buffer, "one")
    await asyncio.sleep(0)
    store.writes[0][0].reply.set_exception(Fenced())
    assert ended == ["cut"]
    speak(buffer, " two")
    with pytest.raises(Fenced):
        await buffer.flush()
    assert len(store.writes) == 1


async def test_a_store_that_is_closed_fails_the_write() -> None:
    def closed(_requests: Sequence[AppendStreamed]) -> None:
        raise StoreError("The store is closed.")

    buffer = TextWriter(closed, tick=0).open_buffer("a", 1)
    speak(buffer, "one")
    with pytest.raises(StoreError):
        await buffer.flush()


async def test_a_long_text_is_split() -> None:
    store = RecordingStore()
    buffer = TextWriter(store.send, tick=0).open_buffer("a", 1)
    speak(buffer, "x" * (2 * text_writer.MAX_DELTA_CHARS + 1))
    await buffer.flush()
    assert [len(event.text) for event in store.writes[0][0].events if isinstance(event, CallDelta)] == [
        text_writer.MAX_DELTA_CHARS, text_writer.MAX_DELTA_CHARS, 1
    ]  # fmt: skip


async def test_the_tick_grows_while_the_process_is_busy_and_shrinks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cpu = 0.0
    monkeypatch.setattr(text_writer, "process_time", lambda: cpu)
    writer = TextWriter(RecordingStore().send, TICK)
    buffer = writer.open_buffer("a", 1)
    for _ in range(10):
        cpu += 1.0
        speak(buffer, "busy ")
        await asyncio.sleep(1.2 * writer.tick)
    assert TICK < writer.tick <= text_writer.MAX_STRETCH * TICK
    writer.tick = longest = text_writer.MAX_STRETCH * TICK
    for _ in range(3):
        speak(buffer, "idle ")
        await asyncio.sleep(1.2 * writer.tick)
    assert writer.tick < longest


@pytest.mark.parametrize(("calls", "factor"), [(2, 1.0), (20, 2.0)])
async def test_half_a_core_lengthens_the_tick_only_where_many_calls_speak(
    calls: int, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tick of 0.1 s, written by hand each time, with half as much of processor time."""
    cpu, now = 0.0, 0.0
    monkeypatch.setattr(text_writer, "process_time", lambda: cpu)
    writer = TextWriter(RecordingStore().send, 0.1)
    monkeypatch.setattr(writer.loop, "time", lambda: now)
    buffers = [writer.open_buffer(str(number), 1) for number in range(calls)]
    for _ in range(6):
        now += 0.1
        cpu += 0.05
        for buffer in buffers:
            speak(buffer, "word ")
        writer._write_all()  # pyright: ignore[reportPrivateUsage] - the clock stands still
    assert writer.tick == pytest.approx(factor * 0.1)  # pyright: ignore[reportUnknownMemberType]
