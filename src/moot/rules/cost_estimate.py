"""What a debate may cost, before it begins: from speeches within their word budget to calls at their limit.

The low end has every speech at its word budget and ballots of ordinary length. The high end has every call at
its most tokens, read by all later calls, every ballot repaired, and all possible side questions. Neither
counts retries after a fault, the discount of a provider's cache, or tools: eight results at their longest
would dwarf everything else. People cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING

from msgspec import Struct
from msgspec.structs import replace

from moot.core.events import DebateOpened
from moot.core.pricing import CountRange, cost, worst_cost
from moot.core.schedule import schedule
from moot.core.state import ZERO, Debate
from moot.core.terms import Judge, Money
from moot.rules.budget import model_judges, reading_worst, worst_judging_cost
from moot.rules.dry_run import PlannedCall, first_round, planned_calls

ANY_LIMIT = Money(1)
"""Under a limit calls are given fewer tokens, whatever the limit is."""


class ModelCostEstimate(Struct, frozen=True):
    model: str
    calls: CountRange
    input: CountRange
    output: CountRange
    low: Money | None
    """None where nobody knows the price."""
    high: Money | None


class SmallestLimit(Struct, frozen=True):
    """What must be set aside at most for the calls of the first round, and to have it judged."""

    round: Money
    judging: Money

    @property
    def total(self) -> Money:
        return _cents(self.round) + _cents(self.judging)

    def __str__(self) -> str:
        held = f"{_cents(self.round)} for the first round"
        return held if not self.judging else f"{held} and {_cents(self.judging)} to have it judged"


class CostEstimate(Struct, frozen=True):
    speeches: int
    calls: CountRange
    tokens: CountRange
    low: Money | None
    """Of the models whose price is known; None where there is none of those."""
    high: Money | None
    limited: bool
    """It could cost more if the cost limit did not hold it."""
    models: tuple[ModelCostEstimate, ...]
    unpriced: tuple[str, ...]
    smallest_limit: SmallestLimit | None = None
    """Below it no cost limit is accepted; None where a price is not known."""


def estimate(opened: DebateOpened) -> CostEstimate:
    calls = tuple(planned_calls(opened))
    models = tuple(
        _of([call for call in calls if call.model.label == label])
        for label in sorted({call.model.label for call in calls})
    )
    low = _sum([model.low for model in models])
    high = _sum([model.high for model in models])
    limit = opened.limits.cost
    return CostEstimate(
        speeches=len(schedule(opened.format, opened.seats, opened.limits)),
        calls=_total([model.calls for model in models]),
        tokens=_total([span for model in models for span in (model.input, model.output)]),
        low=_held(low, limit),
        high=_held(high, limit),
        limited=limit is not None and high is not None and high > limit,
        models=models,
        unpriced=tuple(model.model for model in models if model.high is None),
        smallest_limit=smallest_limit(opened),
    )


def smallest_limit(opened: DebateOpened) -> SmallestLimit | None:
    """The smallest cost limit under which the first round can be held and judged, whatever each of its calls
    costs, as long as none has to be made again and no tools are used. None where a price is not known."""
    held = replace(opened, limits=replace(opened.limits, cost=opened.limits.cost or ANY_LIMIT))
    first = first_round(held)
    costs = [worst_cost(call.model.price, call.bound, call.max_tokens) for call in first.calls]
    judges = [judge.model.price for judge in model_judges(first.debate.panel)]
    if None in costs or None in judges:
        return None
    judging = worst_judging_cost(first.debate, starting=1, repairs=False)
    judging += reading_worst(first.debate, first.longer, repairs=False)
    return SmallestLimit(_sum(costs) or ZERO, judging)


def _of(calls: list[PlannedCall]) -> ModelCostEstimate:
    least = [call.least for call in calls if call.least is not None]
    priced = calls[0].model.price is not None
    costs = [cost(call.model.price, call.least) for call in calls if call.least is not None]
    return ModelCostEstimate(
        model=calls[0].model.label,
        calls=CountRange(len(least), len(calls)),
        input=CountRange(sum(usage.input for usage in least), sum(call.bound for call in calls)),
        output=CountRange(sum(usage.output for usage in least), sum(call.max_tokens for call in calls)),
        low=_sum([*costs, Money(0)]) if priced else None,
        high=_sum([worst_cost(call.model.price, call.bound, call.max_tokens) for call in calls]),
    )


def _total(spans: list[CountRange]) -> CountRange:
    return CountRange(sum(span.low for span in spans), sum(span.high for span in spans))


def _sum(amounts: list[Money | None]) -> Money | None:
    """Of what is known; None where nothing is."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Money(0)) if known else None


def _held(amount: Money | None, limit: Money | None) -> Money | None:
    return amount if amount is None or limit is None else min(amount, limit)


def smallest_allowance(debate: Debate, judges: Sequence[Judge]) -> Money:
    """The smallest cost limit under which a debate that is over can be judged again by these."""
    limits = replace(debate.limits, cost=ANY_LIMIT)
    again = replace(
        debate, judges=tuple(judges), limits=limits, manner=replace(debate.manner, winning="ai-judge")
    )
    return _cents(worst_judging_cost(again, repairs=False))


def _cents(amount: Money) -> Money:
    """In whole cents, rounded up."""
    return amount.quantize(Money("0.01"), ROUND_CEILING)
