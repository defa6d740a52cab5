"""The web page: one HTML document for every address of the page, and its static files.

Our modules are served as they are written; the libraries they import are copied to `vendor/` at set-up. Files
are compressed once and have an ETag of their content. A client without access may still load the page, which
then asks for a token. The document lists the modules that its page needs, so that they load in parallel.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from functools import lru_cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.web.middleware.compression import accepts_gzip
from moot.web.page_assets import page_assets, with_preloads

PAGES = {
    "/": "start",
    "/debates": "history",
    "/statistics": "statistics",
    "/settings": "settings",
    "/debate/{debateId}": "live",
    "/debate/{debateId}/verdict": "verdict",
    "/debate/{debateId}/replay": "replay",
    "/debate/{debateId}/inspect": "inspect",
    "/debate/{debateId}/stage": "stage",
}
"""The module of each address, as the page itself knows it."""
NOT_FOUND_PAGE = "lost"
FILES = ("/static/", "/vendor/")
ICON = "/favicon.ico"
PATHS = (*PAGES, *(f"{prefix}{{path:path}}" for prefix in FILES), ICON)
OPEN = frozenset(path for path in (*PAGES, ICON) if "{" not in path)
OPEN_PREFIXES = ("/debate/", *FILES)
MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
MIN_GZIP_BYTES = 512
"""Media types that are not compressed."""
NOT_BUILT = "The page has not been built yet: run `make setup`.\n"


class StaticFile(Struct, frozen=True):
    media_type: str
    plain: bytes
    gzipped: bytes
    etag: str


class PageRoutes:
    """`home` is the folder in which `static` and `vendor` are."""

    def __init__(self, home: Traversable | None = None) -> None:
        self._home = home or files("moot.web")

    def router(self) -> APIRouter:
        routes = APIRouter(redirect_slashes=False)
        for path, name in PAGES.items():
            routes.add_route(path, partial(self._page, name), methods=["GET"])
        for prefix in FILES:
            routes.add_route(f"{prefix}{{path:path}}", self._file, methods=["GET"])
        routes.add_route(ICON, self._icon, methods=["GET"])
        return routes

    def lost(self, request: Request) -> Response | None:
        """The page for an unknown address, if the client is a browser that accepts HTML."""
        wants_html = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
        within = f"{request.url.path}/".startswith(("/api/", *FILES))
        return self._shell(request, NOT_FOUND_PAGE, 404) if wants_html and not within else None

    async def _page(self, name: str, request: Request) -> Response:
        return self._shell(request, name)

    async def _icon(self, request: Request) -> Response:
        return _sent(request, self._static_file("static", "moot.svg"))

    async def _file(self, request: Request) -> Response:
        folder = request.url.path.split("/")[1]
        # In a thread: only the first reader of a large file waits for its compression.
        file = await asyncio.to_thread(self._static_file, folder, request.path_params["path"])
        return _sent(request, file)

    def _shell(self, request: Request, name: str, status: int = 200) -> Response:
        if not self._home.joinpath("vendor", "preact.js").is_file():
            return Response(NOT_BUILT, 503, media_type="text/plain")
        needed = page_assets(self._read, "static/app.js", f"static/pages/{name}.js")
        document = self._home.joinpath("static", "index.html").read_bytes()
        return _sent(request, _packed(".html", with_preloads(document, needed)), status)

    def _read(self, path: str) -> bytes | None:
        file = self._home.joinpath(*path.split("/"))
        return file.read_bytes() if file.is_file() else None

    def _static_file(self, folder: str, path: str) -> StaticFile:
        """Raises Problem for unknown files and for paths outside the two folders."""
        relative = PurePosixPath(path)
        if relative.suffix not in MEDIA_TYPES or not all(_is_a_name(part) for part in path.split("/")):
            raise Problem("not-found")
        known = self._home.joinpath(folder, *relative.parts)
        if not known.is_file():
            raise Problem("not-found")
        return _packed(relative.suffix, known.read_bytes())


def _sent(request: Request, file: StaticFile, status: int = 200) -> Response:
    headers = {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if status == 200 and file.etag in _tags(request):
        return Response(status_code=304, headers=headers)
    if file.gzipped and accepts_gzip(request.headers):
        headers["Content-Encoding"] = "gzip"
        return Response(file.gzipped, status, headers, media_type=file.media_type)
    return Response(file.plain, status, headers, media_type=file.media_type)


def _tags(request: Request) -> list[str]:
    """The ETags that the browser sent; a proxy that compresses by itself marks them as weak."""
    known = request.headers.get("if-none-match", "").split(",")
    return [tag.strip().removeprefix("W/") for tag in known]


def _is_a_name(part: str) -> bool:
    return part.isascii() and part.replace("-", "").replace(".", "").replace("_", "").isalnum()


@lru_cache(maxsize=256)
def _packed(suffix: str, plain: bytes) -> StaticFile:
    packed = gzip.compress(plain, 9, mtime=0) if len(plain) > MIN_GZIP_BYTES else b""
    return StaticFile(MEDIA_TYPES[suffix], plain, packed, f'"{hashlib.sha256(plain).hexdigest()[:20]}"')
