"""The steward's desk: what the server itself needs. Models to install, providers and their keys, tokens.

Whoever may use the server sees what works; to change it is for the operator. Tokens are kept beside the log,
so what came of a request is remembered here, as with invitations.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from starlette.requests import Request
from starlette.responses import Response

from moot import __version__
from moot.api.problems import Problem
from moot.api.rights import may
from moot.api.shapes.conversations import InstallResponse, InstallsResponse
from moot.api.v1 import bodies, people_bodies, query_params
from moot.core.errors import Unavailable
from moot.models.installs import InstallStatus
from moot.store.contract import Token, digest, new_secret
from moot.views.transcript_json import moment
from moot.web.app_context import AppContext, identity_of, query_string
from moot.web.responses import json_reply
from moot.web.route_docs import api_router, documented
from moot.web.routes.handlers import Context, path_parameter

ModelName = Annotated[
    str,
    path_parameter("model", "^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$", "The name of the model, as in the list."),
]
TokenName = Annotated[
    str,
    path_parameter(
        "token", "^[0-9A-Za-z_-]+$", "Its name.", minLength=1, maxLength=people_bodies.MAX_TOKEN_NAME
    ),
]

ASK_OPERATOR = "Ask the operator of this server."
FIRST_ONE_WARNING = (
    "From now on every request needs a token. This one is for the debates of {owner}; models, tokens and the "
    "debates of all are for the operator: the one whose token is in MOOT_TOKEN, and the command line."
)


router = api_router()


@router.get(
    "/providers",
    **documented(
        "look",
        tag="The house",
        summary="See what works",
        reply="ProvidersResponse",
        says="The providers.",
        refusals=(422,),
    ),
)
async def providers(request: Request, context: Context) -> Response:
    """Each provider: whether it can be asked, which variable may hold its key, what it lacks, and its
    models. Of a key nothing is told but the name of its variable.
    """
    query_params.no_params(query_string(request))
    listed = await context.server_info.providers()
    needed, mine = await context.authenticator.needs_token(), may(identity_of(request), "operate")
    rows = listed["providers"] if mine else [_without_details(row) for row in listed["providers"]]
    shape = {**listed, "providers": rows, "token": needed, "operator": mine, "version": __version__}
    return json_reply(shape)


# --- models to install ----------------------------------------------------------------------------


@router.get(
    "/installs",
    **documented(
        "look",
        tag="The house",
        summary="List models to install",
        reply="InstallsResponse",
        says="The models.",
        refusals=(422,),
    ),
)
async def installs(request: Request, context: Context) -> Response:
    """The models that run on the server's own machine: here, absent, or on their way."""
    query_params.no_params(query_string(request))
    mine = may(identity_of(request), "operate")
    all_models = context.arena.providers.installs.all()
    rows = tuple(_install_reply(install, mine=mine) for install in all_models)
    return json_reply(InstallsResponse(models=rows, operator=mine))


@router.post(
    "/installs/{model}",
    **documented(
        "operate",
        tag="The house",
        summary="Install a model",
        status=202,
        reply="InstallResponse",
        says="It is under way, or here.",
        body=bodies.Nothing,
        refusals=(403, 404, 415, 422),
    ),
)
async def install(request: Request, model: ModelName, context: Context) -> Response:
    """For the operator. It goes on by itself, one after the other, and where it was broken off; whoever
    asks for one that is under way joins it. How far it has come is in the list.
    """
    query_params.no_params(query_string(request))
    bodies.read_body(bodies.Nothing, await request.body())
    try:
        started = context.arena.providers.installs.start(model)
    except Unavailable:
        raise _no_model() from None
    return json_reply(_install_reply(started, mine=True), 202)


@router.delete(
    "/installs/{model}",
    **documented(
        "operate",
        tag="The house",
        summary="Stop an install",
        status=204,
        says="Nothing is under way any more.",
        refusals=(403, 404, 422),
    ),
)
async def stop_install(request: Request, model: ModelName, context: Context) -> Response:
    """For the operator. What has been fetched is kept for the next time."""
    query_params.no_params(query_string(request))
    try:
        await context.arena.providers.installs.stop(model)
    except Unavailable:
        raise _no_model() from None
    return Response(status_code=204)


# --- tokens ---------------------------------------------------------------------------------------


@router.get(
    "/tokens",
    **documented(
        "operate",
        tag="The house",
        summary="List tokens",
        reply="TokensResponse",
        says="The tokens, by name.",
        refusals=(403, 422),
    ),
)
async def tokens(request: Request, context: Context) -> Response:
    """For the operator. The tokens themselves are stored nowhere."""
    query_params.no_params(query_string(request))
    tokens = await context.arena.store.tokens()
    shape = {
        "tokens": [_token_reply(token) for token in tokens],
        "needed": await context.authenticator.needs_token(),
    }
    return json_reply(shape)


@router.post(
    "/tokens",
    **documented(
        "operate",
        tag="The house",
        summary="Make a token",
        status=201,
        reply="TokenResponse",
        says="The token, told this once.",
        body=people_bodies.NewToken,
        once=True,
        refusals=(403, 409, 415, 422),
    ),
)
async def new_token(request: Request, context: Context) -> Response:
    """For the operator. Once there is a token, every request needs one: make the first with care."""
    query_params.no_params(query_string(request))
    raw, repeats = await request.body(), context.idempotency
    async with repeats.in_flight(request, raw) as once:
        if saved := await repeats.saved_reply(request, once):
            return json_reply(saved, 201, {"Idempotent-Replayed": "true"})
        shape = await _make_token(context, bodies.read_body(people_bodies.NewToken, raw))
        await repeats.remember(request, once, shape)
    return json_reply(shape, 201)


@router.delete(
    "/tokens/{token}",
    **documented(
        "operate",
        tag="The house",
        summary="Revoke a token",
        status=204,
        says="It counts no longer.",
        refusals=(403, 404, 422),
    ),
)
async def revoke_token(request: Request, token: TokenName, context: Context) -> Response:
    """For the operator. What it has opened is closed within seconds."""
    query_params.no_params(query_string(request))
    if not await context.arena.store.delete_token(token):
        raise Problem("not-found", "There is no such token")
    context.authenticator.forget_cached()
    context.stream_monitor.review_soon()
    return Response(status_code=204)


async def _make_token(context: AppContext, asked: people_bodies.NewToken) -> dict[str, Any]:
    store, authenticator = context.arena.store, context.authenticator
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


def _install_reply(install: InstallStatus, *, mine: bool) -> InstallResponse:
    """An error names folders of the server: it is for the operator."""
    return InstallResponse(
        name=install.entry.name,
        title=install.entry.title,
        bytes=install.entry.size,
        licence=install.entry.licence,
        summary=install.entry.summary,
        small=install.entry.small,
        state=install.state,
        done=install.done,
        total=install.total,
        error=(install.error or None) if mine else None,
    )


def _token_reply(token: Token) -> dict[str, Any]:
    return {
        "name": token.name,
        "role": token.role,
        "owner": token.owner,
        "createdAt": moment(token.created_at),
        "expiresAt": moment(token.expires_at),
        "expired": token.expired(datetime.now(UTC)),
    }
