"""Debates with the extension crux of docs/extending.md, in a process that has had it from its start: the body
of a request is made of the table of settings when its module is imported."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.extensions.behaviour.quoting_models import quote_three
from tests.web.routes.debates_with_people import invited
from tests.web.routes.served import Served, body, serving


async def told(served: Served, debate_id: str, headers: dict[str, str]) -> dict[str, Any]:
    """What this viewer is told of the debate."""

    async def transcript(name: str) -> Any:
        return await served.get(debate_id, "transcript", params={"format": name}, headers=headers)

    events = (await served.get(debate_id, "events?limit=1000", headers=headers)).json()["events"]
    return {
        "view": (await served.get(debate_id, "view", headers=headers)).json()["view"]["crux"],
        "json": (await served.get(debate_id, "transcript", headers=headers)).json(),
        "markdown": (await transcript("markdown")).text,
        "html": (await transcript("html")).text,
        "asked": [one["event"] for one in events if one["event"]["type"].startswith("aside.")],
    }


async def held(served: Served, **config: Any) -> dict[str, Any]:
    """A debate of four speeches with these settings."""
    estimate = (await served.http.post("/api/v1/estimate", json=body(**config))).json()
    debate_id = await served.open(**config)
    await served.over(debate_id)
    debate = await served.arena.store.state(debate_id)
    owner = await told(served, debate_id, {})
    return {
        "config": (await served.get(debate_id, "setup")).json()["config"],
        "calls": sum(model["calls"]["low"] for model in estimate["models"]),
        "speeches": [turn.number for turn in debate.turns],
        "asked": [one["turn"] for one in owner["asked"] if one["type"] == "aside.asked"],
        "answered": [aside.turn for aside in debate.asides if aside.state == "answered"],
        "owner": owner,
        "observer": await told(served, debate_id, await invited(served, debate_id, "observer")),
    }


async def main(folder: Path) -> None:
    async with serving(folder, provider=quote_three()) as served:
        debates = {"off": await held(served), "on": await held(served, crux=True)}
    print(json.dumps(debates))  # noqa: T201 - the test reads it


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
