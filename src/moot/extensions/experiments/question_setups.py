"""The debates of an experiment with questions: how each leg is set up, and what it may cost.

Every protocol is a debate with a format of its own, so that it is watched, stored, limited and continued like
any other: two debaters, one consultant, or models that answer by themselves. In an interactive debate the
judge has a seat too, in which it asks. Self-consistency has as many answers as the debate of the same model
against itself would pay for, by the estimate of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.core.terms import DebateQuestion, Money
from moot.engine.arena import Arena
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.pairing import repeat_seed
from moot.extensions.experiments.measuring.planned_legs import experiment_tag
from moot.extensions.experiments.measuring.planned_questions import (
    ALONE,
    READINGS,
    PlannedQuestion,
    ProtocolName,
    cannot_be_held,
    chosen_answer,
    debate_question,
    open_legs,
    protocol_format,
    question_legs,
)
from moot.extensions.experiments.models import contestant
from moot.rules.cost_estimate import ANY_LIMIT, CostEstimate, estimate
from moot.rules.debate_setup import SeatSetup, Setup, opening_event

MAX_SAMPLES = 40
MAX_ESTIMATES = 60
"""Legs that are laid out for an estimate: each takes some milliseconds."""
NAME_CHARS = 60
CENT = Money("0.01")


class ProtocolEstimate(Struct, frozen=True):
    """What one protocol of an experiment takes."""

    protocol: ProtocolName
    debates: int
    calls: tuple[int, int]
    low: Money | None
    high: Money | None
    """None where a price is not known."""


class QuestionSetups:
    def __init__(self, arena: Arena, definition: ExperimentDefinition) -> None:
        self._arena = arena
        self._definition = definition
        self._estimates: dict[tuple[str, ProtocolName, tuple[str, ...], str], CostEstimate] = {}
        self.laid_out: list[tuple[CostEstimate, Money]] = []
        """By `estimates`: legs, and how many of the experiment's each of them stands for."""
        self.first = question_legs(definition)
        """All legs but those of the open protocols."""
        self.open = open_legs(definition)
        """Those wait until it is known which answers their choosers think right."""

    def planned(self, results: Mapping[str, LegResult]) -> int:
        """How many legs there are, without those whose chooser has chosen nothing."""
        return len(self.first) + sum(not cannot_be_held(leg, results) for leg in self.open)

    def open_legs(self, results: Mapping[str, LegResult]) -> list[PlannedQuestion]:
        """Those of the open protocols that can be held."""
        return [leg for leg in self.open if chosen_answer(leg, results) is not None]

    async def setup(
        self, leg: PlannedQuestion, limit: Money | None, results: Mapping[str, LegResult]
    ) -> Setup:
        return await self._setup(leg, limit, chosen_answer(leg, results))

    async def _setup(self, leg: PlannedQuestion, limit: Money | None, chosen: int | None) -> Setup:
        definition, fmt = self._definition, protocol_format(leg.protocol)
        motion, question = debate_question(definition, leg, chosen)
        judges = () if fmt.result == "none" else (leg.judge,) if leg.judge else definition.judges
        setup = await self._arena.setup(
            motion,
            format=fmt,
            seats=await self._seats(leg, question),
            judges=[contestant(self._arena, name) for name in judges],
            judge=None if judges else "none",
            rounds=definition.rounds if fmt.repeat else None,
            cost_limit=limit,
            seed=repeat_seed(definition.seed, leg.repeat) + _same_again(leg),
            **definition.options,
        )
        return replace(setup, experiment=experiment_tag(definition, leg), question=question, any_length=True)

    async def _seats(self, leg: PlannedQuestion, question: DebateQuestion) -> tuple[SeatSetup, ...]:
        """A debater is named after its answer, for readers; judges see neither name."""
        models = [contestant(self._arena, name) for name in leg.models]
        asking = [SeatSetup(model=self._arena.model(leg.judge), name="Judge")] if leg.judge else []
        if leg.protocol in ALONE:
            count = await self.samples(leg) if leg.protocol == "self-consistency" else READINGS
            return tuple(SeatSetup(model=models[0], name=f"Answer {n}") for n in range(1, count + 1))
        arguing = (
            SeatSetup(model=model, name=f"{letter}: {choice[:NAME_CHARS]}")
            for letter, choice, model in zip("AB", question.choices, models, strict=False)
        )
        return (*arguing, *asking)

    async def samples(self, leg: PlannedQuestion) -> int:
        """How many answers cost about as much as a debate, half of them in each order of the list: by prices
        where all are known and above zero, else by tokens."""
        protocols = self._definition.protocols
        held: ProtocolName = "debate" if "debate" in protocols else "sequential-debate"
        debate = await self.estimate(PlannedQuestion(leg.question, held, leg.models * 2))
        single = await self.estimate(PlannedQuestion(leg.question, "single-shot", leg.models))
        if debate.expected and single.expected and not debate.unpriced:
            ratio = float(debate.expected / single.expected)
        else:
            ratio = debate.tokens.low / max(1, single.tokens.low)
        return READINGS * max(1, min(MAX_SAMPLES // READINGS, round(ratio)))

    async def estimate(self, leg: PlannedQuestion) -> CostEstimate:
        """What the leg may cost; swapping the answers makes no difference."""
        key = (leg.question, leg.protocol, leg.models, leg.judge)
        if key not in self._estimates:
            setup = await self._setup(leg, self._definition.debate_limit, 0)
            self._estimates[key] = estimate(opening_event(setup))
        return self._estimates[key]

    async def estimates(self) -> tuple[ProtocolEstimate, ...]:
        """By protocol, in the order in which they were named. Of many legs a few are laid out, and the others
        cost as much on average."""
        legs: dict[ProtocolName, list[PlannedQuestion]] = {name: [] for name in self._definition.protocols}
        for leg in (*self.first, *self.open):
            legs.setdefault(leg.protocol, []).append(leg)
        most = max(1, MAX_ESTIMATES // max(1, len(legs)))
        return tuple([await self._protocol_estimate(name, each, most) for name, each in legs.items()])

    async def _protocol_estimate(
        self, protocol: ProtocolName, legs: Sequence[PlannedQuestion], most: int
    ) -> ProtocolEstimate:
        kinds = {(leg.question, leg.models, leg.judge): leg for leg in legs}
        shown = legs if len(kinds) <= most else [*kinds.values()][:: -(-len(kinds) // most)]
        found = [await self.estimate(leg) for leg in shown]
        self.laid_out += stand_for(found, len(legs))
        return ProtocolEstimate(protocol, len(legs), *in_all(found, len(legs)))

    def unpriced(self) -> tuple[str, ...]:
        named = {*self._definition.models, *self._definition.judges}
        models = {model.label for name in named if (model := contestant(self._arena, name)).price is None}
        return tuple(sorted(models.union(*(each.unpriced for each in self._estimates.values()))))

    async def worst_cost(self, leg: PlannedQuestion, results: Mapping[str, LegResult]) -> Money:
        """The most that the leg may cost. Where seats only answer, there is room to ask each once more: a
        call that is lost in a crash counts with all it may have cost. Raises Invalid where a price is not
        known."""
        found = estimate(opening_event(await self.setup(leg, ANY_LIMIT * 1000, results)))
        if found.high is None or found.unpriced:
            raise Invalid("A budget needs the price of every model; add the missing ones to moot.toml.")
        least = found.smallest_limit.total if found.smallest_limit else CENT
        worst = found.high * 2 if protocol_format(leg.protocol).result == "none" else found.high
        return max(worst.quantize(CENT, ROUND_CEILING), least, CENT)


def _same_again(leg: PlannedQuestion) -> int:
    """Where both legs have the same setup, the second has another seed."""
    return int(leg.protocol == "open-consultancy" and leg.swapped)


def stand_for(found: Sequence[CostEstimate], debates: int) -> list[tuple[CostEstimate, Money]]:
    """Each debate that was laid out, with how many of so many it stands for."""
    return [(one, Money(debates) / len(found)) for one in found]


def in_all(found: Sequence[CostEstimate], debates: int) -> tuple[tuple[int, int], Money | None, Money | None]:
    """Calls, and the lower and the higher cost, of so many debates of which these were laid out."""
    count = len(found) or 1
    low, high = known_total([one.low for one in found]), known_total([one.high for one in found])
    calls = (
        sum(one.calls.low for one in found) * debates // count,
        sum(one.calls.high for one in found) * debates // count,
    )
    return (
        calls,
        None if low is None else low * debates / count,
        None if high is None else high * debates / count,
    )


def known_total(amounts: Sequence[Money | None]) -> Money | None:
    """The sum; None where an amount is not known."""
    if any(amount is None for amount in amounts):
        return None
    return sum((amount for amount in amounts if amount is not None), Money(0))
