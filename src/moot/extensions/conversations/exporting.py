"""Exports conversations as rows of the old table: imported ones as they were, and debates.

Of debates not everything fits the old shape: several pieces of reasoning in one event are joined, and ids
become UUIDs, always the same for the same event.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime

from moot.core.state import Debate
from moot.core.visibility import OWNER
from moot.extensions.conversations.archive import Archive
from moot.extensions.conversations.archive_rows import legacy_row
from moot.extensions.conversations.debates import conversation
from moot.extensions.conversations.legacy_rows import COLUMNS, JsonObject, LegacyRow, to_legacy_shape
from moot.row_io import writers
from moot.row_io.readers import RowLocation
from moot.row_io.writers import TableDefinition, WriteReport
from moot.store.contract import Store

BATCH = 1000
DDL = """
CREATE TABLE IF NOT EXISTS {} (
    id uuid PRIMARY KEY,
    conversation_id uuid NOT NULL,
    role text NOT NULL,
    segments jsonb NOT NULL,
    reasoning jsonb,
    order_key text NOT NULL,
    ts bigint NOT NULL,
    created_at timestamptz DEFAULT now()
)
"""
EVENTS_TABLE = TableDefinition(DDL, COLUMNS, json=("segments", "reasoning"), uuids=("id", "conversation_id"))


async def write_rows(
    location: RowLocation,
    *sources: AsyncGenerator[list[LegacyRow], None],
    on_progress: Callable[[int], None] = lambda _: None,
) -> WriteReport:
    return await writers.write_rows(
        location, EVENTS_TABLE, *(_shapes(source) for source in sources), on_progress=on_progress
    )


async def _shapes(source: AsyncGenerator[list[LegacyRow], None]) -> AsyncGenerator[list[JsonObject], None]:
    async for rows in source:
        yield [row.shape() for row in rows]


async def imported_rows(archive: Archive, names: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
    """The rows of these conversations, or of all imported ones, as they were."""
    rows: list[LegacyRow] = []
    async for name in _names(archive, names):
        last = ""
        while events := await archive.events(name, last, BATCH):
            rows += [legacy_row(event) for event in events]
            last = events[-1].id
            if len(rows) >= BATCH:
                yield rows
                rows = []
    yield rows


async def debate_rows(store: Store, names: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
    """The rows of these debates, or of all."""
    offset = 0
    for name in names:
        yield rows_of(await store.state(name))
    while not names and (heads := (await store.list(limit=BATCH, offset=offset)).heads):
        for head in heads:
            yield rows_of(await store.state(head.id))
        offset += len(heads)


async def _names(archive: Archive, names: Sequence[str]) -> AsyncGenerator[str, None]:
    offset = 0
    for name in names:
        yield name
    while not names and (page := (await archive.conversations(limit=BATCH, offset=offset)).conversations):
        for one in page:
            yield one.id
        offset += len(page)


def rows_of(debate: Debate) -> list[LegacyRow]:
    """A debate as its owner sees it, in rows of the old shape."""
    return [row_of_debate(debate.id, to_legacy_shape(event)) for event in conversation(debate, OWNER)]


def row_of_debate(debate_id: str, event: JsonObject) -> LegacyRow:
    """The row of an event that is already in the old shape."""
    return LegacyRow(
        id=_uuid(event["id"]),
        conversation_id=_uuid(debate_id),
        role=event["role"],
        segments=event["segments"],
        reasoning=event["reasoning"],
        # Fractional indexes are compared letter by letter.
        order_key=f"{int(event['id'].rpartition('.')[2]):010d}",
        ts=event["ts"],
        created_at=datetime.fromtimestamp(event["ts"] / 1000, UTC).isoformat(),
    )


def _uuid(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"moot:{name}"))
