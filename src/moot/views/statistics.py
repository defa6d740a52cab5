"""Who wins, what is debated, and what it came to: a fold over the summaries of many debates. Pure.

A win counts for a model only against another model, so one that plays both sides neither wins nor loses. All
models of a side that wins together have won. People are counted as one, under `human`. "Too close to call" is
a draw here. Debates without a verdict are counted in the totals and as topics, and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterable, Iterable

import msgspec
from msgspec import Struct, field

from moot.terms import Money
from moot.views.summary import Summary

TOPICS = 10

_page = msgspec.json.Decoder(tuple[Summary, ...])


class Standing(Struct, frozen=True):
    """Of a model or a side. `debates` may be more than those won, lost and drawn: see the module."""

    name: str
    debates: int
    wins: int
    losses: int
    draws: int
    rate: float | None
    """The share of wins in what was decided; None where nothing was."""


class Custom(Struct, frozen=True):
    """How a format usually ends."""

    format: str
    debates: int
    wins_for: int
    wins_against: int
    draws: int


class Topic(Struct, frozen=True):
    motion: str
    """As it was last written."""
    debates: int


class Totals(Struct, frozen=True):
    debates: int
    statuses: dict[str, int]
    speeches: int
    cost: Money
    """What is known of it."""
    unpriced: int
    """Debates with calls that nobody can price."""


class Statistics(Struct, frozen=True):
    totals: Totals
    models: tuple[Standing, ...]
    sides: tuple[Standing, ...]
    formats: tuple[Custom, ...]
    topics: tuple[Topic, ...]


class _Score(Struct):
    debates: int = 0
    wins: int = 0
    losses: int = 0
    draws: int = 0

    def standing(self, name: str) -> Standing:
        decided = self.wins + self.losses + self.draws
        rate = round(self.wins / decided, 3) if decided else None
        return Standing(name, self.debates, self.wins, self.losses, self.draws, rate)


class _Count(Struct):
    """The fold under way. Summaries come newest first."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    speeches: int = 0
    cost: Money = Money(0)
    unpriced: int = 0
    motions: dict[str, str] = field(default_factory=dict[str, str])
    topics: Counter[str] = field(default_factory=Counter[str])
    models: dict[str, _Score] = field(default_factory=dict[str, _Score])
    sides: dict[str, _Score] = field(default_factory=dict[str, _Score])
    formats: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    def add(self, summary: Summary) -> None:
        self.statuses[summary.status] += 1
        self.speeches += summary.turns
        self.cost += Money(summary.cost)
        self.unpriced += summary.unpriced
        topic = " ".join(summary.motion.casefold().split())
        self.motions.setdefault(topic, " ".join(summary.motion.split()))
        self.topics[topic] += 1
        if summary.outcome:
            self._judged(summary)

    def _judged(self, summary: Summary) -> None:
        won = summary.winner is not None
        ends = self.formats.setdefault(summary.format, Counter())
        ends["debates"] += 1
        ends[summary.winner_side if won else "draw"] += 1
        for side in set(_debating(summary, summary.sides)):
            score = self.sides.setdefault(side, _Score())
            _settle(score, won, won=side == summary.winner_side)
        self._score_models(summary, won)

    def _score_models(self, summary: Summary, decided: bool) -> None:
        models = set(_debating(summary, summary.models))
        winners = _winners(summary)
        for model in models:
            score = self.models.setdefault(model, _Score())
            if len(models) == 1 or (decided and _neither(summary, model, winners)):
                score.debates += 1
            else:
                _settle(score, decided, won=model in winners)

    def result(self) -> Statistics:
        return Statistics(
            totals=Totals(
                self.statuses.total(), dict(self.statuses), self.speeches, self.cost, self.unpriced
            ),
            models=_ranked(self.models),
            sides=_ranked(self.sides),
            formats=tuple(
                Custom(name, ends["debates"], ends["for"], ends["against"], ends["draw"])
                for name, ends in sorted(self.formats.items(), key=lambda kept: -kept[1]["debates"])
            ),
            topics=tuple(Topic(self.motions[topic], n) for topic, n in self.topics.most_common(TOPICS)),
        )


def statistics(summaries: Iterable[Summary]) -> Statistics:
    """Of summaries that come newest first."""
    count = _Count()
    for summary in summaries:
        count.add(summary)
    return count.result()


async def gathered(pages: AsyncIterable[bytes]) -> Statistics:
    """Of pages as `store.summaries` gives them; others get their turn between one and the next."""
    count = _Count()
    async for page in pages:
        for summary in _page.decode(page):
            count.add(summary)
    return count.result()


def _settle(score: _Score, decided: bool, *, won: bool) -> None:
    score.debates += 1
    score.wins += decided and won
    score.losses += decided and not won
    score.draws += not decided


def _debating(summary: Summary, of_seats: tuple[str, ...]) -> list[str]:
    """Without the seats that only moderate."""
    if len(summary.sides) != len(of_seats):
        return list(of_seats)
    return [one for one, side in zip(of_seats, summary.sides, strict=True) if side != "moderator"]


def _winners(summary: Summary) -> set[str]:
    if summary.winning:
        return {summary.models[place] for place in summary.winning}
    if summary.winner_model or summary.winner not in summary.seats:
        return {summary.winner_model}
    return {summary.models[summary.seats.index(summary.winner)]}


def _neither(summary: Summary, model: str, winners: set[str]) -> bool:
    """It sat on both sides of a debate that a side won; or it argued on the winner's side and did not win."""
    if summary.winning:
        lost = set(range(len(summary.sides))) - set(summary.winning)
        others = {summary.models[place] for place in lost if summary.sides[place] != "moderator"}
        return model in winners and model in others
    return model not in winners and (model, summary.winner_side) in zip(
        summary.models, summary.sides, strict=False
    )


def _ranked(scores: dict[str, _Score]) -> tuple[Standing, ...]:
    standings = [score.standing(name) for name, score in scores.items()]
    return tuple(sorted(standings, key=lambda one: (-one.wins, -(one.rate or 0), -one.debates, one.name)))
