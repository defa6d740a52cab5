"""SIGTERM while a hundred viewers watch: the server stops in good order, and they continue on the next."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from random import Random

import pytest

from tests.chaos.servers import ServerSequence, quiet_port, server_sequence
from tests.chaos.viewers import Viewer, Way, by_header, by_query, by_socket
from tests.web.routes.served import body

WAYS: tuple[Way, ...] = (by_header, by_query, by_socket, by_header)
DEBATES = 4
GRACE_SECONDS = 60.0


async def test_five_servers_leave_a_hundred_viewers_in_good_order(tmp_path: Path) -> None:
    await succession(tmp_path, times=5, watching=100)


@pytest.mark.chaos
@pytest.mark.timeout(900)
async def test_twenty_servers_leave_a_hundred_viewers_in_good_order(tmp_path: Path) -> None:
    await succession(tmp_path, times=20, watching=100)


@pytest.mark.chaos
@pytest.mark.timeout(1200)
async def test_fifty_servers_leave_three_hundred_viewers_in_good_order(tmp_path: Path) -> None:
    await succession(tmp_path, times=50, watching=300)


async def succession(data: Path, times: int, watching: int) -> None:
    dice = Random(1)
    async with server_sequence(data, quiet_port(), pace_ms=20) as servers:
        await servers.start()
        debates = [await servers.create(body(maxRounds=10), f"debate {n}") for n in range(DEBATES)]
        viewers = [
            Viewer(servers.port, debates[n % DEBATES], WAYS[n // DEBATES % len(WAYS)])
            for n in range(watching)
        ]
        async with asyncio.TaskGroup() as group:
            following = [group.create_task(viewer.follow()) for viewer in viewers]
            for _ in range(times):
                await _mid_word(viewers, dice)
                await _leave(servers)
                await servers.start()
            for task in following:
                task.cancel()
        await _see_the_rest(servers, debates, viewers)
    assert "Traceback" not in servers.errors.read_text()


async def _mid_word(viewers: list[Viewer], dice: Random) -> None:
    """Everybody has heard something from this server, and more is being said."""
    before = [len(viewer.seen) for viewer in viewers]
    async with asyncio.timeout(60):
        while any(len(v.seen) == n for v, n in zip(viewers, before, strict=True)):  # noqa: ASYNC110 - no one tells
            await asyncio.sleep(0.01)
    await asyncio.sleep(dice.random() * 0.1)
    assert not any(viewer.over for viewer in viewers), "the debates are too short for this"


async def _leave(servers: ServerSequence) -> None:
    async with asyncio.timeout(GRACE_SECONDS):
        assert await servers.leave(signal.SIGTERM) == 0


async def _see_the_rest(servers: ServerSequence, debates: list[str], viewers: list[Viewer]) -> None:
    """Stop the debates, and let everybody come back for what is left."""
    for debate_id in debates:
        await servers.ask(f"debates/{debate_id}/stop")
    await asyncio.gather(*(viewer.follow() for viewer in viewers))
    for number, debate_id in enumerate(debates):
        fresh = Viewer(servers.port, debate_id, by_header)
        await fresh.follow()
        assert fresh.seen[-1].event == "complete"
        assert all(viewer.seen == fresh.seen for viewer in viewers[number::DEBATES])
