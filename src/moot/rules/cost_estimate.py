"""What a debate will cost, before it begins: what is expected, the range, and what a cost limit will hold.

Expected are speeches of as many words as their budget, ordinary ballots and the usual reasoning; at the low
end speeches are short and nobody reasons. At the high end every call takes its most tokens and is read by all
later calls, every ballot is repaired, and all possible side questions are put. None counts retries after a
fault, the discount of a provider's cache, or tools: eight results at their longest would dwarf everything
else. People cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING

from msgspec import Struct
from msgspec.structs import replace

from moot.core.events import DebateOpened
from moot.core.pricing import CountRange, cost, worst_cost
from moot.core.schedule import schedule, speaking_order
from moot.core.state import ZERO, Debate
from moot.core.terms import Judge, Money, Usage
from moot.rules import budget
from moot.rules.dry_run import PlannedCall, opened_debate, planned_calls

ANY_LIMIT = Money(1)
"""Under a limit calls are given fewer tokens, whatever the limit is."""
SHORT = 0.6
"""A short speaker uses so much of the words."""


class ModelCostEstimate(Struct, frozen=True):
    model: str
    calls: CountRange
    input: CountRange
    output: CountRange
    low: Money | None
    """None where nobody knows the price."""
    expected: Money | None
    high: Money | None


class SmallestLimit(Struct, frozen=True):
    """The most that a first round of short speeches can cost, and one reading by each judge."""

    round: Money
    judging: Money

    @property
    def total(self) -> Money:
        return _cents(self.round) + _cents(self.judging)

    def __str__(self) -> str:
        held = f"{_cents(self.round)} for a first round of short speeches"
        return held if not self.judging else f"{held} and {_cents(self.judging)} to have it judged"


class LimitHolds(Struct, frozen=True):
    """What a cost limit will hold."""

    rounds: int
    asked: int
    """The rounds that were asked for."""
    percent: int
    """How much of their words the speeches have."""
    readings: int
    judged: bool
    worst_rounds: int
    """The rounds that are held, and judged once, if every call takes its most tokens."""
    worst_readings: int
    """The readings by each judge in that case."""

    @property
    def whole(self) -> bool:
        return self.rounds == self.asked and self.percent == 100 and (self.readings > 1 or not self.judged)

    def __str__(self) -> str:
        held = _rounds_held(self.rounds, self.asked)
        if self.percent < 100:
            held += f" with {self.percent} % of the words"
        if self.judged:
            held += " and the verdict" if self.readings > 1 else " and a verdict after one reading"
        if self.worst_rounds < self.rounds:
            return f"{held}; worst case it stops after round {self.worst_rounds}"
        if self.judged and self.worst_readings < self.readings:
            return f"{held}; worst case each judge reads it only once"
        return f"{held}, even if every call takes all that it may"


def _rounds_held(rounds: int, asked: int) -> str:
    if rounds < asked:
        return f"{rounds} of {asked} rounds"
    return {1: "the round", 2: "both rounds"}.get(rounds, f"all {rounds} rounds")


class CostEstimate(Struct, frozen=True):
    speeches: int
    calls: CountRange
    tokens: CountRange
    low: Money | None
    """Of the models whose price is known; None where there is none of those."""
    expected: Money | None
    high: Money | None
    limited: bool
    """It could cost more if the cost limit did not hold it."""
    models: tuple[ModelCostEstimate, ...]
    unpriced: tuple[str, ...]
    smallest_limit: SmallestLimit | None = None
    """Below it no cost limit is accepted; None where a price is not known."""
    whole_limit: Money | None = None
    """The smallest limit under which nothing is shortened; None where a price is not known."""
    holds: LimitHolds | None = None
    """What the limit will hold; None without one."""
    lowered: tuple[str, ...] = ()
    """The models whose `max_tokens`, as the user has set it, the limit may have to lower."""


def estimate(opened: DebateOpened) -> CostEstimate:
    """The cost of the debate as it was asked for. Its limit may hold less: see `holds`."""
    asked = as_asked(opened)
    calls = tuple(planned_calls(opened_debate(asked)))
    models = tuple(
        _of([call for call in calls if call.model.label == label])
        for label in sorted({call.model.label for call in calls})
    )
    low = _sum([model.low for model in models])
    high = _sum([model.high for model in models])
    limit = opened.limits.cost_limit
    return CostEstimate(
        speeches=len(schedule(asked.format, asked.seats, asked.limits)),
        calls=_total([model.calls for model in models]),
        tokens=_total([span for model in models for span in (model.input, model.output)]),
        low=_held(low, limit),
        expected=_sum([model.expected for model in models]),
        high=_held(high, limit),
        limited=limit is not None and high is not None and high > limit,
        models=models,
        unpriced=tuple(model.model for model in models if model.high is None),
        smallest_limit=smallest_limit(asked),
        whole_limit=whole_limit(asked),
        holds=limit_holds(asked),
        lowered=tuple(sorted({call.model.label for call in calls if call.model.own_limit}))
        if limit is not None and high is not None and high > limit
        else (),
    )


def fitted_to_limit(opened: DebateOpened) -> DebateOpened:
    """With as many of its rounds as its cost limit is expected to hold, at least one."""
    limit = opened.limits.cost_limit
    if limit is None or not _all_priced(opened):
        return opened
    asked = opened_debate(opened).rounds_planned
    fewer = (rounds for rounds in range(asked, 1, -1) if _fits(_with_rounds(opened, rounds), limit))
    held = next(fewer, 1)
    if held >= asked:
        return opened
    shorter = _with_rounds(opened, held)
    return replace(shorter, limits=replace(shorter.limits, rounds_asked=asked))


def _fits(opened: DebateOpened, limit: Money) -> bool:
    return budget.fits(opened_debate(opened), limit)


def as_asked(opened: DebateOpened) -> DebateOpened:
    """With all the rounds that were asked for."""
    return _with_rounds(opened, opened.limits.rounds_asked) if opened.limits.rounds_asked else opened


def opening_of(debate: Debate) -> DebateOpened:
    """The setup of a debate that has just been opened."""
    return DebateOpened(
        debate.motion, debate.format, debate.seats, debate.judges, debate.limits, debate.setup,
        prompts=debate.prompts, fence=debate.fence,
    )  # fmt: skip


def limit_holds(asked: DebateOpened) -> LimitHolds | None:
    """What the limit of this debate will hold; None without one, or where a price is not known."""
    limit = asked.limits.cost_limit
    if limit is None or not _all_priced(asked):
        return None
    fitted = opened_debate(fitted_to_limit(asked))
    percent = budget.words_for_round(fitted, 1) or min(budget.WORD_SHARES)
    shorter = budget.shortened(fitted, 1, percent)
    ballots = any(call.ballot for call in planned_calls(shorter))
    return LimitHolds(
        rounds=fitted.rounds_planned,
        asked=opened_debate(asked).rounds_planned,
        percent=percent,
        readings=2 if budget.expected_cost(shorter) <= limit else 1,
        judged=ballots,
        worst_rounds=_worst_rounds(shorter, limit),
        worst_readings=2 if _worst_cost(planned_calls(shorter)) <= limit else 1,
    )


def _worst_rounds(debate: Debate, limit: Money) -> int:
    """How many rounds are held, and judged once, if every call takes its most tokens."""
    for rounds in range(debate.rounds_planned, 0, -1):
        if _worst_cost(call for call in planned_calls(debate, rounds) if not call.order) <= limit:
            return rounds
    # The first round was accepted with fewer tokens for reasoning.
    return 1


def _worst_cost(calls: Iterable[PlannedCall]) -> Money:
    """What these calls cost at most, without repairs and questions that may not come."""
    certain = (call for call in calls if call.expected is not None)
    costs = (worst_cost(call.model.price, call.bound, call.max_tokens) or ZERO for call in certain)
    return sum(costs, ZERO)


def whole_limit(asked: DebateOpened) -> Money | None:
    """The smallest limit under which all rounds are planned, with all their words and two readings."""
    if not _all_priced(asked):
        return None
    debate = opened_debate(_limited(asked))
    return _cents(max(budget.expected_cost(debate), budget.first_round_costs(debate)[0]))


def smallest_limit(opened: DebateOpened) -> SmallestLimit | None:
    """The smallest cost limit under which a first round of short speeches can be held and judged, whatever
    each of its calls costs, as long as none has to be made again and no tools are used. None where a price is
    not known."""
    if not _all_priced(opened):
        return None
    debate = budget.shortened(opened_debate(_limited(_with_rounds(opened, 1))), 1, min(budget.WORD_SHARES))
    total, judging = budget.first_round_costs(debate)
    return SmallestLimit(total - judging, judging)


def _limited(opened: DebateOpened) -> DebateOpened:
    return replace(opened, limits=replace(opened.limits, cost_limit=opened.limits.cost_limit or ANY_LIMIT))


def _with_rounds(opened: DebateOpened, rounds: int) -> DebateOpened:
    turns = rounds * len(speaking_order(opened.format, opened.seats)) if opened.format.turns else None
    if turns is not None and opened.limits.turns is not None:
        turns = min(turns, opened.limits.turns)
    return replace(opened, limits=replace(opened.limits, rounds=rounds, turns=turns, rounds_asked=0))


def _all_priced(opened: DebateOpened) -> bool:
    players = [*opened.seats, *(judge for judge in opened.judges if not judge.recused)]
    models = [player.model for player in players]
    models += [seat.stand_in for seat in opened.seats if seat.stand_in]
    return all(model.price is not None or model.human for model in models)


def _of(calls: list[PlannedCall]) -> ModelCostEstimate:
    usual = [call for call in calls if call.expected is not None]
    priced = calls[0].model.price is not None
    return ModelCostEstimate(
        model=calls[0].model.label,
        calls=CountRange(len(usual), len(calls)),
        input=CountRange(sum(_short(call).input for call in usual), sum(call.bound for call in calls)),
        output=CountRange(sum(_short(call).output for call in usual), sum(call.max_tokens for call in calls)),
        low=_sum([*(cost(call.model.price, _short(call)) for call in usual), ZERO]) if priced else None,
        expected=_sum([*(cost(call.model.price, call.expected or Usage()) for call in usual), ZERO])
        if priced
        else None,
        high=_sum([worst_cost(call.model.price, call.bound, call.max_tokens) for call in calls]),
    )


def _short(call: PlannedCall) -> Usage:
    """The same call with a short answer and no reasoning."""
    usage = call.expected or Usage()
    return replace(usage, output=int((usage.output - usage.reasoning) * SHORT), reasoning=0)


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
    limits = replace(debate.limits, cost_limit=ANY_LIMIT)
    setup = replace(debate.setup, winning="ai-judge")
    again = replace(debate, judges=tuple(judges), limits=limits, setup=setup, judgings=())
    return _cents(budget.one_reading_cost(again))


def _cents(amount: Money) -> Money:
    """In whole cents, rounded up."""
    return amount.quantize(Money("0.01"), ROUND_CEILING)
