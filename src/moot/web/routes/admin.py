"""The steward's desk: what the server itself needs. Models to install, providers and their keys, tokens.

Whoever may use the server sees what works; to change it is for the operator. Tokens are kept beside the log,
so what came of a request is remembered here, as with invitations.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from moot import __version__
from moot.api.problems import Problem
from moot.api.rights import may
from moot.api.v1 import admin_bodies, bodies, query_params
from moot.core.errors import Unavailable
from moot.models.installs import InstallStatus
from moot.store.contract import Token, digest, new_secret
from moot.views.transcript_json import moment
from moot.web.app_context import identity_of, query_string
from moot.web.responses import json_reply
from moot.web.routes.handlers import Route, RouteHandlers

ModelName = Annotated[str, Path(alias="model")]
TokenName = Annotated[str, Path(alias="token")]

ROUTES: tuple[Route, ...] = (
    ("GET", "/providers", "providers", "look"),
    ("GET", "/installs", "installs", "look"),
    ("POST", "/installs/{model}", "install", "operate"),
    ("DELETE", "/installs/{model}", "stop_install", "operate"),
    ("GET", "/tokens", "tokens", "operate"),
    ("POST", "/tokens", "new_token", "operate"),
    ("DELETE", "/tokens/{token}", "revoke_token", "operate"),
)
ASK_OPERATOR = "Ask the operator of this server."
FIRST_ONE_WARNING = (
    "From now on every request needs a token. This one is for the debates of {owner}; models, tokens and the "
    "debates of all are for the operator: the one whose token is in MOOT_TOKEN, and the command line."
)


class AdminRoutes(RouteHandlers):
    async def providers(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        listed = await self._context.server_info.providers()
        needed, mine = await self._context.authenticator.needs_token(), may(identity_of(request), "operate")
        rows = listed["providers"] if mine else [_without_details(row) for row in listed["providers"]]
        shape = {**listed, "providers": rows, "token": needed, "operator": mine, "version": __version__}
        return json_reply(shape)

    # --- models to install ----------------------------------------------------------------------------

    async def installs(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        mine = may(identity_of(request), "operate")
        rows = [_install_reply(install, mine=mine) for install in self._arena.providers.installs.all()]
        return json_reply({"models": rows, "operator": mine})

    async def install(self, request: Request, model: ModelName) -> Response:
        query_params.no_params(query_string(request))
        bodies.read_body(bodies.Nothing, await request.body())
        try:
            started = self._arena.providers.installs.start(model)
        except Unavailable:
            raise _no_model() from None
        return json_reply(_install_reply(started, mine=True), 202)

    async def stop_install(self, request: Request, model: ModelName) -> Response:
        query_params.no_params(query_string(request))
        try:
            await self._arena.providers.installs.stop(model)
        except Unavailable:
            raise _no_model() from None
        return Response(status_code=204)

    # --- tokens ---------------------------------------------------------------------------------------

    async def tokens(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        tokens = await self._arena.store.tokens()
        shape = {
            "tokens": [_token_reply(token) for token in tokens],
            "needed": await self._context.authenticator.needs_token(),
        }
        return json_reply(shape)

    async def new_token(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        raw, repeats = await request.body(), self._context.idempotency
        async with repeats.in_flight(request, raw) as once:
            if saved := await repeats.saved_reply(request, once):
                return json_reply(saved, 201, {"Idempotent-Replayed": "true"})
            shape = await self._make_token(bodies.read_body(admin_bodies.NewToken, raw))
            await repeats.remember(request, once, shape)
        return json_reply(shape, 201)

    async def revoke_token(self, request: Request, token: TokenName) -> Response:
        query_params.no_params(query_string(request))
        if not await self._arena.store.delete_token(token):
            raise Problem("not-found", "There is no such token")
        self._context.authenticator.forget_cached()
        self._context.stream_monitor.review_soon()
        return Response(status_code=204)

    async def _make_token(self, asked: admin_bodies.NewToken) -> dict[str, Any]:
        store, authenticator = self._arena.store, self._context.authenticator
        if any(kept.name == asked.name for kept in await store.tokens()):
            raise Problem("validation", errors={"name": ["There is a token of that name"]})
        first, secret, now = not await authenticator.needs_token(), new_secret(), datetime.now(UTC)
        until = now + timedelta(days=asked.days) if asked.days else None
        owner = asked.name if asked.owner is None else asked.owner
        token = Token(asked.name, digest(secret), asked.role, owner, now, until)
        await store.save_token(token)
        authenticator.forget_cached()
        warning = FIRST_ONE_WARNING.format(owner=owner or "nobody in particular") if first else None
        return {**_token_reply(token), "token": secret, "warning": warning}


def _without_details(row: dict[str, Any]) -> dict[str, Any]:
    """Where a server stands in the operator's network is the operator's business."""
    return {**row, "why": None, "missing": row["missing"] and ASK_OPERATOR}


def _no_model() -> Problem:
    return Problem("not-found", "There is no such model to install")


def _install_reply(install: InstallStatus, *, mine: bool) -> dict[str, Any]:
    """What went wrong names folders of the server: it is for the operator."""
    return {
        "name": install.entry.name,
        "title": install.entry.title,
        "bytes": install.entry.size,
        "licence": install.entry.licence,
        "summary": install.entry.summary,
        "small": install.entry.small,
        "state": install.state,
        "done": install.done,
        "total": install.total,
        "error": (install.error or None) if mine else None,
    }


def _token_reply(token: Token) -> dict[str, Any]:
    return {
        "name": token.name,
        "role": token.role,
        "owner": token.owner,
        "createdAt": moment(token.created_at),
        "expiresAt": moment(token.expires_at),
        "expired": token.expired(datetime.now(UTC)),
    }
