"""What a store holds, as rows that another store can take in: for whoever moves from one to the other.

Nothing is decided, numbered or dated anew. Debates and conversations are many, each known by an id with which
all its rows begin: a few that say what it is and what belongs to it, and its lines (the log of a debate, the
events of a conversation), which come in pages. Times and JSON are text, moments that are only compared are
seconds since 1970, yes and no are 1 and 0.

    tokens               name, digest, role, owner, created_at, expires_at
    imports              id, owner, source, state, cursor, passes, report, started_at, updated_at
    debates              id, place, owner, status, motion, format, turning, turned_at, epoch, created_at,
                         summary
    bodies               debate, digest, packed, body
    requests             debate, client, key, body_hash, first, seq, expires
    invitations          debate, name, digest, role, seat, judge, many, created_at, expires_at, via
    casts                debate, model
    marks                debate, mark
    events               debate, seq, at, epoch, body
    conversations        id, place, import, owner, source, events, first_ts, last_ts
    conversation_events  conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest

The name of a runner does not come along: nobody runs a debate where it arrives.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from msgspec import Struct

Row = tuple[Any, ...]
Rows = Mapping[str, Sequence[Row]]
"""By table."""
PAGE = 1000
"""Lines that are read at a time."""
WHOLE_TABLES = ("tokens", "imports")
"""Few enough to be taken all at once."""


class TableGroup(Struct, frozen=True):
    name: str
    parts: tuple[str, ...]
    """In the order in which they are written."""
    lines_table: str

    @property
    def tables(self) -> tuple[str, ...]:
        return *self.parts, self.lines_table


DEBATES = TableGroup("debates", ("debates", "bodies", "requests", "invitations", "casts", "marks"), "events")
CONVERSATIONS = TableGroup("conversations", ("conversations",), "conversation_events")
TABLE_GROUPS = (DEBATES, CONVERSATIONS)


class StoreTables(Protocol):
    def locked(self) -> AbstractAsyncContextManager[None]:
        """For as long as it lasts, the same is read, whatever others would like to write."""
        ...

    async def active_runner(self) -> str:
        """What living process runs debates here; empty where none does."""
        ...

    async def row_counts(self) -> dict[str, int]:
        """How many rows there are in each table."""
        ...

    async def line_counts(self, kind: TableGroup) -> dict[str, int]:
        """The ids, in the order in which they came, and how many lines each has."""
        ...

    async def latest_epoch(self) -> int:
        """The latest of all debates."""
        ...

    async def read_table(self, table: str) -> list[Row]: ...

    async def read_rows(self, table: str, ids: Sequence[str]) -> list[Row]: ...

    def read_pages(self, kind: TableGroup, ids: Sequence[str]) -> AsyncGenerator[list[Row], None]:
        """Their lines; those of one id come together, and in order."""
        ...

    async def write_table(self, table: str, rows: Sequence[Row]) -> None:
        """Take a whole table in, in place of what it holds under the same names."""
        ...

    async def write_group(
        self, kind: TableGroup, ids: Sequence[str], rows: Rows, pages: AsyncIterable[list[Row]]
    ) -> None:
        """Take these in, all or none of them, in place of what there is under their ids."""
        ...

    async def close(self) -> None: ...
