"""`POST /api/debate`: an Optimist, a Skeptic and a Moderator; the reply is the stream itself.

The debate continues when its viewer leaves; `X-Debate-Id` leads back to it. The settings may give the same
topic the same debate for a while, and limit how many debates a client opens in an hour.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Annotated, ClassVar

from limits import RateLimitItemPerHour
from pydantic import ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from moot.api.frames import Cursor
from moot.api.problems import Problem, as_problem
from moot.api.rate_limits import RateLimiter
from moot.api.v1 import query_params
from moot.api.v1.bodies import Body, read_body
from moot.api.v1.validation_messages import FixedMessage, between, line
from moot.core.errors import Invalid, Unavailable, UnknownDebate
from moot.core.state import Debate
from moot.core.terms import MAX_MOTION_CHARS
from moot.engine.ephemeral_store import KeyedMutex
from moot.extensions.quick_api import CACHE_SECONDS, PER_HOUR
from moot.extensions.quick_api.frames import QuickFrames, deleted
from moot.extensions.quick_api.shapes import (
    QuickCreated,
    QuickEvent,
)
from moot.providers.keys import Secret
from moot.rules.debate_setup import Setup
from moot.store.contract import IdempotencyKey, RecordResult
from moot.web.app_context import AppContext, client_of, counted_of, identity_of, query_string
from moot.web.model_names import resolve_model
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
from moot.web.server_capabilities import ServerCapabilities, lent_keys
from moot.web.streaming.plain_streams import (
    follow_plainly,
    follow_route,
    opened_headers,
)

log = logging.getLogger(__name__)

FORMAT = "panel"
NO_MODEL = "This server has no model for the debate."
ROUNDS, MAX_ROUNDS = 3, 5


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


def _no_model(error: Invalid | Unavailable) -> str:
    return f"{NO_MODEL} {as_problem(error).detail if isinstance(error, Invalid) else error}".rstrip(".")


router = api_router()


class QuickDebates:
    """Opens debates, or finds the one on the same topic that was opened a while ago."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._arena = context.arena
        service = context.arena.settings.service
        self._ephemeral = context.arena.ephemeral
        per_hour = service.value(PER_HOUR)
        self._hourly = per_hour is not None
        self._limiter = RateLimiter(per_hour, self._ephemeral.storage, window=RateLimitItemPerHour)
        self._kept_seconds = service.value(CACHE_SECONDS)
        self._mutex = KeyedMutex(self._ephemeral)

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
                await self._ephemeral.put(cache_key, outcome.debate.id.encode(), self._kept_seconds)
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
        if (data := await self._ephemeral.get(cache_key)) is None:
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
        query=None,
        once=True,
        keys=True,
        headers=("X-Debate-Id", "Idempotent-Replayed"),
        refusals=(403, 406, 409, 415, 422),
    ),
)
async def run_quick_debate(request: Request, context: Context) -> Response:
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
        query=None,
        once=True,
        keys=True,
        headers=("Location", "Idempotent-Replayed", "X-Debate-Id"),
        refusals=(403, 409, 415, 422),
    ),
)
async def create_quick_debate(request: Request, context: Context) -> Response:
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
async def stream_quick_debate(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Streams any debate from its beginning or after the last `seq` that the client has seen. Events have an
    id and no name. The stream ends as that of the POST; a browser that then reconnects gets 204.
    """
    return await follow_plainly(context, request, debate_id, lambda _: QuickFrames(), deleted())
