"""Verdicts for readers: what is sent of each, and beside it what is said about it in words.

The first verdict is the result of the debate. Later ones are listed beside it and change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from moot.core.json_types import choose
from moot.core.state import Debate, Judging
from moot.core.statuses import VerdictOutcome
from moot.core.terms import Ballot, DebateVerdict, PartyScore, Usage
from moot.core.visibility import OWNER, Viewer
from moot.judging.ballots import TIE, ballot_text
from moot.judging.parties import parties
from moot.judging.verdicts import has_flipped
from moot.views import outcome
from moot.views.headlines import verdict_headline
from moot.views.outcome import JudgeMargins
from moot.views.participants import ParticipantView, judge_seat, listed_names, participants
from moot.views.transcript_shapes import DebateJudge, JudgeBallot, ReachedVerdict, Score, Verdict

Seats = dict[str, ParticipantView]


class JudgeOpinion(Struct, frozen=True):
    """What one judge came to in each of its readings."""

    judge: DebateJudge
    ballots: tuple[JudgeBallot, ...]
    decision: str
    """Its ballots in a few words."""
    flipped: bool
    weights: dict[str, float]
    """Of the criteria that count more or less than once."""
    spoiled: int
    """The number of ballots that it did not give, or that could not be read."""
    problem: str = ""
    """Why it gave none; empty where its replies could not be read."""


class VerdictView(ReachedVerdict, frozen=True, kw_only=True):
    """A verdict as it is sent, where parties are ids, with what readers are told about it."""

    outcome: VerdictOutcome
    title: str
    """The headline for readers, with the model first."""
    margin_words: str
    sentence: str
    """The margin in a sentence; empty where a doubt says the same."""
    ballot_count: int
    readings: str
    """What the two readings of each judge are called: both labelings, or both orders; empty where nobody read
    twice."""
    leanings: tuple[JudgeMargins, ...]
    opinions: tuple[JudgeOpinion, ...]
    weights: dict[str, float]
    """Of the criteria of the rubric, where one judge gave it."""
    coin_flip: bool
    """Whether the judges are too small for the winner and the remarks of their ballots to say anything."""
    seats: Seats
    """By id; those who win together bear all their names."""
    last_speaker: ParticipantView | None

    @property
    def winning_seat(self) -> ParticipantView | None:
        return self.seats.get(self.winner)

    @property
    def scored_seats(self) -> tuple[tuple[ParticipantView, Score], ...]:
        return tuple((self.seats[seat], score) for seat, score in self.scores.items())

    @property
    def ranked_seats(self) -> tuple[ParticipantView, ...]:
        return tuple(self.seats[seat] for seat in self.ranking)


def verdict_views(debate: Debate, viewer: Viewer = OWNER) -> tuple[VerdictView, ...]:
    """Every verdict, in their order; without ballots for those who have yet to judge."""
    seats = _parties(debate)
    judged = iter([judging for judging in debate.judgings if judging.verdict])
    results = [
        _result(debate, verdict, next(judged, None) if verdict.by == "judges" else None, seats)
        for verdict in debate.verdicts
    ]
    if has_yet_to_judge(debate, viewer):
        results = [replace(result, opinions=(), ballots=()) for result in results]
    return tuple(results)


def has_yet_to_judge(debate: Debate, viewer: Viewer) -> bool:
    return viewer.role == "judge" and debate.being_judged


def first_verdict(debate: Debate) -> Verdict | None:
    """The result of the debate as it is sent; None without one."""
    return choose(Verdict, verdict_views(debate)[0]) if debate.verdicts else None


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
    opinions = tuple(_opinions(debate, judging, seats)) if judging else ()
    usage = judging.usage if judging and judging.again else _judging_usage(debate)
    sentence, doubts = outcome.verdict_sentence(debate, verdict), outcome.doubts(debate, verdict)
    return choose(
        VerdictView,
        verdict,
        headline=outcome.headline(debate, verdict),
        title=verdict_headline(debate, verdict),
        winner=verdict.winner or TIE,
        margin_words=outcome.margin(debate, verdict),
        sentence="" if sentence in doubts else sentence,
        ballot_count=len(outcome.ballots(debate, judging)) if judging else 0,
        readings=outcome.readings(judging.ballots) if judging else "",
        doubts=doubts,
        scores=_scores(verdict.scores),
        leanings=outcome.leanings(debate, judging) if judging else (),
        judging=judging.number if judging else None,
        judges=tuple(judge_seat(judge) for judge in judges),
        opinions=opinions,
        ballots=tuple(ballot for opinion in opinions for ballot in opinion.ballots),
        rubric=verdict.rubric or None,
        weights=judges[0].weights if len(judges) == 1 else {},
        totals=verdict.totals or None,
        coin_flip=outcome.is_coin_flip(debate, verdict),
        tokens_used=usage.total,
        seats=seats,
        last_speaker=participants(debate)[verdict.last_word] if verdict.last_word else None,
    )


def _judging_usage(debate: Debate) -> Usage:
    """By all judges up to the end of the debate: some may have been asked in vain before."""
    return sum((judging.usage for judging in debate.judgings if not judging.again), Usage())


def _opinions(debate: Debate, judging: Judging, seats: Seats) -> Iterator[JudgeOpinion]:
    for judge in judging.judges:
        cast = sorted((b for b in judging.ballots if b.judge == judge.id), key=lambda b: b.order)
        causes = [cause for cause in judging.causes if cause.judge == judge.id]
        yield JudgeOpinion(
            judge=judge_seat(judge),
            ballots=tuple(ballot_view(debate, ballot) for ballot in cast),
            decision=_decision(cast, seats),
            flipped=has_flipped(ballot.winner for ballot in cast),
            weights=judge.weights,
            spoiled=len(causes),
            problem=next((why for cause in causes if (why := outcome.ballot_problem(cause))), ""),
        )


def _decision(ballots: list[Ballot], seats: Seats) -> str:
    if not ballots:
        return "no usable ballot"
    names = [seats[ballot.winner].shown if ballot.winner else "a tie" for ballot in ballots]
    if has_flipped(ballot.winner for ballot in ballots):
        return f"{', then '.join(names)}: changed its mind in the second reading"
    return f"{names[0]} in both readings" if len(names) > 1 else names[0]


def ballot_view(debate: Debate, ballot: Ballot) -> JudgeBallot:
    """With names in the place of labels."""

    def named(text: str) -> str:
        return ballot_text(text, debate, ballot)

    scores = {
        seat: PartyScore(score.score, tuple(map(named, score.strengths)), tuple(map(named, score.weaknesses)))
        for seat, score in ballot.scores.items()
    }
    return choose(
        JudgeBallot,
        ballot,
        judge_name=debate.judge(ballot.judge).name,
        winner=ballot.winner or TIE,
        reasoning=named(ballot.reasoning),
        scores=_scores(scores),
        criteria={name: named(text) for name, text in ballot.criteria.items()},
        rubric=ballot.rubric or None,
    )


def _scores(scores: dict[str, PartyScore]) -> dict[str, Score]:
    return {seat: choose(Score, score) for seat, score in scores.items()}
