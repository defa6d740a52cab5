"""The routes of the commands that people give: one for each row of `api/command_table.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from moot.api.command_table import CommandContext, DebateCommand, all_commands
from moot.api.v1 import bodies, people_bodies
from moot.api.v1.setup_body import judge_from_body
from moot.core.state import Debate
from moot.rules.commands import Command
from moot.web.app_context import AppContext, identity_of
from moot.web.responses import json_reply, replayed_header
from moot.web.route_docs import COMMANDED, api_router, documented
from moot.web.routes.handlers import Body, Context, DebateId, SeatId
from moot.web.server_capabilities import ServerCapabilities, lent_keys


def _endpoint(row: DebateCommand) -> Callable[..., Awaitable[Response]]:
    async def at_seat(request: Request, debate_id: DebateId, seat: SeatId, context: Context) -> Response:
        return await _give(row, context, request, debate_id, seat)

    async def in_debate(request: Request, debate_id: DebateId, context: Context) -> Response:
        if row.prepared_by_arena:
            return await _rejudge(row, context, request, debate_id)
        return await _give(row, context, request, debate_id)

    return at_seat if row.at_seat else in_debate


async def _give(
    row: DebateCommand, context: AppContext, request: Request, debate_id: str, seat: str = ""
) -> Response:
    debate = await context.arena.state(debate_id) if row.reads_debate else None
    source = CommandContext(identity_of(request), seat, debate)
    row.check_preconditions(source)
    return await run_command(
        context,
        request,
        debate_id,
        row.body,
        lambda body: row.to_command(body, source),
        row.reply,
        status=row.status,
    )


async def _rejudge(row: DebateCommand, context: AppContext, request: Request, debate_id: str) -> Response:
    raw, capabilities = await request.body(), ServerCapabilities(context.arena)
    async with context.idempotency.in_flight(request, raw) as once:
        body = bodies.read_body(people_bodies.Rejudge, raw, capabilities)
        judges = tuple(judge_from_body(judge, capabilities) for judge in body.judges)
        outcome = await context.arena.rejudge(
            debate_id, judges, reason=body.reason, allowance=body.cost_limit, once=once
        )
    return json_reply(row.reply(outcome.debate), row.status, replayed_header(outcome))


async def run_command(
    context: AppContext,
    request: Request,
    debate_id: str,
    body_type: type[Body],
    make_command: Callable[[Body], Command],
    reply_for: Callable[[Debate], Any],
    *,
    status: int = 200,
) -> Response:
    """Read the body, carry out the command that it becomes, and reply. Raises Problem and Refused."""
    raw = await request.body()
    async with context.idempotency.in_flight(request, raw) as once:
        has_keys = request.scope["state"].get("has_keys")
        keys = lent_keys(request.headers, context.arena) if has_keys else {}
        command = make_command(bodies.read_body(body_type, raw))
        outcome = await context.arena.ask(debate_id, command, once=once, keys=keys)
    return json_reply(reply_for(outcome.debate), status, replayed_header(outcome))


def router() -> APIRouter:
    """The routes of our commands, and of those of extensions."""
    routes = api_router()
    for row in all_commands():
        routes.add_api_route(
            f"/debates/{{debateId}}/{row.path}",
            _endpoint(row),
            methods=[row.method],
            name=row.name,
            description=row.description,
            **documented(
                row.action,
                tag=row.tag,
                summary=row.label,
                says=row.response_description,
                status=row.status,
                reply=row.reply_type,
                body=row.body,
                once=True,
                keys=row.takes_keys,
                refusals=COMMANDED,
            ),
        )
    return routes
