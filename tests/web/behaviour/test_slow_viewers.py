"""A viewer who reads slowly, or not at all, harms only itself."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from copy import deepcopy
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.providers.scripted import SayCue, ScriptedProvider, improvise
from tests.chaos.viewers import Ear, Told, Viewer, Way, by_header, by_socket
from tests.web.routes.served import BODY, UNLIMITED, Served, serving

STALLED_SECONDS = 2.0
STALLED = 6
MOST_GROWTH = 64 * 1024 * 1024
SPEECH = "The-question-is-who-bears-the-risk-when-nobody-reads-what-was-written. " * 20_000


@pytest.fixture
async def wordy(tmp_path: Path) -> AsyncGenerator[Served]:
    """Speeches that fill all the buffers between us and a viewer who does not read."""
    provider = ScriptedProvider(lambda request: improvise(request) if request.schema else [SayCue(SPEECH)])
    service = replace(UNLIMITED, stalled_seconds=STALLED_SECONDS)
    async with serving(tmp_path, service, provider=provider) as house:
        yield house


async def opened(house: Served) -> str:
    asked = deepcopy(BODY)
    for seat in asked["participants"]:
        seat["model"]["maxTokens"] = 128_000
    reply = await house.http.post("/api/v1/debates", json=asked)
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


def port_of(house: Served) -> int:
    return int(house.url.rpartition(":")[2])


class Sleeper:
    """Asks for a stream and reads nothing of it."""

    def __init__(self, port: int, debate_id: str, way: Way) -> None:
        self.ear: Ear = way(port, debate_id, "")
        self.line = socket.socket()
        # As small as it can be had: what does not fit here must wait at the server.
        self.line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.line.connect(("127.0.0.1", port))
        self.line.sendall(self.ear.opening())

    def wake(self) -> list[Told]:
        """What had come before it was cut off."""
        told: list[Told] = []
        self.line.settimeout(100)
        with self.line:
            while data := self._read():
                told += self.ear.hear(data)
        return told

    def _read(self) -> bytes:
        try:
            return self.line.recv(64 * 1024)
        except ConnectionError:
            return b""


async def viewers(house: Served) -> int:
    page = (await house.http.get("/metrics")).text
    return next(int(float(line.split()[1])) for line in page.splitlines() if line.startswith("moot_viewers "))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize("way", [by_header, by_socket])
async def test_who_reads_nothing_is_cut_off_and_can_come_back(wordy: Served, way: Way) -> None:
    debate_id = await opened(wordy)
    watching = Viewer(port_of(wordy), debate_id, way)
    await watching.follow()
    before = resident()
    sleepers = [Sleeper(port_of(wordy), debate_id, way) for _ in range(STALLED)]
    # Others are served meanwhile.
    other = Viewer(port_of(wordy), debate_id, way)
    await other.follow()
    assert other.seen == watching.seen
    assert resident() - before < MOST_GROWTH
    while await viewers(wordy):  # noqa: ASYNC110 - it is a number on a page
        await asyncio.sleep(0.05)
    for number, sleeper in enumerate(sleepers):
        told = await asyncio.to_thread(sleeper.wake)
        assert len(told) < len(watching.seen)
        if number > 1:
            continue
        back = Viewer(port_of(wordy), debate_id, way)
        back.seen = told
        await back.follow()
        assert back.seen == watching.seen


async def place(house: Served, debate_id: str) -> int:
    return (await house.http.head(f"/api/v1/debates/{debate_id}/stream")).status_code


async def test_who_says_goodbye_and_reads_nothing_does_not_keep_its_place(tmp_path: Path) -> None:
    provider = ScriptedProvider(lambda request: improvise(request) if request.schema else [SayCue(SPEECH)])
    service = replace(UNLIMITED, stalled_seconds=0.5, streams_per_client=1)
    async with serving(tmp_path, service, provider=provider) as house:
        debate_id = await opened(house)
        await house.over(debate_id)
        sleeper = Sleeper(port_of(house), debate_id, by_socket)
        with sleeper.line:
            while await place(house, debate_id) != 429:  # noqa: ASYNC110 - until it has taken it
                await asyncio.sleep(0.01)
            # A frame of bytes, for which a socket is closed.
            sleeper.line.sendall(b"\x82\x80\x00\x00\x00\x00")
            while await place(house, debate_id) != 200:  # noqa: ASYNC110 - until it has lost it
                await asyncio.sleep(0.05)
