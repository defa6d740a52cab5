"""One debate in a few lines: what lists, `moot list` and the head row show, and what statistics count.

It is written with every turn of the debate, and read by the thousand: it stays small. Members that an older
version did not write have defaults.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from moot.core.state import Debate, ModelUsage
from moot.core.statuses import Status
from moot.core.terms import HUMAN, Model
from moot.judging.parties import party
from moot.judging.verdicts import counted_judges
from moot.rules.turn_sessions import is_empty
from moot.views.costs import is_person
from moot.views.outcome import headline
from moot.views.speech_issues import is_silent


class ModelCharge(Struct, frozen=True, omit_defaults=True):
    """What one model has used and cost."""

    model: str
    tokens: int
    cost: str | None = None
    """As far as it is known; None where nothing is."""


class StoredSummary(Struct, frozen=True, omit_defaults=True, rename="camel"):
    id: str
    motion: str
    format: str
    status: Status
    seats: tuple[str, ...]
    models: tuple[str, ...]
    round: int
    rounds: int
    turns: int
    cost: str
    unpriced: bool = False
    winner: str | None = None
    outcome: str = ""
    sides: tuple[str, ...] = ()
    """What each seat argues; a seat that only moderates has "moderator" here. Empty in what 0.1 wrote."""
    winner_model: str = ""
    winner_side: str = ""
    winning: tuple[int, ...] = ()
    """The places of those who won together, where that is more than one seat."""
    headline: str = ""
    colours: tuple[str, ...] = ()
    strip: tuple[int, ...] = ()
    """The place of who gives each speech of the schedule; a speech with a break in it is one."""
    given: int = 0
    """So many speeches of the strip are behind us."""
    judges: tuple[str, ...] = ()
    """The models of all who were asked to judge it, now or later."""
    minds: int = 0
    """Models whose ballots of both readings led to the verdict."""
    flips: int = 0
    agreement: float | None = None
    """The share of ballots that name the winner, where models judged."""
    bills: tuple[ModelCharge, ...] = ()
    day: str = ""
    """On which it was opened, by UTC."""
    experiment: str = ""
    """The series that it belongs to."""
    silent: int = 0
    """Turns in which the speaker said nothing."""
    waits_for: str = ""
    """While it waits for people: vote, speaker, judge."""

    def model_names(self) -> tuple[str, ...]:
        """The names by which it is found as a debate of a model: provider/model, or just the model."""
        labels = dict.fromkeys(label for label in (*self.models, *self.judges) if label)
        return tuple(dict.fromkeys((*labels, *(label.partition("/")[2] or label for label in labels))))


def summarize(debate: Debate) -> StoredSummary:
    verdict, session = debate.verdict, debate.is_session
    winner = debate.seat(verdict.winner) if verdict and verdict.winner else None
    strip, finished = _strip(debate)
    judged = verdict is not None and verdict.by == "judges"
    counted = counted_judges(debate.deciding_judging) if judged and debate.deciding_judging else ()
    models = sum(not entry.judge.model.human for entry in counted)
    return StoredSummary(
        id=debate.id,
        motion=debate.motion,
        format=debate.format.name,
        status=debate.status,
        seats=tuple(seat.name for seat in debate.seats),
        models=tuple("" if session and is_empty(seat) else _who(seat.model) for seat in debate.seats),
        round=debate.round,
        rounds=debate.rounds_planned,
        turns=sum(turn.has_words for turn in debate.turns),
        cost=format(debate.cost_so_far, "f"),
        unpriced=any(tally.unpriced for tally in debate.tallies.values()),
        winner=party(debate, winner.id).name if winner else None,
        outcome=verdict.outcome if verdict else "",
        sides=tuple(seat.side if seat.role == "debater" else seat.role for seat in debate.seats),
        winner_model=_who(winner.model) if winner else "",
        winner_side=winner.side if winner else "",
        winning=_winning_places(debate, winner.id) if winner else (),
        headline=headline(debate, verdict) if verdict else "",
        colours=tuple(seat.colour for seat in debate.seats),
        strip=strip,
        given=finished,
        judges=_judges(debate),
        minds=models,
        flips=verdict.flips if verdict and models else 0,
        agreement=verdict.agreement if verdict and models else None,
        bills=tuple(_bill(*one) for one in sorted(debate.tallies.items()) if not is_person(one[0])),
        day=f"{debate.created_at:%Y-%m-%d}",
        experiment=debate.series.name if debate.series else "",
        silent=sum(is_silent(turn) for turn in debate.turns),
        waits_for=_waits_for(debate),
    )


def _waits_for(debate: Debate) -> str:
    """The people that a debate under way waits for."""
    if debate.final or debate.failure:
        return ""
    if debate.being_judged:
        judging = debate.judging
        people = [judge for judge in judging.judges if judge.model.human] if judging else []
        return "judge" if judging and any(not judging.has_ballot(one.id, 0) for one in people) else ""
    if any(poll.closed_at is None for poll in debate.polls):
        return "vote"
    speaking = [debate.seat(turn.seat) for turn in debate.live]
    return "speaker" if speaking and all(seat.model.human for seat in speaking) else ""


def _who(model: Model) -> str:
    """A person is no model, and their name is their own."""
    return HUMAN if model.human else model.label


def _judges(debate: Debate) -> tuple[str, ...]:
    judges = (*debate.panel, *(judge for judging in debate.judgings for judge in judging.judges))
    return tuple(dict.fromkeys(_who(judge.model) for judge in judges))


def _strip(debate: Debate) -> tuple[tuple[int, ...], int]:
    indexes = {seat.id: index for index, seat in enumerate(debate.seats)}
    speeches = [slot for slot in debate.schedule if slot.tone != "continuation"]
    ahead = [slot for slot in debate.remaining_slots() if slot.tone != "continuation"]
    return tuple([indexes[slot.seat] for slot in speeches]), len(speeches) - len(ahead)


def _bill(model: str, tally: ModelUsage) -> ModelCharge:
    known = tally.unpriced < tally.calls
    return ModelCharge(model, tally.usage.total, format(tally.cost, "f") if known else None)


def _winning_places(debate: Debate, winner: str) -> tuple[int, ...]:
    won = party(debate, winner).seats
    if len(won) == 1:
        return ()
    return tuple(index for index, seat in enumerate(debate.seats) if seat in won)


def summary(debate: Debate) -> bytes:
    return msgspec.json.encode(summarize(debate))
