"""A viewer whose line is cut at any byte comes back and has missed nothing, nor heard anything twice."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from random import Random

import pytest
from httpx_sse import aconnect_sse
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedOK

from moot.core.terms import Request
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, ThinkCue, improvise
from moot.store.sqlite.store import SqliteStore
from tests.chaos.viewers import Told, Viewer, Way, as_text, by_header, by_log, by_query, by_socket, parse
from tests.web.routes.served import BODY, Served, serving

MOST_BYTES = 9_000
"""Of one line. The largest events must fit, or a viewer would never get beyond them."""
TOPIC = "人工智能应该由政府监管吗？ 🏛️ Soll man 🤖 regulieren?"
SPEECH = " ".join(
    ("规则清楚，代价就小。", "🌍🌏🌎", "Wer trägt das Risiko?", "历史表明：早做限制更便宜 💸。") * 14
)


def speak(request: Request) -> Iterable[Cue]:
    if request.schema is not None:
        return improvise(request)
    return [ThinkCue("想一想 🤔"), SayCue(SPEECH)]


@pytest.fixture
async def babel(tmp_path: Path) -> AsyncGenerator[Served]:
    """Speakers whose words take more than one byte a character, given slowly enough to be cut off in."""
    store = SqliteStore.open(tmp_path / "moot.db")
    async with serving(tmp_path, store=store, provider=ScriptedProvider(speak, pace=0.002)) as house:
        yield house


async def opened(house: Served) -> str:
    reply = await house.http.post("/api/v1/debates", json={**BODY, "topic": TOPIC})
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


def port_of(house: Served) -> int:
    return int(house.url.rpartition(":")[2])


async def cut_off(house: Served, cuts: int, seed: int, *ways: Way) -> int:
    """Follow debate after debate with a line that is cut at random; the cuts in the middle of a character."""
    dice, done, broken = Random(seed), 0, 0
    debate_id = await opened(house)
    while done < cuts:
        viewer = Viewer(port_of(house), debate_id, *ways)
        while not viewer.over:
            await viewer.look(dice.randint(1, MOST_BYTES))
        assert viewer.seen == await whole(house, debate_id, ways[0])
        done += viewer.cuts
        broken += viewer.cuts_in_a_character
    return broken


async def whole(house: Served, debate_id: str, way: Way) -> list[Told]:
    viewer = Viewer(port_of(house), debate_id, way)
    await viewer.follow()
    return viewer.seen


# The first debate is cut while it is held, and then again and again when it is over.


@pytest.mark.parametrize(
    "ways",
    [(by_header,), (by_query,), (by_header, by_query), (by_socket,), (by_socket, by_header, by_query)],
)
async def test_a_line_cut_at_random_bytes_is_taken_up_exactly_there(
    babel: Served, ways: tuple[Way, ...]
) -> None:
    for seed in range(1, 4):
        # Where a packet ends is chance, too; but some character is always cut in two in the end.
        if await cut_off(babel, 60, seed, *ways) > 0:
            return
    raise AssertionError("no cut fell into a character")


@pytest.mark.chaos
@pytest.mark.timeout(600)
@pytest.mark.parametrize("ways", [(by_header, by_query), (by_socket,), (by_socket, by_header, by_query)])
async def test_a_thousand_cuts_are_taken_up_exactly_there(babel: Served, ways: tuple[Way, ...]) -> None:
    assert await cut_off(babel, 1000, 2, *ways) > 0


async def test_the_native_log_is_dense_however_often_it_is_cut(babel: Served) -> None:
    debate_id, dice, cuts = await opened(babel), Random(4), 0
    await babel.over(debate_id)
    stored = (await babel.get(debate_id, "events?limit=1000")).json()["events"]
    while cuts < 60:
        viewer = Viewer(port_of(babel), debate_id, by_log, until=str(stored[-1]["seq"]))
        while not viewer.over:
            await viewer.look(dice.randint(1, 3 * MOST_BYTES))
        assert [told.id for told in viewer.seen] == [str(seq) for seq in range(1, len(stored) + 1)]
        assert [json.loads(told.data) for told in viewer.seen] == stored
        cuts += viewer.cuts


@pytest.mark.parametrize("way", [by_header, by_socket])
async def test_whoever_comes_first_after_a_restart_resumes_after_any_frame(tmp_path: Path, way: Way) -> None:
    """Then nothing has been read from the disk yet, not even what the viewer has seen."""
    async with serving(tmp_path, store=SqliteStore.open(tmp_path / "moot.db")) as house:
        debate_id = await opened(house)
        told = await whole(house, debate_id, way)
    assert any("." in one.id for one in told)
    async with serving(tmp_path, store=SqliteStore.open(tmp_path / "moot.db")) as house:
        for count in range(1, len(told)):
            viewer = Viewer(port_of(house), debate_id, way, until=told[-1].id)
            viewer.seen = told[:count]
            await viewer.follow()
            assert viewer.seen == told


# --- other people's clients ----------------------------------------------------------------------------


async def test_curl_httpx_and_websockets_are_told_the_same(babel: Served) -> None:
    debate_id = await opened(babel)
    told = await asyncio.gather(
        _by_curl(babel, debate_id), _by_httpx(babel, debate_id), _by_websockets(babel, debate_id)
    )
    expected = await whole(babel, debate_id, by_header)
    assert expected[-1].event == "complete"
    assert all(seen == expected for seen in told if seen is not None)


async def _by_curl(house: Served, debate_id: str) -> list[Told] | None:
    if shutil.which("curl") is None:
        return None
    url = f"{house.url}/api/v1/debates/{debate_id}/stream"
    curl = await asyncio.create_subprocess_exec("curl", "-sN", url, stdout=asyncio.subprocess.PIPE)
    said, _ = await curl.communicate()
    return [told for block in said.split(b"\n\n") if (told := parse(block))]


async def _by_httpx(house: Served, debate_id: str) -> list[Told]:
    url = f"/api/v1/debates/{debate_id}/stream"
    async with aconnect_sse(house.http, "GET", url) as source:
        return [Told(sse.event, sse.id, as_text(sse.json())) async for sse in source.aiter_sse()]


async def _by_websockets(house: Served, debate_id: str) -> list[Told]:
    seen: list[Told] = []
    url = f"{house.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws"
    async with connect(url) as socket:
        try:
            while True:
                frame = json.loads(await socket.recv())
                seen.append(Told(frame["event"], frame["id"], as_text(frame["data"])))
        except ConnectionClosedOK:
            return seen
