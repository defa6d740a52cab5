"""The routes of the commands that people give: one for each row of `api/commands.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from moot.api.commands import COMMANDS, CommandContext, PersonCommand
from moot.api.v1 import bodies, people_bodies, query_params
from moot.api.v1.setup_body import judge_from_body
from moot.store.contract import IdempotencyKey, RecordResult
from moot.web.app_context import AppContext, identity_of, query_string
from moot.web.capabilities import ServerCapabilities
from moot.web.responses import json_reply
from moot.web.routes.handlers import DebateId, Route, RouteHandlers, replayed_header

ROUTES: tuple[Route, ...] = tuple(
    (row.method, f"/debates/{{debateId}}/{row.path}", row.name, row.action) for row in COMMANDS
)


class CommandRoutes(RouteHandlers):
    def add_to(self, routes: APIRouter) -> None:
        for (method, path, name, action), row in zip(ROUTES, COMMANDS, strict=True):
            checks = [Depends(self.allowed(action))]
            endpoint = self._endpoint(row)
            routes.add_api_route(path, endpoint, methods=[method], name=name, dependencies=checks)

    def _endpoint(self, row: PersonCommand) -> Callable[..., Awaitable[Response]]:
        async def give_command(request: Request, debate_id: DebateId) -> Response:
            if row.prepared_by_arena:
                return await self._rejudge(request, debate_id, row)
            debate = await self._arena.state(debate_id) if row.reads_debate else None
            context = CommandContext(identity_of(request), request.path_params.get("seat", ""), debate)
            row.check_preconditions(context)
            return await self._run_command(
                request,
                debate_id,
                row.body,
                lambda body: row.to_command(body, context),
                row.reply,
                status=row.status,
            )

        return give_command

    async def _rejudge(self, request: Request, debate_id: str, row: PersonCommand) -> Response:
        query_params.no_params(query_string(request))
        raw = await request.body()
        async with self._context.idempotency.in_flight(request, raw) as once:
            outcome = await self._judge_again(debate_id, raw, once)
        return json_reply(row.reply(outcome.debate), row.status, replayed_header(outcome))

    async def _judge_again(self, debate_id: str, raw: bytes, once: IdempotencyKey | None) -> RecordResult:
        capabilities = ServerCapabilities(self._arena)
        body = bodies.read_body(people_bodies.Rejudge, raw, capabilities)
        return await self._arena.rejudge(
            debate_id,
            tuple(judge_from_body(judge, capabilities) for judge in body.judges),
            reason=body.reason,
            allowance=body.cost_limit,
            once=once,
        )


def add_commands(routes: APIRouter, context: AppContext) -> None:
    CommandRoutes(context).add_to(routes)
