"""What is asked of PostgreSQL, each question with its SQL. All take `ask`: a reader's way, or the writer's.

A page of events is put together by the database and comes back as one row of JSON, which is decoded at once.
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
    """Where a debate stands. One that was deleted and opened again has another place."""

    id: str
    place: int
    version: int
    epoch: int


# --- the log ------------------------------------------------------------------------------------------


async def events(ask: RunQuery, debate_id: str, after: int, limit: int) -> tuple[Recorded, ...]:
    rows = await ask(
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


async def fold_state(ask: RunQuery, debate_id: str, upto: int, base: Debate | None) -> Debate:
    """The state after event `upto`, going on from `base`. Reads page by page, in no transaction."""
    seq = base.seq if base else 0
    while seq < upto:
        records = await events(ask, debate_id, seq, min(PAGE, upto - seq))
        if not records:
            raise UnknownDebate
        base = fold(records, base)
        seq = records[-1].seq
    if base is None:
        raise UnknownDebate
    return base


async def read_positions(ask: RunQuery, debate_ids: Sequence[str]) -> list[DebatePosition]:
    rows = await ask(
        "SELECT debate_id, place, version, epoch FROM heads WHERE debate_id = ANY(%s)", [list(debate_ids)]
    )
    return [DebatePosition(*row) for row in rows]


async def catch_up(ask: RunQuery, stand: DebatePosition, known: CachedState | None) -> CachedState | None:
    """None where it has been deleted since."""
    same = known is not None and known.checked == stand.place and known.debate.seq <= stand.version
    try:
        debate = await fold_state(ask, stand.id, stand.version, known.debate if known and same else None)
    except UnknownDebate:
        return None
    return CachedState(debate, stand.epoch, stand.place)


async def requests(
    ask: RunQuery, onces: Sequence[IdempotencyKey], at: datetime
) -> dict[tuple[str, str], RepeatedRequest]:
    """Those among them that have been carried out; what has expired makes room."""
    rows = await ask(
        """
        SELECT requests.client, requests.key, body_hash, debate_id, first, seq, expires > %(at)s
        FROM requests JOIN unnest(%(clients)s::text[], %(keys)s::text[]) AS one (client, key)
            ON requests.client = one.client AND requests.key = one.key
        """,
        {"at": at, "clients": [once.client for once in onces], "keys": [once.key for once in onces]},
    )
    if not all(row[-1] for row in rows):
        await ask("DELETE FROM requests WHERE expires <= %s", [at])
    return {(row[0], row[1]): RepeatedRequest(*row[2:6]) for row in rows if row[-1]}


# --- heads --------------------------------------------------------------------------------------------

HEAD = """
    debates.id, owner, status, motion, format, version, epoch, runner, created_at, updated_at, summary
"""
WITH_HEADS = "JOIN heads ON heads.debate_id = debates.id"


async def head(ask: RunQuery, debate_id: str) -> DebateHead:
    rows = await ask(f"SELECT {HEAD} FROM debates {WITH_HEADS} WHERE debates.id = %s", [debate_id])  # noqa: S608 - our own columns
    if not rows:
        raise UnknownDebate
    return _head(rows[0])


async def heads(ask: RunQuery, wanted: DebateFilter, limit: int, offset: int) -> DebatePage:
    query, values = heads_query(wanted)
    rows = await ask(f"{query} LIMIT %s OFFSET %s", [*values, limit, offset])
    where, values = _where(wanted)
    [[total]] = await ask(f"SELECT count(*) FROM {_source(wanted)} WHERE {where}", values)  # noqa: S608 - our own columns
    return DebatePage(tuple(_head(row) for row in rows), total)


def heads_query(wanted: DebateFilter) -> tuple[str, list[object]]:
    """Newest first."""
    where, values = _where(wanted)
    # By the column of the table that is walked.
    place = "casts.debate" if wanted.model else "debates.place"
    return f"SELECT {HEAD} FROM {_source(wanted)} {WITH_HEADS} WHERE {where} ORDER BY {place} DESC", values  # noqa: S608 - our own columns


def _source(wanted: DebateFilter) -> str:
    return "casts JOIN debates ON casts.debate = debates.place" if wanted.model else "debates"


def _where(wanted: DebateFilter) -> tuple[str, list[object]]:
    conditions: dict[str, object] = {
        "casts.model = %s": wanted.model or None,
        "owner = %s": wanted.owner,
        "status = ANY(%s)": list(wanted.statuses) or None,
        "format = %s": wanted.format or None,
        "folded LIKE %s": _part(wanted.search.casefold()) if wanted.search else None,
        "created_at >= %s": wanted.since and _midnight(wanted.since),
        "created_at < %s": _day_after(wanted.until),
    }
    chosen = {condition: value for condition, value in conditions.items() if value is not None}
    return " AND ".join(chosen) or "TRUE", list(chosen.values())


def _part(text: str) -> str:
    """A pattern that finds the text anywhere, whatever is in it."""
    for special in ("\\", "%", "_"):
        text = text.replace(special, "\\" + special)
    return f"%{text}%"


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _day_after(day: date | None) -> datetime | None:
    return _midnight(day + timedelta(days=1)) if day and day < date.max else None


async def claimed_debates(ask: RunQuery) -> tuple[ActiveDebate, ...]:
    rows = await ask("SELECT debate_id, version, runner, updated_at FROM heads WHERE runner <> ''", None)
    return tuple(ActiveDebate(*row) for row in rows)


async def active_debates(ask: RunQuery, since: datetime | None) -> tuple[ActiveDebate, ...]:
    rows = await ask(
        f"""
        SELECT debates.id, version, runner, updated_at FROM debates {WITH_HEADS}
        WHERE status = ANY(%(statuses)s) AND (%(since)s::timestamptz IS NULL OR turned_at >= %(since)s)
        """,  # noqa: S608 - our own columns
        {"statuses": list(ACTIVE_STATUSES), "since": since},
    )
    return tuple(ActiveDebate(*row) for row in rows)


async def positions(ask: RunQuery, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
    return {
        stand.id: LogPosition(stand.version, stand.epoch) for stand in await read_positions(ask, debate_ids)
    }


async def summaries(ask: RunQuery, owner: str | None, before: int, limit: int) -> tuple[bytes, int] | None:
    """A page of those whose place is less, and the least place in it. None where there are no more."""
    where, values = _where(DebateFilter(owner=owner))
    [[page, least]] = await ask(
        f"""
        SELECT '[' || string_agg(summary, ',' ORDER BY place DESC) || ']', min(place) FROM (
            SELECT summary, place FROM debates WHERE {where} AND place < %s ORDER BY place DESC LIMIT %s
        ) AS page
        """,  # noqa: S608 - our own columns
        [*values, before, limit],
    )
    return (page.encode(), least) if page else None


async def ended_before(ask: RunQuery, before: datetime, limit: int) -> tuple[str, ...]:
    """Something may still come after the end, so the last event has a say too."""
    rows = await ask(
        """
        SELECT debates.id FROM debates JOIN heads ON heads.debate_id = debates.id
        WHERE ended_at < %(before)s AND turned_at < %(before)s AND updated_at < %(before)s
        ORDER BY turned_at, debates.place LIMIT %(limit)s
        """,
        {"before": before.replace(microsecond=0), "limit": max(limit, 0)},
    )
    return tuple(row[0] for row in rows)


async def size(ask: RunQuery) -> int:
    """What was said and sent, without the room that indexes take: that shrinks at the database's leisure."""
    [[bytes_said, archived]] = await ask(
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
