"""Verdicts for readers: each with its doubts, and the ballots of each judge.

The first verdict is the result of the debate. Later ones are listed beside it and change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from moot.core.state import Debate, Judging
from moot.core.statuses import VerdictOutcome
from moot.core.terms import Ballot, DebateVerdict, Judge, PartyScore, Usage
from moot.judging.ballots import ballot_text
from moot.judging.parties import parties
from moot.judging.verdicts import has_flipped
from moot.views import outcome
from moot.views.headlines import verdict_headline
from moot.views.outcome import JudgeMargins
from moot.views.participants import JudgeView, ParticipantView, judge_seat, listed_names, participants

Seats = dict[str, ParticipantView]


class SeatScore(Struct, frozen=True):
    seat: ParticipantView
    score: float
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]


class RubricRow(Struct, frozen=True):
    """One row of the rubric: a diagnosis beside the decision, which does not rest on it."""

    name: str
    weight: float
    points: tuple[tuple[ParticipantView, float], ...]


class BallotView(Struct, frozen=True):
    """One ballot. No winner is a tie."""

    judge: JudgeView
    order: int
    """Which reading: 0 the first, 1 the second."""
    winner: ParticipantView | None
    reasoning: str
    scores: tuple[SeatScore, ...]
    criteria: dict[str, str]
    cites: tuple[int, ...]
    """The turns on which it rests."""
    rubric: tuple[RubricRow, ...]
    ranking: tuple[ParticipantView, ...]
    labels: dict[str, str]
    """The label of each party, by its id."""
    read_first: str | None
    """The id of the party whose speech came first."""


class JudgeOpinion(Struct, frozen=True):
    """What one judge came to in each of its readings."""

    judge: JudgeView
    ballots: tuple[BallotView, ...]
    spoiled: int
    """The number of ballots that it did not give, or that could not be read."""
    problem: str = ""
    """Why it gave none; empty where its replies could not be read."""

    @property
    def flipped(self) -> bool:
        return has_flipped(ballot.winner.id if ballot.winner else None for ballot in self.ballots)

    @property
    def decision(self) -> str:
        if not self.ballots:
            return "no usable ballot"
        names = [paper.winner.shown if paper.winner else "a tie" for paper in self.ballots]
        if self.flipped:
            return f"{', then '.join(names)}: changed its mind in the second reading"
        return f"{names[0]} in both readings" if len(names) > 1 else names[0]


class VerdictView(Struct, frozen=True):
    """A verdict, with seats in place of ids and its doubts in words."""

    headline: str
    title: str
    """The headline for readers, with the model first."""
    outcome: VerdictOutcome
    winner: ParticipantView | None
    by: str
    margin: float
    margin_words: str
    agreement: float
    ballots: int
    readings: str
    """What the two readings of each judge are called: both labelings, or both orders; empty where nobody read
    twice."""
    flips: int
    doubts: tuple[str, ...]
    scores: tuple[SeatScore, ...]
    leanings: tuple[JudgeMargins, ...]
    reasoning: str
    criteria: dict[str, str]
    judging: int | None = None
    judges: tuple[JudgeView, ...] = ()
    opinions: tuple[JudgeOpinion, ...] = ()
    cites: tuple[int, ...] = ()
    rubric: tuple[RubricRow, ...] = ()
    totals: tuple[tuple[ParticipantView, float], ...] = ()
    """What the rubric comes to, where some criteria count more than others."""
    ranking: tuple[ParticipantView, ...] = ()
    last_word: ParticipantView | None = None
    coin_flip: bool = False
    """Whether the judges are too small for the winner and the remarks of their ballots to say anything."""
    usage: Usage = Usage()
    """Of all that the judges were asked."""


def verdict_views(debate: Debate) -> tuple[VerdictView, ...]:
    """Every verdict in the order in which they were reached."""
    seats = _parties(debate)
    judged = iter([judging for judging in debate.judgings if judging.verdict])
    return tuple(
        _result(debate, verdict, next(judged, None) if verdict.by == "judges" else None, seats)
        for verdict in debate.verdicts
    )


def _parties(debate: Debate) -> Seats:
    """Seats by id, where those who win together bear all their names."""
    seats = participants(debate)
    together = {
        party.id: replace(
            seats[party.id], name=party.name, shown=listed_names(seats[seat.id].shown for seat in party.seats)
        )
        for party in parties(debate)
    }
    return {**seats, **together}


def _result(debate: Debate, verdict: DebateVerdict, judging: Judging | None, seats: Seats) -> VerdictView:
    judges = judging.judges if judging else ()
    return VerdictView(
        headline=outcome.headline(debate, verdict),
        title=verdict_headline(debate, verdict),
        outcome=verdict.outcome,
        winner=seats[verdict.winner] if verdict.winner else None,
        by=verdict.by,
        margin=verdict.margin,
        margin_words=outcome.margin(debate, verdict),
        agreement=verdict.agreement,
        ballots=len(outcome.ballots(debate, judging)) if judging else 0,
        readings=outcome.readings(judging.ballots) if judging else "",
        flips=verdict.flips,
        doubts=outcome.doubts(debate, verdict),
        scores=_scores(verdict.scores, seats),
        leanings=outcome.leanings(debate, judging) if judging else (),
        reasoning=verdict.reasoning,
        criteria=dict(verdict.criteria),
        judging=judging.number if judging else None,
        judges=tuple(judge_seat(judge) for judge in judges),
        opinions=tuple(_opinions(debate, judging, seats)) if judging else (),
        cites=verdict.cites,
        rubric=_rubric(verdict.rubric, judges[0].weights if len(judges) == 1 else {}, seats),
        totals=tuple((seats[seat], total) for seat, total in verdict.totals.items()),
        ranking=tuple(seats[seat] for seat in verdict.ranking),
        last_word=participants(debate)[verdict.last_word] if verdict.last_word else None,
        coin_flip=outcome.is_coin_flip(debate, verdict),
        usage=judging.usage if judging and judging.again else _judging_usage(debate),
    )


def _judging_usage(debate: Debate) -> Usage:
    """By all judges up to the end of the debate: some may have been asked in vain before."""
    return sum((judging.usage for judging in debate.judgings if not judging.again), Usage())


def _opinions(debate: Debate, judging: Judging, seats: Seats) -> Iterator[JudgeOpinion]:
    for judge in judging.judges:
        cast = sorted((b for b in judging.ballots if b.judge == judge.id), key=lambda b: b.order)
        papers = tuple(_ballot_view(debate, judge, ballot, seats) for ballot in cast)
        causes = [cause for cause in judging.causes if cause.judge == judge.id]
        problem = next((why for cause in causes if (why := outcome.ballot_problem(cause))), "")
        yield JudgeOpinion(judge_seat(judge), papers, len(causes), problem)


def _ballot_view(debate: Debate, judge: Judge, ballot: Ballot, seats: Seats) -> BallotView:
    def named(text: str) -> str:
        return ballot_text(text, debate, ballot)

    scores = {
        seat: PartyScore(score.score, tuple(map(named, score.strengths)), tuple(map(named, score.weaknesses)))
        for seat, score in ballot.scores.items()
    }
    return BallotView(
        judge=judge_seat(judge),
        order=ballot.order,
        winner=seats[ballot.winner] if ballot.winner else None,
        reasoning=named(ballot.reasoning),
        scores=_scores(scores, seats),
        criteria={name: named(text) for name, text in ballot.criteria.items()},
        cites=ballot.cites,
        rubric=_rubric(ballot.rubric, judge.weights, seats),
        ranking=tuple(seats[seat] for seat in ballot.ranking),
        labels=ballot.labels,
        read_first=ballot.read_first,
    )


def _scores(scores: dict[str, PartyScore], seats: Seats) -> tuple[SeatScore, ...]:
    return tuple(
        SeatScore(seats[seat], score.score, score.strengths, score.weaknesses)
        for seat, score in scores.items()
    )


def _rubric(
    rubric: dict[str, dict[str, float]], weights: dict[str, float], seats: Seats
) -> tuple[RubricRow, ...]:
    return tuple(
        RubricRow(name, weights.get(name, 1.0), tuple((seats[seat], value) for seat, value in points.items()))
        for name, points in rubric.items()
    )
