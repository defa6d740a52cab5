"""Requests for the event streams of debates go straight to their routes, and commands past the compression.

These requests come in crowds, and a stream is never compressed. FastAPI's routing, its resolution of
dependencies and its middleware, all of which other requests pass through, would cost more than the stream.
"""

from __future__ import annotations

import logging

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from moot.core.errors import StoreError
from moot.web.app_context import AppContext
from moot.web.route_docs import PREFIX, ApiRoute

log = logging.getLogger(__name__)


class StreamDispatcher:
    """Answers requests for the streams among the routes of `router`. Of the others `reads` gets those that
    only read, and `api` the rest.

    Such a route is called as FastAPI would call it: after its check of rights, with the request, the id of
    the debate and the context. `GuardMiddleware` replies to what it raises.
    """

    def __init__(self, reads: ASGIApp, api: FastAPI, router: APIRouter) -> None:
        self._reads = reads
        self._api = api
        self._context: AppContext = api.state.context
        routes = [route for route in router.routes if isinstance(route, ApiRoute) and route.is_stream]
        self._routes = [
            (compile_path(PREFIX + route.path)[0], route.methods, route.rights_check, route.endpoint)
            for route in routes
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].endswith("/stream"):
            for pattern, methods, check_rights, endpoint in self._routes:
                match = pattern.match(scope["path"])
                if match is None or scope["method"] not in methods:
                    continue
                scope["app"], scope["path_params"] = self._api, match.groupdict()
                request = Request(scope, receive, send)
                try:
                    await check_rights(request)
                    response = await endpoint(request, match["debateId"], self._context)
                    await response(scope, receive, send)
                except StoreError as error:
                    log.warning("%s", error)
                    raise
                return
        only_reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        await (self._reads if only_reads else self._api)(scope, receive, send)
