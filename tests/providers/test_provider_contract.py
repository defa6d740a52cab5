"""What every provider promises, asked of each: the four families over loopback, and the scripted one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec import Struct

from moot.core.errors import Fault
from moot.core.terms import ChatMessage, FinishReason, Model, Reasoning, Request, Text, ToolCall, Usage
from moot.providers.client import ProviderClient
from moot.providers.contract import (
    Chunk,
    KeepAlive,
    Provider,
    ReplyDelta,
    ReplyDone,
    ReplySegment,
    ReplyStarted,
)
from moot.providers.scripted import ScriptedProvider
from moot.providers.wire_formats import (
    anthropic_request,
    google_request,
    openai_chat_request,
    openai_responses_request,
)
from moot.providers.wire_formats.contract import WireFormat
from tests.providers import reply_streams
from tests.providers.reply_streams import ARGUMENTS, OVERLOADED, Reply
from tests.support.for_each import for_each

KEY = "sk-canary-0123456789abcdef"


class FamilyCase(Struct, frozen=True):
    family: WireFormat
    speak: Callable[[Reply], Iterator[bytes]]
    mute: frozenset[FinishReason] = frozenset()
    """Ways to end that this service does not know."""


FAMILY_CASES = {
    "openai_chat": FamilyCase(openai_chat_request.wire_format(), reply_streams.chat),
    "openai_responses": FamilyCase(openai_responses_request.WIRE_FORMAT, reply_streams.responses),
    "anthropic": FamilyCase(anthropic_request.WIRE_FORMAT, reply_streams.anthropic, frozenset({"filter"})),
    "google": FamilyCase(google_request.WIRE_FORMAT, reply_streams.google, frozenset({"refusal"})),
}
WORDS = ("All ", "is ", "well.")
WHOLE = {
    "plain": Reply(words=WORDS),
    "thoughtful": Reply(thoughts=("Let me ", "see."), words=WORDS),
    "calling": Reply(words=WORDS, calls=True, finish="tool"),
    "declining": Reply(refusal="No.", finish="refusal"),
    "too long": Reply(words=WORDS, finish="length"),
    "filtered": Reply(words=WORDS, finish="filter"),
    "silent": Reply(),
    "unmetered": Reply(words=WORDS, figures=False),
}
BROKEN = {
    "in error": (Reply(thoughts=("Hm.",), words=WORDS, fails="error"), "overloaded"),
    "hung up": (Reply(thoughts=("Hm.",), words=WORDS, fails="cut"), "disconnected"),
}


def ask(words: str = "Go.") -> Request:
    return Request(Model("p", "m"), "Argue.", (ChatMessage("user", words),), max_tokens=50)


def pairs() -> list[Any]:
    """Each provider with each reply that it can give."""
    told = [
        (name, case)
        for case in WHOLE
        for name in FAMILY_CASES
        if WHOLE[case].finish not in FAMILY_CASES[name].mute
    ]
    told += [("scripted", case) for case, reply in WHOLE.items() if not reply.calls]
    return [pytest.param(name, WHOLE[case], id=f"{name} {case}") for name, case in told]


# --- the stage ----------------------------------------------------------------------------------------

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Stage:
    """Puts up services and those who call them, and takes all of it down again."""

    def __init__(self) -> None:
        self._open: list[TestServer | ProviderClient] = []

    async def serve(self, answer: Answer) -> TestServer:
        app = web.Application()
        app.router.add_post("/{path:.*}", answer)
        server = TestServer(app)
        await server.start_server()
        self._open.append(server)
        return server

    async def client(self, name: str, answer: Answer) -> ProviderClient:
        server = await self.serve(answer)
        client = ProviderClient(FAMILY_CASES[name].family, str(server.make_url("/v1")), key=KEY)
        self._open.append(client)
        return client

    async def provider(self, name: str, reply: Reply) -> Provider:
        if name == "scripted":
            return ScriptedProvider(lambda _request: reply_streams.cues(reply))
        return await self.client(name, speaking(lambda _request: FAMILY_CASES[name].speak(reply)))

    async def close(self) -> None:
        for each in reversed(self._open):
            await each.close()
        self._open.clear()


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    yield stage
    await stage.close()


def speaking(frames: Callable[[bytes], Iterator[bytes]], status: int = 200) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = await streaming(request, status)
        for frame in frames(await request.read()):
            await response.write(frame)
            await asyncio.sleep(0)
        await response.write_eof()
        return response

    return answer


async def streaming(request: web.Request, status: int = 200) -> web.StreamResponse:
    response = web.StreamResponse(status=status, headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    return response


async def listen(provider: Provider, heard: list[Chunk], request: Request | None = None) -> None:
    async with aclosing(provider.stream(request or ask())) as chunks:
        async for chunk in chunks:
            if not isinstance(chunk, KeepAlive):
                heard.append(chunk)  # noqa: PERF401 - what came before a Fault must not be lost with it


async def collect(provider: Provider, request: Request | None = None) -> list[Chunk]:
    heard: list[Chunk] = []
    await listen(provider, heard, request)
    return heard


async def fault_of(provider: Provider, heard: list[Chunk] | None = None) -> Fault:
    with pytest.raises(Fault) as caught:
        await listen(provider, [] if heard is None else heard)
    return caught.value


def words(chunks: list[Chunk], kind: str) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta) and chunk.kind == kind)


# --- a reply ------------------------------------------------------------------------------------------


@for_each(("name", "reply"), pairs())
async def test_it_begins_once_and_ends_once(stage: Stage, name: str, reply: Reply) -> None:
    chunks = await collect(await stage.provider(name, reply))
    kinds = [type(chunk) for chunk in chunks]
    assert (kinds[0], kinds[-1]) == (ReplyStarted, ReplyDone)
    assert (kinds.count(ReplyStarted), kinds.count(ReplyDone)) == (1, 1)


@for_each(("name", "reply"), pairs())
async def test_nothing_of_it_is_lost(stage: Stage, name: str, reply: Reply) -> None:
    chunks = await collect(await stage.provider(name, reply))
    done = chunks[-1]
    assert isinstance(done, ReplyDone)
    assert words(chunks, "reasoning") == "".join(reply.thoughts)
    # Anthropic declines without a word.
    assert words(chunks, "text") in ("".join(reply.words) + reply.refusal, "".join(reply.words))
    assert done.finish == reply.finish
    assert done.usage == (Usage(9, 4) if reply.figures else None)
    assert done.response_id


@for_each(("name", "reply"), pairs())
async def test_a_segment_has_one_kind_and_segments_come_in_order(
    stage: Stage, name: str, reply: Reply
) -> None:
    chunks = await collect(await stage.provider(name, reply))
    said = [(chunk.segment, chunk.kind) for chunk in chunks if isinstance(chunk, ReplyDelta)]
    assert said == sorted(said, key=lambda each: each[0])
    assert len(dict(said)) == len(set(said))


@for_each(("name", "reply"), pairs())
async def test_finished_segments_say_what_was_said(stage: Stage, name: str, reply: Reply) -> None:
    chunks = await collect(await stage.provider(name, reply))
    items = [chunk.segment for chunk in chunks if isinstance(chunk, ReplySegment)]
    assert len({item.index for item in items}) == len(items)
    for item in items:
        said = [
            chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta) and chunk.segment == item.index
        ]
        assert "".join(said) == (item.text if isinstance(item, Text | Reasoning) else "")


@pytest.mark.parametrize("name", FAMILY_CASES)
async def test_a_call_of_a_tool_is_a_segment_after_the_words(stage: Stage, name: str) -> None:
    chunks = await collect(await stage.provider(name, WHOLE["calling"]))
    (call,) = [
        chunk.segment
        for chunk in chunks
        if isinstance(chunk, ReplySegment) and isinstance(chunk.segment, ToolCall)
    ]
    assert (call.id, call.name, json.loads(call.arguments)) == ("t1", "look", json.loads(ARGUMENTS))
    assert call.index > max(chunk.segment for chunk in chunks if isinstance(chunk, ReplyDelta))


@pytest.mark.parametrize("name", [*FAMILY_CASES, "scripted"])
@pytest.mark.parametrize("case", BROKEN)
async def test_words_before_a_failure_are_heard_and_nothing_after(stage: Stage, name: str, case: str) -> None:
    reply, kind = BROKEN[case]
    heard: list[Chunk] = []
    fault = await fault_of(await stage.provider(name, reply), heard)
    assert (fault.kind, fault.severity) == (kind, "transient")
    assert (words(heard, "reasoning"), words(heard, "text")) == ("Hm.", "All is well.")
    assert not any(isinstance(chunk, ReplyDone) for chunk in heard)


async def test_what_comes_in_one_packet_is_heard_as_well(stage: Stage) -> None:
    for name, case in FAMILY_CASES.items():
        whole = b"".join(case.speak(BROKEN["in error"][0]))
        heard: list[Chunk] = []
        client = await stage.client(name, speaking(lambda _request, whole=whole: iter([whole])))
        assert (await fault_of(client, heard)).kind == "overloaded", name
        assert words(heard, "text") == "All is well.", name


# --- the line -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILY_CASES)
async def test_who_stops_listening_hangs_up_and_leaves_nothing_behind(stage: Stage, name: str) -> None:
    before = asyncio.all_tasks()
    left = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = await streaming(request)
        for frame in FAMILY_CASES[name].speak(Reply(words=WORDS, fails="cut")):
            await response.write(frame)
        try:
            await asyncio.sleep(60)
        finally:
            left.set()
        return response

    client = await stage.client(name, answer)
    async with aclosing(client.stream(ask())) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, ReplyDelta):
                break
    await asyncio.wait_for(left.wait(), 60)
    await stage.close()
    assert asyncio.all_tasks() <= before


@pytest.mark.parametrize("name", [*FAMILY_CASES, "scripted"])
async def test_two_replies_at_once_do_not_mix(stage: Stage, name: str) -> None:
    replies = {sign: Reply(words=tuple(f"{sign}{n} " for n in range(30))) for sign in ("x", "y")}

    def said_to(request: str) -> Reply:
        return replies["x" if "first" in request else "y"]

    if name == "scripted":
        provider: Provider = ScriptedProvider(
            lambda request: reply_streams.cues(said_to(request.messages[0].content))
        )
    else:
        provider = await stage.client(
            name, speaking(lambda body: FAMILY_CASES[name].speak(said_to(body.decode())))
        )
    both = await asyncio.gather(collect(provider, ask("first")), collect(provider, ask("second")))
    for chunks, reply in zip(both, replies.values(), strict=True):
        assert words(chunks, "text") == "".join(reply.words)


# --- the key ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILY_CASES)
async def test_the_key_travels_in_one_header_and_nowhere_else(stage: Stage, name: str) -> None:
    seen: list[tuple[int, str, bytes]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        carried = sum(KEY in value for value in request.headers.values())
        seen.append((carried, str(request.url), await request.read()))
        return await speaking(lambda _body: FAMILY_CASES[name].speak(WHOLE["plain"]))(request)

    await collect(await stage.client(name, answer))
    (carried, url, body), *rest = seen
    assert (carried, rest) == (1, [])
    assert KEY not in url
    assert KEY.encode() not in body


@pytest.mark.parametrize("name", FAMILY_CASES)
@pytest.mark.parametrize("status", [401, 200])
async def test_a_service_that_repeats_the_key_is_not_quoted(stage: Stage, name: str, status: int) -> None:
    told = {"error": {**OVERLOADED, "message": f"{KEY} is tired", "param": KEY}}
    frame = (
        f"event: error\ndata: {json.dumps({'type': 'error', **told})}\n\n"
        if status == 200
        else json.dumps(told)
    )
    fault = await fault_of(await stage.client(name, speaking(lambda _body: iter([frame.encode()]), status)))
    assert "is tired" in fault.detail
    shown = (
        str(fault),
        repr(fault),
        fault.detail,
        repr(vars(fault)),
        repr(fault.__cause__),
        fault.request_id,
    )
    assert not [text for text in shown if KEY in text]


@pytest.mark.parametrize("name", FAMILY_CASES)
async def test_cookies_are_not_kept(stage: Stage, name: str) -> None:
    seen: list[str | None] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers.get("Cookie"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Set-Cookie": "who=you"})
        await response.prepare(request)
        await response.write(b"".join(FAMILY_CASES[name].speak(WHOLE["plain"])))
        return response

    client = await stage.client(name, answer)
    await collect(client)
    await collect(client)
    assert seen == [None, None]


@pytest.mark.parametrize("name", FAMILY_CASES)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(stage: Stage, name: str, status: int) -> None:
    visits: list[str] = []

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        visits.append(request.path)
        return web.Response()

    other = await stage.serve(elsewhere)

    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": str(other.make_url("/v1"))})

    fault = await fault_of(await stage.client(name, answer))
    assert (fault.kind, fault.severity, visits) == ("redirected", "permanent", [])
