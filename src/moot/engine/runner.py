"""One debate: plan, perform, record, until there is nothing to do.

The runner holds no state of its own. It asks the head of the log what comes next
(`runner_decisions.advance`), performs it, and writes down what happened; it follows the log like any watcher,
and drops a part that somebody cut. When the debate rests, the runner leaves; whoever wakes the debate sees to
it that it is run again.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.core import crash_points
from moot.core.errors import Fault, Fenced, Invalid, StoreError, Unavailable, UnknownDebate
from moot.core.events import CallFailed, CallStarted, Event, StreamedEvent
from moot.core.state import Aside, Debate, Turn
from moot.core.terms import Model, PollName, Request, ToolResult
from moot.core.timing import RunnerTimings
from moot.core.word_count import QUARTERS, quarter_tokens
from moot.engine.call import CallDeadlines, JobTimer, stream_call
from moot.engine.call_outcome import call_completed, call_failed
from moot.engine.call_result import CallResult
from moot.engine.followers import Followers
from moot.engine.jobs import AsideJob, BallotJob, HumanJob, ModelJob, SpeechJob
from moot.engine.log_context import log_fields
from moot.engine.retry import FaultCounts, wait_before_retry
from moot.engine.tool_loop import ToolRunner
from moot.providers.contract import Provider
from moot.rules import budget, runner_decisions
from moot.rules.plan import AskJudges, HoldPoll, closes_on_time, plan
from moot.rules.runner_decisions import CallPurpose, ResultEvent
from moot.store.contract import RecordResult, Store
from moot.tools.contract import NoTools, Toolbox

WATCH_AGAIN_SECONDS = 0.2
GENEROUS = 4
"""A model that costs no limited money may say so many times what it was asked for, by our estimate."""
MOST = 2 * 1024 * 1024
"""In quarters of tokens, and so in bytes: no speech is longer than that."""
LAST_WRITE_SECONDS = 5.0
"""How long a last write may take when the runner is told to go."""


class Runner:
    def __init__(
        self,
        debate_id: str,
        epoch: int,
        *,
        store: Store,
        followers: Followers,
        provider: Callable[[str], Provider],
        pace: RunnerTimings,
        tools: Toolbox | None = None,
        missing_keys: Callable[[Debate], Sequence[str]] = lambda _debate: (),
        dice: Callable[[], float] = random.random,
    ) -> None:
        """`lacking` names the providers whose key was lent for this debate, and is not here any more."""
        self._id = debate_id
        self._epoch = epoch
        self._store = store
        self._followers = followers
        self._provider = provider
        self._pace = pace
        self._tool_runner = ToolRunner(tools or NoTools(), pace.tool)
        self._missing_keys = missing_keys
        self._dice = dice
        self._running_jobs: dict[ModelJob | HumanJob, asyncio.Task[None]] = {}
        self._clocks: dict[int, JobTimer] = {}
        """Of the models that are speaking, by turn."""
        self._changed = asyncio.Event()
        """Set, and replaced by another, when something has happened."""
        self._limited = False

    async def run(self) -> None:
        """Until the debate rests, ends, is deleted, or is taken over by another runner."""
        with log_fields(debate=self._id):
            await self._run_logged()

    async def _run_logged(self) -> None:
        try:
            debate = (await self._record(runner_decisions.recover)).debate
            self._limited = budget.is_limited(debate)
            if lacking := self._missing_keys(debate):
                await self._record(lambda debate: runner_decisions.pause_for_keys(debate, lacking))
            watch = asyncio.create_task(self._watch(debate.seq), name=f"{self._id} watch")
            try:
                await self._run(debate)
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)
        except asyncio.CancelledError:
            await self._interrupt_on_cancel()
            raise
        except (Fenced, UnknownDebate):
            return

    async def _run(self, debate: Debate) -> None:
        if debate.status == "initializing":
            await self._prepare(debate)
        while True:
            debate = (await self._record(runner_decisions.advance)).debate
            step = plan(debate)
            if debate.live:
                crash_points.point("turn-started")
                await self._run_jobs(debate, [_speaker(debate, turn) for turn in debate.live])
            elif debate.open_asides:
                await self._run_jobs(debate, [_asked(debate, aside) for aside in debate.open_asides])
            elif isinstance(step, AskJudges):
                crash_points.point("judging")
                await self._run_jobs(debate, [_judge(debate, judge, order) for judge, order in step.ballots])
            elif isinstance(step, HoldPoll) and closes_on_time(debate, step.name):
                await self._wait_for_poll(step.name)
            else:
                return

    async def _wait_for_poll(self, name: PollName) -> None:
        """The audience votes until the time is up, somebody closes the poll, or the debate ends."""
        while True:
            news = self._changed
            debate = await self._store.state(self._id)
            poll = debate.poll(name)
            if poll is None or poll.closed_at is not None or poll.seconds is None or not debate.running:
                return
            left = poll.seconds - (datetime.now(UTC) - poll.opened_at).total_seconds()
            if left <= 0:
                await self._record(lambda debate: runner_decisions.close_poll(debate, name))
                return
            await _wait_for_event(news, left)

    async def _prepare(self, debate: Debate) -> None:
        """Have the models at hand before anybody's time runs. What is missing is said by the first call."""
        models = [player.model for player in (*debate.seats, *debate.panel) if not player.model.human]
        for model in {model.label: model for model in models}.values():
            with suppress(Unavailable, Invalid):
                await self._provider(model.provider).prepare(model)

    async def _run_jobs(self, debate: Debate, parts: Sequence[ModelJob | HumanJob]) -> None:
        """All parts at the same time; one that is cut does not disturb the others."""
        seconds = debate.limits.turn_seconds
        for part in parts:
            self._running_jobs[part] = _task(self._run_job(part, seconds), f"{self._id} {part.name}")
        try:
            results = await asyncio.gather(*self._running_jobs.values(), return_exceptions=True)
        finally:
            await _end(self._running_jobs.values())
            self._running_jobs.clear()
            self._clocks.clear()
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _run_job(self, part: ModelJob | HumanJob, seconds: float) -> None:
        with log_fields(**_log_fields_of(part.purpose)):
            await (
                self._wait_for_human(part)
                if isinstance(part, HumanJob)
                else self._run_model_job(part, seconds)
            )

    async def _watch(self, after: int) -> None:
        """Drop the parts that somebody has cut, or all of them when the debate is deleted."""
        while True:
            try:
                await self._on_change(after)
                async for batch in self._followers.follow(self._id, after, turns_only=True):
                    after = batch[-1].seq
                    await self._on_change(after)
                break
            except UnknownDebate:
                break
            except StoreError:
                await asyncio.sleep(WATCH_AGAIN_SECONDS)
        if self._followers.closed:
            # The arena closes: it ends the runner next, who leaves in good order.
            return
        for task in self._running_jobs.values():
            task.cancel()
        self._notify()

    async def _on_change(self, seq: int) -> None:
        """Something has happened up to `seq`: a part may have been cut, or its speaker given more time."""
        self._notify()
        # Taken before the look: a part that begins meanwhile is not in the state that we are about to see.
        playing = tuple(self._running_jobs.items())
        if not playing:
            return
        debate = await self._store.state_at_least(self._id, seq)
        for turn in debate.live:
            if turn.number in self._clocks:
                self._clocks[turn.number].extend(turn.extended)
        for part, task in playing:
            if not runner_decisions.still_wanted(debate, part.purpose):
                task.cancel()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _run_model_job(self, part: ModelJob, seconds: float) -> None:
        """Ask until there is an answer that will do, the time is up, or trying again makes no sense."""
        clock = JobTimer(seconds)
        if part.purpose.turn is not None:
            self._clocks[part.purpose.turn] = clock
        if isinstance(part, SpeechJob):
            await self._offer_tools(part)
        tries, wait, attempts = FaultCounts(), 0.0, Counter[int | None]()
        while wait is not None:
            await asyncio.sleep(wait)
            # Those of a call that goes on from another are counted by themselves.
            attempts[part.continues] += 1
            attempt = attempts[part.continues]
            request = self._unchained_if_needed(part.request(attempt))
            queued = monotonic()
            async with self._admitted(request):
                clock.extend_by(monotonic() - queued)
                tries, wait, goes_on = await self._attempt(part, request, attempt, tries, clock)
            if goes_on is not None and isinstance(part, SpeechJob):
                wait = await self._run_tools(part, goes_on, clock)

    async def _offer_tools(self, speech: SpeechJob) -> None:
        provider = self._provider_or_none(speech.model)
        if provider is not None and speech.tool_session.allowed:
            traits = provider.traits_of(speech.model.name)
            await self._tool_runner.offer_tools(speech.tool_session, traits, limited=self._limited)

    async def _run_tools(self, speech: SpeechJob, heard: CallResult, clock: JobTimer) -> float | None:
        """What the reply asks of tools is carried out; None where the speech ends meanwhile."""

        async def tell(result: ToolResult) -> None:
            await self._record(
                lambda debate: runner_decisions.record_tool_result(debate, speech.purpose, heard.call, result)
            )
            crash_points.point("tool-told")

        try:
            async with clock.running():
                results = await self._tool_runner.run_calls(speech.tool_session, heard, tell)
        except TimeoutError:
            end = speech.on_timeout(heard)
            await self._record(lambda debate: runner_decisions.end_between_calls(debate, speech.purpose, end))
            return None
        speech.tool_session.add_results(heard, results)
        return 0.0

    async def _wait_for_human(self, person: HumanJob) -> None:
        """Nobody is asked: the person acts by a command, and is waited for as long as their time lasts."""

        def time_is_up(debate: Debate) -> Sequence[Event]:
            # Somebody may have given them more while we were looking at the clock.
            left = person.seconds_left(debate, datetime.now(UTC))
            return () if left is None or left > 0 else runner_decisions.time_is_up(debate, person.purpose)

        while True:
            news = self._changed
            debate = await self._store.state(self._id)
            if not runner_decisions.still_wanted(debate, person.purpose):
                return
            left = person.seconds_left(debate, datetime.now(UTC))
            if left is None or left > 0:
                await _wait_for_event(news, left)
            else:
                await self._record(time_is_up)

    def _unchained_if_needed(self, request: Request) -> Request:
        """Only a provider that remembers its responses is referred to one."""
        provider = self._provider_or_none(request.model)
        if provider is not None and provider.traits.chaining:
            return request
        return replace(request, previous_response_id=None, fresh=(), resumes=False)

    def _admitted(self, request: Request) -> AbstractAsyncContextManager[object]:
        provider = self._provider_or_none(request.model)
        return nullcontext() if provider is None else provider.admit(request.model)

    def _provider_or_none(self, model: Model) -> Provider | None:
        try:
            return self._provider(model.provider)
        except (Invalid, Unavailable):
            return None

    async def _attempt(
        self, part: ModelJob, request: Request, attempt: int, tries: FaultCounts, clock: JobTimer
    ) -> tuple[FaultCounts, float | None, CallResult | None]:
        """One call. Returns how long to wait before the next one, None if there is to be none, and what was
        heard where that is not all."""
        started = await self._begin(part, request, attempt)
        if started is None:
            return tries, None, None
        request = replace(request, max_tokens=started.max_tokens)
        heard = CallResult(call=started.call, started=monotonic())
        try:
            await self._listen(request, started.call, heard, clock)
            result = part.accept(heard)
        except Fault as fault:
            fault.name_model(request.model.label)
            part.adapt_to(fault)
            tries = tries.after(fault)
            wait = wait_before_retry(
                fault,
                tries,
                base=self._pace.retry_base,
                time_left=clock.seconds_left,
                jitter=self._dice(),
            )
            end = part.on_failure(fault) if wait is None else None
            await self._fail(call_failed(started.call, request, heard, fault, wait), end)
            return tries, wait, None
        except TimeoutError:
            await self._fail(
                call_failed(started.call, request, heard, Fault("timeout"), None), part.on_timeout(heard)
            )
            return tries, None, None
        except asyncio.CancelledError:
            # Cut by somebody, or the runner must go: what the call has cost is still written down.
            await _shielded(self._fail(call_failed(started.call, request, heard, Fault("cut"), None), None))
            raise
        crash_points.point("answer-heard")
        done = call_completed(started.call, request, heard, ended=result is not None)
        segments = part.unwritten_segments(heard, started.call)
        await self._record(lambda debate: runner_decisions.finish_call(debate, done, segments, result))
        crash_points.point("part-completed")
        return tries, None, heard if result is None else None

    async def _fail(self, failed: CallFailed, end: ResultEvent | None) -> None:
        await self._record(lambda debate: runner_decisions.fail_call(debate, failed, end))

    async def _begin(self, part: ModelJob, request: Request, attempt: int) -> CallStarted | None:
        """Reserve the money for a call; None where it is no longer wanted, or cannot be paid."""
        body = msgspec.json.encode(request)
        digest = hashlib.sha256(body).hexdigest()
        begun = asyncio.create_task(
            self._record(
                lambda debate: runner_decisions.begin_call(
                    debate, part.purpose, request, digest, attempt, part.continues
                ),
                bodies={digest: body},
            ),
            name=f"{self._id} begin",
        )
        try:
            started = _started_call(await asyncio.shield(begun))
        except asyncio.CancelledError:
            # The reservation may have been written all the same: no request follows it, so it is let go.
            if started := _started_call(await begun):
                never_sent = Fault("cut", billed=False)
                await _shielded(
                    self._fail(
                        call_failed(started.call, request, CallResult(started=monotonic()), never_sent, None),
                        None,
                    )
                )
            raise
        crash_points.point("call-started")
        return started

    async def _listen(self, request: Request, call: int, heard: CallResult, clock: JobTimer) -> None:
        try:
            provider = self._provider(request.model.provider)
        except Invalid as error:
            raise Fault("unavailable", "permanent", billed=False, message=str(error)) from error
        except Unavailable as error:
            says = f"{error} {error.fix}".strip()
            raise Fault("unavailable", "permanent", billed=False, message=says) from error
        deadlines = CallDeadlines(self._pace.first_byte, self._pace.between_bytes, self._pace.tick)
        async with clock.running():
            await stream_call(
                provider, request, call, heard, self._narrate, deadlines, self._byte_limit(request)
            )

    def _byte_limit(self, request: Request) -> int:
        """Quarters of tokens after which a model is cut. Where it costs limited money, at what was
        reserved."""
        price = request.model.price
        costs = price is None or not price.free
        most = QUARTERS * request.max_tokens * (1 if self._limited and costs else GENEROUS)
        return min(most + quarter_tokens(request.prefill), MOST)

    async def _narrate(self, events: Sequence[StreamedEvent]) -> None:
        await self._store.append_streamed(self._id, events, epoch=self._epoch)
        crash_points.point("narrated")

    async def _record(
        self, decide: Callable[[Debate], Sequence[Event]], *, bodies: dict[str, bytes] | None = None
    ) -> RecordResult:
        def on_head(debate: Debate | None) -> Sequence[Event]:
            if debate is None:
                raise UnknownDebate
            return decide(debate)

        return await self._store.record(self._id, on_head, epoch=self._epoch, bodies=bodies)

    async def _interrupt_on_cancel(self) -> None:
        """The process is about to stop: running turns are given again by the next runner."""
        await _shielded(self._park())

    async def _park(self) -> None:
        await self._record(runner_decisions.interrupt_for_shutdown)


def _log_fields_of(purpose: CallPurpose) -> dict[str, str | int]:
    found = {"turn": purpose.turn, "judge": purpose.judge, "aside": purpose.aside}
    return {name: mark for name, mark in found.items() if mark is not None}


def _speaker(debate: Debate, turn: Turn) -> ModelJob | HumanJob:
    if debate.seat(turn.seat).model.human:
        return HumanJob(CallPurpose(turn=turn.number), f"turn {turn.number}")
    return SpeechJob(debate, turn)


def _asked(debate: Debate, aside: Aside) -> ModelJob | HumanJob:
    if runner_decisions.is_for_human(debate, aside):
        return HumanJob(CallPurpose(aside=aside.number), f"aside {aside.number}")
    return AsideJob(debate, aside)


def _judge(debate: Debate, judge: str, order: int) -> ModelJob | HumanJob:
    if debate.judge(judge).model.human:
        return HumanJob(CallPurpose(judge=judge), f"judge {judge}")
    return BallotJob(debate, judge, order)


def _started_call(outcome: RecordResult) -> CallStarted | None:
    return next((r.event for r in outcome.records if isinstance(r.event, CallStarted)), None)


def _task(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name)


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    ending = tuple(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


async def _wait_for_event(news: asyncio.Event, seconds: float | None) -> None:
    """Until something happens, or so many seconds have passed."""
    # Not wait_for: where news and a cancellation come together, it forgets the cancellation.
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await news.wait()


async def _shielded(write: Coroutine[Any, Any, None]) -> None:
    """A last write that a cancellation cannot tear apart."""
    writing = _task(write, "farewell")
    # Whoever is cancelled once more does not hear how it went; that is nothing to be logged as a failure.
    writing.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait_for(asyncio.shield(writing), LAST_WRITE_SECONDS)
    except (Fenced, UnknownDebate, StoreError, TimeoutError):
        return
