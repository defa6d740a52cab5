"""The table of sessions that an older server kept: brought here, looked at, continued, and given back."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from moot.core.errors import Invalid, Unavailable
from moot.core.events import DebateImported
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import Model
from moot.engine.arena import Arena
from moot.extensions.turn_sessions import tables as session_tables
from moot.extensions.turn_sessions.commands import export_sessions, import_sessions
from moot.extensions.turn_sessions.rows import (
    COLUMNS,
    LIST_COLUMNS,
    SessionRow,
    session_events,
    session_row,
    total_cost,
)
from moot.providers.scripted import ScriptedProvider
from moot.row_io.readers import parse_location
from moot.row_io.writers import WriteReport
from moot.rules.runner_decisions import wants_runner
from moot.settings import Settings
from moot.store.batch import append_events
from moot.store.memory import MemoryStore
from tests.support.for_each import for_each
from tests.support.postgres import postgres_url  # noqa: F401 - a fixture
from tests.web.routes.served import Served, serving

TOPIC = "AI will replace most human jobs by 2040"
MANY = 40


def model(name: str) -> Model:
    return Model("scripted", name)


def row(turns: int, number: int = 1, **changes: Any) -> SessionRow:
    """As the older server has written it."""
    dice = random.Random(number)
    models = ("gpt-5-mini-2025-08-07", "gpt-5-nano-2025-08-07")
    history = [
        {
            "turn": turn,
            "modelId": models[(turn + 1) % 2],
            "content": f"Turn {turn} of session {number}: “{dice.random()}”\n\nSo there.",
            "reasoning": "Hm." * dice.randrange(3),
            "responseId": f"resp_{number}_{turn}",
            "cost": round(dice.random() / 100, 6),
            **({"timestamp": 1_760_000_000_000 + turn} if number % 2 else {}),
        }
        for turn in range(1, turns + 1)
    ]
    ids = [entry["responseId"] for entry in history]
    return {
        "id": f"debate_{number}_x",
        "topic_text": TOPIC,
        "model1_id": models[0],
        "model2_id": models[1],
        "adversarial_level": 1 + number % 4,
        "turn_history": history,
        "model1_response_ids": ids[::2],
        "model2_response_ids": ids[1::2],
        "total_cost": 0.25 * number,
        "created_at": f"2025-10-14T12:00:{number % 60:02}.5",
        "updated_at": f"2025-10-17T08:30:{number % 60:02}",
        **changes,
    }


def rows() -> list[SessionRow]:
    odd = [
        row(3, 900, total_cost=None, updated_at=None),
        # Turns that have no place, or no words, or come twice: kept as they are.
        row(0, 901, turn_history=[{"turn": 0}, "what?", {"turn": 1, "content": " "}, {"turn": 999}]),
        row(2, 902, turn_history=[{"turn": 2, "content": "Late."}, {"turn": 2, "content": "Twice."}]),
        row(12, 903, adversarial_level=9),
        row(0, 904, model2_id=""),
    ]
    return sorted([*(row(number % 11, number) for number in range(MANY)), *odd], key=lambda one: one["id"])


def imported(given: SessionRow) -> Debate:
    return append_events(None, "d1", session_events(given, model), epoch=0, at=datetime.now(UTC)).debate


# --- pure ---------------------------------------------------------------------------------------------


@for_each("given", rows(), ids=lambda one: one["id"])
def test_what_went_in_comes_out(given: SessionRow) -> None:
    assert session_row(imported(given)) == given


def test_an_imported_session_waits_for_its_next_turn() -> None:
    debate = imported(row(3))
    assert (debate.status, debate.remaining_slots()[0].index) == ("paused", 3)
    assert debate.chained_response_id(debate.seats[1].id) == "resp_1_2"
    assert [turn.words for turn in debate.turns] == [8, 8, 8]


@pytest.mark.parametrize("kept", [None, "much", -1, float("inf")])
def test_a_total_that_is_none_is_made_up_from_the_turns(kept: Any) -> None:
    debate = imported(row(3, total_cost=kept))
    assert float(total_cost(debate)) == pytest.approx(sum(entry["cost"] for entry in row(3)["turn_history"]))


def test_a_session_that_was_held_to_its_end_elsewhere_stays_as_it_was_brought() -> None:
    debate = imported(row(10))
    assert debate.status == "paused"
    assert not wants_runner(debate)


def test_a_row_that_is_none_is_refused() -> None:
    for broken in ({"topic_text": None}, {"turn_history": {}}, {"model1_response_ids": None}, {"id": ["a"]}):
        with pytest.raises(Invalid):
            session_events(row(1, **broken), model)


# --- there and back -----------------------------------------------------------------------------------


@asynccontextmanager
async def arena(data: Path) -> AsyncGenerator[Arena]:
    settings = Settings(data=data, scripted=True)
    async with Arena.open(
        settings, store=MemoryStore(), providers={"scripted": ScriptedProvider()}
    ) as opened:
        yield opened


def in_sqlite(path: Path, given: Sequence[SessionRow]) -> str:
    """The table of the document's migration, in SQLite's words."""
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE debate_sessions (id TEXT PRIMARY KEY, topic_text TEXT NOT NULL, model1_id TEXT NOT "
            "NULL, model2_id TEXT NOT NULL, adversarial_level INTEGER NOT NULL, turn_history TEXT NOT NULL, "
            "model1_response_ids TEXT NOT NULL, model2_response_ids TEXT NOT NULL, total_cost REAL, "
            "created_at TEXT, updated_at TEXT)"
        )
        values = [
            [json.dumps(value) if isinstance(value, list) else value for value in one.values()]
            for one in given
        ]
        connection.executemany(f"INSERT INTO debate_sessions VALUES ({', '.join('?' * 11)})", values)
    connection.close()
    return str(path)


def _content(path: str) -> list[SessionRow]:
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(one) for one in connection.execute("SELECT * FROM debate_sessions ORDER BY id")]
    connection.close()
    return [{**one, **{name: json.loads(one[name]) for name in LIST_COLUMNS}} for one in found]


def in_postgres(url: str, table: str, given: Sequence[SessionRow]) -> None:
    """The document's migration as it stands, but for the name."""
    with psycopg.connect(url) as connection:
        connection.execute(
            f"""
            CREATE TABLE {table} (
              id TEXT PRIMARY KEY,
              topic_text TEXT NOT NULL,
              model1_id TEXT NOT NULL,
              model2_id TEXT NOT NULL,
              adversarial_level INTEGER NOT NULL,
              turn_history JSONB NOT NULL DEFAULT '[]',
              model1_response_ids JSONB NOT NULL DEFAULT '[]',
              model2_response_ids JSONB NOT NULL DEFAULT '[]',
              total_cost REAL DEFAULT 0,
              created_at TIMESTAMP DEFAULT NOW(),
              updated_at TIMESTAMP DEFAULT NOW()
            )
            """
        )
        values = [
            [json.dumps(value) if isinstance(value, list) else value for value in one.values()]
            for one in given
        ]
        marks = ", ".join(["%s"] * len(COLUMNS))
        connection.cursor().executemany(f"INSERT INTO {table} VALUES ({marks})", values)


def content(url: str, table: str) -> list[str]:
    """Row by row, as the server itself writes them."""
    with psycopg.connect(url) as connection:
        return [text for (text,) in connection.execute(f"SELECT t::text FROM {table} t ORDER BY id")]


async def test_sqlite_gives_back_what_was_brought(tmp_path: Path) -> None:
    given = rows()
    source, target = in_sqlite(tmp_path / "old.db", given), str(tmp_path / "new.db")
    async with arena(tmp_path) as opened:
        done = await session_tables.import_sessions(
            opened, parse_location(source, session_tables.TABLE), model
        )
        assert (done.new, done.existing, done.problems) == (len(given), 0, [])
        again = await session_tables.import_sessions(
            opened, parse_location(source, session_tables.TABLE), model
        )
        assert (again.new, again.existing) == (0, len(given))
        place = parse_location(target, session_tables.TABLE)
        assert await session_tables.export_sessions(opened.store, place) == WriteReport(len(given))
        assert await session_tables.export_sessions(opened.store, place) == WriteReport(0, len(given))
    assert _content(target) == given


async def test_postgresql_gives_back_what_was_brought(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811 - the fixture
    given = rows()
    in_postgres(postgres_url, "old_sessions", given)
    async with arena(tmp_path) as opened:
        done = await session_tables.import_sessions(
            opened, parse_location(postgres_url, "old_sessions"), model
        )
        assert (done.new, done.problems) == (len(given), [])
        place = parse_location(postgres_url, "new_sessions")
        assert await session_tables.export_sessions(opened.store, place) == WriteReport(len(given))
        assert await session_tables.export_sessions(opened.store, place) == WriteReport(0, len(given))
    assert content(postgres_url, "new_sessions") == content(postgres_url, "old_sessions")
    with pytest.raises(Unavailable, match="no_such_table"):
        session_tables.read_sessions(parse_location(postgres_url, "no_such_table"))


async def test_what_cannot_be_brought_is_named_and_stops_nothing(tmp_path: Path) -> None:
    lines = tmp_path / "old.jsonl"
    broken = (row(1, 2, topic_text=""), row(1, 4, turn_history="[{"), row(1, 5, id=None))
    lines.write_text("\n".join(["no JSON", *(json.dumps(one) for one in (row(1), *broken, row(1, 3)))]))
    async with arena(tmp_path) as opened:
        done = await session_tables.import_sessions(
            opened, parse_location(str(lines), session_tables.TABLE), model
        )
        assert done.new == 2
        assert [(one.row.partition(" ")[0], one.reason) for one in done.problems] == [
            ("line", "It is not a JSON object."),
            ("debate_2_x", "A session has no topic_text."),
            ("debate_4_x", "turn_history of a session is not a list."),
            ("line", "It has no id."),
        ]
        other = tmp_path / "other.db"
        with sqlite3.connect(other) as connection:
            connection.execute("CREATE TABLE debate_sessions (id, topic_text)")
        connection.close()
        with pytest.raises(Invalid, match="has no column adversarial_level"):
            await session_tables.import_sessions(
                opened, parse_location(str(other), session_tables.TABLE), model
            )


def test_sessions_come_and_go_by_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MOOT_DATA", str(tmp_path / "data"))
    source, target = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    source.write_text("".join(json.dumps(one) + "\n" for one in (row(2), row(3, 2))))
    assert import_sessions(str(source), dry_run=True) == 0
    assert import_sessions(str(source)) == 0
    assert import_sessions(str(source)) == 0
    assert export_sessions(str(target)) == 0
    told = capsys.readouterr().out
    assert "2 sessions can be brought" in told
    assert "2 were here already" in told
    assert "2 rows written" in told
    given = sorted((json.loads(line) for line in target.read_text().splitlines()), key=lambda one: one["id"])
    assert given == [row(2), row(3, 2)]


# --- continued ----------------------------------------------------------------------------------------


async def test_an_imported_session_is_restored_and_continued_under_its_old_id(tmp_path: Path) -> None:
    provider = ScriptedProvider()
    async with serving(tmp_path, provider=provider) as house:
        given = row(3)
        await house.arena.import_debate(session_events(given, model))
        told = (await house.http.get("/api/debate/session/debate_1_x")).json()
        assert [entry["content"] for entry in told["turnHistory"]] == [
            entry["content"] for entry in given["turn_history"]
        ]
        assert told["turnHistory"][0]["timestamp"] == given["turn_history"][0]["timestamp"]
        assert (told["createdAt"], told["updatedAt"]) == (given["created_at"], given["updated_at"])
        heard = await house.http.get("/api/debate/stream/debate_1_x")
        assert "event: reasoning" in heard.text or not given["turn_history"][-1]["reasoning"]
        reply = await house.http.post("/api/debate/stream", json=_fourth(given))
        assert "event: complete" in reply.text
        assert provider.calls[0].previous_response_id == "resp_1_2"
        after = await _exported(house)
    assert after["turn_history"][:3] == given["turn_history"]
    assert [entry["turn"] for entry in after["turn_history"]] == [1, 2, 3, 4]
    assert len(after["model2_response_ids"]) == 2
    assert told["totalCost"] == given["total_cost"] == after["total_cost"]
    assert after["updated_at"] > given["updated_at"]
    assert session_row(imported(after)) == after


def _fourth(given: SessionRow) -> dict[str, Any]:
    return {
        "modelId": given["model2_id"],
        "topic": TOPIC,
        "role": "NEGATIVE",
        "intensity": 3,
        "opponentMessage": given["turn_history"][-1]["content"],
        "previousResponseId": "resp_1_2",
        "turnNumber": 4,
    }


async def _exported(house: Served) -> SessionRow:
    page = await house.arena.list(format="turns")
    return session_row(await house.arena.state(page.heads[0].id))


async def test_the_log_of_an_import_folds_like_any_other(tmp_path: Path) -> None:
    async with arena(tmp_path) as opened:
        outcome = await opened.import_debate(session_events(row(4), model))
        records = await opened.store.read(outcome.debate.id)
        assert isinstance(records[-1].event, DebateImported)
        assert fold(records) == await opened.state(outcome.debate.id)
