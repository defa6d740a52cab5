"""Queries on the log in SQLite, and its part of the lists.

All take a connection, so the writer can use them too. The interpreter may switch threads at every row that
SQLite returns, and a busy event loop then delays the reader by milliseconds a row. Long results are therefore
built by SQLite and returned as one row of JSON.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from moot.core.errors import UnknownDebate
from moot.core.events import Recorded, decode_records
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.statuses import ENDED, sql_list
from moot.store.contract import LogPosition, StoreFigures
from moot.store.sql_lists import ListDialect

PAGE = 1000

_pulses = msgspec.json.Decoder(tuple[tuple[str, int, int], ...])


def events(connection: sqlite3.Connection, debate_id: str, after: int, limit: int) -> tuple[Recorded, ...]:
    row = connection.execute(
        """
        SELECT CAST('[' || group_concat(
            '{"debate":' || :quoted || ',"seq":' || seq || ',"at":"' || at || '","epoch":' || epoch
            || ',"event":' || body || '}'
        ) || ']' AS BLOB)
        FROM (
            SELECT seq, at, epoch, body FROM events WHERE debate_id = :debate AND seq > :after
            UNION ALL
            SELECT seq, at, epoch, body FROM fresh WHERE debate_id = :debate AND seq > :after
            ORDER BY seq LIMIT :limit
        )
        """,
        {
            "quoted": msgspec.json.encode(debate_id).decode(),
            "debate": debate_id,
            "after": after,
            "limit": limit,
        },
    ).fetchone()
    return decode_records(row[0]) if row[0] else ()


def fold_state(connection: sqlite3.Connection, debate_id: str, upto: int, base: Debate | None) -> Debate:
    """The state after event `upto`, starting from `base`. Reads in pages, without a transaction."""
    seq = base.seq if base else 0
    while seq < upto:
        records = events(connection, debate_id, seq, min(PAGE, upto - seq))
        if not records:
            raise UnknownDebate
        base = fold(records, base)
        seq = records[-1].seq
    if base is None:
        raise UnknownDebate
    return base


# Events in `fresh` are later than those in `events`.
VERSION = """coalesce(
    (SELECT max(seq) FROM fresh WHERE debate_id = debates.id),
    (SELECT max(seq) FROM events WHERE debate_id = debates.id)
)"""
UPDATED_AT = """coalesce(
    (SELECT at FROM fresh WHERE debate_id = debates.id ORDER BY seq DESC LIMIT 1),
    (SELECT at FROM events WHERE debate_id = debates.id ORDER BY seq DESC LIMIT 1)
)"""


def position(connection: sqlite3.Connection, debate_id: str) -> LogPosition | None:
    row = connection.execute(
        f"SELECT {VERSION}, epoch FROM debates WHERE id = ?",  # noqa: S608 - our own columns
        (debate_id,),
    ).fetchone()
    return LogPosition(*row) if row else None


def positions(connection: sqlite3.Connection, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
    row = connection.execute(
        f"""
        SELECT json_group_array(json_array(id, {VERSION}, epoch))
        FROM debates WHERE id IN (SELECT value FROM json_each(?))
        """,  # noqa: S608 - our own columns
        (msgspec.json.encode(debate_ids).decode(),),
    ).fetchone()
    return {debate_id: LogPosition(version, epoch) for debate_id, version, epoch in _pulses.decode(row[0])}


# The planner would take the index of the status, and then sort; this one needs its very condition.
ENDED_BEFORE = f"""
    SELECT id FROM debates INDEXED BY debates_ended
    WHERE status IN {sql_list(ENDED)} AND turned_at < seconds(:before)
        AND CAST(strftime('%s', {UPDATED_AT}) AS INTEGER) < seconds(:before)
        {{keeps}}
    ORDER BY turned_at, place LIMIT :limit
"""  # noqa: S608 - our own columns
LISTS = ListDialect(VERSION, UPDATED_AT, join_heads="", ended_before=ENDED_BEFORE, plans_walks=False)


def size(connection: sqlite3.Connection) -> int:
    """The pages in use: the file does not shrink, but deleted pages are reused."""
    pages, free, each = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * each


def figures(connection: sqlite3.Connection) -> StoreFigures:
    """In one visit of a reader."""
    counted = connection.execute(
        """
        SELECT 'status', status, sum(n) FROM tallies GROUP BY status
        UNION ALL SELECT 'runner', runner, count(*) FROM debates WHERE runner <> '' GROUP BY runner
        """
    ).fetchall()
    statuses, runners = (
        {name: number for kind, name, number in counted if kind == wanted and number}
        for wanted in ("status", "runner")
    )
    return StoreFigures(statuses, runners, size(connection))
