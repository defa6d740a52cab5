"""The table `debate_sessions` of an older server, in PostgreSQL, SQLite or JSON lines: read and written back.

Sessions become debates of our own, which can be looked at and continued; one that is here already is left as
it is. What was imported and not continued is given back as it was. A row that a table has already stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

import msgspec
from msgspec import Struct, field

from moot.compat import row_writers
from moot.compat.import_report import Problem
from moot.compat.row_locations import Place
from moot.compat.row_readers import Found, opened
from moot.compat.row_writers import Given, Table
from moot.core.errors import Invalid, UnknownDebate
from moot.core.terms import Model
from moot.engine.arena import Arena
from moot.rules.turn_sessions import NAME
from moot.store.contract import Store, Wanted
from moot.views.session_rows import COLUMNS, LISTS, Row, by_row, log_of, row_of

TABLE = "debate_sessions"
PAGE = 500
DDL = """
CREATE TABLE IF NOT EXISTS {} (
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
SESSIONS = Table(DDL, COLUMNS, json=LISTS)
NEEDED = frozenset(COLUMNS) - {"total_cost", "created_at", "updated_at"}


class Brought(Struct):
    new: int = 0
    there: int = 0
    """Left as they were."""
    problems: list[Problem] = field(default_factory=list[Problem])
    """The rows that could not be brought, and why."""


async def bring(
    arena: Arena, place: Place, model: Callable[[str], Model], *, owner: str = "", dry: bool = False
) -> Brought:
    """`model` knows what the table calls by a bare name."""
    done = Brought()
    for found in await asyncio.to_thread(read, place):
        try:
            row = _row(found)
            events = log_of(row, model)
            if await arena.store.find(by_row(row["id"])):
                done.there += 1
                continue
            if not dry:
                await arena.take_over(events, owner=owner)
            done.new += 1
        except (Invalid, ValueError) as error:
            done.problems.append(Problem(found.name, str(error)))
    return done


def read(place: Place) -> list[Found]:
    rows, cursor = list[Found](), ""
    with opened(place, NEEDED) as source:
        while (batch := source.read(cursor, PAGE)).rows:
            rows += batch.rows
            cursor = batch.cursor
    return rows


def _row(found: Found) -> Row:
    """Lists that are kept as text are lists; other columns than ours are nobody's business."""
    if found.shape is None:
        raise Invalid(f"It is {found.problem}.")
    row = {name: found.shape.get(name) for name in COLUMNS}
    if not isinstance(row["id"], str) or not row["id"]:
        raise Invalid("It has no id.")
    for name in LISTS:
        if isinstance(text := row[name], str | bytes):
            # What is no JSON stays as it is, and is told with its row.
            with suppress(msgspec.DecodeError):
                row[name] = msgspec.json.decode(text)
    return row


async def give(store: Store, place: Place) -> Given:
    return await row_writers.give(place, SESSIONS, _rows(store))


async def _rows(store: Store) -> AsyncGenerator[list[Row], None]:
    offset, seen = 0, set[str]()
    while heads := (await store.list(Wanted(format=NAME), limit=PAGE, offset=offset)).heads:
        rows: list[Row] = []
        # Sessions that are opened meanwhile move the others on to the next page, where they come again.
        for head in (head for head in heads if head.id not in seen):
            with suppress(UnknownDebate):
                rows.append(row_of(await store.state(head.id)))
        yield rows
        seen.update(head.id for head in heads)
        offset += len(heads)
