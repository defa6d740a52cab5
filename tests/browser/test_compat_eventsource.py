"""The browser's own EventSource reads the streams of the compatibility APIs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.async_api import Page

from moot.providers.scripted import ScriptedProvider
from tests.web.routes.served import serving

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
