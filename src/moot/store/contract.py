"""What a store promises: an append-only log per debate, decided and written in one step.

`record` runs a pure function on the head of a debate and appends what it returns, atomically. Nothing is
returned before it is durable. `append_streamed` appends words without looking at the head. Both carry the
epoch of the runner that writes; an older epoch than the debate's writes nothing and raises `Fenced`.
"""

from __future__ import annotations

import hashlib
import secrets
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid, Refused
from moot.core.events import Event, Recorded, StreamedEvent
from moot.core.state import Debate
from moot.core.statuses import Status
from moot.core.terms import InvitationRole, TokenRole
from moot.store.extension_tables import Tables
from moot.views.summary import StoredSummary

Clock = Callable[[], datetime]
T = TypeVar("T")
DecideOnHead = Callable[[Debate | None], Sequence[Event]]
"""Pure. If it raises, nothing is written and the error is raised by `record`."""

IDEMPOTENCY_PERIOD = timedelta(hours=24)
"""How long a request with an idempotency key is remembered."""
MAX_SESSIONS_FOUND = 20
"""Sessions returned for one lookup key."""
SUMMARIES_PER_PAGE = 200
"""Summaries in a page where all are read: few enough to be processed in milliseconds."""
MAX_INVITATIONS = 2_000
"""Invitations of one debate."""


class IdempotencyKey(Struct, frozen=True):
    """Makes a request repeatable: the same key and body lead to the same result, not to a second one."""

    client: str
    key: str
    body_hash: str


class RecordResult(Struct, frozen=True, gc=False):
    """What was written, and the state right after it."""

    debate: Debate
    records: tuple[Recorded, ...]
    replayed: bool = False
    """This request had been carried out before; `debate` is folded up to its last event then."""


class Reply(Protocol):
    """Where a writer puts the result of a request. An `asyncio.Future` is one."""

    def get_loop(self) -> AbstractEventLoop: ...

    def done(self) -> bool:
        """Whether nobody waits for the result any more."""
        ...

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, error: Exception, /) -> None: ...


class AppendStreamed(Struct, frozen=True, gc=False):
    """Text and segments of one call, to be appended without a look at the head."""

    reply: Reply
    debate_id: str
    events: Sequence[StreamedEvent]
    epoch: int


class DebateHead(Struct, frozen=True):
    """One debate as lists show it."""

    id: str
    owner: str
    status: Status
    motion: str
    format: str
    version: int
    epoch: int
    runner: str
    created_at: datetime
    updated_at: datetime
    summary: bytes
    """JSON of `views.summary`, as it stood after the last event that is not a delta."""


def head_of(
    debate: Debate, summary: bytes, *, owner: str = "", epoch: int | None = None, runner: str = ""
) -> DebateHead:
    return DebateHead(
        id=debate.id,
        owner=owner,
        status=debate.status,
        motion=debate.motion,
        format=debate.format.name,
        version=debate.seq,
        epoch=debate.epoch if epoch is None else epoch,
        runner=runner,
        created_at=debate.created_at,
        updated_at=debate.updated_at,
        summary=summary,
    )


class DebateFilter(Struct, frozen=True):
    """Which debates a list shows; an empty field excludes none."""

    owner: str | None = None
    statuses: tuple[Status, ...] = ()
    search: str = ""
    """Part of the motion, in any case."""
    format: str = ""
    model: str = ""
    """Of a seat or of a judge: `provider/model`, or the model alone."""
    since: date | None = None
    until: date | None = None
    """The last day, by UTC, on which it may have been opened."""

    def matches(self, head: DebateHead) -> bool:
        """Whether the list shows this debate; the SQL of the stores says the same."""
        opened_on = head.created_at.date()
        return (
            self.owner in (None, head.owner)
            and (not self.statuses or head.status in self.statuses)
            and self.format in ("", head.format)
            and self.search.casefold() in head.motion.casefold()
            and (self.since is None or self.since <= opened_on)
            and (self.until is None or opened_on <= self.until)
            and (
                not self.model
                or self.model in msgspec.json.decode(head.summary, type=StoredSummary).model_names()
            )
        )


NO_FILTER = DebateFilter()


class DebatePage(Struct, frozen=True):
    """A page of a list, and how many debates the whole list has."""

    heads: tuple[DebateHead, ...]
    total: int


class StoreFigures(Struct, frozen=True):
    """What a monitoring system wants to know of a store, read at once."""

    statuses: dict[str, int]
    """How many debates have each status."""
    runners: dict[str, int]
    """How many debates name each runner in their head."""
    bytes: int
    """How many bytes the store uses, without what was deleted."""


class LogPosition(Struct, frozen=True):
    version: int
    epoch: int


class ActiveDebate(Struct, frozen=True):
    """A debate that may need a runner."""

    id: str
    version: int
    runner: str
    updated_at: datetime


UNCLAIMED = "unclaimed"
"""The runner's name in the head of a finished debate that is being judged again and has no runner yet. Its
status does not show that a runner is needed; this does."""

BEARER_PREFIX = "moot_"
"""By which people, and scanners for leaked secrets, recognise a token."""


def new_secret() -> str:
    return BEARER_PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What the store keeps of a token. A token is 32 random bytes, so that a plain SHA-256 is as hard to
    reverse as a slow hash, and a request costs microseconds."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


class AccessToken(Struct, frozen=True):
    """Gives its bearer access. Only the digest of the token is kept: see `digest`."""

    name: str
    digest: str
    """SHA-256, in hex."""
    role: TokenRole
    owner: str
    """Whose debates its bearer sees."""
    created_at: datetime
    expires_at: datetime | None = None

    def expired(self, at: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= at


class StoredInvitation(Struct, frozen=True):
    """Gives its bearer access to one debate in one role. Kept by digest like a token."""

    debate: str
    name: str
    """Unique in its debate."""
    digest: str
    role: InvitationRole
    created_at: datetime
    seat: str | None = None
    judge: str | None = None
    many: bool = False
    """A shared link: each bearer fetches an invitation of their own with it."""
    expires_at: datetime | None = None
    via: str | None = None
    """The digest of the shared link with which it was fetched. It is valid only as long as that link."""

    def expired(self, at: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= at


def check_invitation(*, taken: bool, invited: int, status: Status) -> None:
    """Raises Invalid where the name is taken, Refused where the debate has as many as it may have."""
    if taken:
        raise Invalid("Somebody of that name is invited.", {"name": ["Somebody of that name is invited"]})
    if invited >= MAX_INVITATIONS:
        raise Refused(f"A debate has at most {MAX_INVITATIONS} invitations; withdraw some first.", status)


Listener = Callable[[str, tuple[Recorded, ...] | None], None]
"""Called with the debate and its new records, or with None when it was deleted."""


class Store(Protocol):
    """Keeps debates. Whoever implements it proves it with the suite of `moot.testing.StoreContract`."""

    def listen(self, listener: Listener) -> None:
        """Call the listener on the event loop for every commit of this process, before the write returns."""
        ...

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
        """Decide on the head and append. A debate is created by the first event; `owner` counts only then.

        `bodies` (hash -> request as sent) are kept beside the log. Raises UnknownDebate if `decide` returns
        no event for a debate that does not exist.
        """
        ...

    def append_streamed(self, requests: Sequence[AppendStreamed]) -> None:
        """Append words of several debates without looking at their heads; each is answered by itself, with a
        `RecordResult`. Those of a call that is no longer open are dropped. Raises StoreError if it is closed.
        """
        ...

    async def read(self, debate_id: str, after: int = 0, limit: int = 1000) -> tuple[Recorded, ...]:
        """Its events after seq `after`, at most `limit`; none of a debate that does not exist."""
        ...

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        """The folded state at the head, or as it stood after event `upto`. Raises UnknownDebate."""
        ...

    async def state_at_least(self, debate_id: str, seq: int) -> Debate:
        """A state that includes event `seq`, and perhaps later ones; a cached one will do."""
        ...

    def cached_state(self, debate_id: str) -> Debate | None:
        """The state after the last commit of this process, if it is in memory."""
        ...

    def release(self, debate_id: str) -> None:
        """Its state need not be kept in memory: it is not expected to be asked for again soon."""
        ...

    async def head(self, debate_id: str) -> DebateHead:
        """Its row in the list. Raises UnknownDebate."""
        ...

    async def list(
        self, filters: DebateFilter = NO_FILTER, *, limit: int = 20, offset: int = 0
    ) -> DebatePage:
        """Newest first."""
        ...

    async def find_sessions(self, key: str, *, owner: str | None = None) -> tuple[str, ...]:
        """The sessions with this lookup key (`rules.turn_by_turn`), newest first, a few at most."""
        ...

    def summaries(self, *, owner: str | None = None) -> AsyncGenerator[bytes, None]:
        """The summaries of all debates, newest first, in pages: each a JSON array of `views.summary`."""
        ...

    async def claimed_debates(self) -> tuple[ActiveDebate, ...]:
        """Debates whose head names a runner, alive or not, or `UNCLAIMED`."""
        ...

    async def active_debates(self, since: datetime | None = None) -> tuple[ActiveDebate, ...]:
        """Debates that may need a runner; with `since`, those that have changed since then. Words do not
        count."""
        ...

    async def request_body(self, debate_id: str, digest: str) -> bytes | None:
        """A request as it was sent, by its hash."""
        ...

    async def claim(
        self, debate_id: str, runner: str, *, seen_epoch: int | None = None, epoch: int | None = None
    ) -> int:
        """Take a debate over, or release it with `runner=""` (`UNCLAIMED` where it is being judged again).
        Returns its new epoch: `epoch`, or one more than before. Raises Fenced where its epoch is later than
        `epoch`, or is not `seen_epoch` where that is given."""
        ...

    async def positions(self, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
        """Version and epoch of those that exist, in one query."""
        ...

    async def changed_elsewhere(self) -> bool:
        """Whether another process has committed since the last time this was asked. Cheap."""
        ...

    async def delete(self, debate_id: str) -> None:
        """Delete a debate and all its data. Raises UnknownDebate."""
        ...

    async def ended_before(self, before: datetime, limit: int = 100) -> tuple[str, ...]:
        """Debates that have ended and whose last event is older than this (to the second), oldest first;
        without those that extensions keep."""
        ...

    async def size(self) -> int:
        """How many bytes the store uses, without what was deleted."""
        ...

    async def figures(self) -> StoreFigures:
        """In one query."""
        ...

    async def tokens(self) -> tuple[AccessToken, ...]:
        """All tokens by name, expired ones included."""
        ...

    async def save_token(self, token: AccessToken) -> None:
        """Save a token, in place of one with the same name."""
        ...

    async def delete_token(self, name: str) -> bool:
        """Whether there was one."""
        ...

    async def add_invitation(self, invitation: StoredInvitation) -> None:
        """Raises UnknownDebate; Invalid where the name is taken; Refused where the debate has the most that
        are allowed. Expired ones do not count."""
        ...

    async def invitations(self, debate_id: str) -> tuple[StoredInvitation, ...]:
        """The valid invitations of a debate, by name."""
        ...

    async def invitation(self, digest: str) -> StoredInvitation | None:
        """The invitation with this digest, if it is valid. Uses an index."""
        ...

    async def invited(self, digests: Collection[str]) -> tuple[StoredInvitation, ...]:
        """Those of these digests that are valid, in one query and in no order."""
        ...

    async def delete_invitation(self, debate_id: str, name: str) -> bool:
        """Whether there was one. Those that were fetched with a shared link are deleted with it."""
        ...

    def tables(self, tables: Tables[T]) -> T:
        """What an extension keeps here in tables of its own. Raises StoreError where they are not there, and
        NewerSchema where a newer version has written them."""
        ...

    @property
    def write_error(self) -> str:
        """Why the last write failed; empty where it did not."""
        ...

    async def close(self) -> None:
        """Finish what was asked for, and release everything. May be called twice."""
        ...
