"""The older APIs: three documents describe them, and people have clients for them."""

from __future__ import annotations

from moot.extension import Extension, HttpRoutes


def _http() -> HttpRoutes:
    from moot.compat.routers import BODY_EXAMPLES, PLAIN_TEXT, PREFIX, ROUTERS

    return HttpRoutes(ROUTERS, PREFIX, BODY_EXAMPLES, PLAIN_TEXT, coded_errors=PLAIN_TEXT)


EXTENSION = Extension("older_apis", "Debates for clients that were written for other APIs.", http=_http)
