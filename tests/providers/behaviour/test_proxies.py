"""The way to a service through the proxy that the environment names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from moot.core.errors import Fault
from moot.core.terms import ChatMessage, Model, Request
from moot.providers.client import ProviderClient
from moot.providers.contract import ReplyDelta, ReplyDone
from moot.providers.endpoints import proxy_to
from moot.providers.wire_formats import openai_chat_request

KEY = "sk-canary-canary"
REQUEST = Request(Model("p", "m"), "Argue.", (ChatMessage("user", "Go."),), 50)
REPLY = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
PROXY = "http://proxy.test:3128"


@asynccontextmanager
async def proxying(answer: bytes) -> AsyncGenerator[tuple[str, list[bytes]]]:
    """A proxy that writes down what it is asked, and answers with these bytes."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def test_a_plain_request_goes_to_the_proxy_with_its_whole_address() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    async with proxying(head + REPLY) as (proxy, asked):
        client = ProviderClient(
            openai_chat_request.wire_format(), "http://service.invalid/v1", key=KEY, proxy=proxy
        )
        chunks = [chunk async for chunk in client.stream(REQUEST)]
        await client.close()
    assert [chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta)] == ["Yes."]
    assert isinstance(chunks[-1], ReplyDone)
    assert asked[0].startswith(b"POST http://service.invalid/v1/chat/completions HTTP/1.1\r\n")


async def test_a_proxy_is_asked_for_a_tunnel_and_never_told_the_key() -> None:
    async with proxying(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n") as (
        proxy,
        asked,
    ):
        client = ProviderClient(
            openai_chat_request.wire_format(), "https://service.invalid/v1", key=KEY, proxy=proxy
        )
        with pytest.raises(Fault) as caught:
            _ = [chunk async for chunk in client.stream(REQUEST)]
        await client.close()
    assert (caught.value.kind, caught.value.billed) == ("unreachable", False)
    assert asked[0].startswith(b"CONNECT service.invalid:443 ")
    assert KEY.encode() not in asked[0]


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://api.test/v1", {}, None),
        ("https://api.test/v1", {"HTTPS_PROXY": PROXY}, PROXY),
        ("https://api.test/v1", {"https_proxy": PROXY}, PROXY),
        ("https://api.test/v1", {"ALL_PROXY": PROXY}, PROXY),
        ("http://api.test/v1", {"HTTPS_PROXY": PROXY}, None),
        ("http://api.test/v1", {"HTTP_PROXY": PROXY}, PROXY),
        ("https://api.test/v1", {"HTTPS_PROXY": PROXY, "NO_PROXY": "other.test, .test"}, None),
        ("https://api.test/v1", {"HTTPS_PROXY": PROXY, "NO_PROXY": "api.test"}, None),
        ("https://api.test/v1", {"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, None),
        ("https://api.test/v1", {"HTTPS_PROXY": PROXY, "NO_PROXY": "pi.test"}, PROXY),
        ("http://127.0.0.1:11434/v1", {"HTTP_PROXY": PROXY}, None),
        ("http://localhost:1234/v1", {"HTTP_PROXY": PROXY}, None),
        ("http://[::1]:1234/v1", {"HTTP_PROXY": PROXY}, None),
    ],
)
def test_which_proxy_the_environment_names(url: str, environ: dict[str, str], proxy: str | None) -> None:
    assert proxy_to(url, environ) == proxy
