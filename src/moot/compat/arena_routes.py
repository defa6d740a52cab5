"""`/api/debates`: two debaters take turns, and whoever watches may pause, skip and comment."""

from __future__ import annotations

from typing import assert_never

from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.v1 import bodies, query_params
from moot.compat import arena_frames
from moot.compat.arena_bodies import DEFAULT_NAMES, Debater, NewBout, UserAction
from moot.compat.model_names import ServerModelResolver
from moot.compat.plain_stream import PlainDesk
from moot.core.state import Debate
from moot.providers.redaction import redact
from moot.rules.commands import Command, Inject, Pause, Resume, SkipTurn
from moot.rules.debate_setup import SeatSetup, Setup
from moot.web.app_context import identity_of, query_string
from moot.web.capabilities import lent_keys
from moot.web.responses import json_reply
from moot.web.routes.handlers import DebateId, Route, replayed_header

ROUTES: tuple[Route, ...] = (
    ("POST", "/debates", "open_bout", "open"),
    ("GET", "/debates/{debateId}", "look_at_bout", "watch"),
    ("GET", "/debates/{debateId}/stream", "stream_bout", "watch"),
    ("POST", "/debates/{debateId}/turn", "act", "steer"),
)


class ArenaRoutes(PlainDesk):
    """One method a route."""

    async def open_bout(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        raw = await request.body()
        self._still_open()
        async with self._context.idempotency.in_flight(request, raw) as once:
            keys = lent_keys(request.headers, self._arena)
            known = ServerModelResolver(self._arena, keys)
            setup = await self._setup(bodies.read_body(NewBout, raw, known), known)
            outcome = await self._open(request, setup, keys, once)
        debate = outcome.debate
        headers = {
            "Location": f"/api/debates/{debate.id}",
            "X-Debate-Id": debate.id,
            **replayed_header(outcome),
        }
        return json_reply(arena_frames.debate_reply(debate, identity_of(request).viewer), 201, headers)

    async def look_at_bout(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        return json_reply(
            arena_frames.debate_reply(await self._arena.state(debate_id), identity_of(request).viewer)
        )

    async def stream_bout(self, request: Request, debate_id: DebateId) -> Response:
        return await self._follow_plainly(
            request, debate_id, arena_frames.ArenaFrames, arena_frames.deleted()
        )

    async def act(self, request: Request, debate_id: DebateId) -> Response:
        asked = UserAction(type="resume")

        def command(action: UserAction) -> Command:
            nonlocal asked
            asked = action
            return _command(action, identity_of(request).name)

        def answer(debate: Debate) -> dict[str, object]:
            return arena_frames.action_reply(debate, asked.type, asked.payload)

        return await self._run_command(request, debate_id, UserAction, command, answer, status=202)

    async def _setup(self, body: NewBout, known: ServerModelResolver) -> Setup:
        judge = body.judge and known.resolve(body.judge.model)
        return await self._arena.setup(
            body.topic,
            format=arena_frames.FORMAT,
            seats=tuple(
                _seat(debater, name, known)
                for debater, name in zip(
                    (body.debater_a, body.debater_b), DEFAULT_NAMES.values(), strict=True
                )
            ),
            judge="none" if body.winning_condition == "user-decides" else judge,
            turns=body.max_turns,
            winning=body.winning_condition,
        )


def _seat(debater: Debater, name: str, known: ServerModelResolver) -> SeatSetup:
    model = known.resolve(debater.model)
    if model is None:
        # It was there a moment ago.
        raise Problem("provider-unavailable")
    return SeatSetup(
        model=model,
        name=debater.name or name,
        objective=debater.objective,
        system_prompt=debater.system_prompt,
    )


def _command(action: UserAction, by: str) -> Command:
    match action.type:
        case "pause":
            return Pause(by=by)
        case "resume":
            return Resume()
        case "skip":
            return SkipTurn(by=by, slot=action.slot)
        case "inject":
            return Inject(redact(action.payload), by=by)
        case _:
            assert_never(action.type)
