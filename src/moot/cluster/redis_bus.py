"""The bus between processes: what one has committed is sent to the others through Redis at once.

Each debate has two channels, one for its words and one for everything else, so that a runner, which waits
only for the latter, is not sent the words. A message is the id of its sender and the records; without records
(they are too many, or the debate was deleted) the receiver reads the log. A process ignores its own messages.

Messages are only hints. While Redis is away they are dropped and nothing waits for it: the log is read once a
second anyway.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count, islice
from secrets import token_bytes
from typing import Any

import msgspec

from moot.cluster.redis_client import RedisConnection, RedisConnections, RedisServer
from moot.core.events import CallDelta, Recorded, SegmentCompleted, decode_records
from moot.store.contract import Listener

RecordsOrGone = tuple[Recorded, ...] | None

MAX_QUEUED = 10_000
MAX_MESSAGE_BYTES = 256 * 1024
AT_ONCE = 500
YIELD_EVERY = 64
FLUSH_SECONDS = 1.0
PING_SECONDS = 5.0
SILENCE_SECONDS = 12.0

PROBE_CHANNEL = b"moot:hello"
"""No process listens there; it shows that we may publish."""
WORDS, TURNS = b":w", b":t"
RECORDS, LOOK = b"r", b"l"
SENDER_ID_BYTES = 8

_encoder = msgspec.json.Encoder(decimal_format="string")


class ChannelNames:
    """Channels of Redis are not separated by database number, so the number is part of their names."""

    def __init__(self, number: int) -> None:
        self._prefix = b"moot:%d:" % number

    def of(self, debate_id: str, kind: bytes) -> bytes:
        return self._prefix + debate_id.encode() + kind


class RedisBus:
    def __init__(self, server: RedisServer) -> None:
        self._server = server
        self._connections = RedisConnections(server)
        self._listeners: list[Listener] = []
        self._closed = False
        sender_id, channels = token_bytes(SENDER_ID_BYTES), ChannelNames(server.number)
        self._publisher = RedisPublisher(self._connections, sender_id, channels)
        self._subscriber = RedisSubscriber(self._connections, sender_id, channels, self._notify)

    @property
    def connection_error(self) -> str:
        """Why messages of other processes are late; empty where they are not."""
        return self._server.connection_error

    @property
    def delivers(self) -> bool:
        return self._subscriber.connected and not self._server.connection_error

    def publish(self, debate_id: str, records: RecordsOrGone) -> None:
        self._notify(debate_id, records)
        if not self._closed:
            self._publisher.put(debate_id, records)

    def add_listener(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def subscribe(self, debate_id: str, *, words: bool) -> None:
        if not self._closed:
            self._subscriber.set_channels(debate_id, (WORDS, TURNS) if words else (TURNS,))

    def unsubscribe(self, debate_id: str) -> None:
        self._subscriber.set_channels(debate_id, ())

    async def close(self) -> None:
        self._closed = True
        self._listeners.clear()
        await self._publisher.flush()
        await self._connections.close()

    def _notify(self, debate_id: str, records: RecordsOrGone) -> None:
        for listener in self._listeners:
            listener(debate_id, records)


class RedisPublisher:
    """Sends what this process publishes, in as few round trips as possible."""

    def __init__(self, connections: RedisConnections, sender_id: bytes, channels: ChannelNames) -> None:
        self._connections = connections
        self._sender_id = sender_id
        self._channels = channels
        self._queue: deque[tuple[str, RecordsOrGone]] = deque()
        self._connection: RedisConnection | None = None
        self._filled, self._empty = asyncio.Event(), asyncio.Event()
        self._empty.set()

    def put(self, debate_id: str, records: RecordsOrGone) -> None:
        if self._connection is None:
            self._connection = self._connections.keep_open("publishing", self._send, self._drop)
        if self._connection.broken or len(self._queue) >= MAX_QUEUED:
            return
        self._queue.append((debate_id, records))
        self._empty.clear()
        self._filled.set()

    async def flush(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._empty.wait()

    async def _send(self, connection: RedisConnection) -> None:
        await connection.request([("PUBLISH", PROBE_CHANNEL, b"")])
        connection.mark_working()
        while True:
            if not self._queue:
                self._empty.set()
                self._filled.clear()
                await self._filled.wait()
            await connection.request(list(self._messages(self._next_batch())))

    def _drop(self) -> None:
        self._queue.clear()
        self._empty.set()

    def _next_batch(self) -> Iterator[tuple[str, RecordsOrGone]]:
        for _ in range(min(len(self._queue), AT_ONCE)):
            yield self._queue.popleft()

    def _messages(self, changes: Iterable[tuple[str, RecordsOrGone]]) -> Iterator[tuple[bytes | str, ...]]:
        """Consecutive records of one debate in one channel are one message; the order is kept."""
        messages: list[tuple[bytes, list[Recorded] | None]] = []
        latest: dict[str, int] = {}
        for debate_id, records in changes:
            channel = self._channels.of(debate_id, WORDS if records and _only_words(records) else TURNS)
            known, open_message = messages[latest[debate_id]] if debate_id in latest else (b"", None)
            if records is not None and open_message is not None and known == channel:
                open_message += records
            else:
                latest[debate_id] = len(messages)
                messages.append((channel, None if records is None else list(records)))
        for channel, message in messages:
            yield "PUBLISH", channel, self._sender_id + _encode_message(message)


class RedisSubscriber:
    """Subscribes to the channels of the debates that are followed here, and delivers their messages."""

    def __init__(
        self,
        connections: RedisConnections,
        sender_id: bytes,
        channels: ChannelNames,
        deliver: Callable[[str, RecordsOrGone], None],
    ) -> None:
        self._connections = connections
        self._sender_id = sender_id
        self._channels = channels
        self._deliver = deliver
        self._wanted: dict[bytes, str] = {}
        self._joined: set[bytes] = set()
        self._changed: set[bytes] = set()
        self._channels_changed = asyncio.Event()
        self._heard_at = 0.0
        self._connection: RedisConnection | None = None

    @property
    def connected(self) -> bool:
        return self._connection is not None and not self._connection.broken

    def set_channels(self, debate_id: str, kinds: tuple[bytes, ...]) -> None:
        for kind in (WORDS, TURNS):
            channel = self._channels.of(debate_id, kind)
            if (channel in self._wanted) == (kind in kinds):
                continue
            if kind in kinds:
                self._wanted[channel] = debate_id
            else:
                del self._wanted[channel]
            self._changed.add(channel)
            self._channels_changed.set()
        if self._connection is None and self._wanted:
            self._connection = self._connections.keep_open("listening", self._listen)

    async def _listen(self, connection: RedisConnection) -> None:
        await connection.request([("PING",)])
        self._joined, self._changed = set(), set(self._wanted)
        self._channels_changed.set()
        if not self._wanted:
            connection.mark_working()
        self._heard_at = _now()
        asking = asyncio.create_task(self._keep_asking(connection), name="redis subscriptions")
        try:
            for number in count(1):
                self._on_message(connection, await connection.read())
                if number % YIELD_EVERY == 0:
                    await asyncio.sleep(0)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _keep_asking(self, connection: RedisConnection) -> None:
        """A connection on which this fails is closed, which ends the reader, too."""
        while True:
            try:
                async with asyncio.timeout(PING_SECONDS):
                    await self._channels_changed.wait()
            except TimeoutError:
                await connection.send([("PING",)])
            if _now() - self._heard_at > SILENCE_SECONDS:
                await connection.disconnect()
                return
            self._channels_changed.clear()
            changed, self._changed = self._changed, set()
            await self._ask(connection, changed)

    async def _ask(self, connection: RedisConnection, changed: set[bytes]) -> None:
        joining = [channel for channel in changed if channel in self._wanted and channel not in self._joined]
        leaving = [channel for channel in changed if channel not in self._wanted and channel in self._joined]
        self._joined.update(joining)
        self._joined.difference_update(leaving)
        commands = [("SUBSCRIBE", *batch) for batch in _batches(AT_ONCE, joining)]
        commands += [("UNSUBSCRIBE", *batch) for batch in _batches(AT_ONCE, leaving)]
        if commands:
            await connection.send(commands)

    def _on_message(self, connection: RedisConnection, message: Any) -> None:
        self._heard_at = _now()
        match message:
            case [b"message", channel, bytes(body)]:
                debate_id = self._wanted.get(channel)
                if debate_id is not None and not body.startswith(self._sender_id):
                    self._deliver(debate_id, _decode_message(body[SENDER_ID_BYTES:]))
            case [b"subscribe", channel, _]:
                connection.mark_working()
                # Earlier messages were missed: have the log read once.
                if channel in self._wanted:
                    self._deliver(self._wanted[channel], ())
            case _:
                pass


def _only_words(records: tuple[Recorded, ...]) -> bool:
    return all(isinstance(recorded.event, CallDelta | SegmentCompleted) for recorded in records)


def _encode_message(message: list[Recorded] | None) -> bytes:
    text = b"" if message is None else _encoder.encode(message)
    return RECORDS + text if 0 < len(text) <= MAX_MESSAGE_BYTES else LOOK


def _decode_message(message: bytes) -> tuple[Recorded, ...]:
    if not message.startswith(RECORDS) or len(message) > MAX_MESSAGE_BYTES + 1:
        return ()
    try:
        return decode_records(message[1:])
    except (msgspec.MsgspecError, RecursionError):
        # A newer Moot may send events that this one does not know, which reading the log reports. And anyone
        # who reaches Redis may have sent it.
        return ()


def _batches(size: int, channels: list[bytes]) -> Iterator[tuple[bytes, ...]]:
    remaining = iter(channels)
    while batch := tuple(islice(remaining, size)):
        yield batch


def _now() -> float:
    return asyncio.get_running_loop().time()
