"""A NUL in what a model sends: no store, page, export or other database ever meets it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from moot.api.page_view.sections import view
from moot.core.events import encode
from moot.core.terms import Model, Request
from moot.core.visibility import OBSERVER, OWNER
from moot.engine.arena import Arena
from moot.extensions.conversations import exporting
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, ThinkCue, UsageCue, improvise
from moot.row_io.readers import parse_location
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


async def test_a_nul_in_an_answer_breaks_nothing(
    store: Store, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    providers = {"scripted": ScriptedProvider(speak)}
    async with Arena.open(Settings(data=tmp_path), store=store, providers=providers) as arena:
        options = {"model": Model("scripted", "demo"), "rounds": 1}
        records = [recorded async for recorded in arena.debate("Zoos should be closed.", **options)]
        debate = await arena.state(records[0].debate)
        assert debate.status == "completed"
        assert {(turn.text, turn.degraded) for turn in debate.turns} == {("Zoos are\ufffd cruel.", "utf8")}
        log = b"".join(map(encode, records))
        pages = [json.dumps(view(debate, viewer), default=str).encode() for viewer in (OWNER, OBSERVER)]
        exports = [render(name, debate, OWNER, reasoning=True) for name in documents()]
        for written in (log, *pages, *exports):
            assert b"\\u0000" not in written
            assert b"\0" not in written
        for address in (str(tmp_path / "old.db"), str(tmp_path / "old.jsonl"), *_databases(request)):
            done = await exporting.write_rows(
                parse_location(address, "old_events"), exporting.debate_rows(store, [debate.id])
            )
            assert (done.rows, done.problems) == (1 + len(debate.turns), [])


def _databases(request: pytest.FixtureRequest) -> list[str]:
    """The database of the store, if it is PostgreSQL: its `jsonb` takes no NUL."""
    name = request.node.callspec.params["store"]
    return [request.getfixturevalue("empty_postgres")] if name.startswith("postgres") else []
