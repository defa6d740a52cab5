"""A ballot as a person casts it: checked on the debate, with every mistake named at once."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.core.state import Debate
from moot.core.terms import Ballot, Judge, Score
from moot.judging.ballots import contradicts_scores
from moot.judging.evidence import speeches
from moot.judging.parties import is_ranked, parties, party_of

MAX_REASONING_CHARS = 6000


def check_ballot(debate: Debate, judge: Judge, ballot: Ballot) -> Ballot:
    """The ballot with its parties by their ids. Raises Invalid with all that is wrong.

    Whoever ranks the parties has named a winner by it. Points are not asked of people, only taken.
    """
    ballot = replace(
        ballot,
        winner=_party(debate, ballot.winner or next(iter(ballot.ranking), None)),
        ranking=tuple(_party(debate, seat) or seat for seat in ballot.ranking),
        scores={_party(debate, seat) or seat: score for seat, score in ballot.scores.items()},
        cites=tuple(sorted(set(ballot.cites))),
    )
    problems: dict[str, list[str]] = {}
    for field, problem in _problems(debate, judge, ballot):
        problems.setdefault(field, []).append(problem)
    if problems:
        first = next(iter(problems.values()))[0]
        raise Invalid(f"This is no ballot: {first}.", problems)
    return replace(ballot, order=0, inconsistent=contradicts_scores(ballot.winner, ballot.scores))


def _party(debate: Debate, seat: str | None) -> str | None:
    """By any seat of it; what is none is left for the check to find."""
    found = party_of(debate, seat) if seat else None
    return found.id if found else seat


def _problems(debate: Debate, judge: Judge, ballot: Ballot) -> Iterator[tuple[str, str]]:
    ids = {party.id for party in parties(debate)}
    if ballot.winner is not None and ballot.winner not in ids:
        yield "winner", "Unknown participant"
    if not ballot.reasoning.strip() or len(ballot.reasoning) > MAX_REASONING_CHARS:
        yield "reasoning", f"Must be between 1 and {MAX_REASONING_CHARS} characters"
    given = {turn.number for turn in speeches(debate)}
    if given and not ballot.cites:
        yield "cites", "Name at least one speech on which the decision rests"
    if unknown := [str(turn) for turn in ballot.cites if turn not in given]:
        yield "cites", f"No such speech: {', '.join(unknown)}"
    if not set(ballot.scores) <= ids:
        yield "scores", "Unknown participant"
    if any(not _in_range(score) for score in ballot.scores.values()):
        yield "scores", "Must be between 0 and 100"
    if not set(ballot.criteria) <= set(judge.criteria):
        yield "criteria", f"Must be of: {', '.join(judge.criteria)}"
    yield from _ranking_problems(debate, ballot, ids)


def _ranking_problems(debate: Debate, ballot: Ballot, ids: set[str]) -> Iterator[tuple[str, str]]:
    if ballot.ranking and not is_ranked(debate):
        yield "ranking", "Nobody is ranked in this debate: name a winner"
    elif ballot.ranking and sorted(ballot.ranking) != sorted(ids):
        yield "ranking", "Must name each participant once, the best first"
    elif ballot.ranking and ballot.ranking[0] != ballot.winner:
        yield "ranking", "Must begin with the winner"


def _in_range(score: Score) -> bool:
    return 0 <= score.score <= 100
