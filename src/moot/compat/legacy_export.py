"""Giving conversations back in the old shape: those that were imported as they were, and debates.

What the old shape has no place for is a debate's alone: of several thoughts in one event the parts are
joined, and ids are made into UUIDs, always the same for the same event.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime

from moot.compat import row_writers
from moot.compat.row_locations import Place
from moot.compat.row_writers import Given, Table
from moot.core.state import Debate
from moot.core.visibility import OWNER
from moot.store.archive import Archive
from moot.store.archive_rows import row_of
from moot.store.contract import Store
from moot.views.conversation import conversation
from moot.views.legacy_rows import COLUMNS, OldRow, Shape, in_old_shape

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
EVENTS = Table(DDL, COLUMNS, json=("segments", "reasoning"), uuids=("id", "conversation_id"))


async def give(
    place: Place, *given: AsyncGenerator[list[OldRow], None], told: Callable[[int], None] = lambda _: None
) -> Given:
    return await row_writers.give(place, EVENTS, *(_shapes(rows) for rows in given), told=told)


async def _shapes(given: AsyncGenerator[list[OldRow], None]) -> AsyncGenerator[list[Shape], None]:
    async for rows in given:
        yield [row.shape() for row in rows]


async def imported(archive: Archive, wanted: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
    """The rows of these conversations, or of all that were imported, as they were."""
    rows: list[OldRow] = []
    async for name in _names(archive, wanted):
        last = ""
        while events := await archive.events(name, last, BATCH):
            rows += [row_of(event) for event in events]
            last = events[-1].id
            if len(rows) >= BATCH:
                yield rows
                rows = []
    yield rows


async def held(store: Store, wanted: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
    """The rows of these debates, or of all."""
    offset = 0
    for name in wanted:
        yield rows_of(await store.state(name))
    while not wanted and (heads := (await store.list(limit=BATCH, offset=offset)).heads):
        for head in heads:
            yield rows_of(await store.state(head.id))
        offset += len(heads)


async def _names(archive: Archive, wanted: Sequence[str]) -> AsyncGenerator[str, None]:
    offset = 0
    for name in wanted:
        yield name
    while not wanted and (found := (await archive.shelf(limit=BATCH, offset=offset)).conversations):
        for one in found:
            yield one.id
        offset += len(found)


def rows_of(debate: Debate) -> list[OldRow]:
    """A debate as its owner sees it, in rows of the old shape."""
    return [row_of_debate(debate.id, in_old_shape(event)) for event in conversation(debate, OWNER)]


def row_of_debate(debate_id: str, event: Shape) -> OldRow:
    """An event that is in the old shape, as a row."""
    return OldRow(
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
