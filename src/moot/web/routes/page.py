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
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

from fastapi import APIRouter
from msgspec import Struct, json
from starlette.requests import Request
from starlette.responses import Response

from moot.api.auth import NOBODY
from moot.api.problems import Problem
from moot.api.shapes.server_replies import ExtensionModule
from moot.core.errors import StoreError, UnknownDebate
from moot.extension import loaded
from moot.web.app_context import identity_of
from moot.web.middleware.compression import accepts_gzip
from moot.web.page_assets import SCRIPT, missing_libraries, page_assets, with_preloads
from moot.web.sample_debate import sample_replay

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
NOT_FOUND_PAGE = "static/pages/lost.js"
WITHOUT_PAGES = ("/api/", "/static/", "/vendor/", "/docs/", "/health/", "/metrics/")
"""An unknown address below one of these is answered as programs expect, also to a browser."""
FILES = ("/static/", "/vendor/")
ICON = "/favicon.ico"
SAMPLE = "/static/sample_debate.json"
PATHS = (*PAGES, SAMPLE, *(f"{prefix}{{path:path}}" for prefix in FILES), ICON)
EXTENSION_FILES = "extensions"
"""Below `/static/`, the files of extensions: `/static/extensions/NAME/…` is its folder `page/`."""
MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
COMPRESSED_ALREADY = (".png", ".webp", ".woff2")
MIN_GZIP_BYTES = 512


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
            routes.add_route(path, partial(self._page, f"static/pages/{name}.js"), methods=["GET"])
        for page in extension_modules():
            if page.address:
                routes.add_route(page.address, partial(self._page, page.path), methods=["GET"])
        routes.add_route(SAMPLE, self._sample, methods=["GET"])
        for prefix in FILES:
            routes.add_route(f"{prefix}{{path:path}}", self._file, methods=["GET"])
        routes.add_route(ICON, self._icon, methods=["GET"])
        return routes

    def not_found(self, request: Request) -> Response | None:
        """The page for an unknown address, if the client is a browser that accepts HTML."""
        wants_html = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
        within = f"{request.url.path}/".startswith(WITHOUT_PAGES)
        return self._shell(request, NOT_FOUND_PAGE, 404) if wants_html and not within else None

    async def _page(self, module: str, request: Request) -> Response:
        return self._shell(request, module, 200 if await _exists(request) else 404)

    async def _icon(self, request: Request) -> Response:
        return sent(request, self._static_file("static", "moot.svg"))

    async def _sample(self, request: Request) -> Response:
        return sent(request, packed(".json", await asyncio.to_thread(sample_replay)))

    async def _file(self, request: Request) -> Response:
        folder, path = request.url.path.split("/")[1], request.path_params["path"]
        # In a thread: only the first reader of a large file waits for its compression.
        return sent(request, await asyncio.to_thread(self._static_file, folder, path))

    def _shell(self, request: Request, module: str, status: int = 200) -> Response:
        if missing := missing_libraries(self._home):
            return Response(f"{missing}\n", 503, media_type="text/plain")
        parts: dict[str, list[str]] = {}
        for each in extension_modules():
            parts.setdefault(each.place, []).append(each.path)
        needed = page_assets(self._read, "static/app.js", module, parts=parts)
        document = self._home.joinpath("static", "index.html").read_bytes()
        document = document.replace(SCRIPT, _extensions_for_page(), 1) if extension_modules() else document
        return sent(request, packed(".html", with_preloads(document, needed)), status)

    def _read(self, path: str) -> bytes | None:
        file = self._file_at(PurePosixPath(path))
        return file.read_bytes() if file is not None and file.is_file() else None

    def _file_at(self, path: PurePosixPath) -> Traversable | None:
        """A file of the page or, below `static/extensions/NAME/`, one of an extension's folder `page/`."""
        if path.parts[:2] != ("static", EXTENSION_FILES):
            return self._home.joinpath(*path.parts)
        owner = next((one for one in loaded() if one.package and one.name == path.parts[2]), None)
        return files(owner.package).joinpath("page", *path.parts[3:]) if owner else None

    def _static_file(self, folder: str, path: str) -> StaticFile:
        """Raises Problem for unknown files and for paths outside the folders."""
        relative = PurePosixPath(path)
        if relative.suffix not in MEDIA_TYPES or not is_plain_path(path):
            raise Problem("not-found")
        known = self._file_at(PurePosixPath(folder, relative))
        if known is None or not known.is_file():
            raise Problem("not-found")
        return packed(relative.suffix, known.read_bytes())


def extension_modules() -> tuple[ExtensionModule, ...]:
    """What extensions add to the page, in the order of `moot extensions`."""
    return tuple(
        ExtensionModule(
            extension=extension.name,
            place=page.place,
            path=f"static/{EXTENSION_FILES}/{extension.name}/{page.module}",
            address=page.address,
            title=page.title,
        )
        for extension in loaded()
        for page in extension.page
    )


def _extensions_for_page() -> bytes:
    """As JSON in the document, so that no request is needed for it."""
    shown = escape(json.encode(extension_modules()).decode())
    return f'<meta name="extensions" content="{shown}">\n'.encode() + SCRIPT


def open_paths() -> frozenset[str]:
    """The addresses of pages without a part that differs."""
    paths = (*PAGES, ICON, *(page.address for page in extension_modules()))
    return frozenset(path for path in paths if path and "{" not in path)


def open_prefixes() -> tuple[str, ...]:
    """What the addresses of the other pages, and of files, begin with."""
    addresses = (page.address for page in extension_modules() if "{" in page.address)
    own = dict.fromkeys(address.partition("{")[0] for address in addresses)
    return ("/debate/", *own, *FILES)


async def _exists(request: Request) -> bool:
    """Whether there is a debate with the id in the address. Clients without access are not told. A
    store that does not answer is reported by the page itself.
    """
    debate_id = request.path_params.get("debateId")
    if debate_id is None or identity_of(request) is NOBODY:
        return True
    try:
        await request.app.state.arena.head(debate_id)
    except UnknownDebate:
        return False
    except StoreError:
        return True
    return True


def sent(request: Request, file: StaticFile, status: int = 200) -> Response:
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


def is_plain_path(path: str) -> bool:
    """Whether it consists of names alone, and so leads out of no folder."""
    return all(_is_a_name(part) for part in path.split("/"))


def _is_a_name(part: str) -> bool:
    return part.isascii() and part.replace("-", "").replace(".", "").replace("_", "").isalnum()


@lru_cache(maxsize=256)
def packed(suffix: str, plain: bytes) -> StaticFile:
    worthwhile = len(plain) > MIN_GZIP_BYTES and suffix not in COMPRESSED_ALREADY
    gzipped = gzip.compress(plain, 9, mtime=0) if worthwhile else b""
    return StaticFile(MEDIA_TYPES[suffix], plain, gzipped, f'"{hashlib.sha256(plain).hexdigest()[:20]}"')
