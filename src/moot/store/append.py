"""What every store does alike: number events and fold them, check epochs, cache states, limit invitations."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from threading import Lock

from msgspec import Struct

from moot.core.errors import Fenced, Invalid, Refused, UnknownDebate
from moot.core.events import Event, Recorded, StreamedEvent
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.statuses import Status
from moot.store.contract import UNCLAIMED, RecordResult

Clock = Callable[[], datetime]

IDEMPOTENCY_PERIOD = timedelta(hours=24)
"""How long a request with an idempotency key is remembered."""
MAX_SESSIONS_FOUND = 20
"""Sessions returned for one lookup key."""
SUMMARIES_PER_PAGE = 200
"""Summaries in a page where all are read: few enough to be processed in milliseconds."""
COMPRESS_FROM_BYTES = 1024
"""Bodies from this many bytes on are compressed."""
MAX_INVITATIONS = 2_000
"""Invitations of one debate."""


class RepeatedRequest(Struct, frozen=True):
    """A request that was carried out before and wrote events `first` to `last` of a debate."""

    body_hash: str
    debate_id: str
    first: int
    last: int


def now() -> datetime:
    return datetime.now(UTC)


def epoch_seconds(at: datetime) -> int:
    """Seconds since 1970, the form in which SQLite stores times that it searches by."""
    return int(at.timestamp())


def append_events(
    debate: Debate | None, debate_id: str, events: Sequence[Event], *, epoch: int, at: datetime
) -> RecordResult:
    """Number the events and fold them into the state. Raises UnknownDebate where that leaves no debate."""
    seq = debate.seq if debate else 0
    records: list[Recorded] = []
    for event in events:
        seq += 1
        recorded = Recorded(debate_id, seq, at, epoch, event)
        debate = evolve(debate, recorded)
        records.append(recorded)
    if debate is None:
        raise UnknownDebate
    return RecordResult(debate, tuple(records))


def check_epoch(epoch: int | None, held: int) -> None:
    """Raises Fenced unless the writer has the debate's present epoch; commands carry none."""
    if epoch is not None and epoch != held:
        raise Fenced


def next_epoch(held: int, seen: int | None, new: int | None) -> int:
    """The epoch after a takeover. Raises Fenced where another runner was faster."""
    seen = held if seen is None else seen
    epoch = seen + 1 if new is None else new
    if held != seen or epoch < held:
        raise Fenced
    return epoch


def unclaimed(debate: Debate | None) -> str:
    """The runner's name in the head of a debate that no process runs."""
    return UNCLAIMED if debate and debate.final and debate.being_judged else ""


def is_unclaimed(before: Debate | None, after: Debate) -> bool:
    """Whether it has just begun to be judged again, so that a runner is needed."""
    return bool(unclaimed(after)) and not unclaimed(before)


def only_open_calls(debate: Debate, events: Sequence[StreamedEvent]) -> Sequence[StreamedEvent]:
    """The events without the words of calls that have ended meanwhile."""
    calls = [call.number for call in debate.calls]
    for event in events:
        if event.call not in calls:
            return [event for event in events if event.call in calls]
    return events


def models_changed(before: Debate | None, after: Debate) -> bool:
    """Whether other models may take part now: a seat got another model, or other judges were asked."""
    if before is None:
        return True
    return before.seats is not after.seats or len(before.judgings) != len(after.judgings)


def pack(body: bytes) -> tuple[bool, bytes]:
    if len(body) < COMPRESS_FROM_BYTES:
        return False, body
    return True, zlib.compress(body)


def unpack(packed: bool, body: bytes) -> bytes:
    return zlib.decompress(body) if packed else body


def check_invitation(*, taken: bool, invited: int, status: Status) -> None:
    """Raises Invalid where the name is taken, Refused where the debate has as many as it may have."""
    if taken:
        raise Invalid("Somebody of that name is invited.", {"name": ["Somebody of that name is invited"]})
    if invited >= MAX_INVITATIONS:
        raise Refused(f"A debate has at most {MAX_INVITATIONS} invitations; withdraw some first.", status)


class CachedState(Struct, frozen=True, gc=False):
    """A state as it was committed. It is the head only if `checked` says so: in SQLite it is the generation
    in which it was checked, in PostgreSQL the row number of the debate, which a debate that was deleted and
    opened again does not keep."""

    debate: Debate
    epoch: int = 0
    checked: int = -1


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
