"""The tables of imported conversations in the store: `store.tables(CONVERSATIONS)`."""

from __future__ import annotations

from moot.extensions.conversations.archive import Archive, MemoryArchive
from moot.extensions.conversations.sql_archive import SqlArchive
from moot.store.copying import CopiedTable, TableGroup
from moot.store.extension_tables import MemoryAccess, SqlAccess, Tables


def _sql(access: SqlAccess) -> Archive:
    return SqlArchive(access.query, access.transact, access.transact_and_scrub)


def _memory(_access: MemoryAccess) -> Archive:
    return MemoryArchive()


CONVERSATIONS: Tables[Archive] = Tables(
    "conversations",
    "moot.extensions.conversations",
    sql=_sql,
    memory=_memory,
    copied=(
        CopiedTable(
            "imports",
            "id, owner, source, state, cursor, passes, report, started_at, updated_at",
            key="id",
            order="id",
            rows="imports",
        ),
    ),
    groups=(
        TableGroup(
            parts=(
                CopiedTable(
                    "conversations",
                    "id, place, import, owner, source, events, first_ts, last_ts",
                    order="place",
                    searched="source",
                    rows="conversations",
                ),
            ),
            lines=CopiedTable(
                "conversation_events",
                "conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest",
                parent="conversations",
                order="place, order_key, conversation_events.id",
                rows="events in them",
            ),
            line_counts_sql="SELECT id, events FROM conversations ORDER BY place",
        ),
    ),
    adopted=("conversation_events.digest",),
)
