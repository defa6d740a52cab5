"""Streams of server-sent events, and the one clock that looks after all of them.

A stream sends what its feed has, a comment where a beat has passed in silence, and ends when its dialect has
said its last, when the debate is deleted, when the server stops, when the viewer leaves, or when the viewer
has read nothing for too long. It holds no queue: a slow viewer delays only itself. To a viewer who keeps up
the feed writes directly, the same bytes for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    aclosing,
    asynccontextmanager,
    contextmanager,
    nullcontext,
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
from moot.engine.presence import Presence
from moot.settings import ServerSettings
from moot.web.server.http_protocol import HttpConnection
from moot.web.streaming.feeds import Feed, Feeds, TryWrite, read_bytes

HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
RETRY_FIELD = b"retry: 2000\n"
"""Goes with the first event: a block of its own is an event without data to some readers."""
COMMENT = b":\n"
"""Without a blank line, which some readers take for the end of an event without data."""
EVENT_END = b"\n\n"
SLICE_BYTES = 64 * 1024
PLAIN_SLICE_BYTES, PLAIN_PAUSE_SECONDS = 16 * 1024, 0.02
"""For those who split a stream by hand: so much at once, and seconds to read it in. Sent more than that, they
find it cut wherever a read of theirs ends: in the middle of an event."""
TICK_SECONDS = 1.0
REVIEW_SECONDS = 0.5
"""So often it is looked up who may still watch: whose token was revoked, here or at another node, is let go
within a second."""
RENEW_SECONDS = 15.0


class Watcher:
    """Someone who is being sent something, as the clock sees it."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        """Who opened this: when they would no longer be let in, it ends."""
        self.dismissed = False
        self._task: asyncio.Task[Any] | None = None

    @asynccontextmanager
    async def until_dismissed(self) -> AsyncGenerator[None]:
        """What is done inside breaks off when this viewer is dismissed."""
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
    """Beats for quiet streams, their places kept, and an end for those whose token was revoked.

    However many watch, the store is asked once for all. It stands still where nobody watches, so nobody has
    to stop it.
    """

    def __init__(
        self, feeds: Feeds, service: ServerSettings, presence: Presence, keeper: Authenticator
    ) -> None:
        self._feeds = feeds
        self._service = service
        self._presence = presence
        self._keeper = keeper
        self._watching: dict[Identity, set[Watcher]] = {}
        self._viewers = 0
        self._deserted = asyncio.Event()
        self._doubted = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @contextmanager
    def watch(self, watching: Watcher) -> Generator[None]:
        alike = self._watching.setdefault(watching.identity, set())
        alike.add(watching)
        self._viewers += 1
        self._deserted.clear()
        # Apart: a store that takes its time must not keep quiet streams from their beats.
        for name, run in (("beats", self._beat), ("rights", self._look_after_rights)):
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
                self._deserted.set()

    @property
    def viewers(self) -> int:
        return self._viewers

    def review_soon(self) -> None:
        """Something was revoked here: those who watch with it need not wait for the next look."""
        self._doubted.set()

    async def _beat(self) -> None:
        beaten = renewed = monotonic()
        tick = min(TICK_SECONDS, self._service.comment_seconds)
        while self._watching:
            await _either(tick, self._deserted)
            now = monotonic()
            if now - beaten >= self._service.comment_seconds:
                beaten = now
                self._feeds.heartbeat()
            if now - renewed >= RENEW_SECONDS:
                renewed = now
                await self._presence.renew()

    async def _look_after_rights(self) -> None:
        while self._watching:
            await _either(REVIEW_SECONDS, self._deserted, self._doubted)
            self._doubted.clear()
            # Nobody is dismissed because the store cannot be read just now.
            with suppress(StoreError):
                await self._review()

    async def _review(self) -> None:
        asked = tuple(self._watching)
        known = await self._keeper.known(asked) if asked else set[Identity]()
        for identity in asked:
            if identity not in known:
                for watching in tuple(self._watching.get(identity, ())):
                    watching.dismiss()


async def _either(seconds: float, *events: asyncio.Event) -> None:
    """Wait for one of them, and no longer than that."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


class EventStreamResponse(Response):
    """One viewer's stream. `slot` is the viewer's place among those of its client.

    A `plain` one has no ids, no comments and no greeting, for clients that could not pass them over;
    `extra_headers` are headers of its own.
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
        gone: Frame | None,
        slot: AbstractAsyncContextManager[Any],
        watching: Watcher,
        plain: bool = False,
        extra_headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._feeds = feeds
        self._monitor = monitor
        self._debate_id = debate_id
        self._dialect = dialect
        self._viewer = viewer
        self._cursor = cursor
        self._gone = gone
        self._slot = slot
        self._watching = watching
        self._plain = plain
        self._extra_headers = [
            (name.encode(), value.encode()) for name, value in (extra_headers or {}).items()
        ]
        self._retry_field = b"" if plain else RETRY_FIELD
        self._done = False

    @property
    def left(self) -> bool:
        """The viewer left, or was sent away, before all was told."""
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
        take = partial(self._take, connection) if connection else None
        encode, medium = (as_lines, "lines") if self._plain else (as_sse, "sse")
        reading = self._feeds.open_feed(self._debate_id, self._dialect, self._viewer, encode, medium)
        with self._monitor.watch(self._watching), connection.streaming() if connection else nullcontext():
            disconnect_task = asyncio.create_task(self._until_it_leaves(receive), name="a viewer's door")
            try:
                async with self._watching.until_dismissed(), reading as feed:
                    await self._send(feed, send, take)
            finally:
                disconnect_task.cancel()

    async def _until_it_leaves(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._watching.dismiss()

    async def _send(self, feed: Feed, send: Send, take: TryWrite | None) -> None:
        async with aclosing(read_bytes(feed, self._cursor, take)) as pieces:
            async for piece in pieces:
                if piece or not self._plain:
                    await self._pass_on(self._body(piece), send)
                self._after_first(piece)
        if feed.end == "deleted" and self._gone is not None:
            # It has no place in the log, and so no id.
            body = as_lines(self._gone, "")
            await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _pass_on(self, body: bytes, send: Send) -> None:
        """By the slice: what waits for a viewer to read is a copy of its own, the rest is everybody's."""
        start = 0
        while start < len(body):
            end = _portion(body, start) if self._plain else start + SLICE_BYTES
            await send({"type": "http.response.body", "body": body[start:end], "more_body": True})
            if self._plain:
                await asyncio.sleep(PLAIN_PAUSE_SECONDS)
            start = end

    def _take(self, connection: HttpConnection, piece: bytes) -> bool:
        """Past ASGI, which would cost more than all the rest."""
        if self._plain and not piece:
            return True
        taken = connection.try_write(chunked(self._body(piece)))
        if taken:
            self._after_first(piece)
        return taken

    def _body(self, piece: bytes) -> bytes:
        return self._retry_field + piece if piece else COMMENT

    def _after_first(self, piece: bytes) -> None:
        if piece:
            self._retry_field = b""


def _portion(body: bytes, start: int) -> int:
    """Where to cut: behind the last event that fits, or behind one that is longer."""
    end = body.rfind(EVENT_END, start, start + PLAIN_SLICE_BYTES)
    if end < 0:
        end = body.find(EVENT_END, start, start + SLICE_BYTES)
    return end + len(EVENT_END) if end >= 0 else start + SLICE_BYTES


def chunked(body: bytes) -> bytes:
    """As it goes over the line. The same body is sent to many, and kept for them unless it is large."""
    return _kept(body) if len(body) <= SLICE_BYTES else _framed(body)


def _framed(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(body), body)


_kept = lru_cache(maxsize=16)(_framed)
