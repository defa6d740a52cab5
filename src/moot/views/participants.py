"""Participants for readers: seats and judges by name, without anything secret."""

from __future__ import annotations

import re

from msgspec import Struct

from moot.core.state import Debate
from moot.core.terms import SEAT_COLOURS, Judge, Seat, Side
from moot.rules.turn_sessions import is_unasked

_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z|#[0-9a-fA-F]{3}\Z")


class ParticipantView(Struct, frozen=True):
    id: str
    name: str
    model: str
    side: Side
    colour: str
    place: int
    persona: str = ""
    team: str = ""
    person: bool = False
    """A person has the seat."""
    stand_in: str = ""
    """The model that speaks when that person is absent."""
    left: bool = False
    """A person had the seat and left; the stand-in speaks since."""

    @property
    def who(self) -> str:
        """Who speaks from this seat, in words."""
        if self.person:
            return "a person"
        if not self.model:
            return "nobody yet"
        return f"{self.model}, for a person who left" if self.left else self.model


class JudgeView(Struct, frozen=True):
    id: str
    name: str
    model: str
    person: bool = False
    recused: str = ""
    """Why this judge was not asked; empty where it was."""

    @property
    def who(self) -> str:
        return "a person" if self.person else self.model


def participants(debate: Debate) -> dict[str, ParticipantView]:
    """By seat id, in the order of the seats."""
    return {
        seat.id: _participant(seat, index, unasked=is_unasked(debate, seat))
        for index, seat in enumerate(debate.seats)
    }


def _participant(seat: Seat, index: int, *, unasked: bool) -> ParticipantView:
    return ParticipantView(
        id=seat.id,
        name=seat.name,
        model="" if unasked else seat.model.label,
        side=seat.side,
        colour=seat.colour,
        place=index,
        persona=seat.persona,
        team=seat.team,
        person=seat.model.human and not unasked,
        stand_in=seat.stand_in.label if seat.stand_in else "",
        left=seat.stand_in is not None and not seat.model.human,
    )


def judge_seat(judge: Judge) -> JudgeView:
    return JudgeView(judge.id, judge.name, judge.model.label, judge.model.human, judge.recused)


def seat_style(seat: ParticipantView) -> str:
    """Return the seat's colour as a style; anything but a hex colour is replaced, as it could inject one."""
    colour = seat.colour if _HEX.match(seat.colour) else SEAT_COLOURS[seat.place % len(SEAT_COLOURS)]
    return f"--seat: {colour}"
