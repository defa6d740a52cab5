"""What PostgreSQL holds, out and in: see `belongings`. A line of its own, without the haste of the pool's.

Rows come in by COPY, under the places that they had. While it is read out it is locked against all who would
write: they wait, and then are told so.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec

from moot.core import crash_points
from moot.store.contract import ENDED_STATUSES
from moot.store.copying import PAGE, TABLE_GROUPS, WHOLE_TABLES, Row, Rows, TableGroup
from moot.store.postgres.connect import Connection, fetch, open_connection, translated

ALIVE_SECONDS = 10
"""A worker that was heard of so lately is taken to be alive."""
LOCK_SECONDS = 10
"""How long others may keep us waiting; source and target may be one database, under two names."""

LINE_COUNTS_SQL = {
    "debates": "SELECT debate_id, version FROM heads ORDER BY place",
    "conversations": "SELECT id, events FROM conversations ORDER BY place",
}
READ_SQL = {
    "tokens": "SELECT name, digest, role, owner, created_at, expires_at FROM tokens ORDER BY name",
    "imports": """
        SELECT id, owner, source, state, cursor, passes, report, started_at, updated_at
        FROM imports ORDER BY id
    """,
    "debates": """
        SELECT id, place, owner, status, motion, format, turning,
            floor(extract(epoch FROM turned_at))::bigint, heads.epoch, created_at, summary
        FROM debates JOIN heads USING (place) WHERE id = ANY(%s) ORDER BY place
    """,
    "bodies": """
        SELECT debate_id, digest, packed::int, body FROM bodies WHERE debate_id = ANY(%s) ORDER BY 1, 2
    """,
    "requests": """
        SELECT debate_id, client, key, body_hash, first, seq, floor(extract(epoch FROM expires))::bigint
        FROM requests WHERE debate_id = ANY(%s) ORDER BY 1, 2, 3
    """,
    "invitations": """
        SELECT debate_id, name, digest, role, seat, judge, many::int, created_at, expires_at, via
        FROM invitations WHERE debate_id = ANY(%s) ORDER BY 1, 2
    """,
    "casts": """
        SELECT id, model FROM debates JOIN casts ON debate = place WHERE id = ANY(%s) ORDER BY 1, 2
    """,
    "marks": """
        SELECT id, mark FROM debates JOIN marks ON debate = place WHERE id = ANY(%s) ORDER BY 1, 2
    """,
    "events": "SELECT debate_id, seq, at, epoch, body FROM events WHERE debate_id = ANY(%s) ORDER BY 1, 2",
    "conversations": """
        SELECT id, place, import, owner, source, events, first_ts, last_ts
        FROM conversations WHERE id = ANY(%s) ORDER BY place
    """,
    "conversation_events": """
        SELECT conversations.id, order_key, event.id, role, ts, created_at, segments, metadata, legacy, digest
        FROM conversations JOIN conversation_events AS event ON event.conversation = place
        WHERE conversations.id = ANY(%s) ORDER BY place, order_key, event.id
    """,
}
COLUMNS = {
    "debates": """
        debates (id, place, owner, status, motion, folded, format, created_at, turned_at, ended_at, summary)
    """,
    "bodies": "bodies (debate_id, digest, packed, body)",
    "requests": "requests (debate_id, client, key, body_hash, first, seq, expires)",
    "invitations": """
        invitations (debate_id, name, digest, role, seat, judge, many, created_at, expires_at, via)
    """,
    "casts": "casts (debate, model)",
    "marks": "marks (debate, mark)",
    "events": "events (debate_id, seq, at, epoch, body)",
    "conversations": """
        conversations (id, place, import, owner, source, folded, events, first_ts, last_ts)
    """,
    "conversation_events": """
        conversation_events
            (conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest)
    """,
}
WRITE_TABLE_SQL = {
    "tokens": """
        INSERT INTO tokens (name, digest, role, owner, created_at, expires_at)
        VALUES (%s, %s, %s, %s, %s::timestamptz, %s::timestamptz)
        ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, role = excluded.role,
            owner = excluded.owner, created_at = excluded.created_at, expires_at = excluded.expires_at
    """,
    "imports": """
        INSERT INTO imports (id, owner, source, state, cursor, passes, report, started_at, updated_at)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s::timestamptz, %s::timestamptz)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, cursor = excluded.cursor,
            passes = excluded.passes, report = excluded.report, updated_at = excluded.updated_at
    """,
}
CLEAR_SQL = {
    "debates": (
        "DELETE FROM events WHERE debate_id = ANY(%s)",
        "DELETE FROM heads WHERE debate_id = ANY(%s)",
        "DELETE FROM debates WHERE id = ANY(%s)",
    ),
    "conversations": (
        """
        DELETE FROM conversation_events
        WHERE conversation IN (SELECT place FROM conversations WHERE id = ANY(%s))
        """,
        "DELETE FROM conversations WHERE id = ANY(%s)",
    ),
}


class PostgresTables:
    @classmethod
    async def open(cls, url: str) -> PostgresTables:
        return cls(await open_connection(url))

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def close(self) -> None:
        await self._connection.close()

    async def has_tables(self) -> bool:
        """Whether there are tables of Moot."""
        found = await self._run("SELECT to_regclass('moot_schema') IS NOT NULL")
        return found[0][0]

    @asynccontextmanager
    async def locked(self) -> AsyncGenerator[None]:
        async with self._transaction():
            await self._run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            await self._run(f"LOCK TABLE {', '.join(_TABLES)}, heads IN SHARE MODE")
            yield

    async def active_runner(self) -> str:
        there = await self._run("SELECT to_regclass('procrastinate_workers') IS NOT NULL")
        if not there[0][0]:
            return ""
        alive = await self._run(
            """
            SELECT count(*) FROM procrastinate_workers
            WHERE last_heartbeat > now() - make_interval(secs => %s)
            """,
            (ALIVE_SECONDS,),
        )
        return "a worker that runs the debates of this database" if alive[0][0] else ""

    async def row_counts(self) -> dict[str, int]:
        return {table: (await self._run(f"SELECT count(*) FROM {table}"))[0][0] for table in _TABLES}  # noqa: S608 - our own tables

    async def line_counts(self, kind: TableGroup) -> dict[str, int]:
        return dict(await self._run(LINE_COUNTS_SQL[kind.name]))

    async def latest_epoch(self) -> int:
        return (await self._run("SELECT coalesce(max(epoch), 0) FROM heads"))[0][0]

    async def read_table(self, table: str) -> list[Row]:
        return [_with_text_times(row) for row in await self._run(READ_SQL[table])]

    async def read_rows(self, table: str, ids: Sequence[str]) -> list[Row]:
        return [_with_text_times(row) for row in await self._run(READ_SQL[table], (list(ids),))]

    async def read_pages(self, kind: TableGroup, ids: Sequence[str]) -> AsyncGenerator[list[Row], None]:
        with translated():
            async with self._connection.transaction(), self._connection.cursor("lines") as cursor:
                await cursor.execute(READ_SQL[kind.lines_table].encode(), (list(ids),), binary=True)
                while page := await cursor.fetchmany(PAGE):
                    yield [_with_text_times(row) for row in page]

    async def write_table(self, table: str, rows: Sequence[Row]) -> None:
        with translated():
            async with self._transaction(), self._connection.cursor() as cursor:
                await cursor.executemany(WRITE_TABLE_SQL[table].encode(), rows)

    async def write_group(
        self, kind: TableGroup, ids: Sequence[str], rows: Rows, pages: AsyncIterable[list[Row]]
    ) -> None:
        places = {row[0]: row[1] for row in rows[kind.name]}
        with translated():
            async with self._transaction():
                for statement in CLEAR_SQL[kind.name]:
                    await self._run(statement, (list(ids),))
                await self._delete_requests(rows.get("requests", ()))
                for part in kind.parts:
                    await self._copy(part, rows[part], places)
                async for page in pages:
                    await self._copy(kind.lines_table, page, places)
                if kind.name == "debates":
                    await self._write_heads(rows["debates"])
                await self._advance_sequence(kind.name)
                crash_points.point("before-moved")

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[None]:
        async with self._connection.transaction():
            await self._run(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
            yield

    async def _delete_requests(self, requests: Sequence[Row]) -> None:
        """One that has expired may have been used again since, for another debate."""
        await self._run(
            """
            DELETE FROM requests AS known USING unnest(%s::text[], %s::text[]) AS one (client, key)
            WHERE known.client = one.client AND known.key = one.key
            """,
            [[row[n] for row in requests] for n in (1, 2)],
        )

    async def _copy(self, table: str, rows: Sequence[Row], places: dict[str, int]) -> None:
        if not rows:
            return
        shaped = ROW_CONVERTERS.get(table, _unchanged)
        statement = f"COPY {COLUMNS[table]} FROM STDIN".encode()
        async with self._connection.cursor() as cursor, cursor.copy(statement) as copying:
            for row in rows:
                await copying.write_row(shaped(row, places))

    async def _write_heads(self, debates: Sequence[Row]) -> None:
        """The last event says when it was; what a debate takes is counted in what has come."""
        await self._run(
            """
            INSERT INTO heads (debate_id, place, version, turning, epoch, runner, updated_at, bytes)
            SELECT one.id, one.place, log.version, one.turning, one.epoch, '', log.updated_at,
                log.bytes + (SELECT coalesce(sum(length(body)), 0) FROM bodies WHERE debate_id = one.id)
            FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bigint[])
                AS one (id, place, turning, epoch)
            CROSS JOIN LATERAL (
                SELECT max(seq) AS version, (array_agg(at ORDER BY seq DESC))[1] AS updated_at,
                    sum(length(body)) AS bytes
                FROM events WHERE debate_id = one.id
            ) AS log
            """,
            [[row[n] for row in debates] for n in (0, 1, 6, 8)],
        )

    async def _advance_sequence(self, table: str) -> None:
        """The next one that is opened here comes after all that were brought."""
        await self._run(
            f"""
            SELECT setval(pg_get_serial_sequence('{table}', 'place'), greatest(max(place), 1)) FROM {table}
            """  # noqa: S608 - our own tables
        )

    async def _run(self, statement: str, values: Sequence[object] | None = None) -> list[Row]:
        with translated():
            return await fetch(self._connection, statement, values)


_TABLES = (*WHOLE_TABLES, *(table for kind in TABLE_GROUPS for table in kind.tables))


# --- the shape of a row on both sides ---------------------------------------------------------------------


def _with_text_times(row: Row) -> Row:
    """Moments are told as every event tells them."""
    return tuple(_stamp(value) if isinstance(value, datetime) else value for value in row)


def _stamp(at: datetime) -> str:
    return msgspec.to_builtins(at.astimezone(UTC))


def _unchanged(row: Row, places: dict[str, int]) -> Row:
    return row


def _by_place(row: Row, places: dict[str, int]) -> Row:
    return places[row[0]], *row[1:]


def _debate(row: Row, places: dict[str, int]) -> Row:
    ident, place, owner, status, motion, format_, _turning, turned_at, _epoch, created_at, summary = row
    turned = _moment(turned_at)
    ended = turned if status in ENDED_STATUSES else None
    return ident, place, owner, status, motion, motion.casefold(), format_, created_at, turned, ended, summary


def _request(row: Row, places: dict[str, int]) -> Row:
    return *row[:-1], _moment(row[-1])


def _conversation(row: Row, places: dict[str, int]) -> Row:
    return *row[:5], row[4].casefold(), *row[5:]


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


ROW_CONVERTERS: dict[str, Callable[[Row, dict[str, Any]], Row]] = {
    "debates": _debate,
    "requests": _request,
    "casts": _by_place,
    "marks": _by_place,
    "conversations": _conversation,
    "conversation_events": _by_place,
}
