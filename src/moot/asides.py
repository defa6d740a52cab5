"""What is asked beside the speeches, and what follows from the answers.

An aside is a short question to one seat, or to a judge as referee: to make notes before a speech; whether one
rises on a point of information, and whether the speaker takes it; whether one has conceded, and whether that
is so. It is never part of a speech, nobody else hears it, and no answer means no.
"""

from __future__ import annotations

import re

from msgspec import Struct

from moot.debate import Aside, Debate, Turn
from moot.events import PointRaised, TurnSkipped
from moot.prompts.templates import CONCEDE
from moot.schedule import benches, opposed
from moot.terms import AsideKind, Slot

ANSWER_SECONDS = 30.0
"""How long a person has to say whether they take a point."""


HINTS = re.compile(
    r"\bI (?:hereby |must |have to |do |now |fully |honestly )*"
    r"(?:concede|give way|stand corrected|withdraw my)\b"
    r"|\bI (?:have been|was|am) (?:honestly |fully )?(?:persuaded|convinced) (?:by|that)\b"
    r"|\b(?:my opponent|the other side|you) (?:has|have|is|are) (?:won me over|right, and I)\b",
    re.IGNORECASE,
)


class Question(Struct, frozen=True):
    kind: AsideKind
    slot: int
    seat: str | None = None
    judge: str | None = None
    turn: int | None = None
    about: str = ""


def due(debate: Debate) -> tuple[Question, ...]:
    """What has to be asked before the debate goes on."""
    last = _last(debate)
    if last is not None and (questions := _of_concession(debate, last)):
        return questions
    following = debate.unspent()
    if not following:
        return ()
    at_break = last is not None and _pauses(debate, last, following[0])
    if last is not None and at_break and (questions := _of_points(debate, last)):
        return questions
    return _of_notes(debate, following)


def followed(debate: Debate) -> tuple[PointRaised | TurnSkipped, ...]:
    """What is known now that nobody has written down: a point was taken or not, a speech falls out."""
    unspent = debate.unspent()
    if not unspent:
        return ()
    last = _last(debate)
    if last is not None and _pauses(debate, last, unspent[0]) and (point := _raised(debate, last)):
        return (point,)
    return _falls_out(debate, unspent[0])


def _last(debate: Debate) -> Turn | None:
    """The latest speech that counts."""
    return next((turn for turn in reversed(debate.turns) if turn.spent), None)


def _asides(debate: Debate, kind: AsideKind, turn: int) -> tuple[Aside, ...]:
    return tuple(aside for aside in debate.asides if aside.kind == kind and aside.turn == turn)


# --- points of information ----------------------------------------------------------------------------


def _pauses(debate: Debate, last: Turn, following: Slot) -> bool:
    """The speech stands at its break, where points may be offered."""
    slot = debate.schedule[last.slot]
    return following.tone == "continuation" and (following.phase, following.seat) == (slot.phase, slot.seat)


def _of_points(debate: Debate, turn: Turn) -> tuple[Question, ...]:
    if any(point.turn == turn.number for point in debate.points) or not turn.said:
        return ()
    asked = {aside.seat for aside in _asides(debate, "point", turn.number)}
    others = [
        seat
        for bench in benches(debate.seats)
        for seat in bench
        if opposed(debate.seats, seat.id, turn.seat) and not seat.model.human and seat.id not in asked
    ]
    if others:
        return tuple(Question("point", turn.slot, seat.id, turn=turn.number) for seat in others)
    if _rising(debate, turn) is not None and not _asides(debate, "leave", turn.number):
        return (Question("leave", turn.slot, turn.seat, turn=turn.number),)
    return ()


def _rising(debate: Debate, turn: Turn) -> Aside | None:
    """Who rises: of several, the one who has been heard least."""
    risen = [aside for aside in _asides(debate, "point", turn.number) if aside.yes and aside.text]
    taken = [point.seat for point in debate.points if point.accepted]
    return min(risen, key=lambda aside: (taken.count(aside.seat or ""), aside.number), default=None)


def _raised(debate: Debate, turn: Turn) -> PointRaised | None:
    if any(point.turn == turn.number for point in debate.points):
        return None
    rising = _rising(debate, turn)
    leave = next(iter(_asides(debate, "leave", turn.number)), None)
    if rising is None or leave is None or rising.seat is None:
        return None
    return PointRaised(len(debate.points) + 1, turn.number, rising.seat, leave.yes, rising.text)


# --- notes --------------------------------------------------------------------------------------------


def _of_notes(debate: Debate, unspent: tuple[Slot, ...]) -> tuple[Question, ...]:
    """Before a speech, never within a cross-examination or in the middle of one."""
    if not (debate.manner.prep and debate.format.prep_words):
        return ()
    following = unspent[0]
    if not debate.manner.auto and following.round > debate.rounds_asked:
        return ()
    made = {(aside.slot, aside.seat) for aside in debate.asides if aside.kind == "notes"}
    return tuple(
        Question("notes", slot.index, slot.seat)
        for slot in unspent
        if slot.group == following.group and (slot.index, slot.seat) not in made and prepares(debate, slot)
    )


def prepares(debate: Debate, slot: Slot) -> bool:
    seat = debate.seat(slot.seat)
    speaks = debate.format.phases[slot.phase].kind == "speech" and slot.tone != "continuation"
    return speaks and seat.role == "debater" and not (seat.model.human or seat.model.small)


# --- speeches that fall out ---------------------------------------------------------------------------


def _falls_out(debate: Debate, slot: Slot) -> tuple[TurnSkipped, ...]:
    phase = debate.format.phases[slot.phase]
    if phase.kind == "questions" and not any(remark.question for remark in debate.remarks):
        return (TurnSkipped(slot.index, slot.seat, "no questions"),)
    if phase.clock and clock_left(debate, slot) <= 0:
        return (TurnSkipped(slot.index, slot.seat, "clock"),)
    return ()


def clock_left(debate: Debate, slot: Slot) -> int:
    """Words that the side of this slot still has, where the row is on a clock."""
    bench = next((bench for bench in benches(debate.seats) if any(s.id == slot.seat for s in bench)), ())
    side = {seat.id for seat in bench}
    spoken = sum(
        turn.words
        for turn in debate.turns
        if turn.said and turn.seat in side and _same_row(debate.schedule[turn.slot], slot)
    )
    return debate.format.phases[slot.phase].clock - spoken


def _same_row(one: Slot, other: Slot) -> bool:
    return (one.phase, one.round) == (other.phase, other.round)


# --- concession ---------------------------------------------------------------------------------------


def _of_concession(debate: Debate, turn: Turn) -> tuple[Question, ...]:
    """Words that sound like giving way are only a hint: the debater is asked, and then a referee."""
    hint = hint_of(debate, turn)
    if not hint:
        return ()
    own = _asides(debate, "concession", turn.number)
    person = debate.seat(turn.seat).model.human
    if not own and not person:
        return (Question("concession", turn.slot, turn.seat, turn=turn.number, about=hint),)
    if _asides(debate, "referee", turn.number) or not (person or own[-1].yes):
        return ()
    referee = next((judge.id for judge in debate.panel if not judge.model.human), None)
    if referee is None and person:
        return ()
    seat = turn.seat if referee is None else None
    return (Question("referee", turn.slot, seat, referee, turn.number, hint),)


def hint_of(debate: Debate, turn: Turn) -> str:
    """The words of a speech that sound like giving way; empty where there are none, or nobody may."""
    if debate.format.scripted or debate.manner.winning != "self-terminate" or not turn.said:
        return ""
    lines = turn.text.strip().splitlines()
    if lines[-1].strip().casefold() == CONCEDE.casefold():
        return lines[-1].strip()
    if debate.seat(turn.seat).model.human:
        return ""
    found = HINTS.search(turn.text)
    return found[0] if found else ""


def granted(debate: Debate) -> Aside | None:
    """The referee's word that the last speaker has conceded."""
    last = _last(debate)
    if last is None:
        return None
    return next((aside for aside in _asides(debate, "referee", last.number) if aside.yes), None)
