"""What is asked of the file, each question with its SQL. All take a connection, so the writer may ask too.

The interpreter lets other threads in at every row that SQLite steps through, and a busy event loop then
keeps the reader waiting for milliseconds a row. Long answers are therefore put together by SQLite and
come back as one row of JSON.
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
    """The state after event `upto`, going on from `base`. Reads page by page, in no transaction."""
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


# Fresh events are later than settled ones, so the last is among them if there are any.
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


def heads(connection: sqlite3.Connection, wanted: DebateFilter, limit: int, offset: int) -> DebatePage:
    """Newest first. Several statuses are merged from one ordered walk each, which sorts nothing."""
    span = _row_range(connection, wanted)
    query, values = heads_query(wanted, span)
    rows = connection.execute(f"{query} LIMIT ? OFFSET ?", (*values, limit, offset)).fetchall()
    return DebatePage(tuple(_head(*row) for row in rows), _total(connection, wanted, span))


def summaries(
    connection: sqlite3.Connection, owner: str | None, before: int, limit: int
) -> tuple[bytes, int] | None:
    """A page of those whose place is less, and the least place in it. None where there are no more."""
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


ASTIR = f"SELECT id, {VERSION}, runner, {UPDATED_AT} FROM debates"  # noqa: S608 - our own columns


def claimed_debates(connection: sqlite3.Connection) -> tuple[ActiveDebate, ...]:
    return tuple(_active_debate(*row) for row in connection.execute(f"{ASTIR} WHERE runner <> ''"))


def active_debates(connection: sqlite3.Connection, since: datetime | None) -> tuple[ActiveDebate, ...]:
    statuses = ",".join("?" * len(ACTIVE_STATUSES))
    rows = connection.execute(
        f"{ASTIR} WHERE status IN ({statuses}) AND turned_at >= ?",
        (*ACTIVE_STATUSES, epoch_seconds(since) if since else 0),
    )
    return tuple(_active_debate(*row) for row in rows)


def _active_debate(debate_id: str, version: int, runner: str, updated_at: str) -> ActiveDebate:
    return ActiveDebate(debate_id, version, runner, datetime.fromisoformat(updated_at))


def ended_before(connection: sqlite3.Connection, before: datetime, limit: int) -> tuple[str, ...]:
    """Words may still come after the end, so the last event has a say too."""
    rows = connection.execute(STALE, (epoch_seconds(before), max(limit, 0))).fetchall()
    return tuple(row[0] for row in rows)


# The planner would take the index of the status, and then sort; this one needs its very condition.
STALE = f"""
    SELECT id FROM debates INDEXED BY debates_ended
    WHERE status IN ('completed', 'aborted', 'error')
        AND turned_at < ?1 AND CAST(strftime('%s', {UPDATED_AT}) AS INTEGER) < ?1
    ORDER BY turned_at, place LIMIT ?2
"""  # noqa: S608 - our own columns


def size(connection: sqlite3.Connection) -> int:
    """The pages in use: a file does not shrink, but what was deleted in it makes room."""
    pages, free, each = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * each


RowRange = tuple[int, int]
"""The first place and the last one."""
Value = str | int


def heads_query(wanted: DebateFilter, span: RowRange | None = None) -> tuple[str, list[Value]]:
    walks: list[str] = []
    values: list[Value] = []
    for status in dict.fromkeys(wanted.statuses) or (None,):
        where, chosen = _where(wanted, status, span)
        # By the column of the table that is walked: by that of the other, SQLite would sort.
        head = HEAD.replace("place,", "casts.debate AS place,", 1) if wanted.model else HEAD
        walks.append(f"SELECT {head} FROM {_source(wanted)} WHERE debates.place > 0 AND {where}")  # noqa: S608 - our own columns
        values += chosen
    return " UNION ALL ".join(walks) + " ORDER BY place DESC", values


def _source(wanted: DebateFilter) -> str:
    """A model's debates are walked by its casts: CROSS JOIN keeps the two in this order."""
    return "casts CROSS JOIN debates" if wanted.model else "debates"


def _where(
    wanted: DebateFilter, status: Status | None, span: RowRange | None = None
) -> tuple[str, list[Value]]:
    low, high = span or (None, None)
    conditions: dict[str, Value | None] = {
        "casts.debate = debates.place AND casts.model = ?": wanted.model or None,
        "owner = ?": wanted.owner,
        "status = ?": status,
        "format = ?": wanted.format or None,
        "instr(casefold(motion), ?) > 0": wanted.search.casefold() or None,
        "debates.place >= ?": low,
        "debates.place <= ?": high,
        **_days(wanted),
    }
    chosen = {condition: value for condition, value in conditions.items() if value is not None}
    return " AND ".join(chosen) or "TRUE", list(chosen.values())


def _days(wanted: DebateFilter) -> dict[str, str]:
    """Moments are written with the date in front, so a date can be held against them as text."""
    bounds = {"created_at >= ?": wanted.since, "created_at < ?": _day_after(wanted.until)}
    return {condition: day.isoformat() for condition, day in bounds.items() if day}


def _day_after(day: date | None) -> date | None:
    return day + timedelta(days=1) if day and day < date.max else None


def _row_range(connection: sqlite3.Connection, wanted: DebateFilter) -> RowRange | None:
    """The places between which all debates of those days lie: with it, lists walk as they do without days.

    Clocks are set back at times, so the days themselves have the last word.
    """
    days = _days(wanted)
    if not days:
        return None
    where = " AND ".join(days)
    return connection.execute(
        f"SELECT coalesce(min(place), 0), coalesce(max(place), 0) FROM debates WHERE {where}",  # noqa: S608 - our own columns
        (*days.values(),),
    ).fetchone()


def _total(connection: sqlite3.Connection, wanted: DebateFilter, span: RowRange | None) -> int:
    """From the tallies, which know owners and statuses: whoever asks for more has to count."""
    counting = bool(wanted.search or wanted.format or wanted.model or span)
    table = _source(wanted) if counting else "tallies"
    count = "count(*)" if counting else "coalesce(sum(n), 0)"
    total = 0
    for status in dict.fromkeys(wanted.statuses) or (None,):
        where, values = _where(wanted, status, span)
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
