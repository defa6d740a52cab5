"""The manual at /manual/: its pages and pictures, and its search.

Everything about it is loaded when the first page is asked for, and rendered in a thread. It is open to all,
like the page: what it says of the API is what every server has. The search is a plain form, and answers
programs that accept JSON before HTML with the same results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from moot.api.problems import Problem
from moot.engine.arena import Arena
from moot.extension import loaded
from moot.web.responses import json_reply
from moot.web.routes.page import is_plain_path, packed, sent

if TYPE_CHECKING:
    from moot.manual.pages import WritePage
    from moot.manual.search import SearchResult
    from moot.manual.site import Manual

MANUAL = "/manual/"
SEARCH = "/manual/search"
PATHS = (MANUAL.rstrip("/"), SEARCH, f"{MANUAL}{{path:path}}")
LONGEST_QUERY = 200


class ManualRoutes:
    """`written` are the functions that write pages, by their paths in the repository, and `sources` is the
    folder of the others; without it, that of this installation.
    """

    def __init__(self, written: Mapping[str, WritePage], sources: Path | None = None) -> None:
        self._written = written
        self._sources = sources

    def router(self) -> APIRouter:
        routes = APIRouter(redirect_slashes=False)
        for path, endpoint in zip(PATHS, (self._to_manual, self._search, self._file), strict=True):
            routes.add_route(path, endpoint, methods=["GET"])
        return routes

    @cached_property
    def _manual(self) -> Manual | None:
        from moot.manual.pages import find_sources, has_pages
        from moot.manual.site import Manual

        sources = self._sources or find_sources()
        return Manual(sources, self._written) if sources and has_pages(sources) else None

    async def _to_manual(self, _request: Request) -> Response:
        return RedirectResponse(MANUAL)

    async def _file(self, request: Request) -> Response:
        return await asyncio.to_thread(self._send_file, request, request.path_params["path"] or "index.html")

    def _send_file(self, request: Request, path: str) -> Response:
        """Raises Problem for an address at which there is neither page nor picture."""
        if self._manual is None:
            return _without_manual()
        if not is_plain_path(path):
            raise Problem("not-found")
        document = self._manual.document(path)
        content = document.encode() if document is not None else self._manual.picture(path)
        if content is None:
            raise Problem("not-found")
        return sent(request, packed(PurePosixPath(path).suffix, content))

    async def _search(self, request: Request) -> Response:
        return await asyncio.to_thread(self._send_results, request)

    def _send_results(self, request: Request) -> Response:
        if self._manual is None:
            return _without_manual()
        query = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
        if request.headers.get("accept", "").startswith("application/json"):
            return json_reply([_as_json(result) for result in self._manual.search(query)])
        return HTMLResponse(self._manual.search_document(query))


def _as_json(result: SearchResult) -> dict[str, object]:
    return {
        "address": MANUAL + result.address,
        "page": result.page,
        "heading": result.heading,
        "excerpt": result.excerpt,
    }


def _without_manual() -> Response:
    from moot.manual.pages import missing_pages

    return PlainTextResponse(f"{missing_pages(None)}\n", 404)


def written_pages(app: FastAPI, arena: Arena, more: Mapping[str, WritePage]) -> dict[str, WritePage]:
    """The pages that server and extensions write: the HTTP API from its description, and what is brought."""

    def http_api() -> str:
        from moot.manual.reference import http_api
        from moot.web.openapi import describe
        from moot.web.routes.docs import public_offer

        return http_api(describe(app, public_offer(arena)))

    pages: dict[str, WritePage] = {"docs/reference/http-api.md": http_api}
    for brought in (more, *(extension.manual for extension in loaded())):
        pages |= {f"docs/{name}": write for name, write in brought.items()}
    return pages
