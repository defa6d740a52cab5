"""The bus between processes: what one has committed the others hear through Redis, at once.

Each debate has two channels, one for its words and one for everything else, so that a runner, who waits only
for the latter, is not sent the words. A message is the mark of its sender and the records, or nothing where
they are too many or the debate is gone, and then the log is looked at. Whoever finds its own mark passes it
over.

All of it is a hint. While Redis is away nothing is kept for it, nobody waits for it, and neither the store
nor the hub is told: the log is looked at once a second anyway.
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
from moot.core.events import CallDelta, Recorded, SegmentCompleted
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
"""Nobody listens there; it shows that we may speak."""
WORDS, TURNS = b":w", b":t"
RECORDS, LOOK = b"r", b"l"
SENDER_ID_BYTES = 8

_encoder = msgspec.json.Encoder(decimal_format="string")
_decoder = msgspec.json.Decoder(tuple[Recorded, ...])


class ChannelNames:
    """Redis has no channels a database. Ours are: a copy of an arena beside it may have another number."""

    def __init__(self, number: int) -> None:
        self._prefix = b"moot:%d:" % number

    def of(self, debate_id: str, kind: bytes) -> bytes:
        return self._prefix + debate_id.encode() + kind


class RedisBus:
    def __init__(self, reach: RedisServer) -> None:
        self._reach = reach
        self._lines = RedisConnections(reach)
        self._listeners: list[Listener] = []
        self._closed = False
        mark, channels = token_bytes(SENDER_ID_BYTES), ChannelNames(reach.number)
        self._publisher = RedisPublisher(self._lines, mark, channels)
        self._subscriber = RedisSubscriber(self._lines, mark, channels, self._notify)

    @property
    def connection_error(self) -> str:
        """Why other processes are heard late; empty where they are not."""
        return self._reach.connection_error

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
        await self._lines.close()

    def _notify(self, debate_id: str, records: RecordsOrGone) -> None:
        for listener in self._listeners:
            listener(debate_id, records)


class RedisPublisher:
    """What this process has to tell. It is sent by as few round trips as there is time for."""

    def __init__(self, lines: RedisConnections, mark: bytes, channels: ChannelNames) -> None:
        self._lines = lines
        self._mark = mark
        self._channels = channels
        self._queue: deque[tuple[str, RecordsOrGone]] = deque()
        self._line: RedisConnection | None = None
        self._filled, self._empty = asyncio.Event(), asyncio.Event()
        self._empty.set()

    def put(self, debate_id: str, records: RecordsOrGone) -> None:
        if self._line is None:
            self._line = self._lines.keep_open("telling", self._send, self._drop)
        if self._line.broken or len(self._queue) >= MAX_QUEUED:
            return
        self._queue.append((debate_id, records))
        self._empty.clear()
        self._filled.set()

    async def flush(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._empty.wait()

    async def _send(self, line: RedisConnection) -> None:
        await line.request([("PUBLISH", PROBE_CHANNEL, b"")])
        line.mark_working()
        while True:
            if not self._queue:
                self._empty.set()
                self._filled.clear()
                await self._filled.wait()
            await line.request(list(self._messages(self._next_batch())))

    def _drop(self) -> None:
        self._queue.clear()
        self._empty.set()

    def _next_batch(self) -> Iterator[tuple[str, RecordsOrGone]]:
        for _ in range(min(len(self._queue), AT_ONCE)):
            yield self._queue.popleft()

    def _messages(self, news: Iterable[tuple[str, RecordsOrGone]]) -> Iterator[tuple[bytes | str, ...]]:
        """Neighbours of one debate in one channel are one message; nothing overtakes anything."""
        letters: list[tuple[bytes, list[Recorded] | None]] = []
        latest: dict[str, int] = {}
        for debate_id, records in news:
            channel = self._channels.of(debate_id, WORDS if records and _only_words(records) else TURNS)
            known, open_letter = letters[latest[debate_id]] if debate_id in latest else (b"", None)
            if records is not None and open_letter is not None and known == channel:
                open_letter += records
            else:
                latest[debate_id] = len(letters)
                letters.append((channel, None if records is None else list(records)))
        for channel, letter in letters:
            yield "PUBLISH", channel, self._mark + _encode_message(letter)


class RedisSubscriber:
    """The channels that this process listens to, and what comes from there."""

    def __init__(
        self,
        lines: RedisConnections,
        mark: bytes,
        channels: ChannelNames,
        tell: Callable[[str, RecordsOrGone], None],
    ) -> None:
        self._lines = lines
        self._mark = mark
        self._channels = channels
        self._tell = tell
        self._wanted: dict[bytes, str] = {}
        self._joined: set[bytes] = set()
        self._changed: set[bytes] = set()
        self._channels_changed = asyncio.Event()
        self._heard_at = 0.0
        self._line: RedisConnection | None = None

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
        if self._line is None and self._wanted:
            self._line = self._lines.keep_open("listening", self._listen)

    async def _listen(self, line: RedisConnection) -> None:
        await line.request([("PING",)])
        self._joined, self._changed = set(), set(self._wanted)
        self._channels_changed.set()
        if not self._wanted:
            line.mark_working()
        self._heard_at = _now()
        asking = asyncio.create_task(self._keep_asking(line), name="redis subscriptions")
        try:
            for number in count(1):
                self._on_message(line, await line.read())
                if number % YIELD_EVERY == 0:
                    await asyncio.sleep(0)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _keep_asking(self, line: RedisConnection) -> None:
        """A line on which this fails is closed by it, and so the reader knows too."""
        while True:
            try:
                async with asyncio.timeout(PING_SECONDS):
                    await self._channels_changed.wait()
            except TimeoutError:
                await line.send([("PING",)])
            if _now() - self._heard_at > SILENCE_SECONDS:
                await line.disconnect()
                return
            self._channels_changed.clear()
            changed, self._changed = self._changed, set()
            await self._ask(line, changed)

    async def _ask(self, line: RedisConnection, changed: set[bytes]) -> None:
        joining = [channel for channel in changed if channel in self._wanted and channel not in self._joined]
        leaving = [channel for channel in changed if channel not in self._wanted and channel in self._joined]
        self._joined.update(joining)
        self._joined.difference_update(leaving)
        commands = [("SUBSCRIBE", *some) for some in _by(AT_ONCE, joining)]
        commands += [("UNSUBSCRIBE", *some) for some in _by(AT_ONCE, leaving)]
        if commands:
            await line.send(commands)

    def _on_message(self, line: RedisConnection, message: Any) -> None:
        self._heard_at = _now()
        match message:
            case [b"message", channel, bytes(letter)]:
                debate_id = self._wanted.get(channel)
                if debate_id is not None and not letter.startswith(self._mark):
                    self._tell(debate_id, _decode_message(letter[SENDER_ID_BYTES:]))
            case [b"subscribe", channel, _]:
                line.mark_working()
                # What was said before now was not for us: have the log looked at once.
                if channel in self._wanted:
                    self._tell(self._wanted[channel], ())
            case _:
                pass


def _only_words(records: tuple[Recorded, ...]) -> bool:
    return all(isinstance(recorded.event, CallDelta | SegmentCompleted) for recorded in records)


def _encode_message(letter: list[Recorded] | None) -> bytes:
    text = b"" if letter is None else _encoder.encode(letter)
    return RECORDS + text if 0 < len(text) <= MAX_MESSAGE_BYTES else LOOK


def _decode_message(letter: bytes) -> tuple[Recorded, ...]:
    if not letter.startswith(RECORDS) or len(letter) > MAX_MESSAGE_BYTES + 1:
        return ()
    try:
        return _decoder.decode(letter[1:])
    except (msgspec.MsgspecError, RecursionError):
        # A newer Moot may speak of what this one does not know; the store says so where it matters. And
        # anybody who reaches Redis may have said it.
        return ()


def _by(size: int, channels: list[bytes]) -> Iterator[tuple[bytes, ...]]:
    rest = iter(channels)
    while some := tuple(islice(rest, size)):
        yield some


def _now() -> float:
    return asyncio.get_running_loop().time()
