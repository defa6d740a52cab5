"""What all desks do alike: look whose debate it is and who may, read the body, ask the arena, answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from moot.commands import Command
from moot.debate import Debate
from moot.store.contract import Outcome
from moot.web.answers import json_reply
from moot.web.house import lent_keys
from moot.web.rooms import Rooms, query_of, who
from moot.wire.auth import Identity
from moot.wire.rights import steers
from moot.wire.v1 import bodies, queries, replies

Body = TypeVar("Body", bound=bodies.Body)
Answer = Callable[[Debate], dict[str, Any]]
Route = tuple[str, str, str]
"""Its method, its path, and its name: what is said about it stands in the articles, by that name."""

DebateId = Annotated[str, Path(alias="debateId", examples=["deb_01HZ9X8K7M3QR5TNVWXYZ12345"])]


class Desk:
    """One method a route."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._arena = rooms.arena

    async def _ask(
        self,
        request: Request,
        debate_id: str,
        form: type[Body],
        command: Callable[[Body], Command],
        answer: Answer,
        *,
        status: int = 200,
        may: Callable[[Identity], object] = steers,
    ) -> Response:
        await self._rooms.mine(request, debate_id)
        may(who(request))
        queries.nothing(query_of(request))
        raw = await request.body()
        with self._rooms.repeats.doing(request, raw) as once:
            keys = lent_keys(request.headers, self._arena)
            asked = command(bodies.read(form, raw))
            outcome = await self._arena.ask(debate_id, asked, once=once, keys=keys)
        return json_reply(answer(outcome.debate), status, replayed(outcome))


def saying(message: str, status: str = "") -> Answer:
    """A reply that says no more than what was done."""

    def reply(debate: Debate) -> dict[str, Any]:
        shape = replies.accepted(debate, message)
        return {**shape, "status": status, "currentStatus": shape["status"]} if status else shape

    return reply


def replayed(outcome: Outcome) -> dict[str, str]:
    return {"Idempotent-Replayed": "true"} if outcome.replayed else {}
