"""One call over HTTP: replies, refusals, certificates, silence, and connections that break."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from moot.core.errors import Fault
from moot.core.terms import Request, Usage
from moot.providers.client import ProviderClient, merge_words
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta, ReplyDone, ReplyStarted, Traits
from moot.providers.wire_formats import openai_chat_request
from tests.providers.chat_lines import DONE, FIGURES, ROLE, STOP, line, says, whole
from tests.providers.wire_formats.openai_chat_calls import ask

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


Serve = Callable[[Handler], Awaitable[TestServer]]


@pytest.fixture
async def serve() -> AsyncGenerator[Serve]:
    servers: list[TestServer] = []

    async def start(handler: Handler) -> TestServer:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", handler)
        server = TestServer(app)
        await server.start_server()
        servers.append(server)
        return server

    yield start
    for server in servers:
        await server.close()


@pytest.fixture
async def client() -> AsyncGenerator[Callable[..., ProviderClient]]:
    clients: list[ProviderClient] = []

    def make(where: TestServer | str, **settings: Any) -> ProviderClient:
        url = where if isinstance(where, str) else str(where.make_url("/v1"))
        clients.append(ProviderClient(openai_chat_request.wire_format(), url, **settings))
        return clients[-1]

    yield make
    for each in clients:
        await each.close()


async def collect(chat: ProviderClient, request: Request | None = None) -> list[Chunk]:
    return [chunk async for chunk in chat.stream(request or ask())]


def finished(usage: Usage | None = None) -> ReplyDone:
    return ReplyDone("stop", usage, "c1", reason="stop", model="m-1")


async def fault_of(chat: ProviderClient) -> Fault:
    with pytest.raises(Fault) as caught:
        await collect(chat)
    return caught.value


async def streamed(request: web.Request, *packets: bytes, farewell: bool = True) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for packet in packets:
        await response.write(packet)
    if farewell:
        await response.write_eof()
    return response


async def test_a_stream_over_the_line(serve: Serve, client: Callable[..., ProviderClient]) -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append((request.headers.get("Authorization"), await request.json()))
        return await streamed(request, ROLE, b": ping\n\n", says(content="a"), STOP, FIGURES, DONE)

    chat = client(await serve(handler), key="sk-1", traits=Traits(prefill=True))
    chunks = await collect(chat, ask(prefill="I"))
    # Words that arrive in one read are one chunk.
    assert merge_words([chunk for chunk in chunks if chunk != KeepAlive()]) == [
        ReplyStarted("c1"),
        ReplyDelta("Ia"),
        finished(Usage(input=9, output=2, cached=4)),
    ]
    assert seen[0][0] == "Bearer sk-1"
    assert seen[0][1]["messages"][-1] == {"role": "assistant", "content": "I"}


async def test_a_reply_that_does_not_stream(serve: Serve, client: Callable[..., ProviderClient]) -> None:
    async def handler(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=whole(content="all"), content_type="application/json")

    chunks = await collect(client(await serve(handler)))
    assert chunks == [ReplyStarted("c1"), ReplyDelta("all"), finished(Usage(3, 2))]


async def test_a_page_is_not_a_reply(serve: Serve, client: Callable[..., ProviderClient]) -> None:
    async def handler(_request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>hello</html>", content_type="text/html")

    fault = await fault_of(client(await serve(handler)))
    assert (fault.kind, fault.severity) == ("malformed", "unusable")


async def test_a_refusal_keeps_the_wait_and_hides_the_key(
    serve: Serve, client: Callable[..., ProviderClient]
) -> None:
    async def handler(_request: web.Request) -> web.StreamResponse:
        said = {"error": {"message": "Slow down, sk-secret"}}
        return web.json_response(said, status=429, headers={"Retry-After": "7"})

    fault = await fault_of(client(await serve(handler), key="sk-secret"))
    assert (fault.kind, fault.retry_after, fault.billed) == ("rate_limited", 7.0, False)
    assert "sk-secret" not in fault.detail
    assert "Slow down" in fault.detail


async def test_a_complaint_in_mid_stream_hides_the_key(
    serve: Serve, client: Callable[..., ProviderClient]
) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return await streamed(request, ROLE, line(error={"message": "key sk-secret is tired"}))

    fault = await fault_of(client(await serve(handler), key="sk-secret"))
    assert fault.detail == "key … is tired"


async def test_redirects_are_not_followed(serve: Serve, client: Callable[..., ProviderClient]) -> None:
    visits: list[str] = []

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        visits.append(request.path)
        return web.Response()

    other = await serve(elsewhere)

    async def handler(_request: web.Request) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect(str(other.make_url("/v1/chat/completions")))

    fault = await fault_of(client(await serve(handler), key="sk-1"))
    assert (fault.kind, fault.severity) == ("redirected", "permanent")
    assert not visits


async def test_cookies_are_not_kept(serve: Serve, client: Callable[..., ProviderClient]) -> None:
    seen: list[str | None] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers.get("Cookie"))
        response = web.json_response({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})
        response.set_cookie("who", "you")
        return response

    chat = client(await serve(handler))
    await collect(chat)
    await collect(chat)
    assert seen == [None, None]


async def test_nobody_is_there(client: Callable[..., ProviderClient], unused_tcp_port: int) -> None:
    fault = await fault_of(client(f"http://127.0.0.1:{unused_tcp_port}/v1"))
    assert (fault.kind, fault.severity, fault.billed) == ("unreachable", "transient", False)


async def test_the_name_is_unknown(client: Callable[..., ProviderClient]) -> None:
    fault = await fault_of(client("http://nobody.invalid/v1"))
    assert (fault.kind, fault.billed) == ("unreachable", False)


async def test_a_certificate_is_never_waived(client: Callable[..., ProviderClient], tmp_path: Path) -> None:
    context = self_signed(tmp_path)

    async def handler(_request: web.Request) -> web.StreamResponse:
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    server = TestServer(app, scheme="https")
    await server.start_server(ssl=context)
    fault = await fault_of(client(str(server.make_url("/v1"))))
    await server.close()
    assert (fault.kind, fault.severity, fault.billed) == ("tls", "permanent", False)


async def test_silence_before_and_in_mid_sentence(
    serve: Serve, client: Callable[..., ProviderClient]
) -> None:
    async def silent(_request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(1)
        return web.Response()

    async def stalling(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, ROLE, says(content="a"), farewell=False)
        await asyncio.sleep(1)
        return response

    assert (await fault_of(client(await serve(silent), read_timeout=0.1))).kind == "timeout"
    assert (await fault_of(client(await serve(stalling), read_timeout=0.1))).kind == "stalled"


async def test_a_line_that_breaks(serve: Serve, client: Callable[..., ProviderClient]) -> None:
    async def breaking(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, ROLE, says(content="a"), farewell=False)
        assert request.transport is not None
        request.transport.abort()
        return response

    fault = await fault_of(client(await serve(breaking)))
    assert (fault.kind, fault.severity, fault.billed) == ("disconnected", "transient", True)


async def test_a_clean_end_without_a_reason_is_not_the_end(
    serve: Serve, client: Callable[..., ProviderClient]
) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return await streamed(request, ROLE, says(content="a"))

    assert (await fault_of(client(await serve(handler)))).kind == "disconnected"


async def test_a_line_that_breaks_after_the_last_word_does_no_harm(
    serve: Serve, client: Callable[..., ProviderClient]
) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, ROLE, says(content="a"), STOP, farewell=False)
        await asyncio.sleep(0.05)
        assert request.transport is not None
        request.transport.abort()
        return response

    assert (await collect(client(await serve(handler))))[-1] == finished()


async def test_a_kept_connection_that_the_service_drops_costs_nothing(
    client: Callable[..., ProviderClient],
) -> None:
    """It hangs up on the second request of a connection, as a server does whose patience has just ended."""
    reply = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(STOP)
    ) + STOP
    connections = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        with suppress(asyncio.IncompleteReadError):  # the last connection is closed by the client
            await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    chat = client(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    for _ in range(2):
        assert (await collect(chat))[-1] == finished()
    await chat.close()
    server.close()
    assert connections == 2


async def test_closing_the_stream_hangs_up(serve: Serve, client: Callable[..., ProviderClient]) -> None:
    left = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, ROLE, says(content="a"), farewell=False)
        try:
            await asyncio.sleep(60)
        finally:
            left.set()
        return response

    async with aclosing(client(await serve(handler)).stream(ask())) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, ReplyDelta):
                break
    await asyncio.wait_for(left.wait(), 60)


def self_signed(folder: Path) -> ssl.SSLContext:
    names = ["-keyout", str(folder / "key"), "-out", str(folder / "cert"), "-subj", "/CN=localhost"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *names],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert", folder / "key")
    return context
