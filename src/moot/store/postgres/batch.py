"""One append in the making: what is asked is decided on the states at hand, debate by debate. Pure.

Nothing here knows whether it will be written. A debate that another process has moved meanwhile writes
nothing, and all that was decided on it, its refusals too, is decided again on what the debate has become.
So places in the log are counted from where the debate stood: the database says where that was.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec import Struct, field

from moot.core.errors import KeyReused, UnknownDebate
from moot.core.events import CallDelta, Event, SegmentCompleted, encode
from moot.core.state import Debate
from moot.store.append import (
    RepeatedRequest,
    append_events,
    check_epoch,
    is_unclaimed,
    models_changed,
    next_epoch,
    only_open_calls,
    pack,
    unclaimed,
)
from moot.store.contract import UNCLAIMED, IdempotencyKey, RecordResult
from moot.store.requests import AppendStreamed, BatchRequest, ClaimDebate, RecordEvents
from moot.store.state_cache import CachedState
from moot.views.session_rows import lookup_keys
from moot.views.summary import summarize


class KeyedRequest(Struct, frozen=True):
    """A request with a key; `first` and `last` count from where its debate stood."""

    once: IdempotencyKey
    part: DebateAppend
    first: int
    last: int


Decided = RecordResult | RepeatedRequest | KeyedRequest | int


class DebateAppend(Struct, eq=False):
    """One debate's share of the append. A debate that does not exist stands at 0."""

    id: str
    debate: Debate | None
    """As it would be then."""
    epoch: int
    place: int = 0
    fresh: bool = False
    """Its state was looked up for this append."""
    owner: str = ""
    runner: str | None = None
    stood: int = 0
    turning: int = 0
    seen_epoch: int = 0
    exact: bool = False
    """Not even a word may have been added meanwhile: what a person types goes on from what is shown."""
    events: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Epoch and body of each."""
    turn: int = 0
    """Which of them is the last that is no word; 0 where none is."""
    summary: str = ""
    cast: tuple[str, ...] = ()
    """The models in it, where they may have changed."""
    marks: tuple[str, ...] = ()
    bodies: dict[str, tuple[bool, bytes]] = field(default_factory=dict[str, tuple[bool, bytes]])
    asked: list[KeyedRequest] = field(default_factory=list[KeyedRequest])

    @property
    def is_new(self) -> bool:
        return not self.place

    @property
    def has_changes(self) -> bool:
        return bool(self.events or self.bodies or self.asked) or self.runner is not None

    @property
    def weight(self) -> int:
        return sum(len(body) for _, body in self.events) + sum(len(body) for _, body in self.bodies.values())


class BatchEntry(Struct, frozen=True):
    """What an item came to, and the part on whose fate it depends."""

    item: BatchRequest
    part: DebateAppend
    result: Decided | None
    error: Exception | None = None

    @property
    def settled(self) -> bool:
        """Without a write: what was decided on a remembered state might be decided otherwise by now."""
        return not self.part.has_changes and self.part.fresh


class PostgresBatch:
    def __init__(
        self,
        known: Mapping[str, CachedState | None],
        requests: Mapping[tuple[str, str], RepeatedRequest],
        *,
        at: datetime,
    ) -> None:
        """`known` holds what was looked up just now; None stands for a debate that does not exist."""
        self.at = at
        self.parts: dict[str, DebateAppend] = {}
        for debate_id, found in known.items():
            self.add_debate(debate_id, found, fresh=True)
        self._replays = requests
        self._asked: dict[tuple[str, str], KeyedRequest] = {}

    def add_debate(self, debate_id: str, known: CachedState | None, *, fresh: bool = False) -> None:
        if known is None:
            self.parts[debate_id] = DebateAppend(debate_id, None, 0, fresh=fresh)
            return
        debate = known.debate
        self.parts[debate_id] = DebateAppend(
            debate_id,
            debate,
            known.epoch,
            place=known.checked,
            fresh=fresh,
            stood=debate.seq,
            turning=debate.turning,
            seen_epoch=known.epoch,
        )

    def decide(self, item: BatchRequest) -> BatchEntry:
        part = self.parts[item.debate_id]
        try:
            result = self._result_of(part, item)
        except Exception as error:
            return BatchEntry(item, part, None, error)
        # A repeated request depends on the first one, even if that concerned another debate.
        return BatchEntry(item, result.part if isinstance(result, KeyedRequest) else part, result)

    def _result_of(self, part: DebateAppend, item: BatchRequest) -> Decided:
        match item:
            case RecordEvents():
                return self._record(part, item)
            case AppendStreamed():
                return self._append_streamed(part, item)
            case ClaimDebate():
                return _claim(part, item)

    def _record(
        self, part: DebateAppend, item: RecordEvents
    ) -> RecordResult | RepeatedRequest | KeyedRequest:
        if item.once and (before := self._repeated(item.once)):
            return before
        if part.debate:
            check_epoch(item.epoch, part.epoch)
        held = part.epoch if part.debate else item.epoch or 0
        outcome = append_events(part.debate, part.id, item.decide(part.debate), epoch=held, at=self.at)
        lines = _event_rows(outcome)
        shown = summarize(outcome.debate)
        summary = msgspec.json.encode(shown).decode()
        packed = {digest: pack(body) for digest, body in (item.bodies or {}).items()}
        # From here on nothing can fail.
        if models_changed(part.debate, outcome.debate):
            part.cast = shown.model_names()
        if part.debate is None:
            part.owner, part.epoch = item.owner, held
        if is_unclaimed(part.debate, outcome.debate):
            part.runner = UNCLAIMED
        part.marks += lookup_keys(outcome.debate, outcome.records)
        part.exact |= item.epoch is None and any(is_streamed(recorded.event) for recorded in outcome.records)
        part.bodies |= packed
        self._write(part, outcome, lines)
        part.summary = summary if part.turn else part.summary
        if item.once:
            asked = KeyedRequest(item.once, part, len(part.events) - len(lines) + 1, len(part.events))
            self._asked[item.once.client, item.once.key] = asked
            part.asked.append(asked)
        return outcome

    def _append_streamed(self, part: DebateAppend, item: AppendStreamed) -> RecordResult:
        if part.debate is None:
            raise UnknownDebate
        check_epoch(item.epoch, part.epoch)
        words = only_open_calls(part.debate, item.events)
        outcome = append_events(part.debate, part.id, words, epoch=item.epoch, at=self.at)
        self._write(part, outcome, _event_rows(outcome))
        return outcome

    def _write(self, part: DebateAppend, outcome: RecordResult, lines: list[tuple[int, str]]) -> None:
        part.debate = outcome.debate
        for recorded, line in zip(outcome.records, lines, strict=True):
            part.events.append(line)
            if not is_streamed(recorded.event):
                part.turn = len(part.events)

    def _repeated(self, once: IdempotencyKey) -> KeyedRequest | RepeatedRequest | None:
        who = once.client, once.key
        before = self._asked.get(who) or self._replays.get(who)
        given = before.once.body_hash if isinstance(before, KeyedRequest) else before and before.body_hash
        if before and given != once.body_hash:
            raise KeyReused
        return before


def _claim(part: DebateAppend, item: ClaimDebate) -> int:
    if part.debate is None:
        raise UnknownDebate
    part.epoch = next_epoch(part.epoch, item.seen_epoch, item.epoch)
    part.runner = item.runner or unclaimed(part.debate)
    return part.epoch


def _event_rows(outcome: RecordResult) -> list[tuple[int, str]]:
    return [(recorded.epoch, encode(recorded.event).decode()) for recorded in outcome.records]


def is_streamed(event: Event) -> bool:
    return isinstance(event, CallDelta | SegmentCompleted)
