"""The votes of the model audience, counted with the arithmetic of the polls (`audience_votes.py`)."""

from __future__ import annotations

from moot.core.state import Debate
from moot.core.terms import PollName
from moot.judging.audience_votes import AudienceTally, PollTotals, count_votes
from moot.judging.parties import vote_choices


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
