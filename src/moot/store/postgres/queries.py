"""Queries on the log and the heads in PostgreSQL. `query` runs them on the pool or for the writer.

A page of events is built by the database and returned as one row of JSON, which is decoded at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from moot.core.errors import UnknownDebate
from moot.core.events import Recorded
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.store.append import CachedState, RepeatedRequest
from moot.store.contract import (
    ACTIVE_STATUSES,
    ActiveDebate,
    DebateFilter,
    DebateHead,
    DebatePage,
    IdempotencyKey,
    LogPosition,
)
from moot.store.postgres.connect import Params

RunQuery = Callable[[str, Params], Awaitable[list[tuple[Any, ...]]]]

PAGE = 1000

_records = msgspec.json.Decoder(tuple[Recorded, ...])


class DebatePosition(Struct, frozen=True):
    """The position of a debate. One that was deleted and opened again has another row number (`place`)."""

    id: str
    place: int
    version: int
    epoch: int


# --- the log ------------------------------------------------------------------------------------------


async def events(query: RunQuery, debate_id: str, after: int, limit: int) -> tuple[Recorded, ...]:
    rows = await query(
        """
        SELECT '[' || string_agg(
            '{"debate":' || %(name)s::text || ',"seq":' || seq
            || ',"at":"' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            || '","epoch":' || epoch || ',"event":' || body || '}', ',' ORDER BY seq
        ) || ']'
        FROM (
            SELECT seq, at, epoch, body FROM events WHERE debate_id = %(id)s AND seq > %(after)s
            ORDER BY seq LIMIT %(limit)s
        ) AS page
        """,
        {"name": msgspec.json.encode(debate_id).decode(), "id": debate_id, "after": after, "limit": limit},
    )
    return _records.decode(rows[0][0]) if rows[0][0] else ()


async def fold_state(query: RunQuery, debate_id: str, upto: int, base: Debate | None) -> Debate:
    """The state after event `upto`, starting from `base`. Reads in pages, without a transaction."""
    seq = base.seq if base else 0
    while seq < upto:
        records = await events(query, debate_id, seq, min(PAGE, upto - seq))
        if not records:
            raise UnknownDebate
        base = fold(records, base)
        seq = records[-1].seq
    if base is None:
        raise UnknownDebate
    return base


async def read_positions(query: RunQuery, debate_ids: Sequence[str]) -> list[DebatePosition]:
    rows = await query(
        "SELECT debate_id, place, version, epoch FROM heads WHERE debate_id = ANY(%s)", [list(debate_ids)]
    )
    return [DebatePosition(*row) for row in rows]


async def catch_up(
    query: RunQuery, position: DebatePosition, known: CachedState | None
) -> CachedState | None:
    """Bring a cached state up to date. None where the debate has been deleted since."""
    same = known is not None and known.checked == position.place and known.debate.seq <= position.version
    try:
        debate = await fold_state(
            query, position.id, position.version, known.debate if known and same else None
        )
    except UnknownDebate:
        return None
    return CachedState(debate, position.epoch, position.place)


async def requests(
    query: RunQuery, keys: Sequence[IdempotencyKey], at: datetime
) -> dict[tuple[str, str], RepeatedRequest]:
    """Those that have been carried out. Expired ones are deleted."""
    rows = await query(
        """
        SELECT requests.client, requests.key, body_hash, debate_id, first, seq, expires > %(at)s
        FROM requests JOIN unnest(%(clients)s::text[], %(keys)s::text[]) AS one (client, key)
            ON requests.client = one.client AND requests.key = one.key
        """,
        {"at": at, "clients": [once.client for once in keys], "keys": [once.key for once in keys]},
    )
    if not all(row[-1] for row in rows):
        await query("DELETE FROM requests WHERE expires <= %s", [at])
    return {(row[0], row[1]): RepeatedRequest(*row[2:6]) for row in rows if row[-1]}


# --- heads --------------------------------------------------------------------------------------------

HEAD = """
    debates.id, owner, status, motion, format, version, epoch, runner, created_at, updated_at, summary
"""
WITH_HEADS = "JOIN heads ON heads.debate_id = debates.id"


async def head(query: RunQuery, debate_id: str) -> DebateHead:
    rows = await query(f"SELECT {HEAD} FROM debates {WITH_HEADS} WHERE debates.id = %s", [debate_id])  # noqa: S608 - our own columns
    if not rows:
        raise UnknownDebate
    return _head(rows[0])


async def heads(query: RunQuery, filters: DebateFilter, limit: int, offset: int) -> DebatePage:
    text, values = heads_query(filters)
    rows = await query(f"{text} LIMIT %s OFFSET %s", [*values, limit, offset])
    where, values = _where(filters)
    [[total]] = await query(f"SELECT count(*) FROM {_source(filters)} WHERE {where}", values)  # noqa: S608 - our own columns
    return DebatePage(tuple(_head(row) for row in rows), total)


def heads_query(filters: DebateFilter) -> tuple[str, list[object]]:
    """Newest first."""
    where, values = _where(filters)
    # By the column of the table that is walked.
    order_column = "casts.debate" if filters.model else "debates.place"
    source = f"{_source(filters)} {WITH_HEADS}"
    return f"SELECT {HEAD} FROM {source} WHERE {where} ORDER BY {order_column} DESC", values  # noqa: S608 - our own columns


def _source(filters: DebateFilter) -> str:
    return "casts JOIN debates ON casts.debate = debates.place" if filters.model else "debates"


def _where(filters: DebateFilter) -> tuple[str, list[object]]:
    conditions: dict[str, object] = {
        "casts.model = %s": filters.model or None,
        "owner = %s": filters.owner,
        "status = ANY(%s)": list(filters.statuses) or None,
        "format = %s": filters.format or None,
        "folded LIKE %s": _part(filters.search.casefold()) if filters.search else None,
        "created_at >= %s": filters.since and _midnight(filters.since),
        "created_at < %s": _day_after(filters.until),
    }
    applied = {condition: value for condition, value in conditions.items() if value is not None}
    return " AND ".join(applied) or "TRUE", list(applied.values())


def _part(text: str) -> str:
    """A LIKE pattern for the text anywhere, with special characters escaped."""
    for special in ("\\", "%", "_"):
        text = text.replace(special, "\\" + special)
    return f"%{text}%"


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _day_after(day: date | None) -> datetime | None:
    return _midnight(day + timedelta(days=1)) if day and day < date.max else None


async def claimed_debates(query: RunQuery) -> tuple[ActiveDebate, ...]:
    rows = await query("SELECT debate_id, version, runner, updated_at FROM heads WHERE runner <> ''", None)
    return tuple(ActiveDebate(*row) for row in rows)


async def active_debates(query: RunQuery, since: datetime | None) -> tuple[ActiveDebate, ...]:
    rows = await query(
        f"""
        SELECT debates.id, version, runner, updated_at FROM debates {WITH_HEADS}
        WHERE status = ANY(%(statuses)s) AND (%(since)s::timestamptz IS NULL OR turned_at >= %(since)s)
        """,  # noqa: S608 - our own columns
        {"statuses": list(ACTIVE_STATUSES), "since": since},
    )
    return tuple(ActiveDebate(*row) for row in rows)


async def positions(query: RunQuery, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
    rows = await read_positions(query, debate_ids)
    return {row.id: LogPosition(row.version, row.epoch) for row in rows}


async def summaries(query: RunQuery, owner: str | None, before: int, limit: int) -> tuple[bytes, int] | None:
    """The page before row number `before`, and the lowest row number in it; None where there are no more."""
    where, values = _where(DebateFilter(owner=owner))
    [[page, least]] = await query(
        f"""
        SELECT '[' || string_agg(summary, ',' ORDER BY place DESC) || ']', min(place) FROM (
            SELECT summary, place FROM debates WHERE {where} AND place < %s ORDER BY place DESC LIMIT %s
        ) AS page
        """,  # noqa: S608 - our own columns
        [*values, before, limit],
    )
    return (page.encode(), least) if page else None


async def ended_before(query: RunQuery, before: datetime, limit: int) -> tuple[str, ...]:
    """Words may still come after the end, so the time of the last event is compared, too."""
    rows = await query(
        """
        SELECT debates.id FROM debates JOIN heads ON heads.debate_id = debates.id
        WHERE ended_at < %(before)s AND turned_at < %(before)s AND updated_at < %(before)s
        ORDER BY turned_at, debates.place LIMIT %(limit)s
        """,
        {"before": before.replace(microsecond=0), "limit": max(limit, 0)},
    )
    return tuple(row[0] for row in rows)


async def size(query: RunQuery) -> int:
    """Events, requests and conversations, without the indexes of the log, which shrink only when vacuumed."""
    [[bytes_said, archived]] = await query(
        """
        SELECT (SELECT coalesce(sum(bytes), 0) FROM heads),
            coalesce(pg_total_relation_size(to_regclass('conversation_events')), 0)
        """,
        None,
    )
    return int(bytes_said) + int(archived)


def _head(row: tuple[Any, ...]) -> DebateHead:
    shape = dict(zip(DebateHead.__struct_fields__, row, strict=True))
    return DebateHead(
        **{
            **shape,
            "created_at": shape["created_at"].astimezone(UTC),
            "updated_at": shape["updated_at"].astimezone(UTC),
            "summary": shape["summary"].encode(),
        }
    )
