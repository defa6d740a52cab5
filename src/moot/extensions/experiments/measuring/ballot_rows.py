"""The tables `ballots`, `rankings` and `votes`: what was decided, and the reasons that were given.

Results are stored without reasons, which no figure needs; they are read from the log of the debate when a
table is made, and are missing where it has been deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, structs

from moot.core.state import Debate
from moot.core.terms import HUMAN, Ballot
from moot.extensions.experiments.measuring.judge_identity import judge_names
from moot.extensions.experiments.measuring.judgments import Judgment, JudgmentWinner, Ranking
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.people_votes import PersonVote
from moot.judging.parties import is_ranked, parties

Key = tuple[int, str, int | None]
"""Judging, judge and order."""
VoteSource = Literal["page", "imported", "panel"]
REASON = Meta(description="Why, in the judge's own words.")
CITES = Meta(description="The speeches on which the decision rests, by their number in `speeches`.")
CRITERIA = Meta(description="The criteria of the rubric, where there is one.")


class BallotRow(Judgment, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one judge decided about one debate of two sides, after one reading, and why."""

    reason: Annotated[str, REASON] = ""
    cites: Annotated[tuple[int, ...], CITES] = ()
    pro_score: Annotated[float | None, Meta(description="The points of the side for the motion.")] = None
    con_score: Annotated[float | None, Meta(description="The same of the other side.")] = None
    criteria: Annotated[tuple[str, ...], CRITERIA] = ()
    pro_points: Annotated[
        tuple[float | None, ...],
        Meta(description="Points of the side for the motion by each of `criteria`."),
    ] = ()
    con_points: Annotated[tuple[float | None, ...], Meta(description="The same of the other side.")] = ()


class RankingRow(Ranking, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one judge decided about one debate of three or more teams, and why."""

    reason: Annotated[str, REASON] = ""
    cites: Annotated[tuple[int, ...], CITES] = ()
    scores: Annotated[tuple[float | None, ...], Meta(description="The points of each team.")] = ()


class VoteRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The vote of one person on one debate of two sides."""

    debate: Annotated[str, Meta(description="The id of the debate.")]
    voter: Annotated[str, Meta(description="Who voted.")]
    winner: Annotated[JudgmentWinner, Meta(description="Who won in the eyes of this person.")]
    source: Annotated[
        VoteSource,
        Meta(
            description="`page`: cast in the experiment's queue; `imported` with `moot experiment votes`; "
            "`panel`: by a judge of the debate, whose ballot is in `ballots` too."
        ),
    ] = "imported"
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    group: Annotated[str, Meta(description="The side-swapped matchup; the same in `ballots`.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    pro: Annotated[str, Meta(description="The model that argued for the motion.")] = ""
    con: Annotated[str, Meta(description="The model that argued against it.")] = ""
    reason: Annotated[str, Meta(description="Why, in the words of this person.")] = ""
    blind: Annotated[bool, Meta(description="Whether models and verdict were hidden from this person.")] = (
        False
    )
    shown_first: Annotated[
        Literal["pro", "con"] | None, Meta(description="The side that was shown as A, if recorded.")
    ] = None
    chance: Annotated[
        float | None,
        Meta(description="Of a question: how probable the answer of the winner was thought, from 0.5 to 1."),
    ] = None
    voted_at: Annotated[datetime | None, Meta(description="When it was cast, if recorded.")] = None


def ballot_rows(rows: Iterable[Judgment], debate: Debate | None) -> Iterator[BallotRow]:
    """Rows of a result, with what the log tells of each ballot."""
    given = _ballots(debate) if debate else {}
    for row in rows:
        found = given.get(_key(row)) if row.winner != "none" else None
        ballot = found.pop(0) if found else None
        yield BallotRow(**structs.asdict(row), **(_reasons(ballot, row) if ballot else {}))


def ranking_rows(rows: Iterable[Ranking], debate: Debate | None) -> Iterator[RankingRow]:
    given = _ballots(debate) if debate else {}
    teams = parties(debate) if debate else ()
    for row in rows:
        found = given.get(_key(row))
        told: dict[str, Any] = {}
        if ballot := found.pop(0) if found else None:
            scores = tuple(_score(ballot, team.id) for team in teams)
            told = {"reason": ballot.reasoning, "cites": ballot.cites}
            told["scores"] = scores if any(score is not None for score in scores) else ()
        yield RankingRow(**structs.asdict(row), **told)


def vote_table_rows(result: LegResult, debate: Debate | None) -> Iterator[VoteRow]:
    """Votes that were imported, and ballots of people who are judges of the debate."""
    for row in ballot_rows(result.judgments, debate):
        if row.judge.startswith(f"{HUMAN}/"):
            yield _vote(row, PersonVote(row.judge, row.winner, row.reason), "panel")
    for vote in result.votes:
        yield _vote(result.judgments[0], vote, "page" if vote.at else "imported")


def _vote(row: Judgment, vote: PersonVote, source: VoteSource) -> VoteRow:
    return VoteRow(
        debate=row.debate, voter=vote.voter, winner=vote.winner, source=source, experiment=row.experiment,
        group=row.group, motion=row.motion, pro=row.pro, con=row.con, reason=vote.reason, blind=vote.blind,
        shown_first=vote.shown_first, chance=vote.chance, voted_at=vote.at,
    )  # fmt: skip


def _reasons(ballot: Ballot, row: Judgment) -> dict[str, Any]:
    criteria = tuple(ballot.rubric)
    return {
        "reason": ballot.reasoning,
        "cites": ballot.cites,
        "pro_score": _score(ballot, row.pro_seat),
        "con_score": _score(ballot, row.con_seat),
        "criteria": criteria,
        "pro_points": tuple(ballot.rubric[each].get(row.pro_seat) for each in criteria),
        "con_points": tuple(ballot.rubric[each].get(row.con_seat) for each in criteria),
    }


def _score(ballot: Ballot, party: str) -> float | None:
    return ballot.scores[party].score if party in ballot.scores else None


def _ballots(debate: Debate) -> dict[Key, list[Ballot]]:
    """The ballots of a debate by what a row says of them; several where a judge read it more than twice."""
    found: dict[Key, list[Ballot]] = {}
    ranked, teams = is_ranked(debate), parties(debate)
    flip = len(teams) == 2 and teams[0].seats[0].side == "against"
    for judging in debate.judgings:
        names = judge_names(judging)
        for ballot in sorted(judging.ballots, key=lambda ballot: ballot.order):
            if ballot.judge in names and (not ranked or ballot.ranking or ballot.winner):
                key = judging.number, names[ballot.judge], (ballot.order + flip) % 2
                found.setdefault(key, []).append(ballot)
    return found


def _key(row: Judgment | Ranking) -> Key:
    return row.judging, row.judge, row.order
