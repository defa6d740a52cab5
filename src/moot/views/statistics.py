"""Who wins, what is debated, and what it cost: a fold over the summaries of many debates. Pure.

A win counts for a model only against another model, so one that plays both sides neither wins nor loses. All
models of a side that wins together have won. People are counted as one, under `human`. "Too close to call" is
a draw here, and a draw is half a win in every rate. Debates without a verdict are counted in the totals, as
topics, in days and in what models cost, and nowhere else. Every rate has its interval: three debates do not
show which model is better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterable, Callable, Iterable
from itertools import combinations

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.terms import Money
from moot.views.statistics_tables import (
    DaySpending,
    DebateTotals,
    FormatRecord,
    JudgeRecord,
    ModelSpending,
    PairRecord,
    Statistics,
    TopicCount,
    WinRecord,
    mean_interval,
    ratio,
    wilson_interval,
)
from moot.views.summary import ModelCharge, StoredSummary

TOPICS = 10
DAYS = 366

SummaryFilter = Callable[[StoredSummary], bool]
"""Whether a debate is among those that are counted."""

_page = msgspec.json.Decoder(tuple[StoredSummary, ...])


class _WinCounter(Struct):
    debates: int = 0
    wins: int = 0
    losses: int = 0
    draws: int = 0

    def record(self, name: str) -> WinRecord:
        decided, won = self.wins + self.losses + self.draws, self.wins + self.draws / 2
        rate, interval = ratio(won, decided), wilson_interval(won, decided)
        return WinRecord(name, self.debates, self.wins, self.losses, self.draws, rate, interval)

    def pair(self, one: str, other: str) -> PairRecord:
        a, b, wins, losses = one, other, self.wins, self.losses
        if losses > wins:
            a, b, wins, losses = b, a, losses, wins
        half = self.draws / 2
        ours, theirs = (
            (ratio(won, self.debates), wilson_interval(won, self.debates))
            for won in (wins + half, losses + half)
        )
        return PairRecord(a, b, self.debates, wins, losses, self.draws, *ours, *theirs)


class _JudgeCounter(Struct):
    debates: int = 0
    judges: int = 0
    flips: int = 0
    panels: int = 0
    unanimous: int = 0
    decided: int = 0
    """Debates in which they named a winner; only these have a share of ballots that name it."""
    agreed: float = 0.0
    squares: float = 0.0

    def add(self, summary: StoredSummary) -> None:
        agreement = summary.agreement if summary.agreement is not None else 1.0
        self.debates += 1
        self.judges += summary.minds
        self.flips += summary.flips
        self.panels += summary.minds > 1
        self.unanimous += summary.minds > 1 and agreement == 1
        if summary.winner is not None:
            self.decided += 1
            self.agreed += agreement
            self.squares += agreement * agreement

    def result(self) -> JudgeRecord:
        return JudgeRecord(
            debates=self.debates,
            judges=self.judges,
            flips=self.flips,
            flip_rate=ratio(self.flips, self.judges),
            flip_interval=wilson_interval(self.flips, self.judges),
            panels=self.panels,
            unanimous=self.unanimous,
            unanimous_rate=ratio(self.unanimous, self.panels),
            unanimous_interval=wilson_interval(self.unanimous, self.panels),
            agreement=round(self.agreed / self.decided, 3) if self.decided else None,
            interval=mean_interval(self.agreed, self.squares, self.decided),
        )


class _Accumulator(Struct):
    """The fold under way. Summaries come newest first."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    speeches: int = 0
    cost: Money = Money(0)
    unpriced: int = 0
    silent: int = 0
    motions: dict[str, str] = field(default_factory=dict[str, str])
    topics: Counter[str] = field(default_factory=Counter[str])
    models: dict[str, _WinCounter] = field(default_factory=dict[str, _WinCounter])
    sides: dict[str, _WinCounter] = field(default_factory=dict[str, _WinCounter])
    pairs: dict[tuple[str, str], _WinCounter] = field(default_factory=dict[tuple[str, str], _WinCounter])
    formats: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    costs: dict[str, ModelSpending] = field(default_factory=dict[str, ModelSpending])
    days: dict[str, DaySpending] = field(default_factory=dict[str, DaySpending])
    judged: _JudgeCounter = field(default_factory=_JudgeCounter)

    def add(self, summary: StoredSummary) -> None:
        self.statuses[summary.status] += 1
        self.speeches += summary.turns
        self.cost += Money(summary.cost)
        self.unpriced += summary.unpriced
        self.silent += summary.silent > 0
        topic = " ".join(summary.motion.casefold().split())
        self.motions.setdefault(topic, " ".join(summary.motion.split()))
        self.topics[topic] += 1
        for bill in summary.bills:
            self._spent(bill)
        if summary.day:
            spent = self.days.get(summary.day, DaySpending(summary.day, 0, Money(0)))
            cost = spent.cost + Money(summary.cost)
            self.days[summary.day] = replace(spent, debates=spent.debates + 1, cost=cost)
        if summary.outcome:
            self._decided(summary)
        if summary.minds:
            self.judged.add(summary)

    def _spent(self, bill: ModelCharge) -> None:
        spent = self.costs.get(bill.model, ModelSpending(bill.model, None, 0, 0))
        cost = spent.cost if bill.cost is None else (spent.cost or Money(0)) + Money(bill.cost)
        tokens = spent.tokens + bill.tokens
        self.costs[bill.model] = replace(spent, cost=cost, tokens=tokens, debates=spent.debates + 1)

    def _decided(self, summary: StoredSummary) -> None:
        won = summary.winner is not None
        ends = self.formats.setdefault(summary.format, Counter())
        ends["debates"] += 1
        ends[summary.winner_side if won else "draw"] += 1
        for side in set(_debating(summary, summary.sides)):
            score = self.sides.setdefault(side, _WinCounter())
            _add_result(score, won, won=side == summary.winner_side)
        self._score_models(summary, won)
        self._score_pairs(summary, won)

    def _score_models(self, summary: StoredSummary, decided: bool) -> None:
        models = set(_debating(summary, summary.models)) - {""}
        winners = _winners(summary)
        for model in models:
            score = self.models.setdefault(model, _WinCounter())
            if len(models) == 1 or (decided and _is_neither_won_nor_lost(summary, model, winners)):
                score.debates += 1
            else:
                _add_result(score, decided, won=model in winners)

    def _score_pairs(self, summary: StoredSummary, decided: bool) -> None:
        """Two models that lost against a third are not a pair."""
        sides = _sides_of(summary)
        winners = _winners(summary) if decided else set[str]()
        for one, other in combinations(sorted(sides), 2):
            met = not (sides[one] & sides[other] - {"neutral"})
            if met and (not decided or len(winners & {one, other}) == 1):
                _add_result(self.pairs.setdefault((one, other), _WinCounter()), decided, won=one in winners)

    def result(self) -> Statistics:
        return Statistics(
            totals=DebateTotals(
                self.statuses.total(),
                dict(self.statuses),
                self.speeches,
                self.cost,
                self.unpriced,
                self.silent,
            ),
            models=_ranked(self.models),
            sides=_ranked(self.sides),
            pairs=_paired(self.pairs),
            formats=tuple(_format_record(*one) for one in sorted(self.formats.items(), key=_most_debated)),
            topics=tuple(TopicCount(self.motions[topic], n) for topic, n in self.topics.most_common(TOPICS)),
            costs=tuple(
                sorted(self.costs.values(), key=lambda one: (-(one.cost or 0), -one.tokens, one.model))
            ),
            judges=self.judged.result(),
            days=tuple(self.days[day] for day in sorted(self.days))[-DAYS:],
        )


def statistics(summaries: Iterable[StoredSummary]) -> Statistics:
    """The statistics of summaries, newest first."""
    count = _Accumulator()
    for summary in summaries:
        count.add(summary)
    return count.result()


async def statistics_from_pages(
    pages: AsyncIterable[bytes], counts: SummaryFilter | None = None
) -> Statistics:
    """The statistics of pages of `store.summaries`; other tasks run between two pages."""
    count = _Accumulator()
    async for page in pages:
        for summary in _page.decode(page):
            if counts is None or counts(summary):
                count.add(summary)
    return count.result()


def _add_result(score: _WinCounter, decided: bool, *, won: bool) -> None:
    score.debates += 1
    score.wins += decided and won
    score.losses += decided and not won
    score.draws += not decided


def _debating(summary: StoredSummary, of_seats: tuple[str, ...]) -> list[str]:
    """Without the seats that only moderate."""
    if len(summary.sides) != len(of_seats):
        return list(of_seats)
    return [one for one, side in zip(of_seats, summary.sides, strict=True) if side != "moderator"]


def _sides_of(summary: StoredSummary) -> dict[str, set[str]]:
    """Return the sides that each model argued; empty for summaries that do not have them."""
    sides: dict[str, set[str]] = {}
    for model, side in zip(summary.models, summary.sides, strict=False):
        if side != "moderator" and model:
            sides.setdefault(model, set()).add(side)
    return sides


def _winners(summary: StoredSummary) -> set[str]:
    if summary.winning:
        return {summary.models[seat] for seat in summary.winning}
    if summary.winner_model or summary.winner not in summary.seats:
        return {summary.winner_model}
    return {summary.models[summary.seats.index(summary.winner)]}


def _is_neither_won_nor_lost(summary: StoredSummary, model: str, winners: set[str]) -> bool:
    """Whether the result counts neither as won nor as lost: the model argued on both sides of a debate that a
    side won, or on the winner's side without winning."""
    if summary.winning:
        lost = set(range(len(summary.sides))) - set(summary.winning)
        others = {summary.models[seat] for seat in lost if summary.sides[seat] != "moderator"}
        return model in winners and model in others
    return model not in winners and (model, summary.winner_side) in zip(
        summary.models, summary.sides, strict=False
    )


# --- in order -----------------------------------------------------------------------------------------


def _ranked(scores: dict[str, _WinCounter]) -> tuple[WinRecord, ...]:
    standings = [score.record(name) for name, score in scores.items()]
    return tuple(sorted(standings, key=lambda one: (-one.wins, -(one.rate or 0), -one.debates, one.name)))


def _paired(scores: dict[tuple[str, str], _WinCounter]) -> tuple[PairRecord, ...]:
    pairs = [score.pair(*names) for names, score in scores.items()]
    return tuple(sorted(pairs, key=lambda pair: (-pair.debates, -(pair.rate or 0), pair.a, pair.b)))


def _most_debated(entry: tuple[str, Counter[str]]) -> int:
    return -entry[1]["debates"]


def _format_record(name: str, ends: Counter[str]) -> FormatRecord:
    won, lost, drawn = ends["for"], ends["against"], ends["draw"]
    sided = won + lost + drawn if won + lost else 0
    half_counted = won + drawn / 2
    return FormatRecord(
        name,
        ends["debates"],
        won,
        lost,
        drawn,
        ratio(half_counted, sided),
        wilson_interval(half_counted, sided),
    )
