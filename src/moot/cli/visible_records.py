"""The events that people at this terminal may see: a person who argues or judges sees no reasoning."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from moot.cli.lookup import seat_id
from moot.core.events import (
    BallotCast,
    BallotSpoiled,
    CallCompleted,
    CallDelta,
    CallFailed,
    CallStarted,
    DebateFailed,
    Event,
    JudgingFailed,
    Recorded,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    VerdictReached,
)
from moot.core.evolve import evolve
from moot.core.state import Call, Debate
from moot.core.visibility import Viewer, is_withheld, visible_event
from moot.judging.audience_votes import votes_revealed
from moot.rules.turn_by_turn import is_unasked


class PeopleHere(Struct, frozen=True):
    """The people at this terminal: ids of their seats, and of the judges they are."""

    seats: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.seats or self.judges)

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        if not self.seats:
            return (Viewer("judge"),)
        return tuple(Viewer("participant", seat) for seat in self.seats)


def all_people(debate: Debate) -> PeopleHere:
    """All people who take part."""
    judging = debate.judging.judges if debate.judging and debate.being_judged else debate.panel
    return PeopleHere(
        tuple(seat.id for seat in debate.seats if seat.model.human and not is_unasked(debate, seat)),
        tuple(judge.id for judge in judging if judge.model.human),
    )


def person_at(debate: Debate, typed: str) -> PeopleHere:
    """The person at a seat or in a judge's place, by name or id. Raises Invalid."""
    folded = typed.strip().casefold()
    judges = [
        judge.id
        for judge in (*debate.judges, *(debate.judging.judges if debate.judging else ()))
        if folded in (judge.id, judge.name.casefold()) and judge.model.human
    ]
    return PeopleHere(judges=(judges[0],)) if judges else PeopleHere(seats=(seat_id(debate, typed),))


class VisibleRecords:
    """What one person at this terminal may see, all of them see."""

    def __init__(self, people_here: PeopleHere, debate: Debate | None = None) -> None:
        self._viewers = people_here.viewers
        self._judges = people_here.judges
        self._debate = debate
        self._sealed: list[Recorded] = []
        self._veiled: dict[int, list[Recorded]] = {}

    def visible(self, recorded: Recorded) -> tuple[Recorded, ...]:
        """Mostly one. A speech that is given at the same time as their own is held back as a whole until they
        have spoken; what other judges have decided is opened together with the verdict."""
        call = _call_of(self._debate, recorded.event)
        turn = call.turn if call else _turn_of(recorded.event)
        self._debate = debate = evolve(self._debate, recorded)
        if turn is not None and is_hidden(debate, turn, self._viewers):
            self._veiled.setdefault(turn, []).append(recorded)
            return ()
        if self._judges and call and call.judge is not None and isinstance(recorded.event, CallDelta):
            return ()
        lifted = [number for number in self._veiled if not is_hidden(debate, number, self._viewers)]
        held = [one for number in lifted for one in self._veiled.pop(number)]
        return (*self._shown(recorded), *(visible for one in held for visible in self._shown(one)))

    def with_votes(self, debate: Debate) -> Debate:
        """Return the debate with its votes, which no record shows, once their result is public."""
        if self._debate is None or not votes_revealed(self._debate):
            return debate
        return replace(debate, votes=self._debate.votes)

    def _shown(self, recorded: Recorded) -> tuple[Recorded, ...]:
        if self._debate is None:
            return ()
        if self._judges and (judge := _judge_of(recorded.event)) is not None:
            if judge in self._judges:
                return (recorded,)
            self._sealed.append(recorded)
            return ()
        views = (visible_event(self._debate, recorded, viewer) for viewer in self._viewers)
        first = next((one for one in views if one is not None), None)
        if first is None or not isinstance(recorded.event, VerdictReached | JudgingFailed | DebateFailed):
            return () if first is None else (first,)
        opened, self._sealed = self._sealed, []
        return (*opened, first)


def is_hidden(debate: Debate, turn: int, viewers: tuple[Viewer, ...]) -> bool:
    """Whether none of the viewers may read that speech yet."""
    return all(is_withheld(debate, turn, viewer) for viewer in viewers)


def _call_of(debate: Debate | None, event: Event) -> Call | None:
    """`debate` is the state before the event: the call may end with it."""
    if debate is None or not isinstance(event, CallDelta | SegmentCompleted | CallCompleted | CallFailed):
        return None
    return debate.call(event.call)


def _turn_of(event: Event) -> int | None:
    if isinstance(event, TurnStarted | TurnCompleted | TurnFailed | TurnInterrupted | CallStarted):
        return event.turn
    return None


def _judge_of(event: Event) -> str | None:
    """Whose ballot it is."""
    match event:
        case BallotCast():
            return event.ballot.judge
        case BallotSpoiled():
            return event.judge
        case _:
            return None
