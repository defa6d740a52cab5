"""Loading a conversation of 1,000 events: unified as it is kept here, against the old table with two columns.

Both are read from SQLite and end as the bytes of a JSON reply. *Old* is what the older system did: rows with
`segments` and `reasoning` by `conversation_id` and `order_key`, each parsed, put into an object and encoded.
The table has the index that it needs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import process_time

import msgspec

from moot.compat.legacy_import import import_rows
from moot.compat.row_readers import parse_location
from moot.store.archive_rows import legacy_shape, unified_shape
from moot.store.sqlite.store import SqliteStore
from tests.bench.tools import folder, report
from tests.compat.old_rows import in_sqlite, rows

EVENTS, OTHERS, TIMES = 1000, 9000, 60


async def main() -> None:
    given = rows(EVENTS + OTHERS)
    for row in given[:EVENTS]:
        row["conversation_id"] = given[0]["conversation_id"]
    name = given[0]["conversation_id"]
    with folder() as data:
        path = in_sqlite(data / "old.db", given)
        store = SqliteStore.open(data / "moot.db")
        await import_rows(store.archive, parse_location(str(path)))
        old = _Old(path)

        async def unified() -> bytes:
            return msgspec.json.encode(
                [unified_shape(event) for event in await store.archive.events(name, "", EVENTS)]
            )

        async def as_it_was() -> bytes:
            return msgspec.json.encode(
                [legacy_shape(event) for event in await store.archive.events(name, "", EVENTS)]
            )

        async def before() -> bytes:
            return old.load(name)

        costs = await _measured(before, unified, as_it_was)
        old.close()
        await store.close()
    report("the old table: two columns, parsed", f"{costs[0] * 1000:.1f} ms")
    report("here, unified", f"{costs[1] * 1000:.1f} ms", f"{costs[1] / costs[0]:.2f} times")
    report("here, in the old shape", f"{costs[2] * 1000:.1f} ms", f"{costs[2] / costs[0]:.2f} times")


async def _measured(*ways: Callable[[], Awaitable[bytes]]) -> list[float]:
    """The median of the CPU that each takes, threads included; they take turns."""
    spent: list[list[float]] = [[] for _ in ways]
    for _ in range(TIMES):
        for one, way in zip(spent, ways, strict=True):
            began = process_time()
            assert len(await way()) > EVENTS
            one.append(process_time() - began)
    return [median(one) for one in spent]


class _Old:
    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute("CREATE INDEX in_order ON events (conversation_id, order_key)")

    def load(self, conversation: str) -> bytes:
        found = self._connection.execute(
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
                for ident, role, segments, reasoning, order_key, ts, created_at in found
            ]
        )

    def close(self) -> None:
        self._connection.close()
