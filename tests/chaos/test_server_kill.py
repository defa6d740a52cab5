"""kill -9 of a server with viewers: those that reconnect miss no event and get none twice."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.chaos import kill_runs
from tests.chaos.servers import ServerSequence, quiet_port, server_sequence
from tests.chaos.viewers import Viewer, Way, by_header, by_log, by_query, by_socket
from tests.web.routes.served import body

WAYS: tuple[tuple[Way, ...], ...] = (
    (by_header,), (by_query,), (by_socket,), (by_header, by_socket), (by_socket, by_query),
)  # fmt: skip


async def ordeal(data: Path, wanted: int, seed: int) -> int:
    """Debates one after the other, until the server has been killed so often; how many there were."""
    dice, debates = Random(seed), 0
    async with server_sequence(data, quiet_port()) as servers:
        await servers.start()
        while servers.kills < wanted:
            debate_id = await servers.create(body(), f"debate {debates}")
            debates += 1
            await watched(servers, debate_id, wanted, dice)
        assert (await servers.get("debates?limit=1"))["pagination"]["total"] == debates
    return debates


async def watched(servers: ServerSequence, debate_id: str, wanted: int, dice: Random) -> None:
    """The debate is held to its end, with kills in between; then all are asked what they saw."""
    viewers = [Viewer(servers.port, debate_id, *ways) for ways in WAYS]
    log = Viewer(servers.port, debate_id, by_log)
    following = [asyncio.create_task(viewer.follow()) for viewer in (log, *viewers)]
    try:
        await _killing(servers, viewers[0], wanted, dice)
        await asyncio.gather(*following[1:])
        stored = await _events(servers, debate_id)
        log.until = stored[-1]
        while log.last != log.until:  # noqa: ASYNC110 - a viewer keeps, and tells nobody
            await asyncio.sleep(0.01)
    finally:
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
    fresh = Viewer(servers.port, debate_id, by_header)
    await fresh.follow()
    assert all(viewer.seen == fresh.seen for viewer in viewers)
    assert [told.id for told in log.seen] == stored == [str(seq) for seq in range(1, len(stored) + 1)]


async def _killing(servers: ServerSequence, viewer: Viewer, wanted: int, dice: Random) -> None:
    """After so many events that somebody has seen; and now and then while it is starting."""
    while servers.kills < wanted and not viewer.over:
        enough = len(viewer.seen) + dice.randint(1, 50)
        while len(viewer.seen) < enough and not viewer.over:  # noqa: ASYNC110 - likewise
            await asyncio.sleep(0.002)
        if viewer.over:
            return
        await servers.kill()
        while servers.kills < wanted and dice.random() < 0.2:
            servers.launch()
            await asyncio.sleep(dice.random() * 0.3)
            await servers.kill()
        await servers.start()


async def _events(servers: ServerSequence, debate_id: str) -> list[str]:
    events: list[Any] = []
    while page := (await servers.get(f"debates/{debate_id}/events?limit=1000&after={len(events)}"))["events"]:
        events += page
    return [str(event["seq"]) for event in events]


async def test_eight_kills_under_viewers_lose_nothing(tmp_path: Path) -> None:
    debates = await ordeal(tmp_path, 8, seed=3)
    await asyncio.to_thread(check, tmp_path, 8, debates)


@pytest.mark.chaos
@pytest.mark.timeout(900)
async def test_forty_kills_under_viewers_lose_nothing(tmp_path: Path) -> None:
    debates = await ordeal(tmp_path, 40, seed=1)
    await asyncio.to_thread(check, tmp_path, 40, debates)


@pytest.mark.chaos
@pytest.mark.timeout(1200)
async def test_two_hundred_kills_under_viewers_lose_nothing(tmp_path: Path) -> None:
    debates = await ordeal(tmp_path, 200, seed=2)
    await asyncio.to_thread(check, tmp_path, 200, debates)


def check(data: Path, killed: int, debates: int) -> None:
    """No call was paid twice but those that a kill cut short."""
    kill_runs.verify(kill_runs.remains(data, data / "ledger.jsonl", killed, set()), debates)


# --- a reply that nobody got -----------------------------------------------------------------------------


async def repeated(data: Path, times: int) -> None:
    """The server dies between the commit and the reply, and whoever asked asks again."""
    port, ids = quiet_port(), []
    async with (
        server_sequence(data, port, MOOT_CRASH_AT="after-commit:1") as doomed,
        server_sequence(data, port) as healthy,
    ):
        for number in range(times):
            await doomed.start()
            asking = asyncio.create_task(doomed.create(manual(), f"key {number}"))
            assert await doomed.gone() == -signal.SIGKILL
            await healthy.start()
            ids.append(await asking)
            reply = await healthy.post(manual(), f"key {number}")
            assert (reply.status_code, reply.json()["id"]) == (201, ids[-1])
            assert reply.headers["Idempotent-Replayed"] == "true"
            assert (await healthy.get("debates?limit=1"))["pagination"]["total"] == number + 1
            await healthy.kill()
    assert len(set(ids)) == times


def manual() -> dict[str, Any]:
    """A debate that waits to be told to go on: its server writes nothing by itself at the next start."""
    return body(autoProgress=False)


async def test_a_create_whose_reply_was_lost_is_repeated_safely(tmp_path: Path) -> None:
    await repeated(tmp_path, 10)


@pytest.mark.chaos
@pytest.mark.timeout(600)
async def test_fifty_creates_whose_replies_were_lost_are_repeated_safely(tmp_path: Path) -> None:
    await repeated(tmp_path, 50)
