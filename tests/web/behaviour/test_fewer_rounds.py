"""Where a fixed table of speeches holds fewer rounds than were asked for, that is told before the start."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from moot import Arena, Debate, Settings, formats
from moot.cli.render.debate_lines import heading
from moot.rules.debate_setup import opening_event
from moot.store.batch import append_events
from tests.web.routes.served import BODY, serving

SCRIPTED = tuple(name for name in formats.names() if formats.load(name).scripted)
ASKED = 10


def table_rounds(name: str) -> int:
    return len({phase.round for phase in formats.load(name).phases})


def sentence(name: str) -> str:
    held = table_rounds(name)
    title = formats.load(name).title
    return f"{title} has a fixed table of {held} rounds: the debate holds {held}, not {ASKED}."


def wish(name: str, **config: Any) -> dict[str, Any]:
    shape = deepcopy(BODY)
    shape |= {"format": name, "config": config}
    people = formats.load(name).min_seats
    shape["participants"] = [
        {**deepcopy(BODY["participants"][place % 2]), "name": f"Speaker {place}"}
        for place in range(max(2, people))
    ]
    return shape


@pytest.mark.parametrize("name", SCRIPTED)
async def test_the_reply_says_how_many_rounds_are_held_and_why(tmp_path: Path, name: str) -> None:
    async with serving(tmp_path) as house:
        body = wish(name, maxRounds=ASKED)
        estimate = (await house.http.post("/api/v1/estimate", json=body)).json()
        assert sentence(name) in estimate["warnings"]
        created = (await house.http.post("/api/v1/debates", json=body)).json()
        status = await house.over(created["id"])
        view = (await house.get(created["id"], "view")).json()["view"]["about"]
    held = table_rounds(name)
    assert created["config"]["maxRounds"] == status["maxRounds"] == len(status["rounds"]) == held
    assert view["rounds"] == held
    for told in (created, status, view):
        assert sentence(name) in told["warnings"]


@pytest.mark.parametrize(
    ("name", "config"),
    [("lincoln-douglas", {}), ("lincoln-douglas", {"maxRounds": 2}), ("oxford", {"maxRounds": 10})],
)
async def test_nothing_is_said_where_as_many_are_held(
    tmp_path: Path, name: str, config: dict[str, Any]
) -> None:
    async with serving(tmp_path) as house:
        created = (await house.http.post("/api/v1/debates", json=wish(name, **config))).json()
        await house.post(created["id"], "abort")
    assert created["config"]["maxRounds"] == config.get("maxRounds", 3)
    assert not any("rounds" in warning for warning in created["warnings"])


async def with_fewer_rounds(name: str, folder: Path) -> Debate:
    """A debate that has just been opened."""
    async with Arena.open(Settings(data=folder, scripted=True, model="scripted/demo")) as arena:
        setup = await arena.setup("Homework should be banned", format=name, rounds=ASKED)
    return append_events(None, "deb_1", [opening_event(setup)], epoch=0, at=datetime.now(UTC)).debate


async def test_the_terminal_says_it_too(tmp_path: Path) -> None:
    name = "lincoln-douglas"
    opened = await with_fewer_rounds(name, tmp_path)
    shown = " ".join("".join(line.plain for line in heading(opened, None, coloured=False)).split())
    assert sentence(name) in shown
