"""The browser's own EventSource reads the streams of the older APIs: to the end, once, over cuts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Page

from moot.core.sse_reader import SseReader
from moot.providers.scripted import ScriptedProvider
from tests.browser.conftest import browser, page
from tests.web.routes.served import serving

__all__ = ["browser", "page"]

HEAR = """
([url, names, last]) => new Promise((resolve, reject) => {
    const heard = [], source = new EventSource(url);
    const take = (name) => (event) => {
        if (event.data === undefined) return reject(new Error("the line broke"));
        const told = { name, ...JSON.parse(event.data) };
        heard.push(told);
        if ((told.type ?? name) !== last) return;
        source.close();
        resolve(heard);
    };
    for (const name of names) source.addEventListener(name, take(name));
})
"""
FOLLOW = """
url => {
    window.seen = [];
    window.source = new EventSource(url);
    for (const name of ["message", "reasoning", "content", "complete", "error"])
        source.addEventListener(name, event => {
            // The browser's own troubles are called "error" too, and have no data.
            if (event.data !== undefined) seen.push([event.type, event.lastEventId, event.data]);
        });
}
"""
"""A page that never closes its stream."""
CLOSED = 2
SIDE = {"model": "scripted/demo"}
TURN = {
    "modelId": "scripted/demo", "topic": "AI will replace most human jobs by 2040", "role": "AFFIRMATIVE",
    "intensity": 3, "opponentMessage": None, "previousResponseId": None, "turnNumber": 1,
}  # fmt: skip


async def heard(page: Page, url: str, last: str, *names: str) -> list[dict[str, Any]]:
    return await page.evaluate(HEAR, [url, names or ("message",), last])


def said(told: list[dict[str, Any]], member: str) -> str:
    return "".join(one[member] for one in told if member in one and one.get("name") != "reasoning")


async def test_each_door_is_heard_to_its_last_event(tmp_path: Path, page: Page) -> None:
    async with serving(tmp_path, provider=ScriptedProvider(pace=0.001), model="scripted/demo") as house:
        await page.goto(f"{house.url}/health")

        bout = {"topic": "Sorting a million items", "maxTurns": 2, "debaterA": SIDE, "debaterB": SIDE}
        opened = (await house.http.post("/api/debates", json=bout)).json()
        told = await heard(page, f"/api/debates/{opened['id']}/stream", "debate.completed")
        assert [one["type"] for one in told if one["type"] != "token"] == [
            "debate.started", *["turn.started", "turn.completed"] * 2, "debate.completed",
        ]  # fmt: skip
        spoken = [one["fullContent"] for one in told if one["type"] == "turn.completed"]
        assert said(told, "content") == "".join(spoken)

        wish = {"topic": "Should AI be regulated?", "maxRounds": 1}
        quick = (await house.http.post("/api/debate/create", json=wish)).json()["debateId"]
        told = await heard(page, f"/api/debate/{quick}/stream", "debate_complete")
        assert told[0]["type"] == "agent_start"
        assert [one["agent"] for one in told if one["type"] == "agent_end"] == [
            "Optimist", "Skeptic", "Moderator",
        ]  # fmt: skip

        asked = (await house.http.post("/api/debate/stream/init", json=TURN)).json()
        told = await heard(page, asked["streamUrl"], "complete", "reasoning", "content", "complete", "error")
        assert said(told, "chunk") == told[-1]["content"]
        assert told[-1]["responseId"]


@asynccontextmanager
async def cutting(url: str, *lengths: int) -> AsyncGenerator[tuple[str, list[str]]]:
    """An address before the server's, and the requests for streams that came there. The first replies to them
    break off after so many bytes."""
    server, left, asked = urlsplit(url), list(lengths), list[str]()
    tasks: set[asyncio.Task[None]] = set()

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        request = await reader.readuntil(b"\r\n\r\n")
        is_stream = b"/stream" in request.split(b"\r\n")[0]
        length = left.pop(0) if is_stream and left else None
        if is_stream:
            asked.append(request.decode())
        answers, sender = await asyncio.open_connection(server.hostname, server.port)
        # One request a connection.
        sender.write(request.replace(b"Connection: keep-alive", b"Connection: close"))
        try:
            while data := await answers.read(1024 if length is None else min(1024, length)):
                writer.write(data)
                await writer.drain()
                if length is not None and not (length := length - len(data)):
                    break
        except ConnectionError:
            pass
        finally:
            sender.close()
            writer.close()

    async with await asyncio.start_server(passed_on, "127.0.0.1", 0) as listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", asked
        for task in tuple(tasks):
            task.cancel()


async def follow(page: Page, url: str) -> list[list[str]]:
    """What a page has seen when the browser has given up the stream."""
    await page.evaluate(FOLLOW, url)
    await page.wait_for_function(f"source.readyState === {CLOSED}", timeout=60_000, polling=50)
    return await page.evaluate("seen")


async def test_a_page_that_never_closes_its_stream_reads_each_event_once_over_cuts(
    tmp_path: Path, page: Page
) -> None:
    async with serving(tmp_path, provider=ScriptedProvider(pace=0.002), model="scripted/demo") as house:
        bout = {"topic": "Sorting a million items", "maxTurns": 2, "debaterA": SIDE, "debaterB": SIDE}
        opened = (await house.http.post("/api/debates", json=bout)).json()
        quick = await house.http.post("/api/debate/create", json={"topic": "Cats or dogs?", "maxRounds": 1})
        turn = await house.http.post("/api/debate/stream/init", json=TURN)
        for url in (
            turn.json()["streamUrl"],
            f"/api/debates/{opened['id']}/stream",
            quick.json()["streamUrl"],
        ):
            async with cutting(house.url, 1500, 2500) as (address, asked):
                await page.goto(f"{address}/health")
                seen = await follow(page, url)
                # After each cut (a short stream is over before the second), and once after the end, which was
                # answered with 204.
                assert len(asked) in (3, 4)
            whole = SseReader().feed((await house.http.get(url)).content)
            # The id of an event in a turn also says where its stream began: another one may begin later.
            assert [(name, id.rpartition("-")[2], data) for name, id, data in seen] == [
                (event.name, event.id.rpartition("-")[2], event.data.decode()) for event in whole
            ]
            assert json.loads(seen[-1][2]).get("type", "complete").endswith(("complete", "completed"))
