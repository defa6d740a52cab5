"""What was believed in private in one debate of an experiment, as it is stored with its result.

Chances are from 0 to 1, None where a debater gave no valid answer. `pro` is the side for the motion, as in a
`Judgment`. This module is plain Python; `belief_measures.py` computes figures from these values.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, to_builtins

from moot.core.state import Debate
from moot.core.visibility import OWNER
from moot.extension import loaded
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.judging.parties import parties


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
    told, sides = _told(debate), parties(debate)
    if told is None or len(sides) != 2:
        return None
    pro, con = sides if sides[0].seats[0].side != "against" else sides[::-1]
    said: dict[str, dict[str, Any]] = {party["party"]: party for party in told["parties"]}
    own, other = said.get(pro.id, {}), said.get(con.id, {})
    return DebateBeliefs(
        pro_opening=own.get("opening"),
        pro_closing=own.get("closing"),
        con_opening=other.get("opening"),
        con_closing=other.get("closing"),
        turning=_shift(debate, pro.id, told["turningPoint"]),
        audience_lead=_audience_lead(told["modelAudience"]),
    )


def _told(debate: Debate) -> dict[str, Any] | None:
    """The member `beliefs` of the JSON export, if there is one."""
    reports = loaded().reports(debate, OWNER)
    members = next((report.members for report in reports if report.name == "beliefs"), None)
    return None if members is None else to_builtins(members)


def _shift(debate: Debate, pro: str, turning: dict[str, Any] | None) -> JudgeShift | None:
    if turning is None:
        return None
    speech = next(turn for turn in debate.turns if turn.number == turning["turn"])
    return JudgeShift(
        turn=speech.number,
        speaker=contestant_name(debate.seat(speech.seat).model),
        title=debate.phase(speech.slot).title,
        toward="pro" if turning["party"] == pro else "con",
        before=turning["before"],
        after=turning["after"],
    )


def _audience_lead(votes: dict[str, Any] | None) -> float | None:
    if votes is None or not votes["pairs"]:
        return None
    points = {change["choice"]: change["points"] for change in votes["changes"]}
    return round(points["for"] - points["against"], 1)
