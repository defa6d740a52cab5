"""The votes of the audience: the tally with names, the result in words, its doubts.

While the votes are sealed, only their number is known.
"""

from __future__ import annotations

from msgspec import Struct

from moot.core.state import Debate
from moot.core.statuses import DRAW
from moot.core.terms import PollName
from moot.judging import audience_votes as votes
from moot.judging.audience_votes import AudienceTally

POLLS: dict[PollName, str] = {"before": "Before the debate", "after": "After the debate"}


class PollOption(Struct, frozen=True):
    """What could be voted for; undecided belongs to no seat."""

    id: str
    name: str
    seat: str | None


class PollReport(Struct, frozen=True):
    tally: AudienceTally
    options: tuple[PollOption, ...]
    headline: str
    """Empty while the votes are sealed, or where no one voted."""
    sentences: tuple[str, ...]
    """The result with its figures, and the rule by which it was made."""
    doubts: tuple[str, ...]

    @property
    def account(self) -> str:
        return " ".join(self.sentences)

    @property
    def moved(self) -> bool:
        """Whether someone voted before and after, so that there is a table of changes."""
        return self.tally.pairs > 0

    @property
    def winner(self) -> PollOption | None:
        return next((option for option in self.options if option.id == self.tally.leader), None)


def poll_report(debate: Debate) -> PollReport | None:
    """None where the audience is not asked."""
    tally = votes.tally(debate)
    return None if tally is None else report_from_tally(debate, tally)


def report_from_tally(debate: Debate, tally: AudienceTally) -> PollReport:
    """Return the report on votes that were counted, here or by a server."""
    options = tuple(
        PollOption(choice, votes.choice_label(debate, choice), votes.seat_for_choice(debate, choice))
        for choice in tally.choices
    )
    return PollReport(
        tally=tally,
        options=options,
        headline=_headline(tally, {option.id: option.name for option in options}),
        sentences=tuple(votes.result_sentences(debate, tally)),
        doubts=votes.result_doubts(tally),
    )


def _headline(tally: AudienceTally, names: dict[str, str]) -> str:
    last = tally.count("after")
    if tally.sealed or last is None or not last.votes:
        return ""
    if tally.rule == "swing" and not tally.pairs:
        return "No change of mind to count"
    if tally.leader is None:
        return DRAW
    by = f"{tally.lead:g} {'point' if tally.lead == 1 else 'points'}"
    if tally.rule == "swing":
        return f"{names[tally.leader]}, by a swing of {by}"
    return f"{names[tally.leader]}, by a majority of {by}"
