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
from moot.core.terms import Status
from moot.store.contract import UNCLAIMED, RecordResult

Clock = Callable[[], datetime]

IDEMPOTENCY_PERIOD = timedelta(hours=24)
"""How long a request that carries a key is remembered."""
MAX_SESSIONS_FOUND = 20
"""Sessions that one mark leads to."""
SUMMARIES_PER_PAGE = 200
"""How many make a page where all are read: few enough to be gone through in milliseconds."""
COMPRESS_FROM_BYTES = 1024
"""Bodies from this many bytes on are compressed."""
MAX_INVITATIONS = 2_000
"""Invitations of one debate."""


class RepeatedRequest(Struct, frozen=True):
    """A request that was carried out before, as events `first` to `last` of a debate."""

    body_hash: str
    debate_id: str
    first: int
    last: int


def now() -> datetime:
    return datetime.now(UTC)


def epoch_seconds(at: datetime) -> int:
    """Since 1970, as the store writes times that it searches by."""
    return int(at.timestamp())


def append_events(
    debate: Debate | None, debate_id: str, events: Sequence[Event], *, epoch: int, at: datetime
) -> RecordResult:
    """The events in their places in the log, and the state after them."""
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
    """Only the runner that holds the debate's present epoch may write; commands carry none."""
    if epoch is not None and epoch != held:
        raise Fenced


def next_epoch(held: int, seen: int, wanted: int | None) -> int:
    """The epoch of a debate that is taken over."""
    epoch = seen + 1 if wanted is None else wanted
    if held != seen or epoch < held:
        raise Fenced
    return epoch


def unclaimed(debate: Debate | None) -> str:
    """What stands in place of a runner's name where nobody runs the debate."""
    return UNCLAIMED if debate and debate.final and debate.being_judged else ""


def is_unclaimed(before: Debate | None, after: Debate) -> bool:
    """Whether it has just begun to be judged again: from here on somebody must run it."""
    return bool(unclaimed(after)) and not unclaimed(before)


def only_open_calls(debate: Debate, events: Sequence[StreamedEvent]) -> Sequence[StreamedEvent]:
    """Without the words of calls that have ended meanwhile."""
    calls = [call.number for call in debate.calls]
    return [event for event in events if event.call in calls]


def models_changed(before: Debate | None, after: Debate) -> bool:
    """Whether other models may be in it now: seats change hands, and others are asked to judge."""
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


class CachedState(Struct, frozen=True):
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
