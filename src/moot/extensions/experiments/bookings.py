"""The money of debates that belong to experiments, whoever lets them go on.

The budget is kept by the store: the sum of what is reserved for all legs of an experiment never exceeds it.
A leg whose debate is over has only its cost. So a command that lets such a debate go on, by whatever process,
first reserves what the debate may cost in all (`reserve`), and is then recorded only at the epoch that the
debate had before. When the debate is over again, its leg is settled (`settle`): by the process that ran it,
or by the next one that looks, if that was killed. A leg that was reserved for a command that was never
recorded is settled too, after the epoch was raised, so that the command cannot come any more.
"""

from __future__ import annotations

import asyncio
from math import ceil

from msgspec.structs import replace

from moot.core.crash_points import crash_point
from moot.core.errors import Fenced, OverBudget, UnknownDebate
from moot.core.state import Debate
from moot.core.statuses import Status
from moot.core.terms import Money
from moot.engine.bookings import Reservation
from moot.extensions.experiments.measuring.definition import ExperimentDefinition, from_json
from moot.extensions.experiments.measuring.leg_results import (
    LegResult,
    question_result,
    read_result,
    result_of,
)
from moot.extensions.experiments.measuring.planned_legs import planned_leg
from moot.extensions.experiments.measuring.planned_questions import OPEN, PlannedQuestion, choice_leg
from moot.extensions.experiments.store import (
    MICRODOLLARS,
    ExperimentLeg,
    ExperimentStore,
    LegOfDebate,
    microdollars,
)
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.rules.reserved_costs import ANY_AMOUNT, is_over
from moot.store.contract import Store
from moot.views.costs import dollars

ATTEMPTS = 10
"""How often others may come in between while a leg is settled."""
PATIENCE_SECONDS = 1.0
"""A command is recorded within milliseconds after its money is reserved, if its process lives."""
WAIT_SECONDS = 0.05
JUDGE_WITH_LIMIT = " Judge it again with a cost limit."
JUDGE_FOR_LESS = " Or judge it again with a smaller cost limit."


class ExperimentBookings:
    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def _experiments(self) -> ExperimentStore:
        return self._store.tables(EXPERIMENTS)

    async def reserve(self, debate_id: str, status: Status, most: Money | None) -> Reservation:
        """Reserve what a debate that is over may cost in all, before it goes on. Raises OverBudget.

        `most` is None where it has no limit; then no budget can hold.
        """
        found = await self._experiments.leg_of(debate_id)
        if found is None:
            return Reservation()
        epoch = (await self._store.head(debate_id)).epoch
        definition = await self._definition(found.experiment)
        budget = definition.budget if definition else None
        if budget is None:
            await self._reserve(found, most, None, epoch)
            return Reservation(ANY_AMOUNT, epoch)
        if most is None:
            advice = "" if status == "error" else JUDGE_WITH_LIMIT
            raise OverBudget(
                f"This debate belongs to the experiment {found.experiment}, which has a budget, and has no "
                f"cost limit of its own, so it could cost any amount.{advice}",
                status,
            )
        if not await self._reserve(found, most, budget, epoch):
            # Debates that went on and were killed may have more reserved than they cost. Commands of others
            # get the time to be recorded: two that take the money from each other would never end.
            await self.settle_held(found.experiment, but=found.leg.leg, patience=PATIENCE_SECONDS)
            if not await self._reserve(found, most, budget, epoch):
                raise await self._over_budget(found, most, budget, status)
        crash_point("leg-reserved-again")
        return Reservation(most, epoch)

    async def settle(self, debate_id: str) -> None:
        """Settle the leg of a debate that has gone on and is over; otherwise do nothing."""
        found = await self._experiments.leg_of(debate_id)
        if found is None or found.leg.held is None:
            return
        if definition := await self._definition(found.experiment):
            await self.settle_leg(definition, found.leg.leg)

    async def settle_held(self, name: str, *, but: str = "", patience: float = 0.0) -> None:
        """Settle all legs of an experiment that have gone on and are over, `but` one. `patience` as in
        `settle_leg`."""
        legs = [leg for leg in await self._experiments.held_legs(name) if leg.leg != but]
        if legs and (definition := await self._definition(name)):
            for leg in legs:
                await self.settle_leg(definition, leg.leg, patience)

    async def settle_leg(
        self, definition: ExperimentDefinition, name: str, patience: float = 0.0
    ) -> tuple[LegResult, int] | None:
        """Record what came of the debate of a leg, and what it has cost in millionths of a dollar; None where
        it is not over.

        A command that has its money and is not recorded is waited for so many seconds, and then kept from
        being recorded.
        """
        waits = ceil(patience / WAIT_SECONDS)
        for _ in range(waits + ATTEMPTS):
            leg = await self._experiments.leg(definition.name, name)
            if leg is None:
                return None
            try:
                epoch = (await self._store.head(leg.debate)).epoch
                debate = await self._store.state(leg.debate)
                if not is_over(debate):
                    return None
                if leg.held is not None and leg.held >= epoch:
                    if waits > 0:
                        waits -= 1
                        await asyncio.sleep(WAIT_SECONDS)
                    else:
                        await self._store.claim(leg.debate, "", seen_epoch=epoch)
                    continue
            except Fenced:
                continue
            except UnknownDebate:
                return None
            result, spent = await self._result(definition, leg, debate), microdollars(debate.cost_so_far)
            if await self._save(definition.name, leg, result, spent, epoch):
                return result, spent
        return None

    async def settle_deleted(self, debate_id: str) -> None:
        """Before a debate is deleted: its leg is over, with the most that it may have cost, so that it is
        not held a second time with the same money."""
        for _ in range(ATTEMPTS):
            found = await self._experiments.leg_of(debate_id)
            definition = await self._definition(found.experiment) if found else None
            if not found or not definition or (found.leg.result is not None and found.leg.held is None):
                return
            # From now on its runner records no call, and so makes none.
            epoch = await self._store.claim(debate_id, "")
            debate = await self._store.state(debate_id)
            result = await self._result(definition, found.leg, debate)
            if not is_over(debate):
                result = replace(result, status="aborted")
            spent = microdollars(debate.cost_so_far + debate.reserved)
            if await self._save(found.experiment, found.leg, result, spent, epoch):
                return

    async def _definition(self, name: str) -> ExperimentDefinition | None:
        known = await self._experiments.experiment(name)
        return from_json(known.definition) if known is not None else None

    async def _reserve(
        self, found: LegOfDebate, most: Money | None, budget: Money | None, epoch: int
    ) -> bool:
        return await self._experiments.reserve_again(
            found.experiment,
            found.leg.leg,
            microdollars(most or Money(0)),
            None if budget is None else microdollars(budget),
            epoch,
        )

    async def _over_budget(
        self, found: LegOfDebate, most: Money, budget: Money, status: Status
    ) -> OverBudget:
        counts = await self._experiments.counts(found.experiment)
        left = max(microdollars(budget) - counts.booked, 0)
        more = max(microdollars(most) - found.leg.reserved, 0)
        return OverBudget(
            f"This debate belongs to the experiment {found.experiment}. It may cost another "
            f"{dollars(Money(more) / MICRODOLLARS)}, and the budget of {dollars(budget)} has "
            f"{dollars(Money(left) / MICRODOLLARS)} left. Raise `budget` in the experiment's file and run it "
            f"(moot experiment run FILE).{'' if status == 'error' else JUDGE_FOR_LESS}",
            status,
        )

    async def _result(
        self, definition: ExperimentDefinition, leg: ExperimentLeg, debate: Debate
    ) -> LegResult:
        planned = planned_leg(definition, leg.leg)
        if isinstance(planned, PlannedQuestion):
            choice: LegResult | None = None
            if planned.protocol in OPEN:
                chosen = await self._experiments.leg(definition.name, choice_leg(planned).leg)
                choice = read_result(chosen.result) if chosen and chosen.result else None
            result = question_result(debate, definition, planned, choice)
        else:
            result = result_of(debate, definition.name, planned.group, planned.repeat)
        votes = read_result(leg.result).votes if leg.result is not None else ()
        return replace(result, votes=votes)

    async def _save(self, name: str, leg: ExperimentLeg, result: LegResult, spent: int, epoch: int) -> bool:
        return await self._experiments.settle(
            name,
            leg.leg,
            spent,
            result.to_json(),
            status=result.status,
            pro_share=result.pro_share,
            seen=epoch,
        )
