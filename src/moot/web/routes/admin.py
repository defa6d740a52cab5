"""Routes for the server itself: providers and access tokens.

Every client may read what works; only the operator may change it. Tokens are stored outside the event log, so
the reply to a repeated request is remembered by `IdempotencyKeys`, as it is for invitations.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from msgspec import UNSET
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from moot import __version__
from moot.api.problems import Problem
from moot.api.rights import may
from moot.api.shapes.server_replies import (
    ExtensionsResponse,
    LoadedExtension,
    OfferedProvider,
    ProvidersResponse,
    ReachableResponse,
    TokenResponse,
    TokensResponse,
)
from moot.api.v1 import bodies, people_bodies
from moot.core.json_types import choose
from moot.extension import loaded
from moot.store.contract import AccessToken, digest, new_secret
from moot.web.app_context import AppContext, identity_of
from moot.web.provider_probe import ProviderProbe
from moot.web.responses import json_reply
from moot.web.route_docs import api_router, documented
from moot.web.routes.handlers import Context, path_parameter
from moot.web.routes.page import extension_modules

TokenName = Annotated[
    str,
    path_parameter(
        "token",
        "^[0-9A-Za-z_-]+$",
        "The name of the token.",
        minLength=1,
        maxLength=people_bodies.MAX_TOKEN_NAME,
    ),
]

ProviderName = Annotated[
    str, path_parameter("provider", "^[a-z0-9][a-z0-9_-]{0,63}$", "The provider, as in `GET /providers`.")
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
        tag="Server",
        summary="See what works",
        reply=ProvidersResponse,
        says="The providers.",
        refusals=(422,),
    ),
)
async def list_providers(request: Request, context: Context) -> Response:
    """Lists the providers: whether each can be called, the variable that may hold its key, what is missing,
    and its models. Of a key only the name of its variable is shown.
    """
    rows, default = await context.server_info.providers()
    needed, operator = await context.authenticator.needs_token(), may(identity_of(request), "operate")
    return json_reply(
        ProvidersResponse(
            providers=rows if operator else tuple(_without_details(row) for row in rows),
            default=default,
            token=needed,
            operator=operator,
            version=__version__,
        )
    )


@router.get(
    "/providers/{provider}/reachable",
    **documented(
        "look",
        tag="Server",
        summary="See whether a provider answers",
        reply=ReachableResponse,
        says="Whether it answers now.",
        refusals=(404, 422),
    ),
)
async def check_provider(provider: ProviderName, context: Context) -> Response:
    """Asks the service at its address, without a key and at most once in five seconds for all clients. An
    answer that refuses the request shows that the service is up, too.
    """
    known = context.arena.providers
    if provider not in known.names():
        raise Problem("not-found", "There is no such provider")
    endpoint = known.endpoints.get(provider)
    answers = await context.service(ProviderProbe).answers(endpoint) if endpoint else None
    return json_reply(ReachableResponse(provider=provider, reachable=answers))


# --- tokens ---------------------------------------------------------------------------------------


@router.get(
    "/extensions",
    **documented(
        "look",
        tag="Server",
        summary="See what is loaded",
        reply=ExtensionsResponse,
        says="The extensions.",
        refusals=(422,),
    ),
)
async def list_extensions(request: Request) -> Response:
    """Lists the extensions of this server and what they add to the page and the terminal. Why one was left
    out is told to the operator alone.
    """
    return json_reply(ExtensionsResponse(extensions=loaded_extensions(may(identity_of(request), "operate"))))


def loaded_extensions(operator: bool) -> tuple[LoadedExtension, ...]:
    found, modules = loaded(), extension_modules()
    rows = [
        LoadedExtension(
            name=extension.name,
            summary=extension.summary,
            source=found.sources.get(extension.name, ""),
            commands=tuple(f"{one.parent} {one.name}".strip() for one in extension.commands),
            modules=tuple(module for module in modules if module.extension == extension.name),
        )
        for extension in found
    ]
    failed = [
        LoadedExtension(
            name=name,
            summary="",
            source=found.sources.get(name, ""),
            commands=(),
            modules=(),
            problem=reason if operator else ASK_OPERATOR,
            failed_field=found.failed_fields.get(name, "") if operator else "",
        )
        for name, reason in found.failures.items()
    ]
    return (*rows, *failed)


@router.get(
    "/tokens",
    **documented(
        "operate",
        tag="Server",
        summary="List tokens",
        reply=TokensResponse,
        says="The tokens, by name.",
        refusals=(403, 422),
    ),
)
async def list_tokens(context: Context) -> Response:
    """Lists the tokens without their secrets, which are not stored. Only the operator may do this."""
    rows = tuple(token_reply(token) for token in await context.arena.store.tokens())
    return json_reply(TokensResponse(tokens=rows, needed=await context.authenticator.needs_token()))


@router.post(
    "/tokens",
    **documented(
        "operate",
        tag="Server",
        summary="Make a token",
        status=201,
        reply=TokenResponse,
        says="The token; its secret is shown this once.",
        body=people_bodies.NewToken,
        once=True,
        refusals=(403, 409, 415, 422),
    ),
)
async def create_token(request: Request, context: Context) -> Response:
    """Creates a token and returns its secret, this once. Only the operator may do this. As soon as there is a
    token, every request needs one.
    """
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
        tag="Server",
        summary="Revoke a token",
        status=204,
        says="The token is revoked.",
        refusals=(403, 404, 422),
    ),
)
async def revoke_token(token: TokenName, context: Context) -> Response:
    """Revokes a token; streams that were opened with it are closed within seconds. Only the operator may do
    this.
    """
    if not await context.arena.store.delete_token(token):
        raise Problem("not-found", "There is no such token")
    context.authenticator.forget_cached()
    context.stream_monitor.review_soon()
    return Response(status_code=204)


async def _make_token(context: AppContext, body: people_bodies.NewToken) -> TokenResponse:
    store, authenticator = context.arena.store, context.authenticator
    if any(existing.name == body.name for existing in await store.tokens()):
        raise Problem("validation", errors={"name": ["There is a token of that name"]})
    first, secret, now = not await authenticator.needs_token(), new_secret(), datetime.now(UTC)
    until = now + timedelta(days=body.days) if body.days else None
    owner = body.name if body.owner is None else body.owner
    token = AccessToken(body.name, digest(secret), body.role, owner, now, until)
    await store.save_token(token)
    authenticator.forget_cached()
    warning = FIRST_ONE_WARNING.format(owner=owner or "nobody in particular") if first else None
    return replace(token_reply(token), token=secret, warning=warning)


def _without_details(row: OfferedProvider) -> OfferedProvider:
    """Addresses in the operator's network are for the operator only."""
    return replace(row, why=None, missing=row.missing and ASK_OPERATOR)


def token_reply(token: AccessToken) -> TokenResponse:
    return choose(TokenResponse, token, expired=token.expired(datetime.now(UTC)), token="", warning=UNSET)
