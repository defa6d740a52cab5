"""A connection: what a client may send before there is a request, and how it is told that it may not.

uvicorn's own protocol trusts its clients to send a head of reasonable size, in reasonable time. This one
counts and keeps time, and answers what it cannot read with a problem like any other; after that it reads no
more, so that nothing which follows can pass for a second request. What the parser refuses by itself (two
lengths, folded headers, control characters …) is in the tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

import httptools
from uvicorn._types import ASGI3Application
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from moot.api.origins import origin_of
from moot.api.problems import Problem
from moot.web.responses import raw_reply
from moot.web.server.stall_guard import StallGuard
from moot.web.server.websocket_protocol import close_gently

MAX_QUERY_BYTES = 8 * 1024
MAX_HEAD_BYTES = 16 * 1024
MAX_HEADERS = 100
MAX_PADDING_BYTES = 1024 * 1024
"""What a body may have around it: the frames of its chunks, and trailers, which nobody reads."""


class HttpConnection(StallGuard, HttpToolsProtocol):
    header_seconds = 10.0

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
        self._refused = self._streaming = False
        self._got_bytes = self._in_head = self._in_body = False
        self._head_bytes = 0
        self._padding = 0
        """Bytes of the request under way that have become neither a header nor a body yet."""

    # --- the line -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        self._unset_keepalive_if_required()
        self._give_up()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        parser = self.parser
        if self._refused or parser is None:
            return
        self._unset_keepalive_if_required()
        if not self._busy:
            # Also where the rest of a body comes that was refused long ago.
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
        """Whether the line stays open: one that has asked all it had to may still read. A viewer of a stream
        has left, since nothing else would tell it from one who has."""
        if not self._busy or self.cycle.more_body or self._streaming:
            return False
        self.cycle.keep_alive = False
        return True

    @contextmanager
    def streaming(self) -> Generator[None]:
        """The reply under way has no end of its own."""
        self._streaming = True
        try:
            yield
        finally:
            self._streaming = False

    def abort(self) -> None:
        """Cut it off here and now, whatever has not been sent."""
        self._give_up()
        super().abort()

    def try_write(self, chunk: bytes) -> bool:
        """Write a chunk of the reply under way, unless the client is behind with reading, or gone."""
        if self.flow.write_paused or self.transport.is_closing():
            return False
        self.transport.write(chunk)
        return True

    def refuse(self, problem: Problem) -> None:
        """Say no and read no further. An earlier request is still answered, instead."""
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
        super()._start_asgi_task(cycle, app)

    def _give_up(self) -> None:
        """uvicorn tells only the latest request that its client has gone; an earlier one may be a stream."""
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()

    @property
    def _busy(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    # --- time -----------------------------------------------------------------------------------------

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self._too_late)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        """Whoever has begun to speak is told; a browser that opened a line to have it at hand is not."""
        self._deadline = None
        if self._got_bytes:
            self.refuse(Problem("request-timeout"))
        else:
            self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """Whoever still reads the last reply is not idle yet. With words left that nobody reads, to close
        would be to wait for ever."""
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

    # --- what the parser found ------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._start_deadline()
        self._in_head, self._in_body = True, False
        # What came before it in the same packet belongs to others, and how much that was is unknown.
        self._padding = self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._padding -= len(url)
        # A path may be as long as it likes to be, within a head: there is nothing there, and that is said.
        if len(self.url) > MAX_HEAD_BYTES or len(self.url.partition(b"?")[2]) > MAX_QUERY_BYTES:
            self._stop(Problem("uri-too-long", headers={"Connection": "close"}))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value) + 4
        if self._head_bytes > MAX_HEAD_BYTES or len(self.headers) >= MAX_HEADERS:
            self._stop(Problem("headers-too-large"))
        # A trailer comes when the headers have been judged, and must not be taken for one of them.
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
        """Make the parser stop."""
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
        """Whether an absolute URI means the same host as the header. Nobody else is served here."""
        scheme, _, rest = self.url.decode("latin-1").partition("://")
        authority = rest.partition("/")[0].partition("?")[0]
        named = hosts[0].decode("latin-1") if hosts else authority
        own = origin_of(scheme.lower(), authority)
        return own is not None and own == origin_of(scheme.lower(), named)

    def _path(self) -> str:
        """Of the request under way, as far as it can be read."""
        path = getattr(self, "url", b"").partition(b"?")[0][:MAX_HEAD_BYTES]
        return unquote(path.decode("latin-1"))

    # --- WebSockets -----------------------------------------------------------------------------------

    def _upgrade(self, rest: bytes) -> None:
        """`rest` is what came behind the head in the same packet."""
        if self._should_upgrade():
            self._stop_deadline()
            self.handle_websocket_upgrade()
            upgraded = self.transport.get_protocol()
            if rest and isinstance(upgraded, asyncio.Protocol):
                upgraded.data_received(rest)
        elif self.cycle:
            # Something else was proposed, and we go on as before; but the parser reads no further.
            self.cycle.keep_alive = False


def http_protocol_class(header_seconds: float, stalled_seconds: float) -> type[HttpConnection]:
    """uvicorn makes its connections by itself; so what they need to know stands on their class."""
    known = {"header_seconds": header_seconds, "stalled_seconds": stalled_seconds}
    return type("HttpConnection", (HttpConnection,), known)
