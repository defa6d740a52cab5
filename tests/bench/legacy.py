"""CPU for a conversation of 1,000 events, from SQLite to the bytes of a JSON reply, beside the old table.

The old table has rows with `segments` and `reasoning` by `conversation_id` and `order_key`; each is parsed,
put into an object and encoded again, as the older system did. The table has the index that it needs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from statistics import median
from time import process_time

import msgspec

from moot.extensions.conversations.archive_rows import legacy_shape, unified_shape
from moot.extensions.conversations.importing import import_rows
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.row_io.readers import parse_location
from moot.store.sqlite.store import SqliteStore
from tests.bench.figures import Figure, figure
from tests.bench.measure import temporary_folder
from tests.support.old_rows import in_sqlite, rows

EVENTS, OTHER_EVENTS, REPEATS = 1000, 9000, 60


async def bench() -> AsyncIterator[Figure]:
    old_rows = rows(EVENTS + OTHER_EVENTS)
    conversation = old_rows[0]["conversation_id"]
    for row in old_rows[:EVENTS]:
        row["conversation_id"] = conversation
    with temporary_folder() as data:
        path = in_sqlite(data / "old.db", old_rows)
        store = SqliteStore.open(data / "moot.db")
        await import_rows(store.tables(CONVERSATIONS), parse_location(str(path)))
        old_table = OldTable(path)

        async def load_old() -> bytes:
            return old_table.load(conversation)

        async def load_unified() -> bytes:
            events = await store.tables(CONVERSATIONS).events(conversation, "", EVENTS)
            return msgspec.json.encode([unified_shape(event) for event in events])

        async def load_in_old_shape() -> bytes:
            events = await store.tables(CONVERSATIONS).events(conversation, "", EVENTS)
            return msgspec.json.encode([legacy_shape(event) for event in events])

        old, unified, old_shape = await _median_costs(load_old, load_unified, load_in_old_shape)
        old_table.close()
        await store.close()
    limit = ("the old table", old)
    yield figure(f"conversation of {EVENTS:,} events, unified: CPU", unified, "ms", limit=limit)
    yield figure(f"conversation of {EVENTS:,} events, in the old shape: CPU", old_shape, "ms", limit=limit)


async def _median_costs(*loaders: Callable[[], Awaitable[bytes]]) -> list[float]:
    """The median CPU of each in ms, including threads; they take turns."""
    costs: list[list[float]] = [[] for _ in loaders]
    for _ in range(REPEATS):
        for own_costs, load in zip(costs, loaders, strict=True):
            start = process_time()
            assert len(await load()) > EVENTS
            own_costs.append((process_time() - start) * 1000)
    return [median(own_costs) for own_costs in costs]


class OldTable:
    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute("CREATE INDEX in_order ON events (conversation_id, order_key)")

    def load(self, conversation: str) -> bytes:
        records = self._connection.execute(
            """
            SELECT id, role, segments, reasoning, order_key, ts, created_at FROM events
            WHERE conversation_id = ? ORDER BY order_key
            """,
            (conversation,),
        ).fetchall()
        return msgspec.json.encode(
            [
                {
                    "id": ident,
                    "role": role,
                    "segments": msgspec.json.decode(segments),
                    "reasoning": reasoning and msgspec.json.decode(reasoning),
                    "order_key": order_key,
                    "ts": ts,
                    "created_at": created_at,
                }
                for ident, role, segments, reasoning, order_key, ts, created_at in records
            ]
        )

    def close(self) -> None:
        self._connection.close()
