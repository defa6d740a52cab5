"""What a runner records: the start of a call with its money, its end, and the next step with it.

The end of a speech, the next turn and its first call are one commit. They are decided beforehand on the state
at hand, which nearly always is the head of the log: `prepare_step`. Where it is not, because a command came
meanwhile, all is decided again on the head, and the call begins in a commit of its own. So it does where the
service has no free place for it, or tools have to be looked up first.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.crash_points import crash_point
from moot.core.errors import Fault, Fenced, Invalid, StoreError, Unavailable, UnknownDebate
from moot.core.events import CallCompleted, CallFailed, CallStarted, Event
from moot.core.pricing import at_least, cost, estimate_usage, plausible_usage, sent_tokens, text_bytes
from moot.core.state import Debate
from moot.core.terms import Model, Money, Request, Usage
from moot.core.word_count import quarter_tokens, whole_tokens
from moot.engine.call import CallResult
from moot.engine.jobs import ModelJob, SpeechJob, speech_job
from moot.providers.contract import Provider
from moot.rules import runner_decisions
from moot.rules.runner_decisions import EventBatch
from moot.store.contract import RecordResult, Store

LAST_WRITE_SECONDS = 5.0
"""How long the last write of a cancelled runner may take."""

Decide = Callable[[Debate], Sequence[Event]]


class BegunCall(Struct, frozen=True):
    """A call that was recorded with the start of its turn, and is to be made now."""

    request: Request
    started: CallStarted
    place: ExitStack
    """Its place among the calls that the service admits; given back where it is closed."""


class PreparedStep(Struct, frozen=True):
    base: Debate
    """The state for which this holds."""
    events: tuple[Event, ...]
    call_events: tuple[Event, ...] = ()
    """They begin the calls of the speeches that begin in `events`."""
    calls: Mapping[int, tuple[Request, CallStarted]] = MappingProxyType({})
    """By turn."""
    bodies: Mapping[str, bytes] = MappingProxyType({})


def prepare_step(base: Debate, decide: Decide, request_of: Callable[[SpeechJob], Request]) -> PreparedStep:
    """What is decided on this state; and the calls of the speeches that begin with it, unless one of them
    cannot begin at once. Pure, if `request_of` is."""
    batch = EventBatch(base)
    batch.add(*decide(base))
    decided = PreparedStep(base, tuple(batch.events))
    calls: dict[int, tuple[Request, CallStarted]] = {}
    bodies: dict[str, bytes] = {}
    jobs = [speech_job(batch.debate, turn) for turn in batch.debate.live if not base.is_live(turn.number)]
    for job in jobs:
        if not isinstance(job, SpeechJob) or job.tool_session.allowed or job.purpose.turn is None:
            return decided
        request = request_of(job)
        digest, body = digest_of(request)
        events = runner_decisions.begin_call(batch.debate, job.purpose, request, digest, attempt=1)
        started = next((event for event in events if isinstance(event, CallStarted)), None)
        if started is None:
            return decided
        batch.add(*events)
        calls[job.purpose.turn], bodies[digest] = (request, started), body
    call_events = tuple(batch.events[len(decided.events) :])
    return PreparedStep(base, decided.events, call_events, calls, bodies)


def digest_of(request: Request) -> tuple[str, bytes]:
    body = msgspec.json.encode(request)
    return hashlib.sha256(body).hexdigest(), body


class CallRecorder:
    def __init__(self, debate_id: str, epoch: int, store: Store, provider: Callable[[str], Provider]) -> None:
        self._id = debate_id
        self._epoch = epoch
        self._store = store
        self._provider = provider
        self._begun: dict[int, BegunCall] = {}
        """By turn."""

    async def record(self, decide: Decide, *, bodies: Mapping[str, bytes] | None = None) -> RecordResult:
        def on_head(debate: Debate | None) -> Sequence[Event]:
            if debate is None:
                raise UnknownDebate
            return decide(debate)

        return await self._store.record(self._id, on_head, epoch=self._epoch, bodies=bodies)

    async def begin(self, job: ModelJob, request: Request, attempt: int) -> CallStarted | None:
        """Reserve the money for a call; None where it is no longer wanted, or cannot be paid."""
        digest, body = digest_of(request)
        result = await self._record_start(
            lambda debate: runner_decisions.begin_call(
                debate, job.purpose, request, digest, attempt, job.continues
            ),
            {digest: body},
        )
        return next(iter(_started_calls(result)), None)

    async def advance(self, settle: Decide = lambda _debate: ()) -> Debate:
        """Record what settles a call, the step that follows, and the calls that begin with it."""

        def decide(debate: Debate) -> Sequence[Event]:
            return runner_decisions.settle_and_advance(debate, settle)

        base = self._store.cached_state(self._id)
        if base is None:
            return (await self.record(decide)).debate
        step = prepare_step(base, decide, self._first_request)
        places = self._take_places(step)
        if not places:
            return (await self.record(lambda head: step.events if head is base else decide(head))).debate
        events = (*step.events, *step.call_events)
        with ExitStack() as unused:
            for place in places:
                unused.push(place)
            result = await self._record_start(
                lambda head: events if head is base else decide(head), step.bodies
            )
            if result.records and result.records[-1].event is events[-1]:
                unused.pop_all()
                for place, (turn, call) in zip(places, step.calls.items(), strict=True):
                    self._begun[turn] = BegunCall(*call, place)
        return result.debate

    async def fail_cut_call(self, failed: CallFailed) -> None:
        """Record a call that a command has cut or that a runner gives up. Begins no other."""
        await shielded(self.record(lambda debate: runner_decisions.fail_call(debate, failed, None)))

    def take_begun(self, turn: int | None) -> BegunCall | None:
        """The call of this turn, if it was recorded with the turn's start. The caller closes its place."""
        return self._begun.pop(turn, None) if turn is not None else None

    async def drop_begun(self, turns: Iterable[int] | None = None) -> None:
        """Release the calls of these turns that were never made; of all turns, where none are named."""
        for turn in tuple(self._begun) if turns is None else turns:
            if call := self.take_begun(turn):
                call.place.close()
                await self.fail_cut_call(call_not_sent(call.started.call))

    # --- requests -------------------------------------------------------------------------------------

    def _first_request(self, job: ModelJob) -> Request:
        return self.request(job, 1)

    def request(self, job: ModelJob, attempt: int) -> Request:
        """Refers to earlier responses only where the provider remembers them."""
        request = job.request(attempt)
        provider = self.provider_or_none(request.model)
        if provider is not None and provider.traits.chaining:
            return request
        return replace(request, previous_response_id=None, fresh=(), resumes=False)

    def provider_or_none(self, model: Model) -> Provider | None:
        try:
            return self._provider(model.provider)
        except (Invalid, Unavailable):
            return None

    def _take_places(self, step: PreparedStep) -> list[ExitStack] | None:
        """A place for each call of the step; None unless all of them may begin now."""
        with ExitStack() as taken:
            places: list[ExitStack] = []
            for request, _ in step.calls.values():
                provider = self.provider_or_none(request.model)
                place = provider.admit_at_once(request.model) if provider is not None else None
                if place is None:
                    return None
                places.append(taken.enter_context(place))
            taken.pop_all()
            return places

    async def _record_start(self, decide: Decide, bodies: Mapping[str, bytes]) -> RecordResult:
        """Record events that start calls."""
        recording = asyncio.create_task(self.record(decide, bodies=bodies), name=f"{self._id} begin")
        try:
            result = await asyncio.shield(recording)
        except asyncio.CancelledError:
            # The reservation may have been written all the same. No request follows, so release it.
            for started in _started_calls(await recording):
                await self.fail_cut_call(call_not_sent(started.call))
            raise
        crash_point("call-started")
        return result


def _started_calls(result: RecordResult) -> list[CallStarted]:
    """Those of models: a person's call has no request."""
    return [r.event for r in result.records if isinstance(r.event, CallStarted) and r.event.request]


async def shielded(write: Coroutine[Any, Any, object]) -> None:
    """A last write that a cancellation cannot tear apart."""
    writing = asyncio.create_task(write, name="last write")
    # After a second cancellation nobody awaits the result; an error is then not worth a log line.
    writing.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait_for(asyncio.shield(writing), LAST_WRITE_SECONDS)
    except (Fenced, UnknownDebate, StoreError, TimeoutError):
        return


# --- how a call ended -----------------------------------------------------------------------------------


def call_completed(request: Request, result: CallResult, *, ended: bool) -> CallCompleted:
    """`ended`: no further call continues this one."""
    done = result.done
    usage = Usage() if done and done.unbilled else _usage(request, result)
    # A later call cannot refer to a reply that we cut off, or whose tool calls we never answered.
    unusable = done is None or (ended and bool(result.pending_tool_calls()))
    tier = done.service_tier if done and request.model.service_tier else ""
    return CallCompleted(
        call=result.call,
        finish=done.finish if done else "unknown",
        usage=usage,
        cost=Money(0) if done and done.unbilled else cost(request.model.price, usage, tier),
        latency_ms=result.latency_ms,
        first_token_ms=result.first_token_ms,
        response_id=None if unusable else result.response_id,
        truncated=result.truncated,
        stored=done.stored if done else True,
        reason=done.reason if done else "",
        answered_by=done.model if done else "",
        request_id=result.request_id,
        unread=done.unread if done else 0,
        refusal_category=done.refusal_category if done else "",
        service_tier=tier,
    )


def call_failed(request: Request, result: CallResult, fault: Fault, wait: float | None) -> CallFailed:
    """`wait` is the time until the next attempt, None where there is none."""
    usage = _usage(request, result) if fault.billed else Usage()
    return CallFailed(
        call=result.call,
        kind=fault.kind,
        severity=fault.severity,
        message=str(fault),
        usage=usage,
        cost=cost(request.model.price, usage) if fault.billed else Money(0),
        latency_ms=result.latency_ms,
        http_status=fault.http_status,
        retry_in_ms=None if wait is None else int(wait * 1000),
        billed=fault.billed,
        request_id=fault.request_id or result.request_id,
    )


def call_not_sent(call: int) -> CallFailed:
    """A call that was begun and given up before its request was sent: it costs nothing."""
    fault = Fault("cut", billed=False)
    return CallFailed(
        call=call,
        kind=fault.kind,
        severity=fault.severity,
        message=str(fault),
        usage=Usage(),
        cost=Money(0),
        latency_ms=0,
        billed=False,
    )


def _usage(request: Request, result: CallResult) -> Usage:
    # Prefilled text was sent, not generated.
    text_size = max(0, result.size - result.reasoning_size - quarter_tokens(request.prefill))
    guess = estimate_usage(sent_tokens(request), whole_tokens(text_size), whole_tokens(result.reasoning_size))
    if result.done is not None or result.usage_is_final:
        chars = max(0, result.chars - len(request.prefill)) + result.reasoning_chars
        reported = result.partial_usage if result.done is None else result.done.usage
        return plausible_usage(reported, guess, text_bytes(request), chars)
    # Figures from before the end are not final: Anthropic's begin with one token of output.
    return guess if result.partial_usage is None else at_least(result.partial_usage, guess)
