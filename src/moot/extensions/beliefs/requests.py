"""What is sent to debaters, judges and the model audience, and how their replies are read.

A debater is asked how likely its own side is to win, a judge how likely each party is. The judge reads what a
ballot would be based on (`judge_request.py`): the speeches so far under neutral labels and inside a fence,
and nothing that was said or thought beside them. With two parties it gives one number, with more a number for
each; about a question with given answers, how probable the first of them is. A reply that is not exactly that
is no answer. The answer is recorded and enters no ballot, no verdict and no later prompt.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from moot.core.events import AsideAnswered
from moot.core.state import Aside, Debate
from moot.core.terms import DebateQuestion, Model, Request
from moot.extensions.beliefs.model_audience import persona_request, read_vote
from moot.judging.judge_request import JudgePrompt, evidence_texts, list_labels, side_lines
from moot.judging.neutral_labels import LABELS, choose_labels
from moot.judging.parties import SIDES, parties
from moot.judging.readings import by_time
from moot.prompts.fences import fence_for
from moot.prompts.model_replies import UnreadableReply, read_json_reply
from moot.prompts.quotations import quote_rules
from moot.prompts.side_question_prompts import (
    heard_before,
    object_schema,
    read_reply,
    seat_request,
    seat_wins_with_side,
    short_request,
)
from moot.prompts.templates import section

ROUNDING = 1
"""By how much numbers that should add up to 100 may miss it, because each was rounded."""
PERCENT: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 100}
_Percents = dict[str, Annotated[float, Meta(ge=0, le=100)]]


class PercentAnswer(Struct, forbid_unknown_fields=True):
    percent: Annotated[float, Meta(ge=0, le=100)]


def request_for(debate: Debate, aside: Aside, model: Model, attempt: int) -> Request:
    if aside.kind == "confidence":
        return _confidence_request(debate, aside, model, attempt)
    if aside.kind == "persona_vote":
        return persona_request(debate, aside, model, attempt)
    if debate.setup.question is not None:
        return _answer_belief_request(debate, debate.setup.question, aside, model, attempt)
    return _belief_request(debate, aside, model, attempt)


def read_reply_to(debate: Debate, aside: Aside, reply: str) -> AsideAnswered:
    """Raises UnreadableReply."""
    if aside.kind == "confidence":
        own = chance(read_reply(PercentAnswer, reply).percent)
        return AsideAnswered(aside.number, chances={aside.seat or "": own})
    if aside.kind == "persona_vote":
        return AsideAnswered(aside.number, text=read_vote(reply))
    return AsideAnswered(aside.number, chances=_read_chances(debate, reply))


def _confidence_request(debate: Debate, aside: Aside, model: Model, attempt: int) -> Request:
    own = section("asides", "chance-own-side" if seat_wins_with_side(debate) else "chance-own-seat")
    question = section("asides", "confidence", heard=heard_before(debate, aside), who=own)
    return seat_request(debate, aside, model, question, object_schema({"percent": PERCENT}), attempt)


def _belief_request(debate: Debate, aside: Aside, model: Model, attempt: int) -> Request:
    names = _labels(debate)
    fence = fence_for(debate, f"belief:{aside.number}")
    by_seat = {seat.id: names[party.id] for party in parties(debate) for seat in party.seats}
    prompt = JudgePrompt(debate, by_seat, fence, small=False)
    heard = "\n\n".join(evidence_texts(prompt, by_time(debate)))
    user = prompt.section(
        "belief-user",
        motion=prompt.quoted(debate.motion),
        sides="\n".join(side_lines(debate, names)),
        speeches=heard or prompt.section("belief-nothing-said"),
        question=_question(list(names.values())),
    )
    labels = list_labels(tuple(names.values()))
    instructions = prompt.section("belief-system", fence=fence.name, labels=labels)
    return short_request(aside, model, instructions, user, _schema(list(names.values())), attempt)


def _answer_belief_request(
    debate: Debate, question: DebateQuestion, aside: Aside, model: Model, attempt: int
) -> Request:
    """How probable the first answer is, after what was said so far; of the passage it has what is quoted."""
    names = (choose_labels(debate, debate.panel) or LABELS)[: len(question.choices)]
    fence = fence_for(debate, f"belief:{aside.number}")
    by_seat = {
        seat.id: names[choice]
        for seat in debate.seats
        if (choice := question.choice_of(seat.side)) is not None
    }
    prompt = JudgePrompt(debate, by_seat, fence, small=False)
    heard = "\n\n".join(evidence_texts(prompt, by_time(debate)))
    listed = zip(names, question.choices, strict=True)
    user = section(
        "question",
        "belief-user",
        question=prompt.quoted(debate.motion),
        answers="\n".join(f"{label}: {prompt.quoted(choice)}" for label, choice in listed),
        speeches=heard or prompt.section("belief-nothing-said"),
        label=names[0],
    )
    instructions = section(
        "question",
        "belief-system",
        fence=fence.name,
        labels=list_labels(names),
        speakers=section("question", "judge-two" if len(debate.seats) > 1 else "judge-one"),
        quotes=quote_rules(question, fence),
    )
    return short_request(aside, model, instructions, user, object_schema({"percent": PERCENT}), attempt)


def _labels(debate: Debate) -> dict[str, str]:
    """Party to label; none of the labels occurs in what the judge reads."""
    chosen = choose_labels(debate, debate.panel) or LABELS
    return dict(zip([party.id for party in parties(debate)], chosen, strict=False))


def _question(labels: list[str]) -> str:
    if len(labels) == len(SIDES):
        return section("judge", "belief-two", label=labels[0])
    return section("judge", "belief-several", shape=", ".join(f'"{label}": ...' for label in labels))


def _schema(labels: list[str]) -> dict[str, Any]:
    if len(labels) == len(SIDES):
        return object_schema({"percent": PERCENT})
    return object_schema(dict.fromkeys(labels, PERCENT))


def chance(percent: float) -> float:
    return round(percent / 100, 4)


def _read_chances(debate: Debate, reply: str) -> dict[str, float]:
    """The chance of each party, from 0 to 1."""
    if (question := debate.setup.question) is not None:
        first = chance(read_reply(PercentAnswer, reply).percent)
        by_choice = (first, round(1 - first, 4))
        choices = {party.id: question.choice_of(party.seats[0].side) for party in parties(debate)}
        return {party: by_choice[choice] for party, choice in choices.items() if choice is not None}
    names = _labels(debate)
    if len(names) == len(SIDES):
        percent = read_reply(PercentAnswer, reply).percent
        first, second = names
        return {first: chance(percent), second: chance(100 - percent)}
    expected = f"it must have exactly: {', '.join(names.values())}"
    percents = read_json_reply(reply, _Percents, twice=expected)
    if set(percents) != set(names.values()):
        raise UnreadableReply(expected)
    if abs(sum(percents.values()) - 100) > ROUNDING:
        raise UnreadableReply("the numbers do not add up to 100")
    return {party: chance(percents[label]) for party, label in names.items()}
