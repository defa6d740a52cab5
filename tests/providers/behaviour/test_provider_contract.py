"""What every provider promises, asked of each: the four wire formats over loopback, and the scripted one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec import Struct

from moot.core.terms import FinishReason
from moot.providers.client import ProviderClient
from moot.providers.contract import Chunk, Provider, ReplyDelta, ReplyDone
from moot.providers.scripted import ScriptedProvider
from moot.providers.wire_formats import (
    anthropic_request,
    google_request,
    openai_chat_request,
    openai_responses_request,
)
from moot.providers.wire_formats.contract import WireFormat
from moot.testing.provider_contract import (
    BROKEN,
    PLAIN,
    REPLIES,
    WORDS,
    Answering,
    ProviderContract,
    Reply,
    ask,
    collect,
    cues,
    fault_of,
    text_of,
)
from tests.providers import reply_streams
from tests.providers.reply_streams import OVERLOADED

KEY = "sk-canary-0123456789abcdef"


class FormatCase(Struct, frozen=True):
    wire_format: WireFormat
    speak: Callable[[Reply], Iterator[bytes]]
    mute: frozenset[FinishReason] = frozenset()
    """Ways to end that this service does not know."""


WIRE_FORMAT_CASES = {
    "openai_chat": FormatCase(openai_chat_request.wire_format(), reply_streams.chat),
    "openai_responses": FormatCase(openai_responses_request.WIRE_FORMAT, reply_streams.responses),
    "anthropic": FormatCase(anthropic_request.WIRE_FORMAT, reply_streams.anthropic, frozenset({"filter"})),
    "google": FormatCase(google_request.WIRE_FORMAT, reply_streams.google, frozenset({"refusal"})),
}
OVERLOADED_AFTER_THOUGHTS = BROKEN["overloaded after thoughts"]


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
        client = ProviderClient(WIRE_FORMAT_CASES[name].wire_format, str(server.make_url("/v1")), key=KEY)
        self._open.append(client)
        return client

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


class TestWireFormats(ProviderContract):
    @pytest.fixture(params=WIRE_FORMAT_CASES)
    def answering(self, request: pytest.FixtureRequest, stage: Stage) -> Answering:
        case = WIRE_FORMAT_CASES[request.param]

        async def answering(reply: Reply) -> Provider | None:
            if reply.finish in case.mute:
                return None
            return await stage.client(request.param, speaking(lambda _request: case.speak(reply)))

        return answering


class TestScripted(ProviderContract):
    @pytest.fixture
    def answering(self) -> Answering:
        async def answering(reply: Reply) -> Provider | None:
            return ScriptedProvider(lambda _request: cues(reply))

        return answering


@pytest.mark.parametrize("name", WIRE_FORMAT_CASES)
async def test_what_comes_in_one_packet_is_heard_as_well(stage: Stage, name: str) -> None:
    whole = b"".join(WIRE_FORMAT_CASES[name].speak(OVERLOADED_AFTER_THOUGHTS))
    heard: list[Chunk] = []
    client = await stage.client(name, speaking(lambda _request: iter([whole])))
    assert (await fault_of(client, heard)).kind == "overloaded"
    assert text_of(heard) == "All is well."


@pytest.mark.parametrize("name", WIRE_FORMAT_CASES)
async def test_a_reply_has_the_id_that_its_service_gives_it(stage: Stage, name: str) -> None:
    speak, mute = WIRE_FORMAT_CASES[name].speak, WIRE_FORMAT_CASES[name].mute
    for reply in (reply for reply in REPLIES.values() if reply.finish not in mute):
        client = await stage.client(name, speaking(lambda _request, reply=reply: speak(reply)))
        done = (await collect(client))[-1]
        assert isinstance(done, ReplyDone)
        assert done.response_id


# --- the line -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WIRE_FORMAT_CASES)
async def test_who_stops_listening_hangs_up_and_leaves_nothing_behind(stage: Stage, name: str) -> None:
    before = asyncio.all_tasks()
    left = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = await streaming(request)
        for frame in WIRE_FORMAT_CASES[name].speak(Reply(words=WORDS, fails="disconnected")):
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


@pytest.mark.parametrize("name", WIRE_FORMAT_CASES)
async def test_two_replies_at_once_do_not_mix(stage: Stage, name: str) -> None:
    replies = {sign: Reply(words=tuple(f"{sign}{n} " for n in range(30))) for sign in ("x", "y")}

    def answer(request: bytes) -> Iterator[bytes]:
        return WIRE_FORMAT_CASES[name].speak(replies["x" if b"first" in request else "y"])

    client = await stage.client(name, speaking(answer))
    both = await asyncio.gather(collect(client, ask("first")), collect(client, ask("second")))
    assert [text_of(chunks) for chunks in both] == ["".join(reply.words) for reply in replies.values()]


# --- the key ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WIRE_FORMAT_CASES)
async def test_the_key_travels_in_one_header_and_nowhere_else(stage: Stage, name: str) -> None:
    seen: list[tuple[int, str, bytes]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        carried = sum(KEY in value for value in request.headers.values())
        seen.append((carried, str(request.url), await request.read()))
        return await speaking(lambda _body: WIRE_FORMAT_CASES[name].speak(PLAIN))(request)

    await collect(await stage.client(name, answer))
    (carried, url, body), *rest = seen
    assert (carried, rest) == (1, [])
    assert KEY not in url
    assert KEY.encode() not in body


@pytest.mark.parametrize("name", WIRE_FORMAT_CASES)
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


@pytest.mark.parametrize("name", WIRE_FORMAT_CASES)
async def test_cookies_are_not_kept(stage: Stage, name: str) -> None:
    seen: list[str | None] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers.get("Cookie"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Set-Cookie": "who=you"})
        await response.prepare(request)
        await response.write(b"".join(WIRE_FORMAT_CASES[name].speak(PLAIN)))
        return response

    client = await stage.client(name, answer)
    await collect(client)
    await collect(client)
    assert seen == [None, None]


@pytest.mark.parametrize("name", WIRE_FORMAT_CASES)
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
