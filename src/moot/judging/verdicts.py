"""From ballots to a verdict with its doubts: margin, agreement, flips, and "too close to call".

A model that judges counts only with its ballots of both readings. One that names another winner in the second
has not decided and is counted as a flip; a person decides once. `panel_decision` is the rule by which
the panel decides, ties included. Where parties are ranked, the first is decided in the same way, and the
others follow by the mean of their places on the ballots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from moot.core.state import Debate, Judging
from moot.core.statuses import VerdictOutcome
from moot.core.terms import Ballot, DebateVerdict, Judge, PartyScore
from moot.judging.answer_ballots import mean_probabilities
from moot.judging.ballots import ballot_text, orders
from moot.judging.judged_speeches import last_word
from moot.judging.parties import is_ranked, parties


class JudgeBallots(Struct, frozen=True):
    """A judge with all the ballots that it was asked for."""

    judge: Judge
    ballots: tuple[Ballot, ...]

    @property
    def winner(self) -> str | None:
        """None where the judge named none, or another in each reading."""
        return None if self.flipped else self.ballots[0].winner

    @property
    def flipped(self) -> bool:
        return has_flipped(ballot.winner for ballot in self.ballots)


def has_flipped(winners: Iterable[str | None]) -> bool:
    """Whether a judge named another winner, or none, in its second reading."""
    return len(set(winners)) > 1


def counted_judges(judging: Judging) -> tuple[JudgeBallots, ...]:
    """The judges who count: people with their ballot, models with those of both readings, or with one where
    the cost limit left no room for the other."""
    result: list[JudgeBallots] = []
    for judge in judging.judges:
        cast = sorted((b for b in judging.ballots if b.judge == judge.id), key=lambda ballot: ballot.order)
        waived = sum(who == judge.id for who, _ in judging.waived)
        if cast and len(cast) + waived == len(orders(judge)):
            result.append(JudgeBallots(judge, tuple(cast)))
    return tuple(result)


def reach_verdict(debate: Debate, judging: Judging) -> DebateVerdict | None:
    """None where no judge has given all its ballots: a verdict is never made up."""
    counted = counted_judges(judging)
    if not counted:
        return None
    ballots = [ballot for judge in counted for ballot in judge.ballots]
    outcome, winner = panel_decision(debate, counted)
    decisive = [ballot for ballot in ballots if ballot.winner == winner] if winner else ballots
    scores = _mean_scores(debate, ballots)
    shown_ballot = decisive[0]
    return DebateVerdict(
        outcome=outcome,
        winner=winner,
        by="judges",
        margin=_margin(debate, scores),
        agreement=_agreement(ballots, winner),
        flips=sum(judge.flipped for judge in counted),
        scores=scores,
        reasoning=ballot_text(shown_ballot.reasoning, debate, shown_ballot),
        criteria={
            name: ballot_text(text, debate, shown_ballot) for name, text in shown_ballot.criteria.items()
        },
        inconsistent=any(ballot.inconsistent for ballot in ballots),
        cites=tuple(sorted({turn for ballot in decisive for turn in ballot.cites})),
        rubric=_mean_rubric(ballot.rubric for ballot in ballots),
        totals=_totals(counted),
        ranking=_ranking(debate, ballots, scores, winner) if is_ranked(debate) else (),
        last_word=last_word(debate),
        probabilities=mean_probabilities(debate.setup.question, ballots),
        read_once=len({judge for judge, _ in judging.waived}),
    )


def panel_decision(debate: Debate, counted: Sequence[JudgeBallots]) -> tuple[VerdictOutcome, str | None]:
    """The outcome and the winner. A winner needs more than half of the judges, or all of them where the
    format asks for consensus. Without one it is a draw if no ballot names a winner, and else too close to
    call."""
    votes = Counter(judge.winner for judge in counted if judge.winner is not None)
    needed = len(counted) if debate.format.result == "consensus" else len(counted) // 2 + 1
    for leader, support in votes.most_common(1):
        if support >= needed:
            return "win", leader
    draw = all(ballot.winner is None for judge in counted for ballot in judge.ballots)
    return "draw" if draw else "too-close", None


def _agreement(ballots: Sequence[Ballot], winner: str | None) -> float:
    """The share of ballots that name the winner; with none, the largest share that agrees on anything."""
    if winner is not None:
        return round(sum(ballot.winner == winner for ballot in ballots) / len(ballots), 2)
    most = Counter(ballot.winner for ballot in ballots).most_common(1)[0][1]
    return round(most / len(ballots), 2)


# --- scores -------------------------------------------------------------------------------------------


def _mean_scores(debate: Debate, ballots: Sequence[Ballot]) -> dict[str, PartyScore]:
    """The mean over the ballots that have scores; people need not give any."""
    means: dict[str, PartyScore] = {}
    for party in parties(debate):
        marks = [(ballot, ballot.scores[party.id]) for ballot in ballots if party.id in ballot.scores]
        if marks:
            means[party.id] = PartyScore(
                score=round(_mean(score.score for _, score in marks), 1),
                strengths=_remarks(debate, [(ballot, score.strengths) for ballot, score in marks]),
                weaknesses=_remarks(debate, [(ballot, score.weaknesses) for ballot, score in marks]),
            )
    return means


def _remarks(debate: Debate, lists: list[tuple[Ballot, tuple[str, ...]]]) -> tuple[str, ...]:
    remarks = (ballot_text(text, debate, ballot) for ballot, texts in lists for text in texts if text.strip())
    return tuple(dict.fromkeys(remarks))


def _margin(debate: Debate, scores: dict[str, PartyScore]) -> float:
    points = [scores[party.id].score for party in parties(debate) if party.id in scores]
    if len(points) < 2:
        return 0.0
    if len(points) > 2:
        points.sort(reverse=True)
    return round(points[0] - points[1], 1)


def _mean_rubric(rubrics: Iterable[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    marks: dict[str, dict[str, list[float]]] = {}
    for rubric in rubrics:
        for name, row in rubric.items():
            for party, points in row.items():
                marks.setdefault(name, {}).setdefault(party, []).append(points)
    return {
        name: {party: round(_mean(points), 1) for party, points in row.items()} for name, row in marks.items()
    }


def _totals(counted: Sequence[JudgeBallots]) -> dict[str, float]:
    """The rubric with each judge's own weights; nothing where all criteria count the same."""
    if not any(judge.judge.weights for judge in counted):
        return {}
    sums: dict[str, list[float]] = {}
    for judge in counted:
        for ballot in judge.ballots:
            for party, total in _weighted_totals(ballot.rubric, judge.judge.weights).items():
                sums.setdefault(party, []).append(total)
    return {party: round(_mean(totals), 1) for party, totals in sums.items()}


def _weighted_totals(
    rubric: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]
) -> dict[str, float]:
    total_weight = sum(weights.get(name, 1.0) for name in rubric)
    totals: dict[str, float] = {}
    for name, row in rubric.items():
        for party, points in row.items():
            totals[party] = totals.get(party, 0.0) + points * weights.get(name, 1.0) / total_weight
    return totals


# --- ranking ------------------------------------------------------------------------------------------


def ranking_points(debate: Debate, ballots: Sequence[Ballot]) -> dict[str, float]:
    """The mean points for the places on the ballots: with four parties 3, 2, 1 and 0."""
    last = len(parties(debate)) - 1
    return {
        party.id: round(last - _mean(_place(ballot, party.id, last) for ballot in ballots), 2)
        for party in parties(debate)
    }


def _ranking(
    debate: Debate, ballots: Sequence[Ballot], scores: Mapping[str, PartyScore], winner: str | None
) -> tuple[str, ...]:
    """The winner, then the others by their points, and where these are equal by their scores."""
    points = ranking_points(debate, ballots)
    means = {party: score.score for party, score in scores.items()}
    return tuple(sorted(points, key=lambda party: (party != winner, -points[party], -means.get(party, 0.0))))


def _place(ballot: Ballot, party: str, last: int) -> float:
    """From 0 for the best; parties that the ballot does not rank share the places that are left."""
    if party in ballot.ranking:
        return float(ballot.ranking.index(party))
    if ballot.winner is None:
        return last / 2
    return 0.0 if party == ballot.winner else (last + 1) / 2


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
