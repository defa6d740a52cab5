"""Queries on the log in PostgreSQL, and its part of the lists.

`query` runs them on the pool or for the writer. A page of events is built by the database and returned as one
row of JSON, which is decoded at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, LiteralString

import msgspec
from msgspec import Struct

from moot.core.errors import UnknownDebate
from moot.core.events import Recorded, decode_records
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.store.batch import CachedState, RepeatedRequest
from moot.store.contract import IdempotencyKey, LogPosition, StoreFigures
from moot.store.extension_tables import line_tables
from moot.store.postgres.connect import Params
from moot.store.sql_lists import ListDialect

RunQuery = Callable[[str, Params], Awaitable[list[tuple[Any, ...]]]]

PAGE = 1000


class DebatePosition(Struct, frozen=True):
    """The position of a debate. One that was deleted and opened again has another row number (`place`)."""

    id: str
    place: int
    version: int
    epoch: int


# --- the log ------------------------------------------------------------------------------------------


EVENTS_SQL = """
    SELECT '[' || string_agg(
        '{"debate":' || %(name)s::text || ',"seq":' || seq
        || ',"at":"' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        || '","epoch":' || epoch || ',"event":' || body || '}', ',' ORDER BY seq
    ) || ']'
    FROM (
        SELECT seq, at, epoch, body FROM events WHERE debate_id = %(id)s AND seq > %(after)s
        ORDER BY seq LIMIT %(limit)s
    ) AS page
"""

# One statement for a debate that is not cached: its position and the first page of its log.
FIRST_PAGE_SQL = (
    f"SELECT debate_id, place, version, epoch, ({EVENTS_SQL}) FROM heads WHERE debate_id = %(id)s"  # noqa: S608 - our own words
)


async def events(query: RunQuery, debate_id: str, after: int, limit: int) -> tuple[Recorded, ...]:
    rows = await query(EVENTS_SQL, _page_of(debate_id, after, limit))
    return decode_records(rows[0][0]) if rows[0][0] else ()


async def load_state(query: RunQuery, debate_id: str) -> CachedState | None:
    """The state of a debate that is not cached; None where there is no such debate."""
    rows = await query(FIRST_PAGE_SQL, _page_of(debate_id, 0, PAGE))
    if not rows or not rows[0][4]:
        return None
    position, records = DebatePosition(*rows[0][:4]), decode_records(rows[0][4])
    try:
        debate = await fold_state(query, debate_id, position.version, fold(records))
    except UnknownDebate:
        return None
    return CachedState(debate, position.epoch, position.place)


def _page_of(debate_id: str, after: int, limit: int) -> dict[str, object]:
    return {"name": msgspec.json.encode(debate_id).decode(), "id": debate_id, "after": after, "limit": limit}


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


# --- lists --------------------------------------------------------------------------------------------

LISTS = ListDialect(
    version="version",
    updated_at="updated_at",
    join_heads="JOIN heads ON heads.debate_id = debates.id",
    ended_before="""
        SELECT debates.id FROM debates JOIN heads ON heads.debate_id = debates.id
        WHERE ended_at < seconds(:before) AND turned_at < seconds(:before) AND updated_at < seconds(:before)
            {keeps}
        ORDER BY turned_at, debates.place LIMIT :limit
    """,
    plans_walks=True,
)


async def positions(query: RunQuery, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
    rows = await read_positions(query, debate_ids)
    return {row.id: LogPosition(row.version, row.epoch) for row in rows}


SIZE_SQL: LiteralString = """
    (SELECT coalesce(sum(bytes), 0) FROM heads) + (
        SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)
        FROM unnest(%(line_tables)s::text[]) AS extension (name)
    )
"""


def size_values() -> dict[str, list[str]]:
    """The values of `SIZE_SQL` and `FIGURES_SQL`."""
    return {"line_tables": line_tables()}


async def size(query: RunQuery) -> int:
    """Events, requests and what extensions have of the kind, without the indexes of the log, which shrink
    only when vacuumed."""
    [[size]] = await query(f"SELECT {SIZE_SQL}", size_values())
    return int(size)


FIGURES_SQL: LiteralString = f"""
    SELECT 'status' AS kind, status AS name, count(*)::float8 AS value FROM debates GROUP BY status
    UNION ALL
    SELECT 'runner', runner, count(*)::float8 FROM heads WHERE runner <> '' GROUP BY runner
    UNION ALL
    SELECT 'bytes', '', ({SIZE_SQL})::float8
"""  # noqa: S608 - our own statement
"""Rows of a kind, a name and a number. The queue adds its own, so that one query reads everything."""


async def figures(query: RunQuery) -> StoreFigures:
    return as_figures(await query(FIGURES_SQL, size_values()))


def as_figures(rows: Iterable[Sequence[Any]]) -> StoreFigures:
    by_kind: dict[str, dict[str, int]] = {"status": {}, "runner": {}, "bytes": {}}
    for kind, name, value in rows:
        by_kind.get(kind, {})[name] = int(value)
    return StoreFigures(by_kind["status"], by_kind["runner"], by_kind["bytes"].get("", 0))
