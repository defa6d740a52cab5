"""Participants for readers: seats and judges by name, without anything secret.

A seat is shown by its model where that tells the seats apart ("gpt-6-luna"), and by its own name where a
person has it or several seats have the same model ("Proposition"). Page, terminal, lists and exports all take
the name from here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from moot.core.json_types import choose
from moot.core.state import Debate
from moot.core.terms import SEAT_COLOURS, Judge, Seat, Side
from moot.rules.turn_by_turn import is_unasked
from moot.views.transcript_shapes import DebateJudge, DebateParticipant

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
    shown: str = ""
    """The name by which readers see it; see `shown_names`."""

    @property
    def who(self) -> str:
        """Who speaks from this seat, in words."""
        if self.person:
            return "a person"
        if not self.model:
            return "nobody yet"
        return f"{self.model}, for a person who left" if self.left else self.model


def participants(debate: Debate) -> dict[str, ParticipantView]:
    """By seat id, in the order of the seats."""
    unasked = {seat.id: is_unasked(debate, seat) for seat in debate.seats}
    labels = ("" if unasked[seat.id] or seat.model.human else seat.model.label for seat in debate.seats)
    shown = shown_names([(seat.name, label) for seat, label in zip(debate.seats, labels, strict=True)])
    return {
        seat.id: _participant(seat, index, name, unasked=unasked[seat.id])
        for index, (seat, name) in enumerate(zip(debate.seats, shown, strict=True))
    }


def short_model(label: str) -> str:
    """The model without its provider and folders: openai/gpt-6-luna is gpt-6-luna."""
    return label.rpartition("/")[2] or label


def shown_names(seats: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The names of seats for readers, from their names and model labels; the label of a person is empty."""
    labels = Counter(label for _, label in seats if label)
    shorts = Counter(short_model(label) for label in labels)
    return tuple(_shown_name(name, label, labels, shorts) for name, label in seats)


def _shown_name(name: str, label: str, labels: Counter[str], shorts: Counter[str]) -> str:
    if not label or labels[label] > 1:
        return name
    return short_model(label) if shorts[short_model(label)] == 1 else label


def listed_names(names: Iterable[str]) -> str:
    """Ann; Ann and Bob; Ann, Bob and Cid."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _participant(seat: Seat, index: int, shown: str, *, unasked: bool) -> ParticipantView:
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
        shown=shown,
    )


def participant(seat: ParticipantView) -> DebateParticipant:
    return choose(DebateParticipant, seat, position=seat.side, color=seat.colour)


def judge_seat(judge: Judge) -> DebateJudge:
    return choose(DebateJudge, judge, model=judge.model.label, person=judge.model.human)


def seat_style(seat: ParticipantView) -> str:
    """Return the seat's colour as a style; anything but a hex colour is replaced, as it could inject one."""
    colour = seat.colour if _HEX.match(seat.colour) else SEAT_COLOURS[seat.place % len(SEAT_COLOURS)]
    return f"--seat: {colour}"
