"""The result of a debate as a headline: "gpt-6-luna wins, arguing against", "Too close to call".

The winner is named as readers see it (`participants.shown_names`), with its side; with more than two parties
with its seat. A list makes the same headline from the stored summary, so that one written by an older version
reads alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.state import Debate
from moot.core.statuses import COIN_FLIP, UNDECIDED
from moot.core.terms import HUMAN, DebateVerdict
from moot.judging.parties import parties, party
from moot.views.outcome import JUDGED_RIGHT, answer_headline, is_coin_flip
from moot.views.participants import listed_names, participants, short_model, shown_names
from moot.views.summary import StoredSummary

SIDES = ("for", "against")


def verdict_headline(debate: Debate, verdict: DebateVerdict) -> str:
    if verdict.probabilities:
        return answer_headline(debate, verdict)
    if is_coin_flip(debate, verdict):
        return COIN_FLIP
    if verdict.outcome == "win" and verdict.winner:
        winner, seats = party(debate, verdict.winner), participants(debate)
        views = [seats[seat.id] for seat in winner.seats]
        role = _role(views[0].side, views[0].name, len(parties(debate)))
        shared = any(view.model and view.shown == view.name and not view.person for view in views)
        return win_line(
            [view.shown for view in views], "" if shared else role, by_vote=verdict.by == "audience"
        )
    return UNDECIDED[verdict.outcome]


def summary_headline(summary: StoredSummary) -> str:
    """The same, from what is stored of a debate for lists; empty without a verdict."""
    places = _winning_places(summary)
    kept = summary.headline == COIN_FLIP or JUDGED_RIGHT in summary.headline
    if summary.outcome != "win" or not places or kept:
        return summary.headline
    names = summary_names(summary)
    person = summary.models[places[0]] in ("", HUMAN)
    shared = names[places[0]] == summary.seats[places[0]] and not person
    parties_count = len(set(summary.sides)) if summary.winning else len(summary.seats)
    role = _role(summary.winner_side, summary.seats[places[0]], parties_count)
    by_vote = summary.headline.endswith(" the vote")
    return win_line([names[place] for place in places], "" if shared else role, by_vote=by_vote)


def summary_names(summary: StoredSummary) -> tuple[str, ...]:
    """The participants as readers see them."""
    models = ("" if model == HUMAN else model for model in summary.models)
    return shown_names(list(zip(summary.seats, models, strict=False)))


def summary_models(summary: StoredSummary) -> str:
    """The models against each other: gpt-6-luna v. claude-haiku-5-5."""
    people = zip(summary.seats, summary.models, strict=False)
    names = [name if model in ("", HUMAN) else short_model(model) for name, model in people]
    different = list(dict.fromkeys(names))
    return " v. ".join([*different, "itself"] if len(names) > len(different) == 1 else different)


def _winning_places(summary: StoredSummary) -> tuple[int, ...]:
    if summary.winning:
        return summary.winning
    return tuple(place for place, name in enumerate(summary.seats) if name == summary.winner)[:1]


def win_line(names: Sequence[str], role: str, *, by_vote: bool) -> str:
    wins = "wins" if len(names) == 1 else "win"
    return f"{listed_names(names)} {wins}{' the vote' if by_vote else ''}{role}"


def _role(side: str, seat_name: str, parties_count: int) -> str:
    if parties_count > len(SIDES):
        return f" ({seat_name})"
    return f", arguing {side}" if side in SIDES else ""
