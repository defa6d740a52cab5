"""What the SQLite and the PostgreSQL store answer with the same SQL: lists, tokens, invitations, lookups.

Each store supplies the ways to run statements, and in which parts its lists differ (`sql_lists.py`). The log
is read and written in its own way on each database (`sqlite/` and `postgres/`).
"""

from __future__ import annotations

import asyncio
import sys
from abc import ABC, abstractmethod
from asyncio import Future
from collections import OrderedDict
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from moot.core.errors import StoreError, UnknownDebate
from moot.core.events import Recorded
from moot.core.state import Debate
from moot.store.batch import CachedState, ClaimDebate, RecordEvents, RepeatedRequest, unpack
from moot.store.contract import (
    MAX_SESSIONS_FOUND,
    NO_FILTER,
    SUMMARIES_PER_PAGE,
    AccessToken,
    ActiveDebate,
    AppendStreamed,
    Clock,
    DebateFilter,
    DebateHead,
    DebatePage,
    DecideOnHead,
    IdempotencyKey,
    Listener,
    RecordResult,
    StoredInvitation,
    check_invitation,
)
from moot.store.extension_tables import ExtensionSchemas, SqlAccess, Tables
from moot.store.sql import Row, Statement, Steps, sql
from moot.store.sql_lists import ListDialect, as_active, as_head, summaries

T = TypeVar("T")
AccessRow = TypeVar("AccessRow", AccessToken, StoredInvitation)

INVITATION_COLUMNS = "debate_id, name, digest, role, created_at, seat, judge, many, expires_at, via"
IS_VALID = """
    (expires_at IS NULL OR moment(expires_at) > moment(:at))
    AND (via IS NULL OR EXISTS (SELECT 1 FROM invitations AS link WHERE link.digest = invitations.via))
"""
"""An invitation that was fetched with a shared link is valid only as long as that link."""


class StateCache:
    """The folded states that were used last, shared by the writer and the readers, so that a command does not
    have to read the whole log of its debate first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._states: OrderedDict[str, CachedState] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, debate_id: str) -> bool:
        return debate_id in self._states

    def __len__(self) -> int:
        return len(self._states)

    def get(self, debate_id: str) -> CachedState | None:
        return self._states.get(debate_id)

    def put(self, debate_id: str, state: CachedState) -> None:
        with self._lock:
            self._put(debate_id, state)

    def put_if_newer(self, debate: Debate) -> None:
        """For a reader: the writer may have put a later state meanwhile."""
        with self._lock:
            state = self._states.get(debate.id)
            if state is None or state.debate.seq < debate.seq:
                state = CachedState(debate)
            self._put(debate.id, state)

    def drop(self, debate_id: str) -> None:
        with self._lock:
            self._states.pop(debate_id, None)

    def _put(self, debate_id: str, state: CachedState) -> None:
        self._states[debate_id] = state
        self._states.move_to_end(debate_id)
        if len(self._states) > self._limit:
            self._states.popitem(last=False)


class StoreWriter(Protocol):
    """The only place in a process that writes to its store."""

    listeners: list[Listener]

    @property
    def write_error(self) -> str: ...

    def send(self, *items: Any) -> None:
        """Requests, each with a `reply` that is set when the request is durable or has failed."""
        ...


Writer = TypeVar("Writer", bound=StoreWriter)


class SqlStore(ABC, Generic[Writer]):
    lists: ListDialect
    _writer: Writer

    def __init__(self, clock: Clock, states: int, schemas: ExtensionSchemas) -> None:
        """`states` is how many folded states are kept in memory."""
        self._clock = clock
        self._schemas = schemas
        self._extension_stores: dict[str, Any] = {}
        self._states = StateCache(states)
        self._folding: set[asyncio.Task[None]] = set()

    def tables(self, tables: Tables[T]) -> T:
        self._schemas.check(tables.name)
        if tables.name not in self._extension_stores:
            ways = (self._read_sql, self._write_sql, self._transact, self._transact_and_scrub)
            self._extension_stores[tables.name] = tables.sql(SqlAccess(*ways, self._clock))
        return self._extension_stores[tables.name]

    # --- writing --------------------------------------------------------------------------------------

    def listen(self, listener: Listener) -> None:
        self._writer.listeners.append(listener)

    @property
    def write_error(self) -> str:
        return self._writer.write_error

    async def record(
        self,
        debate_id: str,
        decide: DecideOnHead,
        *,
        epoch: int | None = None,
        owner: str = "",
        once: IdempotencyKey | None = None,
        bodies: Mapping[str, bytes] | None = None,
    ) -> RecordResult:
        await self._cache_state(debate_id)
        request = RecordEvents(new_reply(), debate_id, decide, epoch, owner, once, bodies)
        outcome = await self._send(request)
        return await self._replay(outcome) if isinstance(outcome, RepeatedRequest) else outcome

    def append_streamed(self, requests: Sequence[AppendStreamed]) -> None:
        warm: list[AppendStreamed] = []
        cold: list[AppendStreamed] = []
        for request in requests:
            (warm if request.debate_id in self._states else cold).append(request)
        if cold:
            folding = asyncio.create_task(self._append_cold(cold), name="moot-store fold")
            self._folding.add(folding)
            folding.add_done_callback(self._folding.discard)
        if warm:
            self._writer.send(*warm)

    async def claim(
        self, debate_id: str, runner: str, *, seen_epoch: int | None = None, epoch: int | None = None
    ) -> int:
        await self._cache_state(debate_id)
        return await self._send(ClaimDebate(new_reply(), debate_id, runner, seen_epoch, epoch))

    async def _send(self, item: Any) -> Any:
        self._writer.send(item)
        return await item.reply

    async def _append_cold(self, requests: Sequence[AppendStreamed]) -> None:
        for request in requests:
            try:
                await self._cache_state(request.debate_id)
                self._writer.send(request)
            except StoreError as error:
                request.reply.set_exception(error)

    @abstractmethod
    async def _cache_state(self, debate_id: str) -> None:
        """Fold a debate that is not cached, so that the writer need not."""
        ...

    # --- what each store supplies ---------------------------------------------------------------------

    @abstractmethod
    async def _read_sql(self, text: str, /, **values: object) -> list[Row]: ...

    @abstractmethod
    async def _read_steps(self, steps: Steps[T], /) -> T:
        """Several statements that only read, without a transaction."""
        ...

    @abstractmethod
    async def _write_sql(self, text: str, /, **values: object) -> list[Row]:
        """One statement that may be repeated where the connection breaks."""
        ...

    @abstractmethod
    async def _transact(self, steps: Steps[T], /) -> T: ...

    async def _transact_and_scrub(self, steps: Steps[T], /) -> T:
        """A transaction that deletes; where deleted rows can be read from the disk they are overwritten."""
        return await self._transact(steps)

    @abstractmethod
    async def read(self, debate_id: str, after: int = 0, limit: int = 1000) -> tuple[Recorded, ...]: ...

    @abstractmethod
    async def state(self, debate_id: str, upto: int | None = None) -> Debate: ...

    # --- states ---------------------------------------------------------------------------------------

    async def state_at_least(self, debate_id: str, seq: int) -> Debate:
        known = self.cached_state(debate_id)
        return known if known and known.seq >= seq else await self.state(debate_id)

    def cached_state(self, debate_id: str) -> Debate | None:
        known = self._states.get(debate_id)
        return known.debate if known else None

    def release(self, debate_id: str) -> None:
        self._states.drop(debate_id)

    # --- lists ----------------------------------------------------------------------------------------

    async def head(self, debate_id: str) -> DebateHead:
        rows = await self._rows(self.lists.head(debate_id))
        if not rows:
            raise UnknownDebate
        return as_head(rows[0])

    async def list(
        self, filters: DebateFilter = NO_FILTER, *, limit: int = 20, offset: int = 0
    ) -> DebatePage:
        return await self._read_steps(_page(self.lists, filters, limit, offset))

    async def summaries(self, *, owner: str | None = None) -> AsyncGenerator[bytes, None]:
        before = sys.maxsize
        while True:
            [[page, lowest]] = await self._rows(summaries(owner, before, SUMMARIES_PER_PAGE))
            if not page:
                return
            yield page if isinstance(page, bytes) else page.encode()
            before = lowest

    async def claimed_debates(self) -> tuple[ActiveDebate, ...]:
        return tuple(map(as_active, await self._rows(self.lists.claimed())))

    async def active_debates(self, since: datetime | None = None) -> tuple[ActiveDebate, ...]:
        return tuple(map(as_active, await self._rows(self.lists.active(since))))

    async def ended_before(self, before: datetime, limit: int = 100) -> tuple[str, ...]:
        text = self.lists.ended_before.format(keeps=self._schemas.keeps_sql)
        rows = await self._read_sql(text, before=before, limit=max(limit, 0))
        return tuple(row[0] for row in rows)

    async def _rows(self, statement: Statement) -> list[Row]:
        return await self._read_sql(statement.text, **statement.values)

    # --- tokens ---------------------------------------------------------------------------------------

    async def tokens(self) -> tuple[AccessToken, ...]:
        rows = await self._read_sql(
            "SELECT name, digest, role, owner, created_at, expires_at FROM tokens ORDER BY name"
        )
        return tuple(_struct(AccessToken, row) for row in rows)

    async def save_token(self, token: AccessToken) -> None:
        await self._write_sql(
            """
            INSERT INTO tokens (name, digest, role, owner, created_at, expires_at)
            VALUES (:name, :digest, :role, :owner, :created_at, :expires_at)
            ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, role = excluded.role,
                owner = excluded.owner, created_at = excluded.created_at, expires_at = excluded.expires_at
            """,
            **msgspec.structs.asdict(token),
        )

    async def delete_token(self, name: str) -> bool:
        return bool(await self._write_sql("DELETE FROM tokens WHERE name = :name RETURNING name", name=name))

    # --- invitations ----------------------------------------------------------------------------------

    async def add_invitation(self, invitation: StoredInvitation) -> None:
        await self._transact(_add_invitation(invitation, self._clock()))

    async def invitations(self, debate_id: str) -> tuple[StoredInvitation, ...]:
        rows = await self._read_sql(
            f"""
            SELECT {INVITATION_COLUMNS} FROM invitations
            WHERE debate_id = :debate AND {IS_VALID} ORDER BY name
            """,  # noqa: S608 - our own columns
            debate=debate_id,
            at=self._clock(),
        )
        return tuple(_struct(StoredInvitation, row) for row in rows)

    async def invitation(self, digest: str) -> StoredInvitation | None:
        return next(iter(await self.invited([digest])), None)

    async def invited(self, digests: Collection[str]) -> tuple[StoredInvitation, ...]:
        rows = await self._read_sql(
            f"SELECT {INVITATION_COLUMNS} FROM invitations WHERE digest = ANY(:digests) AND {IS_VALID}",  # noqa: S608 - our own columns
            digests=[*digests],
            at=self._clock(),
        )
        return tuple(_struct(StoredInvitation, row) for row in rows)

    async def delete_invitation(self, debate_id: str, name: str) -> bool:
        rows = await self._write_sql(
            """
            DELETE FROM invitations WHERE debate_id = :debate AND (name = :name OR via IN (
                SELECT digest FROM invitations WHERE debate_id = :debate AND name = :name))
            RETURNING name
            """,
            debate=debate_id,
            name=name,
        )
        return bool(rows)

    # --- lookups --------------------------------------------------------------------------------------

    async def find_sessions(self, key: str, *, owner: str | None = None) -> tuple[str, ...]:
        rows = await self._read_sql(
            """
            SELECT debates.id FROM marks JOIN debates ON debates.place = marks.debate
            WHERE marks.mark = :mark AND (CAST(:owner AS text) IS NULL OR debates.owner = :owner)
            ORDER BY marks.debate DESC LIMIT :limit
            """,
            mark=key,
            owner=owner,
            limit=MAX_SESSIONS_FOUND,
        )
        return tuple(row[0] for row in rows)

    async def request_body(self, debate_id: str, digest: str) -> bytes | None:
        rows = await self._read_sql(
            "SELECT packed, body FROM bodies WHERE debate_id = :debate AND digest = :digest",
            debate=debate_id,
            digest=digest,
        )
        return unpack(*rows[0]) if rows else None

    async def _replay(self, request: RepeatedRequest) -> RecordResult:
        """The result of a request that was carried out before."""
        debate = await self.state(request.debate_id, request.last)
        records = await self.read(request.debate_id, request.first - 1, request.last - request.first + 1)
        return RecordResult(debate, records, replayed=True)


def new_reply() -> Future[Any]:
    return asyncio.get_running_loop().create_future()


def _page(lists: ListDialect, filters: DebateFilter, limit: int, offset: int) -> Steps[DebatePage]:
    rows = yield lists.page(filters, limit, offset)
    [[total]] = yield lists.total(filters)
    return DebatePage(tuple(map(as_head, rows)), total)


def _add_invitation(invitation: StoredInvitation, at: datetime) -> Steps[None]:
    debate_id = invitation.debate
    # PostgreSQL locks the row, so that two nodes cannot both add the last invitation that is allowed.
    debates = yield sql(
        "SELECT status FROM debates WHERE id = :debate /*postgres FOR NO KEY UPDATE */", debate=debate_id
    )
    if not debates:
        raise UnknownDebate
    yield sql(
        f"DELETE FROM invitations WHERE debate_id = :debate AND NOT ({IS_VALID})",  # noqa: S608 - our own condition
        debate=debate_id,
        at=at,
    )
    [[invited, same_name]] = yield sql(
        """
        SELECT count(*), count(CASE WHEN name = :name THEN 1 END) FROM invitations
        WHERE debate_id = :debate
        """,
        name=invitation.name,
        debate=debate_id,
    )
    check_invitation(taken=same_name > 0, invited=invited, status=debates[0][0])
    yield sql(
        f"""
        INSERT INTO invitations ({INVITATION_COLUMNS})
        VALUES (:debate, :name, :digest, :role, :created_at, :seat, :judge, :many, :expires_at, :via)
        """,  # noqa: S608 - our own columns
        **msgspec.structs.asdict(invitation),
    )


def _struct(kind: type[AccessRow], row: Row) -> AccessRow:
    """Columns in the order of the fields. SQLite has times as text and 0 and 1 for no and yes; PostgreSQL
    returns times in the server's time zone."""
    fields: dict[str, Any] = dict(zip(kind.__struct_fields__, row, strict=True))
    for name, value in fields.items():
        if isinstance(value, datetime):
            fields[name] = value.astimezone(UTC)
    if "many" in fields:
        fields["many"] = bool(fields["many"])
    return msgspec.convert(fields, kind)
