"""Ballots to a verdict, with its doubts: margin, agreement, flips, and "too close to call".

A judge counts only with both orders in hand. One who names another winner when the order changes has not
decided, and is counted as a flip. A winner needs more than half of the judges; otherwise it is too close.
"""

from __future__ import annotations

from collections import Counter

from moot.debate import Debate, Judging
from moot.judging.ballots import judged_seats, named
from moot.terms import Ballot, Score, Verdict


def reach(debate: Debate, judging: Judging) -> Verdict | None:
    """None where no judge has given two readable ballots: a verdict is never made up."""
    judges: dict[str, list[Ballot]] = {}
    for ballot in judging.ballots:
        judges.setdefault(ballot.judge, []).append(ballot)
    pairs = [sorted(cast, key=lambda b: b.order) for cast in judges.values() if len(cast) == 2]
    if not pairs:
        return None
    counting = [ballot for pair in pairs for ballot in pair]
    minds = [pair[0].winner if pair[0].winner == pair[1].winner else None for pair in pairs]
    flips = sum(pair[0].winner != pair[1].winner for pair in pairs)
    votes = Counter(mind for mind in minds if mind is not None)
    leader, support = votes.most_common(1)[0] if votes else (None, 0)
    winner = leader if support * 2 > len(pairs) else None
    draw = all(ballot.winner is None for ballot in counting)
    scores = _mean_scores(debate, counting)
    first = counting[0]
    return Verdict(
        outcome="win" if winner else "draw" if draw else "too-close",
        winner=winner,
        by="judges",
        margin=_margin(debate, scores),
        agreement=_agreement(counting, winner),
        flips=flips,
        scores=scores,
        reasoning=named(first.reasoning, debate, first.order),
        criteria={key: named(text, debate, first.order) for key, text in first.criteria.items()},
        inconsistent=any(ballot.inconsistent for ballot in counting),
    )


def _mean_scores(debate: Debate, ballots: list[Ballot]) -> dict[str, Score]:
    means: dict[str, Score] = {}
    for seat in judged_seats(debate):
        marks = [(ballot, ballot.scores[seat.id]) for ballot in ballots]
        means[seat.id] = Score(
            score=round(sum(score.score for _, score in marks) / len(marks), 1),
            strengths=_remarks(debate, [(b, s.strengths) for b, s in marks]),
            weaknesses=_remarks(debate, [(b, s.weaknesses) for b, s in marks]),
        )
    return means


def _remarks(debate: Debate, lists: list[tuple[Ballot, tuple[str, ...]]]) -> tuple[str, ...]:
    said = (named(text, debate, ballot.order) for ballot, texts in lists for text in texts if text.strip())
    return tuple(dict.fromkeys(said))


def _margin(debate: Debate, scores: dict[str, Score]) -> float:
    points = [scores[seat.id].score for seat in judged_seats(debate)]
    if len(points) == 2:
        return round(points[0] - points[1], 1)
    ranked = sorted(points, reverse=True)
    return round(ranked[0] - ranked[1], 1)


def _agreement(ballots: list[Ballot], winner: str | None) -> float:
    """The share of ballots that name the winner; with none, the largest share that agrees on anything."""
    if winner is not None:
        return round(sum(ballot.winner == winner for ballot in ballots) / len(ballots), 2)
    most = Counter(ballot.winner for ballot in ballots).most_common(1)[0][1]
    return round(most / len(ballots), 2)
