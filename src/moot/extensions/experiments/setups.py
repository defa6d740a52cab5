"""What the debates of an experiment are: their setups, their limits, and what all of them will cost.

A leg is one debate of the plan: two models on a motion, or one protocol on a question (`QuestionSetups`).
With a budget, the limit of a debate is the worst that can happen in it, unless the file says less.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING

import msgspec
from msgspec import Struct

from moot import formats
from moot.core.errors import Invalid, Unavailable
from moot.core.pricing import worst_cost
from moot.core.terms import Format, Model, Money
from moot.engine.arena import Arena
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.model_names import read_name
from moot.extensions.experiments.measuring.pairing import repeat_seed
from moot.extensions.experiments.measuring.planned_debates import (
    PlannedDebate,
    check_size,
    lineups_for_estimate,
    planned_count,
    seats_of,
    teams_of,
)
from moot.extensions.experiments.measuring.planned_legs import PlannedLeg, experiment_tag
from moot.extensions.experiments.measuring.planned_questions import PlannedQuestion, protocol_format
from moot.extensions.experiments.models import LaidOut, TierPrices, TierSaving, check_names, contestant
from moot.extensions.experiments.question_setups import (
    ProtocolEstimate,
    QuestionSetups,
    in_all,
    known_total,
    stand_for,
)
from moot.rules.cost_estimate import ANY_LIMIT, estimate
from moot.rules.debate_setup import Setup, opening_event
from moot.views.outcome import fewer_rounds

MAX_ESTIMATES = 8
"""Debates that are laid out for an estimate: each takes up to a tenth of a second."""


class ExperimentEstimate(Struct, frozen=True):
    """What an experiment will hold and cost, before it is run."""

    matchups: int
    debates: int
    calls: tuple[int, int]
    """From speeches within their word budget to every repair and question."""
    low: Money | None
    high: Money | None
    """None where a price is not known. With a budget never more than that."""
    unpriced: tuple[str, ...]
    debate_limit: Money | None
    protocols: tuple[ProtocolEstimate, ...] = ()
    """The same for each protocol, where there are questions."""
    warnings: tuple[str, ...] = ()
    """Why its debates have fewer rounds than were asked for."""
    cheaper: TierSaving | None = None
    """What cheaper tiers of the services would save."""


class ExperimentSetups:
    def __init__(self, arena: Arena, definition: ExperimentDefinition) -> None:
        self._arena = arena
        self._definition = definition
        self._limits: dict[tuple[str, ...] | str, Money | None] = {}
        self.questions = QuestionSetups(arena, definition) if definition.questions else None
        self.format: Format = (
            protocol_format(definition.protocols[0])
            if self.questions
            else formats.load(definition.format, arena.settings.formats)
        )
        self.teams = 2 if self.questions else teams_of(self.format)
        self._planned_debates = 0 if self.questions else planned_count(definition, self.teams)
        if not self.questions:
            check_size(definition, self.teams)

    def planned(self, results: Mapping[str, LegResult]) -> int:
        """How many debates there will be."""
        return self.questions.planned(results) if self.questions else self._planned_debates

    def models(self) -> tuple[Model, ...]:
        """All models of the experiment, judges included. Raises Invalid or Unavailable with everything that
        keeps them from being used: unknown names, services without their key."""
        names = dict.fromkeys((*self._definition.models, *self._definition.judges))
        check_names(self._arena, names)
        return tuple(contestant(self._arena, name) for name in names)

    def unpriced(self) -> bool:
        """Whether the price of one of its models is not known; also where it cannot be used here."""
        names = (*self._definition.models, *self._definition.judges)
        return any(
            self._arena.price(*read_name(name)[0].split("/", 1)) is None for name in names if "/" in name
        )

    async def estimate(self) -> ExperimentEstimate:
        """Check models, tools, format and prices, and count. Raises Invalid with what is wrong.

        A few debates are laid out, in which every model has every place where there are few models: what
        they cost on average is what each of them costs.
        """
        definition, models = self._definition, self.models()
        if self.questions is not None:
            return await self._estimate_questions(self.questions)
        by_price = sorted(definition.models, key=lambda name: _price(contestant(self._arena, name)))
        lineups = lineups_for_estimate(by_price, self.teams, MAX_ESTIMATES)
        legs = [PlannedDebate(definition.motions[0], lineup) for lineup in lineups]
        setups = [await self.setup(leg, definition.debate_limit, {}) for leg in legs]
        await self._check_tools()
        found = [estimate(opening_event(setup)) for setup in setups]
        count = self._planned_debates
        others = {model.label for model in models if model.price is None}
        unpriced = tuple(sorted(others.union(*(each.unpriced for each in found))))
        calls, low, high = in_all(found, count)
        estimated = ExperimentEstimate(
            matchups=count // self.teams,
            debates=count,
            calls=calls,
            low=None if unpriced else low,
            high=None if unpriced else high,
            unpriced=unpriced,
            debate_limit=await self.debate_limit(legs[0], {}),
            warnings=fewer_rounds(self.format, definition.rounds or 0),
        )
        return self._at_these_prices(estimated, stand_for(found, count))

    def _at_these_prices(self, found: ExperimentEstimate, laid_out: LaidOut) -> ExperimentEstimate:
        """With what the tiers of the services save, and never more than the budget."""
        tiers, budget = TierPrices(self._arena, self.models()), self._definition.budget
        low, high = found.low, found.high
        return msgspec.structs.replace(
            found,
            low=None if low is None else low * (1 - tiers.saved_share(laid_out)),
            high=high if budget is None or high is None else min(high, budget),
            cheaper=tiers.possible(laid_out),
        )

    async def _check_tools(self) -> None:
        """Raises Invalid with the name of a tool that is not there."""
        for tool in self._definition.options.get("tools", ()):
            try:
                await self._arena.tools.check((tool,))
            except (Invalid, Unavailable) as error:
                raise Invalid(f"`options.tools`: {tool!r} cannot be used here. {error}") from None

    async def _estimate_questions(self, setups: QuestionSetups) -> ExperimentEstimate:
        definition = self._definition
        await self._check_tools()
        found = await setups.estimates()
        estimated = ExperimentEstimate(
            matchups=len(definition.questions),
            debates=sum(each.debates for each in found),
            calls=(sum(each.calls[0] for each in found), sum(each.calls[1] for each in found)),
            low=known_total([each.low for each in found]),
            high=known_total([each.high for each in found]),
            unpriced=setups.unpriced(),
            debate_limit=definition.debate_limit,
            protocols=found,
        )
        return self._at_these_prices(estimated, setups.laid_out)

    async def setup(
        self, planned: PlannedLeg, limit: Money | None, results: Mapping[str, LegResult]
    ) -> Setup:
        definition = self._definition
        if isinstance(planned, PlannedQuestion):
            setups = self.questions or QuestionSetups(self._arena, definition)
            return await setups.setup(planned, limit, results)
        setup = await self._arena.setup(
            planned.motion,
            format=self.format,
            models=[contestant(self._arena, name) for name in seats_of(planned, self.format)],
            judges=[contestant(self._arena, name) for name in definition.judges],
            rounds=definition.rounds,
            cost_limit=limit,
            seed=repeat_seed(definition.seed, planned.repeat),
            **definition.options,
        )
        return msgspec.structs.replace(setup, experiment=experiment_tag(definition, planned))

    async def debate_limit(self, planned: PlannedLeg, results: Mapping[str, LegResult]) -> Money | None:
        """The cost limit of a debate: as defined; with a budget, at most the worst that can happen."""
        definition = self._definition
        if definition.debate_limit is not None or definition.budget is None:
            return definition.debate_limit
        key = planned.leg if isinstance(planned, PlannedQuestion) else planned.models
        if key not in self._limits:
            self._limits[key] = await self._worst_cost(planned, results)
        return self._limits[key]

    async def _worst_cost(self, planned: PlannedLeg, results: Mapping[str, LegResult]) -> Money:
        if isinstance(planned, PlannedQuestion) and self.questions is not None:
            return await self.questions.worst_cost(planned, results)
        worst = estimate(opening_event(await self.setup(planned, ANY_LIMIT * 1000, results))).high
        if worst is None:
            raise Invalid("A budget needs the price of every model; add the missing ones to moot.toml.")
        return worst.quantize(Money("0.01"), ROUND_CEILING) or Money("0.01")


def _price(model: Model) -> Money:
    """By which models are put in order; unknown ones come first."""
    return worst_cost(model.price, 1000, 1000) or Money(0)
