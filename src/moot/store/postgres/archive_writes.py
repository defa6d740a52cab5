"""Writing conversations to PostgreSQL, batch by batch.

Whoever writes holds one lock for the length of a batch, as the file's only writer does: two imports that
bring the same conversations would otherwise wait for each other for ever.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from msgspec import structs

from moot.store.archive import Import, IncomingEvent, SaveResult, event_row, import_undone
from moot.store.postgres.connect import Connection, Database, fetch

ARCHIVE_LOCK = 6_015_016_021
"""The number of the lock, beside that of the migrations."""


@asynccontextmanager
async def locked_transaction(database: Database) -> AsyncGenerator[Connection]:
    """A transaction, and the lock until it ends."""
    async with database.connection() as connection, connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (ARCHIVE_LOCK,))
        yield connection


async def save(connection: Connection, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
    await _write_import(connection, import_)
    places, refused = await _places(connection, import_, events)
    ours = [brought for brought in events if brought.event.conversation in places]
    known = await _digests(connection, places, ours)
    new: list[IncomingEvent] = []
    changed: list[IncomingEvent] = []
    for brought in ours:
        before = known.get((places[brought.event.conversation], brought.event.id))
        if before is None:
            new.append(brought)
        elif before != brought.digest:
            changed.append(brought)
    await _remove(connection, places, changed)
    await _insert(connection, places, (*new, *changed))
    await _update_conversations(connection, places, new, 1)
    await _update_conversations(connection, places, changed, 0)
    return SaveResult(len(new), len(changed), refused)


async def _write_import(connection: Connection, import_: Import) -> None:
    shape = structs.asdict(import_) | {"report": bytes(import_.report).decode(), "begun": import_.begun}
    # One that has begun and is not there was taken back: it does not come again by its next batch.
    written = await connection.execute(
        """
        INSERT INTO imports AS known
            (id, owner, source, state, cursor, passes, report, started_at, updated_at)
        SELECT %(id)s, %(owner)s, %(source)s, %(state)s, %(cursor)s, %(passes)s, %(report)s, %(started_at)s,
            %(updated_at)s
        WHERE NOT %(begun)s OR EXISTS (SELECT FROM imports WHERE id = %(id)s)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, cursor = excluded.cursor,
            passes = excluded.passes, report = excluded.report, updated_at = excluded.updated_at
        WHERE known.state <> 'undoing'
        """,
        shape,
    )
    if not written.rowcount:
        raise import_undone(import_.id)


async def _places(
    connection: Connection, import_: Import, events: Sequence[IncomingEvent]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """The conversations of the batch that are this import's own, new ones too, and those that are not."""
    first = {brought.event.conversation: brought.event.ts for brought in reversed(events)}
    names = list(dict.fromkeys(brought.event.conversation for brought in events))
    await connection.execute(
        """
        INSERT INTO conversations (id, import, owner, source, folded, events, first_ts, last_ts)
        SELECT name, %s, %s, %s, %s, 0, ts, ts
        FROM unnest(%s::text[], %s::bigint[]) WITH ORDINALITY AS one (name, ts, nth) ORDER BY nth
        ON CONFLICT (id) DO NOTHING
        """,
        (
            *(import_.id, import_.owner, import_.source, import_.source.casefold()),
            *(names, [first[name] for name in names]),
        ),
    )
    found = await fetch(
        connection, "SELECT id, place, import FROM conversations WHERE id = ANY(%s)", (names,)
    )
    places = {name: place for name, place, of in found if of == import_.id}
    return places, tuple(name for name in names if name not in places)


async def _digests(
    connection: Connection, places: dict[str, int], events: Sequence[IncomingEvent]
) -> dict[tuple[int, str], bytes]:
    found = await fetch(
        connection,
        """
        SELECT known.conversation, known.id, known.digest
        FROM unnest(%s::bigint[], %s::text[]) AS wanted (conversation, id)
        JOIN conversation_events AS known USING (conversation, id)
        """,
        _keys(places, events),
    )
    return {(conversation, event): digest for conversation, event, digest in found}


async def _remove(connection: Connection, places: dict[str, int], events: Sequence[IncomingEvent]) -> None:
    """One that has moved in its conversation has another key."""
    await connection.execute(
        """
        DELETE FROM conversation_events AS known
        USING unnest(%s::bigint[], %s::text[]) AS old (conversation, id)
        WHERE known.conversation = old.conversation AND known.id = old.id
        """,
        _keys(places, events),
    )


async def _insert(connection: Connection, places: dict[str, int], events: Sequence[IncomingEvent]) -> None:
    rows = [event_row(places[brought.event.conversation], brought) for brought in events]
    await connection.execute(
        """
        INSERT INTO conversation_events
            (conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest)
        SELECT * FROM unnest(
            %s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[], %s::text[],
            %s::text[], %s::text[], %s::bytea[]
        )
        """,
        [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(10)],
    )


async def _update_conversations(
    connection: Connection, places: dict[str, int], events: Sequence[IncomingEvent], by: int
) -> None:
    await connection.execute(
        """
        UPDATE conversations SET events = conversations.events + %s * came.events,
            first_ts = least(conversations.first_ts, came.first_ts),
            last_ts = greatest(conversations.last_ts, came.last_ts)
        FROM (
            SELECT place, count(*) AS events, min(ts) AS first_ts, max(ts) AS last_ts
            FROM unnest(%s::bigint[], %s::bigint[]) AS one (place, ts) GROUP BY place
        ) AS came WHERE conversations.place = came.place
        """,
        (by, [places[one.event.conversation] for one in events], [one.event.ts for one in events]),
    )


def _keys(places: dict[str, int], events: Sequence[IncomingEvent]) -> tuple[list[int], list[str]]:
    return [places[one.event.conversation] for one in events], [one.event.id for one in events]


async def undo(connection: Connection, import_id: str, limit: int) -> int:
    found = await fetch(
        connection,
        """
        WITH gone AS (
            DELETE FROM conversation_events WHERE (conversation, order_key, id) IN (
                SELECT conversation, order_key, event.id FROM conversations
                JOIN conversation_events AS event ON event.conversation = place
                WHERE import = %s LIMIT %s
            ) RETURNING conversation
        ), fewer AS (
            UPDATE conversations SET events = events - counted.n
            FROM (SELECT conversation, count(*) AS n FROM gone GROUP BY 1) AS counted
            WHERE place = counted.conversation
        )
        SELECT count(*) FROM gone
        """,
        (import_id, limit),
    )
    if gone := found[0][0]:
        await connection.execute(
            "UPDATE imports SET state = 'undoing', cursor = '' WHERE id = %s", (import_id,)
        )
        return gone
    await connection.execute("DELETE FROM conversations WHERE import = %s", (import_id,))
    await connection.execute("DELETE FROM imports WHERE id = %s", (import_id,))
    return 0
