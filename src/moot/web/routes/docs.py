"""The description of the API at /openapi.json, and the page at /docs that shows it with Swagger UI.

The description is made for this server, once; only whether a token is needed may change while it runs. Its
parts are loaded when a client first asks for it, in a thread: the server starts faster without them.
"""

from __future__ import annotations

import asyncio
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response

from moot.api.v1.validation_messages import Shape
from moot.engine.arena import Arena
from moot.web.app_context import AppContext, RightsCheck
from moot.web.middleware.headers import CSP
from moot.web.responses import json_reply
from moot.web.server_capabilities import BuiltInCapabilities, ServerCapabilities, lendable_providers

if TYPE_CHECKING:
    from moot.web.openapi import Offer

PATHS = ("/openapi.json", "/docs")
# Swagger UI brings its own sanitizer, and sets HTML in a few places: `static/docs.js` sanitizes all of it.
DOCS_CSP = CSP.replace("trusted-types dompurify moot", "trusted-types dompurify default 'allow-duplicates'")


def router(app: FastAPI, context: AppContext) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)
    allowed = RightsCheck("look")

    @cache
    def described(locked: bool) -> Shape:
        from moot.web.openapi import describe

        return describe(app, docs_offer(context.arena, locked=locked))

    async def openapi(request: Request) -> Response:
        await allowed(request)
        return json_reply(await asyncio.to_thread(described, await context.authenticator.needs_token()))

    async def docs(request: Request) -> Response:
        await allowed(request)
        page = files("moot.web").joinpath("static", "docs.html").read_bytes()
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": DOCS_CSP})

    for path, endpoint in zip(PATHS, (openapi, docs), strict=True):
        routes.add_route(path, endpoint, methods=["GET"])
    return routes


def docs_offer(arena: Arena, *, locked: bool) -> Offer:
    from moot.web.openapi import Offer

    provider, model = _keyless(arena)
    return Offer(ServerCapabilities(arena), lendable_providers(arena), locked, provider, model)


def public_offer(arena: Arena) -> Offer:
    """What every server has: the manual is open to all, and names nothing that an operator has added."""
    from moot.web.openapi import Offer

    known = BuiltInCapabilities(arena)
    return Offer(known, known.lendable, False, "local", known.local_model)


def _keyless(arena: Arena) -> tuple[str, str]:
    """The scripted provider where the operator allows it, else a local model, installed or not."""
    if "scripted" in arena.providers.names():
        return "scripted", "demo"
    model_files = arena.providers.model_files
    return "local", next(iter((*model_files.installed(), *model_files.catalogue)))
