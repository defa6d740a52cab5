"""What debaters, a judge and the model audience believed while a debate was held, speech by speech.

A debater says how likely its own side is to win, a judge how likely each party is. In a debate of two parties
everything is also given as the chance of the first party, so that it can be drawn on one axis. The *turning
point* is the speech after which the judge's belief in one of the parties moved most. Only those who may read
reasoning get a report. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from moot.core.state import Aside, Debate
from moot.core.visibility import OWNER, Viewer, may_read_reasoning
from moot.extensions.beliefs.model_audience import model_tally
from moot.judging.parties import Party, parties, party_of
from moot.views.outcome import party_name
from moot.views.participants import ParticipantView, participants
from moot.views.poll_results import PollReport, report_from_tally

SURE = 0.75
"""A debater that gives itself at least this is counted as sure of winning."""
BEFORE_FIRST = "Before the first speech"


class BeliefPoint(Struct, frozen=True):
    """One speech, or the time before the first. A belief is None where it was not asked or not answered."""

    turn: int | None
    speaker: ParticipantView | None
    title: str
    before: float | None = None
    """How likely the speaker thought its own side was to win before the speech ..."""
    after: float | None = None
    """... and after it."""
    judge: dict[str, float] = {}
    """How likely the judge thought each party was to win after the speech."""


class PartyBelief(Struct, frozen=True):
    """What a party believed of itself at its first and at its last speech."""

    party: str
    name: str
    opening: float | None
    closing: float | None


class TurningPoint(Struct, frozen=True):
    """The speech after which the judge's belief moved most: for which party, and from what to what."""

    turn: int
    speaker: str
    title: str
    party: str
    """Its name."""
    party_id: str
    before: float
    after: float

    @property
    def shift(self) -> float:
        return self.after - self.before


class BeliefMark(Struct, frozen=True):
    """A belief as the chance of the first party; `at` is the number of speeches given by then."""

    at: int
    chance: float
    joined: bool = True
    """Whether a line leads to it from the mark before. False after an answer that is missing."""


class BeliefReport(Struct, frozen=True):
    points: tuple[BeliefPoint, ...]
    parties: tuple[PartyBelief, ...]
    judge: str
    """The name of the judge that was asked; empty without one."""
    turning: TurningPoint | None
    sentences: tuple[str, ...]
    marks: dict[str, tuple[BeliefMark, ...]] = {}
    """By party, and by `judge`: what each believed, as the chance of the first party. Empty unless there are
    two parties."""
    audience: PollReport | None = None
    """The votes of the model audience."""

    @property
    def speeches(self) -> tuple[BeliefPoint, ...]:
        return tuple(point for point in self.points if point.turn is not None)


def belief_report(debate: Debate, viewer: Viewer = OWNER) -> BeliefReport | None:
    """None where nobody was asked, or this viewer may not know."""
    asked = debate.setup.beliefs or debate.setup.model_audience
    if not asked or not may_read_reasoning(debate, viewer):
        return None
    points = tuple(_points(debate)) if debate.setup.beliefs else ()
    sides = tuple(_party_belief(debate, party) for party in parties(debate)) if points else ()
    turning = turning_point(debate, points)
    judge = next((debate.judge(aside.judge or "").name for aside in debate.asides if _is_judge(aside)), "")
    tally = model_tally(debate)
    return BeliefReport(
        points=points,
        parties=sides,
        judge=judge if any(point.judge for point in points) else "",
        turning=turning,
        sentences=tuple(_sentences(sides, turning)),
        marks=_marks(debate, points),
        audience=report_from_tally(debate, tally) if tally else None,
    )


def _is_judge(aside: Aside) -> bool:
    return aside.kind == "belief" and aside.judge is not None


def _points(debate: Debate) -> Iterator[BeliefPoint]:
    """The time before the first speech, and every speech that was asked about and counts."""
    seats = participants(debate)
    own = {(a.slot, a.turn): _own_chance(a) for a in debate.asides if a.kind == "confidence" and a.chances}
    judged = {aside.turn: aside.chances for aside in debate.asides if _is_judge(aside) and aside.chances}
    yield BeliefPoint(None, None, BEFORE_FIRST, judge=judged.get(None, {}))
    asked = {aside.turn for aside in debate.asides if aside.kind in ("confidence", "belief")}
    for turn in sorted(debate.turns, key=lambda turn: turn.number):
        if turn.number in asked and turn.has_words:
            yield BeliefPoint(
                turn=turn.number,
                speaker=seats[turn.seat],
                title=debate.phase(turn.slot).title,
                before=own.get((_first_slot(debate, turn.slot), None)),
                after=own.get((turn.slot, turn.number)),
                judge=judged.get(turn.number, {}),
            )


def _first_slot(debate: Debate, slot: int) -> int:
    """Where a speech is split in two, its speaker was asked before the first part."""
    return slot - 1 if debate.schedule[slot].tone == "continuation" else slot


def _own_chance(aside: Aside) -> float:
    return aside.chances[aside.seat or ""]


def _party_belief(debate: Debate, party: Party) -> PartyBelief:
    """By what its seats said: the first answer, and the last."""
    seats = {seat.id for seat in party.seats}
    said = [_own_chance(a) for a in debate.asides if a.kind == "confidence" and a.chances and a.seat in seats]
    name = party_name(debate, party.id)
    return PartyBelief(party.id, name, said[0] if said else None, said[-1] if said else None)


def turning_point(debate: Debate, points: tuple[BeliefPoint, ...]) -> TurningPoint | None:
    """None where the judge's belief never moved, or was not asked twice in a row."""
    found: TurningPoint | None = None
    known = [point for point in points if point.judge]
    for earlier, later in pairwise(known):
        if later.turn is None or later.speaker is None:
            continue
        party = max(later.judge, key=lambda one: later.judge[one] - earlier.judge.get(one, 0.0))
        moved = TurningPoint(
            later.turn, later.speaker.shown, later.title, party_name(debate, party), party,
            earlier.judge.get(party, 0.0), later.judge[party],
        )  # fmt: skip
        if moved.shift > 0 and (found is None or moved.shift > found.shift):
            found = moved
    return found


def _sentences(sides: tuple[PartyBelief, ...], turning: TurningPoint | None) -> Iterator[str]:
    for side in sides:
        if side.opening is not None and side.closing is not None:
            first, last = percent(side.opening), percent(side.closing)
            yield f"{side.name} gave itself {first} at first and {last} in the end."
    closing = [side.closing for side in sides if side.closing is not None]
    if len(sides) > 1 and len(closing) == len(sides) and all(chance >= SURE for chance in closing):
        every = "Both" if len(sides) == 2 else "All"
        yield f"{every} were sure of winning ({percent(SURE)} or more), and at most one could be right."
    elif len(sides) > 1 and len(closing) == len(sides) and sum(closing) > 1:
        yield f"Together they expected {percent(sum(closing))}; more than 100 % cannot be right."
    if turning:
        yield (
            f"The judge's belief moved most after S{turning.turn} ({turning.speaker}, {turning.title}): "
            f"{turning.party} from {percent(turning.before)} to {percent(turning.after)}."
        )


def percent(chance: float | None) -> str:
    return "–" if chance is None else f"{100 * chance:.0f} %"


# --- two parties on one axis --------------------------------------------------------------------------


def _marks(debate: Debate, points: tuple[BeliefPoint, ...]) -> dict[str, tuple[BeliefMark, ...]]:
    sides = parties(debate)
    if len(sides) != 2:
        return {}
    marks: dict[str, list[BeliefMark]] = {side.id: [] for side in sides} | {"judge": []}
    missing: set[str] = set()

    def mark(name: str, place: int, chance: float) -> None:
        marks[name].append(BeliefMark(place, chance, joined=name not in missing))
        missing.discard(name)

    for at, point in enumerate(points):
        party = party_of(debate, point.speaker.id) if point.speaker else None
        for chance, place in ((point.before, at - 1), (point.after, at)):
            if party is not None and chance is not None:
                own = chance if party.id == sides[0].id else 1 - chance
                mark(party.id, place, round(own, 4))
            elif party is not None:
                missing.add(party.id)
        if sides[0].id in point.judge:
            mark("judge", at, point.judge[sides[0].id])
        else:
            missing.add("judge")
    return {name: tuple(row) for name, row in marks.items() if row}
