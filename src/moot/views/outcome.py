"""How a debate came out, in words: the result, its doubts, and why it ended.

A verdict is never a bare number. Whatever weakens it is said in a sentence: judges who changed their mind
with the order, ballots that disagree, a winner with fewer points, a judge too small or too close to a seat.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from moot.debate import Debate
from moot.events import EndReason, FailReason
from moot.judging.ballots import judged_seats
from moot.judging.families import kin, maker
from moot.terms import Ballot, Verdict

ENDINGS: dict[EndReason, str] = {
    "rounds": "All rounds were held.",
    "stopped": "The debate was stopped early.",
    "budget": "The cost limit was reached.",
    "concession": "One side gave way.",
    "stalemate": "The debate went in circles.",
    "judged": "The debate was judged early.",
    "decided": "The debate was decided by hand.",
    "aborted": "The debate was aborted; nothing was judged.",
}
FAILURES: dict[FailReason, str] = {
    "permanent_fault": "A model cannot be used.",
    "all_failed": "Every speaker of a round failed.",
    "judge_failed": "The judge gave no usable ballot, so there is no verdict.",
    "internal": "Something unexpected went wrong.",
}


class Leaning(Struct, frozen=True):
    """One judge between the first seat and the second: the margin it gave in each order."""

    judge: str
    margins: tuple[float, ...]
    flipped: bool


def headline(debate: Debate, verdict: Verdict) -> str:
    if verdict.outcome == "win" and verdict.winner:
        return f"{debate.seat(verdict.winner).name} wins"
    return "Too close to call" if verdict.outcome == "too-close" else "A draw"


def margin(debate: Debate, verdict: Verdict) -> str:
    """Who is ahead by how much; empty where nobody gave points."""
    if not verdict.scores:
        return ""
    points = "point" if abs(verdict.margin) == 1 else "points"
    if verdict.margin == 0:
        return "level on points"
    best = max(verdict.scores, key=lambda seat: verdict.scores[seat].score)
    return f"{abs(verdict.margin):g} {points} for {debate.seat(best).name}"


def doubts(debate: Debate, verdict: Verdict) -> tuple[str, ...]:
    return tuple(_doubts(debate, verdict))


def _doubts(debate: Debate, verdict: Verdict) -> Iterator[str]:
    if verdict.by == "hand":
        yield "A person decided this, not a judge."
        return
    if verdict.by == "stalemate":
        yield "The speakers were repeating themselves, so nobody won."
        return
    if verdict.by == "concession":
        yield "The other side gave way; no judge was asked."
        return
    judges = len({ballot.judge for ballot in ballots(debate)})
    if verdict.flips:
        yield _flips(verdict.flips, judges)
    elif verdict.outcome == "too-close":
        yield "No side convinced more than half of the judges."
    if verdict.winner and verdict.agreement < 1:
        yield f"Only {verdict.agreement:.0%} of the ballots name the winner."
    if verdict.winner and _behind(verdict):
        yield "The winner has fewer points than another seat."
    elif verdict.inconsistent:
        yield "One ballot names a winner to whom it gave fewer points."
    yield from _judges_in_doubt(debate)


def _flips(flips: int, judges: int) -> str:
    if judges <= 1:
        return "The judge changed its mind when the order changed."
    if flips == judges:
        return "All judges changed their mind when the order changed."
    whose = "its mind" if flips == 1 else "their mind"
    return f"{flips} of {judges} judges changed {whose} when the order changed."


def _behind(verdict: Verdict) -> bool:
    if verdict.winner not in verdict.scores:
        return False
    return verdict.scores[verdict.winner].score < max(score.score for score in verdict.scores.values())


def warnings(debate: Debate) -> tuple[str, ...]:
    """What will weaken a verdict, as far as it is known before the first word."""
    return tuple(_judges_in_doubt(debate)) if debate.manner.winning != "user-decides" else ()


def _judges_in_doubt(debate: Debate) -> Iterator[str]:
    seats = {seat.model.label for seat in judged_seats(debate)}
    for judge in debate.judges:
        who = "The judge" if len(debate.judges) == 1 else judge.name
        if judge.model.small:
            yield f"{who} is a very small model: take its verdict lightly."
        if judge.model.label in seats and len(seats) > 1:
            yield f"{who} is the same model as one of the speakers."
        elif related := kin(debate, judge):
            names = " and ".join(seat.name for seat in related)
            yield f"{who} is of the same family as {names}: {maker(judge.model)}."


def ballots(debate: Debate) -> tuple[Ballot, ...]:
    """Those that the verdict counts: of judges who have voted in both orders."""
    if debate.judging is None:
        return ()
    cast = debate.judging.ballots
    voters = [ballot.judge for ballot in cast]
    return tuple(ballot for ballot in cast if voters.count(ballot.judge) == 2)


def leanings(debate: Debate) -> tuple[Leaning, ...]:
    """Only two seats have one axis between them."""
    seats = judged_seats(debate)
    if len(seats) != 2:
        return ()
    first, second = (seat.id for seat in seats)
    drawn: list[Leaning] = []
    for judge in debate.judges:
        cast = sorted((b for b in ballots(debate) if b.judge == judge.id), key=lambda b: b.order)
        if cast:
            margins = tuple(b.scores[first].score - b.scores[second].score for b in cast)
            drawn.append(Leaning(judge.name, margins, len({b.winner for b in cast}) > 1))
    return tuple(drawn)


def ending(debate: Debate) -> str:
    """Why it is over or cannot go on; empty while it can."""
    if debate.failure:
        return f"{FAILURES[debate.failure]} {debate.ended_detail}".strip()
    if debate.ended is None:
        return ""
    if debate.ended == "stopped" and debate.ended_detail:
        return f"{ENDINGS['stopped']} {debate.ended_detail}"
    return ENDINGS[debate.ended]
