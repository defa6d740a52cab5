"""Writing to the log, as every store does it: numbering and folding events, deciding requests in batches.

Several requests are decided and written together, as a `Batch`. A request changes the batch only when nothing
in it can fail any more, so one that raises leaves the others alone. Nothing here knows whether the batch will
be written. In PostgreSQL another process may have appended to a debate meanwhile; positions in the log are
therefore counted from where the debate stood, and the database says where that was.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from asyncio import Future
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct, field

from moot.core.errors import Fenced, KeyReused, UnknownDebate
from moot.core.events import Event, Recorded, StreamedEvent, encode
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.rules.turn_by_turn import lookup_keys
from moot.store.contract import (
    UNCLAIMED,
    AppendStreamed,
    DecideOnHead,
    IdempotencyKey,
    Listener,
    RecordResult,
    Reply,
)
from moot.views.summary import summarize

COMPRESS_FROM_BYTES = 1024
"""Bodies from this many bytes on are compressed."""

# --- requests -----------------------------------------------------------------------------------------


class RecordEvents(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    decide: DecideOnHead
    epoch: int | None
    owner: str
    once: IdempotencyKey | None
    bodies: Mapping[str, bytes] | None


class ClaimDebate(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    runner: str
    seen_epoch: int | None
    epoch: int | None


BatchRequest = RecordEvents | AppendStreamed | ClaimDebate

# --- one debate ---------------------------------------------------------------------------------------


def now() -> datetime:
    return datetime.now(UTC)


class CachedState(Struct, frozen=True, gc=False):
    """A state as it was committed. It is the head only if `checked` says so: in SQLite it is the generation
    in which it was checked, in PostgreSQL the row number of the debate, which a debate that was deleted and
    opened again does not keep."""

    debate: Debate
    epoch: int = 0
    checked: int = -1


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


# --- deciding -----------------------------------------------------------------------------------------


class RepeatedRequest(Struct, frozen=True):
    """A request that was carried out before and wrote events `first` to `last` of a debate."""

    body_hash: str
    debate_id: str
    first: int
    last: int


class KeyedRequest(Struct, frozen=True):
    """A request with a key; `first` and `last` count from where its debate stood."""

    once: IdempotencyKey
    part: DebateAppend
    first: int
    last: int

    def at(self, stood: int) -> RepeatedRequest:
        return RepeatedRequest(self.once.body_hash, self.part.id, stood + self.first, stood + self.last)


Decided = RecordResult | RepeatedRequest | KeyedRequest | int


class DebateAppend(Struct, eq=False):
    """What the batch appends to one debate. A debate that does not exist stands at 0."""

    id: str
    debate: Debate | None
    """The state after the batch."""
    epoch: int
    place: int = 0
    fresh: bool = False
    """Its state was read for this batch; otherwise it is a cached one."""
    owner: str = ""
    runner: str | None = None
    stood: int = 0
    unstreamed_seq: int = 0
    seen_epoch: int = 0
    exact: bool = False
    """Not even a word may have been added meanwhile: what a person types continues the text on the screen."""
    events: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Epoch and body of each."""
    turn: int = 0
    """The position in `events` of the last one that is no word; 0 where there is none."""
    summary: str = ""
    cast: tuple[str, ...] = ()
    """The models in it, where they may have changed."""
    marks: tuple[str, ...] = ()
    """Keys under which its sessions are found from now on."""
    bodies: Mapping[str, tuple[bool, bytes]] = MappingProxyType({})
    keyed: tuple[KeyedRequest, ...] = ()

    @property
    def is_new(self) -> bool:
        return not self.stood

    @property
    def has_words_only(self) -> bool:
        """Whether nothing is appended but streamed text, as in nearly all batches."""
        changes = self.turn or self.cast or self.marks or self.bodies or self.keyed
        return self.stood > 0 and not changes and self.runner is None

    @property
    def has_changes(self) -> bool:
        return bool(self.events or self.bodies or self.keyed) or self.runner is not None

    @property
    def size(self) -> int:
        return sum(len(body) for _, body in self.events) + sum(len(body) for _, body in self.bodies.values())


class Batch(ABC):
    def __init__(self, at: datetime) -> None:
        self.at = at
        self.parts: dict[str, DebateAppend] = {}
        self._keyed: dict[tuple[str, str], KeyedRequest] = {}

    @abstractmethod
    def load(self, debate_id: str) -> CachedState | None:
        """The state of a debate; None where it does not exist."""
        ...

    @abstractmethod
    def find_request(self, once: IdempotencyKey) -> RepeatedRequest | None:
        """A stored request that has not expired."""
        ...

    def add_debate(self, debate_id: str, known: CachedState | None, *, fresh: bool = False) -> DebateAppend:
        if known is None:
            part = DebateAppend(debate_id, None, 0, fresh=fresh)
        else:
            part = DebateAppend(
                debate_id,
                known.debate,
                known.epoch,
                place=known.checked,
                fresh=fresh,
                stood=known.debate.seq,
                unstreamed_seq=known.debate.unstreamed_seq,
                seen_epoch=known.epoch,
            )
        self.parts[debate_id] = part
        return part

    def decide(self, request: BatchRequest) -> Decided:
        """Raises what the request's own decision raises; the batch is as before then."""
        debate_id = request.debate_id
        part = self.parts.get(debate_id) or self.add_debate(debate_id, self.load(debate_id))
        # Nearly all requests append words.
        if isinstance(request, AppendStreamed):
            return self._append_streamed(part, request)
        return self._record(part, request) if isinstance(request, RecordEvents) else _claim(part, request)

    def find_repeated(self, once: IdempotencyKey) -> RepeatedRequest | KeyedRequest | None:
        """The request with this key, carried out before or in this batch. Raises KeyReused."""
        earlier = self._keyed.get((once.client, once.key)) or self.find_request(once)
        if earlier is None:
            return None
        request = earlier.once if isinstance(earlier, KeyedRequest) else earlier
        if request.body_hash != once.body_hash:
            raise KeyReused
        return earlier

    def _record(
        self, part: DebateAppend, request: RecordEvents
    ) -> RecordResult | RepeatedRequest | KeyedRequest:
        if request.once and (earlier := self.find_repeated(request.once)):
            return earlier
        if part.debate:
            check_epoch(request.epoch, part.epoch)
        epoch = part.epoch if part.debate else request.epoch or 0
        outcome = append_events(part.debate, part.id, request.decide(part.debate), epoch=epoch, at=self.at)
        rows = _event_rows(outcome)
        stored_summary = summarize(outcome.debate)
        summary = msgspec.json.encode(stored_summary).decode()
        packed = {digest: pack(body) for digest, body in (request.bodies or {}).items()}
        # From here on nothing can fail.
        if models_changed(part.debate, outcome.debate):
            part.cast = stored_summary.model_names()
        if part.debate is None:
            part.owner, part.epoch = request.owner, epoch
        if is_unclaimed(part.debate, outcome.debate):
            part.runner = UNCLAIMED
        if outcome.debate.is_session:
            part.marks += lookup_keys(outcome.debate, outcome.records)
        part.exact |= request.epoch is None and any(
            isinstance(record.event, StreamedEvent) for record in outcome.records
        )
        if packed:
            part.bodies = {**part.bodies, **packed}
        _add_events(part, outcome, rows)
        part.summary = summary if part.turn else part.summary
        if request.once:
            keyed = KeyedRequest(request.once, part, len(part.events) - len(rows) + 1, len(part.events))
            self._keyed[request.once.client, request.once.key] = keyed
            part.keyed += (keyed,)
        return outcome

    def _append_streamed(self, part: DebateAppend, request: AppendStreamed) -> RecordResult:
        if part.debate is None:
            raise UnknownDebate
        check_epoch(request.epoch, part.epoch)
        words = only_open_calls(part.debate, request.events)
        outcome = append_events(part.debate, part.id, words, epoch=request.epoch, at=self.at)
        part.events += _event_rows(outcome)
        part.debate = outcome.debate
        return outcome


def _claim(part: DebateAppend, request: ClaimDebate) -> int:
    if part.debate is None:
        raise UnknownDebate
    part.epoch = next_epoch(part.epoch, request.seen_epoch, request.epoch)
    part.runner = request.runner or unclaimed(part.debate)
    return part.epoch


def _event_rows(outcome: RecordResult) -> list[tuple[int, str]]:
    return [(record.epoch, encode(record.event).decode()) for record in outcome.records]


def _add_events(part: DebateAppend, outcome: RecordResult, rows: list[tuple[int, str]]) -> None:
    part.debate = outcome.debate
    for record, row in zip(outcome.records, rows, strict=True):
        part.events.append(row)
        if not isinstance(record.event, StreamedEvent):
            part.turn = len(part.events)


# --- answers ------------------------------------------------------------------------------------------


class Deleted(Struct, frozen=True):
    debate_id: str


WriterAnswer = tuple[Reply, object, Exception | None]
"""The reply that is waiting, the result, and the error where there is one."""


def deliver_answers(answers: Sequence[WriterAnswer], listeners: Sequence[Listener]) -> None:
    """On the event loop: listeners first, even where the request was cancelled, then those who wait."""
    try:
        for _, result, _ in answers:
            if isinstance(result, RecordResult) and result.records:
                for listener in listeners:
                    listener(result.debate.id, result.records)
            elif isinstance(result, Deleted):
                for listener in listeners:
                    listener(result.debate_id, None)
    finally:
        for reply, result, error in answers:
            if reply.done():
                continue
            if error:
                reply.set_exception(error)
            else:
                reply.set_result(result)
