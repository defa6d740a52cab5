"""Ballots on a question: which of the given answers is right, and how probable that is.

The judge reads the answers under neutral labels, in both orders of the answers, and the speeches for them,
but never the text that the question is about. A ballot has a probability for each answer; its winner is the
party that argued for the more probable one, so that a question is an ordinary debate for everything that
counts ballots.
"""

from __future__ import annotations

from typing import Any

from moot.core.state import Debate
from moot.core.terms import Ballot, DebateQuestion, Judge
from moot.judging.ballots import MAX_CITED, cited_schema, read_cites
from moot.judging.neutral_labels import choice_labels
from moot.judging.parties import parties
from moot.prompts.model_replies import UnreadableReply, object_schema
from moot.prompts.question_answers import answer_members, read_answer_reply
from moot.prompts.small_model_prompts import whole_sentences


def answer_ballot_schema(debate: Debate, judge: Judge) -> dict[str, Any]:
    small = judge.model.small
    members = answer_members(choice_labels(debate, 0), small=small)
    return object_schema(
        {
            "reasoning": members["reasoning"],
            "rests_on": cited_schema(debate, 1 if small else MAX_CITED),
            "answer": members["answer"],
            "percent": members["percent"],
        }
    )


def read_answer_ballot(reply: str, debate: Debate, judge: Judge, order: int) -> Ballot:
    """Raises UnreadableReply with what is wrong."""
    found, probabilities = read_answer_reply(reply, choice_labels(debate, order))
    if not found.reasoning:
        raise UnreadableReply("it gives no reasoning")
    reasoning = whole_sentences(found.reasoning, 0.1) if judge.model.small else found.reasoning
    return Ballot(
        judge=judge.id,
        order=order,
        winner=party_of_choice(debate, more_probable(probabilities)),
        scores={},
        reasoning=reasoning,
        cites=read_cites(found.rests_on, debate),
        probabilities=probabilities,
    )


def more_probable(probabilities: tuple[float, ...]) -> int | None:
    """The index of the most probable answer; None where two are equally probable."""
    highest = max(probabilities, default=0.0)
    best = [index for index, share in enumerate(probabilities) if share == highest]
    return best[0] if len(best) == 1 else None


def party_of_choice(debate: Debate, choice: int | None) -> str | None:
    """The party that argued for this answer; None where none did."""
    question = debate.setup.question
    if question is None or choice is None:
        return None
    found = (party.id for party in parties(debate) if question.choice_of(party.seats[0].side) == choice)
    return next(found, None)


def mean_probabilities(question: DebateQuestion | None, ballots: list[Ballot]) -> tuple[float, ...]:
    """The mean for each answer over the ballots that have probabilities."""
    given = [ballot.probabilities for ballot in ballots if ballot.probabilities]
    if question is None or not given:
        return ()
    return tuple(round(sum(column) / len(given), 6) for column in zip(*given, strict=True))
