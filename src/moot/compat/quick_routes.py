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
from moot.api.rate_limits import Limiter
from moot.api.v1 import query_params
from moot.compat import quick_frames
from moot.compat.model_names import resolve
from moot.compat.plain_stream import PlainDesk
from moot.core.errors import UnknownDebate
from moot.core.state import Debate
from moot.engine.mutex import Turnstile
from moot.providers.keys import Secret
from moot.rules.debate_setup import Setup
from moot.store.contract import Once, Outcome
from moot.web.app_context import Rooms, query_of, who
from moot.web.capabilities import House, lent_keys
from moot.web.responses import json_reply
from moot.web.routes.handlers import DebateId, Route, accepts_stream, replayed

ROUTES: tuple[Route, ...] = (
    ("POST", "/debate", "quick", "open"),
    ("POST", "/debate/create", "quick_create", "open"),
    ("GET", "/debate/{debateId}/stream", "stream_quick", "watch"),
)


class Quick(PlainDesk):
    """One method a route."""

    def __init__(self, rooms: Rooms) -> None:
        super().__init__(rooms)
        service = rooms.arena.settings.service
        self._commons = rooms.arena.commons
        self._hourly = service.quick_per_hour is not None
        self._limiter = Limiter(service.quick_per_hour, self._commons.storage, window=RateLimitItemPerHour)
        self._kept_seconds = service.quick_cache_seconds
        self._turnstile = Turnstile(self._commons)

    async def quick(self, request: Request) -> Response:
        accepts_stream(request)
        async with AsyncExitStack() as stack:
            # A debate must not begin for someone who has no place left to watch it from.
            await stack.enter_async_context(self._rooms.streams.taken(request.scope["state"]["client"]))
            outcome = await self._hold(request)
            place = stack.pop_all()
        debate_id, viewer = outcome.debate.id, who(request).viewer
        told = {"X-Debate-Id": debate_id, **replayed(outcome)}
        dialect, gone = quick_frames.Quick(), quick_frames.deleted()
        return self._follow(
            request, debate_id, dialect, viewer, Cursor(), gone, plain=True, told=told, place=place
        )

    async def quick_create(self, request: Request) -> Response:
        outcome = await self._hold(request)
        debate_id = outcome.debate.id
        headers = {"Location": f"/api/debates/{debate_id}", "X-Debate-Id": debate_id, **replayed(outcome)}
        shape = {"debateId": debate_id, "streamUrl": f"/api/debate/{debate_id}/stream"}
        return json_reply(shape, 201, headers)

    async def stream_quick(self, request: Request, debate_id: DebateId) -> Response:
        return await self._follow_plainly(
            request, debate_id, lambda _: quick_frames.Quick(), quick_frames.deleted()
        )

    # --- opening --------------------------------------------------------------------------------------

    async def _hold(self, request: Request) -> Outcome:
        query_params.nothing(query_of(request))
        raw = await request.body()
        self._still_open()
        async with self._rooms.repeats.doing(request, raw) as once:
            wanted = quick_frames.asked(raw)
            keys = lent_keys(request.headers, self._arena)
            if once is not None or keys or not self._kept_seconds:
                # A key of one's own, or a name for the request, asks for a debate of one's own.
                return await self._held(request, wanted, keys, once)
            wish = f"quick {who(request).owner or ''}\n{wanted.max_rounds}\n{wanted.topic}"
            # Nobody opens what another is about to open.
            async with self._turnstile.alone(wish):
                if (same := await self._same(wish)) is not None:
                    return Outcome(same, ())
                outcome = await self._held(request, wanted, keys)
                await self._commons.keep(wish, outcome.debate.id.encode(), self._kept_seconds)
                return outcome

    async def _held(
        self,
        request: Request,
        wanted: quick_frames.QuickDebate,
        keys: Mapping[str, Secret],
        once: Once | None = None,
    ) -> Outcome:
        """What was refused, or is only asked for again, takes nothing from the hour."""
        client: str = request.scope["state"]["client"]
        setup = await self._setup(wanted, keys)
        if not self._hourly:
            return await self._open(request, setup, keys, once)
        # Nobody slips past the limit while another is counted.
        async with self._turnstile.alone(f"hour of {client}"):
            outcome = await self._open(request, setup, keys, once, objection=await self._too_many(client))
            if not outcome.replayed:
                await self._limiter.hit(client)
        return outcome

    async def _setup(self, wanted: quick_frames.QuickDebate, keys: Mapping[str, Secret]) -> Setup:
        usual = await self._arena.providers.default_model()
        # Its key may be one that is lent; without any, the arena says so.
        found = resolve(self._arena, usual, keys)
        model = found if found and House(self._arena, keys).has_key(found.provider) else usual
        return await self._arena.setup(
            wanted.topic, format=quick_frames.FORMAT, model=model, rounds=wanted.max_rounds
        )

    async def _too_many(self, client: str) -> Problem | None:
        standing = await self._limiter.look(client)
        if standing is None or standing.allowed:
            return None
        detail = f"At most {standing.limit} debates an hour; try again later"
        return Problem("rate-limit", detail, headers={"Retry-After": str(standing.retry_after)})

    async def _same(self, wish: str) -> Debate | None:
        """One that was asked for in the same words a while ago, if it came to its end or is on its way."""
        if (found := await self._commons.recall(wish)) is None:
            return None
        try:
            debate = await self._arena.state(found.decode())
        except UnknownDebate:
            return None
        cut = debate.failed_seq or debate.status in ("aborted", "paused") or debate.ended == "stopped"
        return None if cut else debate
