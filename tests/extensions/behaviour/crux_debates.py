"""Debates with the extension crux of docs/extending.md, in a process that has had it from its start: the body
of a request is made of the table of settings when its module is imported."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from moot import Cue, Request, SayCue, ScriptedProvider
from moot.extension import Extension
from moot.providers.scripted import improvise
from tests.web.routes.debates_with_people import invited
from tests.web.routes.served import Served, body, serving

ASKS = "claim on which it rests"


def quote(request: Request) -> Iterable[Cue]:
    """Plain sentences; asked for the crux of a speech, its first one."""
    if ASKS not in request.instructions:
        return improvise(request)
    return _crux("Its first sentence.", re.split(r"(?<=[.])\s", _speech(request))[0])


def quote_three() -> ScriptedProvider:
    """The same; what is quoted of the fourth speech is made up."""
    speeches: list[str] = []

    def script(request: Request) -> Iterable[Cue]:
        if ASKS in request.instructions and _speech(request) not in speeches:
            speeches.append(_speech(request))
        is_fourth = ASKS in request.instructions and len(speeches) > 3
        return _crux("Made up.", "Nobody said this.") if is_fourth else quote(request)

    return ScriptedProvider(script)


def _speech(request: Request) -> str:
    """Between the two lines of the fence."""
    return request.messages[0].content.split("\n")[1]


def _crux(claim: str, quoted: str) -> list[Cue]:
    return [SayCue(json.dumps({"claim": claim, "quote": quoted}))]


MODELS = Extension(
    "quoting",
    "Models that quote.",
    providers=lambda: {"quoting": lambda: ScriptedProvider(quote)},
)


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
