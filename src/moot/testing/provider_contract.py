"""The contract of `moot.Provider`, as a class of tests that a provider's own tests inherit.

    class TestMyProvider(ProviderContract):
        @pytest.fixture
        def answering(self) -> Answering:
            async def answering(reply: Reply) -> Provider | None:
                return None if reply.call else MyProvider(a_fake_service_that_says(reply))

            return answering

Each test asks for a provider whose service gives one `Reply`, and closes it. None means that this service has
no such reply; every service can answer in plain words.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from typing import Literal

import pytest
from msgspec import Struct

from moot.core.errors import Fault
from moot.core.terms import ChatMessage, FinishReason, Model, Reasoning, Request, Text, ToolCall, Usage
from moot.providers.contract import (
    Chunk,
    KeepAlive,
    Provider,
    ReplyDelta,
    ReplyDone,
    ReplySegment,
    ReplyStarted,
)
from moot.providers.scripted import Cue, FaultCue, RefuseCue, SayCue, ThinkCue, ToolCue, UsageCue

CALL = ToolCall("t1", "look", '{"at":1}')
USAGE = Usage(9, 4)


class Reply(Struct, frozen=True):
    """What a service says, in this order: thoughts, words, a refusal, a call of a tool."""

    thoughts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    refusal: str = ""
    call: ToolCall | None = None
    finish: FinishReason = "stop"
    fails: Literal["", "overloaded", "disconnected"] = ""
    """It never comes to its end: the service says that it is overloaded, or hangs up without a word."""
    usage: Usage | None = USAGE
    """What the service reports, if it reports anything."""


WORDS = ("All ", "is ", "well.")
PLAIN = Reply(words=WORDS)
REPLIES = {
    "plain": PLAIN,
    "thoughtful": Reply(thoughts=("Let me ", "see."), words=WORDS),
    "calling": Reply(words=WORDS, call=CALL, finish="tool"),
    "declining": Reply(refusal="No.", finish="refusal"),
    "too long": Reply(words=WORDS, finish="length"),
    "filtered": Reply(words=WORDS, finish="filter"),
    "silent": Reply(),
    "unmetered": Reply(words=WORDS, usage=None),
}
BROKEN = {
    "overloaded": Reply(words=WORDS, fails="overloaded"),
    "overloaded after thoughts": Reply(thoughts=("Hm.",), words=WORDS, fails="overloaded"),
    "disconnected": Reply(words=WORDS, fails="disconnected"),
    "disconnected after thoughts": Reply(thoughts=("Hm.",), words=WORDS, fails="disconnected"),
}
Answering = Callable[[Reply], Awaitable[Provider | None]]


def ask(words: str = "Go.") -> Request:
    """A small request."""
    return Request(Model("p", "m"), "Argue.", (ChatMessage("user", words),), max_tokens=50)


async def listen(provider: Provider, heard: list[Chunk], request: Request | None = None) -> None:
    """Adds the chunks of a reply to what was heard, also those before a Fault."""
    async with aclosing(provider.stream(request or ask())) as chunks:
        async for chunk in chunks:
            if not isinstance(chunk, KeepAlive):
                heard.append(chunk)  # noqa: PERF401 - what came before a Fault must not be lost with it


async def collect(provider: Provider, request: Request | None = None) -> list[Chunk]:
    heard: list[Chunk] = []
    await listen(provider, heard, request)
    return heard


async def fault_of(provider: Provider, heard: list[Chunk] | None = None) -> Fault:
    """The Fault with which the call fails, as it must."""
    with pytest.raises(Fault) as caught:
        await listen(provider, [] if heard is None else heard)
    return caught.value


def text_of(chunks: Iterable[Chunk], kind: str = "text") -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta) and chunk.kind == kind)


def cues(reply: Reply) -> Iterable[Cue]:
    """The script with which a `ScriptedProvider` gives this reply."""
    if reply.thoughts:
        yield ThinkCue("".join(reply.thoughts))
    if reply.words:
        yield SayCue("".join(reply.words))
    if reply.refusal:
        yield RefuseCue(reply.refusal)
    if reply.call:
        yield ToolCue(reply.call.name, reply.call.arguments, reply.call.id)
    if reply.fails:
        yield FaultCue(Fault(reply.fails))
    yield UsageCue(reply.usage, reply.finish, "s1")


@asynccontextmanager
async def _opened(answering: Answering, reply: Reply) -> AsyncGenerator[Provider | None]:
    provider = await answering(reply)
    try:
        yield provider
    finally:
        if provider is not None:
            await provider.close()


async def _replies(answering: Answering) -> list[tuple[str, Reply, list[Chunk]]]:
    """Each whole reply that the service has, with its name and the chunks that come of it."""
    collected: list[tuple[str, Reply, list[Chunk]]] = []
    for name, reply in REPLIES.items():
        async with _opened(answering, reply) as provider:
            assert provider is not None or reply is not PLAIN, "every service can answer in plain words"
            if provider is not None:
                collected.append((name, reply, await collect(provider)))
    return collected


@pytest.mark.asyncio
class ProviderContract:
    """What every provider must do. A subclass gives the fixture `answering`, as this module describes."""

    async def test_a_reply_begins_once_and_ends_once(self, answering: Answering) -> None:
        for name, _, chunks in await _replies(answering):
            kinds = [type(chunk) for chunk in chunks]
            assert (kinds[0], kinds[-1]) == (ReplyStarted, ReplyDone), name
            assert (kinds.count(ReplyStarted), kinds.count(ReplyDone)) == (1, 1), name

    async def test_nothing_of_a_reply_is_lost(self, answering: Answering) -> None:
        for name, reply, chunks in await _replies(answering):
            done = chunks[-1]
            assert isinstance(done, ReplyDone), name
            assert text_of(chunks, "reasoning") == "".join(reply.thoughts), name
            # Some services decline without a word.
            assert text_of(chunks) in ("".join(reply.words) + reply.refusal, "".join(reply.words)), name
            assert (done.finish, done.usage) == (reply.finish, reply.usage), name

    async def test_a_segment_has_one_kind_and_segments_come_in_order(self, answering: Answering) -> None:
        for name, _, chunks in await _replies(answering):
            said = [(chunk.segment, chunk.kind) for chunk in chunks if isinstance(chunk, ReplyDelta)]
            assert said == sorted(said, key=lambda each: each[0]), name
            assert len(dict(said)) == len(set(said)), name

    async def test_finished_segments_say_what_was_said(self, answering: Answering) -> None:
        for name, _, chunks in await _replies(answering):
            segments = [chunk.segment for chunk in chunks if isinstance(chunk, ReplySegment)]
            assert len({segment.index for segment in segments}) == len(segments), name
            deltas = [chunk for chunk in chunks if isinstance(chunk, ReplyDelta)]
            for segment in segments:
                said = "".join(delta.text for delta in deltas if delta.segment == segment.index)
                assert said == (segment.text if isinstance(segment, Text | Reasoning) else ""), name

    async def test_a_call_of_a_tool_is_a_segment_after_the_words(self, answering: Answering) -> None:
        for _, reply, chunks in await _replies(answering):
            segments = [chunk.segment for chunk in chunks if isinstance(chunk, ReplySegment)]
            calls = [segment for segment in segments if isinstance(segment, ToolCall)]
            assert len(calls) == (1 if reply.call else 0)
            for call in calls:
                assert (call.id, call.name) == (CALL.id, CALL.name)
                assert json.loads(call.arguments) == json.loads(CALL.arguments)
                assert call.index > max(chunk.segment for chunk in chunks if isinstance(chunk, ReplyDelta))

    async def test_words_before_a_failure_are_heard_and_nothing_after(self, answering: Answering) -> None:
        for name, reply in BROKEN.items():
            async with _opened(answering, reply) as provider:
                if provider is None:
                    continue
                heard: list[Chunk] = []
                fault = await fault_of(provider, heard)
            assert (fault.kind, fault.severity) == (reply.fails, "transient"), name
            assert text_of(heard, "reasoning") == "".join(reply.thoughts), name
            assert text_of(heard) == "".join(WORDS), name
            assert not any(isinstance(chunk, ReplyDone) for chunk in heard), name

    async def test_replies_at_the_same_time_do_not_mix(self, answering: Answering) -> None:
        reply = Reply(words=tuple(f"{number} " for number in range(30)))
        async with _opened(answering, reply) as provider:
            assert provider is not None
            both = await asyncio.gather(collect(provider, ask("One.")), collect(provider, ask("Two.")))
        assert [text_of(chunks) for chunks in both] == ["".join(reply.words)] * 2

    async def test_who_stops_listening_leaves_nothing_behind(self, answering: Answering) -> None:
        async with _opened(answering, PLAIN) as provider:
            assert provider is not None
            before = asyncio.all_tasks()
            async with aclosing(provider.stream(ask())) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, ReplyDelta):
                        break
        async with asyncio.timeout(60):
            # The service may take a moment to notice it.
            while left := asyncio.all_tasks() - before:
                await asyncio.wait(left)
