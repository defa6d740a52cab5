"""The description at /openapi.json and the page made from it at /docs, with its style in a file of its own.

Both are made for this server, and once: only whether a token is needed may change under way. What they are
made of is loaded when somebody first asks, beside the loop: a server starts a sixth faster without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response

from moot.api.v1.validation_messages import Shape
from moot.engine.arena import Arena
from moot.web.app_context import AppContext
from moot.web.capabilities import ServerCapabilities, lendable_providers
from moot.web.extension import Extension
from moot.web.responses import json_reply
from moot.web.route_docs import RightsCheck

if TYPE_CHECKING:
    from moot.web.openapi import Offer

STYLE = "docs.css"
PATHS = ("/openapi.json", "/docs", f"/docs/{STYLE}")


def router(app: FastAPI, context: AppContext, extensions: Sequence[Extension] = ()) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)
    arena, authenticator, allowed = context.arena, context.authenticator, RightsCheck("look")

    @cache
    def described(locked: bool) -> Shape:
        from moot.web.openapi import describe

        return describe(app, docs_offer(arena, extensions, locked=locked))

    @lru_cache(maxsize=8)
    def page_for(locked: bool, origin: str) -> str:
        from moot.web.reference.manual import to_html

        return to_html(described(locked), origin, arena.settings.service)

    async def openapi(request: Request) -> Response:
        await allowed(request)
        return json_reply(await asyncio.to_thread(described, await authenticator.needs_token()))

    async def docs(request: Request) -> Response:
        await allowed(request)
        origin = str(request.base_url).rstrip("/")
        page = await asyncio.to_thread(page_for, await authenticator.needs_token(), origin)
        return Response(page, media_type="text/html")

    async def style(_request: Request) -> Response:
        return Response(_style(), media_type="text/css")

    for path, endpoint in zip(PATHS, (openapi, docs, style), strict=True):
        routes.add_route(path, endpoint, methods=["GET"])
    return routes


def docs_offer(arena: Arena, extensions: Sequence[Extension] = (), *, locked: bool) -> Offer:
    from moot.web.openapi import Offer

    provider, model = _keyless(arena)
    return Offer(
        ServerCapabilities(arena), lendable_providers(arena), locked, provider, model, tuple(extensions)
    )


def _keyless(arena: Arena) -> tuple[str, str]:
    """Made-up speeches where the operator allows them, else the model that is here or can be fetched."""
    if "scripted" in arena.providers.names():
        return "scripted", "demo"
    manager = arena.providers.manager
    return "local", next(iter((*manager.installed(), *manager.catalogue)))


@cache
def _style() -> bytes:
    return files("moot.web").joinpath("paper", STYLE).read_bytes()
