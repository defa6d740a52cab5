"""What was believed in private in one debate of an experiment, as it is stored with its result.

Chances are from 0 to 1, None where a debater gave no valid answer. `pro` is the side for the motion, as in a
`Judgment`. This module is plain Python; `belief_measures.py` computes figures from these values.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from moot.core.state import Debate
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.judging.parties import parties
from moot.views.beliefs import belief_report


class JudgeShift(Struct, frozen=True):
    """The speech after which the judge's belief moved most, in favour of one side."""

    turn: int
    speaker: str
    title: str
    toward: Literal["pro", "con"]
    before: float
    after: float
    """How likely that side was to win."""


class DebateBeliefs(Struct, frozen=True, omit_defaults=True):
    pro_opening: float | None = None
    pro_closing: float | None = None
    con_opening: float | None = None
    con_closing: float | None = None
    turning: JudgeShift | None = None
    audience_lead: float | None = None
    """By how many points more of the model audience moved to the side for the motion than against it."""


def beliefs_of(debate: Debate) -> DebateBeliefs | None:
    """None where nobody was asked, or the debate has not two parties."""
    report, sides = belief_report(debate), parties(debate)
    if report is None or len(sides) != 2:
        return None
    pro, con = sides if sides[0].seats[0].side != "against" else sides[::-1]
    said = {party.party: party for party in report.parties}
    own, other = said.get(pro.id), said.get(con.id)
    return DebateBeliefs(
        pro_opening=own.opening if own else None,
        pro_closing=own.closing if own else None,
        con_opening=other.opening if other else None,
        con_closing=other.closing if other else None,
        turning=_shift(debate, pro.id),
        audience_lead=_audience_lead(debate),
    )


def _shift(debate: Debate, pro: str) -> JudgeShift | None:
    report = belief_report(debate)
    turning = report.turning if report else None
    if turning is None:
        return None
    speech = next(turn for turn in debate.turns if turn.number == turning.turn)
    return JudgeShift(
        turn=turning.turn,
        speaker=contestant_name(debate.seat(speech.seat).model),
        title=turning.title,
        toward="pro" if turning.party_id == pro else "con",
        before=turning.before,
        after=turning.after,
    )


def _audience_lead(debate: Debate) -> float | None:
    report = belief_report(debate)
    tally = report.audience.tally if report and report.audience else None
    if tally is None or not tally.pairs:
        return None
    points = {change.choice: change.points for change in tally.changes}
    return round(points["for"] - points["against"], 1)
