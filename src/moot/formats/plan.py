"""What comes next in a debate: `plan(debate)` looks at the head of the log and says it.

Speak      these slots, together if there are several
AskJudges  these (judge, order) pairs come next: judges together, each one order after the other
Conclude   the speeches are over
Fail       it cannot go on
Rest       nothing to do until somebody asks for something
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from moot.debate import Debate
from moot.events import ConcessionMade, EndReason, FailReason, StalemateFound
from moot.formats.endings import concession, stalemate
from moot.terms import Slot

ORDERS = (0, 1)
"""Every judge sees the seats both ways round."""


class Speak(Struct, frozen=True):
    slots: tuple[Slot, ...]


class AskJudges(Struct, frozen=True):
    ballots: tuple[tuple[str, int], ...]


class Conclude(Struct, frozen=True):
    why: EndReason
    found: StalemateFound | ConcessionMade | None = None


class Fail(Struct, frozen=True):
    reason: FailReason


class Rest(Struct, frozen=True):
    waiting_for: Literal["start", "resume", "round", "judge", "decision", "turn", "nothing"]


Plan = Speak | AskJudges | Conclude | Fail | Rest


def plan(debate: Debate) -> Plan:
    if debate.status == "judging":
        return _plan_judging(debate)
    if debate.status == "created":
        return Rest("start")
    if debate.status == "paused":
        return Rest("resume")
    if not debate.running:
        return Rest("nothing")
    if debate.live:
        return Rest("turn")
    if found := concession(debate):
        return Conclude("concession", found)
    if found := stalemate(debate):
        return Conclude("stalemate", found)
    if _all_failed(debate):
        return Fail("all_failed")
    unspent = debate.unspent()
    if not unspent:
        return _plan_end(debate)
    following = unspent[0]
    if not debate.manner.auto and following.round > debate.rounds_asked:
        return Rest("round")
    return Speak(tuple(slot for slot in unspent if slot.group == following.group))


def _plan_judging(debate: Debate) -> Plan:
    judging = debate.judging
    if judging is None:
        return Rest("nothing")
    missing = (
        next(((judge.id, order) for order in ORDERS if not judging.has(judge.id, order)), None)
        for judge in debate.judges
    )
    return AskJudges(tuple(ballot for ballot in missing if ballot))


def _plan_end(debate: Debate) -> Plan:
    if debate.manner.winning == "user-decides":
        return Rest("decision")
    if debate.judges and not debate.manner.auto_judge and debate.something_said:
        return Rest("judge")
    return Conclude("rounds")


def _all_failed(debate: Debate) -> bool:
    """Every speech of the latest complete round came to nothing, and not only one speaker's."""
    if not debate.rounds_done:
        return False
    unspent = {slot.index for slot in debate.unspent()}
    slots = {slot.index for slot in debate.schedule if slot.round == debate.rounds_done}
    last = [turn for turn in debate.turns if turn.slot in slots and turn.spent]
    if not last or slots & unspent or any(turn.state != "failed" for turn in last):
        return False
    return len({turn.seat for turn in last}) > 1 or not debate.something_said
