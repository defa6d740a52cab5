"""Imports and exports the table `debate_sessions` of an older server, in PostgreSQL, SQLite or JSON lines.

Sessions become debates, which can be read and continued; one that was imported before is left as it is. What
was not continued is exported as it was. Rows that a table has already are not overwritten.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

import msgspec
from msgspec import Struct, field

from moot.core.errors import Invalid, UnknownDebate
from moot.core.terms import SESSION_FORMAT, Model
from moot.engine.arena import Arena
from moot.extensions.turn_sessions.rows import (
    COLUMNS,
    LIST_COLUMNS,
    SessionRow,
    session_events,
    session_row,
)
from moot.row_io import writers
from moot.row_io.readers import RowLocation, RowProblem, SourceRow, SourceTable, open_reader
from moot.row_io.writers import TableDefinition, WriteReport
from moot.rules.turn_by_turn import row_key
from moot.store.contract import DebateFilter, Store

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
SESSIONS_TABLE = TableDefinition(DDL, COLUMNS, json=LIST_COLUMNS)
OLD_TABLE = SourceTable(frozenset(COLUMNS) - {"total_cost", "created_at", "updated_at"})


class SessionImport(Struct):
    new: int = 0
    existing: int = 0
    """Left as they were."""
    problems: list[RowProblem] = field(default_factory=list[RowProblem])
    """The rows that could not be imported, and why."""


async def import_sessions(
    arena: Arena, location: RowLocation, model: Callable[[str], Model], *, owner: str = "", dry: bool = False
) -> SessionImport:
    """`model` finds a model by the bare name that the table has for it."""
    done = SessionImport()
    for source_row in await asyncio.to_thread(read_sessions, location):
        try:
            row = _row(source_row)
            events = session_events(row, model)
            if await arena.store.find_sessions(row_key(row["id"])):
                done.existing += 1
                continue
            if not dry:
                await arena.import_debate(events, owner=owner)
            done.new += 1
        except (Invalid, ValueError) as error:
            done.problems.append(RowProblem(source_row.name, str(error)))
    return done


def read_sessions(location: RowLocation) -> list[SourceRow]:
    rows, cursor = list[SourceRow](), ""
    with open_reader(location, OLD_TABLE) as source:
        while (batch := source.read(cursor, PAGE)).rows:
            rows += batch.rows
            cursor = batch.cursor
    return rows


def _row(source_row: SourceRow) -> SessionRow:
    """The known columns, with lists decoded where they are stored as text. Raises Invalid."""
    if source_row.fields is None:
        raise Invalid(f"It is {source_row.problem}.")
    row = {name: source_row.fields.get(name) for name in COLUMNS}
    if not isinstance(row["id"], str) or not row["id"]:
        raise Invalid("It has no id.")
    for name in LIST_COLUMNS:
        if isinstance(text := row[name], str | bytes):
            # Text that is no JSON is reported later, with its row.
            with suppress(msgspec.DecodeError):
                row[name] = msgspec.json.decode(text)
    return row


async def export_sessions(store: Store, location: RowLocation) -> WriteReport:
    return await writers.write_rows(location, SESSIONS_TABLE, _rows(store))


async def _rows(store: Store) -> AsyncGenerator[list[SessionRow], None]:
    offset, seen = 0, set[str]()
    while heads := (await store.list(DebateFilter(format=SESSION_FORMAT), limit=PAGE, offset=offset)).heads:
        rows: list[SessionRow] = []
        # Sessions that are opened meanwhile move others to the next page, where they appear again.
        for head in (head for head in heads if head.id not in seen):
            with suppress(UnknownDebate):
                rows.append(session_row(await store.state(head.id)))
        yield rows
        seen.update(head.id for head in heads)
        offset += len(heads)
