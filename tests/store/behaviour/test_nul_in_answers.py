"""A NUL in what a model sends: no store, page or export ever meets it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from moot.api.page_view.sections import view
from moot.core.events import Recorded, encode
from moot.core.state import Debate
from moot.core.terms import Model, Request
from moot.core.visibility import OBSERVER, OWNER
from moot.engine.arena import Arena
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, ThinkCue, UsageCue, improvise
from moot.settings import Settings
from moot.store.contract import Store
from moot.views.exports import documents, render


def speak(request: Request) -> Iterable[Cue]:
    if request.schema is not None:
        yield from improvise(request)
        return
    yield ThinkCue("One\0 thought.")
    yield SayCue("Zoos are\0 cruel.")
    yield UsageCue(response_id="resp\0")


@asynccontextmanager
async def debate_with_nul(store: Store, folder: Path) -> AsyncGenerator[tuple[Debate, list[Recorded]]]:
    providers = {"scripted": ScriptedProvider(speak)}
    async with Arena.open(Settings(data=folder), store=store, providers=providers) as arena:
        options = {"model": Model("scripted", "demo"), "rounds": 1}
        records = [recorded async for recorded in arena.debate("Zoos should be closed.", **options)]
        yield await arena.state(records[0].debate), records


async def test_a_nul_in_an_answer_breaks_nothing(store: Store, tmp_path: Path) -> None:
    async with debate_with_nul(store, tmp_path) as (debate, records):
        assert debate.status == "completed"
        assert {(turn.text, turn.degraded) for turn in debate.turns} == {("Zoos are\ufffd cruel.", "utf8")}
        log = b"".join(map(encode, records))
        pages = [json.dumps(view(debate, viewer), default=str).encode() for viewer in (OWNER, OBSERVER)]
        exports = [render(name, debate, OWNER, reasoning=True) for name in documents()]
        for written in (log, *pages, *exports):
            assert b"\\u0000" not in written
            assert b"\0" not in written
