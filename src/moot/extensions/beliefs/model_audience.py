"""The model audience: personas, each with a view, that vote before the first speech and after the last.

A persona is data (`prompts/personas.toml`), and a judge's model speaks for it. Before, it is told the motion;
after, it reads the speeches as a judge does, by side. It votes for, against or undecided; any other reply is
no vote. Half of the personas are shown the choices in the other order. The votes are counted with the
arithmetic of the polls (`audience_votes.py`) as votes of models: they never join those of people, and decide
nothing.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from moot.core.state import Aside, Debate
from moot.core.terms import Model, PollName, Request
from moot.extensions.beliefs.personas import personas
from moot.judging.audience_votes import AudienceTally, PollTotals, count_votes
from moot.judging.judge_request import JudgePrompt, evidence_texts
from moot.judging.parties import SIDES, UNDECIDED, parties, vote_choices
from moot.judging.readings import by_time
from moot.prompts.fences import fence_for
from moot.prompts.side_question_prompts import object_schema, read_reply, short_request

SIDE_NAMES = {"for": "The side for the motion", "against": "The side against the motion"}


class _VoteAnswer(Struct, forbid_unknown_fields=True):
    vote: Literal["for", "against", "undecided"]


def persona_request(debate: Debate, aside: Aside, model: Model, attempt: int) -> Request:
    fence = fence_for(debate, f"persona:{aside.number}")
    prompt = JudgePrompt(debate, _side_names(debate), fence, small=False)
    choices = _choices(aside)
    heard = "\n\n".join(evidence_texts(prompt, by_time(debate))) if aside.turn is not None else ""
    user = prompt.section(
        "persona-user",
        motion=prompt.quoted(debate.motion),
        heard=prompt.section("persona-after", speeches=heard) if heard else prompt.section("persona-before"),
        choices=", ".join(f'"{choice}"' for choice in choices),
    )
    persona = personas()[aside.persona]
    instructions = prompt.section("persona-system", view=persona.view, fence=fence.name)
    schema = object_schema({"vote": {"type": "string", "enum": list(choices)}})
    return short_request(aside, model, instructions, user, schema, attempt)


def read_vote(reply: str) -> str:
    """Raises UnreadableReply."""
    return read_reply(_VoteAnswer, reply).vote


def _choices(aside: Aside) -> tuple[str, ...]:
    """Every second persona is shown the sides in the other order, both times."""
    swapped = list(personas()).index(aside.persona) % 2
    return (*(SIDES[::-1] if swapped else SIDES), UNDECIDED)


def _side_names(debate: Debate) -> dict[str, str]:
    return {
        seat.id: SIDE_NAMES[side]
        for side, party in zip(SIDES, parties(debate), strict=False)
        for seat in party.seats
    }


def model_votes(debate: Debate, poll: PollName) -> dict[str, str]:
    """The vote of each persona that gave one."""
    return {
        aside.persona: aside.text
        for aside in debate.asides
        if aside.kind == "persona_vote" and aside.text and (aside.turn is None) == (poll == "before")
    }


def model_tally(debate: Debate) -> AudienceTally | None:
    """The votes of the personas, counted like those of people; None where none has voted."""
    before, after = model_votes(debate, "before"), model_votes(debate, "after")
    if not before and not after:
        return None
    pairs, options = len(before.keys() & after.keys()), vote_choices(debate)
    polls: tuple[tuple[PollName, dict[str, str]], ...] = (("before", before), ("after", after))
    counts = tuple(
        PollTotals(
            poll=poll,
            open=False,
            votes=len(votes),
            late=0,
            single=len(votes) - pairs if before and after else 0,
            by_choice={choice: list(votes.values()).count(choice) for choice in options},
        )
        for poll, votes in polls
        if votes
    )
    return count_votes(debate, "swing", options, before, after, counts, voters="models")
