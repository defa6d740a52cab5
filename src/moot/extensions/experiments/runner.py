"""Runs an experiment: opens its debates as ordinary debates, and records what came of each.

The store holds everything that a next run needs: which legs were reserved under which debate, and the result
of those that are over. So a run that was killed is repeated with the same call, holds only what is missing,
and stays within the budget: a leg is reserved with the most that its debate may cost before the debate is
opened or tried again, and settled with what it has cost (`bookings.py`). Where workers share the
store, they hold the debates; this process only opens them and waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from moot.core.crash_points import crash_point
from moot.core.errors import Invalid, OverBudget, Refused, StoreError, UnknownDebate
from moot.core.ids import new_id
from moot.core.state import Debate
from moot.core.statuses import ENDED
from moot.core.terms import Model, Money
from moot.engine.arena import Arena
from moot.extensions.experiments.bookings import ExperimentBookings
from moot.extensions.experiments.measuring.definition import ExperimentDefinition, check_extension, from_json
from moot.extensions.experiments.measuring.judge_identity import EVERY_JUDGE, JudgeFilter
from moot.extensions.experiments.measuring.leg_results import LegResult, read_leg_result
from moot.extensions.experiments.measuring.people_votes import votes_on
from moot.extensions.experiments.measuring.planned_debates import all_legs, next_legs
from moot.extensions.experiments.measuring.planned_legs import PlannedLeg, leg_fence, planned_leg
from moot.extensions.experiments.measuring.shared_texts import SharedTexts
from moot.extensions.experiments.people_judging import keep_votes, mark_changed
from moot.extensions.experiments.progress import ExperimentProgress, stored_progress
from moot.extensions.experiments.rejudging import JudgePanel, judge_panels, times_judged
from moot.extensions.experiments.run_ledger import RunLedger
from moot.extensions.experiments.setups import ExperimentEstimate, ExperimentSetups
from moot.extensions.experiments.store import ExperimentLeg, microdollars, taken_over
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.rules.commands import JudgeNow, Retry
from moot.rules.reserved_costs import is_over, most_cost

if TYPE_CHECKING:
    from moot.extensions.experiments.measuring.ratings import Population
    from moot.extensions.experiments.measuring.report import ExperimentReport

STATE_SECONDS = 1.0
"""How often the wish to stop is looked for."""
BEATS = 5
"""Every so many looks the store is told that this process is alive."""


OnProgress = Callable[[ExperimentProgress], None]


class ExperimentRunner:
    """One run of one experiment.

    await ExperimentRunner(arena, read_definition(Path("league.toml"))).run()
    """

    def __init__(self, arena: Arena, definition: ExperimentDefinition, on_progress: OnProgress | None = None):
        self._arena = arena
        self._definition = definition
        self._store = arena.store.tables(EXPERIMENTS)
        self._bookings = ExperimentBookings(arena.store)
        self._on_progress = on_progress
        self._setups = ExperimentSetups(arena, definition)
        self._questions = self._setups.questions
        by_results = not definition.questions and definition.pairing in ("swiss", "adaptive")
        self._ledger = RunLedger(self._setups.planned({}), self._questions, keep_rows=by_results)
        self._running: set[str] = set()
        self._teams = self._setups.teams
        self._held_now = 0
        self._started = monotonic()
        self._stopped_by = ""
        self._settled = asyncio.Event()
        """Set, and replaced by another, when a debate is over and its money is settled."""

    @property
    def stopped_by(self) -> str:
        """Why nothing further is started: `budget` or `stop`; empty while there is no reason."""
        return self._stopped_by

    @property
    def _budget(self) -> int | None:
        budget = self._definition.budget
        return None if budget is None else microdollars(budget)

    def models(self) -> tuple[Model, ...]:
        """See `ExperimentSetups.models`."""
        return self._setups.models()

    async def estimate(self) -> ExperimentEstimate:
        """See `ExperimentSetups.estimate`."""
        return await self._setups.estimate()

    async def run(self, *, retry_failed: bool = False) -> ExperimentProgress:
        """Hold what is missing, and return when all of it is over or nothing further may be started.

        Raises Invalid where the experiment has been run with another definition, and Fenced where another
        process takes it over.
        """
        definition = self._definition
        known = await self._store.experiment(definition.name)
        if known is not None:
            check_extension(from_json(known.definition), definition)
        await self.estimate()  # refuses unknown models before anything is stored
        saved = await self._store.save(definition.name, definition.to_json())
        await self._load()
        await self._check_limits()
        slots = asyncio.Semaphore(definition.concurrency)
        try:
            async with self._watched(saved.epoch), asyncio.TaskGroup() as group:
                async for planned in self._missing(retry_failed):
                    await slots.acquire()
                    if not await self._may_start(planned, saved.epoch, retry_failed):
                        slots.release()
                        break
                    self._running.add(planned.leg)
                    holding = group.create_task(self._hold(planned, retry_failed), name=planned.leg)
                    holding.add_done_callback(lambda _task: slots.release())
                    self._report()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        except asyncio.CancelledError:
            await asyncio.shield(self._store.set_state(definition.name, "stopped"))
            raise
        complete = not self._stopped_by and self._ledger.finished >= self._ledger.planned
        await self._store.set_state(definition.name, "done" if complete else "stopped")
        return self._report()

    async def rejudge(
        self,
        judges: Sequence[str] = (),
        *,
        criteria: Sequence[str] = (),
        allowance: Money | None = None,
        prompts: Mapping[str, str] | None = None,
        repeats: int = 1,
    ) -> int:
        """Have every debate that was judged judged again by these judges; returns how often one was.

        With `prompts` (name to text) it is judged once with each of them, and the name stands with the judge
        in ballots and reports; `repeats` is how often. Without `judges`, those of the experiment judge. The
        new ballots are added to the results, and the first verdicts stay. What this panel has judged before
        is left out, so that an interrupted call is simply repeated. `allowance` is what each judging may cost
        at most; with a budget it is needed, and counts towards it.
        """
        definition = self._definition
        if definition.budget is not None and allowance is None:
            raise Invalid("With a budget, say what each judging may cost at most (--allowance).")
        panels = judge_panels(self._arena, judges or definition.judges, prompts)
        saved = await self._store.save(definition.name, definition.to_json())
        await self._load()
        slots, judged, starting = asyncio.Semaphore(definition.concurrency), 0, set[str]()

        async def begin(debate: Debate, panel: JudgePanel) -> bool:
            """Whether the budget allows it. Where the rest of it is reserved, judgings under way are waited
            for, which usually cost less than that."""
            while not self._stopped_by:
                settled = self._settled
                known = await self._store.experiment(definition.name)
                if known is None or known.epoch != saved.epoch:
                    raise taken_over()
                starting.add(debate.id)
                try:
                    await self._arena.rejudge(debate.id, panel, criteria=criteria, allowance=allowance)
                except OverBudget:
                    starting.discard(debate.id)
                    if not (self._running or starting or settled.is_set()):
                        self._stopped_by = "budget"
                        self._notify()
                    await settled.wait()
                else:
                    return True
                finally:
                    starting.discard(debate.id)
            return False

        async def judge_once(leg: ExperimentLeg, panel: JudgePanel) -> bool:
            """Whether it was judged: not where this panel has judged it often enough, or the budget is used
            up."""
            debate = await self._arena.state(leg.debate)
            if debate.status != "completed" or times_judged(debate, panel, criteria) >= repeats:
                return False
            if debate.being_judged:
                self._arena.run(debate.id)  # its process may be gone
            elif not await begin(debate, panel):
                return False
            self._running.add(leg.leg)
            try:
                await self._wait_and_settle(leg, await self._arena.state(debate.id))
            finally:
                self._running.discard(leg.leg)
                self._notify()
            return True

        async def judge_again(leg: ExperimentLeg) -> None:
            nonlocal judged
            for panel in panels:
                for _ in range(repeats):
                    was_judged = await judge_once(leg, panel)
                    judged += was_judged

        try:
            async with self._watched(saved.epoch), asyncio.TaskGroup() as group:
                async for leg, _ in self._results():
                    await slots.acquire()
                    judging = group.create_task(judge_again(leg), name=leg.leg)
                    judging.add_done_callback(lambda _task: slots.release())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        await self._store.set_state(definition.name, "stopped" if self._stopped_by else "done")
        return judged

    async def add_votes(self, votes: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[LegResult, ...]:
        """Keep the votes of people with the results (`people_votes.read_votes`); returns all results that
        have votes.

        A later vote of the same voter on the same debate replaces the earlier one. Raises Invalid for debates
        that are not part of the experiment and for winners that did not argue, and keeps nothing then.
        """
        name = self._definition.name
        await self._bookings.settle_held(name)
        cast = {
            result.debate: votes_on(result.judgments[0], votes[result.debate])
            async for _, result in self._results()
            if result.judgments and result.debate in votes
        }
        if unknown := sorted(votes.keys() - cast.keys()):
            others = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
            raise Invalid(
                f"There is no judged debate {', '.join(unknown[:3])}{others} in the experiment {name}."
            )
        voted = list[LegResult]()
        async for leg, result in self._results():
            if result.debate in cast:
                result = await keep_votes(self._store, name, leg.leg, cast[result.debate])
            if result.votes:
                voted.append(result)
        await mark_changed(self._store, name)
        return tuple(voted)

    async def stored_progress(self) -> ExperimentProgress:
        """Where the experiment stands by what is stored, without running it. No result is read."""
        await self._load_choices()
        unpriced = self._setups.unpriced()
        return await stored_progress(self._store, self._definition, self._ledger.planned, unpriced=unpriced)

    async def report(
        self,
        version: str,
        judges_of: JudgeFilter = EVERY_JUDGE,
        over: Population = "motions",
        manifest: str = "",
    ) -> ExperimentReport:
        """Everything that the results so far show, by all judges or by those named; computed in a thread.
        Needs the extra `experiments`."""
        from moot.extensions.experiments.measuring.report import library_versions, make_report

        await self._load_choices()
        texts = SharedTexts()
        results = [texts.result(result) async for _, result in self._results()]
        return await asyncio.to_thread(
            make_report,
            self._definition,
            results,
            planned=self._ledger.planned,
            version=version,
            made_at=datetime.now(UTC),
            versions=library_versions(),
            judges_of=judges_of,
            over=over,
            manifest=manifest,
        )

    async def _load_choices(self) -> None:
        """What the number of planned debates depends on: how many open debates can be held."""
        if self._questions is not None and self._questions.open:
            await self._load()
        else:
            await self._bookings.settle_held(self._definition.name)

    async def _load(self) -> None:
        # The process that let a debate go on may have ended before it could settle it.
        await self._bookings.settle_held(self._definition.name)
        async for page in self._store.leg_pages(self._definition.name):
            for leg in page:
                kept = msgspec.structs.replace(leg, result=None, summary=None)
                if leg.result is None:
                    self._ledger.begin(kept)
                else:
                    self._ledger.settle(
                        kept, read_leg_result(leg.result, planned_leg(self._definition, leg.leg))
                    )

    async def _results(self) -> AsyncIterator[tuple[ExperimentLeg, LegResult]]:
        """The legs with a result, read in pages."""
        async for page in self._store.leg_pages(self._definition.name):
            for leg in page:
                if leg.result is not None:
                    result = read_leg_result(leg.result, planned_leg(self._definition, leg.leg))
                    yield msgspec.structs.replace(leg, result=None), result

    # --- which debates --------------------------------------------------------------------------------

    async def _missing(self, retry_failed: bool) -> AsyncIterator[PlannedLeg]:
        """The legs without a result: first those that were begun and have their money, then the failed."""
        ledger = self._ledger
        begun = [name for name in ledger.open if not ledger.is_over(name) or retry_failed]
        for name in sorted(begun, key=ledger.is_over):
            # What was deleted is not held a second time: its money was spent.
            if not ledger.has_result(name) or await self._is_stored(ledger.open[name].debate):
                yield planned_leg(self._definition, name)
        if self._questions is not None:
            for leg in self._questions.first:
                if leg.leg not in ledger:
                    yield leg
            if self._questions.open:
                await self._all_settled()
            for leg in self._questions.open_legs(ledger.choices):
                if leg.leg not in ledger:
                    yield leg
            return
        if self._definition.pairing == "round-robin":
            for leg in all_legs(self._definition, self._teams):
                if leg.leg not in ledger:
                    yield leg
            return
        while (left := (self._definition.matchups or 0) - ledger.begun // self._teams) > 0:
            await self._all_settled()
            most = left if self._definition.pairing == "swiss" else min(left, self._definition.concurrency)
            for leg in next_legs(self._definition, ledger.rows(), most):
                yield leg

    async def _is_stored(self, debate_id: str) -> bool:
        return debate_id in await self._arena.store.positions([debate_id])

    async def _all_settled(self) -> None:
        """Wait until no debate is under way: the next matchups depend on all results."""
        while self._running:
            await self._settled.wait()

    def _notify(self) -> None:
        self._settled.set()
        self._settled = asyncio.Event()

    # --- one debate -----------------------------------------------------------------------------------

    async def _check_limits(self) -> None:
        """Raises Invalid for a debate that was begun before the experiment had a budget, and has no limit."""
        for leg in self._ledger.open.values():
            unlimited = self._budget is not None and not self._ledger.has_result(leg.leg) and not leg.reserved
            if not unlimited or not await self._is_stored(leg.debate):
                continue
            debate = await self._arena.state(leg.debate)
            if not is_over(debate) and most_cost(debate) is None:
                raise Invalid(
                    f"The debate {leg.debate} was begun before the experiment had a budget, and has no cost "
                    f"limit. End it first (moot abort {leg.debate}), or run the experiment without a budget."
                )

    async def _may_start(self, planned: PlannedLeg, epoch: int, retry_failed: bool) -> bool:
        """Whether the debate may be held. Where the rest of the budget is reserved, debates under way are
        waited for, which usually cost less than that."""
        while not self._stopped_by:
            settled = self._settled
            leg = self._ledger.open.get(planned.leg)
            if leg is None and await self._reserve(planned, epoch):
                return True
            if leg is not None and await self._reserve_again(planned, leg, retry_failed):
                return True
            if not self._running and not settled.is_set():
                self._stopped_by = "budget"
                break
            await settled.wait()
        return False

    async def _reserve(self, planned: PlannedLeg, epoch: int) -> bool:
        """Whether the budget allows the debate: then its money is reserved."""
        limit = await self._setups.debate_limit(planned, self._ledger.choices)
        amount, debate_id = microdollars(limit or Money(0)), new_id()
        reserved = await self._store.reserve(
            self._definition.name, epoch, planned.leg, debate_id, amount, self._budget
        )
        if not reserved:
            return False
        crash_point("leg-reserved")
        self._ledger.begin(ExperimentLeg(planned.leg, debate_id, amount))
        return True

    async def _reserve_again(self, planned: PlannedLeg, leg: ExperimentLeg, retry_failed: bool) -> bool:
        """Whether the budget allows that a leg which was begun is continued, or tried again."""
        if not await self._is_stored(leg.debate):
            # It will be opened with the limit of the present definition.
            most = await self._setups.debate_limit(planned, self._ledger.choices) or Money(0)
            return await self._store.reserve_again(
                self._definition.name, leg.leg, microdollars(most), self._budget
            )
        debate = await self._arena.state(leg.debate)
        most = most_cost(debate)
        if not (retry_failed and debate.status == "error" and is_over(debate)) or most is None:
            return True  # what it may cost is reserved, or it cannot be
        try:
            await self._bookings.reserve(debate.id, debate.status, most)
        except OverBudget:
            return False
        return True

    async def _hold(self, planned: PlannedLeg, retry_failed: bool) -> None:
        leg = self._ledger.open[planned.leg]
        try:
            await self._wait_and_settle(leg, await self._opened(planned, leg.debate, retry_failed))
        finally:
            self._running.discard(planned.leg)
            self._notify()
            self._report()

    async def _try_again(self, debate: Debate) -> None:
        try:
            await self._arena.ask(debate.id, JudgeNow() if debate.failure == "judge_failed" else Retry())
        except OverBudget:
            if most_cost(debate) is not None:
                self._stopped_by = self._stopped_by or "budget"
        except Refused:
            return  # it cannot be tried again, or somebody else does

    async def _opened(self, planned: PlannedLeg, debate_id: str, retry_failed: bool) -> Debate:
        """The debate under its reserved id; opened now, or continued where an earlier run has done that."""
        try:
            debate = await self._arena.state(debate_id)
        except UnknownDebate:
            limit = await self._setups.debate_limit(planned, self._ledger.choices)
            setup = await self._setups.setup(planned, limit, self._ledger.choices)
            fence = leg_fence(self._definition, planned)
            result = await self._arena.create(setup, debate_id=debate_id, start=True, fence=fence)
            crash_point("leg-opened")
            return result.debate
        if retry_failed and debate.status == "error":
            await self._try_again(debate)
        self._arena.run(debate_id)  # its process may be gone
        return debate

    async def _wait_and_settle(self, leg: ExperimentLeg, debate: Debate) -> None:
        """Wait for a debate, and settle its leg if it is over: it may also be paused."""
        while True:
            # From its last event on, since a debate that is over has no further one.
            async for _ in self._arena.watch(debate.id, debate.seq - 1):
                pass
            debate = await self._arena.state(debate.id)
            crash_point("leg-held")
            if debate.status not in ENDED:
                return
            if settled := await self._bookings.settle_leg(self._definition, leg.leg):
                break
            # Somebody has let it go on meanwhile.
            debate = await self._arena.state(debate.id)
        crash_point("leg-settled")
        result, spent = settled
        self._ledger.settle(msgspec.structs.replace(leg, reserved=spent, held=None), result)
        self._arena.store.release(debate.id)
        self._held_now += 1

    # --- progress -------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _watched(self, epoch: int) -> AsyncGenerator[None, None]:
        """While this lasts, the store knows that this process is alive, and the wish to stop is noticed."""
        watching = asyncio.create_task(self._watch_for_stop(epoch), name="experiment stop")
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _watch_for_stop(self, epoch: int) -> None:
        for look in count(1):
            await asyncio.sleep(STATE_SECONDS)
            try:
                if look % BEATS == 0:
                    await self._store.beat(self._definition.name, epoch)
                known = await self._store.experiment(self._definition.name)
            except StoreError:  # what the debates themselves need of the store, they report
                continue
            if known is None or known.state == "stopping":
                self._stopped_by = self._stopped_by or "stop"

    def _report(self) -> ExperimentProgress:
        """Constant time: it is called for every debate."""
        ledger = self._ledger
        progress = ExperimentProgress(
            planned=ledger.planned,
            finished=ledger.finished,
            failed=ledger.failed,
            running=len(self._running),
            held_now=self._held_now,
            seconds=monotonic() - self._started,
            spent=ledger.spent,
            budget=self._definition.budget,
            stopped_by=self._stopped_by,
            failures=tuple(ledger.failures),
            failed_debates=tuple(ledger.failures.values()),
            unpriced=ledger.unpriced,
            repeated=ledger.transcripts.note,
        )
        if self._on_progress is not None:
            self._on_progress(progress)
        return progress
