"""A debate as those at this terminal may see it: who argues or judges by hand reads nobody's mind."""

from __future__ import annotations

from msgspec import Struct

from moot.audience import Viewer, visible
from moot.cli.seating import seat_id
from moot.debate import Debate
from moot.events import BallotCast, BallotSpoiled, Recorded, VerdictReached
from moot.evolve import evolve


class Attendance(Struct, frozen=True):
    """The seats and the judges' places of those who sit at this terminal, by id."""

    seats: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.seats or self.judges)

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        if not self.seats:
            return (Viewer("judge"),)
        return tuple(Viewer("participant", seat) for seat in self.seats)


def people(debate: Debate) -> Attendance:
    """Everybody of flesh and blood who takes part."""
    judging = debate.judging.judges if debate.judging and debate.being_judged else debate.panel
    return Attendance(
        tuple(seat.id for seat in debate.seats if seat.model.human),
        tuple(judge.id for judge in judging if judge.model.human),
    )


def sitting(debate: Debate, given: str) -> Attendance:
    """One of them, by what people call the place."""
    wanted = given.strip().casefold()
    judges = [
        judge.id
        for judge in (*debate.judges, *(debate.judging.judges if debate.judging else ()))
        if wanted in (judge.id, judge.name.casefold()) and judge.model.human
    ]
    return Attendance(judges=(judges[0],)) if judges else Attendance(seats=(seat_id(debate, given),))


class Eyes:
    """What one of those at this terminal may see, all of them see."""

    def __init__(self, who: Attendance, debate: Debate | None = None) -> None:
        self._viewers = who.viewers
        self._debate = debate
        self._sealed: list[Recorded] = []

    def see(self, recorded: Recorded) -> tuple[Recorded, ...]:
        """Mostly one. What other judges have decided is opened together with the verdict."""
        self._debate = evolve(self._debate, recorded)
        shown = (visible(self._debate, recorded, viewer) for viewer in self._viewers)
        first = next((one for one in shown if one is not None), None)
        if first is None:
            self._sealed += [recorded] if isinstance(recorded.event, BallotCast | BallotSpoiled) else []
            return ()
        if not isinstance(recorded.event, VerdictReached):
            return (first,)
        opened, self._sealed = self._sealed, []
        return (*opened, first)
