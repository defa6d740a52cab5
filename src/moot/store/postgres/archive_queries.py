"""Conversations in PostgreSQL: the twin of the archive in the file. Here is what is asked of it, each
question with its SQL; what writes to it is in `postgres_shelving`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC
from typing import Any

import msgspec
from msgspec import Raw, Struct, structs

from moot.core.errors import Invalid
from moot.store.archive import (
    NULL,
    ArchivedConversation,
    ArchivedEvent,
    ConversationPage,
    Import,
    IncomingEvent,
    SaveResult,
    segment_type,
    unknown_event,
)
from moot.store.postgres.archive_writes import locked_transaction, save, undo
from moot.store.postgres.connect import Database

TALLIED = 500
"""Conversations that are gone through at a time."""
_segments = msgspec.json.Decoder(list[dict[str, Any]])


class PostgresArchive(Struct, frozen=True):
    database: Database

    async def save(self, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
        async with locked_transaction(self.database) as connection:
            return await save(connection, import_, events)

    async def imports(self) -> tuple[Import, ...]:
        return await _every_import(self.database)

    async def undo_import(self, import_id: str, limit: int = 1000) -> int:
        async with locked_transaction(self.database) as connection:
            return await undo(connection, import_id, limit)

    async def segment_counts(self, import_id: str) -> dict[str, int]:
        return await _segment_counts(self.database, import_id)

    async def conversations(
        self, *, owner: str | None = None, search: str = "", limit: int = 20, offset: int = 0
    ) -> ConversationPage:
        return await _conversations(self.database, owner, search, limit, offset)

    async def conversation(self, conversation_id: str) -> ArchivedConversation | None:
        return await _conversation(self.database, conversation_id)

    async def events(
        self, conversation_id: str, after: str = "", limit: int = 1000
    ) -> tuple[ArchivedEvent, ...]:
        return await _events(self.database, conversation_id, after, limit)


async def _every_import(database: Database) -> tuple[Import, ...]:
    found = await database.query(
        """
        SELECT id, owner, source, started_at, updated_at, state, cursor, passes, report FROM imports
        ORDER BY started_at, id
        """
    )
    return tuple(_import(row) for row in found)


def _import(row: tuple[Any, ...]) -> Import:
    import_ = Import(*row)
    return structs.replace(
        import_,
        # They come in the server's time zone.
        started_at=import_.started_at.astimezone(UTC),
        updated_at=import_.updated_at.astimezone(UTC),
        report=Raw(row[-1].encode()),
    )


async def _segment_counts(database: Database, import_id: str) -> dict[str, int]:
    """In parts, since a statement may not take for ever."""
    counted, place = Counter[str](), 0
    while upto := await _last_position(database, import_id, place):
        counted.update(await _segment_counts_between(database, import_id, place, upto))
        place = upto
    return dict(counted)


async def _last_position(database: Database, import_id: str, place: int) -> int | None:
    """The last of some conversations behind this place."""
    found = await database.query(
        """
        SELECT max(place) FROM (
            SELECT place FROM conversations WHERE import = %s AND place > %s ORDER BY place LIMIT %s
        ) AS next_ones
        """,
        (import_id, place, TALLIED),
    )
    return found[0][0]


async def _segment_counts_between(database: Database, import_id: str, place: int, upto: int) -> Counter[str]:
    """By PostgreSQL, but for what it cannot take apart: a text with a NUL in it."""
    found = await database.query(
        r"""
        SELECT CASE jsonb_typeof(segment -> 'type') WHEN 'string' THEN segment ->> 'type' ELSE '' END,
            count(*)
        FROM conversations JOIN conversation_events AS event ON event.conversation = place
            CROSS JOIN LATERAL jsonb_array_elements(
                CASE WHEN strpos(segments, '\u0000') = 0 THEN segments::jsonb END
            ) AS segment
        WHERE import = %s AND place > %s AND place <= %s GROUP BY 1
        """,
        (import_id, place, upto),
    )
    counted = Counter(dict(found))
    odd = await database.query(
        r"""
        SELECT segments FROM conversations JOIN conversation_events AS event ON event.conversation = place
        WHERE import = %s AND place > %s AND place <= %s AND strpos(segments, '\u0000') > 0
        """,
        (import_id, place, upto),
    )
    for (segments,) in odd:
        counted.update(map(segment_type, _segments.decode(segments)))
    return counted


async def _conversations(
    database: Database, owner: str | None, search: str, limit: int, offset: int
) -> ConversationPage:
    wanted = {"owner": owner, "search": search.casefold(), "limit": limit, "offset": offset}
    found = await database.query(
        """
        SELECT id, import, owner, source, events, first_ts, last_ts FROM conversations
        WHERE (%(owner)s::text IS NULL OR owner = %(owner)s) AND strpos(folded, %(search)s) > 0
        ORDER BY place DESC LIMIT %(limit)s OFFSET %(offset)s
        """,
        wanted,
    )
    total = await database.query(
        """
        SELECT count(*) FROM conversations
        WHERE (%(owner)s::text IS NULL OR owner = %(owner)s) AND strpos(folded, %(search)s) > 0
        """,
        wanted,
    )
    return ConversationPage(tuple(ArchivedConversation(*row) for row in found), total[0][0])


async def _conversation(database: Database, conversation_id: str) -> ArchivedConversation | None:
    found = await database.query(
        "SELECT id, import, owner, source, events, first_ts, last_ts FROM conversations WHERE id = %s",
        (conversation_id,),
    )
    return ArchivedConversation(*found[0]) if found else None


async def _events(
    database: Database, conversation_id: str, after: str, limit: int
) -> tuple[ArchivedEvent, ...]:
    found = await database.query(
        """
        SELECT order_key, event.id FROM conversations
        JOIN conversation_events AS event ON event.conversation = place
        WHERE conversations.id = %s AND event.id = %s
        """,
        (conversation_id, after),
    )
    if after and not found:
        raise Invalid(problems=unknown_event())
    order_key, last = found[0] if found else ("", "")
    found = await database.query(
        """
        SELECT event.id, order_key, role, ts, created_at, segments, metadata, legacy
        FROM conversations JOIN conversation_events AS event ON event.conversation = place
        WHERE conversations.id = %s AND (order_key, event.id) > (%s, %s)
        ORDER BY order_key, event.id LIMIT %s
        """,
        (conversation_id, order_key, last, limit),
    )
    return tuple(_archived_event(conversation_id, row) for row in found)


def _archived_event(conversation_id: str, row: tuple[Any, ...]) -> ArchivedEvent:
    ident, order_key, role, ts, created_at, *packed = row
    segments, metadata, legacy = (NULL if text is None else Raw(text.encode()) for text in packed)
    return ArchivedEvent(
        conversation=conversation_id,
        id=ident,
        order_key=order_key,
        role=role,
        ts=ts,
        created_at=created_at,
        segments=segments,
        metadata=metadata,
        legacy=legacy,
    )
