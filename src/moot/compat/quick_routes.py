"""`POST /api/debate`: an Optimist, a Skeptic and a Moderator, and the reply is the stream itself.

The debate goes on when whoever asked for it leaves; `X-Debate-Id` leads back to it. An operator may let the
same topic lead to the same debate for a while, and say how many each client may open in an hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack

from limits import RateLimitItemPerHour
from starlette.requests import Request
from starlette.responses import Response

from moot.api.frames import Cursor
from moot.api.problems import Problem
from moot.api.rate_limits import RateLimiter
from moot.api.v1 import query_params
from moot.compat import quick_frames
from moot.compat.model_names import resolve_model
from moot.compat.plain_stream import PlainDesk
from moot.core.errors import UnknownDebate
from moot.core.state import Debate
from moot.engine.mutex import KeyedMutex
from moot.providers.keys import Secret
from moot.rules.debate_setup import Setup
from moot.store.contract import IdempotencyKey, RecordResult
from moot.web.app_context import AppContext, client_of, identity_of, query_string
from moot.web.capabilities import ServerCapabilities, lent_keys
from moot.web.responses import json_reply
from moot.web.routes.handlers import DebateId, Route, check_accepts_stream, replayed_header

ROUTES: tuple[Route, ...] = (
    ("POST", "/debate", "quick", "open"),
    ("POST", "/debate/create", "quick_create", "open"),
    ("GET", "/debate/{debateId}/stream", "stream_quick", "watch"),
)


class QuickRoutes(PlainDesk):
    """One method a route."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        service = context.arena.settings.service
        self._shared_state = context.arena.shared_state
        self._hourly = service.quick_per_hour is not None
        self._limiter = RateLimiter(
            service.quick_per_hour, self._shared_state.storage, window=RateLimitItemPerHour
        )
        self._kept_seconds = service.quick_cache_seconds
        self._mutex = KeyedMutex(self._shared_state)

    async def quick(self, request: Request) -> Response:
        check_accepts_stream(request)
        async with AsyncExitStack() as stack:
            # A debate must not begin for someone who has no place left to watch it from.
            await stack.enter_async_context(self._context.streams.slot(client_of(request)))
            outcome = await self._find_or_open(request)
            place = stack.pop_all()
        debate_id, viewer = outcome.debate.id, identity_of(request).viewer
        told = {"X-Debate-Id": debate_id, **replayed_header(outcome)}
        dialect, gone = quick_frames.QuickFrames(), quick_frames.deleted()
        return self._follow(
            request, debate_id, dialect, viewer, Cursor(), gone, plain=True, extra_headers=told, slot=place
        )

    async def quick_create(self, request: Request) -> Response:
        outcome = await self._find_or_open(request)
        debate_id = outcome.debate.id
        headers = {
            "Location": f"/api/debates/{debate_id}",
            "X-Debate-Id": debate_id,
            **replayed_header(outcome),
        }
        shape = {"debateId": debate_id, "streamUrl": f"/api/debate/{debate_id}/stream"}
        return json_reply(shape, 201, headers)

    async def stream_quick(self, request: Request, debate_id: DebateId) -> Response:
        return await self._follow_plainly(
            request, debate_id, lambda _: quick_frames.QuickFrames(), quick_frames.deleted()
        )

    # --- opening --------------------------------------------------------------------------------------

    async def _find_or_open(self, request: Request) -> RecordResult:
        query_params.no_params(query_string(request))
        raw = await request.body()
        self._still_open()
        async with self._context.idempotency.in_flight(request, raw) as once:
            body = quick_frames.read_request(raw)
            keys = lent_keys(request.headers, self._arena)
            if once is not None or keys or not self._kept_seconds:
                # A key of one's own, or a name for the request, asks for a debate of one's own.
                return await self._open_limited(request, body, keys, once)
            cache_key = f"quick {identity_of(request).owner or ''}\n{body.max_rounds}\n{body.topic}"
            # Nobody opens what another is about to open.
            async with self._mutex.locked(cache_key):
                if (same := await self._same(cache_key)) is not None:
                    return RecordResult(same, ())
                outcome = await self._open_limited(request, body, keys)
                await self._shared_state.put(cache_key, outcome.debate.id.encode(), self._kept_seconds)
                return outcome

    async def _open_limited(
        self,
        request: Request,
        body: quick_frames.QuickDebate,
        keys: Mapping[str, Secret],
        once: IdempotencyKey | None = None,
    ) -> RecordResult:
        """What was refused, or is only asked for again, takes nothing from the hour."""
        client = client_of(request)
        setup = await self._setup(body, keys)
        if not self._hourly:
            return await self._open(request, setup, keys, once)
        # Nobody slips past the limit while another is counted.
        async with self._mutex.locked(f"hour of {client}"):
            outcome = await self._open(request, setup, keys, once, objection=await self._too_many(client))
            if not outcome.replayed:
                await self._limiter.hit(client)
        return outcome

    async def _setup(self, body: quick_frames.QuickDebate, keys: Mapping[str, Secret]) -> Setup:
        usual = await self._arena.providers.default_model()
        # Its key may be one that is lent; without any, the arena says so.
        resolved = resolve_model(self._arena, usual, keys)
        model = (
            resolved
            if resolved and ServerCapabilities(self._arena, keys).has_key(resolved.provider)
            else usual
        )
        return await self._arena.setup(
            body.topic, format=quick_frames.FORMAT, model=model, rounds=body.max_rounds
        )

    async def _too_many(self, client: str) -> Problem | None:
        status = await self._limiter.peek(client)
        if status is None or status.allowed:
            return None
        detail = f"At most {status.limit} debates an hour; try again later"
        return Problem("rate-limit", detail, headers={"Retry-After": str(status.retry_after)})

    async def _same(self, cache_key: str) -> Debate | None:
        """One that was asked for in the same words a while ago, if it came to its end or is on its way."""
        if (data := await self._shared_state.get(cache_key)) is None:
            return None
        try:
            debate = await self._arena.state(data.decode())
        except UnknownDebate:
            return None
        cut = debate.failed_seq or debate.status in ("aborted", "paused") or debate.ended == "stopped"
        return None if cut else debate
