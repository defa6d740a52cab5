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
    Replay,
    append,
    claimed,
    fence,
    is_recast,
    is_unclaimed,
    pack,
    still_open,
    unclaimed,
)
from moot.store.contract import UNCLAIMED, Once, Outcome
from moot.store.requests import Claim, Narrate, Record, Shared
from moot.store.state_cache import Known
from moot.views.session_rows import marks
from moot.views.summary import summarize


class Asked(Struct, frozen=True):
    """A request with a key; `first` and `last` count from where its debate stood."""

    once: Once
    part: Part
    first: int
    last: int


Decided = Outcome | Replay | Asked | int


class Part(Struct, eq=False):
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
    asked: list[Asked] = field(default_factory=list[Asked])

    @property
    def born(self) -> bool:
        return not self.place

    @property
    def moved(self) -> bool:
        return bool(self.events or self.bodies or self.asked) or self.runner is not None

    @property
    def weight(self) -> int:
        return sum(len(body) for _, body in self.events) + sum(len(body) for _, body in self.bodies.values())


class Entry(Struct, frozen=True):
    """What an item came to, and the part on whose fate it depends."""

    item: Shared
    part: Part
    result: Decided | None
    error: Exception | None = None

    @property
    def settled(self) -> bool:
        """Without a write: what was decided on a remembered state might be decided otherwise by now."""
        return not self.part.moved and self.part.fresh


class Draft:
    def __init__(
        self,
        known: Mapping[str, Known | None],
        requests: Mapping[tuple[str, str], Replay],
        *,
        at: datetime,
    ) -> None:
        """`known` holds what was looked up just now; None stands for a debate that does not exist."""
        self.at = at
        self.parts: dict[str, Part] = {}
        for debate_id, found in known.items():
            self.remember(debate_id, found, fresh=True)
        self._replays = requests
        self._asked: dict[tuple[str, str], Asked] = {}

    def remember(self, debate_id: str, known: Known | None, *, fresh: bool = False) -> None:
        if known is None:
            self.parts[debate_id] = Part(debate_id, None, 0, fresh=fresh)
            return
        debate = known.debate
        self.parts[debate_id] = Part(
            debate_id,
            debate,
            known.epoch,
            place=known.checked,
            fresh=fresh,
            stood=debate.seq,
            turning=debate.turning,
            seen_epoch=known.epoch,
        )

    def decide(self, item: Shared) -> Entry:
        part = self.parts[item.debate_id]
        try:
            result = self._decided(part, item)
        except Exception as error:
            return Entry(item, part, None, error)
        # A repeated request depends on the first one, even if that concerned another debate.
        return Entry(item, result.part if isinstance(result, Asked) else part, result)

    def _decided(self, part: Part, item: Shared) -> Decided:
        match item:
            case Record():
                return self._record(part, item)
            case Narrate():
                return self._narrate(part, item)
            case Claim():
                return _claim(part, item)

    def _record(self, part: Part, item: Record) -> Outcome | Replay | Asked:
        if item.once and (before := self._seen(item.once)):
            return before
        if part.debate:
            fence(item.epoch, part.epoch)
        held = part.epoch if part.debate else item.epoch or 0
        outcome = append(part.debate, part.id, item.decide(part.debate), epoch=held, at=self.at)
        lines = _lines(outcome)
        shown = summarize(outcome.debate)
        summary = msgspec.json.encode(shown).decode()
        packed = {digest: pack(body) for digest, body in (item.bodies or {}).items()}
        # From here on nothing can fail.
        if is_recast(part.debate, outcome.debate):
            part.cast = shown.cast()
        if part.debate is None:
            part.owner, part.epoch = item.owner, held
        if is_unclaimed(part.debate, outcome.debate):
            part.runner = UNCLAIMED
        part.marks += marks(outcome.debate, outcome.records)
        part.exact |= item.epoch is None and any(is_word(recorded.event) for recorded in outcome.records)
        part.bodies |= packed
        self._write(part, outcome, lines)
        part.summary = summary if part.turn else part.summary
        if item.once:
            asked = Asked(item.once, part, len(part.events) - len(lines) + 1, len(part.events))
            self._asked[item.once.client, item.once.key] = asked
            part.asked.append(asked)
        return outcome

    def _narrate(self, part: Part, item: Narrate) -> Outcome:
        if part.debate is None:
            raise UnknownDebate
        fence(item.epoch, part.epoch)
        words = still_open(part.debate, item.events)
        outcome = append(part.debate, part.id, words, epoch=item.epoch, at=self.at)
        self._write(part, outcome, _lines(outcome))
        return outcome

    def _write(self, part: Part, outcome: Outcome, lines: list[tuple[int, str]]) -> None:
        part.debate = outcome.debate
        for recorded, line in zip(outcome.records, lines, strict=True):
            part.events.append(line)
            if not is_word(recorded.event):
                part.turn = len(part.events)

    def _seen(self, once: Once) -> Asked | Replay | None:
        who = once.client, once.key
        before = self._asked.get(who) or self._replays.get(who)
        given = before.once.body_hash if isinstance(before, Asked) else before and before.body_hash
        if before and given != once.body_hash:
            raise KeyReused
        return before


def _claim(part: Part, item: Claim) -> int:
    if part.debate is None:
        raise UnknownDebate
    part.epoch = claimed(part.epoch, item.seen_epoch, item.epoch)
    part.runner = item.runner or unclaimed(part.debate)
    return part.epoch


def _lines(outcome: Outcome) -> list[tuple[int, str]]:
    return [(recorded.epoch, encode(recorded.event).decode()) for recorded in outcome.records]


def is_word(event: Event) -> bool:
    return isinstance(event, CallDelta | SegmentCompleted)
