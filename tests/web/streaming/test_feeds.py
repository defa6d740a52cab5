"""Readers of a feed: those that are woken to read, and those to which new bytes are written directly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from random import Random

import pytest

from moot.api.frames import Cursor, Dialect, Frame, NativeFrames
from moot.api.v1.stream_frames import V1Frames
from moot.core.events import CallFailed, DebateEnded, DebateFailed, Event, TurnFailed, TurnRetried
from moot.core.terms import Money, Usage
from moot.core.visibility import OWNER
from moot.engine.followers import Followers, MemoryBus
from moot.store.memory import MemoryStore
from moot.testing.event_factories import call_started, delta, opened, turn_started
from moot.web.streaming import feeds
from moot.web.streaming.feed_reading import read_bytes, tells_more
from moot.web.streaming.feeds import PAGE_EVENTS, Feed, Feeds

EVENTS = 2 * PAGE_EVENTS + 50


class House:
    """A debate that is written down as fast as it can be, in batches of any size."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        bus = MemoryBus()
        self.store.listen(bus.publish)
        self.hub = Followers(self.store, bus)
        self.feeds = Feeds(self.store, self.hub)
        self.written = 0

    async def write(self, *events: Event) -> None:
        await self.store.record("deb_1", lambda _: events)
        self.written += len(events)

    async def speak(self, upto: int, dice: Random) -> None:
        while self.written < upto:
            words = min(dice.randint(1, 9), upto - self.written)
            await self.write(*(delta(f"{self.written + n + 1} ") for n in range(words)))
            for _ in range(dice.randint(0, 3)):
                await asyncio.sleep(0)


@pytest.fixture
async def house() -> AsyncGenerator[House]:
    house = House()
    await house.write(opened(), turn_started(), call_started())
    yield house
    await house.hub.close()


class Reader:
    """Takes what it is handed when it is in the mood, and reads the rest."""

    def __init__(self, dice: Random | None) -> None:
        self.dice = dice
        self.seen: list[str] = []
        self.handed: int = 0
        self.beats: int = 0

    def take(self, piece: bytes) -> bool:
        if self.dice is None or self.dice.random() < 0.3:
            return False
        self.handed += 1
        self._see(piece)
        return True

    async def read(self, feed: Feed, cursor: int, upto: int) -> None:
        async with aclosing(read_bytes(feed, Cursor(cursor), self.take)) as pieces:
            async for piece in pieces:
                self._see(piece)
                if self.dice is not None and self.dice.random() < 0.3:
                    await asyncio.sleep(0)
                if self.seen and int(self.seen[-1]) >= upto:
                    return

    def _see(self, piece: bytes) -> None:
        self.beats += not piece
        self.seen += piece.decode().split()


class Always(Reader):
    def __init__(self) -> None:
        super().__init__(Random(0))

    def take(self, piece: bytes) -> bool:
        self.handed += 1
        self._see(piece)
        return True


def number(frame: Frame, id: str) -> bytes:
    return f"{id} ".encode()


async def follow(house: House, reader: Reader, cursor: int, upto: int, dialect: Dialect) -> None:
    async with house.feeds.open_feed("deb_1", dialect, OWNER, number) as feed:
        await reader.read(feed, cursor, upto)


@pytest.mark.parametrize("seed", range(20))
async def test_whoever_stands_by_now_and_then_is_told_everything_once(house: House, seed: int) -> None:
    dice = Random(seed)
    await house.speak(dice.randint(3, EVENTS - 50), dice)
    cursors = [0, house.written, *(dice.randint(0, house.written) for _ in range(6))]
    readers = [Reader(Random(seed + n)) for n in range(len(cursors))]
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for reader, cursor in zip(readers, cursors, strict=True):
            group.create_task(follow(house, reader, cursor, EVENTS + 1, NativeFrames()))
        await house.speak(EVENTS, dice)
        # They end where they read, and so the last is handed to nobody.
        for reader in readers:
            reader.dice = None
        await asyncio.sleep(0.01)
        await house.write(delta("the last"))
    assert sum(reader.handed for reader in readers) > 0
    for reader, cursor in zip(readers, cursors, strict=True):
        assert reader.seen == [str(seq) for seq in range(cursor + 1, EVENTS + 2)]


@pytest.mark.parametrize("events", [20, PAGE_EVENTS, PAGE_EVENTS + 1])
async def test_whoever_stands_by_learns_that_it_is_over(house: House, events: int) -> None:
    reader = Always()
    watching = asyncio.create_task(follow(house, reader, house.written, EVENTS, V1Frames()))
    await asyncio.sleep(0.01)
    await house.speak(events - 1, Random(1))
    await house.write(DebateEnded("rounds"))
    async with asyncio.timeout(60):
        await watching
    assert reader.handed > 0
    assert reader.seen[-1] == str(events)


@pytest.mark.parametrize("events", [10, *range(PAGE_EVENTS - 4, PAGE_EVENTS + 2)])
async def test_readers_leave_where_a_debate_failed_and_come_back_when_it_goes_on(
    house: House, events: int
) -> None:
    standing = Always()
    first = asyncio.create_task(follow(house, standing, 0, 10**9, V1Frames()))
    await house.speak(events, Random(events))
    failed = CallFailed(1, "bad_key", "permanent", "No key.", Usage(), Money(0))
    await house.write(failed, TurnFailed(1, "bad_key", "No key."), DebateFailed("permanent_fault"))
    late, at_the_end = Reader(None), Reader(None)
    async with asyncio.timeout(60):
        await first
        await follow(house, late, 0, 10**9, V1Frames())
        await follow(house, at_the_end, house.written, 10**9, V1Frames())
    assert standing.seen == late.seen
    assert standing.seen[-1] == str(house.written)
    assert at_the_end.seen == []
    assert not await tells_more(house.store, "deb_1", V1Frames(), OWNER, Cursor(house.written))
    went_on = house.written
    await house.write(TurnRetried(1))
    assert await tells_more(house.store, "deb_1", V1Frames(), OWNER, Cursor(went_on))
    back = Reader(None)
    following = asyncio.create_task(follow(house, back, went_on, 10**9, V1Frames()))
    await house.write(DebateEnded("stopped"))
    async with asyncio.timeout(60):
        await following
    assert back.seen[-1] == str(house.written)


async def test_a_beat_is_handed_to_those_who_stand_by_and_read_by_those_who_would_not_take_it(
    house: House,
) -> None:
    willing, behind = Always(), Reader(None)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(follow(house, reader, house.written, EVENTS, NativeFrames()))
            for reader in (willing, behind)
        ]
        await asyncio.sleep(0.01)
        house.feeds.heartbeat()
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
    assert (willing.beats, willing.handed) == (1, 1)
    assert (behind.beats, behind.handed) == (1, 0)


async def test_whoever_stood_by_and_left_is_handed_nothing_more(house: House) -> None:
    reader, other = Always(), Always()
    watching = asyncio.create_task(follow(house, reader, house.written, EVENTS, NativeFrames()))
    staying = asyncio.create_task(follow(house, other, house.written, EVENTS, NativeFrames()))
    await asyncio.sleep(0.01)
    await house.write(delta("one"))
    await asyncio.sleep(0.01)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    await house.write(delta("two"))
    await asyncio.sleep(0.01)
    staying.cancel()
    await asyncio.gather(staying, return_exceptions=True)
    assert (reader.seen, other.seen) == (["4"], ["4", "5"])


@pytest.mark.parametrize("events", [PAGE_EVENTS, 2 * PAGE_EVENTS, PAGE_EVENTS + 1])
async def test_a_cursor_within_the_last_event_comes_to_the_end(house: House, events: int) -> None:
    await house.speak(events - 1, Random(1))
    await house.write(DebateEnded("rounds"))
    async with asyncio.timeout(60), house.feeds.open_feed("deb_1", V1Frames(), OWNER, number) as feed:
        rest = b"".join([piece async for piece in read_bytes(feed, Cursor(events, 1), lambda _: True)])
    assert rest.split() == [b"%d" % events]


async def test_a_feed_is_kept_for_a_moment_after_its_last_reader(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "IDLE_SECONDS", 0.05)

    async def visit() -> Feed:
        async with house.feeds.open_feed("deb_1", NativeFrames(), OWNER, number) as feed:
            await feed.page(0)
            return feed

    first = await visit()
    assert await visit() is first
    await house.write(delta("while nobody reads"))
    late = Reader(None)
    await follow(house, late, 0, house.written, NativeFrames())
    assert late.seen == [str(seq) for seq in range(1, house.written + 1)]
    await asyncio.sleep(0.2)
    assert not house.feeds._feeds
    assert not house.feeds._closing
    assert await visit() is not first


async def test_a_feed_that_is_behind_does_not_end_for_who_knows_that_the_debate_went_on(house: House) -> None:
    failed = CallFailed(1, "bad_key", "permanent", "No key.", Usage(), Money(0))
    await house.write(failed, TurnFailed(1, "bad_key", "No key."), DebateFailed("permanent_fault"))
    failed_at = house.written
    async with asyncio.timeout(60):
        await follow(house, Reader(None), 0, 10**9, V1Frames())
        # The log of another node goes on; here nothing of it is known yet.
        reading = house.feeds.open_feed("deb_1", V1Frames(), OWNER, number, version=failed_at + 1)
        async with reading as feed:
            back = Reader(None)
            following = asyncio.create_task(back.read(feed, failed_at, failed_at + 2))
            await asyncio.sleep(0.05)
            assert not following.done()
            await house.write(TurnRetried(1), turn_started(), call_started(), delta("again"))
            await following
    assert int(back.seen[-1]) > failed_at


async def test_who_reads_old_pages_of_a_debate_that_is_deleted_is_told_that_it_is_gone(house: House) -> None:
    await house.speak(EVENTS, Random(2))
    async with asyncio.timeout(60), house.feeds.open_feed("deb_1", NativeFrames(), OWNER, number) as feed:
        async with aclosing(read_bytes(feed, Cursor())) as pieces:
            await anext(pieces)
            await house.store.delete("deb_1")
            async for _ in pieces:
                pass
        assert feed.end == "deleted"


async def test_a_page_that_was_being_built_while_its_debate_was_deleted_is_not_kept(house: House) -> None:
    await house.speak(EVENTS, Random(3))
    async with house.feeds.open_feed("deb_1", NativeFrames(), OWNER, number) as feed:
        building = asyncio.create_task(feed.page(0))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        house.feeds.on_records("deb_1", None)
        await building
        assert not house.feeds._cache._pages
