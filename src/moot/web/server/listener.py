"""uvicorn's server with our settings: where it listens, its limits, and how it stops.

uvicorn waits for streams as for requests that will soon be over. Here the streams are ended first.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress

import uvicorn
from starlette.types import ASGIApp

from moot.api.origins import WILDCARDS, bracketed
from moot.core.errors import Unavailable
from moot.settings import ServerSettings
from moot.web.server.http_protocol import http_protocol_class
from moot.web.server.websocket_protocol import MAX_MESSAGE_BYTES, websocket_protocol_class

BACKLOG = 2048
KEEP_ALIVE_SECONDS = 75
GRACE_SECONDS = 3
PING_SECONDS = 20.0
DATE_SECONDS = 1.0

Ready = Callable[[str], None]
"""Called with the URL when the server can be reached."""


class UvicornServer(uvicorn.Server):
    def __init__(
        self,
        app: ASGIApp,
        service: ServerSettings,
        *,
        end_streams: Callable[[], Awaitable[None]],
        ready: Callable[[], None] | None = None,
        drain_seconds: float = 0.0,
    ) -> None:
        """It answers for `drain_seconds` after an exit is requested, so that a load balancer can notice."""
        self._exit_requested = asyncio.Event()
        super().__init__(_config(app, service))
        self._end_streams = end_streams
        self._ready = ready
        self._drain_seconds = drain_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._ready is not None:
            self._ready()

    @property
    def should_exit(self) -> bool:
        return self._exit_requested.is_set()

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        if value:
            self._exit_requested.set()
        else:
            self._exit_requested.clear()

    async def main_loop(self) -> None:
        """uvicorn's own looks for `should_exit` ten times a second. This one is woken by it; once a second it
        renews the date in the headers."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(DATE_SECONDS):
                    await self._exit_requested.wait()
        await self._drain()

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._drain_seconds
        while (left := until - loop.time()) > 0:
            await asyncio.sleep(min(left, DATE_SECONDS))
            await self.on_tick(0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        await self._end_streams()
        await super().shutdown(sockets)
        await self._cut_off()

    async def _cut_off(self) -> None:
        """Closes the connections that are left after the grace period; uvicorn leaves them open."""
        await asyncio.gather(*self.server_state.tasks, return_exceptions=True)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)

    def request_exit(self) -> None:
        self.should_exit = True

    def active_requests(self) -> int:
        """The number of requests that are being answered, mostly streams."""
        return len(self.server_state.tasks)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """None: the program handles signals, since it has more to stop than the server."""
        yield


def _config(app: ASGIApp, service: ServerSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        interface="asgi3",
        http=http_protocol_class(service.header_seconds, service.stalled_seconds),
        ws=websocket_protocol_class(service.stalled_seconds),
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        # uvicorn would trust forwarded addresses from any program on this machine.
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets for all addresses of the host, on one port; port 0 takes a free one. Raises Unavailable."""
    bound: list[socket.socket] = []
    try:
        for family, address in _addresses(host, port):
            with suppress(_AddressMissing):
                chosen = bound[0].getsockname()[1] if bound else port
                bound.append(_bound(family, (address, chosen)))
    except BaseException:
        for listener in bound:
            listener.close()
        raise
    if not bound:
        raise Unavailable(f"{host} is no address of this machine.", "`--host 127.0.0.1` always is.")
    return bound


def url_of(host: str, port: int) -> str:
    return f"http://{'localhost' if host in WILDCARDS else bracketed(host)}:{port}"


class _AddressMissing(Exception):
    """An address of the host name that this machine does not have: IPv6 may be turned off."""


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    try:
        infos = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise Unavailable(f"There is no host {host}.", "`--host 127.0.0.1` always is.") from None
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in infos))


def _bound(family: socket.AddressFamily, address: tuple[str, int]) -> socket.socket:
    # Without IPPROTO_TCP asyncio does not turn off Nagle's algorithm, which costs 40 ms per reply.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise _explained(error, address[1]) from None
    return listener


def _explained(error: OSError, port: int) -> Exception:
    match error.errno:
        case errno.EADDRINUSE:
            fix = f"`--port {port + 1}` may be free, and `--port 0` takes one that is."
            return Unavailable(f"Something else listens on port {port}.", fix)
        case errno.EACCES:
            return Unavailable(f"Port {port} is not for everybody.", "Ports from 1024 are: `--port 8000`.")
        case errno.EADDRNOTAVAIL:
            return _AddressMissing()
        case _:
            return Unavailable(f"Port {port} cannot be had: {error.strerror}.")
