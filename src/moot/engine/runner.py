"""Runs one debate: asks what comes next, does it, records it, until there is nothing to do.

The runner keeps no state of its own. It decides the next step on the head of the log
(`runner_decisions.advance`), performs it as *jobs* (a speech, an aside, a ballot), and records the results.
It follows the log like any viewer, and cancels a job that a command has cut. When the debate has nothing to
do the runner ends; the next command starts another one (`Arena.ask`).
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.crash_points import crash_point
from moot.core.errors import Fault, Fenced, Invalid, StoreError, Unavailable, UnknownDebate
from moot.core.events import CallFailed, CallStarted, Event
from moot.core.log_fields import log_fields
from moot.core.state import Debate
from moot.core.terms import Model, PollName, Request, ToolResult
from moot.core.word_count import QUARTERS, quarter_tokens
from moot.engine.call import CallResult, JobTimer, stream_call
from moot.engine.call_records import CallRecorder, Decide, call_completed, call_failed, shielded
from moot.engine.followers import Followers
from moot.engine.jobs import HumanJob, ModelJob, SpeechJob, aside_job, ballot_job, speech_job
from moot.engine.text_writer import TextWriter
from moot.engine.tool_loop import ToolRunner
from moot.providers.contract import Provider
from moot.providers.redaction import shown_remedy
from moot.rules import model_checks, runner_decisions
from moot.rules.budget import CallPurpose
from moot.rules.plan import AskJudges, HoldPoll, closes_on_time, plan
from moot.rules.retry import FaultCounts, wait_before_retry
from moot.rules.runner_decisions import ResultEvent
from moot.rules.runner_timings import RunnerTimings
from moot.store.contract import Store
from moot.tools.contract import NoTools, Toolbox

WATCH_RETRY_SECONDS = 0.2
UNLIMITED_LENGTH_FACTOR = 4
"""Without a cost limit, a reply may be this many times as long as was asked for, by our estimate."""
MAX_REPLY_QUARTERS = 2 * 1024 * 1024
"""No reply is longer than this, in quarters of tokens."""


class AttemptEnd(Struct):
    """How one call ended."""

    faults: FaultCounts
    """Those of all attempts so far."""
    debate: Debate | None = None
    """The state after the step that follows, where that was recorded with the end."""
    wait: float | None = None
    """Seconds before the next attempt; None: no further attempt."""
    unfinished: CallResult | None = None
    """The result, where it asks for tools and so is not the end."""


async def _settle_nothing(debate_id: str) -> None:
    """No budget is kept."""


class Runner:
    def __init__(
        self,
        debate_id: str,
        epoch: int,
        *,
        store: Store,
        text_writer: TextWriter,
        followers: Followers,
        provider: Callable[[str], Provider],
        pace: RunnerTimings,
        tools: Toolbox | None = None,
        missing_keys: Callable[[Debate], Sequence[str]] = lambda _debate: (),
        settle_costs: Callable[[str], Coroutine[Any, Any, None]] = _settle_nothing,
        random_number: Callable[[], float] = random.random,
    ) -> None:
        """`missing_keys` names the providers whose key a user gave for this debate and is lost.
        `settle_costs` is called when a debate of a series has nothing more to do."""
        self._id = debate_id
        self._epoch = epoch
        self._store = store
        self._text_writer = text_writer
        self._followers = followers
        self._provider = provider
        self._timings = pace
        self._recorder = CallRecorder(debate_id, epoch, store, provider)
        self._tool_runner = ToolRunner(tools or NoTools(), pace.tool)
        self._missing_keys = missing_keys
        self._settle_costs = settle_costs
        self._random_number = random_number
        self._jobs: dict[ModelJob | HumanJob, asyncio.Task[Debate | None]] = {}
        self._ending: set[ModelJob | HumanJob] = set()
        """Jobs whose end is being recorded: nothing can cut them any more."""
        self._timers: dict[int, JobTimer] = {}
        """Of the speeches that models are giving, by turn."""
        self._changed = asyncio.Event()
        """Set, and replaced by another, at each event that is not streamed text."""
        self._seen = 0
        """The last event of the log that the runner has looked at."""
        self._limited = False
        self._in_series = False

    async def run(self) -> None:
        """Until the debate has nothing to do, ends, is deleted, or is taken over by another runner."""
        with log_fields(debate=self._id):
            try:
                debate = await self._store.state_at_least(self._id, 0)
                self._in_series = debate.series is not None
                beside = (
                    asyncio.create_task(self._watch(debate.seq), name=f"{self._id} watch"),
                    asyncio.create_task(self._look_up_models(debate), name=f"{self._id} look-up"),
                )
                try:
                    await self._run_steps(debate)
                finally:
                    for task in beside:
                        task.cancel()
                    await asyncio.gather(*beside, return_exceptions=True)
                    await self._recorder.drop_begun()
                if self._in_series:
                    await self._settle_costs(self._id)
            except asyncio.CancelledError:
                # The process is about to stop: the next runner gives the interrupted turns again.
                await shielded(self._recorder.record(runner_decisions.interrupt_for_shutdown))
                if self._in_series:
                    await shielded(self._settle_costs(self._id))
                raise
            except (Fenced, UnknownDebate):
                return

    async def _run_steps(self, debate: Debate) -> None:
        if debate.status == "initializing":
            await self._prepare(debate)
        missing = self._missing_keys(debate)
        advanced = await self._recorder.advance(
            lambda head: runner_decisions.take_over(head, missing, datetime.now(UTC))
        )
        self._limited = advanced.cost_limit is not None
        while True:
            debate = advanced or await self._recorder.advance()
            advanced, step = None, plan(debate)
            if debate.live:
                crash_point("turn-started")
                advanced = await self._run_jobs(debate, [speech_job(debate, turn) for turn in debate.live])
            elif debate.open_asides:
                jobs = [aside_job(debate, aside) for aside in debate.open_asides]
                advanced = await self._run_jobs(debate, jobs)
            elif isinstance(step, AskJudges):
                crash_point("judging")
                jobs = [ballot_job(debate, *ballot) for ballot in step.ballots]
                advanced = await self._run_jobs(debate, jobs)
            elif isinstance(step, HoldPoll) and closes_on_time(debate, step.name):
                await self._wait_for_poll(step.name)
            else:
                return

    async def _prepare(self, debate: Debate) -> None:
        """Load the models before any speaker's time runs. What is missing is reported by the first call."""
        models = [player.model for player in (*debate.seats, *debate.panel) if not player.model.human]
        for model in {model.label: model for model in models}.values():
            with suppress(Unavailable, Invalid):
                await self._provider(model.provider).prepare(model)

    async def _look_up_models(self, debate: Debate) -> None:
        """Fail the debate if one of its models certainly cannot be used. It is asked beside the first speech,
        which does not wait for it."""
        models = model_checks.models_to_check(debate)
        found = await asyncio.gather(*map(self._look_up, models))
        faults = {model.label: str(fault) for model, fault in zip(models, found, strict=True) if fault}
        if faults:
            await self._recorder.record(lambda head: model_checks.fail_unusable(head, faults))

    async def _look_up(self, model: Model) -> Fault | None:
        with suppress(Unavailable, Invalid):  # the first call reports it
            return await self._provider(model.provider).look_up(model)

    async def _run_jobs(self, debate: Debate, jobs: Sequence[ModelJob | HumanJob]) -> Debate | None:
        """All jobs at the same time; one that is cut does not disturb the others. Returns the state after
        the next step, where the end of the last job was recorded together with that step."""
        seconds = debate.limits.turn_seconds
        for job in jobs:
            self._jobs[job] = asyncio.create_task(self._run_job(job, seconds), name=f"{self._id} {job.name}")
        try:
            if self._seen > debate.seq:
                # What was seen before these jobs were there may have cut them.
                await self._cancel_unwanted(self._seen)
            results = await asyncio.gather(*self._jobs.values(), return_exceptions=True)
        finally:
            for task in self._jobs.values():
                task.cancel()
            await asyncio.gather(*self._jobs.values(), return_exceptions=True)
            self._jobs.clear()
            self._ending.clear()
            self._timers.clear()
            await self._recorder.drop_begun([turn.number for turn in debate.live])
        for result in results:
            if isinstance(result, Exception):
                raise result
        states = [result for result in results if isinstance(result, Debate)]
        return max(states, key=lambda state: state.seq) if len(states) == len(jobs) else None

    async def _run_job(self, job: ModelJob | HumanJob, seconds: float) -> Debate | None:
        """Returns the state after the end of the job, if this recorded it."""
        with log_fields(**_purpose_fields(job.purpose)):
            if isinstance(job, HumanJob):
                await self._wait_for_human(job)
                return None
            return await self._run_model_job(job, seconds)

    # --- following the log ----------------------------------------------------------------------------

    async def _watch(self, after: int) -> None:
        """Cancel the jobs that a command has cut, or all of them when the debate is deleted."""
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
                await asyncio.sleep(WATCH_RETRY_SECONDS)
        if self._followers.closed:
            # The arena is closing and cancels the runner next, which then interrupts its turns.
            return
        for task in self._jobs.values():
            task.cancel()
        self._notify()

    async def _on_change(self, seq: int) -> None:
        """Events up to `seq` may have cut a job, or extended the time of its speaker."""
        self._notify()
        self._seen = seq
        if self._jobs:
            await self._cancel_unwanted(seq)

    async def _cancel_unwanted(self, seq: int) -> None:
        # Before reading the state: a job that starts meanwhile is not yet part of that state.
        jobs = tuple(self._jobs.items())
        # A job whose own write ended it returns first: it is not to be cut.
        await asyncio.sleep(0)
        debate = await self._store.state_at_least(self._id, seq)
        for turn in debate.live:
            if turn.number in self._timers:
                self._timers[turn.number].extend(turn.extended)
        for job, task in jobs:
            if job not in self._ending and not runner_decisions.still_wanted(debate, job.purpose):
                task.cancel()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # --- waiting for people ---------------------------------------------------------------------------

    async def _wait_for_poll(self, name: PollName) -> None:
        """Until the time of the poll is up, someone closes it, or the debate ends."""
        while True:
            changed = self._changed
            debate = await self._store.state(self._id)
            poll = debate.poll(name)
            if poll is None or poll.closed_at is not None or poll.seconds is None or not debate.running:
                return
            seconds_left = poll.seconds - (datetime.now(UTC) - poll.opened_at).total_seconds()
            if seconds_left <= 0:
                await self._recorder.record(lambda debate: runner_decisions.close_poll(debate, name))
                return
            await _wait_for_event(changed, seconds_left)

    async def _wait_for_human(self, job: HumanJob) -> None:
        """People act by commands; the runner only waits until they have acted or their time is up."""

        def time_is_up(debate: Debate) -> Sequence[Event]:
            # Checked again on the head: the time may have been extended meanwhile.
            seconds_left = job.seconds_left(debate, datetime.now(UTC))
            if seconds_left is None or seconds_left > 0:
                return ()
            return runner_decisions.time_is_up(debate, job.purpose)

        while True:
            changed = self._changed
            debate = await self._store.state(self._id)
            if not runner_decisions.still_wanted(debate, job.purpose):
                return
            seconds_left = job.seconds_left(debate, datetime.now(UTC))
            if seconds_left is None or seconds_left > 0:
                await _wait_for_event(changed, seconds_left)
            else:
                await self._recorder.record(time_is_up)

    # --- calling models -------------------------------------------------------------------------------

    async def _run_model_job(self, job: ModelJob, seconds: float) -> Debate | None:
        """Call the model until a reply is accepted, the time is up, or another attempt makes no sense.
        Returns the state after that."""
        timer = JobTimer(seconds)
        if job.purpose.turn is not None:
            self._timers[job.purpose.turn] = timer
        if isinstance(job, SpeechJob):
            await self._offer_tools(job)
        end, attempts = AttemptEnd(FaultCounts(), wait=0.0), Counter[int | None]()
        begun = self._recorder.take_begun(job.purpose.turn)
        while end.wait is not None:
            # Attempts are counted anew for each call that continues another.
            attempts[job.continues] += 1
            if begun is not None:
                with begun.place:
                    end = await self._call(job, begun.request, begun.started, end.faults, timer)
                begun = None
            else:
                await asyncio.sleep(end.wait)
                end = await self._attempt(job, attempts[job.continues], end.faults, timer)
            if end.unfinished is not None and isinstance(job, SpeechJob):
                end.wait = await self._run_tools(job, end.unfinished, timer)
        return end.debate

    async def _attempt(self, job: ModelJob, attempt: int, faults: FaultCounts, timer: JobTimer) -> AttemptEnd:
        """One call, as soon as the service admits it."""
        try:
            request = self._recorder.request(job, attempt)
        except Fault as fault:
            return AttemptEnd(faults, await self._not_sent(job, job.on_failure(fault)))
        queued = monotonic()
        async with self._admitted(request):
            timer.extend_by(monotonic() - queued)
            started = await self._recorder.begin(job, request, attempt)
            if started is None:
                return AttemptEnd(faults)
            return await self._call(job, request, started, faults, timer)

    async def _call(
        self, job: ModelJob, request: Request, started: CallStarted, faults: FaultCounts, timer: JobTimer
    ) -> AttemptEnd:
        request = replace(request, max_tokens=started.max_tokens)
        result = CallResult(call=started.call, started=monotonic())
        try:
            await self._stream(request, result, timer)
            outcome = job.accept(result)
        except Fault as fault:
            fault.name_model(request.model.label)
            job.adapt_to(fault)
            faults = faults.after(fault)
            wait = wait_before_retry(
                fault,
                faults,
                base=self._timings.retry_base,
                time_left=timer.seconds_left,
                jitter=self._random_number(),
            )
            outcome = job.on_failure(fault) if wait is None else None
            ended = await self._fail(job, call_failed(request, result, fault, wait), outcome)
            return AttemptEnd(faults, ended, wait)
        except TimeoutError:
            failed = call_failed(request, result, Fault("timeout"), None)
            return AttemptEnd(faults, await self._fail(job, failed, job.on_timeout(result)))
        except asyncio.CancelledError:
            # Cut by a command, or the runner has to stop: the cost of the call is recorded all the same.
            await self._recorder.fail_cut_call(call_failed(request, result, Fault("cut"), None))
            raise
        crash_point("answer-heard")
        completed = call_completed(request, result, ended=outcome is not None)
        segments = job.unwritten_segments(result)
        ended = await self._settle(
            job,
            lambda debate: runner_decisions.finish_call(debate, completed, segments, outcome),
            is_last=outcome is not None,
        )
        crash_point("part-completed")
        return AttemptEnd(faults, ended, unfinished=result if outcome is None else None)

    async def _fail(self, job: ModelJob, failed: CallFailed, outcome: ResultEvent | None) -> Debate | None:
        return await self._settle(
            job,
            lambda debate: runner_decisions.fail_call(debate, failed, outcome),
            is_last=outcome is not None,
        )

    async def _not_sent(self, job: ModelJob, outcome: ResultEvent) -> Debate | None:
        """Nothing can be sent, so nothing was called."""
        return await self._settle(
            job,
            lambda debate: (outcome,) if runner_decisions.still_wanted(debate, job.purpose) else (),
            is_last=True,
        )

    async def _settle(self, job: ModelJob, settle: Decide, *, is_last: bool) -> Debate | None:
        """Record the end of a call. The end of a job's last call is recorded together with the step that
        follows; returns the state after that."""
        if not is_last:
            await self._recorder.record(settle)
            return None
        self._ending.add(job)
        return await self._recorder.advance(settle)

    async def _stream(self, request: Request, result: CallResult, timer: JobTimer) -> None:
        try:
            provider = self._provider(request.model.provider)
        except (Invalid, Unavailable) as error:
            fix = shown_remedy(error.fix) if isinstance(error, Unavailable) else ""
            message = f"{error} {fix}".strip()
            raise Fault("unavailable", "permanent", billed=False, message=message) from error
        async with timer.running():
            buffer = self._text_writer.open_buffer(self._id, self._epoch)
            await stream_call(provider, request, result, buffer, self._timings, self._max_length(request))

    def _max_length(self, request: Request) -> int:
        """Quarters of tokens after which a reply is cut: under a cost limit, at what was reserved."""
        price = request.model.price
        is_free = price is not None and price.free
        factor = 1 if self._limited and not is_free else UNLIMITED_LENGTH_FACTOR
        most = QUARTERS * request.max_tokens * factor
        return min(most + quarter_tokens(request.prefill), MAX_REPLY_QUARTERS)

    def _admitted(self, request: Request) -> AbstractAsyncContextManager[object]:
        """Waits until the provider's rate limits admit the call."""
        provider = self._recorder.provider_or_none(request.model)
        return nullcontext() if provider is None else provider.admit(request.model)

    # --- tools ----------------------------------------------------------------------------------------

    async def _offer_tools(self, job: SpeechJob) -> None:
        provider = self._recorder.provider_or_none(job.model)
        if provider is not None and job.tool_session.allowed:
            traits = provider.traits_of(job.model.name)
            await self._tool_runner.offer_tools(job.tool_session, traits, limited=self._limited)

    async def _run_tools(self, job: SpeechJob, reply: CallResult, timer: JobTimer) -> float | None:
        """Carry out the tool calls of a reply. Returns 0 to call the model again at once, and None where the
        speech ended because its time was up."""

        async def report(result: ToolResult) -> None:
            await self._recorder.record(
                lambda debate: runner_decisions.record_tool_result(debate, job.purpose, reply.call, result)
            )
            crash_point("tool-told")

        try:
            async with timer.running():
                results = await self._tool_runner.run_calls(job.tool_session, reply, report)
        except TimeoutError:
            end = job.on_timeout(reply)
            await self._recorder.record(
                lambda debate: runner_decisions.end_between_calls(debate, job.purpose, end)
            )
            return None
        job.tool_session.add_results(reply, results)
        return 0.0


def _purpose_fields(purpose: CallPurpose) -> dict[str, str | int]:
    fields = {"turn": purpose.turn, "judge": purpose.judge, "aside": purpose.aside}
    return {name: value for name, value in fields.items() if value is not None}


async def _wait_for_event(event: asyncio.Event, seconds: float | None) -> None:
    """Until the event is set, or so many seconds have passed."""
    # Not wait_for: where the event and a cancellation come together, it forgets the cancellation.
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
