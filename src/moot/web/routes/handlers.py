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
from moot.api.v1 import bodies, query_params, replies
from moot.core.ids import new_id
from moot.core.state import Debate
from moot.core.terms import Step
from moot.core.visibility import Viewer
from moot.providers.keys import Secret
from moot.rules import turn_sessions
from moot.rules.commands import Command
from moot.rules.debate_setup import Setup
from moot.store.contract import Once, Outcome
from moot.web.app_context import Rooms, query_of, who
from moot.web.capabilities import lent_keys
from moot.web.responses import json_reply
from moot.web.streaming.sse_streams import EventStream, Watching

Body = TypeVar("Body", bound=bodies.Body)
Answer = Callable[[Debate], dict[str, Any]]
Route = tuple[str, str, str, Action]
"""Its method, its path, its name, and what one must be allowed to do: what is said about it stands in the
articles, by that name."""

DebateId = Annotated[str, Path(alias="debateId", examples=["deb_01HZ9X8K7M3QR5TNVWXYZ12345"])]


def add_routes(routes: APIRouter, table: Sequence[Route], desk: Desk, **reached: str) -> None:
    """Each route is a method of the desk, and none is reached by who may not do what it is for.

    `reached` says what else a part of an address may be, by its name.
    """
    for method, path, name, action in table:
        methods = ["GET", "HEAD"] if method == "GET" else [method]
        for part, kind in reached.items():
            path = path.replace(f"{{{part}}}", f"{{{part}:{kind}}}")
        checks = [Depends(desk.allowed(action))]
        routes.add_api_route(path, getattr(desk, name), methods=methods, name=name, dependencies=checks)


class Desk:
    """One method a route."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._arena = rooms.arena

    def allowed(self, action: Action) -> Callable[[Request], Awaitable[None]]:
        """Whose debate it is, and then who may: here, and for no route anywhere else."""

        async def check_rights(request: Request) -> None:
            if (debate_id := request.path_params.get("debateId")) is not None:
                await self._rooms.mine(request, debate_id)
            check(who(request), action, seat=request.path_params.get("seat"))

        return check_rights

    async def _ask(
        self,
        request: Request,
        debate_id: str,
        form: type[Body],
        command: Callable[[Body], Command],
        answer: Answer,
        *,
        status: int = 200,
    ) -> Response:
        query_params.nothing(query_of(request))
        raw = await request.body()
        async with self._rooms.repeats.doing(request, raw) as once:
            keys = lent_keys(request.headers, self._arena)
            asked = command(bodies.read(form, raw))
            outcome = await self._arena.ask(debate_id, asked, once=once, keys=keys)
        return json_reply(answer(outcome.debate), status, replayed(outcome))

    def _still_open(self) -> None:
        if self._arena.hub.closed:
            raise Problem("shutting-down")

    async def _open(
        self,
        request: Request,
        setup: Setup,
        keys: Mapping[str, Secret],
        once: Once | None = None,
        *,
        start: bool = True,
        step: Step | None = None,
        objection: Problem | None = None,
    ) -> Outcome:
        """Open a debate for whoever asks, as far as they have a place left and the disk has room."""
        async with self._rooms.slots.taking(request.scope["state"]["client"]) as place:
            outcome = await self._arena.create(
                setup,
                owner=who(request).owner or "",
                once=once,
                start=start,
                step=step,
                naming=lambda kind, _place: new_id(kind),
                keys=_needed(keys, setup),
                objection=objection or place.objection or await self._full(),
            )
            await place.take(outcome.debate.id)
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
        told: Mapping[str, str] | None = None,
        place: AbstractAsyncContextManager[Any] | None = None,
    ) -> EventStream:
        """`place` is the viewer's, where it had to be taken beforehand."""
        rooms = self._rooms
        return EventStream(
            rooms.feeds,
            rooms.clock,
            debate_id=debate_id,
            dialect=dialect,
            viewer=viewer,
            cursor=cursor,
            gone=gone,
            place=place or rooms.streams.taken(request.scope["state"]["client"]),
            watching=Watching(who(request)),
            plain=plain,
            told=told,
        )


def accepts_stream(request: Request) -> None:
    kinds = request.headers.get("accept", "*/*").lower().replace(" ", "").split(",")
    wanted = [kind.partition(";")[0] for kind in kinds if not re.search(r";q=0(\.0*)?(;|$)", kind)]
    if not any(kind in ("text/event-stream", "text/*", "*/*", "") for kind in wanted):
        raise Problem("not-acceptable")


def _needed(keys: Mapping[str, Secret], setup: Setup) -> Mapping[str, Secret]:
    """Of the keys that came, those of its models; all of them, where a model is still to be named."""
    if setup.format.name == turn_sessions.NAME:
        return keys
    models = [*(seat.model for seat in setup.seats), *(judge.model for judge in setup.judges)]
    models += [seat.stand_in for seat in setup.seats if seat.stand_in]
    providers = {model.provider for model in models}
    return {name: key for name, key in keys.items() if name in providers}


def saying(message: str, status: str = "") -> Answer:
    """A reply that says no more than what was done."""

    def reply(debate: Debate) -> dict[str, Any]:
        shape = replies.accepted(debate, message)
        return {**shape, "status": status, "currentStatus": shape["status"]} if status else shape

    return reply


def replayed(outcome: Outcome) -> dict[str, str]:
    return {"Idempotent-Replayed": "true"} if outcome.replayed else {}
