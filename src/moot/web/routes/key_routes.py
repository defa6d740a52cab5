"""Routes for the keys of model services: which are set, saving and removing one, and a test.

A key comes in and never goes out: replies say whether it is set and where it comes from. Where the server has
no tokens, keys are changed and tested only from the machine itself. In a cluster none are saved: its workers
read their own environment.
"""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from moot.api.auth import ANYONE
from moot.api.problems import Problem
from moot.api.shapes.server_replies import KeysResponse, KeyStatus, KeyTestResponse
from moot.api.v1 import bodies, people_bodies
from moot.core.errors import Invalid, Unavailable
from moot.models.registry import ProviderRegistry
from moot.providers.endpoints import Endpoint, needs_key
from moot.providers.key_check import check_key
from moot.providers.keys import SAVED_KEY, ApiKey, Secret
from moot.providers.saved_keys import SavedKeys
from moot.web.app_context import AppContext, identity_of
from moot.web.logging_setup import hide_secret
from moot.web.responses import json_reply
from moot.web.route_docs import api_router, documented
from moot.web.routes.handlers import Context, path_parameter

ProviderName = Annotated[
    str,
    path_parameter("provider", "^[a-z0-9][a-z0-9_-]{0,63}$", "The provider, as in `GET /api/v1/keys`."),
]
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
"""A request with one of these headers came through a proxy, so its sender is not known to be local."""
NOT_LOCAL = "Keys are changed from the server's own machine, or with the operator's token"
CLUSTER = "Keys cannot be saved here: the debates run on workers, which read keys from their environment"

router = api_router()


@router.get(
    "/keys",
    **documented(
        "operate",
        tag="Server",
        summary="See which keys are set",
        reply=KeysResponse,
        says="The providers and their keys, without the keys.",
        refusals=(403, 422),
    ),
)
async def list_keys(request: Request, context: Context) -> Response:
    """Lists the model services that take a key: whether one is set and where it comes from. A saved key comes
    before the environment, and that before `moot.toml`. No reply contains a key or a part of one. Only the
    operator may do this.
    """
    providers = context.arena.providers
    refusal = _refusal(request, providers)
    rows = tuple(_status(providers, endpoint) for endpoint in _keyed_endpoints(providers))
    return json_reply(KeysResponse(keys=rows, editable=refusal is None, reason=refusal))


@router.put(
    "/keys/{provider}",
    **documented(
        "operate",
        tag="Server",
        summary="Save a key",
        reply=KeyStatus,
        says="The key is saved, and used from now on.",
        body=people_bodies.NewKey,
        refusals=(403, 404, 415, 422),
    ),
)
async def save_key(request: Request, provider: ProviderName, context: Context) -> Response:
    """Saves a key in the server's data folder, in a file that only the server's user can read. It is used
    from now on, also by debates that run, and comes before one in the environment. Only the operator may do
    this, and only from the server's own machine where the server has no tokens.
    """
    providers = context.arena.providers
    saved, endpoint = _editable(request, providers, provider)
    key = bodies.read_body(people_bodies.NewKey, await request.body()).key
    hide_secret(key)
    try:
        saved.save(endpoint.name, Secret(key))
    except Unavailable as error:
        raise Problem("storage", str(error)) from None
    return json_reply(_status(providers, endpoint))


@router.delete(
    "/keys/{provider}",
    **documented(
        "operate",
        tag="Server",
        summary="Remove a saved key",
        status=204,
        says="No key is saved for this provider any more.",
        refusals=(403, 404, 422),
    ),
)
async def delete_key(request: Request, provider: ProviderName, context: Context) -> Response:
    """Removes a saved key. One in the environment or in `moot.toml` is used again from now on. Only the
    operator may do this, as for saving one.
    """
    saved, endpoint = _editable(request, context.arena.providers, provider)
    try:
        saved.remove(endpoint.name)
    except Unavailable as error:
        raise Problem("storage", str(error)) from None
    return Response(status_code=204)


@router.post(
    "/keys/{provider}/test",
    **documented(
        "operate",
        tag="Server",
        summary="Test a key",
        reply=KeyTestResponse,
        says="What the service said of the key.",
        body=bodies.Nothing,
        refusals=(403, 404, 415, 422),
    ),
)
async def test_key(request: Request, provider: ProviderName, context: Context) -> Response:
    """Asks the service for its list of models with the key that is set, which costs nothing. The reply names
    the cause and the remedy where the key is not accepted. Only the operator may do this, and only from the
    server's own machine where the server has no tokens.
    """
    bodies.read_body(bodies.Nothing, await request.body())
    providers = context.arena.providers
    endpoint = _endpoint(providers, provider)
    _require_local(request)
    key = providers.key(endpoint)
    reply = await _test(context, endpoint, key)
    if providers.saved_keys is not None and key is not None and key.origin == "settings":
        with suppress(Unavailable):  # the reply is worth more than the memory of it
            providers.saved_keys.record_test(endpoint.name, key.secret, ok=reply.ok)
    return json_reply(reply)


async def _test(context: AppContext, endpoint: Endpoint, key: ApiKey | None) -> KeyTestResponse:
    try:
        checked = await check_key(endpoint, key, context.arena.settings.environ)
    except Invalid as error:
        raise Problem("validation", str(error)) from None
    return KeyTestResponse(
        provider=endpoint.name, ok=checked.ok, message=checked.message, fix=checked.fix or None
    )


def _keyed_endpoints(providers: ProviderRegistry) -> list[Endpoint]:
    """Services that take a key, those that need one first."""
    taking = [endpoint for endpoint in providers.endpoints.values() if endpoint.keys]
    return sorted(taking, key=lambda endpoint: not needs_key(endpoint))


def _status(providers: ProviderRegistry, endpoint: Endpoint) -> KeyStatus:
    key, environ = providers.key(endpoint), providers.model_files.environ
    variable = next((name for name in endpoint.keys if environ.get(name, "").strip()), None)
    saved = key is not None and key.source == SAVED_KEY
    return KeyStatus(
        provider=endpoint.name,
        title=endpoint.title,
        set=key is not None,
        source=key.origin if key else None,
        variable=variable or endpoint.keys[0],
        variable_set=variable is not None,
        saved=saved,
        needed=needs_key(endpoint),
        host=urlsplit(endpoint.base_url).netloc or None,
        test=providers.saved_keys.test_state(endpoint.name) if saved and providers.saved_keys else None,
    )


def _endpoint(providers: ProviderRegistry, name: str) -> Endpoint:
    endpoint = providers.endpoints.get(name)
    if endpoint is None or not endpoint.keys:
        raise Problem("not-found", "There is no such provider that takes a key")
    return endpoint


def _editable(request: Request, providers: ProviderRegistry, name: str) -> tuple[SavedKeys, Endpoint]:
    endpoint = _endpoint(providers, name)
    _require_local(request)
    if providers.saved_keys is None:
        raise Problem("forbidden", CLUSTER)
    return providers.saved_keys, endpoint


def _refusal(request: Request, providers: ProviderRegistry) -> str | None:
    """Why this client can save no key here."""
    if not _may_change(request):
        return f"{NOT_LOCAL}."
    return f"{CLUSTER}." if providers.saved_keys is None else None


def _require_local(request: Request) -> None:
    if not _may_change(request):
        raise Problem("forbidden", NOT_LOCAL)


def _may_change(request: Request) -> bool:
    """A client with the operator's token may, from anywhere; one without only on this machine."""
    if identity_of(request) != ANYONE:
        return True
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        address = ip_address(request.client.host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
