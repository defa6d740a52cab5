"""Conversations from elsewhere in SQLite and PostgreSQL: see `archive.Archive` for what each method does.

Imports in PostgreSQL hold one lock for the length of a batch, as SQLite's only writer does: two imports that
bring the same conversations would otherwise lock each other's rows and wait forever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC
from typing import Any

import msgspec
from msgspec import Raw, Struct, structs

from moot.core.errors import Invalid
from moot.extensions.conversations.archive import (
    NULL,
    ArchivedConversation,
    ArchivedEvent,
    ConversationPage,
    Import,
    IncomingEvent,
    SaveResult,
    import_undone,
    says,
    segment_type,
    unknown_event,
)
from moot.store.sql import Row, RunStatement, RunTransaction, Statement, Steps, search_values, sql, sql_many

SEGMENTS_PER_PAGE = 1000
"""Events whose segments are read at a time to be counted."""
CONVERSATION_COLUMNS = "id, import, owner, source, events, first_ts, last_ts"
IS_OWNED = "(CAST(:owner AS text) IS NULL OR owner = :owner)"
IS_LISTED = f"{IS_OWNED} AND (contains(source, :search) OR place = ANY(:places))"

_segments = msgspec.json.Decoder(list[dict[str, Any]])


class SqlArchive(Struct, frozen=True):
    query: RunStatement
    transact: RunTransaction
    transact_and_scrub: RunTransaction

    async def save(self, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
        return await self.transact(_save(import_, events))

    async def undo_import(self, import_id: str, limit: int = 1000) -> int:
        return await self.transact_and_scrub(_undo(import_id, limit))

    async def imports(self) -> tuple[Import, ...]:
        rows = await self.query(
            """
            SELECT id, owner, source, started_at, updated_at, state, cursor, passes, report FROM imports
            ORDER BY started_at, id
            """
        )
        return tuple(_import(row) for row in rows)

    async def segment_counts(self, import_id: str) -> dict[str, int]:
        counts, last = Counter[str](), (0, "", "")
        while True:
            rows = await self.query(
                """
                SELECT conversation, order_key, event.id, segments
                FROM conversations JOIN conversation_events AS event ON event.conversation = place
                WHERE import = :import AND place >= :place
                    AND (conversation, order_key, event.id) > (:place, :order_key, :id)
                ORDER BY place, order_key, event.id LIMIT :limit
                """,
                **{"import": import_id, "place": last[0], "order_key": last[1], "id": last[2]},
                limit=SEGMENTS_PER_PAGE,
            )
            for row in rows:
                counts.update(map(segment_type, _segments.decode(row[3])))
            if len(rows) < SEGMENTS_PER_PAGE:
                return dict(counts)
            last = rows[-1][:3]

    async def conversations(
        self, *, owner: str | None = None, search: str = "", limit: int = 20, offset: int = 0
    ) -> ConversationPage:
        places = await self._places_that_say(search, owner) if search else []
        chosen = {"owner": owner, "places": places, **search_values(search)}
        rows = await self.query(
            f"""
            SELECT {CONVERSATION_COLUMNS} FROM conversations WHERE {IS_LISTED}
            ORDER BY place DESC LIMIT :limit OFFSET :offset
            """,  # noqa: S608 - our own columns
            **chosen,
            limit=limit,
            offset=offset,
        )
        [[total]] = await self.query(f"SELECT count(*) FROM conversations WHERE {IS_LISTED}", **chosen)  # noqa: S608 - our own columns
        return ConversationPage(tuple(ArchivedConversation(*row) for row in rows), total)

    async def _places_that_say(self, search: str, owner: str | None) -> list[int]:
        """The conversations in which these words are said. All events are read, page by page: both databases
        find the same, and words are not mistaken for the names of members.
        """
        found, folded, last = dict[int, None](), search.casefold(), (0, "", "")
        while True:
            rows = await self.query(
                f"""
                SELECT conversation, order_key, event.id, segments
                FROM conversations JOIN conversation_events AS event ON event.conversation = place
                WHERE {IS_OWNED} AND place >= :place
                    AND (conversation, order_key, event.id) > (:place, :order_key, :id)
                ORDER BY place, order_key, event.id LIMIT :limit
                """,  # noqa: S608 - our own columns
                owner=owner,
                place=last[0],
                order_key=last[1],
                id=last[2],
                limit=SEGMENTS_PER_PAGE,
            )
            for place, _, _, segments in rows:
                if place not in found and says(_segments.decode(segments), folded):
                    found[place] = None
            if len(rows) < SEGMENTS_PER_PAGE:
                return list(found)
            last = rows[-1][:3]

    async def conversation(self, conversation_id: str) -> ArchivedConversation | None:
        rows = await self.query(
            f"SELECT {CONVERSATION_COLUMNS} FROM conversations WHERE id = :id",  # noqa: S608 - our own columns
            id=conversation_id,
        )
        return ArchivedConversation(*rows[0]) if rows else None

    async def events(
        self, conversation_id: str, after: str = "", limit: int = 1000
    ) -> tuple[ArchivedEvent, ...]:
        order_key = ""
        if after:
            last = await self.query(
                """
                SELECT order_key FROM conversations
                JOIN conversation_events AS event ON event.conversation = place
                WHERE conversations.id = :conversation AND event.id = :after
                """,
                conversation=conversation_id,
                after=after,
            )
            if not last:
                raise Invalid(problems=unknown_event())
            order_key = last[0][0]
        rows = await self.query(
            """
            SELECT conversations.id, event.id, order_key, role, ts, created_at, segments, metadata, legacy
            FROM conversations JOIN conversation_events AS event ON event.conversation = place
            WHERE conversations.id = :conversation AND (order_key, event.id) > (:order_key, :after)
            ORDER BY order_key, event.id LIMIT :limit
            """,
            conversation=conversation_id,
            order_key=order_key,
            after=after,
            limit=limit,
        )
        return tuple(_event(*row) for row in rows)


# --- writing ------------------------------------------------------------------------------------------


def _save(import_: Import, events: Sequence[IncomingEvent]) -> Steps[SaveResult]:
    yield _lock()
    yield from _write_import(import_)
    places, refused = yield from _places(import_, events)
    ours = [(places[one.event.conversation], one) for one in events if one.event.conversation in places]
    known = yield from _digests([(place, one.event.id) for place, one in ours])
    new = [(place, one) for place, one in ours if (place, one.event.id) not in known]
    changed = [
        (place, one) for place, one in ours if known.get((place, one.event.id), one.digest) != one.digest
    ]
    # An event whose order key has changed would be inserted a second time: the primary key holds it.
    yield sql_many(
        "DELETE FROM conversation_events WHERE conversation = :place AND id = :id",
        [{"place": place, "id": one.event.id} for place, one in changed],
    )
    yield sql_many(
        """
        INSERT INTO conversation_events
            (conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest)
        VALUES (:place, :order_key, :id, :role, :ts, :created_at, :segments, :metadata, :legacy, :digest)
        """,
        [_event_values(place, one) for place, one in (*new, *changed)],
    )
    yield from _update_conversations(new, changed)
    return SaveResult(len(new), len(changed), refused)


def _lock() -> Statement:
    return sql("SELECT 1 /*postgres , pg_advisory_xact_lock(6015016021) */")


def _write_import(import_: Import) -> Steps[None]:
    # An import that has begun and has no row was undone: a late batch must not bring it back.
    written = yield sql(
        """
        INSERT INTO imports AS known
            (id, owner, source, state, cursor, passes, report, started_at, updated_at)
        SELECT :id, :owner, :source, :state, :cursor, :passes, :report, :started_at, :updated_at
        WHERE NOT :begun OR EXISTS (SELECT 1 FROM imports WHERE id = :id)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, cursor = excluded.cursor,
            passes = excluded.passes, report = excluded.report, updated_at = excluded.updated_at
        WHERE known.state <> 'undoing'
        RETURNING id
        """,
        **structs.asdict(import_) | {"report": bytes(import_.report).decode(), "begun": import_.begun},
    )
    if not written:
        raise import_undone(import_.id)


def _places(
    import_: Import, events: Sequence[IncomingEvent]
) -> Steps[tuple[dict[str, int], tuple[str, ...]]]:
    """The row numbers of this import's conversations in the batch, which are added where they are new, and
    the names of those that another import has brought."""
    first_ts = {one.event.conversation: one.event.ts for one in reversed(events)}
    names = list(dict.fromkeys(one.event.conversation for one in events))
    yield sql_many(
        """
        INSERT INTO conversations
            (id, import, owner, source, /*postgres folded, */ events, first_ts, last_ts)
        VALUES (:id, :import, :owner, :source, /*postgres :folded, */ 0, :ts, :ts)
        ON CONFLICT (id) DO NOTHING
        """,
        [
            {
                "id": name,
                "import": import_.id,
                "owner": import_.owner,
                "source": import_.source,
                "folded": import_.source.casefold(),
                "ts": first_ts[name],
            }
            for name in names
        ],
    )
    rows = yield sql("SELECT id, place, import FROM conversations WHERE id = ANY(:names)", names=names)
    places = {name: place for name, place, import_id in rows if import_id == import_.id}
    return places, tuple(name for name in names if name not in places)


def _digests(keys: list[tuple[int, str]]) -> Steps[dict[tuple[int, str], bytes]]:
    if not keys:
        return {}
    rows = yield sql(
        """
        SELECT conversation, id, digest FROM pairs(:keys) AS key
        JOIN conversation_events ON conversation = key.a AND id = key.b
        """,
        keys=keys,
    )
    return {(place, event_id): digest for place, event_id, digest in rows}


def _event_values(place: int, incoming: IncomingEvent) -> dict[str, object]:
    event = incoming.event
    return {
        "place": place,
        "order_key": event.order_key,
        "id": event.id,
        "role": event.role,
        "ts": event.ts,
        "created_at": event.created_at,
        "segments": _text(event.segments),
        "metadata": _text(event.metadata),
        "legacy": _text(event.legacy),
        "digest": incoming.digest,
    }


def _update_conversations(
    new: Sequence[tuple[int, IncomingEvent]], changed: Sequence[tuple[int, IncomingEvent]]
) -> Steps[None]:
    times: dict[int, list[int]] = {}
    for place, one in (*new, *changed):
        times.setdefault(place, []).append(one.event.ts)
    added = Counter(place for place, _ in new)
    yield sql_many(
        """
        UPDATE conversations SET events = events + :added, first_ts = least(first_ts, :first_ts),
            last_ts = greatest(last_ts, :last_ts)
        WHERE place = :place
        """,
        [
            {"place": place, "added": added[place], "first_ts": min(ts), "last_ts": max(ts)}
            for place, ts in times.items()
        ],
    )


def _undo(import_id: str, limit: int) -> Steps[int]:
    yield _lock()
    deleted = yield sql(
        """
        DELETE FROM conversation_events WHERE (conversation, order_key, id) IN (
            SELECT conversation, order_key, event.id FROM conversations
            JOIN conversation_events AS event ON event.conversation = place
            WHERE import = :import LIMIT :limit
        ) RETURNING conversation
        """,
        **{"import": import_id, "limit": limit},
    )
    if deleted:
        yield sql_many(
            "UPDATE conversations SET events = events - :deleted WHERE place = :place",
            [{"place": place, "deleted": n} for place, n in Counter(row[0] for row in deleted).items()],
        )
        yield sql("UPDATE imports SET state = 'undoing', cursor = '' WHERE id = :id", id=import_id)
        return len(deleted)
    yield sql("DELETE FROM conversations WHERE import = :id", id=import_id)
    yield sql("DELETE FROM imports WHERE id = :id", id=import_id)
    return 0


# --- rows ---------------------------------------------------------------------------------------------


def _import(row: Row) -> Import:
    names = ("id", "owner", "source", "started_at", "updated_at", "state", "cursor", "passes")
    import_ = msgspec.convert(dict(zip(names, row[:-1], strict=True)), Import)
    return structs.replace(
        import_,
        # PostgreSQL returns times in the server's time zone.
        started_at=import_.started_at.astimezone(UTC),
        updated_at=import_.updated_at.astimezone(UTC),
        report=Raw(row[-1].encode()),
    )


def _event(
    conversation_id: str,
    event_id: str,
    order_key: str,
    role: str,
    ts: int,
    created_at: str | None,
    segments: str,
    metadata: str | None,
    legacy: str | None,
) -> ArchivedEvent:
    return ArchivedEvent(
        conversation=conversation_id,
        id=event_id,
        order_key=order_key,
        role=role,
        ts=ts,
        created_at=created_at,
        segments=Raw(segments.encode()),
        metadata=NULL if metadata is None else Raw(metadata.encode()),
        legacy=NULL if legacy is None else Raw(legacy.encode()),
    )


def _text(raw: Raw) -> str | None:
    return None if raw == NULL else bytes(raw).decode()
