"""Streams of debates are answered past FastAPI, and exactly as FastAPI would answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from moot.core.errors import StoreError
from moot.engine.arena import Arena
from moot.web import app as web_app
from moot.web.middleware.compression import MIN_BYTES
from moot.web.middleware.stream_dispatcher import StreamDispatcher
from tests.web.routes.served import Served, body, serving

STREAMS = ("stream", "events/stream", "view/stream")


class Undispatched(StreamDispatcher):
    """Leaves every request to FastAPI."""

    def __init__(self, app: ASGIApp, *_: Any) -> None:
        self._inner = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._inner(scope, receive, send)


class Unreached:
    """What FastAPI would be behind: no stream may come here."""

    def __init__(self, *_: Any) -> None: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert not scope["path"].endswith("/stream")
        raise AssertionError(scope["path"])


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path) as house:
        yield house


@pytest.fixture
async def by_fastapi(served: Served, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[httpx.AsyncClient]:
    """The same arena behind an application without the dispatcher."""
    monkeypatch.setattr(web_app, "StreamDispatcher", Undispatched)
    transport = httpx.ASGITransport(web_app.make_app(served.arena))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
async def direct(served: Served) -> AsyncGenerator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(web_app.make_app(served.arena))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


def alike(reply: httpx.Response) -> tuple[Any, ...]:
    """Everything but what differs between any two requests."""
    headers = {name: value for name, value in reply.headers.items() if name != "x-request-id"}
    request_id = reply.headers["x-request-id"]
    return reply.status_code, headers, reply.text.replace(request_id, "")


async def test_a_stream_is_the_same_either_way(
    served: Served, direct: httpx.AsyncClient, by_fastapi: httpx.AsyncClient
) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    path = f"/api/v1/debates/{debate_id}"
    for query in ("", "?extended=true", "?lastEventId=3"):
        replies = [await http.get(f"{path}/stream{query}") for http in (direct, by_fastapi)]
        assert replies[0].status_code == 200
        assert alike(replies[0]) == alike(replies[1])
    end = replies[0].text.rpartition("id: ")[2].partition("\n")[0]
    requests: list[tuple[str, str, dict[str, str]]] = [
        ("GET", f"{path}/stream", {"Last-Event-ID": end}),
        ("GET", f"{path}/stream", {"Last-Event-ID": end, "Accept-Encoding": "gzip"}),
    ]
    for stream in STREAMS:
        requests += [
            ("HEAD", f"{path}/{stream}", {}),
            ("POST", f"{path}/{stream}", {}),
            ("GET", f"{path}/{stream}?surprise=1&extended=perhaps", {}),
            ("GET", f"{path}/{stream}?as=nobody", {}),
            ("GET", f"{path}/{stream}", {"Last-Event-ID": "999999"}),
            ("GET", f"{path}/{stream}", {"Accept": "application/json"}),
            ("GET", f"{path}/{stream}/", {}),
            ("GET", f"{path}%2F/{stream}", {}),
            ("GET", f"/api/v1/debates/deb_unknown/{stream}", {"Accept-Encoding": "gzip"}),
            ("GET", f"/api/v1/debates/%00/{stream}", {}),
            ("GET", f"/api/v1/debates//{stream}", {}),
        ]
    for method, url, headers in requests:
        replies = [await http.request(method, url, headers=headers) for http in (direct, by_fastapi)]
        assert alike(replies[0]) == alike(replies[1]), (method, url, headers)


async def test_no_stream_of_a_debate_passes_through_fastapi(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    debate_id = await served.open()
    monkeypatch.setattr(web_app, "CompressionMiddleware", Unreached)
    transport = httpx.ASGITransport(web_app.make_app(served.arena))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        for stream in STREAMS:
            assert (await http.head(f"/api/v1/debates/{debate_id}/{stream}")).status_code == 200


async def test_replies_to_commands_are_not_compressed(direct: httpx.AsyncClient) -> None:
    long = {**body(), "topic": "Should long motions be read? " * 10}
    opened = await direct.post("/api/v1/debates", json=long, headers={"Accept-Encoding": "gzip"})
    read = await direct.get(f"/api/v1/debates/{opened.json()['id']}", headers={"Accept-Encoding": "gzip"})
    assert (opened.status_code, "content-encoding" in opened.headers) == (201, False)
    assert len(opened.content) > MIN_BYTES
    assert read.headers["content-encoding"] == "gzip"


async def test_an_unreachable_store_is_a_problem_and_a_warning(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_arena: Arena, _debate_id: str) -> None:
        raise StoreError("The disk is away.")

    monkeypatch.setattr(Arena, "head", fail)
    transport = httpx.ASGITransport(web_app.make_app(served.arena))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        reply = await http.get("/api/v1/debates/deb_1/stream")
    assert reply.status_code == 503
    assert reply.json()["type"] == "/errors/storage"
    assert "The disk is away." in caplog.messages
