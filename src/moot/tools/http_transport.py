"""How a tool server at an address is spoken to: its key goes there alone, and no answer is endless.

The environment names a proxy for other machines and never for this one, and nothing else is taken from it. An
answer comes unpacked and whole, so that it costs no more memory than its bytes; the events of a stream are
measured by the SDK, one by one.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping

import httpx2

from moot.providers.endpoints import proxy_to
from moot.tools.tool_settings import ToolServer

MAX_ANSWER_BYTES = 4 * 1024 * 1024
CONNECT_SECONDS = 10.0
EVENTS = "text/event-stream"


def http_client(server: ToolServer, environ: Mapping[str, str]) -> httpx2.AsyncClient:
    headers = {"Accept-Encoding": "identity"}
    if key := environ.get(server.key_variable, "").strip() if server.key_variable else "":
        headers["Authorization"] = f"Bearer {key}"
    # How long an answer may take is the business of whoever asks.
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    return httpx2.AsyncClient(
        transport=LimitedTransport(server.url, environ), headers=headers, timeout=timeout
    )


class LimitedTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, url: str, environ: Mapping[str, str]) -> None:
        super().__init__(verify=_ssl_context(url), trust_env=False, proxy=proxy_to(url, environ))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.RemoteProtocolError("the answer is packed")
        kind = response.headers.get("content-type", "").lower()
        if not kind.startswith(EVENTS) and isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = LimitedStream(response.stream)
        return response


class LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_ANSWER_BYTES
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise httpx2.StreamError("the answer is too long")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _ssl_context(url: str) -> ssl.SSLContext | bool:
    """Those of the machine, as for the services of models; none are read where nothing is encrypted."""
    return ssl.create_default_context() if url.startswith("https:") else False
