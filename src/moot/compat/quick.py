"""`POST /api/debate`: an Optimist, a Skeptic and a Moderator; the reply is the stream itself.

Six flat events: `agent_start`, `token`, `agent_end`, `round_complete`, `debate_complete`, `error`. Rounds are
counted from 0, but `round_complete` gives the number of rounds so far, when the debaters have spoken and
before the moderator does. A second `agent_start` takes back what the agent said; `fullMessage` is right
whatever was streamed. A speech that failed is an `error` and has no `agent_end`.

The debate continues when its viewer leaves; `X-Debate-Id` leads back to it. The settings may give the same
topic the same debate for a while, and limit how many debates a client opens in an hour.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Annotated, ClassVar, assert_never

from limits import RateLimitItemPerHour
from msgspec import structs
from pydantic import ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from moot.api.frames import Cursor, Frame, SeenEvent
from moot.api.problems import ErrorCode, Problem, as_problem
from moot.api.rate_limits import RateLimiter
from moot.api.v1 import query_params
from moot.api.v1.bodies import Body, read_body
from moot.api.v1.validation_messages import FixedMessage, between, line
from moot.compat.model_names import resolve_model
from moot.compat.plain_stream import (
    PlainFrames,
    SpeechBegun,
    SpeechOver,
    SpeechText,
    content,
    follow_plainly,
    follow_route,
    milliseconds,
    opened_headers,
    speech_events,
    turns_by_slot,
)
from moot.compat.reply_shapes import (
    AgentEnd,
    AgentStart,
    DebateComplete,
    QuickCreated,
    QuickError,
    QuickEvent,
    QuickMessage,
    QuickOutcome,
    QuickToken,
    RoundComplete,
)
from moot.core.errors import FaultKind, Invalid, Unavailable, UnknownDebate
from moot.core.events import DebateEnded, DebateFailed, RoundCompleted, TurnStarted
from moot.core.json_types import Timestamp
from moot.core.state import Debate, Turn
from moot.core.statuses import FAILURES
from moot.core.terms import MAX_MOTION_CHARS
from moot.engine.coordination import KeyedMutex
from moot.judging.parties import party
from moot.providers.keys import Secret
from moot.rules.debate_setup import Setup
from moot.store.contract import IdempotencyKey, RecordResult
from moot.views import outcome
from moot.views.costs import costs
from moot.web.app_context import AppContext, client_of, counted_of, identity_of, query_string
from moot.web.capabilities import ServerCapabilities, lent_keys
from moot.web.responses import json_reply, replayed_header
from moot.web.route_docs import api_router, documented, plain_events
from moot.web.routes.handlers import (
    Context,
    DebateId,
    check_accepts_stream,
    check_not_stopping,
    follow_debate,
    open_debate,
)

log = logging.getLogger(__name__)

FORMAT = "panel"
NO_MODEL = "This server has no model for the debate."
ROUNDS, MAX_ROUNDS = 3, 5
PERMANENT_FAULTS: tuple[FaultKind, ...] = (
    "bad_key", "forbidden", "billing", "unknown_model", "bad_request", "too_long", "tls", "redirected",
    "filtered", "budget", "unavailable",
)  # fmt: skip
"""Faults that a retry would meet again."""


class QuickDebate(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"topic": "Should artificial intelligence be regulated by governments?", "maxRounds": 3}
            ]
        }
    )
    detail: ClassVar[str] = "Invalid debate configuration"

    topic: Annotated[str, line(1, MAX_MOTION_CHARS)]
    """The subject of the debate."""
    max_rounds: Annotated[
        int, between(1, MAX_ROUNDS), FixedMessage(f"Must be between 1 and {MAX_ROUNDS}")
    ] = ROUNDS


def read_request(data: bytes) -> QuickDebate:
    """Raises Problem, with the code INVALID_TOPIC where the topic is invalid."""
    try:
        return read_body(QuickDebate, data)
    except Problem as problem:
        if "topic" not in problem.errors:
            raise
        raise Problem(problem.kind, problem.detail, errors=problem.errors, code="INVALID_TOPIC") from None


class QuickFrames(PlainFrames, frozen=True):
    @property
    def name(self) -> str:
        return "quick"

    def shapes(self, seen: SeenEvent) -> Sequence[QuickEvent]:
        return [*_rounds(seen), *_speeches(seen), *_endings(seen)]


def debate_outcome(debate: Debate) -> QuickOutcome:
    """The result of a debate: the members that its last event and `GET /api/debates/{id}` share."""
    figures = costs(debate)
    return QuickOutcome(
        summary=summary(debate),
        total_tokens=figures.usage.total,
        total_cost=None if figures.total is None else float(figures.total),
        duration=milliseconds(debate),
        transcript=tuple(
            QuickMessage(role=debate.seat(turn.seat).name, content=turn.text, round=turn.round - 1)
            for turn in turns_by_slot(debate)
            if turn.has_words
        ),
    )


def summary(debate: Debate) -> str:
    """The moderator's summary; without one, the reasoning of the judges or the reason of the end."""
    summed_up = [turn.text for turn in turns_by_slot(debate) if turn.has_words and turn.tone == "summary"]
    if summed_up:
        return summed_up[-1]
    verdict = debate.verdict
    return (verdict.reasoning or outcome.headline(debate, verdict)) if verdict else outcome.ending(debate)


def deleted() -> Frame:
    return Frame("", _error("The debate was deleted.", "INTERNAL_ERROR", retryable=False))


def _rounds(seen: SeenEvent) -> Iterator[QuickEvent]:
    """A round is complete when its debaters have spoken, even if a moderator has still to sum up."""
    event = seen.event
    match event:
        case TurnStarted(tone="summary"):
            before = seen.before
            already_sent = before is not None and (
                any(turn.slot == event.slot for turn in before.turns) or before.rounds_done >= event.round
            )
        case RoundCompleted():
            already_sent = any(
                turn.tone == "summary" and turn.round == event.round for turn in seen.after.turns
            )
        case _:
            return
    if not already_sent:
        yield RoundComplete(round=event.round, total_rounds=seen.after.rounds_planned, seq=seen.seq)


def _speeches(seen: SeenEvent) -> Iterator[QuickEvent]:
    for speech_event in speech_events(seen):
        turn = speech_event.turn
        agent = seen.after.seat(turn.seat).name
        match speech_event:
            case SpeechBegun():
                timestamp = Timestamp.of(seen.at)
                yield AgentStart(agent=agent, round=turn.round - 1, timestamp=timestamp, seq=seen.seq)
            case SpeechText():
                yield QuickToken(content=speech_event.text, agent=agent, seq=seen.seq)
            case SpeechOver():
                yield _ended(turn, agent, seen.seq)
            case _:
                assert_never(speech_event)


def _ended(turn: Turn, agent: str, seq: int) -> AgentEnd | QuickError:
    number = turn.round - 1
    if turn.state == "failed":
        return structs.replace(_fault(turn, turn.message, seq), agent=agent, round=number)
    return AgentEnd(
        agent=agent, round=number, full_message=content(turn), token_count=turn.usage.output, seq=seq
    )


def _endings(seen: SeenEvent) -> Iterator[QuickEvent]:
    match seen.event:
        case DebateEnded(reason=reason):
            members = structs.asdict(debate_outcome(seen.after))
            yield DebateComplete(**members, reason=reason, winner=_winner(seen.after), seq=seen.seq)
        case DebateFailed():
            yield _failure(seen.after, seen.seq)
        case _:
            return


def _winner(debate: Debate) -> str | None:
    """A name, or `draw`; None for a panel."""
    verdict = debate.verdict
    if verdict is None or debate.status == "aborted":
        return None
    return party(debate, verdict.winner).name if verdict.winner else "draw"


def _failure(debate: Debate, seq: int) -> QuickError:
    """An internal error is reported without details."""
    message = outcome.ending(debate)
    failed = [turn for turn in debate.turns if turn.state == "failed" and not turn.struck]
    match debate.failure:
        case "permanent_fault" | "all_failed" if failed:
            return _fault(failed[-1], message, seq)
        case "internal":
            return _error(FAILURES["internal"].text, "INTERNAL_ERROR", retryable=False, seq=seq)
        case _:
            judging = debate.judging
            again = debate.failure == "judge_failed" and (judging is None or judging.may_be_repeated)
            return _error(message, "LLM_ERROR", retryable=again, seq=seq)


def _fault(turn: Turn, message: str, seq: int) -> QuickError:
    code: ErrorCode = "RATE_LIMIT" if turn.by == "rate_limited" else "LLM_ERROR"
    return _error(message, code, retryable=turn.by not in PERMANENT_FAULTS, seq=seq)


def _error(message: str, code: ErrorCode, *, retryable: bool, seq: int | None = None) -> QuickError:
    return QuickError(message=message, code=code, retryable=retryable, seq=seq)


def _no_model(error: Invalid | Unavailable) -> str:
    return f"{NO_MODEL} {as_problem(error).detail if isinstance(error, Invalid) else error}".rstrip(".")


router = api_router()


class QuickDebates:
    """Opens debates, or finds the one on the same topic that was opened a while ago."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._arena = context.arena
        service = context.arena.settings.service
        self._shared_state = context.arena.shared_state
        self._hourly = service.quick_per_hour is not None
        self._limiter = RateLimiter(
            service.quick_per_hour, self._shared_state.storage, window=RateLimitItemPerHour
        )
        self._kept_seconds = service.quick_cache_seconds
        self._mutex = KeyedMutex(self._shared_state)

    async def find_or_open(self, request: Request) -> RecordResult:
        query_params.no_params(query_string(request))
        raw = await request.body()
        check_not_stopping(self._context)
        async with self._context.idempotency.in_flight(request, raw) as once:
            body = read_request(raw)
            keys = lent_keys(request.headers, self._arena)
            if once is not None or keys or not self._kept_seconds:
                # With an idempotency key or a provider key the client wants a debate of its own.
                return await self._open_limited(request, body, keys, once)
            cache_key = f"quick {identity_of(request).owner or ''}\n{body.max_rounds}\n{body.topic}"
            # Two equal requests at the same time must not open two debates.
            async with self._mutex.locked(cache_key):
                if (cached := await self._cached_debate(cache_key)) is not None:
                    return RecordResult(cached, ())
                outcome = await self._open_limited(request, body, keys)
                await self._shared_state.put(cache_key, outcome.debate.id.encode(), self._kept_seconds)
                return outcome

    async def _open_limited(
        self,
        request: Request,
        body: QuickDebate,
        keys: Mapping[str, Secret],
        once: IdempotencyKey | None = None,
    ) -> RecordResult:
        """Refused and replayed requests do not count towards the hourly limit."""
        client = client_of(request)
        setup = await self._setup(body, keys)
        if not self._hourly:
            return await open_debate(self._context, request, setup, keys, once)
        # Locked, so that no second request passes the limit before the first is counted.
        async with self._mutex.locked(f"hour of {client}"):
            outcome = await open_debate(
                self._context, request, setup, keys, once, objection=await self._too_many(client)
            )
            if not outcome.replayed:
                await self._limiter.hit(client)
        return outcome

    async def _setup(self, body: QuickDebate, keys: Mapping[str, Secret]) -> Setup:
        """Raises Problem where the server has no model for it: no client can change that by asking again."""
        try:
            return await self._set_up(body, keys)
        except (Invalid, Unavailable) as error:
            log.warning("no model for /api/debate: %s", error)
            raise Problem("provider-unavailable", _no_model(error), retryable=False) from error

    async def _set_up(self, body: QuickDebate, keys: Mapping[str, Secret]) -> Setup:
        default = await self._arena.providers.default_model()
        # The key may have come with the request; without any key the arena raises.
        resolved = resolve_model(self._arena, default, keys)
        model = (
            resolved
            if resolved and ServerCapabilities(self._arena, keys).has_key(resolved.provider)
            else default
        )
        return await self._arena.setup(
            body.topic, format=FORMAT, model=model, rounds=body.max_rounds, any_length=True
        )

    async def _too_many(self, client: str) -> Problem | None:
        status = await self._limiter.peek(client)
        if status is None or status.allowed:
            return None
        detail = f"At most {status.limit} debates an hour; try again later"
        return Problem("rate-limit", detail, headers={"Retry-After": str(status.retry_after)})

    async def _cached_debate(self, cache_key: str) -> Debate | None:
        """The debate on the same topic that was opened a while ago, unless it was cut short."""
        if (data := await self._shared_state.get(cache_key)) is None:
            return None
        try:
            debate = await self._arena.state(data.decode())
        except UnknownDebate:
            return None
        cut_short = debate.failed_seq or debate.status in ("aborted", "paused") or debate.ended == "stopped"
        return None if cut_short else debate


# --- routes -------------------------------------------------------------------------------------------


@router.post(
    "/debate",
    **documented(
        "open",
        tag="Compatibility APIs",
        summary="Debate a topic at once",
        events=plain_events(QuickEvent),
        says="Events as they happen. The stream ends after `debate_complete`, or with an `error`.",
        body=QuickDebate,
        once=True,
        keys=True,
        headers=("X-Debate-Id", "Idempotent-Replayed"),
        refusals=(403, 406, 409, 415, 422),
    ),
)
async def quick(request: Request, context: Context) -> Response:
    """Opens a debate of an Optimist and a Skeptic, summed up by a Moderator, and returns its stream: `data:`
    lines without a name or an id. The debate continues when the client disconnects; `X-Debate-Id` is its id.
    The body may also be sent as `text/plain`, but not by a page of another origin.
    """
    check_accepts_stream(request)
    async with AsyncExitStack() as stack:
        # A debate must not begin for a client that may open no further stream.
        await stack.enter_async_context(context.streams.slot(counted_of(request)))
        outcome = await context.service(QuickDebates).find_or_open(request)
        slot = stack.pop_all()
    debate_id = outcome.debate.id
    return follow_debate(
        context,
        request,
        debate_id,
        QuickFrames(),
        identity_of(request).viewer,
        Cursor(),
        deleted(),
        plain=True,
        extra_headers={"X-Debate-Id": debate_id, **replayed_header(outcome)},
        slot=slot,
    )


@router.post(
    "/debate/create",
    **documented(
        "open",
        tag="Compatibility APIs",
        summary="Debate a topic, and follow it later",
        status=201,
        reply=QuickCreated,
        says="The debate is open. `streamUrl` is the address of its stream.",
        body=QuickDebate,
        once=True,
        keys=True,
        headers=("Location", "Idempotent-Replayed", "X-Debate-Id"),
        refusals=(403, 409, 415, 422),
    ),
)
async def quick_create(request: Request, context: Context) -> Response:
    """The same in two steps, for an `EventSource`, which can only send GET: opens the debate and returns the
    address of its stream.
    """
    outcome = await context.service(QuickDebates).find_or_open(request)
    debate_id = outcome.debate.id
    reply = QuickCreated(debate_id=debate_id, stream_url=f"/api/debate/{debate_id}/stream")
    return json_reply(reply, 201, opened_headers(outcome))


@router.get(
    "/debate/{debateId}/stream",
    **follow_route("Follow a debate of agents", QuickEvent),
)
async def stream_quick(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Streams any debate from its beginning or after the last `seq` that the client has seen. Events have an
    id and no name. The stream ends as that of the POST; a browser that then reconnects gets 204.
    """
    return await follow_plainly(context, request, debate_id, lambda _: QuickFrames(), deleted())
