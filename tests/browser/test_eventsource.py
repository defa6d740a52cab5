"""The browser's own EventSource follows a debate: to its end, over a crash, and not a request further."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Page

from moot.providers.scripted import ScriptedProvider
from tests.chaos.servers import quiet_port, server_sequence
from tests.chaos.viewers import Told, Viewer, as_text, by_header
from tests.web.routes.served import body, serving

FOLLOW = """
url => {
    const names = ["status", "participant", "round_complete", "judge", "verdict",
                   "cost_update", "cost_warning", "error", "complete", "message"];
    window.seen = [];
    window.source = new EventSource(url);
    for (const name of names)
        source.addEventListener(name, event => {
            // The browser's own troubles are called "error" too, and have no data.
            if (event.data !== undefined) seen.push([event.type, event.lastEventId, event.data]);
        });
}
"""
CLOSED = 2
SECONDS = 60.0


async def seen(page: Page) -> list[Told]:
    shown = await page.evaluate("seen")
    return [Told(event, id, as_text(json.loads(data))) for event, id, data in shown]


async def until(page: Page, condition: str) -> None:
    await page.wait_for_function(condition, timeout=SECONDS * 1000, polling=50)


def counting(page: Page) -> Callable[[], int]:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/stream" in request.url else None)
    return lambda: len(asked)


async def test_it_is_told_everything_and_stops_for_good_after_the_end(tmp_path: Path, page: Page) -> None:
    async with serving(tmp_path, provider=ScriptedProvider(pace=0.002)) as house:
        asked = counting(page)
        debate_id = await house.open()
        await page.goto(f"{house.url}/health")
        await page.evaluate(FOLLOW, f"/api/v1/debates/{debate_id}/stream")
        await until(page, f"source.readyState === {CLOSED}")
        told = [Told(event, id, as_text(data)) for event, id, data in await house.follow(debate_id)]
        assert await seen(page) == told
        assert told[-1].event == "complete"
        # The stream, and once more after it ended: that was answered with 204.
        assert asked() == 2
        await asyncio.sleep(2.5)
        assert (asked(), await page.evaluate("source.readyState")) == (2, CLOSED)


@pytest.mark.timeout(900)
async def test_it_comes_back_to_the_next_server_after_a_kill(tmp_path: Path, page: Page) -> None:
    async with server_sequence(tmp_path, quiet_port(), pace_ms=10) as servers:
        await servers.start()
        debate_id = await servers.create(body(), "watched by a browser")
        await page.goto(f"http://127.0.0.1:{servers.port}/health")
        await page.evaluate(FOLLOW, f"/api/v1/debates/{debate_id}/stream")
        for _ in range(2):
            before = await page.evaluate("seen.length")
            await until(page, f"seen.length > {before + 10}")
            await servers.kill()
            await servers.start()
        await until(page, f"source.readyState === {CLOSED}")
        fresh = Viewer(servers.port, debate_id, by_header)
        await fresh.follow()
        assert await seen(page) == fresh.seen
