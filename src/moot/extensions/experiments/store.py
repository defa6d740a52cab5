"""Experiments as a store keeps them: the definition, who runs it, and the debate of each leg with its money.

A *leg* is one planned debate of an experiment. It is reserved before its debate is opened: under the id that
the debate will have, and with the most that it may cost. So a process that dies in between leaves a leg that
the next one completes, never a second debate, and the budget holds over all processes: `reserve` adds a leg
only for the process that took the experiment over last, and only while the sum stays within the budget.

A leg that is settled may be held again: its debate is retried or judged again, by whatever process. Then it
is reserved again first (`reserve_again`), with the epoch of its debate (`held`) at which the command will be
recorded. Until the debate has a later epoch that command may still come, and the leg cannot be settled.
`MemoryExperiments` is in memory; the others are `sql_experiments`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import datetime, timedelta
from decimal import ROUND_CEILING
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Fenced, Invalid
from moot.core.terms import Money

Clock = Callable[[], datetime]
SummaryOf = Callable[[str], str | None]
ExperimentState = Literal["running", "stopping", "stopped", "done"]
ExperimentStanding = Literal["running", "stopping", "stopped", "done", "interrupted"]
LEASE = timedelta(seconds=20)
"""A process that runs an experiment says every few seconds that it is alive. After so long without that, the
experiment is taken for interrupted."""
LEG_PAGE = 500
"""Legs that are read at a time."""
MICRODOLLARS = 1_000_000
"""Amounts are whole millionths of a dollar, rounded up, so that a database can add them exactly."""


def microdollars(amount: Money) -> int:
    return int((amount * MICRODOLLARS).to_integral_value(ROUND_CEILING))


class StoredExperiment(Struct, frozen=True):
    name: str
    definition: str
    """The definition as JSON, with its motions written out."""
    state: ExperimentState
    epoch: int
    """Rises whenever a process takes the experiment over; only the last one may reserve legs."""
    created_at: datetime
    updated_at: datetime
    beat_at: datetime | None = None
    """When the process that runs it was last alive."""

    def standing(self, at: datetime) -> ExperimentStanding:
        """Its state, or `interrupted` where no process runs it though it was not stopped."""
        alive = self.beat_at is not None and at - self.beat_at < LEASE
        return "interrupted" if self.state in ("running", "stopping") and not alive else self.state


class LegCounts(Struct, frozen=True):
    """How far an experiment is, counted without reading results."""

    reserved: int
    """Legs that were begun, those that are over included."""
    settled: int
    failed: int
    running: int
    """Legs without a result whose debate has been opened."""
    spent: int
    """For the legs that are over, in millionths of a dollar."""
    booked: int = 0
    """For all legs: what those that are over have cost, and the most that the others may cost."""


class ExperimentLeg(Struct, frozen=True):
    """One planned debate, from the moment its money is reserved."""

    leg: str
    debate: str
    reserved: int
    """The most that it may cost; once it is over, what it cost. In millionths of a dollar."""
    result: str | None = None
    """What came of it, as JSON; None until it is settled. It stays when the debate is deleted."""
    summary: str | None = None
    """JSON of `views.summary` while there is no result; None before the debate is opened."""
    held: int | None = None
    """From `reserve_again` until it is settled: the epoch of the debate up to which a command may let it go
    on."""


class LegOfDebate(Struct, frozen=True):
    experiment: str
    leg: ExperimentLeg


class ExperimentStore(Protocol):
    async def save(self, name: str, definition: str) -> StoredExperiment:
        """Save a definition, in place of one with the same name, and take the experiment over: it is running,
        and its epoch is one higher."""
        ...

    async def set_state(self, name: str, state: ExperimentState) -> bool:
        """Whether there is such an experiment."""
        ...

    async def experiments(self) -> tuple[StoredExperiment, ...]:
        """All experiments, newest first."""
        ...

    async def experiment(self, name: str) -> StoredExperiment | None: ...

    async def reserve(
        self, name: str, epoch: int, leg: str, debate: str, amount: int, budget: int | None
    ) -> bool:
        """Add a leg. False where the budget does not allow it. Raises Fenced where another process has taken
        the experiment over, and Invalid where the leg exists."""
        ...

    async def reserve_again(
        self, name: str, leg: str, amount: int, budget: int | None, held: int | None = None
    ) -> bool:
        """Reserve so much in all for a leg that exists, unless more is reserved, before its debate goes on.

        `held` is the epoch of the debate at which the command that lets it go on is recorded, or is not: see
        `settle`. False where the budget does not allow it, or there is no such leg.
        """
        ...

    async def beat(self, name: str, epoch: int) -> None:
        """Say that the process which has taken the experiment over is alive."""
        ...

    async def settle(
        self,
        name: str,
        leg: str,
        amount: int,
        result: str,
        *,
        status: str = "completed",
        pro_share: float | None = None,
        seen: int | None = None,
    ) -> bool:
        """Record what the debate of the leg has cost, and what came of it; again after another judging.

        `pro_share` is the share of its ballots for the side of the motion. `seen` is the epoch that the
        debate had before its state was read. False, and nothing is changed, where the leg is held at that
        epoch or a later one: the debate may have gone on since."""
        ...

    async def keep_result(self, name: str, leg: str, result: str, *, was: str) -> bool:
        """Put another result in the place of this one of a settled leg; its money stays as it is. False where
        the result is another by now."""
        ...

    async def leg(self, name: str, leg: str) -> ExperimentLeg | None:
        """Without a summary."""
        ...

    async def leg_of(self, debate: str) -> LegOfDebate | None:
        """The experiment that a debate belongs to, and its leg there, without a summary."""
        ...

    async def held_legs(self, name: str) -> tuple[ExperimentLeg, ...]:
        """Those that were reserved again and are not settled, without a summary."""
        ...

    async def legs(self, name: str) -> tuple[ExperimentLeg, ...]:
        """All legs in the order of their reservation."""
        ...

    def leg_pages(self, name: str) -> AsyncGenerator[tuple[ExperimentLeg, ...], None]:
        """The same in pages, for what must not hold all of them in memory."""
        ...

    async def counts(self, name: str) -> LegCounts: ...

    async def failed_results(self, name: str, limit: int = 20) -> tuple[str, ...]:
        """The results of some legs with the status `error`."""
        ...

    async def side_shares(self) -> tuple[tuple[str, float], ...]:
        """Of all experiments: each leg with ballots, and the share of them for the side of the motion."""
        ...


def taken_over() -> Fenced:
    return Fenced("Another process has taken this experiment over.")


def leg_exists(leg: str) -> Invalid:
    return Invalid(f"The leg {leg} has been reserved before.")


class MemoryExperiments:
    """`summary_of` returns the summary of a debate, or None."""

    def __init__(self, clock: Clock, summary_of: SummaryOf) -> None:
        self._clock = clock
        self._summary_of = summary_of
        self._experiments: dict[str, StoredExperiment] = {}
        self._legs: dict[str, dict[str, ExperimentLeg]] = {}
        self._settled: dict[tuple[str, str], tuple[str, float | None]] = {}

    async def save(self, name: str, definition: str) -> StoredExperiment:
        at = self._clock()
        known = self._experiments.get(name)
        saved = StoredExperiment(
            name,
            definition,
            "running",
            known.epoch + 1 if known else 1,
            known.created_at if known else at,
            at,
            at,
        )
        self._experiments[name] = saved
        self._legs.setdefault(name, {})
        return saved

    async def set_state(self, name: str, state: ExperimentState) -> bool:
        if name not in self._experiments:
            return False
        self._experiments[name] = replace(self._experiments[name], state=state, updated_at=self._clock())
        return True

    async def experiments(self) -> tuple[StoredExperiment, ...]:
        return tuple(sorted(self._experiments.values(), key=lambda one: one.created_at, reverse=True))

    async def experiment(self, name: str) -> StoredExperiment | None:
        return self._experiments.get(name)

    async def reserve(
        self, name: str, epoch: int, leg: str, debate: str, amount: int, budget: int | None
    ) -> bool:
        legs = self._claimed_legs(name, epoch)
        if leg in legs:
            raise leg_exists(leg)
        if not self._fits(name, amount, budget):
            return False
        legs[leg] = ExperimentLeg(leg, debate, amount)
        return True

    async def reserve_again(
        self, name: str, leg: str, amount: int, budget: int | None, held: int | None = None
    ) -> bool:
        known = self._legs.get(name, {}).get(leg)
        if known is None:
            return False
        more = max(amount - known.reserved, 0)
        if more and not self._fits(name, more, budget):
            return False
        holds = [epoch for epoch in (known.held, held) if epoch is not None]
        self._legs[name][leg] = replace(known, reserved=known.reserved + more, held=max(holds, default=None))
        return True

    def _claimed_legs(self, name: str, epoch: int) -> dict[str, ExperimentLeg]:
        known = self._experiments.get(name)
        if known is None or known.epoch != epoch:
            raise taken_over()
        return self._legs[name]

    def _fits(self, name: str, amount: int, budget: int | None) -> bool:
        reserved = sum(each.reserved for each in self._legs[name].values())
        return budget is None or reserved + amount <= budget

    async def beat(self, name: str, epoch: int) -> None:
        known = self._experiments.get(name)
        if known is not None and known.epoch == epoch:
            self._experiments[name] = replace(known, beat_at=self._clock())

    async def settle(
        self,
        name: str,
        leg: str,
        amount: int,
        result: str,
        *,
        status: str = "completed",
        pro_share: float | None = None,
        seen: int | None = None,
    ) -> bool:
        legs = self._legs.get(name, {})
        known = legs.get(leg)
        if known is None or (seen is not None and known.held is not None and known.held >= seen):
            return False
        legs[leg] = replace(known, reserved=amount, result=result, held=None)
        self._settled[name, leg] = status, pro_share
        return True

    async def keep_result(self, name: str, leg: str, result: str, *, was: str) -> bool:
        known = self._legs.get(name, {}).get(leg)
        if known is None or known.result != was:
            return False
        self._legs[name][leg] = replace(known, result=result)
        return True

    async def leg(self, name: str, leg: str) -> ExperimentLeg | None:
        return self._legs.get(name, {}).get(leg)

    async def leg_of(self, debate: str) -> LegOfDebate | None:
        for name, legs in self._legs.items():
            for leg in legs.values():
                if leg.debate == debate:
                    return LegOfDebate(name, leg)
        return None

    async def held_legs(self, name: str) -> tuple[ExperimentLeg, ...]:
        return tuple(leg for leg in self._legs.get(name, {}).values() if leg.held is not None)

    async def legs(self, name: str) -> tuple[ExperimentLeg, ...]:
        return tuple(
            leg if leg.result is not None else replace(leg, summary=self._summary_of(leg.debate))
            for leg in self._legs.get(name, {}).values()
        )

    async def leg_pages(self, name: str) -> AsyncGenerator[tuple[ExperimentLeg, ...], None]:
        legs = await self.legs(name)
        for start in range(0, len(legs), LEG_PAGE):
            yield legs[start : start + LEG_PAGE]

    async def counts(self, name: str) -> LegCounts:
        legs = await self.legs(name)
        settled = [leg for leg in legs if leg.result is not None]
        return LegCounts(
            reserved=len(legs),
            settled=len(settled),
            failed=sum(self._settled[name, leg.leg][0] == "error" for leg in settled),
            running=sum(leg.summary is not None for leg in legs),
            spent=sum(leg.reserved for leg in settled),
            booked=sum(leg.reserved for leg in legs),
        )

    async def failed_results(self, name: str, limit: int = 20) -> tuple[str, ...]:
        legs = self._legs.get(name, {}).values()
        failed = (leg.result for leg in legs if self._settled.get((name, leg.leg), ("",))[0] == "error")
        return tuple(result for result in failed if result is not None)[:limit]

    async def side_shares(self) -> tuple[tuple[str, float], ...]:
        return tuple((leg, share) for (_, leg), (_, share) in self._settled.items() if share is not None)

    def held_debates(self) -> set[str]:
        """The debates that belong to an experiment."""
        return {leg.debate for legs in self._legs.values() for leg in legs.values()}
