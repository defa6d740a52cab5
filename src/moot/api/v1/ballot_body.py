"""A person's ballot, from the body of a request. Whether all that it names is there, the debate tells."""

from __future__ import annotations

from moot.api.v1.people_bodies import CastBallot
from moot.core.errors import Invalid, Refused
from moot.core.state import Debate
from moot.core.terms import Ballot, Score
from moot.providers.redaction import redact

TIES = ("tie", "draw")


def ballot_of(body: CastBallot, debate: Debate, judge: str | None) -> Ballot:
    """Where no judge is named, it is that of the one person who judges."""
    return Ballot(
        judge=judge or _only_human_judge(debate),
        order=0,
        winner=None if body.winner in TIES else body.winner,
        scores={
            seat: Score(
                marks.score,
                tuple(redact(text) for text in marks.strengths),
                tuple(redact(text) for text in marks.weaknesses),
            )
            for seat, marks in body.scores.items()
        },
        reasoning=redact(body.reasoning),
        criteria={name: redact(text) for name, text in body.criteria.items()},
        cites=tuple(body.cites),
        ranking=tuple(body.ranking),
    )


def _only_human_judge(debate: Debate) -> str:
    judging = debate.judging
    people = [judge.id for judge in (judging.judges if judging else debate.panel) if judge.model.human]
    if not people:
        raise Refused("No person sits among the judges.", debate.status)
    if len(people) > 1:
        raise Invalid("Whose ballot?", {"judge": ["Name the judge whose ballot it is"]})
    return people[0]
