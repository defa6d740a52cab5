"""Conversations in the file. Each question with its SQL, as in `sqlite_read`; what writes runs in one
transaction of the writer's for each batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
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
    event_row,
    import_undone,
    raw_text,
    unknown_event,
)

ConnectionWork = Callable[[sqlite3.Connection], Any]

_imports = msgspec.json.Decoder(tuple[Import, ...])


class SqliteArchive(Struct, frozen=True):
    ask: Callable[[ConnectionWork], Awaitable[Any]]
    """Of a reader."""
    change: Callable[[ConnectionWork], Awaitable[Any]]
    """In a transaction of its own."""
    scrub: Callable[[ConnectionWork], Awaitable[Any]]
    """Likewise; what it deletes leaves no trace."""

    async def save(self, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
        return await self.change(lambda connection: _save(connection, import_, events))

    async def imports(self) -> tuple[Import, ...]:
        return await self.ask(_every_import)

    async def undo_import(self, import_id: str, limit: int = 1000) -> int:
        return await self.scrub(lambda connection: _undo(connection, import_id, limit))

    async def segment_counts(self, import_id: str) -> dict[str, int]:
        return await self.ask(lambda connection: _segment_counts(connection, import_id))

    async def conversations(
        self, *, owner: str | None = None, search: str = "", limit: int = 20, offset: int = 0
    ) -> ConversationPage:
        return await self.ask(lambda connection: _conversations(connection, owner, search, limit, offset))

    async def conversation(self, conversation_id: str) -> ArchivedConversation | None:
        return await self.ask(lambda connection: _conversation(connection, conversation_id))

    async def events(
        self, conversation_id: str, after: str = "", limit: int = 1000
    ) -> tuple[ArchivedEvent, ...]:
        return await self.ask(lambda connection: _events(connection, conversation_id, after, limit))


# --- writing --------------------------------------------------------------------------------------------


def _save(connection: sqlite3.Connection, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
    _write_import(connection, import_)
    places, refused = _places(connection, import_, events)
    known = _digests(connection, places, events)
    new: list[IncomingEvent] = []
    changed: list[IncomingEvent] = []
    for brought in events:
        if brought.event.conversation not in places:
            continue
        before = known.get((places[brought.event.conversation], brought.event.id))
        if before is None:
            new.append(brought)
        elif before != brought.digest:
            changed.append(brought)
    # One that has moved in its conversation has another key.
    connection.executemany(
        "DELETE FROM conversation_events WHERE conversation = ? AND id = ?",
        [(places[brought.event.conversation], brought.event.id) for brought in changed],
    )
    connection.executemany(
        """
        INSERT INTO conversation_events
        (conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [event_row(places[brought.event.conversation], brought) for brought in (*new, *changed)],
    )
    connection.executemany(
        """
        UPDATE conversations
        SET events = events + ?1, first_ts = min(first_ts, ?2), last_ts = max(last_ts, ?2)
        WHERE place = ?3
        """,
        [
            *((1, one.event.ts, places[one.event.conversation]) for one in new),
            *((0, one.event.ts, places[one.event.conversation]) for one in changed),
        ],
    )
    return SaveResult(len(new), len(changed), refused)


def _write_import(connection: sqlite3.Connection, import_: Import) -> None:
    shape = msgspec.to_builtins(structs.asdict(import_) | {"report": raw_text(import_.report)})
    # One that has begun and is not there was taken back: it does not come again by its next batch.
    written = connection.execute(
        """
        INSERT INTO imports (id, owner, source, state, cursor, passes, report, started_at, updated_at)
        SELECT :id, :owner, :source, :state, :cursor, :passes, :report, :started_at, :updated_at
        WHERE NOT :begun OR EXISTS (SELECT * FROM imports WHERE id = :id)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, cursor = excluded.cursor,
            passes = excluded.passes, report = excluded.report, updated_at = excluded.updated_at
        WHERE state <> 'undoing'
        """,
        {**shape, "begun": import_.begun},
    )
    if not written.rowcount:
        raise import_undone(import_.id)


def _places(
    connection: sqlite3.Connection, import_: Import, events: Sequence[IncomingEvent]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """The conversations of the batch that are this import's own, new ones too, and those that are not."""
    first = {brought.event.conversation: brought.event.ts for brought in reversed(events)}
    names = list(dict.fromkeys(brought.event.conversation for brought in events))
    connection.executemany(
        """
        INSERT OR IGNORE INTO conversations (id, import, owner, source, events, first_ts, last_ts)
        VALUES (?1, ?2, ?3, ?4, 0, ?5, ?5)
        """,
        [(name, import_.id, import_.owner, import_.source, first[name]) for name in names],
    )
    rows = connection.execute(
        "SELECT id, place, import FROM conversations WHERE id IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(names).decode(),),
    ).fetchall()
    places = {name: place for name, place, of in rows if of == import_.id}
    return places, tuple(name for name in names if name not in places)


def _digests(
    connection: sqlite3.Connection, places: dict[str, int], events: Sequence[IncomingEvent]
) -> dict[tuple[int, str], bytes]:
    wanted = [
        (places[brought.event.conversation], brought.event.id)
        for brought in events
        if brought.event.conversation in places
    ]
    rows = connection.execute(
        """
        SELECT known.conversation, known.id, known.digest
        FROM json_each(?) AS wanted CROSS JOIN conversation_events AS known
            ON known.conversation = json_extract(wanted.value, '$[0]')
            AND known.id = json_extract(wanted.value, '$[1]')
        """,
        (msgspec.json.encode(wanted).decode(),),
    ).fetchall()
    return {(conversation, event): digest for conversation, event, digest in rows}


def _undo(connection: sqlite3.Connection, import_id: str, limit: int) -> int:
    gone = connection.execute(
        """
        DELETE FROM conversation_events WHERE (conversation, order_key, id) IN (
            SELECT conversation, order_key, event.id FROM conversations
            CROSS JOIN conversation_events AS event ON event.conversation = place
            WHERE import = ? LIMIT ?
        ) RETURNING conversation
        """,
        (import_id, limit),
    ).fetchall()
    if gone:
        connection.executemany("UPDATE conversations SET events = events - 1 WHERE place = ?", gone)
        connection.execute("UPDATE imports SET state = 'undoing', cursor = '' WHERE id = ?", (import_id,))
        return len(gone)
    connection.execute("DELETE FROM conversations WHERE import = ?", (import_id,))
    connection.execute("DELETE FROM imports WHERE id = ?", (import_id,))
    return 0


# --- reading --------------------------------------------------------------------------------------------


def _every_import(connection: sqlite3.Connection) -> tuple[Import, ...]:
    row = connection.execute(
        """
        SELECT json_group_array(json_object('id', id, 'owner', owner, 'source', source, 'state', state,
            'cursor', cursor, 'passes', passes, 'report', json(report), 'started_at', started_at,
            'updated_at', updated_at)) FROM (SELECT * FROM imports ORDER BY started_at, id)
        """
    ).fetchone()
    return _imports.decode(row[0])


def _segment_counts(connection: sqlite3.Connection, import_id: str) -> dict[str, int]:
    rows = connection.execute(
        """
        SELECT iif(json_type(segment.value, '$.type') = 'text', json_extract(segment.value, '$.type'), ''),
            count(*)
        FROM conversations
            CROSS JOIN conversation_events AS event ON event.conversation = place
            CROSS JOIN json_each(event.segments) AS segment
        WHERE import = ? GROUP BY 1
        """,
        (import_id,),
    ).fetchall()
    return dict(rows)


SHOWN = "id, import, owner, source, events, first_ts, last_ts"


def _conversations(
    connection: sqlite3.Connection, owner: str | None, search: str, limit: int, offset: int
) -> ConversationPage:
    conditions = {"owner = ?": owner, "instr(casefold(source), ?) > 0": search.casefold() or None}
    chosen = {condition: value for condition, value in conditions.items() if value is not None}
    where, values = " AND ".join(chosen) or "TRUE", [*chosen.values()]
    rows = connection.execute(
        f"SELECT {SHOWN} FROM conversations WHERE {where} ORDER BY place DESC LIMIT ? OFFSET ?",  # noqa: S608 - our own columns
        (*values, limit, offset),
    ).fetchall()
    total = connection.execute(f"SELECT count(*) FROM conversations WHERE {where}", values).fetchone()[0]  # noqa: S608 - our own columns
    return ConversationPage(tuple(ArchivedConversation(*row) for row in rows), total)


def _conversation(connection: sqlite3.Connection, conversation_id: str) -> ArchivedConversation | None:
    row = connection.execute(f"SELECT {SHOWN} FROM conversations WHERE id = ?", (conversation_id,)).fetchone()  # noqa: S608 - our own columns
    return ArchivedConversation(*row) if row else None


def _events(
    connection: sqlite3.Connection, conversation_id: str, after: str, limit: int
) -> tuple[ArchivedEvent, ...]:
    place = connection.execute("SELECT place FROM conversations WHERE id = ?", (conversation_id,)).fetchone()
    start = connection.execute(
        "SELECT order_key, id FROM conversation_events WHERE conversation = ? AND id = ?",
        (place[0] if place else None, after),
    ).fetchone()
    if after and start is None:
        raise Invalid(problems=unknown_event())
    order_key, last = start or ("", "")
    rows = connection.execute(
        """
        SELECT id, order_key, role, ts, created_at,
            CAST(segments AS BLOB), CAST(metadata AS BLOB), CAST(legacy AS BLOB)
        FROM conversation_events WHERE conversation = ? AND (order_key, id) > (?, ?)
        ORDER BY order_key, id LIMIT ?
        """,
        (place[0] if place else None, order_key, last, limit),
    ).fetchall()
    return tuple(
        ArchivedEvent(
            conversation=conversation_id,
            id=ident,
            order_key=order_key,
            role=role,
            ts=ts,
            created_at=created_at,
            segments=Raw(segments),
            metadata=Raw(metadata) if metadata else NULL,
            legacy=Raw(legacy) if legacy else NULL,
        )
        for ident, order_key, role, ts, created_at, segments, metadata, legacy in rows
    )
