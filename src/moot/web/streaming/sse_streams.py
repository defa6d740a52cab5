"""Streams of server-sent events, and the monitor that watches over all streams and sockets.

A stream sends the frames of its feed, and a comment when nothing came for a while. It ends after the last
frame of its dialect, when the debate is deleted, when the server stops, when the viewer leaves or has read
nothing for too long, and when its token is revoked. It has no queue: a slow viewer delays only itself. To a
viewer that keeps up the feed writes directly, the same bytes for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    aclosing,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import lru_cache, partial
from time import monotonic
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from moot.api.auth import Authenticator, Identity
from moot.api.frames import Cursor, Dialect, Frame, as_lines, as_sse
from moot.core.errors import StoreError
from moot.core.visibility import Viewer
from moot.engine.ephemeral_store import Presence
from moot.settings import ServerSettings
from moot.web.server.http_protocol import HttpConnection
from moot.web.streaming.feed_reading import read_bytes
from moot.web.streaming.feeds import EncodeFrame, Feed, Feeds, TryWrite

HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
RETRY_FIELD = b"retry: 2000\n"
"""Sent with the first event: some readers take a block of its own for an event without data."""
COMMENT = b":\n"
"""Without a blank line, which some readers take for the end of an empty event."""
EVENT_END = b"\n\n"
SLICE_BYTES = 64 * 1024
PLAIN_SLICE_BYTES, PLAIN_PAUSE_SECONDS = 16 * 1024, 0.02
"""For clients that split a stream by hand: bytes at once, and seconds between. Sent more at once, they would
read it in parts that end in the middle of an event."""
TICK_SECONDS = 1.0
REVIEW_SECONDS = 0.5
"""How often tokens are checked again: a stream ends within a second after its token was revoked, on any
node."""
RENEW_SECONDS = 15.0


class Watcher:
    """A viewer of a stream or socket, as the monitor knows it."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        """The stream ends when this identity is no longer valid."""
        self.dismissed = False
        self._task: asyncio.Task[Any] | None = None

    @asynccontextmanager
    async def until_dismissed(self) -> AsyncGenerator[None]:
        """The code inside is cancelled when the viewer is dismissed."""
        self._task = task = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            if not self.dismissed or task is None or task.uncancel() > 0:
                raise
        finally:
            self._task = None

    def dismiss(self) -> None:
        self.dismissed = True
        if self._task is not None:
            self._task.cancel()


class StreamMonitor:
    """Sends heartbeats, renews the presence of viewers, and dismisses those whose token was revoked.

    The store is asked once for all viewers. The tasks end when nobody watches, so nothing has to stop them.
    """

    def __init__(
        self, feeds: Feeds, service: ServerSettings, presence: Presence, authenticator: Authenticator
    ) -> None:
        self._feeds = feeds
        self._service = service
        self._presence = presence
        self._authenticator = authenticator
        self._watching: dict[Identity, set[Watcher]] = {}
        self._viewers = 0
        self._unwatched = asyncio.Event()
        self._review_needed = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @contextmanager
    def watch(self, watching: Watcher) -> Generator[None]:
        alike = self._watching.setdefault(watching.identity, set())
        alike.add(watching)
        self._viewers += 1
        self._unwatched.clear()
        # Two tasks: a slow store must not delay the heartbeats.
        for name, run in (("heartbeats", self._send_heartbeats), ("rights", self._check_rights)):
            if name not in self._tasks or self._tasks[name].done():
                self._tasks[name] = asyncio.create_task(run(), name=f"{name} of the streams")
        try:
            yield
        finally:
            self._viewers -= 1
            alike.discard(watching)
            if not alike and self._watching.get(watching.identity) is alike:
                del self._watching[watching.identity]
            if not self._watching:
                self._unwatched.set()

    @property
    def viewers(self) -> int:
        return self._viewers

    def review_soon(self) -> None:
        """A token or invitation was revoked: check the viewers at once."""
        self._review_needed.set()

    async def _send_heartbeats(self) -> None:
        last_beat = renewed = monotonic()
        tick = min(TICK_SECONDS, self._service.comment_seconds)
        while self._watching:
            await _wait_for_any(tick, self._unwatched)
            now = monotonic()
            if now - last_beat >= self._service.comment_seconds:
                last_beat = now
                self._feeds.heartbeat()
            if now - renewed >= RENEW_SECONDS:
                renewed = now
                await self._presence.renew()

    async def _check_rights(self) -> None:
        while self._watching:
            await _wait_for_any(REVIEW_SECONDS, self._unwatched, self._review_needed)
            self._review_needed.clear()
            # While the store cannot be reached, no viewer is disconnected.
            with suppress(StoreError):
                await self._review()

    async def _review(self) -> None:
        identities = tuple(self._watching)
        valid = await self._authenticator.known(identities) if identities else set[Identity]()
        for identity in identities:
            if identity not in valid:
                for watching in tuple(self._watching.get(identity, ())):
                    watching.dismiss()


async def _wait_for_any(seconds: float, *events: asyncio.Event) -> None:
    """Wait until one of the events is set, at most so many seconds."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


class EventStreamResponse(Response):
    """The stream of one viewer. `slot` counts it among the streams of its client while it lasts.

    `deleted_frame` is sent when the debate is deleted. `version` is that of the debate when it was found. A
    `plain` stream has no ids, comments and retry field, for clients that cannot skip them. `id_prefix` stands
    before every id; streams of the same dialect and viewer have the same one.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        feeds: Feeds,
        monitor: StreamMonitor,
        *,
        debate_id: str,
        dialect: Dialect,
        viewer: Viewer,
        cursor: Cursor,
        deleted_frame: Frame | None,
        slot: AbstractAsyncContextManager[Any],
        watching: Watcher,
        version: int = 0,
        plain: bool = False,
        id_prefix: str = "",
        extra_headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._feeds = feeds
        self._monitor = monitor
        self._debate_id = debate_id
        self._dialect = dialect
        self._viewer = viewer
        self._cursor = cursor
        self._gone = deleted_frame
        self._slot = slot
        self._watching = watching
        self._version = version
        self._plain = plain
        self._id_prefix = id_prefix
        self._extra_headers = [
            (name.encode(), value.encode()) for name, value in (extra_headers or {}).items()
        ]
        self._retry_field = b"" if plain else RETRY_FIELD
        self._done = False

    @property
    def left(self) -> bool:
        """Whether the viewer left or was dismissed before the end of the stream."""
        return self._watching.dismissed or not self._done

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._slot:
            await send(
                {"type": "http.response.start", "status": 200, "headers": [*HEADERS, *self._extra_headers]}
            )
            if scope["method"] != "HEAD":
                await self._stream(scope, receive, send)
                self._done = not self._watching.dismissed
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = scope["state"].get("connection")
        connection = connection if isinstance(connection, HttpConnection) else None
        try_write = partial(self._try_write, connection) if connection else None
        medium = "lines" if self._plain else "sse"
        reading = self._feeds.open_feed(
            self._debate_id, self._dialect, self._viewer, self._encoder, medium, self._version
        )
        leave = self._watching.dismiss
        leaving = connection.streaming(leave) if connection else self._dismissed_on_disconnect(receive)
        with self._monitor.watch(self._watching), leaving:
            if self._watching.dismissed:
                return
            async with self._watching.until_dismissed(), reading as feed:
                await self._send(feed, send, try_write)

    @property
    def _encoder(self) -> EncodeFrame:
        if self._plain:
            return as_lines
        prefix = self._id_prefix
        return (lambda frame, id: as_sse(frame, prefix + id)) if prefix else as_sse

    @contextmanager
    def _dismissed_on_disconnect(self, receive: Receive) -> Generator[None]:
        """With another server than ours, as in tests, a task waits for the viewer to leave."""
        task = asyncio.create_task(self._dismiss_on_disconnect(receive), name="wait for disconnect")
        try:
            yield
        finally:
            task.cancel()

    async def _dismiss_on_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._watching.dismiss()

    async def _send(self, feed: Feed, send: Send, try_write: TryWrite | None) -> None:
        async with aclosing(read_bytes(feed, self._cursor, try_write)) as pieces:
            async for piece in pieces:
                if piece or not self._plain:
                    await self._send_slices(self._body(piece), send)
                if piece:
                    self._retry_field = b""
        if feed.end == "deleted" and self._gone is not None:
            # It is no event of the log, and has no id.
            body = as_lines(self._gone, "")
            await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _send_slices(self, body: bytes, send: Send) -> None:
        """In slices: what waits to be written is copied, while the body is shared by all viewers."""
        start = 0
        while start < len(body):
            end = _plain_slice_end(body, start) if self._plain else start + SLICE_BYTES
            await send({"type": "http.response.body", "body": body[start:end], "more_body": True})
            if self._plain:
                await asyncio.sleep(PLAIN_PAUSE_SECONDS)
            start = end

    def _try_write(self, connection: HttpConnection, piece: bytes) -> bool:
        """Write to the connection itself: ASGI would cost more than everything else on the way."""
        if self._plain and not piece:
            return True
        if not connection.try_write(chunked(self._body(piece))):
            return False
        if piece:
            self._retry_field = b""
        return True

    def _body(self, piece: bytes) -> bytes:
        return self._retry_field + piece if piece else COMMENT


def _plain_slice_end(body: bytes, start: int) -> int:
    """The end of a slice: after the last event that fits, or after the first if it is longer."""
    end = body.rfind(EVENT_END, start, start + PLAIN_SLICE_BYTES)
    if end < 0:
        end = body.find(EVENT_END, start, start + SLICE_BYTES)
    return end + len(EVENT_END) if end >= 0 else start + SLICE_BYTES


def chunked(body: bytes) -> bytes:
    """The body in chunked transfer encoding. Small results are cached: many viewers get the same body."""
    return _cached_chunk(body) if len(body) <= SLICE_BYTES else _chunk(body)


def _chunk(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(body), body)


_cached_chunk = lru_cache(maxsize=16)(_chunk)
