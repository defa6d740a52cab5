"""Which replies are compressed, and for which clients."""

from __future__ import annotations

import gzip
from collections.abc import AsyncGenerator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from moot.web.middleware.compression import MIN_BYTES, THREAD_BYTES, CompressionMiddleware

PACKED = {"Accept-Encoding": "gzip"}


async def _said(request: Request) -> Response:
    kind = request.query_params.get("kind", "application/json")
    return Response(b"x" * int(request.query_params["size"]), media_type=kind, headers={"Vary": "Origin"})


async def _streamed(_request: Request) -> Response:
    async def parts() -> AsyncGenerator[bytes]:
        for _ in range(3):
            yield b"x" * MIN_BYTES

    return StreamingResponse(parts(), media_type="text/event-stream")


async def _hidden(_request: Request) -> Response:
    return JSONResponse({"token": "x" * 2 * MIN_BYTES})


@pytest.fixture
async def http() -> AsyncGenerator[httpx.AsyncClient]:
    app = Starlette()
    app.add_route("/said", _said)
    app.add_route("/streamed", _streamed)
    for path in ("/tokens", "/tickets", "/debates/deb_1/invitations", "/debates/deb_1/invitations/inv_1"):
        app.add_route(path, _hidden)
    transport = httpx.ASGITransport(CompressionMiddleware(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=PACKED) as client:
        yield client


async def test_what_is_read_is_packed_where_it_is_worth_it(http: httpx.AsyncClient) -> None:
    for size, packed in ((MIN_BYTES, False), (MIN_BYTES + 1, True), (THREAD_BYTES + 1, True)):
        reply = await http.get("/said", params={"size": size})
        assert reply.content == b"x" * size
        assert ("content-encoding" in reply.headers) == packed, size
        assert reply.headers["vary"] == ("Origin, Accept-Encoding" if packed else "Origin")
        assert int(reply.headers["content-length"]) == (
            len(gzip.compress(reply.content, 5)) if packed else size
        )
        plain = await http.get("/said", params={"size": size}, headers={"Accept-Encoding": "br, gzip;q=0"})
        assert (plain.content, "content-encoding" in plain.headers) == (b"x" * size, False)
        assert plain.headers["vary"] == reply.headers["vary"]


async def test_streams_other_kinds_and_secrets_are_left_as_they_are(http: httpx.AsyncClient) -> None:
    replies = [
        await http.get("/said?size=5000&kind=application/problem%2Bjson"),
        await http.get("/streamed"),
        await http.get("/tokens"),
        await http.get("/tickets"),
        await http.get("/debates/deb_1/invitations"),
        await http.get("/debates/deb_1/invitations/inv_1"),
    ]
    for reply in replies:
        assert (reply.status_code, "content-encoding" in reply.headers) == (200, False), reply.url
        assert len(reply.content) > MIN_BYTES
