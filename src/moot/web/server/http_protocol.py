"""HTTP connections: limits of size and time for the head of a request, with problems as replies.

uvicorn's own protocol has no deadline for a head and no limit on its size. This one has both, and answers
what it cannot read with a problem like any other. After that it reads no more, so that nothing that follows
can pass for a second request. What the parser itself refuses (two lengths, folded headers, control
characters …) is in the tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import unquote

import httptools
from uvicorn._types import ASGI3Application
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from moot.api.origins import origin_of
from moot.api.problems import Problem
from moot.web.responses import raw_reply
from moot.web.server.stall_guard import StallGuard, close_gently

MAX_QUERY_BYTES = 8 * 1024
MAX_HEAD_BYTES = 16 * 1024
MAX_HEADERS = 100
MAX_PADDING_BYTES = 1024 * 1024
"""Bytes around a body: the chunk headers, and trailers, which are ignored."""
MAX_HELD_BYTES = 64 * 1024
"""Up to this size the parts of a reply are joined to one write. Larger ones are written without a copy."""


class ReplyWriter:
    """Stands in for the transport in a reply: what is written in one pass of the event loop is one write.

    uvicorn writes head, body and end of a reply one by one, and each write is a system call. `flush` is
    called at the end of a reply, and before anything else is done with the connection.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        self._loop = loop
        self._transport = transport
        self._held: list[bytes] = []
        self._held_bytes = 0

    def write(self, data: bytes) -> None:
        if self._held_bytes + len(data) > MAX_HELD_BYTES:
            self.flush()
            self._transport.write(data)
            return
        if not self._held:
            self._loop.call_soon(self.flush)
        self._held.append(data)
        self._held_bytes += len(data)

    def flush(self) -> None:
        if not self._held:
            return
        data = b"".join(self._held)
        self._held.clear()
        self._held_bytes = 0
        if not self._transport.is_closing():
            self._transport.write(data)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self.flush()
        self._transport.close()


class HttpConnection(StallGuard, HttpToolsProtocol):
    header_seconds: float
    """Within which a head must be complete."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self}, _loop)
        self._deadline: asyncio.TimerHandle | None = None
        self._refusal: Problem | None = None
        self._answered: RequestResponseCycle | None = None
        self._refused = False
        self._on_viewer_left: Callable[[], None] | None = None
        """Set while the reply is a stream."""
        self._got_bytes = self._in_head = self._in_body = False
        self._head_bytes = 0
        self._padding = 0
        """Bytes of the current request that are neither part of a header nor of the body."""

    # --- the connection -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self._reply = ReplyWriter(self.loop, transport)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        self._unset_keepalive_if_required()
        self._tell_app_of_disconnect()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        parser = self.parser
        if self._refused or parser is None:
            return
        self._reply.flush()
        self._unset_keepalive_if_required()
        if not self._busy:
            # Also for further bytes of a body that was refused long ago.
            self._start_deadline()
            self._got_bytes = not self._in_body
        self._padding += len(data)
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self.refuse(self._refusal or Problem("malformed-request"))
        else:
            self._check_padding()

    def eof_received(self) -> bool:  # type: ignore[override]  # as asyncio's
        """Whether the connection stays open: a client that sends no more may still read the reply. A viewer
        of a stream counts as gone, since it could not be distinguished from one that left."""
        self._reply.flush()
        if not self._busy or self.cycle.more_body or self._on_viewer_left is not None:
            return False
        self.cycle.keep_alive = False
        return True

    @contextmanager
    def streaming(self, on_viewer_left: Callable[[], None]) -> Generator[None]:
        """While the reply is a stream without an end of its own. The function is called if the viewer leaves
        before, at once if it has left already."""
        self._on_viewer_left = on_viewer_left
        # A further request in the same packet has paused it. Without reading, nobody would see them leave.
        self.flow.resume_reading()
        if self._answered is not None and self._answered.disconnected:
            on_viewer_left()
        try:
            yield
        finally:
            self._on_viewer_left = None

    def abort(self) -> None:
        """Close at once and drop what has not been sent."""
        self._tell_app_of_disconnect()
        super().abort()

    def try_write(self, chunk: bytes) -> bool:
        """Write a chunk of the current reply; False if the client is behind with reading, or gone."""
        if self.flow.write_paused or self.transport.is_closing():
            return False
        self._reply.flush()
        self.transport.write(chunk)
        return True

    def refuse(self, problem: Problem) -> None:
        """Reply with the problem and read no further. An earlier request is answered instead."""
        self._refused = True
        self._stop_deadline()
        if self._busy and not self.cycle.more_body:
            self.cycle.keep_alive = False
            return
        if self._busy:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.pipeline or self.cycle.response_started:
                self.transport.close()
                return
        self.transport.write(raw_reply(problem, self._path()))
        close_gently(self.loop, self.transport)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        # A reply does no more with its transport than a `ReplyWriter` can.
        cycle.transport = cast("asyncio.Transport", self._reply)
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        self._reply.flush()
        super().on_response_complete()

    def shutdown(self) -> None:
        self._reply.flush()
        super().shutdown()

    def _tell_app_of_disconnect(self) -> None:
        """uvicorn does so for the latest request only; an earlier one may be a stream."""
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()
            if self._on_viewer_left is not None:
                self._on_viewer_left()

    @property
    def _busy(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    # --- time -----------------------------------------------------------------------------------------

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self._on_deadline)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _on_deadline(self) -> None:
        """Reply only if a request has begun: browsers open spare connections without sending anything."""
        self._deadline = None
        if self._got_bytes:
            self.refuse(Problem("request-timeout"))
        else:
            self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """A client that still reads the last reply is not idle. Closing with unread bytes would wait for
        ever."""
        if unread := self.transport.get_write_buffer_size():
            again = self.loop.call_later(self.stalled_seconds, self._still_reading, unread)
            self.timeout_keep_alive_task = again
        else:
            super().timeout_keep_alive_handler()

    def _still_reading(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self.timeout_keep_alive_handler()
        else:
            self.abort()

    # --- callbacks of the parser ------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._start_deadline()
        self._in_head, self._in_body = True, False
        # Bytes before it in the same packet belong to an earlier request; their number is unknown.
        self._padding = self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._padding -= len(url)
        # A long path within the limit of the head is answered with 404.
        if len(self.url) > MAX_HEAD_BYTES or len(self.url.partition(b"?")[2]) > MAX_QUERY_BYTES:
            self._stop(Problem("uri-too-long", headers={"Connection": "close"}))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value) + 4
        if self._head_bytes > MAX_HEAD_BYTES or len(self.headers) >= MAX_HEADERS:
            self._stop(Problem("headers-too-large"))
        # Trailers come after the headers were checked, and must not be taken for headers.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._got_bytes, self._in_head, self._in_body = False, False, True
        self._stop_deadline()
        version = self.parser.get_http_version() if self.parser else ""
        if problem := self._wrong_head(version):
            self._stop(problem)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._padding -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def _stop(self, problem: Problem) -> None:
        """Make the parser stop; `data_received` then refuses the request."""
        self._refusal = problem
        raise problem

    def _check_padding(self) -> None:
        if self._in_head and self._padding > MAX_HEAD_BYTES + self._head_bytes:
            self.refuse(Problem("headers-too-large"))
        if self._in_body and self._padding > MAX_PADDING_BYTES:
            self.refuse(Problem("malformed-request"))

    def _wrong_head(self, version: str) -> Problem | None:
        hosts = [value for name, value in self.headers if name == b"host"]
        codings = [value.strip().lower() for name, value in self.headers if name == b"transfer-encoding"]
        if version not in ("1.0", "1.1") or len(hosts) > 1 or (version == "1.1" and not hosts):
            return Problem("malformed-request")
        if codings and (codings != [b"chunked"] or version == "1.0"):
            return Problem("malformed-request")
        if self.url[:1] in (b"/", b"*"):
            return None
        if b"://" not in self.url:
            return Problem("malformed-request")
        return None if self._names_host(hosts) else Problem("misdirected-request")

    def _names_host(self, hosts: list[bytes]) -> bool:
        """Whether an absolute URI names the same host as the header: this is no proxy."""
        scheme, _, location = self.url.decode("latin-1").partition("://")
        authority = location.partition("/")[0].partition("?")[0]
        named = hosts[0].decode("latin-1") if hosts else authority
        own = origin_of(scheme.lower(), authority)
        return own is not None and own == origin_of(scheme.lower(), named)

    def _path(self) -> str:
        """The path of the current request, as far as it can be read."""
        path = getattr(self, "url", b"").partition(b"?")[0][:MAX_HEAD_BYTES]
        return unquote(path.decode("latin-1"))

    # --- WebSockets -----------------------------------------------------------------------------------

    def _upgrade(self, early: bytes) -> None:
        """`early` is what came after the head in the same packet."""
        if self._should_upgrade():
            self._stop_deadline()
            self.handle_websocket_upgrade()
            upgraded = self.transport.get_protocol()
            if early and isinstance(upgraded, asyncio.Protocol):
                upgraded.data_received(early)
        elif self.cycle:
            # Another protocol was proposed: the request is answered, but the parser reads no further.
            self.cycle.keep_alive = False


def http_protocol_class(header_seconds: float, stalled_seconds: float) -> type[HttpConnection]:
    """uvicorn creates the connections itself, so their settings are attributes of a class."""
    attributes = {"header_seconds": header_seconds, "stalled_seconds": stalled_seconds}
    return type("HttpConnection", (HttpConnection,), attributes)
