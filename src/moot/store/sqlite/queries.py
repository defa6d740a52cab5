"""Queries on the log and the heads in SQLite. All take a connection, so the writer can use them too.

The interpreter may switch threads at every row that SQLite returns, and a busy event loop then delays the
reader by milliseconds a row. Long results are therefore built by SQLite and returned as one row of JSON.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date, datetime, timedelta

import msgspec

from moot.core.errors import UnknownDebate
from moot.core.events import Recorded
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import Status
from moot.store.append import epoch_seconds
from moot.store.contract import (
    ACTIVE_STATUSES,
    ActiveDebate,
    DebateFilter,
    DebateHead,
    DebatePage,
    LogPosition,
)

PAGE = 1000

_records = msgspec.json.Decoder(tuple[Recorded, ...])
_pulses = msgspec.json.Decoder(tuple[tuple[str, int, int], ...])


def events(connection: sqlite3.Connection, debate_id: str, after: int, limit: int) -> tuple[Recorded, ...]:
    row = connection.execute(
        """
        SELECT CAST('[' || group_concat(
            '{"debate":' || ?1 || ',"seq":' || seq || ',"at":"' || at || '","epoch":' || epoch
            || ',"event":' || body || '}'
        ) || ']' AS BLOB)
        FROM (
            SELECT seq, at, epoch, body FROM events WHERE debate_id = ?2 AND seq > ?3
            UNION ALL
            SELECT seq, at, epoch, body FROM fresh WHERE debate_id = ?2 AND seq > ?3
            ORDER BY seq LIMIT ?4
        )
        """,
        (msgspec.json.encode(debate_id).decode(), debate_id, after, limit),
    ).fetchone()
    return _records.decode(row[0]) if row[0] else ()


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


HEAD = f"""
    place, id, owner, status, motion, format, {VERSION} AS version, epoch, runner,
    created_at, {UPDATED_AT} AS updated_at, summary
"""


def head(connection: sqlite3.Connection, debate_id: str) -> DebateHead:
    row = connection.execute(f"SELECT {HEAD} FROM debates WHERE id = ?", (debate_id,)).fetchone()  # noqa: S608 - our own columns
    if row is None:
        raise UnknownDebate
    return _head(*row)


def heads(connection: sqlite3.Connection, filters: DebateFilter, limit: int, offset: int) -> DebatePage:
    """Newest first. Several statuses are merged from one ordered walk each, which sorts nothing."""
    row_range = _row_range(connection, filters)
    query, values = heads_query(filters, row_range)
    rows = connection.execute(f"{query} LIMIT ? OFFSET ?", (*values, limit, offset)).fetchall()
    return DebatePage(tuple(_head(*row) for row in rows), _total(connection, filters, row_range))


def summaries(
    connection: sqlite3.Connection, owner: str | None, before: int, limit: int
) -> tuple[bytes, int] | None:
    """The page before row number `before`, and the lowest row number in it; None where there are no more."""
    where, values = _where(DebateFilter(owner=owner), None)
    row = connection.execute(
        f"""
        SELECT CAST('[' || group_concat(summary) || ']' AS BLOB), min(place) FROM (
            SELECT summary, place FROM debates WHERE {where} AND place < ? ORDER BY place DESC LIMIT ?
        )
        """,  # noqa: S608 - our own columns
        (*values, before, limit),
    ).fetchone()
    return (row[0], row[1]) if row[0] else None


ACTIVE = f"SELECT id, {VERSION}, runner, {UPDATED_AT} FROM debates"  # noqa: S608 - our own columns


def claimed_debates(connection: sqlite3.Connection) -> tuple[ActiveDebate, ...]:
    return tuple(_active_debate(*row) for row in connection.execute(f"{ACTIVE} WHERE runner <> ''"))


def active_debates(connection: sqlite3.Connection, since: datetime | None) -> tuple[ActiveDebate, ...]:
    statuses = ",".join("?" * len(ACTIVE_STATUSES))
    rows = connection.execute(
        f"{ACTIVE} WHERE status IN ({statuses}) AND turned_at >= ?",
        (*ACTIVE_STATUSES, epoch_seconds(since) if since else 0),
    )
    return tuple(_active_debate(*row) for row in rows)


def _active_debate(debate_id: str, version: int, runner: str, updated_at: str) -> ActiveDebate:
    return ActiveDebate(debate_id, version, runner, datetime.fromisoformat(updated_at))


def ended_before(connection: sqlite3.Connection, before: datetime, limit: int) -> tuple[str, ...]:
    """Words may still come after the end, so the time of the last event is compared, too."""
    rows = connection.execute(ENDED_BEFORE, (epoch_seconds(before), max(limit, 0))).fetchall()
    return tuple(row[0] for row in rows)


# The planner would take the index of the status, and then sort; this one needs its very condition.
ENDED_BEFORE = f"""
    SELECT id FROM debates INDEXED BY debates_ended
    WHERE status IN ('completed', 'aborted', 'error')
        AND turned_at < ?1 AND CAST(strftime('%s', {UPDATED_AT}) AS INTEGER) < ?1
    ORDER BY turned_at, place LIMIT ?2
"""  # noqa: S608 - our own columns


def size(connection: sqlite3.Connection) -> int:
    """The pages in use: the file does not shrink, but deleted pages are reused."""
    pages, free, each = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * each


RowRange = tuple[int, int]
"""The first and the last row number."""
Value = str | int


def heads_query(filters: DebateFilter, row_range: RowRange | None = None) -> tuple[str, list[Value]]:
    walks: list[str] = []
    values: list[Value] = []
    for status in dict.fromkeys(filters.statuses) or (None,):
        where, applied = _where(filters, status, row_range)
        # By the column of the table that is walked: by that of the other, SQLite would sort.
        head = HEAD.replace("place,", "casts.debate AS place,", 1) if filters.model else HEAD
        walks.append(f"SELECT {head} FROM {_source(filters)} WHERE debates.place > 0 AND {where}")  # noqa: S608 - our own columns
        values += applied
    return " UNION ALL ".join(walks) + " ORDER BY place DESC", values


def _source(filters: DebateFilter) -> str:
    """A model's debates are found through `casts`: CROSS JOIN keeps the two in this order."""
    return "casts CROSS JOIN debates" if filters.model else "debates"


def _where(
    filters: DebateFilter, status: Status | None, row_range: RowRange | None = None
) -> tuple[str, list[Value]]:
    low, high = row_range or (None, None)
    conditions: dict[str, Value | None] = {
        "casts.debate = debates.place AND casts.model = ?": filters.model or None,
        "owner = ?": filters.owner,
        "status = ?": status,
        "format = ?": filters.format or None,
        "instr(casefold(motion), ?) > 0": filters.search.casefold() or None,
        "debates.place >= ?": low,
        "debates.place <= ?": high,
        **_days(filters),
    }
    applied = {condition: value for condition, value in conditions.items() if value is not None}
    return " AND ".join(applied) or "TRUE", list(applied.values())


def _days(filters: DebateFilter) -> dict[str, str]:
    """Times are stored with the date first, so a date can be compared with them as text."""
    bounds = {"created_at >= ?": filters.since, "created_at < ?": _day_after(filters.until)}
    return {condition: day.isoformat() for condition, day in bounds.items() if day}


def _day_after(day: date | None) -> date | None:
    return day + timedelta(days=1) if day and day < date.max else None


def _row_range(connection: sqlite3.Connection, filters: DebateFilter) -> RowRange | None:
    """The row numbers between which all debates of those days are, so that a list uses its usual index.

    Clocks are set back at times, so the days are still compared as well.
    """
    days = _days(filters)
    if not days:
        return None
    where = " AND ".join(days)
    return connection.execute(
        f"SELECT coalesce(min(place), 0), coalesce(max(place), 0) FROM debates WHERE {where}",  # noqa: S608 - our own columns
        (*days.values(),),
    ).fetchone()


def _total(connection: sqlite3.Connection, filters: DebateFilter, row_range: RowRange | None) -> int:
    """From `tallies`, which has owners and statuses; other filters have to count."""
    counting = bool(filters.search or filters.format or filters.model or row_range)
    table = _source(filters) if counting else "tallies"
    count = "count(*)" if counting else "coalesce(sum(n), 0)"
    total = 0
    for status in dict.fromkeys(filters.statuses) or (None,):
        where, values = _where(filters, status, row_range)
        total += connection.execute(f"SELECT {count} FROM {table} WHERE {where}", values).fetchone()[0]  # noqa: S608 - our own columns
    return total


def _head(
    place: int,
    debate_id: str,
    owner: str,
    status: Status,
    motion: str,
    format_name: str,
    version: int,
    epoch: int,
    runner: str,
    created_at: str,
    updated_at: str,
    summary: str,
) -> DebateHead:
    return DebateHead(
        id=debate_id,
        owner=owner,
        status=status,
        motion=motion,
        format=format_name,
        version=version,
        epoch=epoch,
        runner=runner,
        created_at=datetime.fromisoformat(created_at),
        updated_at=datetime.fromisoformat(updated_at),
        summary=summary.encode(),
    )
