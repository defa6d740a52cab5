"""What all desks do alike: whose debate is it and who may; read the body, ask the arena, answer, follow."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import Response

from moot.api.frames import Cursor, Dialect, Frame
from moot.api.problems import Problem
from moot.api.rights import Action, check
from moot.api.v1 import bodies, query_params
from moot.core.ids import new_id
from moot.core.state import Debate
from moot.core.terms import StepSize
from moot.core.visibility import Viewer
from moot.providers.keys import Secret
from moot.rules import turn_sessions
from moot.rules.commands import Command
from moot.rules.debate_setup import Setup
from moot.store.contract import IdempotencyKey, RecordResult
from moot.web.app_context import AppContext, client_of, identity_of, query_string
from moot.web.capabilities import lent_keys
from moot.web.responses import json_reply
from moot.web.streaming.sse_streams import EventStreamResponse, Watcher

Body = TypeVar("Body", bound=bodies.Body)
ReplyFor = Callable[[Debate], dict[str, Any]]
Route = tuple[str, str, str, Action]
"""Its method, its path, its name, and what one must be allowed to do: what is said about it stands in the
articles, by that name."""

DebateId = Annotated[str, Path(alias="debateId", examples=["deb_01HZ9X8K7M3QR5TNVWXYZ12345"])]


def add_routes(routes: APIRouter, table: Sequence[Route], handlers: RouteHandlers, **reached: str) -> None:
    """Add each route with its handler, a method of the same name; a client that lacks the right is refused.

    `reached` names converters for parts of a path.
    """
    for method, path, name, action in table:
        methods = ["GET", "HEAD"] if method == "GET" else [method]
        for part, kind in reached.items():
            path = path.replace(f"{{{part}}}", f"{{{part}:{kind}}}")
        checks = [Depends(handlers.allowed(action))]
        routes.add_api_route(path, getattr(handlers, name), methods=methods, name=name, dependencies=checks)


class RouteHandlers:
    """One method a route."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._arena = context.arena

    def allowed(self, action: Action) -> Callable[[Request], Awaitable[None]]:
        """Whose debate it is, and then who may: here, and for no route anywhere else."""

        async def check_rights(request: Request) -> None:
            if (debate_id := request.path_params.get("debateId")) is not None:
                await self._context.visible_head(request, debate_id)
            check(identity_of(request), action, seat=request.path_params.get("seat"))

        return check_rights

    async def _run_command(
        self,
        request: Request,
        debate_id: str,
        body_type: type[Body],
        make_command: Callable[[Body], Command],
        reply_for: ReplyFor,
        *,
        status: int = 200,
    ) -> Response:
        query_params.no_params(query_string(request))
        raw = await request.body()
        async with self._context.idempotency.in_flight(request, raw) as once:
            keys = lent_keys(request.headers, self._arena)
            command = make_command(bodies.read_body(body_type, raw))
            outcome = await self._arena.ask(debate_id, command, once=once, keys=keys)
        return json_reply(reply_for(outcome.debate), status, replayed_header(outcome))

    def _still_open(self) -> None:
        if self._arena.followers.closed:
            raise Problem("shutting-down")

    async def _open(
        self,
        request: Request,
        setup: Setup,
        keys: Mapping[str, Secret],
        once: IdempotencyKey | None = None,
        *,
        start: bool = True,
        step: StepSize | None = None,
        objection: Problem | None = None,
    ) -> RecordResult:
        """Open a debate for whoever asks, as far as they have a place left and the disk has room."""
        async with self._context.slots.claim(client_of(request)) as claim:
            outcome = await self._arena.create(
                setup,
                owner=identity_of(request).owner or "",
                once=once,
                start=start,
                step=step,
                naming=lambda kind, _place: new_id(kind),
                keys=_needed(keys, setup),
                objection=objection or claim.objection or await self._full(),
            )
            await claim.take(outcome.debate.id)
        return outcome

    async def _full(self) -> Problem | None:
        quota = self._arena.settings.service.quota_bytes
        if quota is None or await self._arena.store.size() <= quota:
            return None
        detail = "The disk quota is used up: delete debates, or raise MOOT_DISK_QUOTA_MB"
        return Problem("storage", detail, headers={"Retry-After": "60"})

    def _follow(
        self,
        request: Request,
        debate_id: str,
        dialect: Dialect,
        viewer: Viewer,
        cursor: Cursor,
        gone: Frame | None = None,
        *,
        plain: bool = False,
        extra_headers: Mapping[str, str] | None = None,
        slot: AbstractAsyncContextManager[Any] | None = None,
    ) -> EventStreamResponse:
        """`claim` is the viewer's, where it had to be taken beforehand."""
        context = self._context
        return EventStreamResponse(
            context.feeds,
            context.stream_monitor,
            debate_id=debate_id,
            dialect=dialect,
            viewer=viewer,
            cursor=cursor,
            gone=gone,
            slot=slot or context.streams.slot(client_of(request)),
            watching=Watcher(identity_of(request)),
            plain=plain,
            extra_headers=extra_headers,
        )


def check_accepts_stream(request: Request) -> None:
    kinds = request.headers.get("accept", "*/*").lower().replace(" ", "").split(",")
    accepted = [kind.partition(";")[0] for kind in kinds if not re.search(r";q=0(\.0*)?(;|$)", kind)]
    if not any(kind in ("text/event-stream", "text/*", "*/*", "") for kind in accepted):
        raise Problem("not-acceptable")


def _needed(keys: Mapping[str, Secret], setup: Setup) -> Mapping[str, Secret]:
    """Of the keys that came, those of its models; all of them, where a model is still to be named."""
    if setup.format.name == turn_sessions.FORMAT_NAME:
        return keys
    models = [*(seat.model for seat in setup.seats), *(judge.model for judge in setup.judges)]
    models += [seat.stand_in for seat in setup.seats if seat.stand_in]
    providers = {model.provider for model in models}
    return {name: key for name, key in keys.items() if name in providers}


def replayed_header(outcome: RecordResult) -> dict[str, str]:
    return {"Idempotent-Replayed": "true"} if outcome.replayed else {}
